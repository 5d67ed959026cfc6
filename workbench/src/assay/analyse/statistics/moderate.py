"""Improves variances from few repeats by combining them.

Four repeats show little of the noise of one result, but those of a hundred results show much of the noise that results
of this run have. Empirical Bayes estimates how similar the variances are, and moves each towards the common one by as
much as that allows: wholly if they differ no more than chance explains, not at all if they have nothing in common.

Source: Smyth 2004, "Linear models and empirical Bayes methods for assessing differential expression in microarray
experiments", Statistical Applications in Genetics and Molecular Biology 3, section 6.2.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.statistics.special import digamma, tetragamma, trigamma

MIN_VARIANCES = 3
"""Fewer variances are not combined."""


class Moderated(NamedTuple):
    """The moderated variances.

    Attributes:
        variances: In the order of the input.
        prior: Degrees of freedom that the others add to each; infinite if all have one variance.
    """

    variances: tuple[float, ...]
    prior: float


def moderate(variances: Sequence[float], freedoms: Sequence[float]) -> Moderated:
    """Move each variance towards the common one.

    Args:
        variances: Any unit, 0 or more; variances of 0 do not affect the others, but are moved like them.
        freedoms: Degrees of freedom of each, above 0.
    """
    positive = [(variance, freedom) for variance, freedom in zip(variances, freedoms, strict=True) if variance > 0]
    if len(positive) < MIN_VARIANCES:
        return Moderated(tuple(variances), 0.0)
    logs = [math.log(variance) - digamma(half) + math.log(half) for variance, half in _halves(positive)]
    mean = math.fsum(logs) / len(logs)
    spread = math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1)
    own = math.fsum(trigamma(half) for _, half in _halves(positive)) / len(positive)
    if spread <= own:
        return Moderated((_common(positive),) * len(variances), math.inf)
    half = _inverse_trigamma(spread - own)
    common = math.exp(mean + digamma(half) - math.log(half))
    prior = 2 * half
    moved = tuple(
        (prior * common + freedom * variance) / (prior + freedom)
        for variance, freedom in zip(variances, freedoms, strict=True)
    )
    return Moderated(moved, prior)


def _halves(positive: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(variance, freedom / 2) for variance, freedom in positive]


def _common(positive: Sequence[tuple[float, float]]) -> float:
    return math.fsum(variance * freedom for variance, freedom in positive) / math.fsum(
        freedom for _, freedom in positive
    )


def _inverse_trigamma(value: float) -> float:
    """Return where the trigamma function has this value, above 0; Newton's method as in the appendix of the source."""
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
