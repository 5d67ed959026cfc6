"""Disks behind ATA over Ethernet, served by vblade: every byte checked, also when frames and servers are lost."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nfs_tools import MIB, SECOND, after, box_of, boxes_below, execute, longer_than
from run_tools import ASSAY, ENGINE
from testbed_tools import assert_soon, inside, said

from assay.contract._generated import Job
from assay.contract.messages import Event, PhaseStartEvent
from assay.model.result.sample import Sample
from assay.rooms.testbed.work.running import RunningBox

DISKS = "disks: [{size: 160MiB, device: d0}, {size: 160MiB, device: d1}], servers: [{kind: vblade, devices: [d0, d1]}]"
HOSTS = f"""
  client[1-2]: {{}}
  lossy: {{loss: 0.1%}}
  server[1-2]: {{{DISKS}}}
"""
JUMBO, USUAL = 9000, 1500
SECTORS = {JUMBO: 17, USUAL: 2}
"""MTU -> sectors of a frame."""
SIZE = 16 * MIB
WHOLE = [{"operation": "write"}, {"operation": "random_read"}, {"operation": "rewrite"}, {"operation": "read"}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("aoe")
    with boxes_below(place):
        yield place


@pytest.fixture(scope="module", params=SECTORS)
def box(folder: Path, request: pytest.FixtureRequest) -> Iterator[RunningBox]:
    with box_of(folder, HOSTS, "mkfs.btrfs", network=f"{{mtu: {request.param}}}") as running:
        yield running


def mtu_of(box: RunningBox) -> int:
    info = json.loads(said(box, "client1", ASSAY, "aoe", "info", "e1.0", "-i", "eth0", "--json"))
    return int(info["ways"][0]["mtu"])


def target(shelf: int = 1, slot: int = 0, **fields: Any) -> dict[str, Any]:
    base = {"kind": "aoe", "interfaces": ["eth0"], "shelf": shelf, "slot": slot, "destroy": True}
    return {**base, "timeout_ns": 10 * SECOND, **fields}


def job(**fields: Any) -> Job:
    """A job on all lanes' common disk, with every byte that is read compared."""
    base: dict[str, Any] = {
        "spec_version": 2,
        "id": "aoe",
        "seed": 5,
        "target": target(),
        "file_size_bytes": SIZE,
        "record_size_bytes": 65536,
        "layout": "shared",
        "queue_depth": 4,
        "interval_ns": SECOND // 10,
        "data": {"verify": True},
        "phases": WHOLE,
    }
    return Job.model_validate({**base, **fields})


def check(samples: tuple[Sample, ...], whole: int = SIZE) -> None:
    """All was moved, nothing failed, and what was read was compared."""
    assert samples
    for sample in samples:
        assert (sample.status, sample.errors) == ("done", ()), (sample.operation, sample.errors)
        assert sample.read_bytes + sample.write_bytes == whole, sample.operation
        assert sample.verified_bytes == sample.read_bytes


def test_disks_are_found_and_say_what_they_are(box: RunningBox) -> None:
    found = json.loads(said(box, "client1", ASSAY, "aoe", "discover", "--json"))
    assert [disk["address"] for disk in found] == ["e1.0", "e1.1", "e2.0", "e2.1"]
    assert {disk["interface"] for disk in found} == {"eth0"}
    assert len({disk["station"] for disk in found}) == 2
    done = inside(box, "client1", ASSAY, "aoe", "info", "e2.1", "-i", "eth0", "--json", "--trace")
    assert done.returncode == 0, done.stderr
    info = json.loads(done.stdout)
    sectors = SECTORS[info["ways"][0]["mtu"]]
    assert (info["address"], info["bytes"], info["sectors_a_frame"]) == ("e2.1", 160 * MIB, sectors)
    lines = done.stderr.splitlines()
    asked = [line for line in lines if "> e2.1 question" in line and "IDENTIFY DEVICE (0xec)" in line]
    answered = [line for line in lines if "< e2.1 answer" in line and "IDENTIFY DEVICE (0xec)" in line]
    assert len(asked) == len(answered) == 1
    tag = asked[0].split(" tag ")[1].split()[0]
    assert f" tag {tag} " in answered[0] and "status 0x40 error 0x00" in answered[0]


def test_everything_holds_of_a_real_server(box: RunningBox, tmp_path: Path) -> None:
    described = tmp_path / "target.json"
    described.write_text(json.dumps(target()))
    done = inside(box, "client1", ENGINE, "conform", "--json", str(described), seconds=300)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {row["check"] for row in json.loads(done.stdout)["report"]["rows"]}
    assert {"write", "random_mix", "odd sizes", "sync fsync", "the whole device"} <= names


