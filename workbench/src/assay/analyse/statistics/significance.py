"""Whether sets of repeats differ, and by how much."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from assay.analyse.statistics.special import student_quantile, student_tail

_MANY = 1e6
"""With more degrees of freedom Student's distribution is the normal one."""


def t_p(distance: float, error: float, freedom: float) -> float:
    """The two-sided p-value of Student's t.

    Args:
        distance: From what is supposed.
        error: Standard error of the distance.
        freedom: Degrees of freedom of the error, 1 or more; infinite if it is known.
    """
    # Equal values have logarithms that differ in rounding only.
    if abs(distance) < 1e-12:
        return 1.0
    return 0.0 if error == 0 else 2 * student_tail(min(freedom, _MANY), abs(distance) / error)


def t_quantile(share: float, freedom: float) -> float:
    """The value below which so much of Student's distribution lies; arguments as of `t_p`."""
    return student_quantile(min(freedom, _MANY), share)


def cliffs_delta(base: Sequence[float], other: Sequence[float]) -> float:
    """How far two sets are apart, whatever their distributions, from -1 to 1.

    The share of pairs in which `other` is greater less the share in which it is smaller (Cliff 1993, "Dominance
    statistics", Psychological Bulletin 114).

    Args:
        base: At least one value.
        other: Likewise.
    """
    ordered = sorted(base)
    below = sum(bisect_left(ordered, value) for value in other)
    above = sum(len(ordered) - bisect_right(ordered, value) for value in other)
    return (below - above) / (len(base) * len(other))
