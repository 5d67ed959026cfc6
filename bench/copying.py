"""The engine beside programs that copy a file to a server and back: rounds in turns, medians, spreads and ratios."""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.rooms.testbed.work.running import RunningBox

ENGINE = str(Path(__file__).resolve().parents[1] / "target/release/assay-engine")
MIB = 1 << 20
Figures = dict[str, float]
Goal = tuple[str, str, float]
"""Contender, beside which, at least so many times as fast."""


class Copying:
    """Contenders in a box with `client1` and `server1` that is up."""

    def __init__(self, box: RunningBox, folder: Path, size: int, seconds: float) -> None:
        """Use this box.

        Args:
            box: It serves `/export`.
            folder: In memory, for the files that are copied.
            size: Of the file that is copied, in bytes.
            seconds: Length of the random reads.
        """
        self.client, self.server = box.enter("client1"), box.enter("server1")
        self.folder, self.size, self.seconds = folder, size, seconds
        self.commands: dict[str, str] = {}
        (folder / "source").write_bytes(random.Random(1).randbytes(MIB) * (size // MIB))
        (folder / "empty").touch()

    def contenders(self) -> list[Callable[[], Figures]]:
        """Each runs once, and gives figures in bytes or operations per second."""
        raise NotImplementedError

    def random_reads(self) -> list[dict[str, Any]]:
        """Phases of random reads."""
        reads = {"operation": "random_read", "runtime_ns": round(self.seconds * 1e9)}
        return [{"operation": "prepare", "measured": False}, reads]

    def settled(self, run: Callable[[], Figures]) -> Figures:
        """The second of two runs; it does not pay for what an earlier one left unwritten on the server, nor for memory.

        A virtual machine can have given free memory back to its host: then a page cache that grows into it waits for
        the host at each page. The first run has had the memory that the second needs.
        """
        figures: Figures = {}
        for _ in range(2):
            subprocess.run([*self.server, "sync", "-f", "/export"], check=True)
            figures = run()
        return figures

    def engine(
        self,
        job: dict[str, Any],
        size: int,
        record: int,
        depth: int,
        phases: list[Any],
        way: str = "",
    ) -> Callable[[], Figures]:
        """The engine with a job: bytes per second of each phase, of random operations how many of them.

        Args:
            job: What stays the same, the target among it.
            size: Of the file, in bytes.
            record: In bytes.
            depth: Operations in flight.
            phases: As in a job.
            way: What else tells it from others, for people.
        """
        sizes = {"file_size_bytes": size, "record_size_bytes": record}
        name = f"depth {depth}" + (f", {way}" if way else "")
        path = self.folder / f"{len(self.commands)}.json"
        path.write_text(json.dumps({**job, **sizes, "queue_depth": depth, "phases": phases}))
        self.commands[f"assay {name}"] = f"assay-engine run JOB; {path.read_text()}"

        def run() -> Figures:
            events = [json.loads(line) for line in self.run(ENGINE, "run", str(path)).splitlines()]
            found = {}
            for end in (event for event in events if event["event"] == "phase_end"):
                operation, whole = (
                    phases[end["phase"]]["operation"],
                    end["last_finisher"],
                )
                amount = whole["ops" if operation.startswith("random") else "bytes"]
                if operation != "prepare":
                    took = whole["end_ns"] - whole["start_ns"]
                    found[f"assay {operation} {name}"] = amount * 1e9 / took
            return found

        return run

    def run(self, *words: str) -> str:
        """What a command on the client prints.

        Raises:
            SystemExit: It fails.
        """
        command = [*self.client, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"error: {shlex.join(words)}: {done.stderr or done.stdout}")
        return done.stdout


def measure(
    box_file: str, rounds: int, make: Callable[[RunningBox, Path], Copying]
) -> tuple[list[Figures], dict[str, str]]:
    """The figures of each round, and the commands; the first round only warms up.

    Args:
        box_file: Text of the file of a box.
        rounds: How many count.
        make: Given the box and a folder in memory, the contenders.
    """
    from assay.rooms.testbed.work.box import load_box
    from assay.rooms.testbed.work.up import bring_up

    folder = Path(tempfile.mkdtemp(prefix="assay-bench-", dir="/dev/shm"))
    os.environ["ASSAY_BOXES"] = str(folder)
    try:
        (folder / "box.yaml").write_text(box_file)
        box = bring_up(load_box("box.yaml", folder), owned=True)
        try:
            bench = make(box, folder)
            contenders = bench.contenders()
            found: list[Figures] = []
            for _ in range(rounds + 1):
                contenders = [*contenders[1:], *contenders[:1]]
                parts = [bench.settled(run) for run in contenders]
                found.append({key: part[key] for part in parts for key in part})
            return found[1:], bench.commands
        finally:
            box.down()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def show(rounds: list[Figures], commands: dict[str, str], goals: Sequence[Goal]) -> bool:
    """Print medians, spreads, ratios and commands; whether all goals are met."""
    for name in sorted(rounds[0]):
        unit, scale = ("1/s", 1.0) if "random" in name else ("MB/s", 1e6)
        values = [found[name] / scale for found in rounds]
        spread = f"{min(values):.0f} to {max(values):.0f}"
        print(f"{name:42} {statistics.median(values):7.0f} {unit:4} ({spread}, n = {len(values)})")
    met = True
    for ours, theirs, goal in goals:
        ratios = [found[ours] / found[theirs] for found in rounds]
        middle, spread = (
            statistics.median(ratios),
            f"{min(ratios):.2f} to {max(ratios):.2f}",
        )
        word = "met" if middle >= goal else "NOT MET"
        print(f"{ours} / {theirs}: {middle:.2f} ({spread}), goal {goal:g}: {word}")
        met = met and middle >= goal
    print("\n".join(f"{name}: {commands[name]}" for name in sorted(commands)))
    return met


def main(
    about: str, bench: type[Copying], box_file: str, goals: Sequence[Goal], programs: Sequence[str], package: str
) -> int:
    """Measure as the command line says; exit code 1 if a goal is not met.

    Args:
        about: What the program does, for its help.
        bench: The contenders.
        box_file: Text of the file of a box.
        goals: What must be reached.
        programs: Needed on this machine.
        package: Where they come from.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--size", type=int, default=256, metavar="MIB")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    for program in programs:
        if shutil.which(program) is None:
            raise SystemExit(f"error: {program} is missing\nhint: apt-get install {package}")
    rounds, commands = measure(
        box_file, asked.rounds, lambda box, folder: bench(box, folder, asked.size * MIB, asked.seconds)
    )
    met = show(rounds, commands, goals)
    if asked.json:
        asked.json.write_text(json.dumps({"rounds": rounds, "commands": commands}))
    return 0 if met else 1
