#!/usr/bin/env python3
"""Assay's MPI-IO beside IOR's: the same calls on one file of the same layout, in turns.

Both programs are started by the same mpirun, with one rank a process. What is compared is
what a small library sees that is loaded into both (`watch.c`): the time from the first
transfer of any rank to the end of the last one, and the CPU time of all ranks meanwhile.
IOR 4.1 or newer must be on PATH or in $IOR; nothing is fetched or built but that library.
What both programs say of themselves is printed beside it.

    .venv/bin/python bench/mpiio/run.py --folder /dev/shm/bench --rounds 10
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from figures import Spread, spread

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
OPERATIONS = ("write", "read")
WITHIN, CPU_MAX = 0.05, 1.0
"""What must hold: the ratio of rates, and that of CPU time per operation."""
SECONDS = 300
"""Longest time of one run of a program."""


@dataclass(frozen=True)
class Case:
    """One comparison.

    Attributes:
        io: Component of Open MPI; empty: the library's own choice.
        collective: All ranks do each operation together.
        strided: Blocks of one transfer, so that the ranks take turns in the file; else each has one piece of it.
    """

    io: str
    collective: bool
    strided: bool

    @property
    def words(self) -> str:
        """For people."""
        how = "collective" if self.collective else "independent"
        return f"{self.io or 'default'}, {how}, {'strided' if self.strided else 'contiguous'}"


@dataclass(frozen=True)
class RunResult:
    """What came of an operation: bytes per second, CPU nanoseconds each, and the program's own bytes per second."""

    rate: float
    cpu: float
    own: float


