"""The engine at real services of S3: each operation, and what boto3 finds of what it has written."""

import hashlib
import json

import pytest
from run_tools import needs_engine
from s3_servers import FLAVOURS
from s3_sums import checksum
from s3_tools import FOLDER, KIB, MARK, MIB, SECOND, At, Ended, clean, cleaned

pytestmark = needs_engine
SUMS = ("none", "md5", "crc32", "crc32c", "crc64nvme", "sha256")
LAYOUTS = ({"layout": "flat"}, {"layout": "prefixes", "count": 3}, {"layout": "random"})


@pytest.mark.parametrize("name", list(FLAVOURS))
def test_each_service_is_there(name: str) -> None:
    """One that is not says so here, once, and no other test of it is there to skip."""
    if FLAVOURS[name].why_not():
        pytest.skip(FLAVOURS[name].why_not())


def counts(ended: Ended) -> dict[str, tuple[int, int]]:
    """Kind of operation -> how many, and how many bytes."""
    return {one["operation"]: (one["ops"], one["bytes"]) for end in ended.ends() for one in end["operations"]}


def test_each_operation_is_done_and_counted(at: At) -> None:
    ended = at.well("put", "get", "head", "list", "copy", "delete", lanes=2, objects={"count": 10})
    each, moved = 20, 20 * 64 * KIB
    want = {"put": (each, moved), "get": (each, moved), "head": (each, 0), "list": (2, 0), "copy": (each, 0)}
    assert counts(ended) == {**want, "delete": (each, 0)}
    assert ended.end("get")["verified_bytes"] == moved
    for one in ("put", "get", "head", "list", "copy", "delete"):
        told = ended.of(one)
        assert told["latency"]["count"] == told["first_byte"]["count"] == told["ops"]
        assert 0 < told["first_byte"]["p50_ns"] <= told["latency"]["p50_ns"]
    assert at.sizes() == {MARK: at.sizes()[MARK]}


def test_repeated_fetches_are_told_apart_until_the_object_is_stored_again(at: At) -> None:
    ended = at.well("put", "get", {"operation": "get", "range_bytes": 1000}, "put", "get", objects={"count": 15})
    gets = [end["operations"][0] for end in ended.ends() if end["operation"] == "get"]
    assert [(get["ops"], get["repeated"]["count"] if "repeated" in get else 0) for get in gets] == [
        (15, 0),
        (15, 15),
        (15, 0),
    ]


def test_what_is_under_way_for_many_intervals_counts_in_each_of_them(at: At) -> None:
    ended = at.well("put", "get", lanes=1, queue_depth=2, interval_ns=10_000_000, file_size_bytes=8 * MIB)
    intervals = [event for event in ended.events if event["event"] == "interval"]
    parts = [part for event in intervals for part in event.get("earlier", ())]
    assert parts and all(0 <= part["from"] < part["to"] and part["ops"] > 0 < part["bytes"] for part in parts)
    for event in intervals:
        before = sum((part["to"] - part["from"]) * part["ops"] for part in event.get("earlier", ()))
        assert before < sum(one["ops"] for one in event["operations"]) + 1e-9


def test_ranges_are_read_and_checked(at: At) -> None:
    ended = at.well("prepare", {"operation": "get", "range_bytes": 1000})
    assert (ended.of("get")["bytes"], ended.end("get")["verified_bytes"]) == (12_000, 12_000)


def test_many_are_deleted_with_one_request(at: At) -> None:
    ended = at.well("put", "multi_delete", objects={"count": 1001}, file_size_bytes=10)
    assert ended.of("multi_delete")["ops"] == 2
    assert at.sizes() == {MARK: at.sizes()[MARK]}


def test_lists_have_pages(at: At) -> None:
    pages = 2 if at.server.flavour.slow else 3
    ended = at.well("prepare", "list", objects={"count": 1000 * pages - 999}, file_size_bytes=1, queue_depth=8)
    assert ended.of("list")["ops"] == pages
    assert at.objects() == {}


def test_a_mix_keeps_its_shares_and_its_data(at: At) -> None:
    mix = {
        "operation": "object_mix",
        "mix": {"get": 45, "put": 15, "delete": 10, "head": 30},
        "runtime_ns": SECOND // 2,
    }
    sizes = {"distribution": "log2", "min_bytes": 1, "max_bytes": 64 * KIB}
    ended = at.well("prepare", mix, sizes=sizes, target={"checksum": "md5"})
    assert {one["operation"] for one in ended.end("object_mix")["operations"]} >= {"get", "put", "head"}
    assert ended.end("object_mix")["verified_bytes"] == ended.of("object_mix", "get")["bytes"]
    assert at.objects() == {}


