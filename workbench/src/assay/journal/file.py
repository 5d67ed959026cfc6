"""A journal in a file: one line of JSON for each thing that is made, amended or removed."""

import contextlib
import errno
import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.journal.entry import Entry
from assay.model.base import EXIT_REFUSED, AssayError

MAX_BYTES = 16 << 20
"""Bytes of a journal that are read; no real one is longer."""


class FileJournal:
    """A journal that this process writes. Threads may share it."""

    def __init__(self, path: Path) -> None:
        """Begin a journal, or continue one that exists.

        Args:
            path: Its file, in a folder that only this user may write.

        Raises:
            AssayError: It cannot be written.
        """
        self.path = path
        self._lock = threading.Lock()
        self._entries = {entry.id: entry for entry in read_entries(path)}
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._fd = os.open(path, flags, 0o600)
        except OSError as error:
            raise self._write_error(error) from error

    def record(self, kind: str, name: str, details: Mapping[str, Any] | None = None) -> int:
        """See `Journal`."""
        with self._lock:
            for known in self._entries.values():
                if (known.kind, known.name, known.removed_at) == (kind, name, None):
                    return known.id
            number = max(self._entries, default=0) + 1
            entry = Entry(number, kind, name, dict(details or {}), time.time(), None)
            self._write({"id": number, "kind": kind, "name": name, "details": entry.details, "at": entry.recorded_at})
            self._entries[number] = entry
            return number

    def amend(self, entry: int, details: Mapping[str, Any]) -> None:
        """See `Journal`."""
        with self._lock:
            self._write({"amended": entry, "details": dict(details)})
            self._entries = {one.id: one for one in read_entries(self.path)}

    def mark_removed(self, entry: int) -> None:
        """See `Journal`."""
        with self._lock:
            self._write({"removed": entry, "at": time.time()})
            self._entries = {one.id: one for one in read_entries(self.path)}

    def entries(self, only_open: bool = True) -> list[Entry]:
        """See `Journal`."""
        with self._lock:
            return [one for one in reversed(self._entries.values()) if not only_open or one.removed_at is None]

    def close(self) -> None:
        """Close the file; nothing can be recorded afterwards."""
        os.close(self._fd)

    def _write(self, line: Mapping[str, Any]) -> None:
        text = (json.dumps(line) + "\n").encode()
        size = os.fstat(self._fd).st_size
        try:
            # A killed process may have left half a line; start a new line so that this one stays readable.
            if size and os.pread(self._fd, 1, size - 1) != b"\n":
                text = b"\n" + text
            if os.write(self._fd, text) != len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, size)
            raise self._write_error(error) from error

    def _write_error(self, error: OSError) -> AssayError:
        return AssayError(
            f"{self.path}: {error.strerror}",
            "make this file writable: Assay records each thing before it makes it",
            EXIT_REFUSED,
        )


def read_entries(path: Path) -> list[Entry]:
    """Return the entries of a journal file; empty if there is no such file.

    A line that was cut short is skipped: its thing was not made. Entries are not trusted: removers check that a thing
    is what its entry says.
    """
    entries: dict[int, Entry] = {}
    for line in _lines(path):
        if (new_entry := _new_entry(line)) is not None:
            entries[new_entry.id] = new_entry
            continue
        number, at = line.get("amended", line.get("removed")), line.get("at")
        entry = entries.get(number) if isinstance(number, int) else None
        if entry is not None and "amended" in line and isinstance(line.get("details"), dict):
            entries[entry.id] = replace(entry, details=line["details"])
        elif entry is not None and "removed" in line and isinstance(at, float):
            entries[entry.id] = replace(entry, removed_at=at)
    return list(entries.values())


def _new_entry(line: Mapping[str, Any]) -> Entry | None:
    kinds = {"id": int, "kind": str, "name": str, "details": dict, "at": float}
    if not all(isinstance(line.get(key), kind) for key, kind in kinds.items()):
        return None
    return Entry(line["id"], line["kind"], line["name"], line["details"], line["at"], None)


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES).decode(errors="replace")
    except OSError:
        return []
    objects = []
    for line in text.splitlines():
        try:
            line_object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        objects += [line_object] if isinstance(line_object, dict) else []
    return objects
