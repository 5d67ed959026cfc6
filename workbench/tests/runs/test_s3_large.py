"""Large objects and many keys: little memory, every byte checked, nothing left. `make soak` takes them really large."""

import pytest
from run_tools import needs_engine
from s3_tools import KIB, MIB, At, Ended
from soak import times

pytestmark = needs_engine
MAX_MEMORY = 64 * MIB
"""What the engine may take, however large an object is."""


def told(ended: Ended) -> None:
    """Print the rates and the memory, for whoever asks with `-s`."""
    for end in ended.ends():
        seconds = end["last_finisher"]["end_ns"] / 1e9
        for one in end["operations"]:
            print(f"{one['operation']}: {one['ops']} in {seconds:.2f} s, {one['bytes'] / seconds / MIB:.0f} MiB/s")
    print(f"{ended.bye['max_rss_bytes'] / MIB:.1f} MiB of memory")


@pytest.mark.parametrize("checksum", ["none", "crc64nvme"])
def test_a_large_object_takes_little_memory(fast: At, checksum: str) -> None:
    size, part = times(200 * MIB, 5 * 1024 * MIB), times(8 * MIB, 64 * MIB)
    more = {"objects": {"count": 1, "part_size_bytes": part}, "file_size_bytes": size, "record_size_bytes": MIB}
    ended = fast.well("put", "get", "head", target={"checksum": checksum}, **more)
    told(ended)
    assert sum(one["bytes"] for one in ended.end("put")["operations"]) == size
    assert ended.of("put", "put_part")["ops"] == -(-size // part)
    assert ended.end("get")["verified_bytes"] == size
    assert ended.bye["max_rss_bytes"] < MAX_MEMORY
    assert fast.objects() == {} and fast.uploads() == []


def test_an_object_may_be_large_without_parts(fast: At) -> None:
    size = times(100 * MIB, 4 * 1024 * MIB)
    ended = fast.well("put", "get", file_size_bytes=size, record_size_bytes=MIB, objects={"count": 1})
    told(ended)
    assert ended.end("get")["verified_bytes"] == size
    assert ended.bye["max_rss_bytes"] < MAX_MEMORY


def test_many_keys_are_listed_and_removed(fast: At) -> None:
    """Over a thousand pages in `make soak`."""
    lanes, count = 4, times(1_500, 250_000)
    keys = {"layout": "prefixes", "count": 500}
    more = {"lanes": lanes, "objects": {"count": count}, "file_size_bytes": 1, "record_size_bytes": 4 * KIB}
    ended = fast.well("prepare", "list", target={"keys": keys}, **more)
    told(ended)
    assert ended.of("list")["ops"] == lanes * -(-count // 1000)
    assert ended.bye["max_rss_bytes"] < MAX_MEMORY
    assert fast.objects() == {}
