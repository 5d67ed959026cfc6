"""Describes the rate of a phase over time, computed from the engine's intervals."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from assay.analyse.estimate import mean_deviation, student_t
from assay.analyse.histograms import decode, merge, summary
from assay.analyse.statistics.changes import Floats, change_points
from assay.analyse.statistics.segments import segments_of
from assay.contract.counts import progress_counts
from assay.contract.messages import IntervalEvent, OpInterval, PhaseEndEvent, Window
from assay.model.base import AssayError
from assay.model.result.course import Course, RateChange, Segments
from assay.model.result.percentile import reliable_latencies
from assay.model.study.names import DATA

MIN_INTERVALS = 5
"""With fewer intervals only mean and variation are computed: SNIA's steady state needs five rounds."""
MAX_INTERVALS = 10_000_000
"""No phase has more intervals: at 10 ms, the shortest interval, this is more than a day."""
ZERO_SHARE = 1e-9
"""A median below this share of the mean counts as zero."""
BURST_RATIO = 3.0
"""A phase begins with a burst if its beginning is at least this many times as fast as every later interval."""
WINDOWS = 5
"""Rounds of the measurement window in SNIA's Solid State Storage Performance Test Specification (PTS) 2.0."""

_NS = 1e9


class IntervalRate(NamedTuple):
    """Rate per second in a stretch of a phase in which every lane worked; times are ns since the phase's start."""

    start_ns: int
    end_ns: int
    rate: float


def course_of(
    events_of_one_phase: Sequence[IntervalEvent], end: PhaseEndEvent, data_set_bytes: int | None, counted: bool
) -> Course | None:
    """Return the course of one phase; None with fewer than two whole intervals in which every lane worked.

    Args:
        events_of_one_phase: Intervals of the phase in any order; several events of one interval are added up.
        end: End event of the phase.
        data_set_bytes: Bytes that one pass over the data moves; None if the phase has no passes.
        counted: Rates are in operations, not in bytes.
    """
    if end.steady is None:
        return None
    before, intervals = whole_intervals(events_of_one_phase, end.steady, counted)
    rest = None if data_set_bytes is None or counted else data_set_bytes - before
    found = course(intervals, rest)
    if found is None:
        return None
    found = found.model_copy(update={"opening": opening_burst(before, intervals)})
    if found.segments is None:
        return found
    segments = with_latencies(found.segments, events_of_one_phase, end.operation.value)
    return found.model_copy(update={"segments": segments})


def opening_burst(before: float, intervals: Sequence[IntervalRate]) -> RateChange | None:
    """Return the burst at the beginning of a phase; None if the beginning is not much faster than all later intervals.

    A search for change points needs several intervals on either side, but burst credits may last for less than one.

    Args:
        before: Bytes or operations done before the first whole interval.
        intervals: In time order, two or more.

    Returns:
        The change to the mean of the later intervals. Its p-value is the probability that the greatest of as many
        values in random order comes first.
    """
    head, rest = intervals[0].rate, intervals[1:]
    if intervals[0].start_ns > 0:
        head, rest = before * _NS / intervals[0].start_ns, intervals
    most = max(interval.rate for interval in rest)
    if len(rest) < MIN_INTERVALS or not 0 < BURST_RATIO * most <= head:
        return None
    after = math.fsum(interval.rate for interval in rest) / len(rest)
    return RateChange(at_ns=rest[0].start_ns, before=head, after=after, p=1 / (len(rest) + 1))


