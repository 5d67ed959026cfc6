"""Processes of a sync: started in the group of this program, so that what ends it ends them, too."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from typing import IO

MAX_ERROR_BYTES = 2000
MAX_OUTPUT_BYTES = 1 << 20


class DriverError(Exception):
    """A scenario that did not end as it should, or cannot be made; its text is one line for the user."""


class Sync:
    """A sync that runs: one process, several in parallel, or a pipeline."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.complaint = ""
        """The last line that it printed to standard error, once it was waited for."""
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, words: list[str], reads: subprocess.Popen[bytes] | None = None, is_read: bool = False) -> Sync:
        """Start a process.

        Args:
            words: Program and arguments.
            reads: A process of this sync whose output it reads.
            is_read: Another process will read its output.
        """
        process = subprocess.Popen(
            words,
            stdin=reads.stdout if reads is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE if is_read else subprocess.DEVNULL,
            stderr=self._errors,
        )
        if reads is not None and reads.stdout is not None:
            reads.stdout.close()
        self.processes.append(process)
        return self

    @property
    def is_running(self) -> bool:
        """Whether a process of it has not ended."""
        return any(process.poll() is None for process in self.processes)

    def wait(self) -> int:
        """Wait for its end; returns the exit code, of several the first that is not 0."""
        codes = [process.wait() for process in self.processes]
        if not self._errors.closed:
            self.complaint = last_line(self._errors)
            self._errors.close()
        return next((code for code in codes if code), 0)

    def kill(self) -> None:
        """Kill it with all that it has started."""
        for process in self.processes:
            kill_tree(process.pid)
        self.wait()


def kill_tree(pid: int) -> None:
    """Kill a process and its descendants."""
    for child in _children(pid):
        kill_tree(child)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return found


def users_of(folder: str) -> list[int]:
    """Return the processes that work in a directory, apart from this one."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError):
                if f"{os.readlink(f'/proc/{name}/cwd')}/".startswith(f"{folder}/"):
                    found.append(int(name))
    return found


def kill_users(folder: str) -> int:
    """Kill the processes that work in a directory, apart from this one; returns how many there were."""
    users = users_of(folder)
    for pid in users:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(users)


def run(words: list[str], stdin: IO[bytes] | None = None, name: str = "") -> str:
    """Run a command to its end, and return the beginning of its output.

    Args:
        words: Program and arguments.
        stdin: What it reads; None: nothing.
        name: What an error calls it; empty: its words.

    Raises:
        DriverError: It failed.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            code = subprocess.run(
                words, stdin=stdin or subprocess.DEVNULL, stdout=output, stderr=errors, check=False
            ).returncode
        except OSError as error:
            raise DriverError(f"{words[0]} cannot be started: {error.strerror}; install it") from None
        if code:
            raise DriverError(f"{name or ' '.join(words)}: {last_line(errors) or f'exit code {code}'}")
        output.seek(0)
        return output.read(MAX_OUTPUT_BYTES).decode("utf-8", "replace")


def last_line(errors: IO[bytes]) -> str:
    """Return the last line of what a program has printed to a file; empty if there is none."""
    errors.seek(0, os.SEEK_END)
    errors.seek(max(0, errors.tell() - MAX_ERROR_BYTES))
    lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


def wait_until(condition, seconds: float, what: str) -> None:  # type: ignore[no-untyped-def]
    """Wait until a condition holds.

    Raises:
        DriverError: It does not within the time.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise DriverError(f"{what} after {seconds:.0f} s")
        time.sleep(0.02)
