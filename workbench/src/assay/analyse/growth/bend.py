"""Where a total bends: with how many hosts more of them begin to add less than they should, with an interval.

Two curves are tried. The sharp one is X(N) = rate min(N, bend): each host adds as much as the first, until something is
full. Source: the asymptotic bounds of E. D. Lazowska and others, Quantitative System Performance, Prentice-Hall 1984,
chapter 5, which cross at the bend. The smooth one is the universal scalability law (`assay.analyse.growth.usl`), which
has no corner; what is told of it is where hosts have half of what one has alone. The sharp one counts if
it is within 2 % of all points, else the one that the repeats contradict less.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.analyse.growth.draws import MOST_OFF, SURE, Range, Totals, interval, usable
from assay.analyse.growth.usl import fit_law
from assay.analyse.scaling import PLATEAU

if TYPE_CHECKING:
    from assay.analyse.growth.draws import Array

LEAST_POINTS = 3
"""Numbers of hosts: the sharp curve has two parameters."""


class Bend(NamedTuple):
    """What the curves say.

    Attributes:
        at: Number of hosts; None where nothing up to the most that were measured shows it for sure. With the last
            two numbers the total is at least 95 % of what it is beyond a sharp one.
        sharp: From there on more add nothing; else half of what one host has alone is left to each there.
        described: One of the curves is no further from the points than repeats vary by chance, or than 2 %.
    """

    at: Range | None
    sharp: bool
    described: bool


def find_bend(rates: Mapping[int, Sequence[float]], seed: int = 1) -> Bend | None:
    """Fit both curves to the logarithms of rates by least squares.

    Intervals are percentiles of the bootstrap of `Totals.drawn`. A simulation in the tests holds them against what was
    put in.

    Args:
        rates: Number of hosts -> rate of each repeat, bytes or operations per second.
        seed: Of the bootstrap; the same gives the same intervals.

    Returns:
        None with fewer than 3 numbers of hosts, too few repeats, or a rate of 0.
    """
    if not usable(rates, LEAST_POINTS):
        return None
    import numpy as np

    totals = Totals(rates)
    most = float(totals.counts[-1])
    alone, corner = _fitted(totals, totals.means[None, :])
    distances = totals.means - alone[0] - np.minimum(np.log(totals.counts), corner[0])
    chance = totals.chance(distances, 2)
    near = float(np.max(np.abs(np.expm1(distances)))) <= MOST_OFF
    sharp = near or chance >= SURE
    law = fit_law(rates, seed)
    if law is not None and law.fits and not near and (not sharp or law.chance > chance):
        return Bend(law.half if law.half is not None and law.half.high <= most else None, False, True)
    if not sharp:
        return Bend(None, False, False)
    found = interval(float(np.exp(corner[0])), np.exp(_fitted(totals, totals.drawn(seed))[1]))
    # One number beyond the bend does not show that the total is level there: the last but one must be on it, too.
    return Bend(found if PLATEAU * found.high <= totals.counts[-2] else None, True, True)


def _fitted(totals: Totals, means: "Array") -> "tuple[Array, Array]":
    """Logarithms of the rate of one host and of the bend (infinite where there is none) with the least squares.

    For each stretch between two numbers of hosts the best bend in it is known in closed form, or lies at its end.

    Args:
        totals: Numbers of hosts and their weights.
        means: Draws x numbers of hosts.
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
