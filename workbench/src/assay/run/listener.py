"""The interfaces through which a run reports its progress. The run prints nothing itself."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from assay.model.result.ceiling import CeilingShare
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.model.units import about_duration

PRIOR_WEIGHT_SECONDS = 10.0
"""Estimated seconds of repeats after which the measured factor weighs as much as the prior factor, 1."""
EVEN_SPLIT_SECONDS = 3.0
"""Estimated seconds of a repeat at which its excess time counts half as start and end, and half as lower speed.

Start and end are the same for every repeat; a lower speed is in proportion to the estimate. In shorter repeats start
and end have the larger share.
"""


class TimeLeft:
    """Time left of a run: the estimate, corrected by the repeats so far.

    A repeat is expected to take a factor times its estimate, and some seconds more. `START_SECONDS` splits the time
    that repeats took beyond their estimates between the two: the seconds are the mean of the one part over the finished
    repeats, and the factor is the sum of the other part relative to the sum of their estimates.
    """

    def __init__(self, estimated: float, at_most: bool = False, count: int = 0) -> None:
        """Start with the estimated seconds of all repeats that are to be done, or at most to be done.

        Args:
            estimated: Seconds of all repeats together.
            at_most: There may be fewer.
            count: Number of repeats.
        """
        self._remaining = estimated
        self._count = count
        self.at_most = at_most
        self._done = 0
        self._done_estimated = 0.0
        self._more_in_starts = 0.0
        self._more_in_proportion = 0.0
        self._current: tuple[float, float] | None = None
        self._end = float("inf")

    def begin_repeat(self, estimated: float) -> None:
        """Note that a repeat with an estimate of `estimated` seconds starts now."""
        self._current = (estimated, time.monotonic())

    def end_repeat(self, estimated: float, measured: float) -> None:
        """Note that a repeat with an estimate of `estimated` seconds took `measured` seconds."""
        self.drop_repeats(estimated, 1)
        share = EVEN_SPLIT_SECONDS**2 / (EVEN_SPLIT_SECONDS**2 + estimated**2)
        self._done += 1
        self._done_estimated += estimated
        self._more_in_starts += (measured - estimated) * share
        self._more_in_proportion += (measured - estimated) * (1 - share)
        self._current = None

    def drop_repeats(self, estimated: float, count: int) -> None:
        """Subtract `count` repeats, estimated at `estimated` seconds together; below 0 they are added."""
        self._remaining = max(0.0, self._remaining - estimated)
        self._count = max(0, self._count - count)

    def set_limit(self, seconds: float) -> None:
        """Note that the run ends at most `seconds` from now."""
        self._end = time.monotonic() + seconds

    def words(self) -> str:
        """`3 min`, or `at most 3 min`."""
        return f"{'at most ' if self.at_most else ''}{about_duration(self.seconds())}"

    def seconds(self) -> float:
        """Seconds left."""
        left = self._expected(self._remaining, self._count)
        if self._current is not None:
            estimated, begun = self._current
            left -= min(time.monotonic() - begun, self._expected(estimated, 1))
        return max(0.0, min(left, self._end - time.monotonic()))

    def _expected(self, estimated: float, count: int) -> float:
        """Return the seconds of `count` repeats, estimated at `estimated` together, judging by finished repeats."""
        # The prior is weighted in estimated seconds, like the finished repeats.
        factor = 1 + self._more_in_proportion / (PRIOR_WEIGHT_SECONDS + self._done_estimated)
        start = self._more_in_starts / self._done if self._done else 0.0
        return max(0.0, estimated * factor + count * start)


class Stretch(NamedTuple):
    """Work in a stretch of a phase, spread evenly over it.

    Attributes:
        start_ns: Since the start of the phase.
        end_ns: Later than that.
        bytes: Bytes moved.
        ops: Operations, with fractions.
    """

    start_ns: int
    end_ns: int
    bytes: float
    ops: float


class HostInterval(NamedTuple):
    """The work of one host in one interval of a phase; an interval in which nothing ended is not reported.

    Attributes:
        host: Its name; empty if only this machine works.
        work: Work in the interval.
        in_operations: Its rate is shown in operations, not in bytes.
        latencies: Of the operations that ended in it, one text for each kind (HDR histogram, nanoseconds).
        earlier: Work of these operations before the interval.
    """

    host: str
    work: Stretch
    in_operations: bool
    latencies: tuple[str, ...] = ()
    earlier: tuple[Stretch, ...] = ()


ClosestCeiling = Callable[[float, float], CeilingShare | None]
"""From bytes and operations per second, returns the known ceiling that they are closest to; None if none is known."""


class Progress:
    """Receives what happens while repeats are executed, and does nothing about it: the base of those that do."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def begin(self, case: Case, repeat: int) -> None:
        """A repeat starts."""

    def phase(self, operation: str, limits: ClosestCeiling) -> None:
        """A phase of the repeat starts; `limits` may be called from any thread."""

    def interval(self, host_interval: HostInterval) -> None:
        """An interval of the phase has ended on a host."""

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        """A repeat has ended."""

    def drop_repeats(self, count: int) -> None:
        """The number of repeats to do drops by `count`; below 0 it grows."""

    def drop_any_repeats(self, count: int) -> None:
        """The number of repeats to do drops by `count`, whichever cases they belong to."""

    def print_line(self, text: str) -> None:
        """Print a line."""


class Listener(Protocol):
    """Receives what a run reports."""

    def print_line(self, text: str) -> None:
        """Print a line."""
        ...

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:
        """Return the object that receives what happens while repeats are executed.

        Args:
            total: Planned repeats.
            done: Repeats that an earlier part of the run has done.
            left: Time left, which the caller keeps up to date.
        """
        ...
