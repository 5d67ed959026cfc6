"""Follows the lines of strace: calls that end later than others begin, tasks that begin and end, waits for them."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from assay.model.trace.records import End, Task, Wait
from assay.rooms.traces.work.strace.calls import LOSSES, Calls
from assay.rooms.traces.work.strace.known_files import KnownFiles
from assay.rooms.traces.work.strace.lines import Begun, Ended, Event, Resumed, TracedCall, parse_call, parse_line
from assay.rooms.traces.work.strace.named_files import Context
from assay.rooms.traces.work.strace.tasks import Descriptors, Folder, OpenFile, Running
from assay.rooms.traces.work.writer import TraceWriter

_CLONES = {"clone", "clone3", "fork", "vfork"}
_WAITED = re.compile(r"WIFEXITED|WIFSIGNALED|CLD_EXITED|CLD_KILLED|CLD_DUMPED")
_CHILD = re.compile(r"si_pid=(\d+)")

FILE_CALLS = (
    *("open", "openat", "openat2", "creat", "close", "close_range", "dup", "dup2", "dup3", "fcntl", "lseek"),
    *("read", "pread64", "readv", "preadv", "preadv2", "write", "pwrite64", "writev", "pwritev", "pwritev2"),
    *("sendfile", "copy_file_range", "splice", "fsync", "fdatasync", "truncate", "ftruncate"),
    *("stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat"),
    *("getdents", "getdents64", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2"),
    *("link", "linkat", "symlink", "symlinkat", "chdir", "fchdir", "mmap", "ioctl"),
)
TASK_CALLS = ("clone", "clone3", "fork", "vfork", "execve", "execveat", "wait4", "waitid")
TRACED = (*FILE_CALLS, *TASK_CALLS, *LOSSES)
"""Calls that strace is to print."""
VECTORS = ("readv", "preadv", "preadv2", "writev", "pwritev", "pwritev2")
"""Calls whose arguments strace must print in full, since all their lengths count."""


class Inherited(NamedTuple):
    """A descriptor that a program has from its beginning."""

    number: int
    path: str
    position: int
    appends: bool


class _Pending(NamedTuple):
    """A call that has begun."""

    begun: Begun
    file: OpenFile | None


class _EndedTask(NamedTuple):
    """A task that has ended and for which none has waited yet: its id in the trace, and when it ended."""

    task: int
    time: int


class StraceReader:
    """Makes records of lines of strace, given one after the other.

    Args:
        files: The files.
        writer: Gets the records.
        folder: Absolute path of the directory in which the program was started.
        inherited: Descriptors that it had from its beginning: its standard streams.

    Attributes:
        call_count: Calls that have ended.
        has_started: The program was started.
        calls: The calls.
    """

    def __init__(
        self, files: KnownFiles, writer: TraceWriter, folder: str, inherited: Sequence[Inherited] = ()
    ) -> None:
        self.calls = Calls(files, writer)
        self.call_count, self.has_started = 0, False
        self._files, self._writer, self._folder, self._inherited = files, writer, folder, inherited
        self._tasks: dict[int, Running] = {}
        self._ended: dict[int, _EndedTask] = {}
        self._pending: dict[int, _Pending] = {}
        self._parents: dict[int, int] = {}
        self._held: dict[int, list[tuple[int, Event]]] = {}
        self._made = 0
        self._zero: int | None = None
        self._last = 0

    def line(self, text: str) -> None:
        """Take a line into account."""
        parsed = parse_line(text)
        if parsed is None:
            self.calls.losses["unread-lines"] += 1
        elif parsed[1] is not None:
            self._event(parsed[0], parsed[1])

    def finish(self) -> int:
        """End what has not ended; return how many nanoseconds after the beginning the last event was."""
        for pid in list(self._held):
            self._begin(pid, None, "", self._held[pid][0][1])
        self.calls.losses["unfinished"] += sum(
            pending.file is not None and not pending.file.name.left_out for pending in self._pending.values()
        )
        for pid in list(self._tasks):
            self._end(pid, self._last)
        for ended in self._ended.values():
            self._write_end(ended)
        return self._last

    def losses(self) -> Counter[str]:
        """Return what the trace does not show: code -> count."""
        found = self.calls.losses + self.calls.left_out
        found.pop("special", None)
        return +found

    def _event(self, pid: int, event: Event) -> None:
        is_over = isinstance(event, Ended) and pid not in self._held
        if pid not in self._tasks and (is_over or not self._adopt(pid, event)):
            return
        match event:
            case TracedCall():
                self._call(pid, event, None)
            case Begun():
                self._begun(pid, event)
            case Resumed():
                self._resumed(pid, event)
            case Ended(time, None):
                self._end(pid, self._since(time))
            case Ended(time, by):
                self._replaced(pid, self._since(time), by)

    def _since(self, time: int) -> int:
        if self._zero is None:
            self._zero = time
        found = max(0, time - self._zero)
        self._last = max(self._last, found)
        return found

    # Calls

    def _begun(self, pid: int, event: Begun) -> None:
        self._since(event.start)
        file = self.calls.file_of(self._tasks[pid], event.args, dropped=event.name == "close")
        self._pending[pid] = _Pending(event, file)

    def _resumed(self, pid: int, event: Resumed) -> None:
        pending = self._pending.pop(pid, None)
        call = None
        if pending is not None and pending.begun.name == event.name:
            call = parse_call(f"{event.name}({pending.begun.args}{event.rest}", pending.begun.start)
        if call is None or pending is None:
            self.calls.losses["unread-lines"] += 1
            return
        self._call(pid, call, pending.file)

    def _call(self, pid: int, call: TracedCall, file: OpenFile | None) -> None:
        begin = self._since(call.start)
        self._since(call.start + call.duration)
        task = self._tasks[pid]
        self.call_count += 1
        if call.name in _CLONES:
            if call.result is not None and call.result > 0:
                self._cloned(pid, call)
        elif call.name in ("execve", "execveat"):
            if call.result == 0:
                self.has_started = True
                task.descriptors = task.descriptors.after_exec()
        elif call.name in ("wait4", "waitid"):
            self._waited(task, call)
        else:
            self.calls.do(Context(call, task, file, begin))

    def _waited(self, task: Running, call: TracedCall) -> None:
        if not _WAITED.search(call.args) or call.error or call.result is None:
            return
        found = _CHILD.search(call.args) if call.name == "waitid" else None
        pid = int(found[1]) if found else call.result
        over = self._since(call.start + call.duration)
        if pid in self._tasks:
            self._end(pid, over)
        ended = self._ended.pop(pid, None)
        if ended is not None:
            # strace may see the end of a task later than the task that waits for it.
            self._writer.add(End(ended.task, min(ended.time, over)))
            self._writer.add(Wait(task.id, ended.task), over)

    # Tasks

    def _adopt(self, pid: int, event: Event) -> bool:
        """Make a task of which the call that starts it has not returned yet; if that is unclear, hold its events."""
        if pid in self._held:
            self._held[pid].append((pid, event))
            return False
        if self._zero is None:
            self._begin(pid, None, "", event)
            return True
        taken = set(self._parents.values())
        waiting = [
            (parent, pending.begun.args)
            for parent, pending in self._pending.items()
            if pending.begun.name in _CLONES and parent not in taken
        ]
        if len(waiting) == 1:
            self._parents[pid] = waiting[0][0]
            self._begin(pid, *waiting[0], event)
            return True
        self._held[pid] = [(pid, event)]
        return False

    def _cloned(self, parent: int, call: TracedCall) -> None:
        child = call.result or 0
        if self._parents.pop(child, None) == parent:
            return
        first = self._held[child][0][1] if child in self._held else call
        self._begin(child, parent, call.args, first)

    def _begin(self, pid: int, parent: int | None, flags: str, first: Event) -> None:
        """Begin a task with its first event, and take into account what was held of it."""
        time = (
            first.start
            if isinstance(first, TracedCall | Begun)
            else first.end
            if isinstance(first, Resumed)
            else (first.time)
        )
        start = self._since(time)
        self._made += 1
        starter = self._tasks.get(parent) if parent is not None else None
        if starter is not None:
            self._tasks[pid] = starter.child(self._made, flags)
        else:
            self._tasks[pid] = Running(self._made, self._first_descriptors(), Folder(self._folder))
        self._writer.add(Task(self._made, None if starter is None else starter.id, start))
        for number, event in self._held.pop(pid, ()):
            self._event(number, event)

    def _first_descriptors(self) -> Descriptors:
        found = Descriptors()
        # Descriptors of one file at one position are one open file.
        same: dict[tuple[str, int], OpenFile] = {}
        for number, path, position, appends in self._inherited:
            name = self._files.stream(path)
            file = same.setdefault((path, position), OpenFile(name, name.exists(), position, appends, path))
            found.put(number, file, False)
        return found

    def _end(self, pid: int, time: int) -> None:
        task = self._tasks.pop(pid)
        task.descriptors.leave()
        self._pending.pop(pid, None)
        self._parents.pop(pid, None)
        # A process of the same id may have ended before, for which none waited.
        self._write_end(self._ended.pop(pid, None))
        self._ended[pid] = _EndedTask(task.id, time)

    def _write_end(self, ended: "_EndedTask | None") -> None:
        if ended is not None:
            self._writer.add(End(ended.task, ended.time))

    def _replaced(self, pid: int, time: int, by: int | None) -> None:
        """A thread of the process starts another program: the first thread ends, and the other one gets its id."""
        self._end(pid, time)
        if by in self._tasks:
            self._tasks[pid] = self._tasks.pop(by)
            if (pending := self._pending.pop(by, None)) is not None:
                self._pending[pid] = pending
