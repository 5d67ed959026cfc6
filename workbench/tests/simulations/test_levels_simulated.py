"""Intervals of repeats that resemble their neighbours hold the truth as often as they say."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from noise import Floats, wandering
from noise import heavy as heavy_tailed

from assay.analyse.estimate import estimate
from assay.analyse.statistics.alike import known_likeness

ROWS, RUNS = 40, 50


def independent(chance: np.random.Generator, count: int) -> Floats:
    return chance.normal(0, 0.03, count)


def skewed(chance: np.random.Generator, count: int) -> Floats:
    """Even as logarithms."""
    drawn = chance.lognormal(0, 0.5, count)
    return 0.03 * (drawn - math.exp(0.125)) / 0.604


def heavy(chance: np.random.Generator, count: int) -> Floats:
    return 0.03 * heavy_tailed(chance, count)


def alike(correlation: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda chance, count: 0.03 * wandering(chance, count, correlation)


def drifting(chance: np.random.Generator, count: int) -> Floats:
    course = np.log(1 - 0.15 * np.linspace(0, 1, count))
    drifted: Floats = independent(chance, count) + course - course.mean()
    return drifted


NOISES = {
    "independent": independent,
    "skewed": skewed,
    "t3": heavy,
    "autocorrelated 0.5": alike(0.5),
    "autocorrelated 0.8": alike(0.8),
    "drifting": drifting,
}


@pytest.mark.parametrize("count", [5, 10, 20])
@pytest.mark.parametrize("noise", NOISES)
def test_nine_of_ten_intervals_hold_the_truth(noise: str, count: int) -> None:
    """Of a run with 40 results; the plain interval holds it in 48 of 100 cases at a correlation of 0.8."""
    held, tried = 0, 0
    for seed in range(RUNS):
        chance = np.random.default_rng([seed, count])
        rows = [np.exp(NOISES[noise](chance, count)) for _ in range(ROWS)]
        likeness = known_likeness([[float(value) for value in row] for row in rows])
        assert likeness is not None
        for row in rows:
            found = estimate([float(value) for value in row], likeness)
            assert found.low is not None and found.high is not None
            held += found.low <= 1.0 <= found.high
            tried += 1
    assert held >= 0.9 * tried, held / tried
