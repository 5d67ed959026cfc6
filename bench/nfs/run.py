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

import json
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from copying import MIB, Copying, Figures, Goal, main

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
        """See `Copying`."""
        super().__init__(box, folder, size, seconds)
        self.copies = 0
        times = [self._copy(str(folder / "empty"), self._new()) for _ in range(7)]
        self.start_up = statistics.median(times)

    def contenders(self) -> list[Callable[[], Figures]]:
        """See `Copying.contenders`."""
        phases = [{"operation": "write"}, {"operation": "read"}]
        made: list[Callable[[], Figures]] = [self.copy]
        for depth in (2, 4):
            made.append(self.engine(json.loads(JOB), self.size, MIB, depth, phases))
        for depth, connections in ((1, 1), (32, 1), (32, 2)):
            job = json.loads(JOB)
            job["target"]["nconnect"] = connections
            way = f"{connections} connections" if connections > 1 else ""
            made.append(self.engine(job, 64 * MIB, 4096, depth, self.random_reads(), way))
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


if __name__ == "__main__":
    sys.exit(main("Assay's NFS client beside nfs-cp.", Bench, BOX, GOALS, ("nfs-cp",), "libnfs-utils"))