def with_latencies(segments: Segments, events: Sequence[IntervalEvent], operation: str = "") -> Segments:
    """Add to each segment the latencies and failures of the intervals that end in it.

    Args:
        segments: Segments of a phase.
        events: Intervals of the phase.
        operation: Operation of the phase.

    Raises:
        AssayError: A latency histogram cannot be read.
    """
    parts: list[list[OpInterval]] = [[] for _ in segments.rates]
    for event in events:
        place = -(-(event.end_ns - segments.start_ns) // segments.length_ns) - 1
        if 0 <= place < len(parts):
            parts[place] += progress_counts(event.operations, operation in DATA)
    tails = [_tail(part) for part in parts]
    return segments.model_copy(
        update={
            "p50": tuple(tail.get("p50") for tail in tails),
            "p99": tuple(tail.get("p99") for tail in tails),
            "errors": tuple(sum(done.errors for done in part) for part in parts),
        }
    )


def _tail(parts: Sequence[OpInterval]) -> dict[str, float]:
    found = [decode(part.latency) for part in parts if part.latency]
    if not found:
        return {}
    whole = merge(found)
    return reliable_latencies(summary(whole), whole.total)


def whole_intervals(events: Sequence[IntervalEvent], steady: Window, counted: bool) -> tuple[float, list[IntervalRate]]:
    """Return the amount done before the first whole interval in a window, and the whole intervals in it.

    The engine reports no interval in which nothing was completed; those are added with a rate of 0. An interval that is
    shorter than the others, as the last one may be, is left out. If the engine reports it, an operation that spans
    several intervals is divided among them.

    Args:
        events: Intervals of one phase, in any order; several of one index are added up.
        steady: The window in which every lane worked.
        counted: Count operations, not bytes.

    Raises:
        AssayError: There are more intervals than any run can have, or they refer to intervals that are not earlier.
    """
    length = max((_length(event) for event in events), default=0)
    if length <= 0:
        return 0, []
    amounts: dict[int, float] = {}
    for event in events:
        amount = sum(part.ops if counted else part.bytes for part in event.operations)
        amounts[event.index] = amounts.get(event.index, 0) + amount
        _move_earlier(amounts, event, counted)
    first, stop = -(-steady.start_ns // length), steady.end_ns // length
    if stop - first > MAX_INTERVALS:
        raise AssayError(f"a phase of {stop - first} intervals of {length} ns: more than any run has")
    before = sum(amount for index, amount in amounts.items() if index < first)
    rates = (amounts.get(index, 0) * _NS / length for index in range(first, stop))
    return before, [
        IntervalRate(index * length, (index + 1) * length, rate) for index, rate in enumerate(rates, start=first)
    ]


def _length(event: IntervalEvent) -> int:
    """Return the length of a whole interval in ns, by one event; the last interval of a phase may be shorter."""
    return max(event.end_ns - event.start_ns, event.start_ns // event.index if event.index else 0)


def _move_earlier(amounts: dict[int, float], event: IntervalEvent, counted: bool) -> None:
    """Move amounts that were done before an interval to the intervals in which they were done."""
    for part in event.earlier or ():
        if not part.from_ < part.to <= event.index or part.to - part.from_ > MAX_INTERVALS:
            raise AssayError(
                f"interval {event.index} refers to intervals {part.from_} to {part.to}, which are not earlier"
            )
        amount = part.ops if counted else part.bytes
        for index in range(part.from_, part.to):
            amounts[index] = amounts.get(index, 0) + amount
        # The difference of two large floating-point numbers is inexact and may be below 0.
        amounts[event.index] = max(0.0, amounts[event.index] - amount * (part.to - part.from_))


def course(intervals: Sequence[IntervalRate], data_set_bytes: float | None = None) -> Course | None:
    """Return the course of a phase by its intervals; None with fewer than two.

    Args:
        intervals: In time order, without gaps.
        data_set_bytes: Bytes left of the first pass over the data when the first interval begins, for rates in bytes;
            None if the phase has no passes.
    """
    if len(intervals) < 2:
        return None
    rates = [interval.rate for interval in intervals]
    mean, deviation = mean_deviation(rates)
    first, later = _passes(intervals, data_set_bytes)
    statistics = _statistics(intervals, np.array(rates), mean) if len(rates) >= MIN_INTERVALS and mean > 0 else {}
    return Course(
        intervals=len(rates),
        interval_ns=intervals[0].end_ns - intervals[0].start_ns,
        mean=mean,
        variation=deviation / mean if mean > 0 else 0.0,
        first_pass=first,
        later_passes=later,
        segments=segments_of(intervals),
        **statistics,
    )


def _statistics(intervals: Sequence[IntervalRate], rates: Floats, mean: float) -> dict[str, Any]:
    windows = _window_means(rates, WINDOWS)
    # Least squares over the positions -2, -1, 0, 1, 2; from the first to the last there are four steps.
    slope = float(windows @ np.arange(-2.0, 3.0)) / 10
    low, high = _batch_interval(rates, mean)
    lower, middle, upper = np.quantile(rates, (0.25, 0.5, 0.75))
    return {
        "middle_range": float((upper - lower) / middle) if middle > ZERO_SHARE * mean else None,
        "range_share": float(np.ptp(windows)) / mean,
        "slope_share": 4 * slope / mean,
        "effective": effective_size(rates),
        "low": low,
        "high": high,
        "changes": _changes(intervals, rates),
    }


def _window_means(rates: Floats, count: int) -> Floats:
    """Return the means of `count` equally long windows; an interval in two windows counts in both by its parts."""
    sums = np.concatenate(([0.0], np.cumsum(rates)))
    ends = np.interp(np.linspace(0, len(rates), count + 1), np.arange(len(sums)), sums)
    means: Floats = np.diff(ends) * (count / len(rates))
    return means


def effective_size(values: Floats) -> float:
    """Return how many independent values would show the mean as well as these; at most their number.

    n / (1 + 2 * sum of autocorrelations), summed in pairs as long as a pair is positive (initial positive sequence,
    Geyer 1992, "Practical Markov chain Monte Carlo", Statistical Science 7).

    Args:
        values: In time order, at least two.
    """
    count = len(values)
    centred = values - values.mean()
    # Padded to twice the length, so that the circular correlation equals the linear one.
    spectrum = np.fft.rfft(centred, 1 << (2 * count - 1).bit_length())
    covariances = np.fft.irfft(spectrum.real**2 + spectrum.imag**2)[:count]
    if covariances[0] <= 0:
        return float(count)
    pairs = covariances[: count // 2 * 2].reshape(-1, 2).sum(axis=1) / covariances[0]
    ended = np.flatnonzero(pairs <= 0)
    positive = pairs[: ended[0]] if len(ended) else pairs
    return float(count / max(1.0, 2 * positive.sum() - 1))


def _batch_interval(rates: Floats, mean: float) -> tuple[float | None, float | None]:
    """Return the 95 % interval of the mean by Student's t over batch means; (None, None) with fewer than 10 intervals.

    There are 10 batches, or 5 with fewer than 20 intervals. Schmeiser 1982, "Batch size effects in the analysis of
    simulation output", Operations Research 30: few and long batches are as good as many, and less dependent.
    """
    if len(rates) < 10:
        return None, None
    count = 10 if len(rates) >= 20 else 5
    _, deviation = mean_deviation(_window_means(rates, count).tolist())
    reach = student_t(count - 1) * deviation / math.sqrt(count)
    return max(0.0, mean - reach), mean + reach


def _changes(intervals: Sequence[IntervalRate], rates: Floats) -> tuple[RateChange, ...]:
    points = change_points(rates)
    places = [0, *(point.at for point in points), len(rates)]
    levels = [float(rates[start:end].mean()) for start, end in pairwise(places)]
    return tuple(
        RateChange(at_ns=intervals[point.at].start_ns, before=before, after=after, p=point.p)
        for point, (before, after) in zip(points, pairwise(levels), strict=True)
    )


def _passes(intervals: Sequence[IntervalRate], data_set_bytes: float | None) -> tuple[float | None, float | None]:
    """Return the mean rates of the intervals wholly in the first pass over the data, and wholly after it."""
    if data_set_bytes is None:
        return None, None
    first: list[float] = []
    later: list[float] = []
    done = 0.0
    for interval in intervals:
        begun, done = done, done + interval.rate * (interval.end_ns - interval.start_ns) / _NS
        if done <= data_set_bytes:
            first.append(interval.rate)
        elif begun >= data_set_bytes:
            later.append(interval.rate)
    if not first or not later:
        return None, None
    return math.fsum(first) / len(first), math.fsum(later) / len(later)
