"""When a command shall have ended, whatever it measures: what does not fit into the time is left out."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SCHEDULED = Path("/proc/self/schedstat")
"""Of this process: nanoseconds on a CPU, nanoseconds that it was ready and waited for one."""
STOPPING_SECONDS = 0.3
"""From the request to stop to the end of the engine and the removal of its files, on an idle machine."""
JUDGING_SECONDS = 0.3
"""Likewise for judging and printing a run, and for the end of the process."""
SEEN_FACTOR = 1.5
"""What comes after a run takes about so many times what came after a first look: there is more to judge."""
ATTEMPT_SECONDS = 0.003
"""What each of its repeats adds to that."""
PATIENCE_SECONDS = 1.0
"""An engine that was asked to stop has so long for it."""
MOST_DELAYED = 4.0
"""No machine is taken for slower than so many times: else nothing would be measured."""


class Deadline:
    """The moment at which a command is to have ended, what it does after the last repeat included."""

    def __init__(
        self,
        end: float,
        after: float = JUDGING_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        delayed: Callable[[], float] | None = None,
    ) -> None:
        """Measuring ends early enough for what comes after it.

        Args:
            end: By the clock.
            after: Seconds that are needed after the last repeat on an idle machine.
            clock: Seconds.
            delayed: How many times as long as on an idle machine this process takes; None: as it did so far.
        """
        self.end = end
        self.after = after
        self.clock = clock
        self.delayed = delayed or delayed_so_far
        self._seen = 0.0
        self._until = float("inf")

    def left(self) -> float:
        """Seconds that are left for measuring; below 0 when it must end."""
        after = (STOPPING_SECONDS + self.after) * min(MOST_DELAYED, self.delayed())
        return min(self.end - max(after, self._seen), self._until) - self.clock()

    def over(self) -> bool:
        """Whether nothing more may be measured now."""
        return self.left() <= 0

    def stop(self) -> int:
        """What is to become of a job that goes on: 0 let it, 1 ask it to stop, 2 stop it now."""
        left = self.left()
        return int(left <= 0) + int(left <= -PATIENCE_SECONDS)

    def allows(self, seconds: float) -> bool:
        """Whether something that takes so long ends in time."""
        return seconds < self.left()

    def seen(self, seconds: float) -> None:
        """So long it took to end a first look on this machine now, whose disk may be as busy as its CPUs."""
        self._seen = SEEN_FACTOR * seconds

    def repeated(self) -> None:
        """There is one more repeat to be judged."""
        self.after += ATTEMPT_SECONDS

    @contextmanager
    def part(self, share: float) -> Iterator[None]:
        """Meanwhile only a share of the time that is left is there."""
        left = self.left()
        self._until = self.clock() + share * left
        try:
            yield
        finally:
            self._until = float("inf")


def delayed_so_far() -> float:
    """How many times as long as alone on its CPU this process took so far; 1 if the kernel does not say."""
    try:
        ran, waited = (int(word) for word in SCHEDULED.read_text("ascii").split()[:2])
    except (OSError, ValueError):
        return 1.0
    return 1.0 + waited / ran if ran > 0 else 1.0
