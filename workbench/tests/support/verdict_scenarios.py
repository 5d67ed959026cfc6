"""Studies that must get a verdict and studies that must get none, and what they need around them.

`python tests/support/verdict_scenarios.py --times 20` runs each of them so often and prints how often each result got
what it must; without root those that need a loop device or a control group are left out, and named.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loop_devices import loop_device, small_ext4, small_file_system
from paths import GOLDEN
from run_tools import ASSAY

from assay.run.analysis import analyse_store
from assay.store import RunStore, list_runs

STUDIES = GOLDEN / "verdicts"
DISK, MEMORY = "/var/tmp", "/dev/shm"
BLKIO = Path("/sys/fs/cgroup/blkio")
CPU = min(os.sched_getaffinity(0))
LIMIT = 10 << 20
"""Bytes per second of the limited device."""

OF_THE_MACHINE = ("starved_client", "late_engine", "contended", "stopped_engine")
"""Rules that blame other load on the machine: a try in which one fires tells nothing of the others."""
NO_BLAME = "unstable"
"""Rule that says only how well a rate is known."""
MAX_TRIES = 4
"""So many times as often as asked for a good study is tried, so that enough tries are undisturbed."""

Found = dict[tuple[str, str], tuple[str, ...]]
"""(target/workload, operation) -> verdicts, the worst first."""


@dataclass(frozen=True)
class Scenario:
    """A study file and what its results must get.

    Attributes:
        file: Below `verdicts/`, without its extension.
        expected: target/workload operation -> verdict that must be among those found; empty: none may be found.
        needs: What must be set up: `device`, `throttle`, `spinners`; `ext4`: a file system of its own on a loop device
            on the disk; `limit`: its device is limited; `tenant`: somebody else reads and writes there meanwhile;
            `stopped`: each engine is stopped for half a second.
    """

    file: str
    expected: dict[tuple[str, str], str]
    needs: tuple[str, ...] = ()


THROTTLED = {("disk/read", "read"): "throttled", ("disk/write", "random_write"): "throttled"}

SCENARIOS = (
    Scenario(
        "bad-scripted",
        {
            ("bursting/closed", "random_read"): "bursting",
            ("drifting/closed", "random_read"): "unsustained",
            ("noisy/closed", "random_read"): "unstable",
            ("failing/closed", "random_read"): "incomplete",
            ("clock-step/closed", "random_read"): "skewed",
            ("full-link/large", "random_read"): "network-bound",
            ("above-catalogue/large", "random_read"): "impossible",
            ("slow-lane/sixteen", "random_read"): "skewed",
            ("slow-lane/sixteen-files", "read"): "skewed",
            ("overloaded/open", "random_read"): "unsustained",
        },
    ),
    Scenario("good-scripted", {}),
    Scenario(
        "bad-caches",
        {
            ("disk/cached-read", "read"): "cached",
            ("disk/unflushed-write", "write"): "cached",
            ("disk/written-over", "record_rewrite"): "cached",
            ("stated/impossible-read", "read"): "impossible",
        },
    ),
    Scenario("good-disk", {}),
    Scenario("bad-throttled", {("limited/reads", "random_read"): "throttled"}, ("throttle",)),
    Scenario(
        "bad-limited",
        {
            ("disk/direct-read", "read"): "throttled",
            ("disk/buffered-read", "read"): "throttled",
            ("disk/small-read", "read"): "throttled",
            ("disk/direct-write", "write"): "throttled",
            ("disk/buffered-write", "rewrite"): "throttled",
        },
        ("ext4", "limit"),
    ),
    Scenario("bad-limited-below", THROTTLED, ("stacked", "limit")),
    Scenario("bad-limited-btrfs", THROTTLED, ("btrfs", "limit")),
    Scenario(
        "bad-ahead",
        {
            ("disk/strides", "stride_read"): "cached",
            ("disk/larger", "stride_read"): "cached",
        },
        ("ext4",),
    ),
    Scenario(
        "bad-tenant",
        {
            ("disk/paced-read", "random_read"): "contended",
            ("disk/read", "random_read"): "contended",
            ("disk/write", "random_write"): "contended",
        },
        ("ext4", "tenant"),
    ),
    Scenario(
        "bad-tenant-below",
        {("disk/paced-read", "random_read"): "contended", ("disk/read", "random_read"): "contended"},
        ("stacked", "tenant"),
    ),
    Scenario("bad-stopped", {("disk/open", "random_read"): "client-bound"}, ("ext4", "stopped")),
    Scenario("good-device", {}, ("device",)),
    Scenario("good-plain", {}),
    Scenario("bad-starved", {("memory/reads", "random_read"): "client-bound"}, ("spinners",)),
    Scenario("good-client", {}),
    Scenario("bad-replay", {("disk/flushes", "replay"): "unsustained"}),
)


def why_not(scenario: Scenario) -> str:
    """Why a scenario cannot be run here; empty if it can."""
    if scenario.needs != ("spinners",) and scenario.needs and os.geteuid() != 0:
        return "loop devices need root"
    if {"throttle", "limit"} & set(scenario.needs) and not (BLKIO / "cgroup.procs").exists():
        return "there is no blkio controller of cgroup v1"
    return ""


def execute(scenario: Scenario) -> Found:
    """Run a study for real and judge it."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=DISK, prefix="assay-verdict-")))
        memory = stack.enter_context(tempfile.TemporaryDirectory(dir=MEMORY, prefix="assay-verdict-"))
        device = ""
        if "device" in scenario.needs:
            device = stack.enter_context(loop_device(folder, 64 << 20, direct=True))
        if "throttle" in scenario.needs:
            device = stack.enter_context(loop_device(folder, 64 << 20, direct=True))
        disk = folder
        if "ext4" in scenario.needs:
            device, disk = stack.enter_context(small_ext4(folder, 256 << 20, direct=True))
        below = disk
        if "btrfs" in scenario.needs:
            device, disk = stack.enter_context(small_file_system(folder, 256 << 20, direct=True, kind="btrfs"))
        if "stacked" in scenario.needs:
            device, below = stack.enter_context(small_ext4(folder, 512 << 20, direct=True))
            (below / "inner").mkdir()
            _, disk = stack.enter_context(small_ext4(below / "inner", 256 << 20, direct=True))
        limited = "throttle" in scenario.needs or "limit" in scenario.needs
        group = stack.enter_context(throttle(device)) if limited else None
        if "tenant" in scenario.needs:
            stack.enter_context(tenant(below if "stacked" in scenario.needs else disk))
        if "stopped" in scenario.needs:
            stack.enter_context(stopped(folder))
        if "spinners" in scenario.needs:
            stack.enter_context(spinners(2))
        text = (STUDIES / f"{scenario.file}.yaml").read_text()
        places = {"folder": folder, "memory": memory, "device": device, "disk": disk, "studies": STUDIES}
        for name, value in (*places.items(), ("cpu", CPU)):
            text = text.replace("{" + name + "}", str(value))
        (folder / "study.yaml").write_text(text)
        command = [ASSAY, "run", "study.yaml", "--destroy"]
        joins = (lambda: (group / "cgroup.procs").write_text(str(os.getpid()))) if group else None
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=joins, check=False)
        assert done.returncode in (0, 1), done.stderr
        (run,) = list_runs(folder / "assay-runs")
        with RunStore.open(Path(run.folder)) as store:
            rows = analyse_store(store, quick=True).rows
        return {
            (f"{row.case.target}/{row.case.workload}", row.operation): tuple(
                f"{finding.verdict} ({finding.rule}: {finding.text})" for finding in (*row.findings, *row.machine)
            )
            for row in rows
        }


