"""Studies that must get a verdict and studies that must get none, and what they need around them.

`python tests/verdict_scenarios.py --times 20` runs each of them so often and prints how often each result got what it
must; without root those that need a loop device or a control group are left out, and named.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loop_devices import loop_device
from paths import GOLDEN
from run_tools import ASSAY

from assay.cli.analysis import analyse_store
from assay.store import RunStore, list_runs

STUDIES = GOLDEN / "verdicts"
DISK, MEMORY = "/var/tmp", "/dev/shm"
BLKIO = Path("/sys/fs/cgroup/blkio")
CPU = min(os.sched_getaffinity(0))
LIMIT = 10 << 20
"""Bytes per second of the limited device."""

OF_THE_MACHINE = ("starved_client", "late_engine", "stopped_engine")
"""Rules that blame other load on the machine: a try in which one fires tells nothing of the others."""
MOST_TRIES = 4
"""So many times as often as asked for a good study is tried, so that enough tries are undisturbed."""

Found = dict[tuple[str, str], tuple[str, ...]]
"""(target/workload, operation) -> verdicts, the worst first."""


@dataclass(frozen=True)
class Scenario:
    """A study file and what its results must get.

    Attributes:
        file: Below `verdicts/`, without its extension.
        expected: target/workload operation -> verdict that must be among those found; empty: none may be found.
        needs: What must be set up: `device`, `throttle`, `spinners`.
    """

    file: str
    expected: dict[tuple[str, str], str]
    needs: tuple[str, ...] = ()


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
    Scenario("good-device", {}, ("device",)),
    Scenario("bad-starved", {("memory/reads", "random_read"): "client-bound"}, ("spinners",)),
    Scenario("good-client", {}),
)


def why_not(scenario: Scenario) -> str:
    """Why a scenario cannot be run here; empty if it can."""
    if scenario.needs != ("spinners",) and scenario.needs and os.geteuid() != 0:
        return "loop devices need root"
    if "throttle" in scenario.needs and not (BLKIO / "cgroup.procs").exists():
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
            # In memory, so that nothing but the limit holds it up.
            device = stack.enter_context(loop_device(Path(memory), 64 << 20))
        group = stack.enter_context(throttle(device)) if "throttle" in scenario.needs else None
        if "spinners" in scenario.needs:
            stack.enter_context(spinners(2))
        text = (STUDIES / f"{scenario.file}.yaml").read_text()
        for name, value in (("folder", folder), ("memory", memory), ("device", device), ("cpu", CPU)):
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
    """A control group whose processes read at most `LIMIT` bytes per second from a device."""
    number = Path(device).stat().st_rdev
    group = BLKIO / f"assay-verdict-{os.getpid()}"
    group.mkdir()
    try:
        limit = f"{os.major(number)}:{os.minor(number)} {LIMIT}"
        (group / "blkio.throttle.read_bps_device").write_text(limit)
        yield group
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.1)


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


def faults(scenario: Scenario, found: Found) -> list[str]:
    """What is not as it must be, one line each."""
    if scenario.file.startswith("good"):
        return [f"{key[0]} {key[1]}: {'; '.join(got)}" for key, got in found.items() if got]
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
    while tries - spoilt < times and tries < (MOST_TRIES if good else 1) * times:
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
