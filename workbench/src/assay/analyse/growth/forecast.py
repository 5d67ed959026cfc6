"""Draws totals at host counts that were not measured, from all curves that fit the measured ones.

The curves of `assay.analyse.growth.shapes` are weighed by how well they fit the measured totals: Bayes' theorem on a
grid. The logarithm of a measured total is that of the curve, plus the noise of the repeats, plus a deviation of storage
from any smooth curve. Totals are drawn from all curves by weight, so that they differ as much as plausible curves do.
Source: A. Gelman and others, Bayesian Data Analysis, 3rd edition, CRC 2013, chapters 3.3, 3.7 and 7.

A known limit, such as a server's link, cuts all curves off. Beforehand it is also more probable that a total ends there
than anywhere else.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.analyse.growth.known_limits import KnownLimit
from assay.analyse.growth.shapes import Shapes, ShapesOf, shapes

if TYPE_CHECKING:
    from assay.analyse.growth.totals import Array

DRAWS = 4000
MIN_REACH = 0.85
"""Totals that a limit cuts off reach at least this share of it: protocols cost some, and many hosts crowd a link.

Measured: `docs/prediction.md`, the run with 16 clients.
"""
_BINDING = 0.3
"""Probability, before anything is measured, that the total ends at the known limit and not at an unknown one."""
_DEVIATIONS = (0.005, 0.01, 0.02, 0.04)
"""How far totals may be from any smooth curve, as a share."""
_NOISE_RATIOS = (0.6, 0.8, 1.0, 1.3, 1.8, 2.6)
"""Possible true noise of a repeat / noise that the repeats show."""
_UNKNOWN_NOISES = (0.01, 0.02, 0.04, 0.07)
"""Possible noise of a repeat where nothing was repeated, as a share."""
_MIN_NOISE = 0.002


class Draws(NamedTuple):
    """Totals drawn at some host counts, in the unit of the rates; those of one draw are of one curve.

    Attributes:
        totals: Draws x host counts, as a further measurement would find them; it has as many repeats as the measured
            ones have in the mean.
        uncut: Draws x host counts: without noise and without known limits.
        misfit: The greatest distance of a measured total from the most probable curve, as a share.
    """

    totals: "Array"
    uncut: "Array"
    misfit: float


class _Error(NamedTuple):
    """One possible size of errors.

    Attributes:
        noise: Variance of the logarithm of a repeat.
        deviation: Variance of the logarithm of a total around the curve.
        level: Logarithm of the probability of the repeats with this noise.
    """

    noise: float
    deviation: float
    level: float


def draw_totals(
    rates: Mapping[int, Sequence[float]],
    counts: Sequence[int],
    limits: Sequence[KnownLimit] = (),
    seed: int = 1,
    shapes_of: ShapesOf = shapes,
) -> Draws:
    """Draw totals.

    Args:
        rates: Number of hosts -> rate of each repeat, all above 0; at least three numbers.
        counts: Host counts.
        limits: Known limits of the total, in the unit of the rates.
        seed: The same seed gives the same draws.
        shapes_of: The curves; those of sizes have sizes in place of host counts.
    """
    import numpy as np

    measured = sorted(rates)
    logs = [np.log(np.array(rates[count], float)) for count in measured]
    means = np.array([several.mean() for several in logs])
    repeats = np.array([len(several) for several in logs], float)
    curves = shapes_of((*map(float, measured), *map(float, counts)), float(measured[0]), float(measured[-1]))
    distances = means - curves.logs[:, : len(measured)]
    fixed = min((limit.value for limit in limits if not limit.grows), default=math.inf)
    levels, scales, errors = [], [], list(_errors(logs))
    for error in errors:
        precision = 1 / (error.noise / repeats + error.deviation)
        scale = distances @ precision / precision.sum()
        misfit = ((distances - scale[:, None]) ** 2) @ precision
        # The scale of a curve is unknown, and integrated out.
        constant = error.level + 0.5 * (np.log(precision).sum() - math.log(precision.sum()))
        levels.append(constant - 0.5 * misfit + _at_limit(curves, scale, fixed))
        scales.append(scale)
    chance = np.exp(np.stack(levels) - max(level.max() for level in levels)) * curves.priors
    best = np.unravel_index(chance.argmax(), chance.shape)
    misfit = float(np.max(np.abs(np.expm1(distances[best[1]] - np.stack(scales)[best]))))
    random = np.random.default_rng(seed)
    total = np.cumsum(chance.ravel())
    chosen = np.searchsorted(total, random.uniform(0, total[-1], DRAWS), side="right")
    which, curve = np.divmod(chosen, len(curves.priors))
    spread = np.array([1 / (1 / (error.noise / repeats + error.deviation)).sum() for error in errors])[which]
    apart = np.array([error.noise / repeats.mean() + error.deviation for error in errors])[which]
    center = np.stack(scales)[which, curve] + np.sqrt(spread) * random.standard_normal(DRAWS)
    uncut = np.exp(center[:, None] + curves.logs[curve, len(measured) :])
    own = np.exp(np.sqrt(apart)[:, None] * random.standard_normal((DRAWS, len(counts))))
    return Draws(_cut(uncut, own, random.uniform(0, 1, DRAWS), counts, _ends(rates, limits)), uncut, misfit)


def _ends(rates: Mapping[int, Sequence[float]], limits: Sequence[KnownLimit]) -> list[tuple[KnownLimit, float, float]]:
    """Return each limit with the least and the greatest share of it that totals may end at.

    Of a limit of each host, more hosts reach at least the share that was measured. Of a limit of all together, they may
    reach less than a measured total that it did not cut off: hosts that crowd a link get unequal shares of it.
    """
    greatest = {count: math.fsum(several) / len(several) for count, several in rates.items()}
    shares = [max(total / limit.at(count) for count, total in greatest.items()) for limit in limits]
    return [
        (limit, max(MIN_REACH, min(1.0, share)) if limit.grows else MIN_REACH, max(1.0, share))
        for limit, share in zip(limits, shares, strict=True)
    ]


def _cut(
    totals: "Array", noise: "Array", chance: "Array", counts: Sequence[int], ends: list[tuple[KnownLimit, float, float]]
) -> "Array":
    """Return totals with noise that end at limits; what is below a limit is not cut off.

    Args:
        totals: Draws x host counts.
        noise: Draws x host counts: factors.
        chance: For each draw, from 0 to 1: where between the least and the greatest share of a limit totals end.
        counts: Host counts.
        ends: As `_ends` returns them.
    """
    import numpy as np

    cut, most = totals, np.full(len(counts), math.inf)
    for limit, least, greatest in ends:
        at = np.array([limit.at(count) for count in counts])
        cut = np.where(cut > at, (least + (greatest - least) * chance)[:, None] * at, cut)
        most = np.minimum(most, greatest * at)
    found: Array = np.minimum(cut * noise, most)
    return found


def _at_limit(curves: Shapes, scale: "Array", limit: float) -> "Array":
    """Return the logarithm by which curves that end at the known limit are more probable than others."""
    import numpy as np

    if math.isinf(limit):
        return np.zeros(len(scale))
    ends = scale + curves.plateaus - math.log(limit)
    window = -math.log(MIN_REACH)
    more = math.log(_BINDING / (1 - _BINDING) * curves.span / window)
    return np.where((ends <= 0) & (ends >= -window), more, 0.0)


def _errors(logs: "Sequence[Array]") -> Iterator[_Error]:
    """Yield possible sizes of errors; that of the noise is judged by the repeats, as normal errors of logarithms."""
    freedom = sum(len(several) - 1 for several in logs)
    noise = repeat_noise(logs)
    for deviation in _DEVIATIONS:
        if noise is None:
            yield from (_Error(value**2, deviation**2, 0.0) for value in _UNKNOWN_NOISES)
        else:
            for ratio in _NOISE_RATIOS:
                level = -freedom * (math.log(ratio) + 0.5 / ratio**2)
                yield _Error((max(_MIN_NOISE, noise) * ratio) ** 2, deviation**2, level)


def repeat_noise(logs: "Sequence[Array]") -> float | None:
    """Return the standard deviation of a repeat's logarithm, pooled over all host counts; None without repeats."""
    freedom = sum(len(several) - 1 for several in logs)
    if not freedom:
        return None
    return math.sqrt(sum(float(((several - several.mean()) ** 2).sum()) for several in logs) / freedom)
