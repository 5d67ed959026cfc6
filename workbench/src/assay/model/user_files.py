"""The one reader of files that a user names: studies, inventories, boxes, books, designs, needs, tables.

A small process of its own opens and reads such files, one after another. If the storage below does not answer (a server
that is gone, a FUSE file system that hangs), that process is killed and left behind, since the kernel may never let it
end; Assay reports that and goes on. So no other code may touch the path, not even with `exists()`.
"""

import atexit
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
_IDLE: list[tuple[int, "subprocess.Popen[bytes]"]] = []
"""Processes that have read a file to its end and can read the next one, each with the process that started it."""
_MAX_IDLE = 2


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
) -> "Iterator[_Answer]":
    try:
        request = _request(path, most, below)
    except ValueError as error:
        # For example a NUL in the name.
        raise UnreadableError(f"{name}: {error}", hint) from None
    except OSError as error:
        # The working directory is gone.
        raise UnreadableError(f"{name}: {_reason(error.errno or 0)}", hint, missing=True) from None
    process = _process_for(request)
    answer = _Answer(process, name, hint, most)
    try:
        yield answer
    finally:
        if answer.is_complete and len(_IDLE) < _MAX_IDLE:
            _IDLE.append((os.getpid(), process))
        else:
            _end(process)


def _request(path: str | os.PathLike[str], most: int, below: str | os.PathLike[str] | None) -> bytes:
    """Return what asks for a file.

    Raises:
        OSError: The path is relative, and there is no working directory.
        ValueError: No file can have such a name.
    """
    paths = [os.fsencode(path)] if below is None else [os.fsencode(path), os.fsencode(below)]
    if any(b"\0" in one for one in paths):
        raise ValueError("embedded null byte")
    # The process is in another working directory, so that it keeps no file system busy.
    if paths[-1] and not paths[-1].startswith(b"/"):
        paths[-1] = os.getcwdb() + b"/" + paths[-1]  # noqa: PTH109 - a path of bytes, whatever they are
    return regular_files.request(most, *paths)


def _process_for(request: bytes) -> "subprocess.Popen[bytes]":
    """Return a process that has been given a request."""
    while (process := _idle_process()) is not None:
        with contextlib.suppress(BrokenPipeError):
            _give(process, request)
            return process
        # It was killed.
        _end(process)
    words = [sys.executable, "-I", "-S", regular_files.__file__]
    process = subprocess.Popen(
        words,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with contextlib.suppress(BrokenPipeError):
        _give(process, request)
    return process


def _idle_process() -> "subprocess.Popen[bytes] | None":
    """Take a process that this one has started and that waits; None if there is none. Threads may do so at once."""
    while True:
        try:
            owner, process = _IDLE.pop()
        except IndexError:
            return None
        if owner == os.getpid():
            return process


def _give(process: "subprocess.Popen[bytes]", request: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(request)


class _Answer(io.RawIOBase):
    """The answer of the reading process; raises an error when nothing arrives in time.

    Attributes:
        is_complete: All of it was received, so that the process can be asked again.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", name: str, hint: str, most: int) -> None:
        super().__init__()
        assert process.stdout is not None
        self.fd = process.stdout.fileno()
        self.name, self.hint, self.most = name, hint, most
        self.is_complete = False
        self._left = 0

    def head(self) -> tuple[str, int]:
        """Return the first line: a word and an error number."""
        head = b""
        while not head.endswith(b"\n") and len(head) < _HEAD and (letter := self._next(1)):
            head += letter
        word, _, number = head.decode("ascii", "replace").strip().partition(" ")
        self.is_complete = word in ("irregular", "large", "errno")
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
        if self.is_complete:
            return 0
        if not self._left:
            self._left = int.from_bytes(self._exactly(regular_files.PIECE_NUMBER), "big")
        if not self._left:
            code = self._exactly(1)[0]
            self.is_complete = True
            if code:
                raise UnreadableError(f"{self.name}: {_reason(code)}", self.hint)
            return 0
        received = self._next(min(len(buffer), self._left))
        if not received:
            raise UnreadableError(f"{self.name}: {_reason(0)}", self.hint)
        self._left -= len(received)
        buffer[: len(received)] = received
        return len(received)

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            part = self._next(size - len(found))
            if not part:
                # The process was killed.
                raise UnreadableError(f"{self.name}: {_reason(0)}", self.hint)
            found += part
        return found

    def _next(self, size: int) -> bytes:
        if not select.select([self.fd], [], [], SILENCE_SECONDS)[0]:
            raise _silent(self.name, SILENCE_SECONDS)
        return os.read(self.fd, size)


def _end(process: "subprocess.Popen[bytes]") -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    if process.poll() is None:
        process.kill()
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            # It is stuck in the kernel, and holds nothing that we need: no pipe, no lock, no terminal.
            _LEFT.append(process)


@atexit.register
def _end_idle() -> None:
    while (process := _idle_process()) is not None:
        _end(process)


def _reason(code: int) -> str:
    return os.strerror(code).lower() if code else "it cannot be read"


def _large(name: str, hint: str, most: int) -> UnreadableError:
    size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
    return UnreadableError(f"{name}: larger than {size}, the limit for such files", hint)


def _silent(name: str, seconds: float) -> UnreadableError:
    message = f"{name}: its storage has not answered for {seconds:g} s"
    return UnreadableError(message, "check the server or disk that holds it", exit_code=EXIT_REFUSED)
