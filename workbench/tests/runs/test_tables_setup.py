"""Before and after the phases: what cannot be begun is refused in one line that helps, and nothing is made."""

import json
from typing import Any

import pytest
from run_tools import needs_engine
from s3_harm import no_http, reset_before_answer, silent
from s3_proxy import Exchange, Harm
from s3_servers import free_port
from s3_tools import KIB, MARK, SECOND, Ended, Json, clean, cleaned
from table_harm import other_answer, says_no
from table_tools import PARTITION, SORT, SORTED, TableAt, Watch, of_others, run_watched, size_of

pytestmark = needs_engine


def refused(ended: Ended, *words: str) -> None:
    """Nothing was done, and one line says why."""
    assert (ended.code, ended.status) == (2, "refused") and ended.ends() == []
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert "S3" not in ended.stderr, "it is no bucket"
    for word in words:
        assert word in ended.stderr, (word, ended.stderr)


@pytest.mark.parametrize("target", [{}, SORTED, {"partition_key": "p" * 255, "sort_key": "s" * 255}], ids=len)
def test_an_item_has_room_for_its_keys(one_table: TableAt, target: Json) -> None:
    """One byte of contents is enough, none is not; the user is told how many bytes it takes."""
    one_table.well("put", keep_files=True, target=target, objects={"count": 1})
    partition = target.get("partition_key", PARTITION)
    (item,) = one_table.items(partition)
    keys = size_of({**item, "d": {"B": b""}})
    one_table.well("get", reuse_files=True, target=target, objects={"count": 1})
    ended = one_table.run("put", "get", target=target, file_size_bytes=keys + 1)
    assert (ended.code, ended.failures()) == (0, {}), (keys, ended.reason)
    assert ended.of("get")["bytes"] == ended.end("get")["verified_bytes"] == 12 * (keys + 1)
    for size in (keys - 1, 1):
        refused(one_table.run("put", target=target, file_size_bytes=size), "bytes")


def test_an_item_has_400_kib_at_most(one_table: TableAt) -> None:
    if not one_table.exact:
        pytest.skip("moto counts the bytes of an item as they are sent, in base64")
    most, table = 400 * KIB, one_table
    ended = table.well("put", "get", "update", file_size_bytes=most, objects={"count": 2}, keep_files=True)
    assert {size_of(item) for item in table.items()} == {most}
    assert ended.end("get")["verified_bytes"] == ended.of("put")["bytes"]
    refused(table.run("put", file_size_bytes=most + 1, target={"directory": "c2-r1"}), "400 KiB")
    sizes = {"distribution": "range", "min_bytes": 100, "max_bytes": most + 1}
    refused(table.run("put", sizes=sizes, record_size_bytes=KIB, target={"directory": "c2-r1"}), "400 KiB")


WRONG_TARGETS: list[Json] = [
    {"table": "ab"},
    {"table": "a" * 256},
    {"table": "a/b/c"},
    {"table": 'a"b-c'},
    {"table": ""},
    {"partition_key": ""},
    {"partition_key": "d"},
    {"partition_key": "k" * 256},
    {"partition_key": 'a"b'},
    {"partition_key": "same", "sort_key": "same"},
    {"sort_key": "d"},
    {"sort_key": ""},
    {"partition_items": 2},
    {"partition_items": 0, "sort_key": "sk"},
    {"capacity": {"mode": "provisioned", "read_units": 0, "write_units": 1}},
    {"capacity": {"mode": "provisioned", "read_units": 1}},
    {"endpoints": []},
    {"endpoints": ["localhost:8000"]},
    {"endpoints": ["http://localhost:8000/path"]},
    {"endpoints": ["http://user:password@localhost:8000"]},
    {"root": ""},
    {"root": "../x"},
    {"directory": ".x"},
    {"directory": "a/b"},
    {"timeout_ns": 1},
    {"bucket": "mine"},
    {"access_key": "AKIA"},
]


