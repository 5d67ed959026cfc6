"""The engine at services of DynamoDB: each operation, and what boto3 finds of what it has written."""

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from run_tools import needs_engine
from s3_servers import S3Server
from s3_tools import KIB, MARK, SECOND, Ended, Json, done_well
from table_servers import TABLE_FLAVOURS
from table_tools import CONTENTS, PARTITION, SORT, SORTED, Item, TableAt, Watch, held_against, run_watched, size_of

pytestmark = needs_engine


def contents(at: TableAt, size: int = KIB) -> int:
    """Bytes of each item of the jobs here, names and keys included, as they are counted."""
    assert {size_of(item) for item in at.items()} == {size}
    return size


def test_dynamodb_local_is_there() -> None:
    """If not, this one test says so, and no other is there to skip."""
    reason = TABLE_FLAVOURS["dynamodb-local"].why_not()
    if reason:
        pytest.skip(reason)


def test_each_operation_is_done_and_counted(table: TableAt) -> None:
    words = ("put", "get", "update", "get", "delete")
    ended = table.well(*words, lanes=2, objects={"count": 10})
    done = [one for end in ended.ends() for one in end["operations"]]
    assert [(one["operation"], one["ops"], one["errors"]) for one in done] == [(word, 20, 0) for word in words]
    moved = done[0]["bytes"]
    assert moved == 20 * KIB, "names and keys are a part of items"
    assert [one["bytes"] for one in done] == [moved, moved, moved, moved, 0]
    assert [end["verified_bytes"] for end in ended.ends()] == [0, moved, 0, moved, 0]
    for one in done:
        assert one["latency"]["count"] == one["first_byte"]["count"] == one["ops"]
        assert 0 < one["first_byte"]["p50_ns"] <= one["latency"]["p50_ns"]
    assert table.keys() == {MARK}


def test_batches_may_be_cut_short_by_the_end(table: TableAt) -> None:
    ended = table.well("batch_put", "batch_get", lanes=2, objects={"count": 30, "batch": 25}, keep_files=True)
    each = contents(table)
    for operation in ("batch_put", "batch_get"):
        told = ended.of(operation)
        assert (told["ops"], told["bytes"]) == (4, 60 * each)
        assert ended.end(operation)["service"]["objects"] == 60
        assert ended.end(operation)["service"]["unprocessed"] == 0
    assert ended.end("batch_get")["verified_bytes"] == 60 * each
    assert len(table.items()) == 60


@pytest.mark.parametrize("operation", ["batch_put", "update"])
def test_what_is_stored_is_made_also_where_nothing_is_checked(table: TableAt, operation: str) -> None:
    words = ["prepare"] if operation == "update" else []
    table.well(*words, operation, objects={"count": 6}, data={"verify": False}, keep_files=True)
    assert len({bytes(item[CONTENTS]["B"]) for item in table.items()}) == 6, "each item has contents of its own"
    table.well("get", objects={"count": 6}, reuse_files=True)


def test_a_batch_with_gaps_fails_and_says_what_is_missing(table: TableAt) -> None:
    table.well("put", objects={"count": 10}, keep_files=True)
    each, gone = contents(table), table.items()[4]
    table.remove(gone)
    ended = table.run("batch_get", objects={"count": 10, "batch": 5}, keep_files=True, reuse_files=True)
    assert (ended.code, ended.failures()) == (1, {"fault NoSuchItem": 1})
    assert (ended.of("batch_get")["ops"], ended.of("batch_get")["errors"]) == (1, 1)
    assert ended.end("batch_get")["verified_bytes"] >= 5 * each
    (sample,) = [event for event in ended.events if event["event"] == "error_sample"]
    assert gone[PARTITION]["S"].startswith(sample["object"].rpartition(f"/{table.table}/")[2])
    assert 0 <= sample["number"] <= 4 and sample["action"] == "batch_get", "in the first batch"


def test_a_query_finds_all_of_a_partition(table: TableAt) -> None:
    more: Json = {"target": SORTED, "lanes": 2, "objects": {"count": 12}}
    ended = table.well("put", "query", keep_files=True, **more)
    assert ended.of("query")["ops"] == 2 * 3, "partitions of 5, 5 and 2 items of each lane"
    assert ended.end("query")["service"]["objects"] == 24
    assert ended.end("query")["verified_bytes"] == ended.of("query")["bytes"] == ended.of("put")["bytes"]
    partitions = Counter(item[PARTITION]["S"] for item in table.items())
    assert sorted(partitions.values()) == [2, 2, 5, 5, 5, 5], "lanes share none"
    assert {size_of(item) for item in table.items()} == {KIB}


