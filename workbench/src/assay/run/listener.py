"""Who is told how a run gets on. The run prints nothing itself."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from assay.model.result.ceiling import Binding
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.model.units import about_duration

PRIOR_SECONDS = 10.0
"""How much measured time it takes until a factor that was measured counts as much as that of the estimate, 1."""
START_SECONDS = 3.0
"""What a repeat of so many estimated seconds takes more than that counts half as start and end, which every repeat has,
and half as a speed that is not as assumed, in proportion; of shorter ones it is rather the former."""


class TimeLeft:
    """Time left of a run: the estimate, corrected by how the repeats so far compared with theirs.

    A repeat is expected to take a factor times its estimate and some seconds more. What repeats took beyond their
    estimates is shared out between the two by `START_SECONDS`: the seconds are the mean of the one share, over the
    repeats that were done, and the factor follows from the other share over what these were estimated at together.
    """

    def __init__(self, estimated: float, at_most: bool = False, count: int = 0) -> None:
        """Begin with the estimated seconds of all repeats that are to be done, or at most to be done.

        Args:
            estimated: Seconds of all of them together.
            at_most: There may be fewer.
            count: How many they are.
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

    def begin(self, estimated: float) -> None:
        """A repeat that is estimated at `estimated` seconds starts now."""
        self._current = (estimated, time.monotonic())

    def finished(self, estimated: float, measured: float) -> None:
        """A repeat that was estimated at `estimated` seconds took `measured`."""
        self.dropped(estimated, 1)
        share = START_SECONDS**2 / (START_SECONDS**2 + estimated**2)
        self._done += 1
        self._done_estimated += estimated
        self._more_in_starts += (measured - estimated) * share
        self._more_in_proportion += (measured - estimated) * (1 - share)
        self._current = None

    def dropped(self, estimated: float, count: int) -> None:
        """`count` repeats, together estimated at `estimated` seconds, are not to be done; both below 0: are added."""
        self._remaining = max(0.0, self._remaining - estimated)
        self._count = max(0, self._count - count)

    def limit(self, seconds: float) -> None:
        """It ends after `seconds` from now at the latest."""
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
        """Seconds of `count` repeats that are estimated at `estimated` together, by what the others took."""
        # The prior is weighed in estimated seconds, so that what was measured and estimated stay comparable.
        factor = 1 + self._more_in_proportion / (PRIOR_SECONDS + self._done_estimated)
        start = self._more_in_starts / self._done if self._done else 0.0
        return max(0.0, estimated * factor + count * start)


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
