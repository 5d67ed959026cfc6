"""Processes and threads of a program, and the descriptors that they share or inherit."""

from collections.abc import Iterable

from assay.rooms.traces.work.strace.known_files import Content, KnownName


class OpenFile:
    """An open file, to which several descriptors may lead: they share its position.

    Attributes:
        name: The name under which it was opened.
        content: Its content.
        position: Byte at which the next read or write begins; None if unknown.
        appends: Writes go to its end.
        shown: Its path as strace prints it.
        descriptors: How many descriptors of all processes lead to it.
    """

    __slots__ = ("appends", "content", "descriptors", "name", "position", "shown")

    def __init__(self, name: KnownName, content: Content, position: int | None, appends: bool, shown: str) -> None:
        self.name, self.content = name, content
        self.position, self.appends, self.shown = position, appends, shown
        self.descriptors = 0


class Descriptors:
    """The open files of a process, by descriptor, which its threads share."""

    def __init__(self, files: dict[int, OpenFile] | None = None, closing: Iterable[int] = ()) -> None:
        self.files = files or {}
        self.closed_by_exec = set(closing)
        self._users = 1
        for file in self.files.values():
            file.descriptors += 1

    def put(self, number: int, file: OpenFile, closed_by_exec: bool) -> OpenFile | None:
        """Let a descriptor lead to a file; return the file that it led to before."""
        before = self.close(number)
        self.files[number] = file
        file.descriptors += 1
        self.mark(number, closed_by_exec)
        return before

    def mark(self, number: int, closed_by_exec: bool) -> None:
        """Note whether a descriptor is closed when another program starts."""
        if closed_by_exec:
            self.closed_by_exec.add(number)
        else:
            self.closed_by_exec.discard(number)

    def close(self, number: int) -> OpenFile | None:
        """Close a descriptor; return its file, if it is known."""
        self.closed_by_exec.discard(number)
        file = self.files.pop(number, None)
        if file is not None:
            file.descriptors -= 1
        return file

    def copy(self) -> "Descriptors":
        """Return the descriptors of a new process that inherits these."""
        return Descriptors(dict(self.files), self.closed_by_exec)

    def share(self) -> "Descriptors":
        """Return these descriptors for another task, which shares them."""
        self._users += 1
        return self

    def leave(self) -> None:
        """Close all if the last of the tasks that share them has ended."""
        self._users -= 1
        if not self._users:
            for number in [*self.files]:
                self.close(number)

    def after_exec(self) -> "Descriptors":
        """Return what a task has when another program starts; those that it shared stay as they are for others."""
        left = Descriptors({at: file for at, file in self.files.items() if at not in self.closed_by_exec})
        self.leave()
        return left


class Folder:
    """A working directory, which threads share."""

    def __init__(self, path: str) -> None:
        self.path = path


class Running:
    """A task that has not ended.

    Attributes:
        id: Its id in the trace.
        descriptors: Its open files.
        folder: Its working directory.
    """

    def __init__(self, number: int, descriptors: Descriptors, folder: Folder) -> None:
        self.id, self.descriptors, self.folder = number, descriptors, folder

    def child(self, number: int, flags: str) -> "Running":
        """Return a task that this one starts.

        Args:
            number: Its id in the trace.
            flags: Arguments of the call as printed, in which CLONE_FILES and CLONE_FS say what it shares.
        """
        descriptors = self.descriptors.share() if "CLONE_FILES" in flags else self.descriptors.copy()
        return Running(number, descriptors, self.folder if "CLONE_FS" in flags else Folder(self.folder.path))
