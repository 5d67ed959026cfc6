"""Processes identified by id and start time, such as the owners of things."""

from dataclasses import dataclass
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
STATE, PARENT, FLAGS, START = 0, 1, 6, 19
"""Positions of these fields in /proc/PID/stat, counted from the state, its third field (proc_pid_stat(5))."""


@dataclass(frozen=True)
class ProcessIdentity:
    """A process by its id and start time; the id alone may have been reused since.

    Attributes:
        pid: Its id.
        start: When it was started, in clock ticks since boot.
    """

    pid: int
    start: int

    @property
    def is_alive(self) -> bool:
        """Whether it still runs; a zombie does not."""
        return start_time(self.pid) == self.start

    @property
    def is_listed(self) -> bool:
        """Whether it is still in the kernel's process table: alive, or a zombie that its parent has not reaped."""
        fields = stat_fields(self.pid)
        return bool(fields) and int(fields[START]) == self.start


def boot_id() -> str:
    """Return the id of the current boot; each boot has another one."""
    return BOOT_ID.read_text().strip()


def start_time(pid: int) -> int | None:
    """Return field 22 of /proc/PID/stat, in clock ticks since boot; None if the process does not exist or has ended."""
    fields = stat_fields(pid)
    return None if not fields or fields[STATE] in "ZX" else int(fields[START])


def stat_fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the third (the state) on; empty if there is no such process."""
    try:
        text = Path("/proc", str(pid), "stat").read_text(errors="replace")
    except OSError:
        return []
    # The name, in parentheses, may hold blanks and parentheses itself.
    return text.rpartition(")")[2].split()
