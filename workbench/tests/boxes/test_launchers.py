"""The same job by ssh, mpirun and srun on eight hosts, and what becomes of it when something of it dies."""

import contextlib
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from launch_tools import HOSTS, LAUNCHERS, NAMES, SECOND, Word, execute, fleet_of, timed
from nfs_tools import at_phase, box_of, boxes_below, job
from testbed_tools import assert_soon

from assay.contract.parts import HostPart
from assay.contract.reader import read_events
from assay.plan.jobs import joint_job
from assay.rooms.testbed.work.running import RunningBox


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBox]:
    described = tmp_path_factory.mktemp("launch")
    with boxes_below(described), box_of(described, HOSTS, "mpirun", "srun") as running:
        yield running


def told(part: HostPart) -> list[str]:
    """What a host said, but for what depends on the moment."""
    passing = ("interval", "log", "pong")
    events = [event for event in read_events(part.events.splitlines()) if getattr(event, "event", "") not in passing]
    return [
        " ".join(
            str(getattr(event, field))
            for field in ("event", "step", "phase", "operation", "status")
            if getattr(event, field, None) is not None
        )
        for event in events
    ]


def engines_in(box: RunningBox) -> list[int]:
    """Processes of engines in the hosts of a box."""
    spaces = set()
    for host in box.hosts:
        with contextlib.suppress(OSError):
            spaces.add(Path(f"/proc/{host.pid}/ns/net").readlink())
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            if b"assay-engine" in command and (entry / "ns/net").readlink() in spaces:
                found.append(int(entry.name))
    return found


