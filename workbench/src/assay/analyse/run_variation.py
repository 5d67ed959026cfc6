"""Measures how much runs of one study differ from each other although nothing was changed.

Repeats of one run share its circumstances: where the files were placed, what else the machine did, how full the device
was. They therefore resemble each other more than repeats of two runs do, and two runs alone cannot separate the effect
of a change from the variation between days. Further runs of the study can.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from assay.analyse.statistics.changes import change_points
from assay.analyse.statistics.moderate import moderate
from assay.analyse.statistics.significance import t_quantile

LEVEL = 0.05
"""Greatest probability of calling any difference significant where there is none."""
MIN_RUNS = 3
"""Minimum number of runs that shows how much runs differ."""
_MIN_LEVEL = 4

Key = tuple[str, ...]
"""Identifies a row in any run: target, workload, operation, parameters."""


class RunVariation(NamedTuple):
    """The variation between the runs of a study.

    Attributes:
        variances: Row -> variance of the logarithm of its median from run to run.
        freedom: Degrees of freedom of each variance.
        run_count: Number of runs.
        error_factor: Factor by which standard errors are widened, 1 or more: runs do not vary by a normal
            distribution, and
            now and then a row deviates by more than that allows although nothing was changed.
    """

    variances: Mapping[Key, float]
    freedom: float
    run_count: int
    error_factor: float = 1.0

    @property
    def typical(self) -> float:
        """Two runs of a typical row differ by less than this share in 95 of 100 cases."""
        ordered = sorted(self.variances.values())
        middle = ordered[len(ordered) // 2] if ordered else 0.0
        return math.expm1(1.96 * math.sqrt(2 * middle))


def run_variation(series: Mapping[Key, Sequence[float]]) -> RunVariation | None:
    """Estimate the variation between runs of a study.

    Where a row moved from one level to another (`assay.analyse.statistics.changes`), something was changed: only the
    variation around each level counts.

    Args:
        series: Row -> its median in each run that has the row, in time order, in any unit, above 0.

    Returns:
        None if no row was measured in `MIN_RUNS` runs.
    """
    known = {key: [math.log(value) for value in values] for key, values in series.items() if len(values) >= MIN_RUNS}
    levels = {key: _levels(values) for key, values in known.items()}
    found = {key: pair for key, parts in levels.items() if (pair := _variance_within(parts))[1] > 0}
    if not found:
        return None
    together = moderate([variance for variance, _ in found.values()], [freedom for _, freedom in found.values()])
    freedom = min(freedom for _, freedom in found.values()) + together.prior
    most = math.fsum(freedom for _, freedom in found.values())
    variances = dict(zip(found, together.variances, strict=True))
    freedom = min(freedom, most)
    distances = [_studentized(levels[key], variances[key], found[key][1] + together.prior) for key in found]
    return RunVariation(
        variances, freedom, max(map(len, known.values())), _stretch([one for row in distances for one in row], freedom)
    )


def _levels(values: Sequence[float]) -> list[Sequence[float]]:
    """Divide the values where they move from one level to another."""
    points = change_points(values, least=_MIN_LEVEL) if len(values) > MIN_RUNS else ()
    return [values[start:end] for start, end in pairwise([0, *(point.at for point in points), len(values)])]


def _variance_within(levels: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the variance about the levels, and its degrees of freedom."""
    freedom = sum(len(values) - 1 for values in levels)
    squares = math.fsum((value - fmean(values)) ** 2 for values in levels for value in values)
    return (squares / freedom, float(freedom)) if freedom > 0 else (0.0, 0.0)


def _studentized(levels: Sequence[Sequence[float]], variance: float, freedom: float) -> list[float]:
    """Return the studentized distance of each run from its level: by the variance that the other runs show."""
    found = []
    for values in levels:
        count, level = len(values), fmean(values)
        for value in values if count > 1 else ():
            square = (value - level) ** 2 * count / (count - 1)
            left = variance if math.isinf(freedom) else (variance * freedom - square) / (freedom - 1)
            found.append(math.sqrt(square / left) if left > 0 else 0.0)
    return found


def _stretch(distances: Sequence[float], freedom: float) -> float:
    """Return the greatest distance over that expected of so many normal values (Bonferroni); 1 or more."""
    if not distances:
        return 1.0
    expected = t_quantile(1 - LEVEL / 2 / len(distances), max(1.0, freedom - 1))
    return max(1.0, max(distances) / expected)
