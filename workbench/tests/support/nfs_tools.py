"""What tests of NFS in a cluster in a box share: a box for a module, engines on its hosts, and what they say."""

import contextlib
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from run_tools import ASSAY, ENGINE, only_run
from testbed_tools import GUARD, assert_nothing_left, assert_soon, need_box, written

from assay.analyse.ranks import Rank, samples_from_ranks
from assay.analyse.samples import sort_events
from assay.contract._generated import Job
from assay.contract.messages import Event, PhaseStartEvent
from assay.contract.reader import read_events
from assay.launch.binary import load_engine
from assay.launch.group import GroupOutcome, Member, run_group
from assay.launch.install import launcher_for
from assay.launch.shell import close_shells
from assay.model.result.sample import Sample
from assay.plan.jobs import joint_job, rank_job
from assay.rooms.testbed.work.find import remove_dead_boxes, running_boxes
from assay.rooms.testbed.work.running import RunningBox
from assay.rooms.testbed.work.site import box_hosts
from assay.rooms.testbed.work.up import bring_up
from assay.store import RunStore

SECOND = 10**9
MIB = 1 << 20
QUICK = """
import sys
from assay.run import run_network
from assay.cli.main import main
from assay.wires.preflight import PreflightOptions
run_network.SHORT_OPTIONS = PreflightOptions(pings=2, bandwidth=False)
sys.exit(main(sys.argv[1:]))
"""
"""`assay` that measures no bandwidth before a run."""
SERVED = "servers: [{kind: nfs-ganesha, exports: [/export]}]"
NUMBERS = itertools.count()
"""Of the boxes of this process."""


@contextlib.contextmanager
def boxes_below(parent: Path) -> Iterator[Path]:
    """Boxes are made in a folder of their own below this one meanwhile; nothing is left in it at the end."""
    folder = parent / f"nfs-boxes-{os.getpid()}"
    folder.mkdir()
    before, os.environ["ASSAY_BOXES"] = os.environ.get("ASSAY_BOXES"), str(folder)
    try:
        yield folder
    finally:
        close_shells()
        for box in running_boxes():
            box.down()
        remove_dead_boxes()
        if before is None:
            del os.environ["ASSAY_BOXES"]
        else:
            os.environ["ASSAY_BOXES"] = before
    assert_nothing_left(folder)


@contextlib.contextmanager
def box_of(folder: Path, hosts: str, *programs: str, network: str = "{}") -> Iterator[RunningBox]:
    """A box of these hosts while it is needed; the test is skipped, with the reason, where there can be none.

    Args:
        folder: For its description.
        hosts: As in the description.
        programs: That the test needs besides those of the box.
        network: As in the description.
    """
    if not ENGINE:
        pytest.skip("assay-engine is not built: run `make engine`")
    # A test may have one beside that of its module.
    box = written(folder, f"name: nfs-{os.getpid()}-{next(NUMBERS)}\nnetwork: {network}\nhosts:\n{hosts}")
    need_box(box, programs=programs)
    running = bring_up(box)
    try:
        yield running
    finally:
        running.down()


def target(*servers: str, **fields: Any) -> dict[str, Any]:
    """An export of these servers, as jobs are told of it; calls fail after 10 s."""
    base = {"kind": "nfs", "export": "/export", "root": "assay", "directory": "job", "timeout_ns": 10 * SECOND}
    return {**base, "servers": list(servers), **fields}


def job(**fields: Any) -> Job:
    """A job; what is left out is small."""
    base: dict[str, Any] = {
        "spec_version": 2,
        "id": "nfs",
        "seed": 5,
        "file_size_bytes": MIB,
        "record_size_bytes": 65536,
        "interval_ns": SECOND // 10,
        "phases": [{"operation": "write"}, {"operation": "read"}],
    }
    return Job.model_validate({**base, **fields})


def after(seconds: float, action: Callable[[], object]) -> threading.Timer:
    """Start a timer; whoever does joins it, so that nothing of it comes later."""
    timer = threading.Timer(seconds, action)
    timer.start()
    return timer


