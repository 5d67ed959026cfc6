"""Processes: which one a recorded id means, and its end."""

import contextlib
import os
import select
import signal
import time
from dataclasses import dataclass
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Process:
    """A process that is known again: an id alone may have been given to another since.

    Attributes:
        pid: Its id.
        start: When it was started, in clock ticks since the machine was.
    """

    pid: int
    start: int

    @property
    def alive(self) -> bool:
        """Whether it still runs; one that has ended and is not reaped yet does not."""
        return start_time(self.pid) == self.start


def boot_id() -> str:
    """What tells this start of the machine from others."""
    return BOOT_ID.read_text().strip()


def start_time(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat; None if there is no such process or it has ended."""
    try:
        text = Path("/proc", str(pid), "stat").read_text()
    except OSError:
        return None
    # The name, in parentheses, may hold blanks and parentheses itself.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


def kill(processes: list[Process], patience: float) -> list[Process]:
    """Kill processes, and wait until they have ended with all that lives in their namespaces.

    Args:
        processes: Those that are not alive any more are left alone, whatever has their id now.
        patience: Seconds to wait.

    Returns:
        Those that have not ended.
    """
    opened: list[tuple[Process, int]] = []
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            opened.append((process, os.pidfd_open(process.pid)))
    try:
        watched = []
        for process, fd in opened:
            # The descriptor holds on to whoever has the id now; only then is it certain who that is.
            if process.alive:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(fd, signal.SIGKILL)
                watched.append((process, fd))
        return _wait(watched, time.monotonic() + patience)
    finally:
        for _, fd in opened:
            os.close(fd)


def _wait(watched: list[tuple[Process, int]], end: float) -> list[Process]:
    left = []
    for process, fd in watched:
        poller = select.poll()
        poller.register(fd, select.POLLIN)
        if not poller.poll(max(0.0, end - time.monotonic()) * 1000):
            left.append(process)
    return left