def test_a_query_that_does_not_find_all_has_failed(table: TableAt) -> None:
    more: Json = {"target": SORTED, "objects": {"count": 10}, "keep_files": True}
    table.well("put", **more)
    table.remove(table.items()[2], PARTITION, SORT)
    ended = table.run("query", reuse_files=True, **more)
    assert (ended.code, ended.failures()) == (1, {"fault NoSuchItem": 1})


def test_a_query_asks_for_a_partition_of_one(table: TableAt) -> None:
    ended = table.well("put", "query")
    assert (ended.of("query")["ops"], ended.end("query")["service"]["objects"]) == (12, 12)
    assert ended.end("query")["verified_bytes"] == ended.of("put")["bytes"]


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_scan_finds_each_item_once(table: TableAt, lanes: int) -> None:
    """In pages of 1 MB; the marks of the table and of the job are items as well, but no contents."""
    count = 120 // lanes
    more: Json = {"lanes": lanes, "objects": {"count": count, "batch": 10}, "file_size_bytes": 20_000}
    ended = table.well("batch_put", "scan", keep_files=True, **more)
    scan = ended.of("scan")
    assert len(table.items()) == 120
    assert ended.end("scan")["service"]["objects"] == len(table.everything())
    assert ended.end("scan")["verified_bytes"] == scan["bytes"] == ended.of("batch_put")["bytes"]
    assert scan["ops"] >= 3, "2.4 MB do not fit into two pages of 1 MB"


