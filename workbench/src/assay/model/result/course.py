"""How the rate of a phase went while it lasted."""

from statistics import median

from assay.model.frozen import Frozen


class Segments(Frozen):
    """The rate of a phase second by second, in the unit of `Course.mean`.

    Operations that were under way at the border of two seconds count in both, by the time that they spent in each.

    Attributes:
        length_ns: Length of one: a second, more only where there would be too many.
        rates: One after the other, three at least.
        start_ns: Start of the first, since the start of the phase.
        p50: Median latency, in nanoseconds, of the operations that ended in the intervals that end in each; None where
            those are too few. Empty if it was kept by a version that did not look.
        p99: Likewise.
        errors: Failed operations, likewise.
    """

    length_ns: int
    rates: tuple[float, ...]
    start_ns: int = 0
    p50: tuple[float | None, ...] = ()
    p99: tuple[float | None, ...] = ()
    errors: tuple[int, ...] = ()

    @property
    def slowest(self) -> float:
        """The least rate."""
        return min(self.rates)

    @property
    def median(self) -> float:
        """Half are at least as fast."""
        return median(self.rates)

    @property
    def fastest(self) -> float:
        """The greatest rate."""
        return max(self.rates)


class Change(Frozen):
    """A moment at which the rate changed from one plateau to another.

    Attributes:
        at_ns: Since the start of the phase.
        before: Mean rate of the plateau that ends there, in the unit of `Course.mean`.
        after: Mean rate of the plateau that begins there.
        p: Share of series of mere noise that show as great a change; small means it is no accident.
    """

    at_ns: int
    before: float
    after: float
    p: float


class Course(Frozen):
    """The rate of one phase of one repeat, from its intervals. Rates are per second: bytes, of counted operations ops.

    Only whole intervals during which every lane was at work are looked at.

    Attributes:
        intervals: Number of such intervals.
        interval_ns: Length of one.
        mean: Mean rate over them.
        variation: Their coefficient of variation (standard deviation / mean).
        middle_range: From the lower to the upper quartile of the intervals, as a share of their median: how flat the
            rate is but for a few odd intervals; None with too few intervals.
        range_share: Greatest less least of five equal windows, as a share of the mean (SNIA PTS: at most 20 %).
        slope_share: What the least-squares line through the five windows gains from first to last, as a share of the
            mean, with its sign (SNIA PTS: at most 10 % either way).
        effective: Number of independent intervals that would tell as much as these, which resemble their neighbours.
        low: Lower end of the 95 % interval of the mean inside this repeat, by batch means; None with too few intervals.
        high: Upper end.
        opening: From what it began with to the rest, if the beginning is many times as fast; else None.
        changes: Change points, in time order; empty if there is none, or too few intervals to tell.
        first_pass: Mean rate while the data was gone through for the first time; None if it never was a second time.
        later_passes: Mean rate after that.
        segments: Second by second; None with fewer than three whole seconds.
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
    opening: Change | None = None
    changes: tuple[Change, ...] = ()
    first_pass: float | None = None
    later_passes: float | None = None
    segments: Segments | None = None