@pytest.mark.parametrize("name", SUMS)
def test_boto3_finds_what_was_put(at: At, name: str) -> None:
    ended = at.well(
        "put", "get", objects={"count": 3}, file_size_bytes=50_001, keep_files=True, target={"checksum": name}
    )
    assert ended.end("get")["verified_bytes"] == 150_003
    assert at.objects() == {f"{FOLDER}o0.{number}": 50_001 for number in range(3)}
    assert len({at.contents(key) for key in at.objects()}) == 3
    for key in at.objects():
        contents = at.contents(key)
        head = at.s3.head_object(Bucket=at.bucket, Key=key, ChecksumMode="ENABLED")
        assert head["ETag"] == f'"{hashlib.md5(contents).hexdigest()}"'
        if name not in ("none", "md5") and at.server.flavour.tells_sums:
            assert head[f"Checksum{name.upper()}"] == checksum(name, contents)
    assert cleaned(at.target()) and at.objects() == {}


@pytest.mark.parametrize("keys", LAYOUTS, ids=lambda keys: keys["layout"])
def test_what_boto3_writes_is_what_the_engine_checks(at: At, keys: dict[str, object]) -> None:
    """The same bytes under the same keys of another directory are the data of a job there; one bit more is not."""
    at.well("put", keep_files=True, target={"keys": keys}, lanes=2, objects={"count": 4})
    assert len(at.objects()) == 8
    for key in at.objects():
        at.s3.put_object(Bucket=at.bucket, Key=key.replace("c1-r1", "c2-r1"), Body=at.contents(key))
    again = {"keys": keys, "directory": "c2-r1"}
    ended = at.well("get", reuse_files=True, keep_files=True, target=again, lanes=2, objects={"count": 4})
    assert ended.end("get")["verified_bytes"] == 8 * 64 * KIB

    victim = sorted(key for key in at.objects() if "c2-r1" in key)[3]
    contents = bytearray(at.contents(victim))
    contents[40_000] ^= 1
    at.s3.put_object(Bucket=at.bucket, Key=victim, Body=bytes(contents))
    ended = at.run("get", reuse_files=True, keep_files=True, target=again, lanes=2, objects={"count": 4})
    assert (ended.code, ended.failures()) == (1, {"corrupt": 1})
    (sample,) = [event for event in ended.events if event["event"] == "error_sample"]
    assert sample["offset"] <= 40_000 < sample["offset"] + 512, sample


def test_keys_are_laid_out_as_asked_for(at: At) -> None:
    for number, keys in enumerate(LAYOUTS):
        at.well("put", keep_files=True, target={"keys": keys, "directory": f"d{number}"}, file_size_bytes=1)
    below = [{key.split("/")[2] for key in at.objects() if f"/d{number}/" in key} for number in range(3)]
    assert below[0] == {f"o0.{number}" for number in range(12)}
    assert below[1] == {"o0.p0", "o0.p1", "o0.p2"}
    assert len(below[2]) > 6 and all(len(part) == len("o0.abcd") for part in below[2])


@pytest.mark.parametrize("name", SUMS)
def test_large_objects_are_stored_in_parts(at: At, name: str) -> None:
    if name == "crc64nvme" and not at.server.flavour.tells_sums:
        pytest.skip("moto keeps a sum of sums where the protocol wants the sum of the whole")
    size = 11 * MIB + 5
    more = {"objects": {"count": 2, "part_size_bytes": 5 * MIB}, "file_size_bytes": size, "record_size_bytes": MIB}
    ended = at.well("put", "get", keep_files=True, target={"checksum": name}, **more)
    done = {one["operation"]: one["ops"] for one in ended.end("put")["operations"]}
    assert done == {"start_upload": 2, "put_part": 6, "complete_upload": 2}
    assert sum(one["bytes"] for one in ended.end("put")["operations"]) == 2 * size, "each byte counts once"
    assert ended.end("get")["verified_bytes"] == 2 * size
    assert at.objects() == {f"{FOLDER}o0.{number}": size for number in range(2)}
    for key in at.objects():
        contents = at.contents(key)
        parts = [contents[start : start + 5 * MIB] for start in range(0, size, 5 * MIB)]
        whole = hashlib.md5(b"".join(hashlib.md5(part).digest() for part in parts)).hexdigest()
        assert at.s3.head_object(Bucket=at.bucket, Key=key)["ETag"] == f'"{whole}-3"'
    assert at.uploads() == []
    at.well("get", "head", reuse_files=True, target={"checksum": name}, **more)
    assert at.objects() == {}


