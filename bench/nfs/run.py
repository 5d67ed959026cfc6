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
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from copying import MIB, Copying, Figures, Goal, measure, show

if TYPE_CHECKING:
    from assay.rooms.testbed.work.running import RunningBox

BOX = """name: bench-nfs
hosts:
  client1: {}
  server1:
    disks: [{size: 8GiB, mount: /export}]
    servers: [{kind: nfs-ganesha, exports: [/export]}]
"""
JOB = """{"spec_version": 2, "id": "bench", "sync": "none", "target": {"kind": "nfs",
"servers": ["server1"], "export": "/export", "root": "assay", "directory": "bench"}}"""
GOALS: tuple[Goal, ...] = (
    ("assay write depth 2", "nfs-cp write", 1.5),
    ("assay write depth 4", "nfs-cp write", 1.5),
    ("assay read depth 2", "nfs-cp read", 1.5),
    ("assay read depth 4", "nfs-cp read", 1.5),
    ("assay random_read depth 32, 2 connections", "assay random_read depth 1", 3.0),
)


class Bench(Copying):
    """The contenders in a box that is up."""

    def __init__(self, box: RunningBox, folder: Path, size: int, seconds: float) -> None:
        """As `Copying`; `seconds` is the length of the random reads."""
        super().__init__(box, folder, size)
        self.seconds, self.copies = seconds, 0
        times = [self._copy(str(folder / "empty"), self._new()) for _ in range(7)]
        self.start_up = statistics.median(times)

    def contenders(self) -> list[Callable[[], Figures]]:
        """Each runs once, and gives figures in bytes or operations per second."""
        phases = [{"operation": "write"}, {"operation": "read"}]
        made: list[Callable[[], Figures]] = [self.copy]
        for depth in (2, 4):
            made.append(self.engine(json.loads(JOB), self.size, MIB, depth, phases))
        reads: dict[str, Any] = {
            "operation": "random_read",
            "runtime_ns": round(self.seconds * 1e9),
        }
        prepared = [{"operation": "prepare", "measured": False}, reads]
        for depth, connections in ((1, 1), (32, 1), (32, 2)):
            job = json.loads(JOB)
            job["target"]["nconnect"] = connections
            way = f"{connections} connections" if connections > 1 else ""
            made.append(self.engine(job, 64 * MIB, 4096, depth, prepared, way))
        return made

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

    def _new(self) -> str:
        """A new name in the export: nfs-cp does not overwrite."""
        self.copies += 1
        return f"nfs://server1/export/copy{self.copies}?version=3"

    def _copy(self, source: str, to: str, name: str = "start") -> float:
        """Seconds that it takes."""
        self.commands[f"nfs-cp {name}"] = shlex.join(["nfs-cp", source, to])
        begin = time.perf_counter()
        self.run("nfs-cp", source, to)
        return time.perf_counter() - begin


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

    def make(box: RunningBox, folder: Path) -> tuple[Bench, list[Callable[[], Figures]]]:
        bench = Bench(box, folder, asked.size * MIB, asked.seconds)
        return bench, bench.contenders()

    rounds, commands = measure(BOX, asked.rounds, make)
    met = show(rounds, commands, GOALS)
    if asked.json:
        asked.json.write_text(json.dumps({"rounds": rounds, "commands": commands}))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