def execute(
    box: RunningBox,
    hosts: Sequence[str],
    one: Job,
    change: Callable[[int, Job], Job] = lambda _, job: job,
    on_event: Callable[[str, Event], None] = lambda _host, _event: None,
    silence: float = 60,
) -> tuple[GroupOutcome, tuple[Sample, ...]]:
    """A job done by engines on some hosts of a box together.

    Args:
        box: The box.
        hosts: Names of its hosts, one engine each.
        one: The job of one.
        change: Given rank and job, the job of that rank.
        on_event: As of `run_group`.
        silence: Seconds without an event after which an engine counts as hung.
    """
    known = {host.name: host for host in box_hosts(box)}
    engine = load_engine()
    whole = joint_job(one, len(hosts))
    members = [
        Member(name, launcher_for(known[name], engine), change(rank, rank_job(whole, rank)).model_dump_json())
        for rank, name in enumerate(hosts)
    ]
    done = run_group(members, silence, on_event)
    ranks = [
        Rank(part.host, part.offset_ns, part.uncertainty_ns, sort_events(read_events(part.events.splitlines())))
        for part in done.parts
    ]
    return done, samples_from_ranks("c0001", 1, ranks)


def at_phase(operation: str, seconds: float, action: Callable[[], None]) -> Callable[[str, Event], None]:
    """For `execute`: something is done so long after a phase has started, once. What fails there fails the test."""
    begun: list[str] = []

    def hear(_host: str, event: Event) -> None:
        if isinstance(event, PhaseStartEvent) and event.operation.value == operation and not begun:
            begun.append(operation)
            after(seconds, action)

    return hear


def restarted(box: RunningBox, host: str, seconds: float) -> Callable[[], None]:
    """The server is killed, and so long after that it is there again."""

    def action() -> None:
        (service,) = box.host(host).servers
        box.stop_server(host, service, "KILL")
        time.sleep(seconds)
        box.start_server(host, service)

    return action


def longer_than(sample: Sample, nanoseconds: float) -> int:
    """How many operations took longer."""
    assert sample.histogram
    recorded = HdrHistogram.decode(sample.histogram).get_recorded_iterator()
    return sum(item.count_at_value_iterated_to for item in recorded if item.value_iterated_to > nanoseconds)


def errnos(sample: Sample) -> set[str | None]:
    """Which failures a sample has."""
    return {tally.name for tally in sample.errors}


class Run:
    """`assay run` in the background, of a study with a box of its own."""

    def __init__(self, folder: Path, hosts: str, study: str, quick: bool = False) -> None:
        """Write them, and start.

        Args:
            folder: Where all is.
            hosts: Of the box.
            study: Text of the study, which names `box.yaml` as its box.
            quick: What the links carry is not measured before, only how long packets take.
        """
        if not ENGINE:
            pytest.skip("assay-engine is not built: run `make engine`")
        need_box(written(folder, f"name: nfs-{os.getpid()}\nhosts:\n{hosts}"), programs=("iperf3", "ping"))
        (folder / "study.yaml").write_text(study)
        self.folder = folder
        self.process = subprocess.Popen(
            [*([sys.executable, "-c", QUICK] if quick else [ASSAY]), "run", "study.yaml"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def box(self) -> RunningBox:
        """The box of the run, once it is up."""
        assert_soon(lambda: bool(running_boxes()) or self.process.poll() is not None, lambda: "no box")
        (box,) = running_boxes()
        return box

    def engine(self, box: RunningBox, host: str) -> int:
        """The engine that works on a host, once it is measured there."""
        space = Path(f"/proc/{box.host(host).pid}/ns/pid").readlink()
        assert_soon(lambda: bool(_engines(space)) or self.process.poll() is not None, lambda: "no engine")
        (pid, *_) = _engines(space)
        return pid

    def ends(self, code: int) -> str:
        """Wait for its end; what it said."""
        said, _ = self.process.communicate(timeout=GUARD)
        assert self.process.returncode == code, said
        assert "Traceback" not in said, said
        return said

    def outcomes(self) -> dict[str, tuple[str, str]]:
        """Case -> status and reason."""
        with RunStore.open(only_run(self.folder)) as store:
            return {attempt.case: (attempt.status, attempt.reason) for attempt in store.attempts()}

    def samples(self) -> tuple[Sample, ...]:
        """Of all cases."""
        with RunStore.open(only_run(self.folder)) as store:
            return store.samples()

    def shown(self) -> dict[str, Any]:
        """What `assay show` knows."""
        words = [ASSAY, "show", "last", "--json"]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def _engines(space: Path) -> list[int]:
    """Engines that measure in a namespace of processes."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if words[:2] == [ENGINE.encode(), b"run"] and (entry / "ns/pid").readlink() == space:
                found.append(int(entry.name))
        except OSError:
            continue
    return found
