"""The one reader of files that a user names: studies, inventories, boxes, books, designs, needs, tables.

A small process of its own opens and reads the file. If the storage below does not answer (a server that is gone, a FUSE
file system that hangs), that process is killed and left behind, since the kernel may never let it end; Assay reports
that and goes on. So no other code may touch the path, not even with `exists()`.
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

from assay.model import regular_files
from assay.model.base import EXIT_REFUSED, AssayError

SILENCE_SECONDS = 10.0
"""Time that storage may go without answering."""
WHOLE_FILE_SECONDS = 60.0
"""Time in which a file that is read at once must be complete."""
_HEAD = 64
"""Longest first line of the process, in bytes."""
_LEFT: list["subprocess.Popen[bytes]"] = []
"""Processes that did not end when they were killed."""


class UnreadableError(AssayError):
    """A file that cannot be read.

    Attributes:
        missing: There is no file of that name.
        unnamable: No file can have such a name.
    """

    def __init__(
        self, message: str, hint: str, missing: bool = False, exit_code: int = 2, unnamable: bool = False
    ) -> None:
        super().__init__(message, hint, exit_code)
        self.missing, self.unnamable = missing, unnamable


def read_user_file(
    path: str | os.PathLike[str], name: str, hint: str, max_bytes: int, inside: str | os.PathLike[str] | None = None
) -> bytes:
    """Return the content of a file.

    Args:
        path: Path of the file.
        name: The file as the user named it; messages begin with it.
        hint: What else the user can give.
        max_bytes: Largest size in bytes.
        inside: Folder that must contain the file, with no link and no hidden name on the way; `path` is relative to it.

    Raises:
        UnreadableError: It cannot be read, is no regular file, is larger, or its storage does not answer.
    """
    end = time.monotonic() + WHOLE_FILE_SECONDS
    parts: list[bytes] = []
    size = 0
    with open_user_file(path, name, hint, max_bytes, inside) as file:
        while part := file.read(regular_files.CHUNK):
            size += len(part)
            parts.append(part)
            if time.monotonic() > end:
                raise _silent(name, WHOLE_FILE_SECONDS)
    if size > max_bytes:
        raise _large(name, hint, max_bytes)
    return b"".join(parts)


@contextlib.contextmanager
def open_user_file(
    path: str | os.PathLike[str], name: str, hint: str, max_bytes: int, inside: str | os.PathLike[str] | None = None
) -> Iterator[IO[bytes]]:
    """Open a file for sequential reading, for files too large to hold in memory.

    Arguments and errors as in `read_user_file`; reads also raise `UnreadableError`.
    """
    with _started(path, name, hint, max_bytes, inside) as pipe:
        pipe.check()
        yield cast("IO[bytes]", io.BufferedReader(pipe, regular_files.CHUNK))


def path_kind(path: str | os.PathLike[str]) -> str:
    """Return what is at a path: `file`, `folder` or `other`; empty if nothing accessible is there.

    Raises:
        UnreadableError: The storage does not answer, or no file can have such a name.
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
    words = [sys.executable, "-I", "-S", regular_files.__file__, str(most), os.fspath(path)]
    words += [os.fspath(below)] if below is not None else []
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except ValueError as error:
        # For example a NUL in the name.
        raise UnreadableError(f"{name}: {error}", hint) from None
    assert process.stdout is not None
    try:
        yield _Pipe(process, name, hint, most)
    finally:
        process.stdout.close()
        _end(process)


class _Pipe(io.RawIOBase):
    """The output of the reading process; raises an error when none arrives in time."""

    def __init__(self, process: "subprocess.Popen[bytes]", name: str, hint: str, most: int) -> None:
        super().__init__()
        assert process.stdout is not None
        self.process, self.fd = process, process.stdout.fileno()
        self.name, self.hint, self.most = name, hint, most

    def head(self) -> tuple[str, int]:
        """Return the first line: a word and an error number."""
        head = b""
        while not head.endswith(b"\n") and len(head) < _HEAD and (letter := self._next(1)):
            head += letter
        word, _, number = head.decode("ascii", "replace").strip().partition(" ")
        return word, int(number) if number.isdigit() else 0

    def check(self) -> None:
        """Raise the error in the first line unless it is `ok`."""
        word, code = self.head()
        if word == "irregular":
            raise UnreadableError(f"{self.name}: not a regular file", self.hint)
        if word == "large":
            raise _large(self.name, self.hint, self.most)
        if word != "ok":
            missing = code in (errno.ENOENT, errno.ENOTDIR)
            raise UnreadableError(f"{self.name}: {_reason(code)}", self.hint, missing)

    def readable(self) -> bool:
        """Return True: the stream is for reading."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read as any raw stream does; at the end check that the file was read completely."""
        received = self._next(len(buffer))
        if not received:
            try:
                code = self.process.wait(SILENCE_SECONDS)
            except subprocess.TimeoutExpired:
                raise _silent(self.name, SILENCE_SECONDS) from None
            if code:
                raise UnreadableError(f"{self.name}: {_reason(max(0, code))}", self.hint)
        buffer[: len(received)] = received
        return len(received)

    def _next(self, size: int) -> bytes:
        if not select.select([self.fd], [], [], SILENCE_SECONDS)[0]:
            raise _silent(self.name, SILENCE_SECONDS)
        return os.read(self.fd, size)


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.kill()
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            # It is stuck in the kernel, and holds nothing that we need: no pipe, no lock, no terminal.
            _LEFT.append(process)


def _reason(code: int) -> str:
    return os.strerror(code).lower() if code else "it cannot be read"


def _large(name: str, hint: str, most: int) -> UnreadableError:
    size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
    return UnreadableError(f"{name}: larger than {size}, the limit for such files", hint)


def _silent(name: str, seconds: float) -> UnreadableError:
    message = f"{name}: its storage has not answered for {seconds:g} s"
    return UnreadableError(message, "check the server or disk that holds it", exit_code=EXIT_REFUSED)
