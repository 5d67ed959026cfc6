"""The time at which a command must have ended; measurements that do not fit are left out."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SCHEDSTAT_FILE = Path("/proc/self/schedstat")
"""Scheduling of this process: nanoseconds on a CPU, nanoseconds runnable but waiting for a CPU."""
STAT_FILE = Path("/proc/self/stat")
MAX_START_SECONDS = 20.0
"""Longest time a program takes to load; a process that seems older has another clock, or started earlier."""
STOPPING_SECONDS = 0.3
"""Time from the stop request until the engine has ended and its files are removed, on an idle machine."""
JUDGING_SECONDS = 0.3
"""Time for judging and printing a run and for the end of the process, on an idle machine."""
AFTER_RUN_FACTOR = 1.5
"""The work after a run takes about this many times as long as after a first look: there is more to judge."""
REPEAT_JUDGING_SECONDS = 0.003
"""Time that each repeat adds to the work after the run."""
STOP_GRACE_SECONDS = 1.0
"""Time that an engine has to stop after it was requested to."""
MAX_SLOWDOWN = 4.0
"""Upper bound of the slowdown that is assumed for this machine; without it nothing might be measured."""


class Deadline:
    """The time at which a command must have ended, including its work after the last repeat."""

    def __init__(
        self,
        end_s: float,
        after_s: float = JUDGING_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        slowdown: Callable[[], float] | None = None,
    ) -> None:
        """Reserve time for the work after the last repeat.

        Args:
            end_s: Time by `clock` at which the command must have ended.
            after_s: Seconds of work after the last repeat, on an idle machine.
            clock: Returns the time in seconds.
            slowdown: Returns how many times as long as on an idle machine this process takes; None: as long as it
                did so
                far.
        """
        self.end = end_s
        self.after = after_s
        self.clock = clock
        self.delayed = slowdown or slowdown_so_far
        self._seen = 0.0
        self._until = float("inf")

    def seconds_left(self) -> float:
        """Return the seconds left for measuring; 0 or less when measuring must end."""
        after = (STOPPING_SECONDS + self.after) * min(MAX_SLOWDOWN, self.delayed())
        return min(self.end - max(after, self._seen), self._until) - self.clock()

    def is_over(self) -> bool:
        """Whether nothing more may be measured."""
        return self.seconds_left() <= 0

    def stop_level(self) -> int:
        """Return what to do with a running job: 0 let it run, 1 request it to stop, 2 kill it."""
        left = self.seconds_left()
        return int(left <= 0) + int(left <= -STOP_GRACE_SECONDS)

    def allows(self, seconds: float) -> bool:
        """Whether something that takes `seconds` would end in time."""
        return seconds < self.seconds_left()

    def note_first_look(self, seconds: float) -> None:
        """Record how long the work after a first look took on this machine, whose disk may be as busy as its CPUs."""
        self._seen = AFTER_RUN_FACTOR * seconds

    def add_repeat(self) -> None:
        """Reserve time to judge one more repeat."""
        self.after += REPEAT_JUDGING_SECONDS

    @contextmanager
    def limit_to_share(self, share: float) -> Iterator[None]:
        """Limit the time left to a share of it while the context is open."""
        left = self.seconds_left()
        self._until = self.clock() + share * left
        try:
            yield
        finally:
            self._until = float("inf")


def process_age() -> float:
    """Return the seconds since this process started (proc_pid_stat(5), starttime); 0 if unknown or implausible."""
    try:
        # The program's name, in brackets, may contain spaces.
        ticks = int(STAT_FILE.read_text("utf-8", "replace").rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0.0
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return age if 0 < age < MAX_START_SECONDS else 0.0


def slowdown_so_far() -> float:
    """Return how many times as long as alone on its CPU this process took so far; 1 if unknown."""
    try:
        ran, waited = (int(word) for word in SCHEDSTAT_FILE.read_text("ascii").split()[:2])
    except (OSError, ValueError):
        return 1.0
    return 1.0 + waited / ran if ran > 0 else 1.0
