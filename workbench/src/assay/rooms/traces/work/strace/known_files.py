"""What the calls of a program say of files: which there are, and how large they were when the trace began."""

import re
from collections.abc import Callable, Sequence

from assay.model.trace.records import File
from assay.rooms.traces.work.names import Names

OUTSIDE, SYSTEM_FILES, STANDARD_STREAMS, SPECIAL = "outside", "system-files", "standard-streams", "special"
"""Reasons why operations on a file are left out; all but the last are codes of losses."""
_SYSTEM = re.compile(
    r"/(?:proc|sys|dev)(?:/|$)|/etc/ld\.so\.|/etc/locale\.alias$"
    r"|/usr/(?:lib|share)/locale(?:/|$)|/usr/lib/.*/gconv(?:/|$)|.*\.so(?:\.[0-9.]+)?$"
)

SizeOf = Callable[[str], int | None]
"""Returns the size in bytes of the file at a path after the recording; None if there is none."""


class Content:
    """What a name stands for: it keeps its content when it is renamed.

    Attributes:
        size: Bytes now; None if unknown.
        initial: Bytes when the trace began; None if unknown.
        appended: Bytes appended while the size was not known.
        read_end: End of the furthest read, in bytes.
        write_end: End of the furthest write in bytes, while its size was not known.
        is_cut: It was given a size while its size was not known.
        path: Its present path; None if it has none any more.
    """

    __slots__ = ("appended", "initial", "is_cut", "path", "read_end", "size", "write_end")

    def __init__(self, path: str | None, size: int | None = None, initial: int | None = None) -> None:
        self.path = path
        self.size, self.initial = size, initial
        self.appended = self.read_end = self.write_end = 0
        self.is_cut = False

    def saw_size(self, size: int) -> None:
        """Note the present size."""
        if self.size is None and self.initial is None:
            self.initial = self.initial_size(size)
        self.size = size

    def initial_size(self, size: int) -> int | None:
        """Return the size when the trace began, from that of now; None if calls of the program may have made it."""
        is_own = self.is_cut or (self.write_end and self.write_end + self.appended >= size)
        return None if is_own else max(0, size - self.appended)

    def saw_write(self, end: int) -> None:
        """Note a write that ended at a byte of the file."""
        if self.size is None:
            self.write_end = max(self.write_end, end)
        else:
            self.size = max(self.size, end)

    def saw_append(self, moved: int) -> tuple[int, bool]:
        """Note bytes that were appended; return where, and whether that is relative to the initial size."""
        if self.size is not None:
            self.size += moved
            return self.size - moved, False
        self.appended += moved
        return self.appended - moved, True

    def saw_read(self, end: int) -> None:
        """Note a read that ended at a byte of the file."""
        if self.size is None and not self.write_end and not self.appended:
            self.read_end = max(self.read_end, end)

    def cut(self, size: int) -> None:
        """Note that the file was given a size."""
        if self.size is None:
            self.is_cut = True
        self.size = size


class KnownName:
    """A name of a file.

    Attributes:
        id: Its id in the trace.
        path: Absolute path.
        kind: Letter of its kind.
        left_out: Why its operations are left out; empty if they are not.
        existed: Whether there was something of that name when the trace began; None if unknown.
        first: The content that it had then, if there was some.
        content: Its present content; None if there is none, or none was seen.
    """

    __slots__ = ("content", "existed", "first", "id", "kind", "left_out", "path")

    def __init__(self, number: int, path: str, left_out: str) -> None:
        self.id, self.path, self.left_out = number, path, left_out
        self.kind = "f"
        self.existed: bool | None = None
        self.first: Content | None = None
        self.content: Content | None = None

    def exists(self) -> Content:
        """Note that there is something of that name, and return its content."""
        if self.content is None:
            self.content = Content(self.path)
            if self.existed is None:
                self.existed = True
            if self.existed and self.first is None:
                self.first = self.content
        return self.content

    def opened_or_made(self) -> Content:
        """Note an open that may have made the file; return its content."""
        if self.content is None:
            self.content = Content(self.path)
            if self.existed is None:
                self.first = self.content
            elif not self.existed or self.first is not None:
                # It was not there, or what was there is gone: it is new.
                self.content.size = self.content.initial = 0
        return self.content

    def made(self) -> Content:
        """Note that it was made, and return its content."""
        if self.existed is None:
            self.existed = False
        self.content = Content(self.path, 0, 0)
        return self.content

    def missing(self) -> None:
        """Note that there is nothing of that name now."""
        if self.existed is None:
            self.existed = False
        self.content = None


