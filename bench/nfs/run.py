#!/usr/bin/env python3
"""Assay's NFS client beside nfs-cp: the same server, files of the same size, in turns.

One client and one server in a cluster in a box, on an unshaped link, with the server's
file system in memory. In each round every contender runs twice, in an order that changes;
the second run counts.
nfs-cp has no clock: its time is that of the process, less what it takes for an empty
file. It reads into a file in memory. Nobody commits what was written. Needs root.

    .venv/bin/python bench/nfs/run.py --rounds 7 --json nfs.json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.site.box.running import RunningBox

ENGINE = str(Path(__file__).resolve().parents[2] / "target/release/assay-engine")
MIB = 1 << 20
BOX = """name: bench-nfs
hosts:
  client1: {}
  server1:
    disks: [{size: 8GiB, mount: /export}]
    servers: [{kind: nfs-ganesha, exports: [/export]}]
"""
JOB = """{"spec_version": 2, "id": "bench", "sync": "none", "target": {"kind": "nfs",
"servers": ["server1"], "export": "/export", "root": "assay", "directory": "bench"}}"""
GOALS = (
    ("assay write depth 2", "nfs-cp write", 1.5),
    ("assay write depth 4", "nfs-cp write", 1.5),
    ("assay read depth 2", "nfs-cp read", 1.5),
    ("assay read depth 4", "nfs-cp read", 1.5),
    ("assay random_read depth 32, 2 connections", "assay random_read depth 1", 3.0),
)
"""Contender, beside which, at least so many times as fast."""
Figures = dict[str, float]


class Bench:
    """The contenders in a box that is up."""

    def __init__(self, box: RunningBox, folder: Path, size: int, seconds: float) -> None:
        """Use this box.

        Args:
            box: With the hosts of `BOX`.
            folder: In memory, for the files that nfs-cp copies.
            size: Of the file that is copied, in bytes.
            seconds: Length of the random reads.
        """
        self.client, self.server = box.enter("client1"), box.enter("server1")
        self.folder, self.size, self.seconds = folder, size, seconds
        self.copies = 0
        self.commands: dict[str, str] = {}
        random_bytes = random.Random(1).randbytes(MIB)
        (folder / "source").write_bytes(random_bytes * (size // MIB))
        (folder / "empty").touch()
        times = [self._copy(str(folder / "empty"), self._new()) for _ in range(7)]
        self.start_up = statistics.median(times)

    def contenders(self) -> list[Callable[[], Figures]]:
        """Each runs once, and gives figures in bytes or operations per second."""
        phases = [{"operation": "write"}, {"operation": "read"}]
        made: list[Callable[[], Figures]] = [self.copy]
        for depth in (2, 4):
            made.append(self._engine(self.size, MIB, depth, phases))
        runtime = round(self.seconds * 1e9)
        reads: dict[str, Any] = {"operation": "random_read", "runtime_ns": runtime}
        prepared = [{"operation": "prepare", "measured": False}, reads]
        for depth, connections in ((1, 1), (32, 1), (32, 2)):
            made.append(self._engine(64 * MIB, 4096, depth, prepared, connections))
        return made

    def settled(self, run: Callable[[], Figures]) -> Figures:
        """The second of two runs; it does not pay for what an earlier one left unwritten on the server, nor for memory.

        A virtual machine can have given free memory back to its host: then a page cache that grows into it waits for
        the host at each page. The first run has had the memory that the second needs.
        """
        for _ in range(2):
            subprocess.run([*self.server, "sync", "-f", "/export"], check=True)
            figures = run()
        return figures

    def copy(self) -> Figures:
        """There with nfs-cp, and back."""
        there, back = self._new(), self.folder / "back"
        times = {
            "nfs-cp write": self._copy(str(self.folder / "source"), there, "write"),
            "nfs-cp read": self._copy(there, str(back), "read"),
        }
        back.unlink()
        subprocess.run([*self.server, "sh", "-c", "rm /export/copy*"], check=True)
        return {key: self.size / (took - self.start_up) for key, took in times.items()}

    def _engine(
        self, size: int, record: int, depth: int, phases: list[Any], connections: int = 1
    ) -> Callable[[], Figures]:
        sizes = {"file_size_bytes": size, "record_size_bytes": record}
        job = {**json.loads(JOB), **sizes, "queue_depth": depth, "phases": phases}
        job["target"]["nconnect"] = connections
        path = self.folder / f"{record}-{depth}-{connections}.json"
        path.write_text(json.dumps(job))
        way = f"depth {depth}" + (f", {connections} connections" if connections > 1 else "")
        self.commands[f"assay {way}"] = f"assay-engine run JOB; {json.dumps(job)}"

        def run() -> Figures:
            lines = self._run(ENGINE, "run", str(path)).splitlines()
            events = [json.loads(line) for line in lines]
            found = {}
            for end in (event for event in events if event["event"] == "phase_end"):
                operation, whole = (
                    phases[end["phase"]]["operation"],
                    end["last_finisher"],
                )
                amount = whole["ops" if operation == "random_read" else "bytes"]
                took = whole["end_ns"] - whole["start_ns"]
                if operation != "prepare":
                    found[f"assay {operation} {way}"] = amount * 1e9 / took
            return found

        return run

    def _new(self) -> str:
        """A new name in the export: nfs-cp does not overwrite."""
        self.copies += 1
        return f"nfs://server1/export/copy{self.copies}?version=3"

    def _copy(self, source: str, to: str, name: str = "start") -> float:
        """Seconds that it takes."""
        self.commands[f"nfs-cp {name}"] = shlex.join(["nfs-cp", source, to])
        begin = time.perf_counter()
        self._run("nfs-cp", source, to)
        return time.perf_counter() - begin

    def _run(self, *words: str) -> str:
        command = [*self.client, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"error: {shlex.join(words)}: {done.stderr or done.stdout}")
        return done.stdout


def measure(rounds: int, size: int, seconds: float) -> tuple[list[Figures], dict[str, str]]:
    """The figures of each round, and the commands; the first round only warms up."""
    from assay.site.box.box import load_box
    from assay.site.box.up import bring_up

    folder = Path(tempfile.mkdtemp(prefix="assay-bench-nfs-", dir="/dev/shm"))
    os.environ["ASSAY_BOXES"] = str(folder)
    try:
        (folder / "box.yaml").write_text(BOX)
        box = bring_up(load_box("box.yaml", folder), owned=True)
        try:
            bench = Bench(box, folder, size, seconds)
            contenders = bench.contenders()
            found: list[Figures] = []
            for _ in range(rounds + 1):
                contenders = contenders[1:] + contenders[:1]
                parts = [bench.settled(run) for run in contenders]
                found.append({key: part[key] for part in parts for key in part})
            return found[1:], bench.commands
        finally:
            box.down()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def show(rounds: list[Figures]) -> bool:
    """Print medians, spreads and ratios; whether all goals are met."""
    for name in sorted(rounds[0]):
        unit, scale = ("1/s", 1.0) if "random" in name else ("MB/s", 1e6)
        values = [found[name] / scale for found in rounds]
        middle, spread = (
            statistics.median(values),
            f"{min(values):.0f} to {max(values):.0f}",
        )
        print(f"{name:42} {middle:7.0f} {unit:4} ({spread}, n = {len(values)})")
    met = True
    for ours, theirs, goal in GOALS:
        ratios = [found[ours] / found[theirs] for found in rounds]
        middle, spread = (
            statistics.median(ratios),
            f"{min(ratios):.2f} to {max(ratios):.2f}",
        )
        word = "met" if middle >= goal else "NOT MET"
        print(f"{ours} / {theirs}: {middle:.2f} ({spread}), goal {goal:g}: {word}")
        met = met and middle >= goal
    return met


def main() -> int:
    """Exit code 1 if a goal is not met."""
    parser = argparse.ArgumentParser(description="Assay's NFS client beside nfs-cp.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--size", type=int, default=256, metavar="MIB")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    if shutil.which("nfs-cp") is None:
        raise SystemExit("error: nfs-cp is missing\nhint: apt-get install libnfs-utils")
    rounds, commands = measure(asked.rounds, asked.size * MIB, asked.seconds)
    met = show(rounds)
    print("\n".join(f"{name}: {commands[name]}" for name in sorted(commands)))
    if asked.json:
        asked.json.write_text(json.dumps({"rounds": rounds, "commands": commands}))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
