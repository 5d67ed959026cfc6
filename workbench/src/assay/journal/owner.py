"""Processes that are known again, such as those that something belongs to."""

from dataclasses import dataclass
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
STATE, PARENT, FLAGS, START = 0, 1, 6, 19
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
        fields = stat_fields(self.pid)
        return bool(fields) and int(fields[START]) == self.start


def boot_id() -> str:
    """What tells this start of the machine from others."""
    return BOOT_ID.read_text().strip()


def start_time(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat; None if there is no such process or it has ended."""
    fields = stat_fields(pid)
    return None if not fields or fields[STATE] in "ZX" else int(fields[START])


def stat_fields(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on, where the state is; empty if there is no such process."""
    try:
        text = Path("/proc", str(pid), "stat").read_text(errors="replace")
    except OSError:
        return []
    # The name, in parentheses, may hold blanks and parentheses itself.
    return text.rpartition(")")[2].split()
