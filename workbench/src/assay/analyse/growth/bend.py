"""Finds where a total bends: from how many hosts on a further one adds less than it should, with an interval.

Two curves are fitted. The sharp one is X(N) = rate min(N, bend): each host adds as much as the first, until something
is saturated. Source: the asymptotic bounds of E. D. Lazowska and others, Quantitative System Performance,
Prentice-Hall 1984, chapter 5, which cross at the bend. The smooth one is the universal scalability law
(`assay.analyse.growth.usl`), which has no corner; its bend is reported where each host has half the rate of one alone.
The sharp curve counts if it is within 2 % of all points, otherwise the one that fits the repeats better.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.analyse.growth.totals import MAX_DEVIATION, SIGNIFICANCE, Range, Totals, can_fit, interval
from assay.analyse.growth.usl import fit_law
from assay.analyse.scaling import PLATEAU_SHARE

if TYPE_CHECKING:
    from assay.analyse.growth.totals import Array

MIN_POINTS = 3
"""Minimum number of different host counts: the sharp curve has two parameters."""


class Bend(NamedTuple):
    """The bend of a total.

    Attributes:
        at: Number of hosts; None if the measured range does not clearly show a bend. With the last two host counts,
            the total is at least 95 % of that beyond a sharp bend.
        is_sharp: Further hosts add nothing beyond it; otherwise each host there has half the rate of one alone.
        fits: One of the curves is within the repeats' chance variation, or within 2 %, of the points.
    """

    at: Range | None
    is_sharp: bool
    fits: bool


def find_bend(rates: Mapping[int, Sequence[float]], seed: int = 1) -> Bend | None:
    """Fit both curves to the logarithms of rates by least squares.

    Intervals are percentiles of the bootstrap in `Totals.bootstrap_means`. A simulation in the tests checks that
    they cover the true values.

    Args:
        rates: Number of hosts -> rate of each repeat, bytes or operations per second.
        seed: Seed of the bootstrap; the same seed gives the same intervals.

    Returns:
        None with fewer than 3 host counts, too few repeats, or a rate of 0.
    """
    if not can_fit(rates, MIN_POINTS):
        return None
    import numpy as np

    totals = Totals(rates)
    most = float(totals.counts[-1])
    alone, corner = _fitted(totals, totals.means[None, :])
    distances = totals.means - alone[0] - np.minimum(np.log(totals.counts), corner[0])
    chance = totals.chance(distances, 2)
    near = float(np.max(np.abs(np.expm1(distances)))) <= MAX_DEVIATION
    sharp = near or chance >= SIGNIFICANCE
    law = fit_law(rates, seed)
    if law is not None and law.fits and not near and (not sharp or law.chance > chance):
        return Bend(law.half if law.half is not None and law.half.high <= most else None, False, True)
    if not sharp:
        return Bend(None, False, False)
    found = interval(float(np.exp(corner[0])), np.exp(_fitted(totals, totals.bootstrap_means(seed))[1]))
    # One host count beyond the bend does not show a plateau: the last but one must be on it, too.
    return Bend(found if PLATEAU_SHARE * found.high <= totals.counts[-2] else None, True, True)


def _fitted(totals: Totals, means: "Array") -> "tuple[Array, Array]":
    """Return the logarithms of the rate of one host and of the bend, infinite without a bend, by least squares.

    For each stretch between two host counts, the best bend in it is known in closed form, or lies at its end.

    Args:
        totals: Host counts and their weights.
        means: Array of draws x host counts.
    """
    import numpy as np

    counts, weights = np.log(totals.counts), totals.weights
    rates = means - counts
    alone = (rates * weights).sum(axis=1) / weights.sum()
    corner = np.full(len(means), np.inf)
    least = ((rates - alone[:, None]) ** 2 * weights).sum(axis=1)
    for before in range(1, len(counts)):
        rise = (rates[:, :before] * weights[:before]).sum(axis=1) / weights[:before].sum()
        level = (means[:, before:] * weights[before:]).sum(axis=1) / weights[before:].sum()
        at = np.clip(level - rise, counts[before - 1], counts[before])
        curve = np.minimum(counts, at[:, None])
        first = ((means - curve) * weights).sum(axis=1) / weights.sum()
        rest = ((means - curve - first[:, None]) ** 2 * weights).sum(axis=1)
        better = rest < least
        least[better], alone[better], corner[better] = rest[better], first[better], at[better]
    return alone, corner
