"""Intervals of repeats that resemble their neighbours hold the truth as often as they say."""

import numpy as np
import pytest
from level_tools import alike, drifting, heavy, independent, skewed

from assay.analyse.estimate import estimate
from assay.analyse.statistics.autocorrelation import known_autocorrelation

ROWS, RUNS = 40, 50


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
        autocorrelation = known_autocorrelation([[float(value) for value in row] for row in rows])
        assert autocorrelation is not None
        for row in rows:
            found = estimate([float(value) for value in row], autocorrelation)
            assert found.low is not None and found.high is not None
            held += found.low <= 1.0 <= found.high
            tried += 1
    assert held >= 0.9 * tried, held / tried
