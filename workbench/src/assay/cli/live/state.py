"""What there is to be seen of a run at a moment."""

import time
from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

from assay.cli.live.course import PhaseCourse
from assay.model.base import AssayError
from assay.model.result.ceiling import Binding
from assay.model.study.case import Case
from assay.run.listener import Heard, Limits, TimeLeft

DECODE_GAP = 0.25
"""Latencies are read at most so often, in seconds ..."""
DECODE_SHARE = 50
"""... and take at most a share of one in so many of the time, however many hosts there are."""
SILENT_SECONDS = 3.0
"""When nothing was heard for so long, and for three intervals, that is said."""


class Tail(NamedTuple):
    """Latencies of what ended last, in nanoseconds."""

    p50: float
    p99: float


class State:
    """Told by the run, looked at by what draws; whoever uses both from several threads must lock it."""

    def __init__(self, total: int, done: int, left: TimeLeft, clock: Callable[[], float] = time.monotonic) -> None:
        """See `Listener.progress`.

        Args:
            total: Planned repeats.
            done: Of these.
            left: Time left.
            clock: Seconds.
        """
        self.total, self.done, self.left = total, done, left
        self.failed = 0
        """Repeats that did not end well, in this session."""
        self.case: Case | None = None
        self.repeat = 0
        self.operation = ""
        self.outcome = ""
        """How the repeat that is shown ended; empty while it goes on."""
        self.course = PhaseCourse()
        self._limits: Limits = lambda _bytes, _ops: None
        self._clock = clock
        self._told_at = clock()
        self._interval = 0.0
        self._tail: Tail | None = None
        self._next_tail = float("-inf")

    def begin(self, case: Case, repeat: int) -> None:
        """A repeat starts."""
        self.case, self.repeat, self.outcome = case, repeat, ""
        self.phase("", lambda _bytes, _ops: None)

    def phase(self, operation: str, limits: Limits) -> None:
        """A phase starts: what is shown begins anew."""
        self.operation, self._limits = operation, limits
        self.course = PhaseCourse()
        self._tail, self._next_tail = None, float("-inf")
        self._told_at, self._interval = self._clock(), 0.0

    def interval(self, heard: Heard) -> None:
        """An interval has ended."""
        self.course.add(heard)
        self._told_at = self._clock()
        self._interval = (heard.done.end_ns - heard.done.start_ns) / 1e9

    def finish(self, status: str) -> None:
        """The repeat has ended; its last phase stays to be seen until the next one begins."""
        self.done += 1
        self.failed += status != "ok"
        self.outcome = status

    def silent(self) -> float:
        """Seconds since anything was heard of the phase at hand, if that is long; else 0."""
        if self.outcome or not self.operation:
            return 0.0
        waited = self._clock() - self._told_at
        return waited if waited > max(SILENT_SECONDS, 3 * self._interval) else 0.0

    def binding(self) -> Binding | None:
        """The ceiling that the rate of the last minute is closest to."""
        if not self.course.hosts:
            return None
        _, rate = self.course.rates()
        return self._limits(rate.bytes, rate.ops)

    def tail(self) -> Tail | None:
        """Latencies of the last interval of each host in which anything ended, all together."""
        now = self._clock()
        if now >= self._next_tail and self.course.latencies:
            self._tail = _tail(list(chain.from_iterable(self.course.latencies.values())))
            took = self._clock() - now
            self._next_tail = now + max(DECODE_GAP, DECODE_SHARE * took)
        return self._tail


def _tail(texts: list[str]) -> Tail | None:
    """Median and 99th percentile of what all of these say; None if one cannot be read, which the repeat's end tells."""
    from assay.analyse.histograms import decode, merge, percentiles

    try:
        whole = merge([decode(text) for text in texts])
    except AssayError:
        return None
    if not whole.total:
        return None
    middle, tail = percentiles(whole, (50.0, 99.0)).tolist()
    return Tail(float(middle), float(tail))
