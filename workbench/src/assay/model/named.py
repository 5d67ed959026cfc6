"""The one reader of files that a user names: studies, inventories, boxes, books, designs, needs, tables.

The file is opened and read by a small process of its own. If the storage below it does not answer (a server that is
gone, a FUSE file system that hangs), that process is killed and left behind, for the kernel may never let it end; Assay
says so and goes on. So nobody else may look at the path, not even with `exists()`.
"""

import contextlib
import errno
import io
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import IO, Any, cast

from assay.model import regular
from assay.model.base import EXIT_REFUSED, AssayError

SECONDS = 10.0
"""How long storage may be silent."""
ALL_SECONDS = 60.0
"""How long all of a file may take that is read at once."""
_HEAD = 64
"""Bytes of the first line of the process, at most."""
_LEFT: list["subprocess.Popen[bytes]"] = []
"""Processes that did not end when they were killed."""


class UnreadableError(AssayError):
    """A file that cannot be read.

    Attributes:
        missing: There is none of that name.
        unnamable: No file can have such a name.
    """

    def __init__(
        self, message: str, hint: str, missing: bool = False, exit_code: int = 2, unnamable: bool = False
    ) -> None:
        super().__init__(message, hint, exit_code)
        self.missing, self.unnamable = missing, unnamable


def read_named(
    path: str | os.PathLike[str], name: str, hint: str, most: int, below: str | os.PathLike[str] | None = None
) -> bytes:
    """A file as it is.

    Args:
        path: Where it is.
        name: What messages begin with: the file as the user named it.
        hint: What else to give.
        most: Bytes that it may have.
        below: The folder that it must lie in, where its path starts, without a link or a hidden name on the way.

    Raises:
        UnreadableError: It cannot be read, is no regular file, is larger, or its storage does not answer.
    """
    end = time.monotonic() + ALL_SECONDS
    parts: list[bytes] = []
    size = 0
    with opened(path, name, hint, most, below) as file:
        while part := file.read(regular.CHUNK):
            size += len(part)
            parts.append(part)
            if time.monotonic() > end:
                raise _silent(name, ALL_SECONDS)
    if size > most:
        raise _large(name, hint, most)
    return b"".join(parts)


@contextlib.contextmanager
def opened(
    path: str | os.PathLike[str], name: str, hint: str, most: int, below: str | os.PathLike[str] | None = None
) -> Iterator[IO[bytes]]:
    """A file to be read from the front to the end, for those that are too large to be held in memory.

    Arguments and errors as in `read_named`; reading, too, raises `UnreadableError`.
    """
    with _started(path, name, hint, most, below) as pipe:
        pipe.check()
        yield cast("IO[bytes]", io.BufferedReader(pipe, regular.CHUNK))


def look(path: str | os.PathLike[str]) -> str:
    """What is there: `file`, `folder`, `other`, or empty if there is nothing that can be looked at.

    Raises:
        UnreadableError: Its storage does not answer, or it is no name of a file.
    """
    with _started(path, os.fspath(path), "give the path of a file", 0) as pipe:
        word, code = pipe.head()
    if (word, code) == ("errno", errno.EISDIR):
        return "folder"
    if (word, code) == ("errno", errno.ENAMETOOLONG):
        hint = "give a name that a file can have"
        raise UnreadableError(f"{os.fspath(path)}: {_reason(code)}", hint, unnamable=True)
    return {"ok": "file", "large": "file", "irregular": "other"}.get(word, "")


@contextlib.contextmanager
def _started(
    path: str | os.PathLike[str], name: str, hint: str, most: int, below: str | os.PathLike[str] | None = None
) -> "Iterator[_Pipe]":
    words = [sys.executable, "-I", "-S", regular.__file__, str(most), os.fspath(path)]
    words += [os.fspath(below)] if below is not None else []
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except ValueError as error:
        # Such as a NUL in the name.
        raise UnreadableError(f"{name}: {error}", hint) from None
    assert process.stdout is not None
    try:
        yield _Pipe(process, name, hint, most)
    finally:
        process.stdout.close()
        _end(process)


class _Pipe(io.RawIOBase):
    """What comes from the process, as long as something comes."""

    def __init__(self, process: "subprocess.Popen[bytes]", name: str, hint: str, most: int) -> None:
        super().__init__()
        assert process.stdout is not None
        self.process, self.fd = process, process.stdout.fileno()
        self.name, self.hint, self.most = name, hint, most

    def head(self) -> tuple[str, int]:
        """The first line: a word, and the number of an error."""
        head = b""
        while not head.endswith(b"\n") and len(head) < _HEAD and (letter := self._next(1)):
            head += letter
        word, _, number = head.decode("ascii", "replace").strip().partition(" ")
        return word, int(number) if number.isdigit() else 0

    def check(self) -> None:
        """Raise what the first line says if it is not `ok`."""
        word, code = self.head()
        if word == "irregular":
            raise UnreadableError(f"{self.name}: not a regular file", self.hint)
        if word == "large":
            raise _large(self.name, self.hint, self.most)
        if word != "ok":
            missing = code in (errno.ENOENT, errno.ENOTDIR)
            raise UnreadableError(f"{self.name}: {_reason(code)}", self.hint, missing)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As of any raw stream; at the end it is looked whether that is the file's."""
        found = self._next(len(buffer))
        if not found:
            try:
                code = self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                raise _silent(self.name, SECONDS) from None
            if code:
                raise UnreadableError(f"{self.name}: {_reason(max(0, code))}", self.hint)
        buffer[: len(found)] = found
        return len(found)

    def _next(self, size: int) -> bytes:
        if not select.select([self.fd], [], [], SECONDS)[0]:
            raise _silent(self.name, SECONDS)
        return os.read(self.fd, size)


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.kill()
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            # It waits in the kernel, and holds nothing of ours: no pipe, no lock, no terminal.
            _LEFT.append(process)


def _reason(code: int) -> str:
    return os.strerror(code).lower() if code else "it cannot be read"


def _large(name: str, hint: str, most: int) -> UnreadableError:
    size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
    return UnreadableError(f"{name}: larger than {size}, the most that is read of such a file", hint)


def _silent(name: str, seconds: float) -> UnreadableError:
    message = f"{name}: its storage has not answered for {seconds:g} s"
    return UnreadableError(message, "see whether the server or disk that it is on works", exit_code=EXIT_REFUSED)
