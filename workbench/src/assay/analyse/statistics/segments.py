"""Computes the rate of a phase second by second, and its moving average."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.model.result.course import Segments

if TYPE_CHECKING:
    from assay.analyse.course import IntervalRate

SECOND = 1_000_000_000
MIN_SEGMENTS = 3
"""Minimum number of segments: a fastest, a median and a slowest one."""
MAX_SEGMENTS = 600
"""Greatest number of segments; longer phases have longer segments."""
REACH = 2
"""Number of neighbours on either side in a moving average."""


def segments_of(intervals: "Sequence[IntervalRate]") -> Segments | None:
    """Return the seconds of a phase, from the start of the first interval on; None with fewer than three.

    An interval across two seconds counts in both by its parts.

    Args:
        intervals: In time order, without gaps.
    """
    if not intervals:
        return None
    start, end = intervals[0].start_ns, intervals[-1].end_ns
    length = SECOND * max(1, math.ceil((end - start) / SECOND / MAX_SEGMENTS))
    count = (end - start) // length
    if count < MIN_SEGMENTS:
        return None
    borders = np.array([start, *(interval.end_ns for interval in intervals)], dtype=float)
    done = np.concatenate(
        ([0.0], np.cumsum([interval.rate * (interval.end_ns - interval.start_ns) for interval in intervals]))
    )
    upto = np.interp(start + length * np.arange(count + 1, dtype=float), borders, done)
    # A difference of two sums may be slightly below 0.
    rates = tuple(float(max(0.0, rate)) for rate in np.diff(upto) / length)
    return Segments(length_ns=length, rates=rates, start_ns=start)


def moving_average(values: Sequence[float], reach: int = REACH) -> list[float]:
    """Return the mean of each value and its neighbours, `reach` on either side; fewer at the ends.

    Args:
        values: In order.
        reach: Neighbours on either side.
    """
    windows = (values[max(0, at - reach) : at + reach + 1] for at in range(len(values)))
    return [math.fsum(window) / len(window) for window in windows]
