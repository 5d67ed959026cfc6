"""The current state of a run, as the panel shows it."""

import time
from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

from assay.cli.live.rate_history import PhaseHistory
from assay.model.base import AssayError
from assay.model.result.ceiling import CeilingShare
from assay.model.study.case import Case
from assay.run.listener import ClosestCeiling, HostInterval, TimeLeft

DECODE_GAP_SECONDS = 0.25
"""Seconds between two decodings of latencies at least."""
DECODE_SHARE = 50
"""Decoding latencies takes at most 1 / `DECODE_SHARE` of the time, with any number of hosts."""
SILENT_SECONDS = 3.0
"""A phase without a report for this long, and for three intervals, is shown as silent."""


class LatestLatency(NamedTuple):
    """Median and 99th percentile of the latest latencies, in nanoseconds."""

    p50: float
    p99: float


class State:
    """The state that the run updates and the panel shows; callers in several threads must lock it."""

    def __init__(self, total: int, done: int, left: TimeLeft, clock: Callable[[], float] = time.monotonic) -> None:
        """See `Listener.progress`.

        Args:
            total: Planned repeats.
            done: Repeats of these that are done.
            left: Time left.
            clock: Returns the current time in seconds.
        """
        self.total, self.done, self.left = total, done, left
        self.failed = 0
        """Repeats that failed in this session."""
        self.case: Case | None = None
        self.repeat = 0
        self.operation = ""
        self.outcome = ""
        """How the shown repeat ended; empty while it goes on."""
        self.course = PhaseHistory()
        self._limits: ClosestCeiling = lambda _bytes, _ops: None
        self._clock = clock
        self._last_report_at = clock()
        self._interval = 0.0
        self._tail: LatestLatency | None = None
        self._next_tail = float("-inf")

    def begin(self, case: Case, repeat: int) -> None:
        """Start a repeat."""
        self.case, self.repeat, self.outcome = case, repeat, ""
        self.phase("", lambda _bytes, _ops: None)

    def phase(self, operation: str, limits: ClosestCeiling) -> None:
        """Start a phase: rates and latencies begin anew."""
        self.operation, self._limits = operation, limits
        self.course = PhaseHistory()
        self._tail, self._next_tail = None, float("-inf")
        self._last_report_at, self._interval = self._clock(), 0.0

    def interval(self, host_interval: HostInterval) -> None:
        """Add an interval that has ended."""
        self.course.add(host_interval)
        self._last_report_at = self._clock()
        self._interval = (host_interval.work.end_ns - host_interval.work.start_ns) / 1e9

    def finish(self, status: str) -> None:
        """End the repeat; its last phase is shown until the next one starts."""
        self.done += 1
        self.failed += status != "ok"
        self.outcome = status

    def silent(self) -> float:
        """Return the seconds since the last report of the current phase, if that is long ago; else 0."""
        if self.outcome or not self.operation:
            return 0.0
        waited = self._clock() - self._last_report_at
        return waited if waited > max(SILENT_SECONDS, 3 * self._interval) else 0.0

    def binding(self) -> CeilingShare | None:
        """Return the ceiling that the rate of the last minute is closest to; None if none is known."""
        if not self.course.hosts:
            return None
        _, rate = self.course.rates()
        return self._limits(rate.bytes, rate.ops)

    def tail(self) -> LatestLatency | None:
        """Return the latencies of all hosts together, each from its last interval in which operations ended."""
        now = self._clock()
        if now >= self._next_tail and self.course.latencies:
            self._tail = _tail(list(chain.from_iterable(self.course.latencies.values())))
            took = self._clock() - now
            self._next_tail = now + max(DECODE_GAP_SECONDS, DECODE_SHARE * took)
        return self._tail


def _tail(texts: list[str]) -> LatestLatency | None:
    """Return median and 99th percentile over all histograms; None if one is damaged, which the repeat's end reports."""
    from assay.analyse.histograms import decode, merge, percentiles

    try:
        whole = merge([decode(text) for text in texts])
    except AssayError:
        return None
    if not whole.total:
        return None
    middle, tail = percentiles(whole, (50.0, 99.0)).tolist()
    return LatestLatency(float(middle), float(tail))