@pytest.mark.parametrize("target", WRONG_TARGETS, ids=str)
def test_targets_that_are_none_are_refused(one_table: TableAt, target: Json) -> None:
    ended = one_table.run("put", target=target)
    refused(ended)
    assert "password" not in ended.stderr and not one_table.is_there()


WRONG_JOBS: list[tuple[list[Any], Json]] = [
    (["put", "head"], {}),
    (["put", "list"], {}),
    (["put", "copy"], {}),
    (["put", "multi_delete"], {}),
    (["write"], {}),
    (["put", {"operation": "get", "range_bytes": 10}], {}),
    (["put"], {"objects": {"count": 2, "part_size_bytes": 5 << 20}}),
    (["batch_put"], {"objects": {"count": 200, "batch": 26}}),
    (["put", "batch_get"], {"objects": {"count": 200, "batch": 101}}),
    (["prepare", {"operation": "object_mix", "mix": {"head": 50, "get": 50}, "runtime_ns": SECOND}], {}),
    (["put", {"operation": "get", "access": {"distribution": "zipfian", "exponent": 0.0}}], {}),
    (["put", {"operation": "get", "access": {"distribution": "hotspot", "operations_percent": 101}}], {}),
]


@pytest.mark.parametrize(("words", "more"), WRONG_JOBS, ids=str)
def test_jobs_that_tables_cannot_do_are_refused(one_table: TableAt, words: list[Any], more: Json) -> None:
    refused(one_table.run(*words, **more))
    assert not one_table.is_there()


@pytest.mark.parametrize(("operation", "batch"), [("batch_put", 25), ("batch_get", 100)])
def test_the_largest_batches_are_done(one_table: TableAt, operation: str, batch: int) -> None:
    words = ["batch_put"] if operation == "batch_put" else ["put", operation]
    ended = one_table.well(*words, objects={"count": 200, "batch": batch}, file_size_bytes=100)
    assert ended.of(operation)["ops"] == 200 / batch


OTHER_KEYS: list[tuple[Json, Json]] = [
    ({"partition": "id"}, {}),
    ({"sort": SORT}, {}),
    ({}, SORTED),
    ({"sort": "other"}, SORTED),
    ({"kind": "N"}, {}),
    ({"kind": "B"}, {}),
]


@pytest.mark.parametrize(("made", "target"), OTHER_KEYS, ids=str)
def test_a_table_with_other_keys_is_refused(table: TableAt, made: Json, target: Json) -> None:
    """Before anything is asked of its items, and by the names that it has."""
    table.make(**made)
    ended = table.run("put", target={**target, "destroy": True})
    refused(ended, table.table, "key")
    assert table.everything() == []
    said = clean(table.target(**target, destroy=True), "--root")
    assert len(said.stderr.splitlines()) <= 1 and table.is_there()


def status(told: str, times: int) -> Harm:
    """A table that is said to be in another state, so many times."""
    left = [times]

    def change(answer: Json) -> Json:
        if left[0] > 0 and "Table" in answer:
            left[0] -= 1
            answer["Table"]["TableStatus"] = told
        return answer

    return other_answer(change)


@pytest.mark.parametrize("told", ["CREATING", "UPDATING"])
def test_a_table_that_is_being_made_is_waited_for(one_table: TableAt, told: str) -> None:
    one_table.well("put")
    watch = Watch(status(told, 2), -1, "DescribeTable", None)
    ended = run_watched(one_table, watch, "put", "get")
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    assert watch.struck >= (3 if told == "CREATING" else 1)


def test_a_table_that_is_being_removed_is_waited_for(one_table: TableAt) -> None:
    """It is gone when it is looked at for the third time; then there is none, and one is made."""
    one_table.well("put")
    looks = [0]

    def going(exchange: Exchange) -> None:
        looks[0] += 1
        if looks[0] == 3:
            one_table.ddb.delete_table(TableName=one_table.table)
        if looks[0] < 3:
            status("DELETING", 1)(exchange)
        else:
            exchange.pass_on()

    watch = Watch(going, -1, "DescribeTable", None)
    ended = run_watched(one_table, watch, "put", "get")
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    assert looks[0] >= 3 and one_table.keys() == {MARK}


