"""Processes: which one a recorded id means, and its end."""

import contextlib
import itertools
import os
import select
import signal
import time
from dataclasses import dataclass
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_STATE, _PARENT, _FLAGS, _START = 0, 1, 6, 19
"""Where these are among the fields of /proc/PID/stat, counted from the state, its third (proc_pid_stat(5))."""


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

    @property
    def listed(self) -> bool:
        """Whether it still is in the kernel's table of processes: alive, or ended and not reaped by its parent."""
        fields = _stat(self.pid)
        return bool(fields) and int(fields[_START]) == self.start


def boot_id() -> str:
    """What tells this start of the machine from others."""
    return BOOT_ID.read_text().strip()


def start_time(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat; None if there is no such process or it has ended."""
    fields = _stat(pid)
    return None if not fields or fields[_STATE] in "ZX" else int(fields[_START])


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on, where the state is; empty if there is no such process."""
    try:
        text = Path("/proc", str(pid), "stat").read_text(errors="replace")
    except OSError:
        return []
    # The name, in parentheses, may hold blanks and parentheses itself.
    return text.rpartition(")")[2].split()


def is_init_of(pid: int, folder: Path) -> bool:
    """Whether a process was started as the init of a host of the box in a folder, by its command line."""
    try:
        words = Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[1:2] == [b"init"] and (b"--folder", os.fsencode(folder)) in itertools.pairwise(words)


def inits_of(folder: Path) -> list[Process]:
    """The living processes that were started as inits of a box's hosts, on this machine and not in a container of it.

    Args:
        folder: Of the box.
    """
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and is_init_of(int(entry.name), folder) and _levels(entry.name) <= _levels("self") + 1:
            start = start_time(int(entry.name))
            found += [] if start is None else [Process(int(entry.name), start)]
    return found


def _levels(process: str) -> int:
    """In how many pid namespaces a process has an id; 0 if it is gone."""
    with contextlib.suppress(OSError):
        for line in Path("/proc", process, "status").read_text(errors="replace").splitlines():
            if line.startswith("NSpid:"):
                return len(line.split()) - 1
    return 0


def kill(processes: list[Process], folder: Path, patience: float) -> list[Process]:
    """Kill inits of a box's hosts, and wait until they have ended with all that lives in their namespaces.

    Args:
        processes: Those that are not alive any more are left alone, whatever has their id now.
        folder: Of the box; a process that is no init of it is left alone, whatever the box's journal says of it.
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
            if process.alive and (is_init_of(process.pid, folder) or _is_ending(process.pid)):
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(fd, signal.SIGKILL)
                watched.append((process, fd))
        return _wait(watched, time.monotonic() + patience)
    finally:
        for _, fd in opened:
            os.close(fd)


def _is_ending(pid: int) -> bool:
    """Whether a process is on its way out, where it has no command line any more; the flag is PF_EXITING."""
    fields = _stat(pid)
    return bool(fields) and bool(int(fields[_FLAGS]) & 0x4)


def wait_gone(processes: list[Process], patience: float) -> list[Process]:
    """Wait until processes that have ended are reaped: by this process if it is their parent, else by that.

    Args:
        processes: Those that live are not waited for.
        patience: Seconds to wait.

    Returns:
        Those that have ended and are not reaped; they have nothing any more but their ids.
    """
    end = time.monotonic() + patience
    while True:
        for process in processes:
            fields = _stat(process.pid)
            if process.listed and fields and int(fields[_PARENT]) == os.getpid():
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)
        left = [process for process in processes if process.listed and not process.alive]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)


def _wait(watched: list[tuple[Process, int]], end: float) -> list[Process]:
    left = []
    for process, fd in watched:
        poller = select.poll()
        poller.register(fd, select.POLLIN)
        if not poller.poll(max(0.0, end - time.monotonic()) * 1000):
            left.append(process)
    return left
