"""Estimates how much a repeat correlates with the one before it, and what that means for a mean.

Repeats of a case are separate executions on the same machine: other programs, temperature and the placement of the data
last for longer than a repeat. A mean of values that correlate with their neighbours is less precise than one of as many
independent values, by a factor that follows from the correlation. A single series of a few repeats shows that
correlation badly; all series of a run together show it well.

The model is first-order autoregression. The correlation used is the upper bound that the series allow (1.75 standard
errors): in simulations of 2,000 studies each with correlations of 0.5 and 0.8, wrong decisions then stay below 5 %,
which they do not with the plain estimate.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from assay.model.units import about_number

Floats = npt.NDArray[np.float64]

MIN_VALUES = 4
"""A shorter series says nothing about correlation."""
GREATEST = 0.9
"""A higher correlation is not noise about a level, but a level that moves."""

_GRID = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, GREATEST])
_ERRORS = 1.75
_KNOWN_ERRORS, _KNOWN = 0.5, 0.3
_WORTH_A_NOTE = 1.25
_DRAWN, _SEED = 4000, 20261123
_LONG = 64
"""For longer series the asymptotic formulas are good enough."""


def known_autocorrelation(series: Iterable[Sequence[float]]) -> float | None:
    """Return the correlation between neighbours that intervals of single results allow for; None if unknown.

    It is half a standard error above the estimate; in simulations with correlations of 0.5 and 0.8, with drift and with
    skewed noise, 90 of 100 intervals then cover the truth. It counts as known with a standard error of 0.3 or less, for
    example of 13 series of 5 values. With few series the upper bound would make each interval uselessly wide.

    Args:
        series: As in `alike`.
    """
    correlations = _correlations(series)
    if not correlations:
        return None
    means, deviations = _expected_sums(correlations)
    slope = (means[-1] - means[0]) / (_GRID[-1] - _GRID[0])
    return _upper_bound(correlations, _KNOWN_ERRORS) if deviations.max() <= _KNOWN * slope else None


def autocorrelation_bound(series: Iterable[Sequence[float]]) -> float | None:
    """Return the greatest correlation between neighbours that these series allow, from 0 to `GREATEST`.

    Correlations of short series are biased downwards (Kendall 1954, "Note on bias in the estimation of
    autocorrelation", Biometrika 41): the estimate is compared with simulated series of the same length.

    Args:
        series: Each in time order, any unit; those that are shorter than `MIN_VALUES`, or do not vary, are ignored.

    Returns:
        None if no series is usable.
    """
    correlations = _correlations(series)
    # With such a correlation, a value this low or lower occurs in 4 of 100 cases.
    return _upper_bound(correlations, _ERRORS) if correlations else None


def expected_bound(length: int, count: int) -> float:
    """Return the expected value of `alike` for `count` series of this length without correlation."""
    if length < MIN_VALUES:
        return GREATEST
    return _upper_bound([(length, float(_expected(length)[0][0]))] * count, _ERRORS)


def _correlations(series: Iterable[Sequence[float]]) -> list[tuple[int, float]]:
    """Return length and correlation of each usable series."""
    return [(len(values), found) for values in series if (found := _neighbours(values)) is not None]


def _upper_bound(correlations: Sequence[tuple[int, float]], errors: float) -> float:
    """Return the correlation whose expected sum, less so many standard errors, equals the observed sum."""
    means, deviations = _expected_sums(correlations)
    lower_sums = np.maximum.accumulate(means - errors * deviations)
    return float(np.interp(math.fsum(found for _, found in correlations), lower_sums, _GRID))


def _expected_sums(correlations: Sequence[tuple[int, float]]) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the sum over all series, for each correlation in the grid."""
    means, squares = np.zeros(len(_GRID)), np.zeros(len(_GRID))
    for length, count in Counter(length for length, _ in correlations).items():
        mean, deviation = _expected(length)
        means += count * mean
        squares += count * deviation**2
    return means, np.sqrt(squares)


def _neighbours(values: Sequence[float]) -> float | None:
    if len(values) < MIN_VALUES:
        return None
    centred = np.asarray(values, dtype=np.float64) - math.fsum(values) / len(values)
    squares = float(centred @ centred)
    if squares <= 1e-24 * max(abs(value) for value in values) ** 2:
        return None
    return float(centred[1:] @ centred[:-1]) / squares


@lru_cache(maxsize=128)
def _expected(length: int) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the observed value, for each correlation in the grid."""
    if length > _LONG:
        return _GRID - (1 + 3 * _GRID) / length, np.sqrt((1 - _GRID**2) / length)
    fresh = np.random.default_rng(_SEED).standard_normal((_DRAWN, length))
    means, deviations = [], []
    for r in _GRID:
        rows = fresh.copy()
        for place in range(1, length):
            rows[:, place] = r * rows[:, place - 1] + math.sqrt(1 - r * r) * fresh[:, place]
        rows -= rows.mean(axis=1, keepdims=True)
        observed = (rows[:, 1:] * rows[:, :-1]).sum(axis=1) / (rows * rows).sum(axis=1)
        means.append(observed.mean())
        deviations.append(observed.std())
    return np.array(means), np.array(deviations)


def variance_inflation(correlation: float, count: int) -> float:
    """Return the variance of a mean of `count` correlated values over that of independent values: 1 or more.

    Exact for first-order autoregression (Bayley and Hammersley 1946, "The effective number of independent observations
    in an autocorrelated time series", Supplement to the Journal of the Royal Statistical Society 8).
    """
    lags = np.arange(1, count)
    return 1.0 + 2.0 * float(((1 - lags / count) * correlation**lags).sum())


def variance_bias(correlation: float, count: int) -> float:
    """Return the expected sample variance of correlated values over their true variance: at most 1."""
    return 1.0 - (variance_inflation(correlation, count) - 1.0) / (count - 1)


@lru_cache(maxsize=1024)
def degrees_of_freedom(correlation: float, count: int) -> float:
    """Return the degrees of freedom of the sample variance of correlated values: from 1 to count - 1.

    They are those of the chi-squared distribution with the same mean and variance (Satterthwaite 1946, "An approximate
    distribution of estimates of variance components", Biometrics Bulletin 2).
    """
    if count > _LONG:
        # Asymptotic formula for long series.
        return max(1.0, count * (1 - correlation**2) / (1 + correlation**2) - 1.0)
    places = np.arange(count)
    correlations = correlation ** np.abs(places[:, None] - places[None, :])
    centred = correlations - correlations.mean(axis=0, keepdims=True)
    return max(1.0, float(np.trace(centred) ** 2 / np.trace(centred @ centred)))


def autocorrelation_notes(correlation: float | None, counts: Sequence[int]) -> tuple[str, ...]:
    """Return a note on correlated repeats for readers of the intervals of a run; empty if there is none.

    Args:
        correlation: The result of `known_autocorrelation`.
        counts: Number of repeats of each result.
    """
    several = [count for count in counts if count > 1]
    if not several:
        return ()
    if correlation is None:
        return (
            f"From {len(several):,} {'result' if len(several) == 1 else 'results'} of at most {max(several):,} repeats"
            " it is not known whether successive repeats are correlated. If they are, the intervals are too narrow.",
        )
    count = sorted(several)[len(several) // 2]
    factor = math.sqrt(variance_inflation(correlation, count) / variance_bias(correlation, count))
    if factor < _WORTH_A_NOTE:
        return ()
    return (
        f"Successive repeats are correlated (about {about_number(correlation, 1)}): something"
        " changes slowly on this"
        f" machine. The intervals allow for that; with {count:,} repeats their standard errors"
        f" are {about_number(factor, 2)} times as large.",
    )