class KnownFiles:
    """All files of a trace, by path.

    Args:
        roots: Absolute paths of directories and files that are recorded; none: all but those of the system.
        names: Makes their names in the trace.
        kind_of: Returns the letter of what is at a path now: `f`, `d` or `b`; empty for other things, and nothing.
        size_of: Sizes after the recording.
    """

    def __init__(self, roots: Sequence[str], names: Names, kind_of: Callable[[str], str], size_of: SizeOf) -> None:
        self._roots = tuple(root.rstrip("/") for root in roots)
        self._names, self._kind_of, self._size_of = names, kind_of, size_of
        self._by_path: dict[str, KnownName] = {}
        self._by_id: list[KnownName] = []
        self._moved: list[tuple[str, str]] = []
        self._parents: set[str] | None = None

    def name(self, path: str) -> KnownName:
        """Return the name of an absolute path, which is made when it is first asked for."""
        if (found := self._by_path.get(path)) is not None:
            return found
        found = KnownName(len(self._by_id) + 1, path, self._left_out(path))
        self._by_path[path] = found
        self._by_id.append(found)
        if not found.left_out and path.startswith("/dev/") and self._kind_of(path) == "b":
            found.kind = "b"
        for old, new in reversed(self._moved):
            if path.startswith(new + "/"):
                # It came there with its directory.
                before = self.name(old + path[len(new) :])
                found.existed, found.kind = False, before.kind
                found.content = before.exists() if before.existed is not False else before.content
                break
        return found

    def stream(self, path: str) -> KnownName:
        """Return a name of its own for the file that is a standard stream of the command, which is left out."""
        found = KnownName(len(self._by_id) + 1, path, STANDARD_STREAMS)
        self._by_id.append(found)
        return found

    def rename(self, old: KnownName, new: KnownName) -> None:
        """Note that a name was replaced by another one."""
        content = old.exists()
        content.path = new.path
        if new.existed is None and new.content is None:
            new.existed = False
        new.content, new.kind, old.content = content, old.kind, None
        if old.kind == "d" or any(path.startswith(old.path + "/") for path in self._by_path):
            old.kind = new.kind = "d"
            self._moved.append((old.path, new.path))

    def _left_out(self, path: str) -> str:
        if self._roots:
            inside = any(not root or path == root or path.startswith(root + "/") for root in self._roots)
            return "" if inside else OUTSIDE
        if _SYSTEM.match(path) and not (path.startswith("/dev/") and self._kind_of(path) == "b"):
            return SYSTEM_FILES
        return ""

    def record(self, file: int) -> File | None:
        """Return the record of a file, when all calls are known; None if it is left out."""
        name = self._by_id[file - 1]
        if name.left_out:
            return None
        if name.kind == "f" and self._is_folder(name):
            name.kind = "d"
        return File(name.id, name.kind, self._size(name), self._names.of_path(name.path))

    def _is_folder(self, name: KnownName) -> bool:
        """Return whether a name is that of a directory, though no call says so: `access` does not."""
        if self._parents is None:
            self._parents = {one.path.rpartition("/")[0] for one in self._by_id if one.first or one.content}
        if name.path in self._parents:
            return True
        first = name.first
        if first is None or first.path is None or first.initial is not None or first.size is not None:
            return False
        return self._kind_of(first.path) == "d"

    def _size(self, name: KnownName) -> int | None:
        if name.kind == "d" or name.existed is False or name.first is None:
            return None
        size = self._initial(name.first)
        # An open that may make a file does not say whether it was there; content that it had does.
        return None if name.existed is None and not size else size

    def _initial(self, content: Content) -> int:
        if content.initial is not None:
            return content.initial
        after = self._size_of(content.path) if content.path is not None and content.size is None else None
        size = None if after is None else content.initial_size(after)
        content.initial = content.read_end if size is None else max(content.read_end, size)
        return content.initial

    def base(self, file: int) -> int:
        """Return the size in bytes of a file when the trace began, to which appended offsets are relative."""
        first = self._by_id[file - 1].first or self._by_id[file - 1].content
        return self._initial(first) if first is not None else 0