NO = "400 Bad Request"
REFUSALS = [
    (says_no(NO, "AccessDeniedException", "com.amazon.coral.service#"), "AccessDenied"),
    (says_no(NO, "ExpiredTokenException", "com.amazon.coral.service#"), "ExpiredToken"),
    (says_no(NO, "UnrecognizedClientException", "com.amazon.coral.service#"), "UnrecognizedClient"),
    (says_no("500 Internal Server Error", "InternalServerError"), "InternalServerError"),
    (says_no("503 Service Unavailable", "ServiceUnavailable", ""), "ServiceUnavailable"),
    (reset_before_answer, "reset"),
    (no_http, "cannot be understood"),
    (silent, "no answer for 2 s"),
]


@pytest.mark.parametrize(("harm", "word"), REFUSALS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_table_that_cannot_be_looked_at(one_table: TableAt, harm: Harm, word: str) -> None:
    """One question, one answer: nothing is asked again, and nothing is made."""
    watch = Watch(harm, -1, "DescribeTable", None)
    ended = run_watched(one_table, watch, "put", target={"timeout_ns": 2 * SECOND})
    assert len(watch.seen) == 1
    refused(ended, one_table.table, word)
    assert not one_table.is_there()


@pytest.mark.parametrize("name", ["LimitExceededException", "AccessDeniedException", "ValidationException"])
def test_a_table_that_cannot_be_made(one_table: TableAt, name: str) -> None:
    watch = Watch(says_no(NO, name), -1, "CreateTable", None)
    ended = run_watched(one_table, watch, "put")
    assert watch.struck == 1
    refused(ended, one_table.table, name)


def test_a_mark_that_cannot_be_made_is_no_mark(one_table: TableAt) -> None:
    """The table was made by this very engine, and is empty: it is said that it is there, or it is gone."""
    watch = Watch(says_no(NO, "AccessDeniedException"), -1, "PutItem", None)
    ended = run_watched(one_table, watch, "put")
    refused(ended, one_table.table, "AccessDenied")


def test_a_service_that_is_not_there_is_named(one_table: TableAt) -> None:
    ended = one_table.run("put", target={"endpoints": [f"http://127.0.0.1:{free_port()}"]})
    refused(ended, "Connection refused", "127.0.0.1")
    said = clean(one_table.target(endpoints=[f"http://127.0.0.1:{free_port()}"]))
    assert said.returncode == 2 and len(said.stderr.splitlines()) == 1


def test_what_others_have_taken_away_is_named(table: TableAt) -> None:
    table.well("put", keep_files=True)
    one, two, *_ = table.items()
    table.remove(one)
    table.put({**two, "d": {"B": b"short"}})
    more: Json = {"reuse_files": True, "objects": {"count": 12, "batch": 1}}
    ended = table.run("get", "batch_get", "update", "delete", **more)
    for operation in ("get", "batch_get"):
        told = {f"{one['kind']} {one['name'] or ''}".strip(): one["count"] for one in ended.end(operation)["errors"]}
        assert told.pop("fault NoSuchItem") == 1 and list(told.values()) == [1], (operation, told)
    assert ended.end("update")["errors"] == [] and ended.end("delete")["errors"] == []
    assert table.keys() == {MARK}


def test_what_is_there_is_asked_for_by_those_who_ask(table: TableAt) -> None:
    """`check` touches nothing; `clean` of what was never there makes nothing."""
    assert cleaned(table.target()) == [] and cleaned(table.target(), "--root") == []
    assert not table.is_there()
    table.make(*of_others("mine"))
    watch = Watch()
    ended = run_watched(table, watch, "put")
    refused(ended)
    assert not {asked.action for asked in watch.seen} & {"PutItem", "BatchWriteItem", "DeleteItem", "CreateTable"}
    assert json.dumps(ended.events)
