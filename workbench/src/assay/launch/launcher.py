"""How an engine process comes to be. The engine's standard input and output are its only connection to us."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from assay.model.base import EXIT_INCOMPLETE, AssayError

Process = subprocess.Popen[bytes]


def engine_arguments(tasks: int) -> tuple[str, ...]:
    """Arguments with which so many engines of one host get a job, and words, on standard input."""
    return ("run", "-") if tasks == 1 else ("relay", "--tasks", str(tasks))


class Launcher(Protocol):
    """Starts `assay-engine ARGUMENTS` somewhere, with pipes for standard input, output and error."""

    def start(self, arguments: Sequence[str]) -> Process:
        """Start the engine; raises AssayError if that is impossible."""
        ...


class LocalLauncher:
    """Starts the engine on this machine."""

    def __init__(
        self, engine: Path, inherited: Sequence[int] = (), variables: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Use this executable.

        Args:
            engine: The executable.
            inherited: File descriptors that stay open in the engine: the lock that shows that it is alive.
            variables: What its environment has besides, or in place of what is there.
        """
        self.engine = engine
        self.variables = variables
        self.inherited = inherited
        self.identity = _identity(engine)

    def start(self, arguments: Sequence[str]) -> Process:
        """Start the engine in a session of its own, so that Ctrl-C reaches the workbench only.

        Raises:
            AssayError: It cannot be started, or is not the one of the beginning: results of two would be mixed.
        """
        if _identity(self.engine) != self.identity:
            raise AssayError(
                f"{self.engine}: was replaced while the run was going on",
                "go on with `assay run --resume`, which notes the change, or start a new run",
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
                f"{self.engine}: cannot be started: {error.strerror}", "`assay doctor` says more"
            ) from error


def _identity(engine: Path) -> tuple[int, int, int] | None:
    try:
        found = engine.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
