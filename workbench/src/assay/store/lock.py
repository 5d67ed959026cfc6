"""The locks of a run's folder, which show whether a process uses it.

There are two flock(2) locks, both released when their holders die: the workbench that executes the run holds
`run.lock`, and its engine holds `engine.lock` by inheriting the open file, without any code of its own.
"""

import contextlib
import fcntl
import os
import select
import subprocess
import sys
import time
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError
from assay.store.entries import ENGINE_LOCK, RUN_LOCK
from assay.store.safe_files import open_file

MAX_BYTES = 1 << 20
"""Largest accepted size of a lock file, which is empty."""


class RunLock:
    """An exclusive lock on a file, held until `release` or the death of every process that has it open."""

    def __init__(self, path: Path) -> None:
        """Take the lock.

        Raises:
            AssayError: Another process holds it, or the file cannot be opened.
        """
        self.path = path
        try:
            self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        except OSError as error:
            message = f"{path}: cannot be opened as a lock: {(error.strerror or str(error)).lower()}"
            raise AssayError(message, "check its permissions, and that it is a regular file", EXIT_REFUSED) from None
        if not self._take():
            self.release()
            raise AssayError(
                f"run {path.parent.name} is being executed by another process",
                f"wait for it, or stop it; it holds {path}",
                EXIT_REFUSED,
            )

    def _take(self) -> bool:
        # `assay list` holds the lock for a moment while it checks whether a process has it, so this tries repeatedly.
        for attempt in range(10):
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02 * (attempt + 1))
            else:
                return True
        return False

    def is_at(self, path: Path) -> bool:
        """Whether this path leads to the locked file.

        Raises:
            OSError: There is nothing at the path.
        """
        return os.path.samestat(os.fstat(self.fd), path.lstat())

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock on this file; a missing file is not locked."""
    try:
        fd = open_file(path.parent, path.name, MAX_BYTES)
    except (AssayError, OSError):
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def run_is_alive(folder: Path) -> bool:
    """Whether a workbench executes this run now, or its engine still runs."""
    return is_locked(folder / RUN_LOCK) or is_locked(folder / ENGINE_LOCK)


_STATE_PROGRAM = """
import fcntl, os, sys
word = "over"
for name in sys.argv[1:]:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        word = "at work"
    except OSError:
        word = word if word == "at work" else "unknown"
os.write(1, word.encode())
"""
ANSWER_TIMEOUT_SECONDS = 10.0
"""How long the storage of another user's run folder may take to answer."""


def foreign_run_state(folder: Path) -> bool | None:
    """Return whether the run of a folder that a mark names is at work; None if that is unknown.

    The folder may be gone, moved, visible on another machine only, or on storage that hangs. So a small process looks
    at it, which is left behind if it does not answer.
    """
    names = [str(folder / name) for name in (RUN_LOCK, ENGINE_LOCK)]
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _STATE_PROGRAM, *names],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], ANSWER_TIMEOUT_SECONDS)
    answer = os.read(process.stdout.fileno(), 64) if ready else b""
    process.stdout.close()
    if not ready:
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1.0)
    return {b"at work": True, b"over": False}.get(answer)


def lock_holders(path: Path) -> list[int]:
    """Return the ids of processes that have this lock file open, if /proc shows them to this user."""
    wanted = str(path.absolute())
    holders = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if any(str(link.readlink()) == wanted for link in (process / "fd").iterdir()):
                holders.append(int(process.name))
    return sorted(holders)