class Bench:
    """The two programs on one file."""

    def __init__(self, options: argparse.Namespace, folder: Path, watch: Path) -> None:
        """Nothing is started yet.

        Args:
            options: Of the command line.
            folder: Where the files are, made by the caller.
            watch: The library that is loaded into both.
        """
        self.ranks, self.transfer, self.size = options.ranks, options.transfer * 1024, options.size * MIB
        self.flush, self.ior, self.engine = options.flush, options.ior, options.engine
        self.folder, self.watch = folder, watch
        (folder / ".assay-target").touch()

    def run(self, case: Case, program: str) -> dict[str, RunResult]:
        """One run of a program, writing and reading; operation -> its result.

        Raises:
            RuntimeError: The program has failed.
        """
        with tempfile.TemporaryDirectory() as scratch:
            log = Path(scratch, "watch")
            words = self._ior(case) if program == "ior" else self._assay(case, Path(scratch))
            said = self._start(case, words, log)
            own = _own_of_ior(said) if program == "ior" else _own_of_assay(Path(scratch))
            return {name: _run_result(log, name, self.ranks, own[name]) for name in OPERATIONS}

    def _start(self, case: Case, words: list[str], log: Path) -> str:
        command = ["mpirun", "--oversubscribe", *(["--mca", "io", case.io] if case.io else [])]
        command += ["--allow-run-as-root"] if os.geteuid() == 0 else []
        command += ["-x", f"LD_PRELOAD={self.watch}", "-x", f"ASSAY_WATCH={log}"]
        command += ["-x", "ASSAY_WATCH_FLUSH=1"] if self.flush else []
        command += ["-n", str(self.ranks), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def _ior(self, case: Case) -> list[str]:
        block, segments = (self.transfer, self.size // self.transfer) if case.strided else (self.size, 1)
        words = [self.ior, "-a", "MPIIO", "-w", "-r", "-t", str(self.transfer), "-b", str(block), "-s", str(segments)]
        return [
            *words,
            *(["-c"] if case.collective else []),
            *(["-e"] if self.flush else []),
            "-o",
            str(self.folder / "ior"),
        ]

    def _assay(self, case: Case, scratch: Path) -> list[str]:
        target = {"kind": "mpiio", "root": str(self.folder), "directory": "bench", "collective": case.collective}
        job = {
            "spec_version": 2,
            "id": "bench",
            "target": target,
            "layout": "shared",
            "file_size_bytes": self.size * self.ranks,
            "record_size_bytes": self.transfer,
            "sync": "fsync" if self.flush else "none",
            "ranks": self.ranks,
            "phases": [{"operation": name} for name in OPERATIONS],
            **({"block_size_bytes": self.transfer} if case.strided else {}),
        }
        for rank in range(self.ranks):
            (scratch / f"job.{rank}").write_text(json.dumps({**job, "rank": rank}))
        rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
        return ["sh", "-c", f"exec {self.engine} run {scratch}/job.{rank} >{scratch}/out.{rank}"]


def _run_result(log: Path, operation: str, ranks: int, own: float) -> RunResult:
    """What the library saw of an operation in all ranks."""
    rows = []
    for rank in range(ranks):
        lines = [line.split() for line in Path(f"{log}.{rank}").read_text().splitlines()]
        (found,) = [[int(word) for word in line[1:]] for line in lines if line[0] == operation]
        rows.append(found)
    began, ended, cpu, calls, moved = zip(*rows, strict=True)
    return RunResult(sum(moved) / (max(ended) - min(began)) * 1e9, sum(cpu) / sum(calls), own)


def _own_of_ior(text: str) -> dict[str, float]:
    """Bytes per second while IOR read or wrote, without opening and closing, as its table says."""
    found = {}
    for name in OPERATIONS:
        words = re.search(rf"^{name}\s+(.+)$", text, re.MULTILINE)
        if words is None:
            raise RuntimeError(f"IOR says nothing of {name}:\n{text}")
        # bw, IOPS, latency, block, transfer, open, access, close, total
        found[name] = float(words[1].split()[0]) * MIB * float(words[1].split()[8]) / float(words[1].split()[6])
    return found


def _own_of_assay(scratch: Path) -> dict[str, float]:
    """Bytes per second from the first rank's start to the last one's end."""
    rows: dict[str, list[tuple[int, int, int]]] = {name: [] for name in OPERATIONS}
    for path in sorted(scratch.glob("out.*")):
        start = 0
        for event in map(json.loads, path.read_text().splitlines()):
            start = event["at_ns"] if event["event"] == "phase_start" else start
            if event["event"] == "phase_end":
                whole = event["last_finisher"]
                rows[event["operation"]].append((start, start + whole["end_ns"], whole["bytes"]))
    found = {}
    for name, ranks in rows.items():
        begun, ended, moved = zip(*ranks, strict=True)
        found[name] = sum(moved) / (max(ended) - min(begun)) * 1e9
    return found


def build_watch(folder: Path) -> Path:
    """The library that watches both programs, made with the MPI's own compiler."""
    made = folder / "libwatch.so"
    source = Path(__file__).with_name("watch.c")
    command = [os.environ.get("MPICC", "mpicc"), "-O2", "-shared", "-fPIC", str(source), "-o", str(made)]
    subprocess.run(command, check=True)
    return made


def compare(bench: Bench, case: Case, rounds: int) -> dict[str, dict[str, list[RunResult]]]:
    """Program -> operation -> its results; the first of them changes, and one before is not counted."""
    found: dict[str, dict[str, list[RunResult]]] = {
        program: {name: [] for name in OPERATIONS} for program in ("ior", "assay")
    }
    for number in range(rounds + 1):
        for program in ("ior", "assay") if number % 2 else ("assay", "ior"):
            for name, results in bench.run(case, program).items():
                if number:
                    found[program][name].append(results)
    return found


def _of(values: list[float], scale: float) -> str:
    found = spread([value / scale for value in values]) or Spread(0, 0, 0, 0)
    return f"{found.median:8.1f} ({found.low:.1f}-{found.high:.1f})"


def show(case: Case, found: dict[str, dict[str, list[RunResult]]]) -> list[str]:
    """Prints a comparison; what does not hold, one line each."""
    broken = []
    for name in OPERATIONS:
        print(f"{case.words}, {name}")
        for program in ("ior", "assay"):
            results = found[program][name]
            rate, own = _of([one.rate for one in results], 1e6), _of([one.own for one in results], 1e6)
            print(
                f"  {program:6} {rate} MB/s, by itself {own} MB/s, {_of([one.cpu for one in results], 1e3)} us CPU/op"
            )
        pairs = list(zip(found["assay"][name], found["ior"][name], strict=True))
        ratios = {word: [getattr(a, word) / getattr(b, word) for a, b in pairs] for word in ("rate", "own", "cpu")}
        middle = {word: statistics.median(values) for word, values in ratios.items()}
        rates = spread(ratios["rate"]) or Spread(0, 0, 0, 0)
        print(
            f"  assay/ior: rate {middle['rate']:.3f} ({rates.low:.3f}-{rates.high:.3f}), "
            f"by themselves {middle['own']:.3f}, CPU {middle['cpu']:.3f}"
        )
        if abs(middle["rate"] - 1) > WITHIN:
            broken.append(f"{case.words}, {name}: rate {middle['rate']:.3f} of IOR's")
        if middle["cpu"] > CPU_MAX:
            broken.append(f"{case.words}, {name}: CPU {middle['cpu']:.3f} of IOR's")
    sys.stdout.flush()
    return broken


def options_of(words: list[str] | None = None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="new directory for the files, removed afterwards")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--size", type=int, default=64, help="MiB of each rank")
    parser.add_argument("--transfer", type=int, default=256, help="KiB")
    parser.add_argument(
        "--io", default="ompio,romio321", help="components of Open MPI; empty: the library's own choice"
    )
    parser.add_argument("--only", default="", help="only comparisons with this text in their words")
    parser.add_argument("--flush", action="store_true", help="MPI_File_sync within the time (IOR -e, sync: fsync)")
    parser.add_argument("--ior", default=os.environ.get("IOR") or shutil.which("ior"))
    parser.add_argument("--engine", default=str(ROOT / "target/release/assay-engine-mpi"))
    return parser.parse_args(words)


def main() -> int:
    """Exit code 1 if something does not hold, 2 if nothing can be compared."""
    options = options_of()
    if not options.ior:
        print("error: there is no ior: put IOR on PATH, or name it in $IOR", file=sys.stderr)
        return 2
    options.folder.mkdir()
    broken = []
    try:
        with tempfile.TemporaryDirectory() as made:
            bench = Bench(options, options.folder, build_watch(Path(made)))
            cases = [
                Case(io, together, strided)
                for io in options.io.split(",")
                for together in (False, True)
                for strided in (False, True)
            ]
            for case in (case for case in cases if options.only in case.words):
                broken += show(case, compare(bench, case, options.rounds))
    finally:
        shutil.rmtree(options.folder)
    print("\n".join(broken) or f"all within {WITHIN:.0%}, and no CPU time more")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
