"""Processes: which one a recorded id means, and its end."""

import contextlib
import itertools
import os
import select
import signal
import time
from pathlib import Path

from assay.journal.owner import FLAGS, PARENT, Process, start_time, stat_fields


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
    fields = stat_fields(pid)
    return bool(fields) and bool(int(fields[FLAGS]) & 0x4)


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
            fields = stat_fields(process.pid)
            if process.listed and fields and int(fields[PARENT]) == os.getpid():
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
