"""The course of a phase: its rate over time."""

from statistics import median

from assay.model.frozen import Frozen


class Segments(Frozen):
    """The rate of a phase second by second, in the unit of `Course.mean`.

    An operation in flight at the boundary of two segments counts in both, in proportion to its time in each.

    Attributes:
        length_ns: Length of a segment: a second, or more if there would be too many.
        rates: Rate of each segment, at least three.
        start_ns: Start of the first segment, from the start of the phase.
        p50, p99: Percentiles of latency in nanoseconds, for the operations of each segment; None where there are too
            few. Empty for runs of versions that did not compute them.
        errors: Failed operations of each segment; empty as `p50`.
    """

    length_ns: int
    rates: tuple[float, ...]
    start_ns: int = 0
    p50: tuple[float | None, ...] = ()
    p99: tuple[float | None, ...] = ()
    errors: tuple[int, ...] = ()

    @property
    def slowest(self) -> float:
        """The lowest rate."""
        return min(self.rates)

    @property
    def median(self) -> float:
        """The median rate."""
        return median(self.rates)

    @property
    def fastest(self) -> float:
        """The highest rate."""
        return max(self.rates)


class RateChange(Frozen):
    """A time at which the rate changed from one plateau to another.

    Attributes:
        at_ns: Time since the start of the phase.
        before: Mean rate of the plateau that ends there, in the unit of `Course.mean`.
        after: Mean rate of the plateau that begins there.
        p: Share of noise series with a change at least as large; a small value means that it is no accident.
    """

    at_ns: int
    before: float
    after: float
    p: float


class Course(Frozen):
    """The rate of one phase of one repeat, from its intervals. In bytes/s, or operations/s if counted.

    Only whole intervals in which every lane was active count.

    Attributes:
        intervals: Number of such intervals.
        interval_ns: Length of one.
        mean: Mean rate of the intervals.
        variation: Coefficient of variation of the intervals (standard deviation / mean).
        middle_range: Interquartile range of the intervals / their median: how flat the rate is apart from a few odd
            intervals; None with too few intervals.
        range_share: (Highest - lowest) of five equal windows / mean (SNIA PTS: at most 20 %).
        slope_share: Change of the least-squares line through the five windows from first to last / mean, with its sign
            (SNIA PTS: at most 10 % either way).
        effective: Number of independent intervals with the same information; neighbouring intervals are correlated.
        low, high: Ends of the 95 % interval of the mean within this repeat, by batch means; None with too few
            intervals.
        opening: Change from the opening to the rest, if the opening is many times as fast; else None.
        changes: Change points in order of time; empty without any, or with too few intervals.
        first_pass: Mean rate of the first pass over the data; None if there was no second pass.
        later_passes: Mean rate after the first pass.
        segments: The rate second by second; None with fewer than three whole seconds.
    """

    intervals: int
    interval_ns: int
    mean: float
    variation: float
    middle_range: float | None = None
    range_share: float | None = None
    slope_share: float | None = None
    effective: float | None = None
    low: float | None = None
    high: float | None = None
    opening: RateChange | None = None
    changes: tuple[RateChange, ...] = ()
    first_pass: float | None = None
    later_passes: float | None = None
    segments: Segments | None = None
