"""Fits the universal scalability law to the growth of a total with the number of hosts, with intervals.

X(N) = rate N / (1 + contention (N - 1) + coherency N (N - 1))

Contention is the share of the work that is serialised; coherency is the cost of each pair of hosts, which makes the
total fall again beyond sqrt((1 - contention) / coherency) hosts.
Source: N. J. Gunther, Guerrilla Capacity Planning, Springer 2007, chapter 4.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.analyse.estimate import student_t
from assay.analyse.growth.totals import MAX_DEVIATION, SIGNIFICANCE, Range, Totals, can_fit, interval

if TYPE_CHECKING:
    from assay.analyse.growth.totals import Array

MIN_POINTS = 4
"""Minimum number of different host counts: the law has three parameters."""
FARTHEST_PEAK = 2.0
"""A peak is reported up to this many times the most hosts that were measured."""
STEPS = 8
FARTHEST = 100.0
RIDGE = 1e-13
_FREE = ((0,), (0, 1), (0, 2), (0, 1, 2))
"""Sets of parameters that are not fixed at 0."""


class Law(NamedTuple):
    """The best fit.

    Attributes:
        rate: Rate of one host alone, in the unit of the rates.
        contention: At least 0.
        coherency: At least 0.
        peak: Number of hosts with the greatest total; None where the data show no peak. A peak at or below the last but
            one host count is reported only if the total falls.
        half: Number of hosts at which each has half the rate of one alone; None if there is none.
        max_hosts: The most hosts that were measured.
        deviation: The greatest distance of a point (geometric mean of the repeats) from the curve, as a share of the
            curve.
        falls: The total with the most hosts is below the greatest total by more than the repeats' chance variation.
        fits: The curve describes the points: they are within 2 %, or within the repeats' chance variation.
        chance: Probability that the points are so far from the curve if only repeats vary.
    """

    rate: Range
    contention: Range
    coherency: Range
    peak: Range | None
    half: Range | None
    max_hosts: int
    deviation: float
    falls: bool
    fits: bool
    chance: float


def fit_law(rates: Mapping[int, Sequence[float]], seed: int = 1) -> Law | None:
    """Fit the law to the logarithms of rates by least squares, with no parameter below 0.

    Intervals are percentiles of the bootstrap over repeats in `Totals.bootstrap_means`.

    Args:
        rates: Number of hosts -> rate of each repeat.
        seed: Seed of the bootstrap; the same seed gives the same intervals.

    Returns:
        None with fewer than 4 host counts, too few repeats, or a rate of 0.
    """
    if not can_fit(rates, MIN_POINTS):
        return None
    import numpy as np

    measured = Totals(rates)
    hosts, counts = measured.counts, measured.weights
    # The time of one piece of work, over all hosts together, is linear in the parameters.
    means = np.log(hosts) - measured.means
    design = np.column_stack([np.ones_like(hosts), hosts - 1, hosts * (hosts - 1)])
    best = _solved(design, means[None, :], counts)[0]
    distances = means - np.log(design @ best)
    # Unbounded, since a parameter fixed at 0 would shift the others; intervals still end at 0.
    free = _parameters(_solved(design, np.log(hosts) - measured.bootstrap_means(seed), counts, bounded=False))
    law = _parameters(best[None, :])[0]
    rate, contention, coherency, peak, half = (
        interval(float(value), column) for value, column in zip(law, free.T, strict=True)
    )
    off, chance = float(np.max(np.abs(np.expm1(-distances)))), measured.chance(distances, 3)
    fitting = off <= MAX_DEVIATION or chance >= SIGNIFICANCE
    top = int(measured.means.argmax())
    sure = student_t(measured.freedom) * math.sqrt(measured.noise * (1 / counts[top] + 1 / counts[-1]))
    falls = bool(measured.means[top] - measured.means[-1] > sure)
    shown = coherency.low > 0 and peak.value <= FARTHEST_PEAK * hosts[-1] and math.isfinite(peak.high)
    is_reached = falls or peak.value > hosts[-2]
    reported_peak = peak if shown and is_reached and fitting else None
    halved = half if math.isfinite(half.value) else None
    return Law(rate, contention, coherency, reported_peak, halved, int(hosts[-1]), off, falls, fitting, chance)


def _solved(design: "Array", logs: "Array", counts: "Array", bounded: bool = True) -> "Array":
    """Return the parameters of the linear form with the least squares of logarithms (Gauss-Newton steps).

    Args:
        design: Host counts x 3.
        logs: Draws x host counts: logarithms of hosts / rate.
        counts: Weight of each host count.
        bounded: No parameter is below 0.

    Returns:
        Draws x 3.
    """
    import numpy as np

    observed = np.exp(logs)
    fitted = observed
    found = np.zeros((len(logs), 3))
    for _ in range(STEPS):
        rows = design[None, :, :] / fitted[:, :, None]
        wanted = 1 + logs - np.log(fitted)
        found = _least_squares(rows, wanted, counts, bounded)
        # An extreme draw must not leave the range in which logarithms exist.
        fitted = np.clip(found @ design.T, observed / FARTHEST, observed * FARTHEST)
    return found


def _least_squares(rows: "Array", wanted: "Array", counts: "Array", bounded: bool) -> "Array":
    """Return the least squares of three parameters; if bounded, the best over all sets of zeros with none below 0."""
    import numpy as np

    best, least = np.zeros((len(rows), 3)), np.full(len(rows), np.inf)
    for free in _FREE if bounded else _FREE[-1:]:
        part = rows[:, :, free]
        weighed = part * counts[None, :, None]
        normal = np.einsum("bki,bkj->bij", weighed, part)
        right = np.einsum("bki,bk->bi", weighed, wanted)
        scale = np.sqrt(np.einsum("bii->bi", normal))
        # The ridge changes no result, and makes the system solvable where rates differ beyond floating-point precision.
        even = normal / scale[:, :, None] / scale[:, None, :] + RIDGE * np.eye(len(free))
        values = np.linalg.solve(even, (right / scale)[:, :, None])[:, :, 0] / scale
        rest = ((wanted - np.einsum("bki,bi->bk", part, values)) ** 2 * counts).sum(axis=1)
        better = rest < least
        if bounded:
            better &= (values[:, 0] > 0) & (values >= 0).all(axis=1)
        least[better] = rest[better]
        whole = np.zeros((len(rows), 3))
        whole[:, free] = values
        best[better] = whole[better]
    return best


def _parameters(linear: "Array") -> "Array":
    """Return rate, contention, coherency, peak, and number of hosts with half the rate each, for each draw."""
    import numpy as np

    alone, contention, coherency = linear[:, 0], linear[:, 1] / linear[:, 0], linear[:, 2] / linear[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = np.sqrt(np.maximum(0.0, 1 - contention) / coherency)
        # The positive root of 1 + contention (N - 1) + coherency N (N - 1) = 2.
        bare = contention - coherency
        half = 2 * (1 + contention) / (bare + np.sqrt(bare**2 + 4 * coherency * (1 + contention)))
    half = np.where(half > 0, half, np.inf)
    return np.column_stack([1 / alone, contention, coherency, np.nan_to_num(peak, nan=1.0, posinf=np.inf), half])
