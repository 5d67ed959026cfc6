"""How much runs of one study differ from each other although nothing was changed.

Repeats of a run share its day: where the files came to lie, what else the machine did, how full the device was. So they
resemble each other more than repeats of two runs, and two runs alone cannot tell what was changed from what days do.
Other runs of the study can.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from assay.analyse.changes import change_points
from assay.analyse.moderate import moderate

LEAST_RUNS = 3
"""Fewer runs do not show how much they differ."""
_LEAST_LEVEL = 2

Key = tuple[str, ...]
"""Which row: target, workload, operation, parameters."""


class Between(NamedTuple):
    """What the runs of a study show.

    Attributes:
        variances: Row -> variance of the logarithm of its median from run to run.
        freedom: Degrees of freedom of each.
        runs: How many there are.
    """

    variances: Mapping[Key, float]
    freedom: float
    runs: int

    @property
    def typical(self) -> float:
        """Two runs of a typical row are apart by less than this share in 95 of 100 cases."""
        ordered = sorted(self.variances.values())
        middle = ordered[len(ordered) // 2] if ordered else 0.0
        return math.expm1(1.96 * math.sqrt(2 * middle))


def between(series: Mapping[Key, Sequence[float]]) -> Between | None:
    """What the runs of a study show of themselves.

    Where a row went from one level to another (`assay.analyse.changes`), something was changed: only what is left on
    either side counts.

    Args:
        series: Row -> its median in each run that has it, in time order, any unit, above 0.

    Returns:
        None if no row was measured in `LEAST_RUNS` runs.
    """
    known = {key: [math.log(value) for value in values] for key, values in series.items() if len(values) >= LEAST_RUNS}
    found = {key: _within_levels(values) for key, values in known.items()}
    found = {key: pair for key, pair in found.items() if pair[1] > 0}
    if not found:
        return None
    together = moderate([variance for variance, _ in found.values()], [freedom for _, freedom in found.values()])
    freedom = min(freedom for _, freedom in found.values()) + together.prior
    most = math.fsum(freedom for _, freedom in found.values())
    variances = dict(zip(found, together.variances, strict=True))
    return Between(variances, min(freedom, most), max(len(values) for values in known.values()))


def _within_levels(values: Sequence[float]) -> tuple[float, float]:
    """Variance about the level, and its degrees of freedom."""
    points = change_points(values, least=_LEAST_LEVEL) if len(values) > LEAST_RUNS else ()
    ends = [0, *(point.at for point in points), len(values)]
    freedom = len(values) - len(ends) + 1
    if freedom < 1:
        return 0.0, 0.0
    squares = 0.0
    for start, end in pairwise(ends):
        level = math.fsum(values[start:end]) / (end - start)
        squares += math.fsum((value - level) ** 2 for value in values[start:end])
    return squares / freedom, float(freedom)
