"""Two targets at the same workload, operation and parameters."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

from assay.analyse.estimate import log_mean, student_t
from assay.analyse.usable import usable
from assay.model.result import Comparison, Row
from assay.model.verdict import SOUND

LEAST_REPEATS = 3
"""Fewer on a side, and no difference is called separable (DESIGN, section 4)."""


def compare(rows: Iterable[Row]) -> tuple[Comparison, ...]:
    """Compare every pair of targets wherever both have a result; the target named first is the base."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        if row.rate is not None and row.rate.median > 0:
            groups.setdefault(_key(row), []).append(row)
    pairs = (pair for group in groups.values() for pair in combinations(group, 2))
    return tuple(compare_rows(base, other) for base, other in pairs if base.case.target != other.case.target)


def _key(row: Row) -> object:
    return row.case.workload, row.operation, tuple(row.case.axes.items())


def compare_rows(base: Row, other: Row) -> Comparison:
    """The rate of `other` as a multiple of that of `base`.

    Args:
        base: Has a rate above zero.
        other: Likewise.
    """
    here = [sample.rate for sample in usable(base.samples)]
    there = [sample.rate for sample in usable(other.samples)]
    assert base.rate is not None and other.rate is not None
    ratio = other.rate.median / base.rate.median
    low, high = ratio_interval(here, there, ratio)
    enough = min(len(here), len(there)) >= LEAST_REPEATS
    excludes_one = low is not None and high is not None and (low > 1 or high < 1)
    return Comparison(
        workload=base.case.workload,
        operation=base.operation,
        axes=base.case.axes,
        base=base.case.target,
        other=other.case.target,
        ratio=ratio,
        low=low,
        high=high,
        separable=enough and excludes_one,
        caveat=_caveat(base, other),
    )


def ratio_interval(base: Sequence[float], other: Sequence[float], ratio: float) -> tuple[float | None, float | None]:
    """The 95 % interval of the ratio other/base of two sets of independent repeats.

    Welch's t on the logarithms, with the degrees of freedom of Welch and Satterthwaite (Welch 1947), that is,
    the interval of the ratio of geometric means; widened to `ratio`, the ratio of medians, if that lies outside.

    Returns:
        None twice with fewer than two repeats on a side, or a value that is not positive.
    """
    if min(len(base), len(other)) < 2 or min(*base, *other) <= 0:
        return None, None
    centre_base, error_base = log_mean(base)
    centre_other, error_other = log_mean(other)
    squares = error_base**2 + error_other**2
    reach = 0.0
    if squares > 0:
        parts = error_base**4 / (len(base) - 1) + error_other**4 / (len(other) - 1)
        # Without this floor, rounding can take two nearly equal sets below one degree of freedom.
        freedom = max(1.0, squares**2 / parts) if parts > 0 else 1.0
        reach = student_t(freedom) * math.sqrt(squares)
    difference = centre_other - centre_base
    return min(math.exp(difference - reach), ratio), max(math.exp(difference + reach), ratio)


def _caveat(base: Row, other: Row) -> str:
    bad = [f"{row.case.target} is {row.verdict}" for row in (base, other) if row.verdict not in SOUND]
    return " and ".join(bad)
