"""The interval covers what it promises; the t quantiles are scipy's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from soak import times

from assay.analyse.estimate import estimate, student_t

SEED = 20261121
TRIALS = times(1000, 4000)


@pytest.mark.parametrize("freedom", [*range(1, 31), 31, 35, 40, 60, 100, 1000])
def test_t_equals_scipy(freedom: int) -> None:
    assert student_t(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-8 if freedom <= 30 else 1e-6)


def test_t_between_whole_degrees_of_freedom_errs_to_the_wide_side_only() -> None:
    for freedom in np.arange(2.05, 30, 0.05):
        exact = stats.t.ppf(0.975, freedom)
        assert exact * (1 - 1e-8) <= student_t(float(freedom)) <= exact * 1.025


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("sigma", [0.02, 0.3])
def test_the_interval_covers_95_percent(n: int, sigma: float) -> None:
    random = np.random.default_rng(SEED + n)
    values = np.exp(random.normal(math.log(500e6), sigma, (TRIALS, n)))
    estimates = [estimate(row.tolist()) for row in values]
    covered = sum((found.low or 0) <= 500e6 <= (found.high or 0) for found in estimates) / TRIALS
    assert 0.93 <= covered <= 0.97


def test_one_repeat_has_no_interval() -> None:
    found = estimate([5.0])
    assert (found.median, found.low, found.high, found.n, found.spread) == (5.0, None, None, 1, None)


def test_spread_is_the_coefficient_of_variation() -> None:
    assert estimate([90.0, 100.0, 110.0]).spread == pytest.approx(0.1)


def test_a_zero_among_the_repeats_leaves_the_median() -> None:
    found = estimate([0.0, 10.0, 11.0])
    assert (found.median, found.low, found.high) == (10.0, None, None)
    assert estimate([0.0, 0.0]).spread == 0.0


@given(st.lists(st.floats(1e-3, 1e12), min_size=2, max_size=40))
def test_the_interval_is_positive_and_holds_the_median(values: list[float]) -> None:
    found = estimate(values)
    assert found.low is not None and found.high is not None
    assert 0 < found.low <= found.median <= found.high
