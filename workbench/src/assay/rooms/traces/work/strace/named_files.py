"""Which files a call names, by descriptor or path, and how its operation gets into the trace."""

import os.path
import re
from collections import Counter
from typing import NamedTuple

from assay.model.trace.records import MAX_NUMBER, NO_VALUE, TraceOperation
from assay.rooms.traces.work.strace.known_files import KnownFiles, KnownName
from assay.rooms.traces.work.strace.lines import TracedCall, unescape
from assay.rooms.traces.work.strace.tasks import OpenFile, Running
from assay.rooms.traces.work.writer import TraceWriter

_FD = re.compile(r"(\d+)(?:<([^<>]*)>)?")
PATH = re.compile(r'(?:(AT_FDCWD|\d+)(?:<([^<>]*)>(?:\(deleted\))?)?, )?"((?:[^"\\]|\\.)*)"')
"""A path in the arguments of a call, with the directory that it is relative to, if that is an argument, too."""


class Context(NamedTuple):
    """A call and where it belongs.

    Attributes:
        call: The call.
        task: Who made it.
        file: The open file of its first argument when it began, if that is known.
        begin: When it began, in nanoseconds since the trace began.
    """

    call: TracedCall
    task: Running
    file: OpenFile | None
    begin: int


class NamedFiles:
    """Finds the files that calls name, and writes operations on them.

    Args:
        files: The files.
        writer: Gets the operations.

    Attributes:
        losses: Code -> count of what the trace does not show.
        left_out: Operations that are left out, by reason.
        has_renamed: A file was renamed: paths of open files change then.
    """

    def __init__(self, files: KnownFiles, writer: TraceWriter) -> None:
        self.files, self._writer = files, writer
        self.losses: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.has_renamed = False
        self._real: dict[str, str] = {}

    def file_of(self, task: Running, written: str, dropped: bool = False) -> OpenFile | None:
        """Return the open file that an argument names; None if it is no file.

        Args:
            task: Who names it.
            written: The argument as printed: `3</path>`.
            dropped: It is closed by that.
        """
        found = _FD.match(written)
        if found is None:
            return None
        number, shown = int(found[1]), found[2]
        known = task.descriptors.files.get(number)
        if dropped:
            task.descriptors.close(number)
        if shown is None or (known is not None and known.shown == shown):
            return known
        if not shown.startswith("/") or shown.startswith("/memfd:"):
            task.descriptors.close(number)
            return None
        if known is not None and self.has_renamed:
            # It was renamed while it was open.
            known.shown = shown
            return known
        # It came by a way that is not followed, such as a socket.
        name = self.files.name(unescape(shown))
        made = OpenFile(name, name.exists(), None, False, shown)
        if not dropped:
            task.descriptors.put(number, made, False)
        return made

    def absolute(self, task: Running, found: "re.Match[str]") -> str:
        """Return the absolute path that an argument names, links unresolved."""
        _, folder, path = found.groups()
        path = unescape(path)
        if not path.startswith("/"):
            path = f"{unescape(folder) if folder else task.folder.path}/{path}"
        return os.path.normpath(path) if "/." in path or "//" in path or path.endswith("/") else path

    def name_of(self, task: Running, found: "re.Match[str]") -> KnownName:
        """Return the name that an argument names; the links that opens have shown are resolved."""
        path = self.absolute(task, found)
        folder, _, last = path.rpartition("/")
        return self.files.name(f"{self._real.get(folder, folder)}/{last}")

    def learn(self, path: str, real: str) -> None:
        """Note where a directory really is, if an open shows that its path has links."""
        if path != real:
            (folder, _, last), (other, _, end) = path.rpartition("/"), real.rpartition("/")
            if last == end and folder != other:
                self._real[folder] = other

    def lose(self, name: KnownName, code: str) -> None:
        """Count something that the trace does not show of a file."""
        if not name.left_out:
            self.losses[code] += 1

    def emit(
        self,
        context: Context,
        name: KnownName,
        op: str,
        offset: int | None = None,
        length: int | None = None,
        moved: int = 0,
        flags: str = NO_VALUE,
        other: KnownName | None = None,
        appended: bool = False,
    ) -> None:
        """Write an operation, or count that it is left out.

        Args:
            context: Its call.
            name: The file.
            op: Its name in the trace.
            offset: Byte of the file.
            length: Bytes asked for.
            moved: Bytes moved.
            flags: As in the trace.
            other: The second file, of a rename or a link.
            appended: The offset is relative to the size when the trace began.
        """
        call = context.call
        reason = name.left_out or (other.left_out if other is not None else "")
        if reason:
            self.left_out[reason] += 1
            return
        if call.result is None and not call.error:
            self.losses["unfinished"] += 1
            return
        if other is not None:
            flags = f">{other.id}"
        result: int | str = f"-{call.error}" if call.error else moved
        if length is not None:
            # Older versions of strace print lists of buffers shortened; and a program may ask for any number.
            length = min(MAX_NUMBER, max(length, moved))
        self._writer.add(
            TraceOperation(context.begin, call.duration, context.task.id, op, name.id, offset, length, result, flags),
            appended=appended,
        )
