"""Finds change points: where a series of numbers moves from one level to another.

The method is E-divisive with means (Matteson and James 2014, "A nonparametric approach for multiple change point
analysis of multivariate data", JASA 109; for performance tests Daly et al. 2020, "The use of change point detection to
identify software performance regressions in a continuous integration system", ICPE): the series is divided where the
energy distance between the parts is greatest, and each part again, while that is significant. With the exponent 2,
which compares means only, the distance is the squared difference of the two means times m n / (m + n).

A level that is left and returned to shows little in any division into two. Therefore a stretch is also compared with
all that is before and after it (circular binary segmentation: Olshen et al. 2004, Biostatistics 5).

The statistic is the share of the variance that the best division explains, which depends neither on the unit nor on the
size of the noise. Its p-value is the share of series of normal noise, with the same length and autocorrelation, whose
best division explains as much. They are drawn with a fixed seed, so that the same series always gives the same result.
Permutations of the series itself would not do: a few runs have too few permutations, and those of a disk's correlated
intervals would show too many changes.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SEED = 2014
LEVEL = 0.01
"""A division is significant below this p-value: of 100 series without a change, about one shows a change."""
LONG_SERIES = 128
"""In longer series neighbours are averaged before the division, and the place is refined afterwards."""

_NOISE = 1999
_FAR, _STEP = 4.0, 2.0
_MAD_TO_SIGMA = 1.4826


class ChangePoint(NamedTuple):
    """Index of the first value of a new level, and the p-value of the change."""

    at: int
    p: float


def change_points(values: Sequence[float] | Floats, least: int = 3, level: float = LEVEL) -> tuple[ChangePoint, ...]:
    """Return where the mean changes, in order; empty if no change is significant.

    Values farther from the median than 4 standard deviations (1.4826 times the median absolute deviation) are moved to
    that distance, so that a single stall neither hides nor causes a change.

    Args:
        values: In time order, any unit.
        least: Minimum number of values on each side of a change, 2 or more.
        level: A change is reported if its p-value is below.
    """
    found: list[ChangePoint] = []
    _divide(np.asarray(values, dtype=np.float64), 0, least, level, found)
    return tuple(sorted(found))


def _divide(series: Floats, offset: int, least: int, level: float, found: list[ChangePoint]) -> None:
    if len(series) < 2 * least:
        return
    centred = series - series.mean()
    # A series of equal values may still differ by rounding.
    if float(np.abs(centred).max()) <= 1e-12 * float(np.abs(series).max()):
        return
    width = -(-len(series) // LONG_SERIES)
    whole = len(series) // width * width
    coarse = centred[:whole].reshape(-1, width).mean(axis=1)
    ends, p = _best_division(coarse, least)
    if p >= level:
        return
    places = _refined(centred, [end * width for end in ends], width, least)
    found += [ChangePoint(offset + place, p) for place in places]
    for start, end in pairwise((0, *places, len(series))):
        _divide(series[start:end], offset + start, least, level, found)


def _best_division(series: Floats, least: int) -> tuple[list[int], float]:
    """Return the one or two places that divide the series best, and the p-value."""
    series = _clipped(series, _FAR)
    series = series - series.mean()
    ends, gain = _best(series, least)
    noise = _noise_shares(len(series), least, _correlation_tenths(series, ends))
    above = len(noise) - int(np.searchsorted(noise, gain / float(series @ series) * (1 - 1e-9)))
    return ends, (1 + above) / (1 + len(noise))


def _clipped(series: Floats, sigmas: float) -> Floats:
    middle = np.median(series)
    reach = sigmas * _MAD_TO_SIGMA * float(np.median(np.abs(series - middle)))
    return np.clip(series, middle - reach, middle + reach) if reach > 0 else series


def _best(series: Floats, least: int) -> tuple[list[int], float]:
    """Return where the energy distance is greatest, and the distance; the series has the mean 0."""
    length = len(series)
    sums = _sums(series[None, :], least)[0]
    left = np.arange(least, length - least + 1)
    gains = sums * sums * (length / (left * (length - left)))
    place = int(gains.argmax())
    ends, best = [least + place], float(gains[place])
    for inner in range(least, length - 2 * least + 1):
        differences = np.abs(sums[inner:] - sums[:-inner])
        place = int(differences.argmax())
        gain = float(differences[place]) ** 2 * length / (inner * (length - inner))
        if gain > best:
            ends, best = [least + place, least + place + inner], gain
    return ends, best


def _gains(rows: Floats, least: int) -> Floats:
    """Return the greatest energy distance of each row; rows have the mean 0."""
    length = rows.shape[1]
    sums = _sums(rows, least)
    left = np.arange(least, length - least + 1)
    best: Floats = (sums * sums * (length / (left * (length - left)))).max(axis=1)
    for inner in range(least, length - 2 * least + 1):
        differences = sums[:, inner:] - sums[:, :-inner]
        reach = np.maximum(differences.max(axis=1), -differences.min(axis=1))
        np.maximum(best, reach * reach * (length / (inner * (length - inner))), out=best)
    return best


def _sums(rows: Floats, least: int) -> Floats:
    """Return the sums of each row up to each place at which it may be divided."""
    sums: Floats = np.cumsum(rows, axis=1)[:, least - 1 : rows.shape[1] - least]
    return sums


def _refined(series: Floats, ends: list[int], width: int, least: int) -> list[int]:
    """Move each place by up to `width` values to where it divides its neighbourhood best."""
    for number, end in enumerate(ends if width > 1 else ()):
        start = ends[number - 1] if number else 0
        stop = ends[number + 1] if number + 1 < len(ends) else len(series)
        part = series[start:stop] - series[start:stop].mean()
        left = np.arange(max(least, end - start - width), min(len(part) - least, end - start + width) + 1)
        gains = np.cumsum(part)[left - 1] ** 2 / (left * (len(part) - left))
        ends[number] = start + int(left[gains.argmax()])
    return ends


def _correlation_tenths(series: Floats, ends: list[int]) -> int:
    """Return the correlation between neighbours, in tenths from 0 to 8: the lesser of two estimates that err upwards.

    One is the correlation of the residuals about the levels between `ends`; it is too great if there are more levels.
    The other is from the mean squares of differences at distance 1 and 2, whose ratio is 1 + r in autoregressive noise;
    a change of level adds to few of them, which are clipped.
    """
    rest = np.concatenate([part - part.mean() for part in np.split(series, ends)])
    # Removing the levels lowers the correlation of neighbours by about 4 / n.
    by_rest = float(rest[1:] @ rest[:-1]) / max(float(rest @ rest), 1e-300) + 4 / len(series)
    near, far = (float(np.mean(_clipped(series[lag:] - series[:-lag], _STEP) ** 2)) for lag in (1, 2))
    by_steps = far / near - 1 if near > 0 else 0.0
    return max(0, min(8, round(10 * min(by_rest, by_steps))))


@lru_cache(maxsize=512)
def _noise_shares(length: int, least: int, autocorrelation: int) -> Floats:
    """Return the share of variance that the best division of noise explains, for many series, in ascending order."""
    fresh = np.random.default_rng(SEED).standard_normal((_NOISE, length))
    r = autocorrelation / 10
    rows = fresh.copy()
    for place in range(1, length if autocorrelation else 0):
        rows[:, place] = r * rows[:, place - 1] + math.sqrt(1 - r * r) * fresh[:, place]
    rows -= rows.mean(axis=1, keepdims=True)
    return np.sort(_gains(rows, least) / (rows * rows).sum(axis=1))
