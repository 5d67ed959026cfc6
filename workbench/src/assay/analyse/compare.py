"""Two targets, or two runs, at the same workload, operation and parameters.

A difference is called only if three things agree.

* Welch's t on the logarithms of the rates has a p-value below 0.05 after Holm's adjustment over all comparisons made
  together. Without it one of 20 comparisons of equal things would be called different: an analysis of a study of 100
  rows would be wrong almost always. The t test, not that of ranks, is the one adjusted, because the least p-value that
  ranks can have is 2 / C(2n, n): with 5 repeats a side 0.008, which no difference however great brings below 0.05 among
  seven rows.
* The Mann-Whitney test of the row itself has a p-value below 0.05. It looks at the order of the repeats only, so that
  neither an outlier nor a distribution far from normal can make a difference by itself, as it can with the t test.
  (Both together, and against significance from few samples: Georges, Buytaert and Eeckhout 2007, "Statistically
  rigorous Java performance evaluation", OOPSLA; the rank test alone is what Go's benchstat uses.)
* Both sides have at least 4 repeats. With 3 the Mann-Whitney test cannot go below 0.1.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

from assay.analyse.significance import holm, mann_whitney, welch
from assay.analyse.usable import usable
from assay.model.result import Comparison, Row
from assay.model.verdict import SOUND

LEVEL = 0.05
"""Greatest chance of calling any difference where there is none."""


def compare(rows: Iterable[Row]) -> tuple[Comparison, ...]:
    """Compare every pair of targets wherever both have a result; the target named first is the base."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        if has_rate(row):
            groups.setdefault(_key(row), []).append(row)
    pairs = (pair for group in groups.values() for pair in combinations(group, 2))
    return compare_pairs([(base, other) for base, other in pairs if base.case.target != other.case.target])


def has_rate(row: Row) -> bool:
    """It has a rate above zero, so that it can be compared."""
    return row.rate is not None and row.rate.median > 0


def _key(row: Row) -> object:
    return row.case.workload, row.operation, tuple(row.case.axes.items())


def compare_pairs(pairs: Sequence[tuple[Row, Row]], names: tuple[str, str] | None = None) -> tuple[Comparison, ...]:
    """Compare rows, in order, and decide for all of them together which differences are significant.

    Args:
        pairs: Base and other row; both with a rate above zero.
        names: What caveats call the two sides; None for the names of their targets.
    """
    found = [_compare_rows(base, other, names) for base, other in pairs]
    tested = [number for number, comparison in enumerate(found) if comparison.p is not None]
    adjusted = holm([found[number].p or 0.0 for number in tested])
    for number, p in zip(tested, adjusted, strict=True):
        found[number] = _decided(found[number], p)
    return tuple(found)


def _decided(comparison: Comparison, adjusted: float) -> Comparison:
    enough = not comparison.too_few
    by_ranks = comparison.p_ranks is not None and comparison.p_ranks < LEVEL
    separable = enough and by_ranks and adjusted < LEVEL
    return comparison.model_copy(update={"p_adjusted": adjusted, "separable": separable})


def _compare_rows(base: Row, other: Row, names: tuple[str, str] | None) -> Comparison:
    """The rate of `other` as a multiple of that of `base`; whether it is significant is left open."""
    here = [sample.rate for sample in usable(base.samples)]
    there = [sample.rate for sample in usable(other.samples)]
    assert base.rate is not None and other.rate is not None
    ratio = other.rate.median / base.rate.median
    low, high = ratio_interval(here, there, ratio)
    test = welch(here, there)
    p_ranks, effect = mann_whitney(here, there)
    return Comparison(
        workload=base.case.workload,
        operation=base.operation,
        axes=base.case.axes,
        base=base.case.target,
        other=other.case.target,
        ratio=ratio,
        low=low,
        high=high,
        separable=False,
        caveat=caveat(base, other, names),
        n_base=len(here),
        n_other=len(there),
        p=None if test is None else test.p,
        p_ranks=p_ranks,
        effect=effect,
    )


def ratio_interval(base: Sequence[float], other: Sequence[float], ratio: float) -> tuple[float | None, float | None]:
    """The 95 % interval of the ratio other/base of two sets of independent repeats.

    Welch's t on the logarithms, that is, the interval of the ratio of geometric means; widened to `ratio`, the ratio of
    medians, if that lies outside. It is that of this comparison alone, not adjusted for the number of them.

    Returns:
        None twice with fewer than two repeats on a side, or a value that is not positive.
    """
    test = welch(base, other)
    if test is None:
        return None, None
    low, high = math.exp(test.difference - test.reach), math.exp(test.difference + test.reach)
    return min(low, ratio), max(high, ratio)


def caveat(base: Row, other: Row, names: tuple[str, str] | None = None) -> str:
    """Which of two rows has a verdict that speaks against comparing them; empty if none."""
    called = names or (base.case.target, other.case.target)
    pairs = zip(called, (base, other), strict=True)
    return " and ".join(f"{name} is {' and '.join(bad)}" for name, row in pairs if (bad := _unsound(row)))


def _unsound(row: Row) -> list[str]:
    """Its verdicts that are not the storage's own, the worst first; a result can have several."""
    found = dict.fromkeys([row.verdict, *(finding.verdict for finding in row.findings)])
    return [str(verdict) for verdict in found if verdict not in SOUND]
