"""Starts engine processes. Standard input and output are the only connection to an engine."""

import os
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from assay.model.base import EXIT_INCOMPLETE, AssayError

Process = subprocess.Popen[bytes]

MAX_PINGS = 1024
"""Pings whose sending time is remembered; the answer to an older ping is ignored."""


def engine_arguments(tasks: int) -> tuple[str, ...]:
    """Return the arguments to run a job from standard input, with `tasks` engine processes on one host."""
    return ("run", "-") if tasks == 1 else ("relay", "--tasks", str(tasks))


class Launcher(Protocol):
    """Starts `assay-engine ARGUMENTS` somewhere, with pipes for standard input, output and error."""

    def start(self, arguments: Sequence[str]) -> Process:
        """Start the engine; raises AssayError if it cannot be started."""
        ...


class LocalLauncher:
    """Starts the engine on this machine."""

    def __init__(
        self, engine: Path, inherited: Sequence[int] = (), variables: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Use this executable.

        Args:
            engine: The executable.
            inherited: File descriptors that stay open in the engine, such as the lock that shows that it is alive.
            variables: Environment variables that are added or override others.
        """
        self.engine = engine
        self.variables = variables
        self.inherited = inherited
        self.identity = _identity(engine)

    def start(self, arguments: Sequence[str]) -> Process:
        """Start the engine in a session of its own, so that Ctrl-C reaches the workbench only.

        Raises:
            AssayError: It cannot be started, or was replaced since, which would mix the results of two engines.
        """
        if _identity(self.engine) != self.identity:
            raise AssayError(
                f"{self.engine}: was replaced during the run",
                "continue with `assay run --resume`, which notes the change, or start a new run",
                EXIT_INCOMPLETE,
            )
        try:
            return subprocess.Popen(
                [str(self.engine), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                pass_fds=self.inherited,
                env={**os.environ, "LC_ALL": "C.UTF-8", **self.variables},
                cwd="/",
            )
        except OSError as error:
            raise AssayError(
                f"{self.engine}: cannot be started: {error.strerror}", "`assay doctor` shows details"
            ) from error


def _identity(engine: Path) -> tuple[int, int, int] | None:
    try:
        found = engine.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


class Pings:
    """The sending times of pings. One ping may go to several hosts at once."""

    def __init__(self) -> None:
        """Start with no ping sent."""
        self._sent: deque[tuple[int, int]] = deque(maxlen=MAX_PINGS)

    def next(self) -> int:
        """Record a ping that is sent now, and return its number; the first is 1."""
        number = self._sent[-1][0] + 1 if self._sent else 1
        self._sent.append((number, time.monotonic_ns()))
        return number

    def sent_at(self, number: int) -> int | None:
        """Return when a ping was sent, in monotonic nanoseconds; None if it was not sent, or too long ago."""
        if not self._sent or not self._sent[0][0] <= number <= self._sent[-1][0]:
            return None
        return self._sent[number - self._sent[0][0]][1]

    def is_pending(self, answered: int, within_ns: int) -> bool:
        """Return whether the last ping is not answered yet and at most `within_ns` old."""
        if not self._sent:
            return False
        number, sent = self._sent[-1]
        return number > answered and time.monotonic_ns() - sent <= within_ns