def test_several_hosts_with_several_lanes_share_a_disk(box: RunningBox) -> None:
    done, samples = execute(box, ["client1", "client2"], job(lanes=3, record_size_bytes=37 * 512))
    assert done.status == "ok", done.reason
    check(samples, SIZE // (37 * 512) * (37 * 512))
    assert all(share.bytes > 0 for sample in samples for share in sample.hosts)


def test_two_disks_on_one_wire_never_mix(box: RunningBox) -> None:
    """Two engines at once, each with a disk of its own at the same server; each finds all of its own data there."""
    data = {"verify": True}

    def own(rank: int, one: Job) -> Job:
        text = one.model_copy(update={"ranks": 1, "rank": 0, "seed": 50 + rank}).model_dump(mode="json")
        return Job.model_validate({**text, "target": target(slot=rank), "data": data})

    phases = [*WHOLE, {"operation": "random_mix", "mix": {"read": 50, "write": 50}}, {"operation": "read"}]
    done, samples = execute(box, ["client1", "client2"], job(phases=phases, lanes=2), change=own)
    assert done.status == "ok", done.reason
    check(samples, 2 * SIZE)


def test_frames_that_are_lost_are_sent_again(box: RunningBox) -> None:
    phases = [*WHOLE, *WHOLE] if mtu_of(box) == JUMBO else WHOLE
    done, samples = execute(box, ["lossy"], job(lanes=2, phases=phases))
    assert done.status == "ok", done.reason
    check(samples)
    told = [sample.service for sample in samples if sample.service is not None]
    # Of more than 10,000 frames, one in a thousand of which is lost either way.
    assert sum(one.frames for one in told) > 10_000 and sum(one.frames_again for one in told) > 0


def at_phase(operation: str, action: Callable[[], None]) -> Callable[[str, Event], None]:
    """For `execute`: something is done a little after a phase has started, once. What fails there fails the test."""
    begun: list[str] = []

    def hear(_host: str, event: Event) -> None:
        if isinstance(event, PhaseStartEvent) and event.operation.value == operation and not begun:
            begun.append(operation)
            after(0.5, action)

    return hear


def kill(box: RunningBox) -> None:
    (service,) = box.host("server1").servers
    box.stop_server("server1", service, "KILL")


def start(box: RunningBox) -> None:
    (service,) = box.host("server1").servers
    box.start_server("server1", service)


def test_a_server_that_is_killed_and_started_again_is_one_long_wait(box: RunningBox) -> None:
    def restart() -> None:
        kill(box)
        time.sleep(1.5)
        start(box)

    phases = [{"operation": "write"}, {"operation": "random_read", "runtime_ns": 4 * SECOND}]
    done, (_, read) = execute(box, ["client1"], job(phases=phases), on_event=at_phase("random_read", restart))
    assert done.status == "ok", done.reason
    assert read.errors == () and read.verified_bytes == read.read_bytes > 0
    assert longer_than(read, SECOND) > 0


def test_a_server_that_is_gone_for_good_fails_what_waits_for_it(box: RunningBox) -> None:
    phases = [{"operation": "write"}, {"operation": "random_read", "runtime_ns": 60 * SECOND}]
    one = job(phases=phases, target=target(timeout_ns=SECOND), error_limit=1)
    try:
        done, samples = execute(box, ["client1"], one, on_event=at_phase("random_read", lambda: kill(box)))
    finally:
        start(box)
    assert done.status != "ok"
    assert {tally.name for tally in samples[-1].errors} == {"ETIMEDOUT"}
    assert_soon(lambda: "e1.0" in said(box, "client1", ASSAY, "aoe", "discover"), lambda: "the server is not back")


CARDS = """
  client1: {interfaces: 2}
  server1:
    interfaces: 2
    disks: [{size: 64MiB, device: d0}, {size: 64MiB, device: d1}]
    servers: [{kind: vblade, devices: [d0, d1], options: {shelf: 7, slot: 4, interface: eth1}}]
  server2: {disks: [{size: 64MiB, device: d0}], servers: [{kind: vblade, devices: [d0]}]}
"""


def test_shelf_slot_and_card_are_chosen_and_a_client_uses_all_its_cards(folder: Path) -> None:
    with box_of(folder, CARDS, network="{mtu: 9000}") as box:
        found = json.loads(said(box, "client1", ASSAY, "aoe", "discover", "--json"))
        assert {disk["address"] for disk in found} == {"e2.0", "e7.4", "e7.5"}
        assert {(disk["address"], disk["interface"]) for disk in found} == {
            (address, card) for address in ("e2.0", "e7.4", "e7.5") for card in ("eth0", "eth1")
        }
        links = json.loads(said(box, "server1", "ip", "-json", "link", "show", "dev", "eth1"))
        assert {disk["station"] for disk in found if disk["address"] != "e2.0"} == {links[0]["address"]}
        before = sent_by(box, "client1")
        done, samples = execute(box, ["client1"], job(target=target(7, 4, interfaces=["eth0", "eth1"]), lanes=2))
        after_it = sent_by(box, "client1")
    assert done.status == "ok", done.reason
    check(samples)
    frames = sum(sample.service.frames for sample in samples if sample.service is not None)
    for card in ("eth0", "eth1"):
        assert after_it[card] - before[card] > frames / 4, "frames go over both"


def sent_by(box: RunningBox, host: str) -> dict[str, int]:
    """Card -> frames that it has sent."""
    lines = [line.split() for line in said(box, host, "cat", "/proc/net/dev").splitlines()[2:]]
    return {fields[0].rstrip(":"): int(fields[10]) for fields in lines}


def test_a_disk_that_is_not_there_is_named(box: RunningBox, tmp_path: Path) -> None:
    described = tmp_path / "target.json"
    described.write_text(json.dumps(target(shelf=7)))
    done = inside(box, "client1", ENGINE, "capabilities", "--target", str(described))
    assert done.returncode == 2
    assert "e7.0 on eth0: no disk answers to this address" in done.stderr


def test_a_disk_that_shrinks_is_told_as_that(box: RunningBox) -> None:
    """Its server comes back with 8 MiB of 160: what lies beyond cannot be read, and the next job is refused."""
    device = said(
        box, "server1", "sh", "-c", "grep -ho '/dev/[a-z0-9]*' /proc/*/cmdline -a | grep loop | sort -V | head -1"
    )
    smaller = ["sh", "-c", f"vblade -b 64 -l {8 * MIB // 512} 1 0 eth0 {device.strip()} > /dev/null 2>&1 & echo $!"]
    pids: list[str] = []

    def shrink() -> None:
        kill(box)
        pids.append(said(box, "server1", *smaller).strip())

    phases = [{"operation": "write"}, {"operation": "random_read", "runtime_ns": 60 * SECOND}]
    try:
        done, samples = execute(box, ["client1"], job(phases=phases), on_event=at_phase("random_read", shrink))
        assert done.status != "ok"
        names = {tally.name or "" for tally in samples[-1].errors}
        assert names and all(name.startswith("ATA ") for name in names), names
        again, _ = execute(box, ["client1"], job())
        assert again.status != "ok" and "make file_size_bytes" in again.reason
    finally:
        for pid in pids:
            said(box, "server1", "kill", pid)
        start(box)
    assert_soon(lambda: "e1.1" in said(box, "client1", ASSAY, "aoe", "discover"), lambda: "the server is not back")


def test_attached_disks_carry_a_file_system_over_four_of_two_servers(box: RunningBox, tmp_path: Path) -> None:
    names = ["e1.0", "e1.1", "e2.0", "e2.1"]
    try:
        devices = said(box, "client1", ASSAY, "aoe", "attach", *names, "-i", "eth0").split()
        assert len(devices) == 4 and all(device.startswith("/dev/loop") for device in devices)
        script = f"""set -e
mkfs.btrfs -q -f -d raid10 -m raid1 {" ".join(devices)}
mkdir -p {tmp_path}/san && mount {devices[0]} {tmp_path}/san
head -c 20000000 /dev/urandom > {tmp_path}/data
cp {tmp_path}/data {tmp_path}/san/data
sync && umount {tmp_path}/san && mount {devices[0]} {tmp_path}/san
cmp {tmp_path}/data {tmp_path}/san/data && echo same
"""
        assert said(box, "client1", "sh", "-c", script).split()[-1] == "same"
        busy = inside(box, "client1", ASSAY, "aoe", "detach", "e1.0")
        assert busy.returncode == 3 and "in use" in busy.stderr
    finally:
        inside(box, "client1", "umount", f"{tmp_path}/san")
        said(box, "client1", ASSAY, "aoe", "detach", "--all")
    assert json.loads(said(box, "client1", ASSAY, "aoe", "attached", "--json")) == []