def test_parts_are_sent_beside_each_other(fast: At) -> None:
    more = {"objects": {"count": 1, "part_size_bytes": 5 * MIB}, "file_size_bytes": 40 * MIB, "record_size_bytes": MIB}
    ended = fast.well("put", queue_depth=8, **more)
    (host,) = ended.end("put")["connections"]
    assert (host["opened"], host["requests"], ended.of("put", "put_part")["ops"]) == (8, 10, 8)
    assert host["max_requests"] < 10, "one connection has not carried all"


def test_names_of_buckets_may_stand_in_the_host(at: At) -> None:
    host = at.server.endpoint.replace("127.0.0.1", "localhost")
    target = {"addressing": "virtual_host", "endpoints": [host]}
    ended = at.well("put", "get", "head", "list", "copy", keep_files=True, target=target)
    assert ended.end("get")["verified_bytes"] == 12 * 64 * KIB
    assert len(at.objects()) == 24, "boto3 finds them under the bucket's name in the path"
    assert cleaned(at.target(**target)) and at.objects() == {}
    assert cleaned(at.target(**target), "--root") and not at.is_there()


def test_what_is_there_is_not_put_again_if_told_so(at: At) -> None:
    ended = at.run("put", "put", keep_files=True, target={"if_none_match": True})
    first, second = ended.ends()
    assert first["operations"][0]["ops"] == 12 and first["errors"] == []
    refused = [(error["kind"], error["name"], error["count"]) for error in second["errors"]]
    assert refused == [("fault", "PreconditionFailed", 12)]
    assert second["errors"][0]["fault"]["code"] // 100 == 412
    assert second["operations"][0]["ops"] == 0 and second["operations"][0].get("latency") is None
    assert (ended.code, ended.status) == (1, "errors")
    ended = at.well("get", reuse_files=True)
    assert ended.end("get")["verified_bytes"] == 12 * 64 * KIB, "what was put first is still there"


def test_nothing_is_left_of_versions(at: At) -> None:
    target = {"versioned": True}
    at.well("put", "put", "copy", "get", "delete", "put", target=target, keep_files=True)
    assert at.s3.get_bucket_versioning(Bucket=at.bucket)["Status"] == "Enabled"
    assert len(at.versions()) == 5 * 12, "three puts, copies and delete markers"
    assert cleaned(at.target(**target)) and at.versions() == []
    at.well("put", "put", "delete", target=target)
    assert at.versions() == []
    assert cleaned(at.target(**target), "--root") and not at.is_there()


def test_a_version_that_somebody_else_has_put_stays(fast: At) -> None:
    """Its key is the job's, and it does not say that it is."""
    target = {"versioned": True, "run": "own"}
    fast.well("put", "put", target=target, keep_files=True)
    key = f"{FOLDER}o0.3"
    theirs = fast.s3.put_object(Bucket=fast.bucket, Key=key, Body=b"precious", Metadata={"assay": "other"})["VersionId"]
    done = clean(fast.target(**target))
    assert done.returncode and f"such as {key}" in done.stderr
    assert fast.versions() == [key]
    found = fast.s3.get_object(Bucket=fast.bucket, Key=key, VersionId=theirs)
    assert found["Body"].read() == b"precious"


def test_storage_classes_are_asked_for(at: At) -> None:
    for name in at.server.flavour.classes:
        more = {"objects": {"count": 2, "part_size_bytes": 5 * MIB}, "record_size_bytes": 64 * KIB}
        target = {"storage_class": name, "directory": f"whole-{name}"}
        at.well("put", "copy", "get", keep_files=True, target=target, objects={"count": 2})
        at.well("put", keep_files=True, target={**target, "directory": name}, **{**more, "file_size_bytes": 6 * MIB})
        classes = {at.s3.head_object(Bucket=at.bucket, Key=key).get("StorageClass", "STANDARD") for key in at.objects()}
        if at.server.flavour.keeps_classes:
            assert classes == {name}
        for directory in (name, f"whole-{name}"):
            assert cleaned(at.target(directory=directory))
    ended = at.run("put", target={"storage_class": "NO_SUCH_CLASS"})
    if ended.code:
        assert ended.failures() == {"fault InvalidStorageClass": 12}, ended.reason


def test_a_job_is_the_same_twice(fast: At) -> None:
    """What is written follows from the job alone."""
    sums = []
    for directory in ("a", "b"):
        fast.well("put", keep_files=True, target={"directory": directory}, objects={"count": 3})
        keys = sorted(key for key in fast.objects() if f"/{directory}/" in key)
        sums.append([hashlib.sha256(fast.contents(key)).hexdigest() for key in keys])
    assert sums[0] == sums[1] and len(set(sums[0])) == 3
    assert json.dumps(sums)
