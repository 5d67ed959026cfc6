"""What is called redundant, with each server and disk of it killed in turn: every byte is read, by its hash.

It is read past all caches, degraded and after what was killed is back and has caught up with what was written.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nfs_tools import MIB, box_of, boxes_below
from soak import times
from testbed_tools import GUARD, assert_soon, inside, said

from assay.launch.mirrored.copies import chunk_on_one_server, read_chunks
from assay.rooms.testbed.work.running import RunningBox

FILES, SIZE = 4, 4 * MIB
READ = """
sync
echo 3 > /proc/sys/vm/drop_caches
for file in /files/data-*; do dd if=$file iflag=direct bs=1M status=none | sha256sum; done
"""
STORE = "disks: [{size: 1GiB, mount: /store}]"
CEPH = "ceph.mon-host=server1,ceph.auth-client-required=none,ceph.client-oc=false"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("kept")
    with boxes_below(place):
        yield place


@dataclass(frozen=True)
class Kept:
    """Something redundant.

    Attributes:
        hosts: Of its box.
        parts: What is killed, one after the other.
        kill: Kills one of them at once.
        back: Brings it back, and waits until it has all again.
        network: Of its box.
        ready: Done once when the box is up.
    """

    hosts: str
    parts: tuple[str, ...]
    kill: Callable[[RunningBox, str], object]
    back: Callable[[RunningBox, str], object]
    network: str = "{}"
    ready: Callable[[RunningBox], object] = lambda _box: None


def kill_server(box: RunningBox, host: str) -> None:
    """The one server of a host, with all of its processes."""
    (server,) = box.host(host).servers
    box.stop_server(host, server, "KILL")


def start(box: RunningBox, host: str) -> None:
    (server,) = box.host(host).servers
    box.start_server(host, server)


def until(box: RunningBox, host: str, script: str) -> None:
    """Wait until a script succeeds on a host; what it asks costs more than the others here."""
    waiting = f"until {script}; do sleep 1; done"
    assert inside(box, host, "sh", "-c", waiting, seconds=GUARD).returncode == 0


def rebuilt(box: RunningBox, host: str) -> None:
    """A server of the SAN is back: its disks are rebuilt, and all copies lie on two servers again."""
    log = box.folder / "servers" / "client1-aoe-client.log"
    whole = log.read_text().count("is rebuilt") + len(box.host(host).servers[0].devices)
    start(box, host)
    assert_soon(lambda: log.read_text().count("is rebuilt") == whole, log.read_text)
    assert_mirrored(box)


def assert_mirrored(box: RunningBox) -> None:
    """Each part of each mirror is on two servers, as the file system itself has it written down."""
    listed = said(box, "client1", "losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE").splitlines()
    shelves = {line.split()[0]: line.partition("/disk/e")[2].partition(".")[0] for line in listed if "/disk/e" in line}
    mounts = said(box, "client1", "findmnt", "--list", "--noheadings", "--types", "btrfs", "--output", "TARGET").split()
    mirrors = [point for point in mounts if point.startswith("/run/assay/mirrors/")]
    assert len(mirrors) == 2
    for point in mirrors:
        said(box, "client1", "sync", "--file-system", point)
        shown = said(box, "client1", "btrfs", "filesystem", "show", "--raw", point).splitlines()
        rows = [line.split() for line in shown if line.strip().startswith("devid")]
        holders = {int(row[1]): shelves[row[7]] for row in rows}
        assert len(set(holders.values())) == len(rows) == 2
        for row in rows:
            said(box, "client1", "blockdev", "--flushbufs", row[7])
        dump = ("btrfs", "inspect-internal", "dump-tree", "-t", "chunk", "--noscan", *(row[7] for row in rows))
        assert chunk_on_one_server(read_chunks(said(box, "client1", *dump)), holders) == ""


def san(*disks: int) -> Kept:
    """So many disks at each server."""
    hosts = '  client1: {roles: [client], servers: [{kind: aoe-client, source: "server1:d0", mount: /files}]}\n'
    for number, count in enumerate(disks, start=1):
        names = [f"d{disk}" for disk in range(count)]
        made = ", ".join(f"{{size: 1GiB, device: {name}}}" for name in names)
        hosts += f"  server{number}: {{disks: [{made}], servers: [{{kind: vblade, devices: [{', '.join(names)}]}}]}}\n"
    names = tuple(f"server{number}" for number in range(1, len(disks) + 1))
    return Kept(hosts, names, kill_server, rebuilt, "{mtu: 9000}", assert_mirrored)


def kill_gluster(box: RunningBox, host: str) -> None:
    said(box, host, "sh", "-c", "kill -KILL $(pidof glusterfsd glusterfs glusterd)")


def healed(box: RunningBox, host: str) -> None:
    """A server is back: the client has all bricks again, and no file has anything to be healed."""
    start(box, host)
    servers = [host.name for host in box.hosts if host.servers]
    # "heal info" asks by connections of its own; the client tries its own again every three seconds.
    connected = "grep -l 'connected = 1' /files/.meta/graphs/active/assay-client-*/private | wc -l"
    until(box, "client1", f'[ "$({connected})" -eq {len(servers)} ]')
    heal = "gluster volume heal assay info"
    whole = f"found=$({heal}) && ! echo \"$found\" | grep -Eq 'not connected|entries: ([1-9]|-)'"
    for server in servers:
        until(box, server, whole)


def uncached(box: RunningBox) -> None:
    for cache in ("io-cache", "quick-read", "read-ahead"):
        said(box, "server1", "gluster", "--mode=script", "volume", "set", "assay", f"performance.{cache}", "off")


def gluster(volume: str, servers: int) -> Kept:
    hosts = f"""
  client1: {{mounts: [{{source: "server1:/assay", at: /files, type: glusterfs}}]}}
  server[1-{servers}]: {{{STORE}, servers: [{{kind: glusterfs, exports: [/store], options: {{volume: {volume}}}}}]}}
