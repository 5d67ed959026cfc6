"""Whether two sets of independent repeats differ, and by how much."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from statistics import pvariance
from typing import NamedTuple

from assay.analyse.estimate import log_mean, student_t

EXACT = 100
"""With more values on both sides together, the distribution of ranks is taken as normal."""


class Welch(NamedTuple):
    """Student's t for two sets of unequal variance, on logarithms.

    Attributes:
        difference: Mean logarithm of the second set less that of the first.
        error: Its standard error.
        freedom: Degrees of freedom after Welch and Satterthwaite.
    """

    difference: float
    error: float
    freedom: float

    @property
    def reach(self) -> float:
        """From the difference to either end of its 95 % interval."""
        return student_t(self.freedom) * self.error

    @property
    def p(self) -> float:
        """The two-sided p-value of there being no difference."""
        from scipy.special import stdtr

        # Equal values have logarithms that differ in rounding only.
        if abs(self.difference) < 1e-12:
            return 1.0
        return 0.0 if self.error == 0 else float(2 * stdtr(self.freedom, -abs(self.difference) / self.error))


def welch(base: Sequence[float], other: Sequence[float]) -> Welch | None:
    """Welch's t (Welch 1947, "The generalization of Student's problem", Biometrika 34) on the logarithms of rates.

    The errors of rates are factors, so that their logarithms are closer to normal, and a difference of logarithms is
    a ratio of geometric means.

    Returns:
        None with fewer than two values on a side, or one that is not positive.
    """
    if min(len(base), len(other)) < 2 or min(*base, *other) <= 0:
        return None
    (centre_base, error_base), (centre_other, error_other) = log_mean(base), log_mean(other)
    squares = error_base**2 + error_other**2
    parts = error_base**4 / (len(base) - 1) + error_other**4 / (len(other) - 1)
    # Without this floor, rounding can take two nearly equal sets below one degree of freedom.
    freedom = max(1.0, squares**2 / parts) if parts > 0 else 1.0
    return Welch(centre_other - centre_base, math.sqrt(squares), freedom)


def mann_whitney(base: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """The two-sided p-value of Mann and Whitney's test, and Cliff's delta.

    The p-value is exact, also where values are equal (Mann and Whitney 1947, Annals of Mathematical Statistics 18;
    the distribution by the shift algorithm of Streitberg and Röhmel 1986); with more than `EXACT` values together it is
    from the normal distribution. Delta is the share of pairs in which `other` is greater less the share in which it
    is smaller, from -1 to 1 (Cliff 1993, "Dominance statistics", Psychological Bulletin 114): it says how far the two
    sets are apart, whatever their distributions.

    Args:
        base: At least one value.
        other: Likewise.
    """
    ranks = _doubled_ranks([*base, *other])
    found = sum(ranks[len(base) :])
    # The sum of ranks is U + m (m + 1) / 2, all of it doubled.
    delta = (found - len(other) * (len(other) + 1)) / (len(base) * len(other)) - 1
    if len(ranks) > EXACT:
        return _normal_p(ranks, len(other), found), delta
    below, above = _rank_tails(tuple(sorted(ranks)), len(other))
    return min(1.0, 2 * min(below[found], above[found])), delta


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each value; equal ones share the middle of their ranks."""
    ordered = sorted(values)
    return [bisect_left(ordered, value) + bisect_right(ordered, value) + 1 for value in values]


@lru_cache(maxsize=256)
def _rank_tails(ranks: tuple[int, ...], chosen: int) -> tuple[list[float], list[float]]:
    """The chances of each sum or less, and of each sum or more, of so many of these numbers drawn at random."""
    import numpy as np

    # Row k, column s: choices of k numbers with the sum s.
    table = np.zeros((chosen + 1, sum(ranks) + 1))
    table[0, 0] = 1.0
    for rank in ranks:
        table[1:, rank:] += table[:-1, : table.shape[1] - rank].copy()
    chances = table[chosen] / math.comb(len(ranks), chosen)
    return np.cumsum(chances).tolist(), np.cumsum(chances[::-1])[::-1].tolist()


def _normal_p(ranks: Sequence[int], chosen: int, found: int) -> float:
    """Two-sided, with the variance of the ranks as they are and a correction for continuity."""
    count = len(ranks)
    variance = chosen * (count - chosen) / (count - 1) * pvariance(ranks)
    distance = abs(found - chosen * (count + 1)) - 1
    return 1.0 if variance == 0 or distance <= 0 else math.erfc(distance / math.sqrt(2 * variance))


def holm(ps: Sequence[float]) -> list[float]:
    """P-values so adjusted that below 0.05 the chance of any false one among all of them is at most 5 %.

    Holm 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6; right
    whatever the tests have to do with each other.
    """
    adjusted = [0.0] * len(ps)
    greatest = 0.0
    for place, number in enumerate(sorted(range(len(ps)), key=lambda number: ps[number])):
        greatest = max(greatest, min(1.0, (len(ps) - place) * ps[number]))
        adjusted[number] = greatest
    return adjusted