def test_a_mix_keeps_its_shares_and_its_data(table: TableAt) -> None:
    mix = {"get": 45, "put": 15, "delete": 10, "update": 30}
    sizes = {"distribution": "log2", "min_bytes": 128, "max_bytes": 8 * KIB}
    phase = {"operation": "object_mix", "mix": mix, "runtime_ns": SECOND // 2}
    ended = table.well("prepare", phase, sizes=sizes, record_size_bytes=8 * KIB)
    assert {one["operation"] for one in ended.end("object_mix")["operations"]} >= {"get", "put", "update"}
    assert ended.end("object_mix")["verified_bytes"] == ended.of("object_mix", "get")["bytes"]
    assert table.keys() == {MARK}


@pytest.mark.parametrize("target", [{}, SORTED, {"partition_key": "Hash.Key-1", "sort_key": "timestamp"}], ids=str)
def test_boto3_finds_what_was_put(table: TableAt, target: Json) -> None:
    """Keys below the job's folder, one attribute of bytes, and exactly the size that was asked for."""
    for number, operation in enumerate(("put", "batch_put")):
        directory = f"c{number}-r1"
        table.well(operation, keep_files=True, target={**target, "directory": directory}, file_size_bytes=1025)
    partition = target.get("partition_key", PARTITION)
    found = table.items(partition)
    assert len(found) == 24
    names = {partition, CONTENTS, *([target["sort_key"]] if target else [])}
    for item in found:
        assert set(item) == names and item[partition]["S"].startswith(("assay/c0-r1/", "assay/c1-r1/"))
        assert size_of(item) == 1025
    assert len({bytes(item[CONTENTS]["B"]) for item in found}) >= 12, "no two items of a job have the same contents"


def test_sizes_are_those_of_whole_items(table: TableAt) -> None:
    sizes = {"distribution": "listed", "sizes": [{"bytes": 200, "weight": 1}, {"bytes": 4096, "weight": 1}]}
    table.well("put", "get", keep_files=True, sizes=sizes, file_size_bytes=4096, objects={"count": 40})
    assert {size_of(item) for item in table.items()} == {200, 4096}


def moved_to(item: Item, directory: str) -> Item:
    """The item with the key that it has in another job."""
    moved = copy.deepcopy(item)
    moved[PARTITION]["S"] = moved[PARTITION]["S"].replace("c1-r1", directory)
    return moved


@pytest.mark.parametrize("target", [{}, SORTED], ids=["partitions", "sort-keys"])
def test_what_boto3_writes_is_what_the_engine_checks(table: TableAt, target: Json) -> None:
    """The same bytes under the same keys of another directory are the data of a job there; one bit more is not."""
    table.well("put", keep_files=True, target=target, lanes=2, objects={"count": 4})
    items = [moved_to(item, "c2-r1") for item in table.items()]
    for item in items:
        table.put(item)
    more: dict[str, Any] = {"reuse_files": True, "keep_files": True, "lanes": 2, "objects": {"count": 4, "batch": 4}}
    again = {**target, "directory": "c2-r1"}
    reads = ("get", "batch_get", "query", "scan")
    ended = table.well(*reads, target=again, **more)
    whole = sum(size_of(item) for item in items)
    assert [ended.end(read)["verified_bytes"] for read in reads] == [whole] * 4

    victim = items[3]
    flipped = bytearray(victim[CONTENTS]["B"])
    flipped[600] ^= 1
    table.put({**victim, CONTENTS: {"B": bytes(flipped)}})
    for read in reads:
        ended = table.run(read, target=again, **more)
        assert (ended.code, ended.failures()) == (1, {"corrupt": 1}), read
        (sample,) = [event for event in ended.events if event["event"] == "error_sample"]
        assert sample["offset"] <= 600 < sample["offset"] + 512, sample
    table.put({**victim, CONTENTS: {"B": bytes(victim[CONTENTS]["B"][:-1])}})
    for read in reads:
        ended = table.run(read, target=again, **more)
        assert ended.code == 1 and ended.failures() in ({"fault ItemLength": 1}, {"short_read": 1}), read


def test_a_job_is_the_same_twice(one_table: TableAt) -> None:
    """What is written follows from the job alone."""
    found = []
    for directory in ("a", "b"):
        one_table.well("put", keep_files=True, target={"directory": directory}, objects={"count": 3})
        mine = [item for item in one_table.items() if f"/{directory}/" in item[PARTITION]["S"]]
        found.append([item[CONTENTS]["B"] for item in mine])
    assert found[0] == found[1] and len(set(found[0])) == 3


def test_prepare_writes_what_is_missing_and_only_that(table: TableAt) -> None:
    watch = Watch()
    ended = run_watched(table, watch, "prepare", "prepare", "delete", "prepare", "get")
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    assert [len(watch.of(phase)) for phase in range(5)] == [12, 0, 12, 12, 12]


UNITS = [
    # Size, consistent, write units of each item, read units of each item.
    (1024, False, 1.0, 0.5),
    (1025, False, 2.0, 0.5),
    (4096, False, 4.0, 0.5),
    (4097, False, 5.0, 1.0),
    (4096, True, 4.0, 1.0),
    (4097, True, 5.0, 2.0),
]


@pytest.mark.parametrize(("size", "consistent", "write", "read"), UNITS)
def test_units_are_those_of_the_price_list(
    one_table: TableAt, size: int, consistent: bool, write: float, read: float
) -> None:
    """An item of exactly 1 KiB costs one unit to write, with one byte more two; 4 KiB a half to read, or one."""
    words = ("put", "get", "update", "batch_get", "delete", "batch_put")
    ended = one_table.well(*words, target={"consistent": consistent}, file_size_bytes=size)
    told = {end["operation"]: (end["service"]["read_units"], end["service"]["write_units"]) for end in ended.ends()}
    if not one_table.exact:
        pytest.skip("moto does not count as the service does")
    assert told["put"] == told["update"] == told["batch_put"] == (0, 12 * write)
    assert told["get"] == told["batch_get"] == (12 * read, 0)
    assert told["delete"] == (0, 12 * write)


def test_queries_and_scans_are_charged_by_what_they_find_together(one_table: TableAt) -> None:
    ended = one_table.well("put", "query", "scan", target=SORTED, objects={"count": 10})
    if not one_table.exact:
        pytest.skip("moto does not count as the service does")
    assert ended.end("query")["service"]["read_units"] == 2 * 1.0, "5 KiB are two times 4 KiB, half a unit each"
    assert ended.end("scan")["service"]["read_units"] == 1.5, "10 KiB and the mark are three"


@pytest.mark.parametrize("consistent", [False, True])
def test_what_is_asked_and_told_is_what_is_counted(table: TableAt, consistent: bool) -> None:
    watch = Watch()
    words = ("put", "get", "update", "batch_get", "query", "scan", "delete", "batch_put")
    target = {**SORTED, "consistent": consistent}
    ended = run_watched(table, watch, *words, target=target, lanes=2, objects={"count": 10, "batch": 4})
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    held_against(ended, watch)
    actions = ["PutItem", "GetItem", "UpdateItem", "BatchGetItem", "Query", "Scan", "DeleteItem", "BatchWriteItem"]
    assert [{asked.action for asked in watch.of(phase)} for phase in range(8)] == [{action} for action in actions]
    for asked in watch.operations():
        assert asked.body["ReturnConsumedCapacity"] == "TOTAL"
        wanted = asked.body
        if asked.action == "BatchGetItem":
            (wanted,) = asked.body["RequestItems"].values()
        reads = asked.action in ("GetItem", "BatchGetItem", "Query", "Scan")
        assert wanted.get("ConsistentRead", False) == (reads and consistent), asked.action
    assert sum(end["service"]["write_units"] > 0 for end in ended.ends()) == 4


@pytest.mark.parametrize("capacity", [None, {"mode": "provisioned", "read_units": 7, "write_units": 9}], ids=str)
def test_a_table_is_made_with_the_capacity_that_is_asked_for(table: TableAt, capacity: Json | None) -> None:
    table.well("put", target={"capacity": capacity} if capacity else {})
    made = table.ddb.describe_table(TableName=table.table)["Table"]
    units = made.get("ProvisionedThroughput", {})
    told = (units.get("ReadCapacityUnits", 0), units.get("WriteCapacityUnits", 0))
    assert told == ((7, 9) if capacity else (0, 0))
    if not capacity:
        assert made["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert made["KeySchema"] == [{"AttributeName": PARTITION, "KeyType": "HASH"}]


def asked_for(watch: Watch, phase: int) -> Counter[str]:
    """Key -> how often it was asked for."""
    return Counter(asked.body["Key"][PARTITION]["S"] for asked in watch.of(phase))


def test_some_items_are_more_popular_than_others(one_table: TableAt) -> None:
    """As many requests as there are items would meet each once, were all alike."""
    count = 200
    accesses: list[Json] = [
        {"distribution": "uniform"},
        {"distribution": "zipfian", "exponent": 1.2},
        {"distribution": "hotspot", "operations_percent": 90, "objects_percent": 5.0},
    ]
    phases = [{"operation": "get", "access": access} for access in accesses]
    watch = Watch()
    ended = run_watched(one_table, watch, "batch_put", *phases, objects={"count": count})
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    uniform, zipfian, hotspot = (asked_for(watch, phase) for phase in (1, 2, 3))
    assert sum(uniform.values()) == sum(zipfian.values()) == sum(hotspot.values()) == count
    assert set(uniform.values()) == {1} and len(uniform) == count
    assert list(uniform) != sorted(uniform), "in random order"
    # With an exponent of 1.2 the most popular of 200 gets more than a fifth.
    assert zipfian.most_common(1)[0][1] > count / 10 and len(zipfian) < count * 3 / 4
    hot = set(sorted(uniform)[:10])
    share = sum(times for key, times in hotspot.items() if key in hot)
    assert 0.8 * count < share < count, hotspot


def test_requests_are_spread_over_several_doors(table_services: Any, tmp_path: Path) -> None:
    server: S3Server = table_services("moto")
    at = TableAt(server, f"assay-{tmp_path.name[:40].replace('_', '-')}", tmp_path)
    doors = [f"http://{host}:{server.port}" for host in ("127.0.0.1", "localhost")]
    job = at.job("put", "get", target={"endpoints": doors}, lanes=2, objects={"count": 20})
    for end in done_well(job, tmp_path).ends():
        hosts = {host["host"]: host["requests"] for host in end["connections"]}
        assert set(hosts) == set(doors) and sum(hosts.values()) == 40 and min(hosts.values()) >= 15


def test_items_are_kept_and_used_again_if_told_so(table: TableAt) -> None:
    table.well("put", keep_files=True)
    before = table.items()
    assert len(before) == 12
    table.well("get", keep_files=True, reuse_files=True)
    assert table.items() == before
    ended: Ended = table.well("get", reuse_files=True)
    assert ended.of("get")["ops"] == 12 and table.items() == []
