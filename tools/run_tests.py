#!/usr/bin/env python3
"""Run the steps of `make test` (part `test`) or what `make test-all` runs besides (part `rest`), then print the counts.

A check that is a program counts as one; suites count their tests. `--only WORD` runs the steps of either part whose
name has WORD.

Boxes and measurements can be disturbed by a machine that is busy with something else. So if a few of those fail, they
are run once more; what passes then is named and counted. Any other test that fails has failed. CPU time is held against
tools/test_budgets.json, in turns of a loop that runs meanwhile, so that a slow machine changes nothing. All that a step
printed is kept in target/test-logs, with the CPU time of each test; what failed is named once more at the end.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from test_steps import PARTS, ROOT, Step, steps

LOGS = ROOT / "target" / "test-logs"
BUDGETS = ROOT / "tools" / "test_budgets.json"
MAX_AGAIN = 5
"""If more tests of a suite fail, it is not the machine."""
TURNS = 500_000
"""Of the loop that CPU time is compared with: 0.03 to 0.05 s."""
COSTLIEST = 10
"""So many tests of a suite are named with their CPU time."""
UNWANTED = frozenset(
    (
        *("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTHONOPTIMIZE", "ASSAY_FAULTFS"),
        # Each process would compile all that it imports.
        "PYTHONDONTWRITEBYTECODE",
        *("FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TYPER_USE_RICH", "COLUMNS"),
    )
)
"""Variables that tests are run without."""


@dataclass
class Counts:
    """What has been counted so far."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    late: int = 0
    names: list[str] = field(default_factory=list)


@dataclass
class Tally:
    """Counts and prints what lanes report, one at a time; knows how fast this machine is meanwhile."""

    counts: Counts = field(default_factory=Counts)
    loops: list[float] = field(default_factory=list)
    spent: Counter[str] = field(default_factory=Counter)
    """Line of the budget -> seconds of CPU."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def time_loop(self) -> None:
        """Remember what a fixed piece of work costs now, in seconds of CPU."""
        begin = time.thread_time()
        total = 0
        for turn in range(TURNS):
            total += turn * turn % 7
        self.loops.append(time.thread_time() - begin)

    def turns(self, seconds: float) -> float:
        """Seconds of CPU as millions of turns of the loop."""
        return seconds / statistics.median(self.loops) * TURNS / 1e6 if self.loops else 0.0


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code, output, seconds on the clock and of CPU (its processes included)."""

    code: int
    output: str
    wall: float
    cpu: float


