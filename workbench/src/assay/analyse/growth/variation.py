"""Measures how much results vary for each transfer size: between repeats, and with the number of hosts."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.estimate import mean_deviation
from assay.analyse.growth.totals import Range
from assay.analyse.scaling import HOSTS, describes_storage
from assay.analyse.statistics.special import chi_square_quantile
from assay.analyse.usable import usable
from assay.model.result.result import ResultRow

TRANSFERS = ("record_size", "object_size")
"""Axes that set the size of one operation."""
MIN_SIZES = 3
SMALL = 1 << 20
"""Bytes; smaller transfers are called small."""


class SizeVariation(NamedTuple):
    """Variation at one transfer size.

    Attributes:
        size: Bytes of an operation.
        repeats: Coefficient of variation between repeats, with its 95 % interval; None with too few repeats.
        hosts: Coefficient of variation of the medians over the numbers of hosts or tasks, averaged over the other axes;
            None with fewer than three numbers.
    """

    size: int
    repeats: Range | None
    hosts: float | None


class Variation(NamedTuple):
    """Variation of one operation of a workload on a target.

    Attributes:
        sizes: Ascending.
        small: As `SizeVariation.repeats`, over all sizes below 1 MiB together.
        large: As `SizeVariation.repeats`, over all sizes from 1 MiB on.
    """

    target: str
    workload: str
    operation: str
    sizes: tuple[SizeVariation, ...]
    small: Range | None
    large: Range | None


def variations(rows: Sequence[ResultRow]) -> list[Variation]:
    """Return the variation of every operation measured with at least three transfer sizes.

    Results that say nothing about the storage (cached, impossible, incomplete) are left out.
    """
    groups: dict[tuple[str, str, str], dict[int, list[ResultRow]]] = {}
    for row in rows:
        size = next((row.case.axes[name] for name in TRANSFERS if name in row.case.axes), None)
        if describes_storage(row) and isinstance(size, int):
            key = (row.case.target, row.case.workload, row.operation)
            groups.setdefault(key, {}).setdefault(size, []).append(row)
    return [_variation(*key, sizes) for key, sizes in groups.items() if len(sizes) >= MIN_SIZES]


def _variation(target: str, workload: str, operation: str, sizes: dict[int, list[ResultRow]]) -> Variation:
    varied = tuple(
        SizeVariation(size, pooled_variation(_rates(sizes[size])), _over_hosts(sizes[size])) for size in sorted(sizes)
    )
    parts = [
        [row for size, rows in sizes.items() if (size < SMALL) is small for row in rows] for small in (True, False)
    ]
    small, large = (pooled_variation(_rates(rows)) for rows in parts)
    return Variation(target, workload, operation, varied, small, large)


def _rates(rows: Sequence[ResultRow]) -> list[list[float]]:
    return [[sample.rate for sample in usable(row.samples)] for row in rows]


def pooled_variation(groups: Sequence[Sequence[float]]) -> Range | None:
    """Return the coefficient of variation within groups, pooled over all groups, with its 95 % interval.

    The variance of logarithms is pooled over the groups; the interval is that of the chi-square distribution, exact for
    rates with lognormal errors. The coefficient of variation of such rates is sqrt(exp(variance) - 1). Source:
    J. Aitchison and J. A. C. Brown, The Lognormal Distribution, Cambridge 1957, chapter 2.

    Args:
        groups: Rates of repeats; the rates in one group share one true rate.

    Returns:
        None without a group of two, or with a rate of 0.
    """
    several = [group for group in groups if len(group) > 1]
    freedom = sum(len(group) - 1 for group in several)
    if not several or any(rate <= 0 for group in several for rate in group):
        return None
    squares = sum(mean_deviation([math.log(rate) for rate in group])[1] ** 2 * (len(group) - 1) for group in several)
    variances = (squares / freedom, *(squares / chi_square_quantile(freedom, share) for share in (0.975, 0.025)))
    return Range(*(math.sqrt(math.expm1(min(variance, 50.0))) for variance in variances))


def _over_hosts(rows: Sequence[ResultRow]) -> float | None:
    """Return the mean variation over the numbers of hosts and tasks, with all other axes fixed."""
    lines: dict[tuple[object, ...], dict[tuple[object, ...], float]] = {}
    for row in rows:
        others = tuple(item for item in row.case.axes.items() if item[0] not in (*HOSTS, "streams"))
        counts = tuple(row.case.axes.get(name) for name in HOSTS)
        if row.rate is not None:
            lines.setdefault(others, {})[counts] = row.rate.median
    found = [mean_deviation(list(line.values())) for line in lines.values() if len(line) >= MIN_SIZES]
    shares = [deviation / mean for mean, deviation in found if mean > 0]
    return math.fsum(shares) / len(shares) if shares else None
