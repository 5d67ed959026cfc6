"""Copies on different servers: which disks mirror which, what cannot be, and what a btrfs says of itself."""

import itertools
import random
from pathlib import Path

import pytest
from testbed_tools import written

from assay.launch.mirrored.array import servers_of
from assay.launch.mirrored.copies import chunk_on_one_server, read_chunks
from assay.model.base import AssayError
from assay.model.site.mirrors import mirror_pairs


def test_each_mirror_is_on_two_servers_for_any_that_can_be() -> None:
    for counts in itertools.product(range(1, 5), repeat=4):
        for servers in range(2, 5):
            held = {f"e{s}.{d}": f"shelf {s}" for s, count in enumerate(counts[:servers], 1) for d in range(count)}
            names = list(held)
            random.Random(str(counts)).shuffle(names)
            many, most = len(held), max(counts[:servers])
            if many % 2 or most * 2 > many:
                with pytest.raises(AssayError, match="cannot be mirrored across servers"):
                    mirror_pairs({name: held[name] for name in names})
                continue
            pairs = mirror_pairs({name: held[name] for name in names})
            assert sorted(disk for pair in pairs for disk in pair) == sorted(held)
            assert all(held[one] != held[other] for one, other in pairs)


def test_the_usual_four_disks_cross() -> None:
    held = {"e1.0": "a", "e1.1": "a", "e2.0": "b", "e2.1": "b"}
    assert mirror_pairs(held) == [("e1.0", "e2.0"), ("e1.1", "e2.1")]


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ({}, "0 are not a multiple of 2"),
        ({"e1.0": "shelf 1", "e2.0": "shelf 2", "e3.0": "shelf 3"}, "3 are not a multiple of 2"),
        ({"e1.0": "shelf 1", "e1.1": "shelf 1"}, "shelf 1 has 2 of 2, more than one in 2"),
        ({**{f"e1.{n}": "shelf 1" for n in range(3)}, "e2.0": "shelf 2"}, "shelf 1 has 3 of 4"),
    ],
)
def test_what_cannot_be_mirrored_says_why(held: dict[str, str], message: str) -> None:
    with pytest.raises(AssayError, match=message):
        mirror_pairs(held)


def test_shelves_behind_one_station_are_one_server() -> None:
    found = [
        {"address": "e1.0", "station": "02:00:00:00:00:01"},
        {"address": "e2.0", "station": "02:00:00:00:00:01"},
        {"address": "e3.0", "station": "02:00:00:00:00:03"},
    ]
    assert servers_of(found, ["e1.0", "e2.0", "e3.0"]) == {"e1.0": "shelf 1", "e2.0": "shelf 1", "e3.0": "shelf 3"}
    with pytest.raises(AssayError, match=r"e4\.0 does not answer"):
        servers_of(found, ["e4.0"])


def chunk(kind: str, disks: list[int], sub: int = 1) -> str:
    """A part, as `btrfs inspect-internal dump-tree -t chunk` of btrfs-progs 6.2 prints it."""
    stripes = "".join(
        f"\t\t\tstripe {n} devid {disk} offset 1048576\n\t\t\tdev_uuid x\n" for n, disk in enumerate(disks)
    )
    return (
        "\titem 2 key (FIRST_CHUNK_TREE CHUNK_ITEM 22020096) itemoff 15975 itemsize 112\n"
        f"\t\tlength 8388608 owner 2 stripe_len 65536 type {kind}\n"
        "\t\tio_align 65536 io_width 65536 sector_size 4096\n"
        f"\t\tnum_stripes {len(disks)} sub_stripes {sub}\n{stripes}"
    )


@pytest.mark.parametrize(
    ("kind", "disks", "sub", "alone"),
    [
        ("SYSTEM|RAID1", [1, 3], 1, ""),
        ("SYSTEM|RAID1", [1, 2], 1, "SYSTEM RAID1, 8388608 bytes: on a alone"),
        ("DATA|RAID10", [1, 3, 2, 4], 2, ""),
        ("DATA|RAID10", [1, 2, 3, 4], 2, "DATA RAID10, 8388608 bytes: on a alone"),
        ("DATA|RAID1C3", [1, 2, 3], 1, ""),
        ("METADATA|DUP", [1, 1], 1, "METADATA DUP, 8388608 bytes: on a alone"),
        ("DATA|RAID0", [1, 3], 1, "DATA RAID0, 8388608 bytes: on a alone"),
        ("DATA", [4], 1, "DATA, 8388608 bytes: on b alone"),
    ],
)
def test_where_the_copies_of_a_part_lie(kind: str, disks: list[int], sub: int, alone: str) -> None:
    """RAID 10 over four disks in the order that our guide had: both copies on one server."""
    holders = {1: "a", 2: "a", 3: "b", 4: "b"}
    assert chunk_on_one_server(read_chunks(chunk("SYSTEM|RAID1", [2, 4]) + chunk(kind, disks, sub)), holders) == alone


def test_a_file_system_without_parts_is_not_called_whole() -> None:
    assert chunk_on_one_server([], {1: "a"}) != ""


BOX = """
name: x
hosts:
  client1:
    roles: [client]
    servers: [{{kind: aoe-client, source: "server1:d0", mount: /san, options: {{raid: {raid}}}}}]
  server1:
    disks: [{{size: 1GiB, device: d0}}, {{size: 1GiB, device: d1}}]
    servers: [{{kind: vblade, devices: [d0, d1]}}]
  {more}
"""
SECOND = "server2: {disks: [{size: 1GiB, device: d0}%s], servers: [{kind: vblade, devices: [d0%s]}]}"


@pytest.mark.parametrize(
    ("raid", "more", "message"),
    [
        ("raid10", SECOND % (", {size: 1GiB, device: d1}", ", d1"), ""),
        ("raid10", SECOND % ("", ""), "3 are not a multiple of 2"),
        ("raid1", "server2: {}", "raid: raid1 cannot keep its copies on different hosts: server1 has 2 of 2"),
        ("raid0", SECOND % ("", ""), ""),
    ],
)
def test_a_box_says_before_it_comes_up_what_it_cannot_mirror(
    tmp_path: Path, raid: str, more: str, message: str
) -> None:
    text = BOX.format(raid=raid, more=more)
    if not message:
        written(tmp_path, text)
        return
    with pytest.raises(AssayError, match=message):
        written(tmp_path, text)


@pytest.mark.parametrize(
    ("hosts", "exports", "server", "message"),
    [
        (3, "/s", "kind: glusterfs, exports: [/s], options: {volume: replica-2}", "3 are not a multiple of 2"),
        (2, "/s", "kind: glusterfs, exports: [/s], options: {volume: dispersed}", "needs 3 hosts, not 2"),
        (3, "/s", "kind: glusterfs, exports: [/s], options: {volume: replica-3}", ""),
        (1, "/s", "kind: moosefs, exports: [/s/c], options: {goal: '2'}", "goal: 2 needs 2 hosts, not 1"),
        (2, "/s", "kind: moosefs, exports: [/s/c], options: {goal: '2'}", ""),
    ],
)
def test_copies_want_as_many_hosts(tmp_path: Path, hosts: int, exports: str, server: str, message: str) -> None:
    text = f"name: x\nhosts:\n  h[1-{hosts}]: {{disks: [{{size: 1GiB, mount: {exports}}}], servers: [{{{server}}}]}}"
    if not message:
        written(tmp_path, text)
        return
    with pytest.raises(AssayError, match=message):
        written(tmp_path, text)
