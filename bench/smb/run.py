#!/usr/bin/env python3
"""Assay's SMB client beside smbclient and libsmbclient: the same Samba, files of the same size, in turns.

One client and one server in a cluster in a box, on an unshaped link, with the server's
file system in memory. In each round every contender runs twice, in an order that changes;
the second run counts. smbclient has a clock of whole milliseconds: its time is that of the
process, less what it takes for an empty file; it reads into /dev/null. libsmbclient is
called by `libsmb.py`, 1 MiB at a time, timed from open to close. Nobody flushes what was
written. Needs root.

    .venv/bin/python bench/smb/run.py --rounds 7 --json smb.json
"""

from __future__ import annotations

import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from copying import MIB, Copying, Figures, Goal, main

if TYPE_CHECKING:
    from assay.rooms.testbed.work.running import RunningBox

USER = "alice"
LIBRARY = Path(__file__).with_name("libsmb.py")
BOX = f"""name: bench-smb
hosts:
  client1: {{}}
  server1:
    disks: [{{size: 8GiB, mount: /export}}]
    servers: [{{kind: samba, exports: [/export], users: [{USER}], options: {{multichannel: "yes"}}}}]
"""
GOALS: tuple[Goal, ...] = (
    ("assay write depth 4", "smbclient put", 0.9),
    ("assay read depth 4", "smbclient get", 0.9),
    ("assay write depth 1", "libsmbclient write", 1.0),
    ("assay read depth 1", "libsmbclient read", 1.0),
    ("assay write depth 4", "libsmbclient write", 1.0),
    ("assay read depth 4", "libsmbclient read", 1.0),
)


class Bench(Copying):
    """The contenders in a box that is up."""

    def __init__(self, box: RunningBox, folder: Path, size: int, seconds: float) -> None:
        """See `Copying`."""
        super().__init__(box, folder, size, seconds)
        (server,) = box.host("server1").servers
        self.login = server.credentials[USER]
        lines = Path(self.login).read_text().splitlines()
        (self.password,) = (line.partition("=")[2] for line in lines if line.startswith("password="))
        times = [self._smbclient(f"put {folder}/empty empty", "start") for _ in range(7)]
        self.start_up = statistics.median(times)

    def contenders(self) -> list[Callable[[], Figures]]:
        """See `Copying.contenders`."""
        phases = [{"operation": "write"}, {"operation": "read"}]
        made: list[Callable[[], Figures]] = [self.copy, self.library]
        for depth in (1, 4):
            made.append(self.engine(self._job(), self.size, MIB, depth, phases))
        made.append(self.engine(self._job(signing=True), self.size, MIB, 4, phases, "signed"))
        made.append(self.engine(self._job(encryption=True), self.size, MIB, 4, phases, "encrypted"))
        for depth, channels in ((1, 1), (32, 1), (32, 2)):
            way = f"{channels} channels" if channels > 1 else ""
            made.append(self.engine(self._job(channels=channels), 64 * MIB, 4096, depth, self.random_reads(), way))
        return made

    def _job(self, **how: Any) -> dict[str, Any]:
        target = {
            "kind": "smb",
            "servers": ["server1"],
            "shares": ["export"],
            "root": "assay",
            "directory": "bench",
        }
        target = {**target, "credentials": self.login, **how}
        return {"spec_version": 2, "id": "bench", "sync": "none", "target": target}

    def copy(self) -> Figures:
        """There with smbclient, and back."""
        times = {
            "smbclient put": self._smbclient(f"put {self.folder}/source copy", "put"),
            "smbclient get": self._smbclient("get copy /dev/null", "get"),
        }
        subprocess.run([*self.server, "rm", "/export/copy"], check=True)
        return {key: self.size / (took - self.start_up) for key, took in times.items()}

    def _smbclient(self, order: str, name: str) -> float:
        """Seconds that it takes."""
        words = ["smbclient", "//server1/export", "-A", self.login, "-c", order]
        self.commands[f"smbclient {name}"] = shlex.join(words)
        begin = time.perf_counter()
        self.run(*words)
        return time.perf_counter() - begin

    def library(self) -> Figures:
        """There with libsmbclient, and back."""
        found = {}
        for what in ("write", "read"):
            words = [
                "python3",
                str(LIBRARY),
                what,
                "smb://server1/export/lib",
                USER,
                str(self.size),
            ]
            self.commands[f"libsmbclient {what}"] = f"PASSWD=... {shlex.join(words)}"
            found[f"libsmbclient {what}"] = float(self.run("env", f"PASSWD={self.password}", *words))
        subprocess.run([*self.server, "rm", "/export/lib"], check=True)
        return found


if __name__ == "__main__":
    about = "Assay's SMB client beside smbclient and libsmbclient."
    sys.exit(main(about, Bench, BOX, GOALS, ("smbclient", "smbd"), "samba smbclient"))
