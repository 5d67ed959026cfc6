"""Lists curves that a total may follow as hosts are added, each with its weight before anything is measured.

Two families, of which no measurement of a few host counts can say for sure which is right:

* saturating: X(N) = u / (1 + (u / c)^p)^(1/p) with u = N^power and c = bend^power. Each host adds as much as the first
  (power 1) or less, until something is saturated: gradually (p = 1), or sharply (p infinite), with an optional decline
  (N / bend)^-decline beyond it. Sharp curves with power 1 are the asymptotic bounds of E. D. Lazowska and others,
  Quantitative System Performance, Prentice-Hall 1984, chapter 5.
* the universal scalability law (`assay.analyse.growth.usl`).

Where a bend is, is not known before: each doubling of hosts is as probable as the next one, up to `MAX_BEND` times the
most hosts that were measured.
"""

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from assay.analyse.growth.totals import Array

MAX_BEND = 4.0
"""Bends are up to this many times the most hosts that were measured; more hosts are not predicted."""
_STEPS = 16
"""Bends for each doubling of hosts: neighbouring curves differ by less than measurements do."""
_POWERS = (1.0, 0.97, 0.94, 0.91, 0.88, 0.84, 0.8, 0.75, 0.7, 0.6, 0.5, 0.35)
_STRAIGHT = 0.5
"""Weight of power 1: hosts that do not disturb each other."""
_CORNERS = ((1.0, 0.0, 0.15), (2.0, 0.0, 0.15), (4.0, 0.0, 0.2), (math.inf, 0.0, 0.4), (math.inf, 0.1, 0.07))
"""Exponent p, decline, weight."""
_STEEP = (math.inf, 0.3, 0.03)
_LAW = 0.25
"""Weight of the universal scalability law."""
_CONTENTIONS = 40
_PEAK_STEPS = 8
"""Peaks of the law for each doubling of hosts."""


class Shapes(NamedTuple):
    """Curves at some host counts.

    Attributes:
        logs: Curves x host counts: natural logarithms of totals, but for a constant of each curve.
        priors: Weight of each curve; their sum is 1.
        plateaus: Logarithm of the total that each curve ends at, but for the same constant; infinite if it has no end.
        span: Logarithm of the farthest bend / the nearest one.
    """

    logs: "Array"
    priors: "Array"
    plateaus: "Array"
    span: float


ShapesOf = Callable[[tuple[float, ...], float, float], Shapes]
"""Curves at some numbers, of which the second argument is the least one that was measured, the third the greatest."""


@functools.lru_cache(maxsize=64)
def shapes(counts: tuple[float, ...], fewest: float, largest: float) -> Shapes:
    """Return all curves.

    Args:
        counts: Host counts at which the curves are needed.
        fewest: The fewest hosts that were measured.
        largest: The most hosts that were measured.
    """
    import numpy as np

    at = np.array(counts)
    parts = [_saturating(at, fewest, largest), _laws(at, fewest, largest)]
    shares = (1 - _LAW, _LAW)
    logs = np.vstack([part.logs for part in parts])
    priors = np.concatenate([share * part.priors for part, share in zip(parts, shares, strict=True)])
    return Shapes(logs, priors, np.concatenate([part.plateaus for part in parts]), parts[0].span)


def _saturating(at: "Array", fewest: float, largest: float) -> Shapes:
    import numpy as np

    doublings = math.log2(MAX_BEND * largest / fewest) + 1
    bends = np.log(fewest / 2) + math.log(2) * np.arange(0, doublings, 1 / _STEPS)
    hosts = np.log(at)
    beyond = np.maximum(0.0, hosts[None, :] - bends[:, None])
    logs, priors, plateaus = [], [], []
    for power in _POWERS:
        weight = _STRAIGHT if power == 1 else (1 - _STRAIGHT) / (len(_POWERS) - 1)
        for exponent, decline, part in (*_CORNERS, _STEEP):
            # ln(1 + e^x) / p tends to max(0, x / p) as p grows.
            over = power * (hosts[None, :] - bends[:, None])
            bent = np.maximum(0.0, over) if math.isinf(exponent) else np.logaddexp(0, exponent * over) / exponent
            logs.append(power * hosts[None, :] - bent - decline * beyond)
            priors.append(np.full(len(bends), weight * part / len(bends)))
            plateaus.append(np.full(len(bends), np.inf) if decline else power * bends)
    span = float(bends[-1] - bends[0])
    return Shapes(np.vstack(logs), np.concatenate(priors), np.concatenate(plateaus), span)


def _laws(at: "Array", fewest: float, largest: float) -> Shapes:
    import numpy as np

    contentions = np.concatenate([[0.0], np.geomspace(0.001, 1.0, _CONTENTIONS)])
    doublings = math.log2(MAX_BEND * largest / fewest)
    peaks = fewest * 2 ** np.arange(0, doublings, 1 / _PEAK_STEPS)
    coherencies = np.concatenate([[0.0], 1 / peaks**2])
    contention, coherency = (part.ravel()[:, None] for part in np.meshgrid(contentions, coherencies))
    logs = np.log(at) - np.log(1 + contention * (at - 1) + coherency * at * (at - 1))
    return Shapes(logs, np.full(len(logs), 1 / len(logs)), np.full(len(logs), np.inf), 0.0)