"""
    names = tuple(f"server{number}" for number in range(1, servers + 1))
    return Kept(hosts, names, kill_gluster, healed, ready=uncached)


def replicated(box: RunningBox, host: str) -> None:
    """All chunks of all files have two copies again."""
    start(box, host)
    copies = "mfsfileinfo /files/data-* | grep -c 'copy [12]:'"
    # A file of 4 MiB is one chunk.
    until(box, "client1", f'[ "$({copies})" -ge $((2 * $(ls /files/data-* | wc -l))) ]')


def moosefs() -> Kept:
    hosts = f"""
  client1: {{mounts: [{{source: "server1:/", at: /files, type: moosefs}}]}}
  server[1-3]: {{{STORE}, servers: [{{kind: moosefs, exports: [/store/chunks], options: {{goal: "2"}}}}]}}
"""
    return Kept(hosts, ("server1", "server2", "server3"), kill_server, replicated)


def kill_osd(box: RunningBox, host: str) -> None:
    said(box, host, "sh", "-c", "kill -KILL $(pidof ceph-osd)")


def start_osd(box: RunningBox, host: str) -> None:
    osd = (
        "place=$(ls -d /var/lib/ceph/osd-*); ceph-osd -c /run/ceph/ceph.conf -i $(cat $place/number) --osd-data $place"
    )
    said(box, host, "sh", "-c", osd)
    conf = "ceph -c /run/ceph/ceph.conf"
    up = f"{conf} osd stat -f json | grep -q '\"num_up_osds\":3'"
    states = f'states=$({conf} pg stat -f json | grep -o \'"name":"[^"]*"\')'
    until(box, "server1", f'{up} && {states} && ! echo "$states" | grep -vq \'active+clean"\'')


def ceph() -> Kept:
    hosts = f"""
  client1: {{mounts: [{{source: none, at: /files, type: fuse.ceph, options: "{CEPH}"}}]}}
  server[1-3]: {{disks: [{{size: 4GiB, device: d0}}], servers: [{{kind: ceph, devices: [d0]}}]}}
"""
    return Kept(hosts, ("server1", "server2", "server3"), kill_osd, start_osd)


def loops(box: RunningBox) -> list[str]:
    """The devices of the file system at /files."""
    shown = said(box, "client1", "btrfs", "filesystem", "show", "--raw", "/files").splitlines()
    return [line.split()[7] for line in shown if line.strip().startswith("devid")]


def wipe(box: RunningBox, number: str) -> None:
    """All that is on a disk is lost."""
    device = loops(box)[int(number)]
    said(box, "client1", "sh", "-c", f"dd if=/dev/zero of={device} bs=1M oflag=direct 2>/dev/null; sync")


def scrubbed(box: RunningBox, number: str) -> None:
    said(box, "client1", "btrfs", "scrub", "start", "-B", "/files")


def local(level: int, disks: int) -> Kept:
    hosts = f"""
  client1: {{disks: [{{size: 128MiB, raid: {{level: {level}, disks: {disks}}}, mount: /files}}]}}
"""
    return Kept(hosts, tuple(map(str, range(disks))), wipe, scrubbed)


REDUNDANT = {
    "aoe raid10": san(2, 2),
    **times({}, {"aoe raid10 of three": san(2, 1, 1)}),
    **times({}, {"gluster replica-2": gluster("replica-2", 2)}),
    **times({}, {"gluster replica-3": gluster("replica-3", 3)}),
    "gluster dispersed": gluster("dispersed", 3),
    "moosefs goal 2": moosefs(),
    "ceph": ceph(),
    "disks raid1": local(1, 2),
    "disks raid10": local(10, 4),
}


@pytest.mark.parametrize("kind", REDUNDANT)
def test_every_byte_is_read_whatever_is_killed(folder: Path, tmp_path: Path, kind: str) -> None:
    kept = REDUNDANT[kind]
    hashes: list[str] = []

    def write() -> None:
        data = tmp_path / "data"
        data.write_bytes(os.urandom(SIZE))
        hashes.append(hashlib.sha256(data.read_bytes()).hexdigest())
        said(box, "client1", "dd", f"if={data}", f"of=/files/data-{len(hashes):02d}", "bs=1M", "conv=fsync")

    def read(when: str) -> None:
        found = inside(box, "client1", "sh", "-c", READ, seconds=200).stdout.split()[::2]
        assert found == hashes, f"{when}: not all bytes are those that were written"

    with box_of(folder, kept.hosts, network=kept.network) as box:
        kept.ready(box)
        for _ in range(FILES):
            write()
        for part in kept.parts:
            kept.kill(box, part)
            read(f"{part} killed")
            write()
            read(f"{part} killed, and one more file")
            kept.back(box, part)
            read(f"{part} back")
