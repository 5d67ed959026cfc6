"""Variances of few repeats each, made better by each other.

Four repeats tell little of the noise of one result, but those of a hundred results tell much of the noise that results
of this run have. Empirical Bayes finds out how alike the variances are, and moves each towards the common one by as
much as that allows: wholly if they differ no more than chance explains, not at all if they have nothing in common.

Source: Smyth 2004, "Linear models and empirical Bayes methods for assessing differential expression in microarray
experiments", Statistical Applications in Genetics and Molecular Biology 3, section 6.2.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.statistics.special import digamma, tetragamma, trigamma

LEAST = 3
"""Of fewer variances nothing is learnt."""


class Moderated(NamedTuple):
    """Variances and how well they are known.

    Attributes:
        variances: In the order given.
        prior: Degrees of freedom that the others add to each; infinite if all have one variance.
    """

    variances: tuple[float, ...]
    prior: float


def moderate(variances: Sequence[float], freedoms: Sequence[float]) -> Moderated:
    """Each variance, and what the others say of it.

    Args:
        variances: Any unit, 0 or more; those that are 0 say nothing of the others, but are moved like them.
        freedoms: Degrees of freedom of each, above 0.
    """
    told = [(variance, freedom) for variance, freedom in zip(variances, freedoms, strict=True) if variance > 0]
    if len(told) < LEAST:
        return Moderated(tuple(variances), 0.0)
    logs = [math.log(variance) - digamma(half) + math.log(half) for variance, half in _halves(told)]
    mean = math.fsum(logs) / len(logs)
    spread = math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1)
    own = math.fsum(trigamma(half) for _, half in _halves(told)) / len(told)
    if spread <= own:
        return Moderated((_common(told),) * len(variances), math.inf)
    half = _inverse_trigamma(spread - own)
    common = math.exp(mean + digamma(half) - math.log(half))
    prior = 2 * half
    moved = tuple(
        (prior * common + freedom * variance) / (prior + freedom)
        for variance, freedom in zip(variances, freedoms, strict=True)
    )
    return Moderated(moved, prior)


def _halves(told: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(variance, freedom / 2) for variance, freedom in told]


def _common(told: Sequence[tuple[float, float]]) -> float:
    return math.fsum(variance * freedom for variance, freedom in told) / math.fsum(freedom for _, freedom in told)


def _inverse_trigamma(value: float) -> float:
    """Where the trigamma function has this value, above 0; Newton's method as in the appendix of the source."""
    if value > 1e7:
        return 1 / math.sqrt(value)
    if value < 1e-6:
        return 1 / value
    place = 0.5 + 1 / value
    for _ in range(50):
        found = trigamma(place)
        step = found * (1 - found / value) / tetragamma(place)
        place += step
        if -step / place < 1e-8:
            break
    return place
