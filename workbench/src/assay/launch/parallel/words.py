"""The way down to engines that a launcher has started: addressed lines, through its standard input or a file.

`srun` gives what it reads to all processes. `mpirun` gives it to the first one only: there the words are in a file that
grows, on storage that all hosts share; each host's first process looks for new ones.
"""

import contextlib
import os
import selectors
from pathlib import Path
from typing import IO, Protocol

ALL = "*"
"""The address of all hosts."""


class Words(Protocol):
    """Takes lines for hosts."""

    def say(self, to: str, line: bytes) -> None:
        """Say a line to a host by its number, or to all of them."""
        ...

    def attach(self, selector: selectors.BaseSelector) -> None:
        """What could not be sent at once is sent when the selector says so."""
        ...

    def end(self) -> None:
        """Nothing more is said."""
        ...


def addressed(to: str, line: bytes) -> bytes:
    """A line as the engine's `relay` reads it."""
    return to.encode() + b" " + line.strip() + b"\n"


class PipeWords:
    """Through the launcher's standard input."""

    def __init__(self, pipe: IO[bytes]) -> None:
        """The pipe is made one that never blocks."""
        os.set_blocking(pipe.fileno(), False)
        self._pipe = pipe
        self._to_send = b""
        self._selector: selectors.BaseSelector | None = None

    def say(self, to: str, line: bytes) -> None:
        """See `Words`."""
        self._to_send += addressed(to, line)
        self._send(self._pipe)

    def attach(self, selector: selectors.BaseSelector) -> None:
        """See `Words`."""
        self._selector = selector
        self._send(self._pipe)

    def end(self) -> None:
        """See `Words`."""
        self._wait_for_room(False)
        with contextlib.suppress(OSError):
            self._pipe.close()

    def _send(self, _pipe: IO[bytes]) -> bool:
        try:
            while self._to_send:
                self._to_send = self._to_send[os.write(self._pipe.fileno(), self._to_send) :]
        except BlockingIOError:
            pass
        except (OSError, ValueError):
            self._to_send = b""
        self._wait_for_room(bool(self._to_send))
        return False

    def _wait_for_room(self, wanted: bool) -> None:
        if self._selector is None:
            return
        with contextlib.suppress(KeyError, ValueError):
            if wanted:
                self._selector.register(self._pipe, selectors.EVENT_WRITE, self._send)
            else:
                self._selector.unregister(self._pipe)


class FileWords:
    """Through a file that all hosts see."""

    def __init__(self, path: Path) -> None:
        """Make the file, which is removed in the end.

        Raises:
            OSError: It cannot be made.
        """
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def say(self, to: str, line: bytes) -> None:
        """See `Words`. What the storage has not taken will be missed: the engines then end by themselves."""
        with contextlib.suppress(OSError):
            os.write(self._file, addressed(to, line))
            # Storage over a network shows it to others now.
            os.fdatasync(self._file)

    def attach(self, selector: selectors.BaseSelector) -> None:
        """See `Words`: there is nothing to wait for."""

    def end(self) -> None:
        """See `Words`."""
        with contextlib.suppress(OSError):
            os.close(self._file)
        with contextlib.suppress(OSError):
            self._path.unlink()
