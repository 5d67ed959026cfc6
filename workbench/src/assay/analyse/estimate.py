"""Computes a median and its confidence interval from few repeats."""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import median

from assay.analyse.statistics.autocorrelation import degrees_of_freedom, variance_bias, variance_inflation
from assay.analyse.statistics.levels import levels
from assay.model.result.result import Estimate

# fmt: off
_T = (
    12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135,
    2.262157163, 2.228138852, 2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299,
    2.109815578, 2.100922040, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562,
    2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642, 2.042272456,
)
# fmt: on
_Z = 1.959963984540054


def student_t(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t, which bounds a two-sided 95 % interval.

    Up to 30 degrees of freedom it comes from a table, with interpolation linear in 1/freedom, which errs by at most
    2.5 % from 2 degrees on, towards the wider interval; beyond, from Abramowitz and Stegun, formula 26.7.5.

    Args:
        freedom: Degrees of freedom, at least 1.
    """
    if freedom > len(_T):
        z, v = _Z, freedom
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + first / v + second / v**2 + third / v**3
    below = int(freedom)
    if below == freedom:
        return _T[below - 1]
    share = (1 / freedom - 1 / (below + 1)) / (1 / below - 1 / (below + 1))
    return _T[below] + share * (_T[below - 1] - _T[below])


def estimate(values: Sequence[float], autocorrelation: float = 0.0) -> Estimate:
    """Return the median over repeats with a 95 % interval.

    The interval is Student's t on the logarithms, that is, the interval of the geometric mean: it is always positive,
    and right for quantities whose errors are factors, as those of rates are. If the median lies outside, the interval
    is widened to it. That takes nine values, almost half of them far from the rest; with normal noise it does not
    happen, so 95 of 100 intervals still cover the truth. Repeats that correlate with their neighbours count for less.
    Where repeats have two levels, the median falls on one of them by chance, and the interval includes both.

    Args:
        values: One for each repeat, in time order, any unit, at least one.
        autocorrelation: Correlation of a repeat with the one before it, estimated from all results of the run.
    """
    middle = median(values)
    if len(values) < 2:
        return Estimate(median=middle, low=None, high=None, n=len(values), spread=None)
    mean, deviation = mean_deviation(values)
    spread = deviation / mean if mean else 0.0
    if min(values) <= 0:
        return Estimate(median=middle, low=None, high=None, n=len(values), spread=spread)
    centre, error = log_mean(values)
    factor, quantile = _allowance(autocorrelation, len(values))
    reach = quantile * (error * factor)
    found = levels(values)
    inside = [middle, *(level.rate for level in found)]
    return Estimate(
        median=middle,
        low=min(math.exp(centre - reach), *inside),
        high=max(math.exp(centre + reach), *inside),
        n=len(values),
        spread=spread,
        autocorrelation=autocorrelation,
        levels=found,
    )


@lru_cache(maxsize=1024)
def _allowance(autocorrelation: float, count: int) -> tuple[float, float]:
    """Return the factor on the standard error for correlated repeats, and the matching quantile of Student's t."""
    if not autocorrelation:
        return 1.0, student_t(count - 1.0)
    factor = math.sqrt(variance_inflation(autocorrelation, count) / variance_bias(autocorrelation, count))
    return factor, student_t(degrees_of_freedom(autocorrelation, count))


def log_mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of the logarithms and its standard error.

    Args:
        values: At least two, all positive.
    """
    centre, deviation = mean_deviation([math.log(value) for value in values])
    return centre, deviation / math.sqrt(len(values))


def mean_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and sample standard deviation of at least two values.

    Uses floating point in two passes: the fractions of `statistics.stdev` take most of the time of a large run.
    """
    mean = math.fsum(values) / len(values)
    return mean, math.dist(values, [mean] * len(values)) / math.sqrt(len(values) - 1)