@contextlib.contextmanager
def throttle(device: str) -> Iterator[Path]:
    """A control group whose processes read and write at most `LIMIT` bytes per second each of a device."""
    number = Path(device).stat().st_rdev
    group = BLKIO / f"assay-verdict-{os.getpid()}"
    group.mkdir()
    try:
        limit = f"{os.major(number)}:{os.minor(number)} {LIMIT}"
        (group / "blkio.throttle.read_bps_device").write_text(limit)
        (group / "blkio.throttle.write_bps_device").write_text(limit)
        yield group
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.1)


@contextlib.contextmanager
def tenant(folder: Path) -> Iterator[None]:
    """A process that reads and writes 512 KiB past the cache some 50 times a second."""
    code = f"""
import mmap, os, time
file = os.open({str(folder / "tenant")!r}, os.O_RDWR | os.O_CREAT | os.O_DIRECT)
page = mmap.mmap(-1, 512 << 10)
while True:
    os.pwrite(file, page, 0)
    os.preadv(file, [page], 0)
    time.sleep(0.02)
"""
    other = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        other.kill()
        other.wait()


@contextlib.contextmanager
def stopped(folder: Path) -> Iterator[None]:
    """Each engine whose workbench works in a folder is stopped for half a second, in the midst of its work."""
    over = threading.Event()

    def stop() -> None:
        seen: set[int] = set()
        while not over.wait(0.05):
            for engine in _engines(folder) - seen:
                seen.add(engine)
                over.wait(1.5)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(engine, signal.SIGSTOP)
                    over.wait(0.5)
                    os.kill(engine, signal.SIGCONT)

    thread = threading.Thread(target=stop)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _engines(folder: Path) -> set[int]:
    """Engines that do a job for a workbench in a folder."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            parent = (place / "stat").read_text().rsplit(")", 1)[1].split()[1]
            runs = words[0].endswith(b"assay-engine") and words[1:2] == [b"run"]
            if runs and Path(f"/proc/{parent}/cwd").readlink() == folder:
                found.add(int(place.name))
    return found


@contextlib.contextmanager
def spinners(count: int) -> Iterator[None]:
    """Processes that keep one CPU busy."""
    code = f"import os\nos.sched_setaffinity(0, {{{CPU}}})\nwhile True: pass"
    busy = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def blamed(texts: tuple[str, ...]) -> tuple[str, ...]:
    """What speaks against a number; that it is known too little does not."""
    return tuple(text for text in texts if f"({NO_BLAME}:" not in text)


def faults(scenario: Scenario, found: Found) -> list[str]:
    """What is not as it must be, one line each."""
    if scenario.file.startswith("good"):
        return [f"{key[0]} {key[1]}: {'; '.join(got)}" for key, every in found.items() if (got := blamed(every))]
    lines = []
    for key, verdict in scenario.expected.items():
        got = found.get(key, ())
        if not any(text.split(" ")[0] == verdict for text in got):
            lines.append(f"{key[0]} {key[1]}: no {verdict}, but {'; '.join(got) or 'ok'}")
    return lines


def disturbed(found: Found) -> bool:
    """Whether a rule blames the machine."""
    return any(f"({rule}:" in text for texts in found.values() for text in texts for rule in OF_THE_MACHINE)


def repeat(scenario: Scenario, times: int, verbose: bool) -> bool:
    """Run a study so often, a good one until so many tries were undisturbed; prints and returns if all was right."""
    right = tries = spoilt = 0
    good = scenario.file.startswith("good")
    while tries - spoilt < times and tries < (MAX_TRIES if good else 1) * times:
        tries += 1
        found = execute(scenario)
        lines = faults(scenario, found)
        if verbose:
            print("\n".join(f"    {' '.join(key)}: {'; '.join(got) or 'ok'}" for key, got in found.items()))
        if good and disturbed(found):
            spoilt += 1
            continue
        right += not lines
        for line in lines:
            print(f"  {scenario.file} {tries}: {line}", flush=True)
    other = f"; {spoilt} more were disturbed by other load on the machine, and say so" if spoilt else ""
    print(f"{scenario.file:16} {right} of {tries - spoilt} as it must be{other}", flush=True)
    return right == tries - spoilt == times


def main() -> int:
    """Exit code 1 if anything was not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=1, help="how often each study is run")
    parser.add_argument("--verbose", action="store_true", help="print all findings")
    parser.add_argument("--only", default="", help="only studies whose name contains this")
    options = parser.parse_args()
    bad = 0
    for scenario in SCENARIOS:
        if options.only not in scenario.file:
            continue
        reason = why_not(scenario)
        if reason:
            print(f"{scenario.file:16} SKIPPED: {reason}")
            continue
        bad += not repeat(scenario, options.times, options.verbose)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
