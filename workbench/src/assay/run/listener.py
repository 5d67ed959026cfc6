"""Who is told how a run gets on. The run prints nothing itself."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from assay.model.result.ceiling import Binding
from assay.model.result.result import Sample
from assay.model.study.case import Case
from assay.model.units import about_duration

PRIOR_SECONDS = 10.0
"""How much measured time it takes until what was measured counts as much as the estimate."""


class TimeLeft:
    """Time left of a run: the estimate, corrected by how the repeats so far compared with theirs."""

    def __init__(self, estimated: float, at_most: bool = False) -> None:
        """Begin with the estimated seconds of all repeats that are to be done, or at most to be done."""
        self._remaining = estimated
        self.at_most = at_most
        self._done_estimated = 0.0
        self._done_measured = 0.0
        self._current: tuple[float, float] | None = None
        self._end = float("inf")

    def begin(self, estimated: float) -> None:
        """A repeat that is estimated at `estimated` seconds starts now."""
        self._current = (estimated, time.monotonic())

    def finished(self, estimated: float, measured: float) -> None:
        """A repeat that was estimated at `estimated` seconds took `measured`."""
        self._remaining = max(0.0, self._remaining - estimated)
        self._done_estimated += estimated
        self._done_measured += measured
        self._current = None

    def dropped(self, estimated: float) -> None:
        """Repeats that are estimated at `estimated` seconds are not to be done any more; below 0: are added."""
        self._remaining = max(0.0, self._remaining - estimated)

    def limit(self, seconds: float) -> None:
        """It ends after `seconds` from now at the latest."""
        self._end = time.monotonic() + seconds

    def words(self) -> str:
        """`3 min`, or `at most 3 min`."""
        return f"{'at most ' if self.at_most else ''}{about_duration(self.seconds())}"

    def seconds(self) -> float:
        """Seconds left."""
        # The prior is weighed in estimated seconds, so that the two sums stay comparable.
        scale = (PRIOR_SECONDS + self._done_measured) / (PRIOR_SECONDS + self._done_estimated)
        left = self._remaining * scale
        if self._current is not None:
            estimated, begun = self._current
            left -= min(time.monotonic() - begun, estimated * scale)
        return min(left, max(0.0, self._end - time.monotonic()))


class Stretch(NamedTuple):
    """What was done in a stretch of a phase, evenly.

    Attributes:
        start_ns: Since the start of the phase.
        end_ns: Later than that.
        bytes: What was moved.
        ops: Operations, in parts of one.
    """

    start_ns: int
    end_ns: int
    bytes: float
    ops: float


class Heard(NamedTuple):
    """What one host tells of one interval of a phase; of one in which nothing ended it tells nothing.

    Attributes:
        host: Its name; empty where only this machine works.
        done: What was done in the interval.
        counted: Its rate is told in operations, not in bytes.
        latencies: Of the operations that ended in it, one text for each kind (HDR histogram, nanoseconds).
        earlier: What these had done before the interval.
    """

    host: str
    done: Stretch
    counted: bool
    latencies: tuple[str, ...] = ()
    earlier: tuple[Stretch, ...] = ()


Limits = Callable[[float, float], Binding | None]
"""Given bytes and operations per second: the known ceiling that this is closest to; None if none is known."""


class Progress(Protocol):
    """What the run tells about itself as it goes on."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def begin(self, case: Case, repeat: int) -> None:
        """A repeat starts."""
        ...

    def phase(self, operation: str, limits: Limits) -> None:
        """One of its phases starts; `limits` may be asked from any thread."""
        ...

    def interval(self, heard: Heard) -> None:
        """An interval of it has ended on a host."""
        ...

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        """A repeat has ended."""
        ...

    def fewer(self, count: int) -> None:
        """So many repeats less are to be done; below 0: so many more."""
        ...

    def left_out(self, count: int) -> None:
        """So many repeats less are to be done, of whichever cases."""
        ...

    def say(self, text: str) -> None:
        """A line for people."""
        ...


class Listener(Protocol):
    """Takes what a run has to say."""

    def say(self, text: str) -> None:
        """A line for people."""
        ...

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:
        """Takes what happens while repeats are executed.

        Args:
            total: Planned repeats.
            done: How many of them an earlier part of the run has done.
            left: Is kept up to date by the caller.
        """
        ...
