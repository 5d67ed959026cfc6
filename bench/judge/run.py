#!/usr/bin/env python3
"""What it costs to judge a run of many cases, and to show, report and export it: CPU time, memory, and how both grow.

    .venv/bin/python bench/judge/run.py                              # 1,000, 10,000 and 100,000 cases, three rounds
    .venv/bin/python bench/judge/run.py --cases 1000 --baseline ../old # in turns with another source tree

Each work is a process of its own on one CPU; what it used comes from wait4(2). The runs are made up once by
`workbench/tests/support/large_run.py`: two operations with five repeats a case.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ASSAY = "import sys; from assay.cli.main import main; sys.argv[0] = 'assay'; sys.exit(main())"
END = "judge"
WORKS: dict[str, tuple[str, ...]] = {
    END: (),
    "show": ("show", "RUN"),
    "show --all": ("show", "RUN", "--all"),
    "show a case": ("show", "RUN", "c00007"),
    "export csv": ("export", "RUN", "--format", "csv", "--output", "OUT/results.csv", "--force"),
    "export csv, samples": (
        *("export", "RUN", "--format", "csv", "--table", "samples", "--output", "OUT/samples.csv", "--force"),
    ),
    "export json": ("export", "RUN", "--format", "json", "--output", "OUT/run.json", "--force"),
    "report": ("report", "RUN", "--output", "OUT/report.html"),
}
"""Work -> words after `assay`; `judge` is what the end of a run does."""
WHOLE = ("export json", "report")
"""Have the whole run in memory."""


class Used(NamedTuple):
    """What a process used: seconds of CPU time, bytes of memory at most."""

    cpu: float
    memory: int


def measure(tree: Path, work: str, run: Path, out: Path) -> Used:
    """Do a work once.

    Args:
        tree: Source tree whose Assay does it.
        work: One of `WORKS`.
        run: Folder of the run.
        out: Folder for what it writes.

    Raises:
        SystemExit: It failed.
    """
    words = [word.replace("RUN", str(run)).replace("OUT", str(out)) for word in WORKS[work]]
    command = [str(ROOT / "bench/judge/end.py"), str(run)] if work == END else ["-c", ASSAY, *words]
    environment = os.environ | {"PYTHONPATH": str(tree / "workbench/src"), "PYTHONDONTWRITEBYTECODE": "1"}
    cpu = min(os.sched_getaffinity(0))
    # Not subprocess.run: the children that this process has waited for would count together.
    process = subprocess.Popen(
        ["taskset", "-c", str(cpu), sys.executable, *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    said = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{work} of {tree} failed with exit code {process.returncode}:\n{said}")
    return Used(used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss)


def build(folder: Path, cases: int) -> Path:
    """A run of so many cases, made by the tests' own maker, in a process whose memory no work inherits."""
    make = "import sys, pathlib, large_run; print(large_run.build(pathlib.Path(sys.argv[1]), int(sys.argv[2])))"
    paths = f"{ROOT / 'workbench/tests/support'}:{ROOT / 'workbench/src'}"
    command = [sys.executable, "-c", make, str(folder), str(cases)]
    made = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": paths}, check=True, stdout=subprocess.PIPE, text=True
    )
    return Path(made.stdout.strip())


def rounds(run: Path, works: list[str], trees: list[Path], count: int, out: Path) -> dict[tuple[str, Path], list[Used]]:
    """Every work of every tree in turns; in each round the trees change places."""
    found: dict[tuple[str, Path], list[Used]] = defaultdict(list)
    for number in range(count):
        for work in works:
            for tree in trees[:: 1 if number % 2 == 0 else -1]:
                found[work, tree].append(measure(tree, work, run, out))
    return found


def line(work: str, name: str, used: list[Used]) -> str:
    """Median and spread of the CPU time, and memory."""
    times = sorted(item.cpu for item in used)
    spread = f"({times[0]:.2f} to {times[-1]:.2f})"
    return f"  {work:20} {name:8} {median(times):9.2f} s {spread:22} {max(item.memory for item in used) / 1e6:8,.0f} MB"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--baseline", type=Path, help="another source tree, in turns with this one")
    parser.add_argument("--works", nargs="+", choices=list(WORKS), default=list(WORKS))
    parser.add_argument("--most-whole", type=int, default=10_000, help=f"most cases of {' and '.join(WHOLE)}")
    parser.add_argument("--disk", type=Path, default=Path("/var/tmp"), help="a gigabyte for 40,000 cases")
    options = parser.parse_args()
    trees = {ROOT: "this", **({options.beside.resolve(): "other"} if options.beside else {})}
    for cases in options.cases:
        works = [work for work in options.works if work not in WHOLE or cases <= options.max_whole]
        folder = Path(tempfile.mkdtemp(prefix="assay-judge-", dir=options.disk))
        try:
            run = build(folder, cases)
            found = rounds(run, works, list(trees), options.rounds, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"{cases:,} cases, {options.rounds} rounds: CPU time (least to most), greatest memory", flush=True)
        for work in works:
            for tree, name in trees.items():
                print(line(work, name, found[work, tree]), flush=True)
            if len(trees) > 1:
                mine, other = ([item.cpu for item in found[work, tree]] for tree in trees)
                ratios = sorted(one / two for one, two in zip(mine, other, strict=True))
                print(f"  {work:20} ratio    {median(ratios):9.2f}   ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)


if __name__ == "__main__":
    main()
