"""Identifies, kills and reaps the init processes of a box."""

import contextlib
import itertools
import os
import select
import signal
import time
from pathlib import Path

from assay.journal.processes import FLAGS, PARENT, ProcessIdentity, start_time, stat_fields


def is_init_of(pid: int, folder: Path) -> bool:
    """Return whether the command line of a process is that of an init of the box in a folder."""
    try:
        words = Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[1:2] == [b"init"] and (b"--folder", os.fsencode(folder)) in itertools.pairwise(words)


def inits_of(folder: Path) -> list[ProcessIdentity]:
    """Return the living inits of a box, without those of boxes inside containers of this machine.

    Args:
        folder: Folder of the box.
    """
    found = []
    for entry in Path("/proc").iterdir():
        if (
            entry.name.isdigit()
            and is_init_of(int(entry.name), folder)
            and _namespace_depth(entry.name) <= _namespace_depth("self") + 1
        ):
            start = start_time(int(entry.name))
            found += [] if start is None else [ProcessIdentity(int(entry.name), start)]
    return found


def _namespace_depth(process: str) -> int:
    """Return in how many nested pid namespaces a process has an id; 0 if it no longer exists."""
    with contextlib.suppress(OSError):
        for line in Path("/proc", process, "status").read_text(errors="replace").splitlines():
            if line.startswith("NSpid:"):
                return len(line.split()) - 1
    return 0


def kill_inits(processes: list[ProcessIdentity], folder: Path, timeout_s: float) -> list[ProcessIdentity]:
    """Kill inits of a box, and wait until they and all processes in their namespaces have ended.

    Args:
        processes: Inits that the journal names. Ended ones are skipped, even if another process has their id now.
        folder: Folder of the box; processes that are not its inits are left alone.
        timeout_s: Seconds to wait.

    Returns:
        Processes that have not ended.
    """
    opened: list[tuple[ProcessIdentity, int]] = []
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            opened.append((process, os.pidfd_open(process.pid)))
    try:
        watched = []
        for process, fd in opened:
            # The descriptor pins the process that has this id now; only after that can its identity be checked.
            if process.is_alive and (is_init_of(process.pid, folder) or _is_ending(process.pid)):
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(fd, signal.SIGKILL)
                watched.append((process, fd))
        return _wait(watched, time.monotonic() + timeout_s)
    finally:
        for _, fd in opened:
            os.close(fd)


def _is_ending(pid: int) -> bool:
    """Return whether a process is exiting (flag PF_EXITING): its command line is already empty then."""
    fields = stat_fields(pid)
    return bool(fields) and bool(int(fields[FLAGS]) & 0x4)


def wait_reaped(processes: list[ProcessIdentity], timeout_s: float) -> list[ProcessIdentity]:
    """Wait until ended processes are reaped, by this process if it is their parent, else by their parent.

    Args:
        processes: Processes; living ones are not waited for.
        timeout_s: Seconds to wait.

    Returns:
        Ended processes that are not reaped; they hold nothing but their ids.
    """
    end = time.monotonic() + timeout_s
    while True:
        for process in processes:
            fields = stat_fields(process.pid)
            if process.is_listed and fields and int(fields[PARENT]) == os.getpid():
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)
        left = [process for process in processes if process.is_listed and not process.is_alive]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)


def _wait(watched: list[tuple[ProcessIdentity, int]], end: float) -> list[ProcessIdentity]:
    left = []
    for process, fd in watched:
        poller = select.poll()
        poller.register(fd, select.POLLIN)
        if not poller.poll(max(0.0, end - time.monotonic()) * 1000):
            left.append(process)
    return left
