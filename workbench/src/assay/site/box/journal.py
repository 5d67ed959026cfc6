"""What was made for a box, written down before it is made, so that it can be removed whatever happens."""

import errno
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.site.box.process import Process, boot_id

NAME = "journal"


@dataclass(frozen=True)
class Made:
    """What a journal says.

    Attributes:
        boot: Boot in which it was written; processes of another are gone.
        disks: Folder of the disks' files; None if that was not reached.
        groups: Control groups.
        inits: Inits of hosts and switch.
    """

    boot: str = ""
    disks: Path | None = None
    groups: tuple[Path, ...] = ()
    inits: tuple[Process, ...] = ()

    def processes(self) -> list[Process]:
        """The inits that may still live."""
        return list(self.inits) if self.boot == boot_id() else []


class Journal:
    """The journal of a box that is being made. Threads may share it."""

    def __init__(self, folder: Path, disks: Path) -> None:
        """Begin a journal.

        Args:
            folder: Of the box.
            disks: Folder of its disks, which is not made yet.
        """
        self._fd = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._lock = threading.Lock()
        self._write({"boot": boot_id(), "disks": str(disks)})

    def group(self, path: Path) -> None:
        """A control group will be made."""
        self._write({"group": str(path)})

    def init(self, process: Process) -> None:
        """An init waits for the word to begin."""
        self._write({"pid": process.pid, "start": process.start})

    def _write(self, entry: dict[str, str | int]) -> None:
        line = (json.dumps(entry) + "\n").encode()
        with self._lock:
            if os.write(self._fd, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def close(self) -> None:
        """No more will be made."""
        os.close(self._fd)


def read_journal(folder: Path) -> Made | None:
    """What the journal in a folder says; None if there is none.

    A line that was cut short does not count: what it announces was not made. What the others say is a claim, for
    whoever removes things to check.
    """
    try:
        text = (folder / NAME).read_text(errors="replace")
    except OSError:
        return None
    entries = [entry for line in text.splitlines() if (entry := _entry(line)) is not None]
    heads = [entry for entry in entries if isinstance(entry.get("boot"), str) and isinstance(entry.get("disks"), str)]
    return Made(
        boot=heads[0]["boot"] if heads else "",
        disks=Path(heads[0]["disks"]) if heads else None,
        groups=tuple(Path(entry["group"]) for entry in entries if isinstance(entry.get("group"), str)),
        inits=tuple(
            Process(entry["pid"], entry["start"])
            for entry in entries
            if isinstance(entry.get("pid"), int) and isinstance(entry.get("start"), int) and entry["pid"] > 1
        ),
    )


def _entry(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
