"""What readers of other tools' recordings share: their lines, and the tasks and files that they name."""

import os.path
import re
from collections import Counter
from collections.abc import Callable, Iterator

from assay.model.base import LineError
from assay.model.trace.records import NO_VALUE, End, File, Task, TraceOperation
from assay.rooms.traces.work.names import Names
from assay.rooms.traces.work.writer import TraceWriter

Lines = Callable[[], Iterator[tuple[int, str]]]
"""Opens a recording again and returns its lines without line breaks, each with its number from 1."""

_NUMBER = re.compile(r"[0-9]{1,18}")
_SECONDS = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?")
_MAX_TASKS = 1 << 20


class _Known:
    """A file of which operations are added, in the order of the recording.

    Attributes:
        size: Bytes that it must have had when the trace began; None if it need not have existed.
        written: End of the furthest write.
    """

    __slots__ = ("id", "kind", "name", "size", "written")

    def __init__(self, number: int, kind: str, name: str) -> None:
        self.id, self.kind, self.name = number, kind, name
        self.size: int | None = None
        self.written = 0


class Collected:
    """Operations of a recording, with the tasks and files that they name.

    Args:
        file: Name of the recording, for messages.
        writer: Gets the records.
        names: Makes names of files.

    Attributes:
        losses: Code -> count of what the trace does not show.
        end: Nanoseconds from the beginning to the end of the last operation.
    """

    def __init__(self, file: str, writer: TraceWriter, names: Names) -> None:
        self.file = file
        self.losses: Counter[str] = Counter()
        self.end = 0
        self.operations = 0
        self._writer, self._names = writer, names
        self._tasks: dict[str, int] = {}
        self._files: dict[str, _Known] = {}
        self._by_id: list[_Known] = []

    def task(self, key: str) -> int:
        """Return the id of a task. It begins with the trace, since recordings do not say when it began."""
        if key not in self._tasks:
            if len(self._tasks) >= _MAX_TASKS:
                raise LineError(self.file, 1, f"more than {_MAX_TASKS:,} tasks", "give a part of the recording")
            self._tasks[key] = len(self._tasks) + 1
            # Before all operations at the beginning.
            self._writer.add(Task(self._tasks[key], None, 0), time=-1)
        return self._tasks[key]

    def add(
        self,
        start: int,
        duration: int,
        task: str,
        op: str,
        path: str,
        *,
        kind: str = "f",
        offset: int | None = None,
        length: int | None = None,
        result: int | str = 0,
        flags: str = NO_VALUE,
    ) -> None:
        """Add an operation on the file with a path, or the object with a key; times in nanoseconds since the start."""
        if kind != "o" and (not path.startswith("/") or "/." in path or "//" in path):
            # Keys of objects may have any parts; paths stay below the root of the trace.
            path = os.path.normpath("/" + path.lstrip("/"))
        known = self._files.get(path)
        if known is None:
            name = self._names.of_parts(path) if kind == "o" else self._names.of_path(path)
            known = self._files[path] = _Known(len(self._by_id) + 1, kind, name)
            self._by_id.append(known)
        if isinstance(result, int):
            self._note_size(known, op, (offset or 0) + result)
        record = TraceOperation(start, duration, self.task(task), op, known.id, offset, length, result, flags)
        self._writer.add(record)
        self.operations += 1
        self.end = max(self.end, start + duration)

    def finish(self) -> None:
        """End all tasks."""
        for task in self._tasks.values():
            self._writer.add(End(task, self.end))

    def _note_size(self, known: _Known, op: str, end: int) -> None:
        if op in ("read", "get", "head", "stat") and end > known.written:
            # What it has not written itself was there.
            known.size = max(known.size or 0, end)
        elif op in ("write", "put"):
            known.written = max(known.written, end)
            if known.kind == "b":
                known.size = max(known.size or 0, end)
        elif op in ("delete", "unlink") and not known.written and known.size is None:
            known.size = 0

    def record(self, file: int) -> File | None:
        """Return the record of a file."""
        known = self._by_id[file - 1]
        return File(known.id, known.kind, None if known.kind == "d" else known.size, known.name)

    def base(self, file: int) -> int:
        """Return 0: offsets of recordings are known."""
        del file
        return 0

    def error(self, line: int, message: str, hint: str = "") -> LineError:
        """Return the error of a line."""
        return LineError(self.file, line, message, hint or "repair the line, or leave it out")

    def number(self, line: int, text: str, what: str) -> int:
        """Return a number of a line.

        Raises:
            LineError: It is none.
        """
        if not _NUMBER.fullmatch(text):
            raise self.error(line, f"{what} cannot be {text!r:.40}")
        return int(text)

    def nanoseconds(self, line: int, text: str, what: str) -> int:
        """Return seconds of a line, with or without a fraction, in nanoseconds.

        Raises:
            LineError: They are none.
        """
        found = _SECONDS.fullmatch(text)
        if found is None:
            raise self.error(line, f"{what} cannot be {text!r:.40}")
        return int(found[1]) * 10**9 + int((found[2] or "").ljust(9, "0"))