def execute(name: str, words: list[str], folder: str) -> Ended:
    """Runs a command; its output goes into its log, the CPU time of each test into a folder beside that."""
    log = LOGS / f"{name.replace(' ', '-')}.log"
    costs = log.with_suffix(".costs")
    shutil.rmtree(costs, ignore_errors=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with log.open("wb") as out:
        environment = {**os.environ, "ASSAY_TEST_COSTS": str(costs)}
        process = subprocess.Popen(words, cwd=ROOT / folder, stdout=out, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall, cpu = time.monotonic() - begin, usage.ru_utime + usage.ru_stime
    return Ended(process.returncode, log.read_text(errors="replace"), wall, cpu)


def count(output: str) -> tuple[int, int, int]:
    """Passed, failed and skipped tests of a suite, from cargo's or pytest's closing lines."""
    cargo = re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", output)
    if cargo:
        passed, failed, ignored = (sum(int(row[column]) for row in cargo) for column in range(3))
        skips = len(re.findall(r"^.*SKIPPED:", output, re.MULTILINE))
        return passed - skips, failed, ignored + skips
    words = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", output[-600:])}
    return (words.get("passed", 0), words.get("failed", 0) + words.get("error", 0), words.get("skipped", 0))


def failed_tests(output: str) -> list[str]:
    """Names of the failed tests of a suite."""
    cargo = re.findall(r"^test (\S+) \.\.\. FAILED$", output, re.MULTILINE)
    return cargo or re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)


def skipped_tests(output: str) -> list[str]:
    """Skipped tests, with the reason."""
    return [line.strip() for line in output.splitlines() if re.match(r"\s*SKIPPED\b", line)]


def costliest_tests(name: str) -> list[str]:
    """The tests of a suite that took most CPU time, their processes included."""
    rows = []
    for file in (LOGS / f"{name.replace(' ', '-')}.costs").glob("*.tsv"):
        for own, processes, test in (line.split("\t", 2) for line in file.read_text().splitlines()):
            rows.append((float(own) + float(processes), test))
    return [f"{seconds:.2f} s of CPU  {test}" for seconds, test in sorted(rows, reverse=True)[:COSTLIEST]]


def step_text(name: str, ended: Ended, good: bool) -> str:
    """The line of a step; what it printed, too, if it failed, without the tests that passed."""
    line = f"{name:18} {'ok' if good else 'FAILED':6} {ended.wall:6.1f} s, {ended.cpu:6.1f} s of CPU"
    fine = r"test .* \.\.\. ok$|running \d+ tests?$|test result: ok|$"
    rest = "\n".join(part for part in ended.output.splitlines() if not re.match(fine, part))
    return line if good else f"{line}\n{rest[-20_000:]}"


def run_step(step: Step, tally: Tally) -> None:
    """Runs a step, prints how it went and counts it."""
    ended = last = execute(step.name, step.words, step.folder)
    lines = [step_text(step.name, ended, ended.code == 0), *(f"   {line}" for line in skipped_tests(ended.output))]
    lines += [f"   {line}" for line in costliest_tests(step.name)]
    late = 0
    if step.suite:
        good, bad, left = count(ended.output)
        names = failed_tests(ended.output)
        if step.again and ended.code == 1 and 0 < len(names) == bad <= MAX_AGAIN:
            second = last = execute(f"{step.name} again", [*step.words, "--last-failed"], step.folder)
            passed, still, _ = count(second.output)
            still = max(still, bad - passed, int(second.code != 0))
            lines += [f"   failed at first: {name}" for name in names]
            lines.append(step_text(f"{step.name} again", second, second.code == 0))
            late, good, bad = bad - still, good + bad - still, still
        elif ended.code:
            bad = max(bad, 1)
    else:
        left = int(ended.code == 0 and "SKIPPED" in ended.output)
        good, bad = int(ended.code == 0 and not left), int(ended.code != 0)
    with tally.lock:
        print("\n".join(lines), flush=True)
        counts = tally.counts
        counts.passed, counts.failed = counts.passed + good, counts.failed + bad
        counts.skipped, counts.late = counts.skipped + left, counts.late + late
        tally.spent[step.budget] += ended.cpu
        if bad:
            counts.names += [f"{step.name}: {name}" for name in failed_tests(last.output)] or [step.name]


def over_budget(tally: Tally, budgets: dict[str, float]) -> list[str]:
    """Print what each line of the budget took; return those that took more. Large counts (`make soak`) may take any."""
    over = []
    for name, seconds in tally.spent.items():
        if not name:
            continue
        turns, allowed = tally.turns(seconds), budgets[name]
        print(f"{name:18} {turns:8,.0f} million turns of the reference loop, {allowed:,.0f} are allowed")
        if turns > allowed and os.environ.get("ASSAY_SOAK", "") in ("", "0"):
            over.append(f"{name}: over its budget; make something cheaper, see docs/testing.md")
    return over


def run_lane(lane: list[Step], tally: Tally) -> None:
    """Runs steps one after the other."""
    for step in lane:
        run_step(step, tally)


def run_phase(lanes: list[list[Step]], tally: Tally) -> None:
    """Runs lanes beside each other, and times the reference loop now and then."""
    threads = [threading.Thread(target=run_lane, args=(lane, tally), daemon=True) for lane in lanes if lane]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        tally.time_loop()
        next(thread for thread in threads if thread.is_alive() or thread is threads[-1]).join(timeout=5)


def settle_environment() -> None:
    """Leave out what users set for their own work and what would change which tests run, or what they print."""
    for name in [name for name in os.environ if name in UNWANTED or name.startswith("GIT_")]:
        del os.environ[name]
    os.environ["ASSAY_ENGINE"] = str(ROOT / "target" / "release" / "assay-engine")


def main() -> int:
    """Exit code 1 if anything failed or no test ran, 2 if no step has the wanted name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", default="test", choices=sorted(PARTS))
    parser.add_argument("--only", default="", metavar="WORD")
    arguments = parser.parse_args()
    parts = list(PARTS) if arguments.only else [arguments.part]
    names = [step.name for part in parts for step in steps(part)]
    if not any(arguments.only in name for name in names):
        print(f"error: no step has {arguments.only!r} in its name; there are {', '.join(names)}", file=sys.stderr)
        return 2
    settle_environment()
    begin, tally = time.monotonic(), Tally()
    try:
        for lanes in (lanes for part in parts for lanes in PARTS[part]):
            run_phase([[step for step in lane if arguments.only in step.name] for lane in lanes], tally)
    except KeyboardInterrupt:
        return 130
    return finish(tally, time.monotonic() - begin)


def finish(tally: Tally, seconds: float) -> int:
    """Prints the budget, what failed, the time and the counts; returns the exit code."""
    counts = tally.counts
    over = over_budget(tally, json.loads(BUDGETS.read_text())["steps"])
    for name in (*counts.names, *over):
        print(f"failed: {name}")
    failed = counts.failed + len(over)
    second = f" ({counts.late} only at the second try)" if counts.late else ""
    times = os.times()
    print(f"{seconds / 60:.1f} min, {(times.children_user + times.children_system) / 60:.1f} of CPU")
    print(f"{counts.passed} passed{second}, {failed} failed, {counts.skipped} skipped")
    return 1 if failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())