def test_ssh_mpirun_and_srun_agree(box: RunningBox, tmp_path: Path) -> None:
    for tasks in (1, 2):
        rates: dict[str, list[float]] = {}
        events: dict[str, list[list[str]]] = {}
        for launcher in LAUNCHERS:
            outcome, samples, parts = execute(fleet_of(box, launcher, tmp_path), timed(), tasks)
            assert outcome.status == "ok", (launcher, tasks, outcome.reason)
            assert [part.host for part in parts] == NAMES
            events[launcher] = [told(part) for part in parts]
            rates[launcher] = [sample.iops for sample in samples]
            lanes = [share.ops for sample in samples for share in sample.hosts]
            assert len(lanes) == 16 and all(lanes)
            assert all(sample.clock_uncertainty_ns for sample in samples), "clocks are compared"
        assert events["ssh"] == events["mpirun"] == events["srun"]
        # 250 operations a second for each lane, less what a machine with more processes than CPUs makes of it.
        for number, rate in enumerate(rates["ssh"]):
            assert rate <= 250 * 8 * tasks * 1.02
            for launcher in ("mpirun", "srun"):
                assert rates[launcher][number] == pytest.approx(rate, rel=0.25), (tasks, rates)
    assert not list(tmp_path.iterdir()), "the words for mpirun's processes are removed"


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_all_of_a_shared_file_is_written_and_read(box: RunningBox, tmp_path: Path, launcher: Word) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/.assay-target").write_text("{}")
    target = {"kind": "file", "root": str(tmp_path / "root"), "directory": "job"}
    phases = [{"operation": "write"}, {"operation": "read"}]
    one = job(target=target, layout="shared", file_size_bytes=16 << 20, data={"verify": True}, phases=phases)
    outcome, samples, _ = execute(fleet_of(box, launcher, tmp_path), one, tasks=2)
    assert outcome.status == "ok", outcome.reason
    assert [sample.bytes for sample in samples] == [16 << 20, 16 << 20]
    assert samples[1].verified_bytes == 16 << 20
    assert [entry.name for entry in (tmp_path / "root").iterdir()] == [".assay-target"]


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_what_an_engine_says_at_length_comes_whole(box: RunningBox, tmp_path: Path, launcher: Word) -> None:
    target = {"kind": "null", "latency": {"distribution": "uniform", "min_ns": 1000, "max_ns": 3_000_000}}
    phases = [{"operation": "random_mix", "mix": {"read": 50, "write": 50}, "runtime_ns": SECOND}]
    one = job(target=target, lanes=4, queue_depth=8, interval_ns=SECOND // 50, phases=phases)
    outcome, samples, parts = execute(fleet_of(box, launcher, tmp_path), one)
    assert outcome.status == "ok", outcome.reason
    for part in parts:
        counted: Counter[str] = Counter()
        ended: Counter[str] = Counter()
        for event in read_events(part.events.splitlines()):
            into = {"interval": counted, "phase_end": ended}.get(getattr(event, "event", ""))
            if into is not None:
                into.update({kind.operation.value: kind.ops for kind in event.operations})  # type: ignore[union-attr]
        assert counted == ended and sum(ended.values()) > 0
    assert samples[0].ops == sum(share.ops for share in samples[0].hosts)


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_an_engine_that_is_killed_ends_the_job_and_is_named(box: RunningBox, tmp_path: Path, launcher: Word) -> None:
    def kill() -> None:
        # The engine itself: its relay stays, and says what has happened.
        for pid in engines_in(box):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if words[1:2] == [b"run"]:
                os.kill(pid, signal.SIGKILL)
                return

    outcome, _, _ = execute(fleet_of(box, launcher, tmp_path), timed(30.0), hear=at_phase("write", 0.2, kill))
    assert outcome.status == "crashed"
    assert "was killed by SIGKILL" in outcome.reason and outcome.reason.startswith("node"), outcome.reason
    assert_soon(lambda: not engines_in(box), lambda: f"engines are left: {engines_in(box)}")


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_engines_end_when_their_launcher_is_killed(box: RunningBox, tmp_path: Path, launcher: Word) -> None:
    fleet = fleet_of(box, launcher, tmp_path, NAMES[:4])
    assert fleet.steps is not None
    step = fleet.steps.start(4, 1)
    try:
        step.send_job(joint_job(timed(30.0), 4).model_dump_json().encode())
        assert_soon(lambda: len(engines_in(box)) >= 8, lambda: "the engines do not start")
        step.process.kill()
        assert_soon(lambda: not engines_in(box), lambda: f"engines are left: {engines_in(box)}")
    finally:
        step.close()


def test_a_stop_reaches_all(box: RunningBox, tmp_path: Path) -> None:
    for launcher in LAUNCHERS:
        stopping = threading.Event()
        fleet = fleet_of(box, launcher, tmp_path, NAMES[:3])
        whole = joint_job(timed(60.0), 3)
        hear = at_phase("write", 0.2, stopping.set)
        outcome = fleet.run(whole, 60, hear, lambda stopping=stopping: int(stopping.is_set()))  # type: ignore[misc]
        assert (outcome.status, outcome.stop_requested) == ("stopped", True), (launcher, outcome.reason)


def test_a_launcher_that_cannot_start_says_why(box: RunningBox, tmp_path: Path) -> None:
    fleet = fleet_of(box, "srun", tmp_path)
    assert fleet.steps is not None
    absent = fleet.steps.hosts[7].model_copy(update={"name": "node99"})
    fleet = replace(fleet, steps=replace(fleet.steps, hosts=[*fleet.steps.hosts[:7], absent]))
    outcome, _, _ = execute(fleet, timed())
    assert outcome.status == "crashed"
    assert "Invalid node name specified" in outcome.reason, outcome.reason


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_a_host_that_dies_ends_the_job(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, launcher: Word
) -> None:
    described = tmp_path_factory.mktemp("dies")
    with boxes_below(described):
        hosts = "  node[1-3]: {roles: [client], servers: [{kind: slurm}, {kind: openmpi}]}"
        with box_of(described, hosts, "mpirun", "srun") as dying:
            dies = dying.host("node3").pid
            hear = at_phase("write", 0.2, lambda: os.kill(dies, signal.SIGKILL))
            begun = time.monotonic()
            outcome, _, _ = execute(fleet_of(dying, launcher, tmp_path, NAMES[:3]), timed(300.0), hear=hear)
            assert outcome.status == "crashed", outcome.reason
            assert time.monotonic() - begun < 300, "it does not wait for the end of the phase"
            assert_soon(lambda: not engines_in(dying), lambda: f"engines are left: {engines_in(dying)}")
