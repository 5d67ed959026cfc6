"""Tests whether sets of repeats differ, and by how much."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from assay.analyse.statistics.special import student_quantile, student_tail

_MANY = 1e6
"""With more degrees of freedom Student's distribution is practically normal."""


def t_p_value(distance: float, error: float, freedom: float) -> float:
    """Return the two-sided p-value of Student's t.

    Args:
        distance: Distance from the hypothetical value.
        error: Standard error of the distance.
        freedom: Degrees of freedom of the error, 1 or more; infinite if it is known.
    """
    # Logarithms of equal values may differ by rounding.
    if abs(distance) < 1e-12:
        return 1.0
    return 0.0 if error == 0 else 2 * student_tail(min(freedom, _MANY), abs(distance) / error)


def t_quantile(share: float, freedom: float) -> float:
    """Return the value below which this share of Student's distribution lies; `freedom` as in `t_p_value`."""
    return student_quantile(min(freedom, _MANY), share)


def cliffs_delta(base: Sequence[float], other: Sequence[float]) -> float:
    """Return how far two sets are apart, independent of their distributions, from -1 to 1.

    It is the share of pairs in which `other` is greater minus the share in which it is smaller (Cliff 1993, "Dominance
    statistics", Psychological Bulletin 114).

    Args:
        base: At least one value.
        other: At least one value.
    """
    ordered = sorted(base)
    below = sum(bisect_left(ordered, value) for value in other)
    above = sum(len(ordered) - bisect_right(ordered, value) for value in other)
    return (below - above) / (len(base) * len(other))
