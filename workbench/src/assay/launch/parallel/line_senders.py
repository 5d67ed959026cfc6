"""Sends lines to engines that a launcher started: addressed lines, through its standard input or a file.

`srun` passes its standard input to all processes. `mpirun` passes it to the first one only, so the lines are appended
to a file on storage that all hosts share, and each host's first process reads new ones.
"""

import contextlib
import os
import selectors
from pathlib import Path
from typing import IO, Protocol

ALL = "*"
"""The address of all hosts."""


class LineSender(Protocol):
    """Sends lines to hosts."""

    def send(self, to: str, line: bytes) -> None:
        """Send a line to a host by its number, or to `ALL`."""
        ...

    def attach(self, selector: selectors.BaseSelector) -> None:
        """Register with a selector, which sends what could not be sent at once."""
        ...

    def close(self) -> None:
        """Close the connection; nothing more can be sent."""
        ...


def addressed(to: str, line: bytes) -> bytes:
    """Return an addressed line, as the engine's `relay` reads it."""
    return to.encode() + b" " + line.strip() + b"\n"


class PipeSender:
    """Sends lines through the launcher's standard input."""

    def __init__(self, pipe: IO[bytes]) -> None:
        """Use this pipe, and make it non-blocking."""
        os.set_blocking(pipe.fileno(), False)
        self._pipe = pipe
        self._to_send = b""
        self._selector: selectors.BaseSelector | None = None

    def send(self, to: str, line: bytes) -> None:
        """See `Words`."""
        self._to_send += addressed(to, line)
        self._send(self._pipe)

    def attach(self, selector: selectors.BaseSelector) -> None:
        """See `Words`."""
        self._selector = selector
        self._send(self._pipe)

    def close(self) -> None:
        """See `Words`."""
        self._watch_pipe(False)
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
        self._watch_pipe(bool(self._to_send))
        return False

    def _watch_pipe(self, wanted: bool) -> None:
        if self._selector is None:
            return
        with contextlib.suppress(KeyError, ValueError):
            if wanted:
                self._selector.register(self._pipe, selectors.EVENT_WRITE, self._send)
            else:
                self._selector.unregister(self._pipe)


class FileSender:
    """Sends lines through a file that all hosts see."""

    def __init__(self, path: Path) -> None:
        """Make the file; `end` removes it.

        Raises:
            OSError: It cannot be made.
        """
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def send(self, to: str, line: bytes) -> None:
        """See `Words`. If the storage rejects a line, the engines miss it and end by themselves."""
        with contextlib.suppress(OSError):
            os.write(self._file, addressed(to, line))
            # On network storage, this makes the line visible to other hosts.
            os.fdatasync(self._file)

    def attach(self, selector: selectors.BaseSelector) -> None:
        """See `Words`: there is nothing to wait for."""

    def close(self) -> None:
        """See `Words`."""
        with contextlib.suppress(OSError):
            os.close(self._file)
        with contextlib.suppress(OSError):
            self._path.unlink()
