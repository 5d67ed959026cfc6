"""How much runs of one study differ from each other although nothing was changed.

Repeats of a run share its day: where the files came to lie, what else the machine did, how full the device was. So they
resemble each other more than repeats of two runs, and two runs alone cannot tell what was changed from what days do.
Other runs of the study can.
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
"""Greatest chance of calling any difference where there is none."""
LEAST_RUNS = 3
"""Fewer runs do not show how much they differ."""
_LEAST_LEVEL = 4

Key = tuple[str, ...]
"""Which row: target, workload, operation, parameters."""


class Between(NamedTuple):
    """What the runs of a study show.

    Attributes:
        variances: Row -> variance of the logarithm of its median from run to run.
        freedom: Degrees of freedom of each.
        runs: How many there are.
        stretch: By how much errors are to be stretched: days are not drawn from a normal distribution, and now and
            then a row stands out by more than that allows, though nothing was changed.
    """

    variances: Mapping[Key, float]
    freedom: float
    runs: int
    stretch: float = 1.0

    @property
    def typical(self) -> float:
        """Two runs of a typical row are apart by less than this share in 95 of 100 cases."""
        ordered = sorted(self.variances.values())
        middle = ordered[len(ordered) // 2] if ordered else 0.0
        return math.expm1(1.96 * math.sqrt(2 * middle))


def between(series: Mapping[Key, Sequence[float]]) -> Between | None:
    """What the runs of a study show of themselves.

    Where a row went from one level to another (`assay.analyse.statistics.changes`), something was changed: only what is
    left on either side counts.

    Args:
        series: Row -> its median in each run that has it, in time order, any unit, above 0.

    Returns:
        None if no row was measured in `LEAST_RUNS` runs.
    """
    known = {key: [math.log(value) for value in values] for key, values in series.items() if len(values) >= LEAST_RUNS}
    levels = {key: _levels(values) for key, values in known.items()}
    found = {key: pair for key, parts in levels.items() if (pair := _within(parts))[1] > 0}
    if not found:
        return None
    together = moderate([variance for variance, _ in found.values()], [freedom for _, freedom in found.values()])
    freedom = min(freedom for _, freedom in found.values()) + together.prior
    most = math.fsum(freedom for _, freedom in found.values())
    variances = dict(zip(found, together.variances, strict=True))
    freedom = min(freedom, most)
    apart = [_apart(levels[key], variances[key], found[key][1] + together.prior) for key in found]
    return Between(
        variances, freedom, max(map(len, known.values())), _stretch([one for row in apart for one in row], freedom)
    )


def _levels(values: Sequence[float]) -> list[Sequence[float]]:
    """The values, divided where they go from one level to another."""
    points = change_points(values, least=_LEAST_LEVEL) if len(values) > LEAST_RUNS else ()
    return [values[start:end] for start, end in pairwise([0, *(point.at for point in points), len(values)])]


def _within(levels: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Variance about the level, and its degrees of freedom."""
    freedom = sum(len(values) - 1 for values in levels)
    squares = math.fsum((value - fmean(values)) ** 2 for values in levels for value in values)
    return (squares / freedom, float(freedom)) if freedom > 0 else (0.0, 0.0)


def _apart(levels: Sequence[Sequence[float]], variance: float, freedom: float) -> list[float]:
    """How far each run lies from the others of its level, by the variance that the others show (studentized)."""
    found = []
    for values in levels:
        count, level = len(values), fmean(values)
        for value in values if count > 1 else ():
            square = (value - level) ** 2 * count / (count - 1)
            left = variance if math.isinf(freedom) else (variance * freedom - square) / (freedom - 1)
            found.append(math.sqrt(square / left) if left > 0 else 0.0)
    return found


def _stretch(apart: Sequence[float], freedom: float) -> float:
    """The farthest of them, by how far the farthest of so many lies if they are normal (Bonferroni); 1 or more."""
    if not apart:
        return 1.0
    expected = t_quantile(1 - LEVEL / 2 / len(apart), max(1.0, freedom - 1))
    return max(1.0, max(apart) / expected)
