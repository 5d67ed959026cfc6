"""How much repeats resemble their neighbours, and how variances are made better by each other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from soak import times

from assay.analyse.statistics.autocorrelation import (
    GREATEST,
    autocorrelation_bound,
    degrees_of_freedom,
    variance_bias,
    variance_inflation,
)
from assay.analyse.statistics.moderate import moderate

SEED = 11
COUNTS = st.integers(4, 60)
CORRELATIONS = st.floats(0, GREATEST)


def series(random: np.random.Generator, rows: int, count: int, r: float) -> list[list[float]]:
    """Autoregressive noise of order one."""
    values = random.standard_normal((rows, count))
    for place in range(1, count):
        values[:, place] = r * values[:, place - 1] + math.sqrt(1 - r * r) * values[:, place]
    return values.tolist()


@pytest.mark.parametrize(("r", "least", "most"), [(0.0, 0.0, 0.35), (0.5, 0.45, 0.8), (0.8, 0.7, 0.9)])
@pytest.mark.parametrize("count", [5, 8, 20])
def test_many_series_show_how_alike_neighbours_are(count: int, r: float, least: float, most: float) -> None:
    random = np.random.default_rng(SEED)
    found = [autocorrelation_bound(series(random, 72, count, r)) for _ in range(times(30, 200))]
    assert all(value is not None for value in found)
    assert least <= np.median(found) <= most
    assert np.mean([value >= 0.9 * r for value in found if value is not None]) >= 0.9


def test_one_short_series_shows_nothing_of_it() -> None:
    assert autocorrelation_bound([]) is None
    assert autocorrelation_bound([[1.0, 2.0, 3.0], [5.0] * 10]) is None
    random = np.random.default_rng(SEED)
    assert np.median([autocorrelation_bound(series(random, 1, 5, 0.0)) or 0.0 for _ in range(50)]) > 0.6


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=30), max_size=10), st.floats(0.1, 1e3))
def test_it_is_a_correlation_and_does_not_depend_on_the_unit(values: list[list[float]], unit: float) -> None:
    found = autocorrelation_bound(values)
    assert found is None or 0 <= found <= GREATEST
    scaled = autocorrelation_bound([[unit * value for value in row] for row in values])
    assert found == pytest.approx(scaled, abs=1e-6) if found is not None and scaled is not None else True


@given(CORRELATIONS, COUNTS)
def test_neighbours_that_are_alike_widen_and_tell_less(r: float, count: int) -> None:
    assert 1 <= variance_inflation(r, count) <= count
    assert 0 < variance_bias(r, count) <= 1
    assert 1 <= degrees_of_freedom(r, count) <= count - 1 + 1e-6


@pytest.mark.parametrize("r", [0.0, 0.5, 0.8])
def test_the_variance_of_a_mean_is_as_said(r: float) -> None:
    values = np.array(series(np.random.default_rng(SEED), 20_000, 12, r))
    assert 12 * values.mean(axis=1).var() == pytest.approx(variance_inflation(r, 12), rel=0.05)
    variances = values.var(axis=1, ddof=1)
    assert variances.mean() == pytest.approx(variance_bias(r, 12), rel=0.05)
    assert 2 * variances.mean() ** 2 / variances.var() == pytest.approx(degrees_of_freedom(r, 12), rel=0.1)


def test_variances_that_differ_by_chance_become_one() -> None:
    random = np.random.default_rng(SEED)
    known = (9.0 * random.chisquare(4, 200) / 4).tolist()
    found = moderate(known, [4.0] * 200)
    assert found.prior > 40
    assert max(found.variances) < 1.5 * min(found.variances)
    assert np.mean(found.variances) == pytest.approx(9, rel=0.1)


@pytest.mark.parametrize("prior", [2.0, 8.0])
def test_the_prior_is_found_again(prior: float) -> None:
    """Variances drawn as the source supposes: common variance x prior / chi squared of it."""
    random = np.random.default_rng(SEED)
    true = 9.0 * prior / random.chisquare(prior, 4000)
    found = moderate((true * random.chisquare(4, 4000) / 4).tolist(), [4.0] * 4000)
    assert found.prior == pytest.approx(prior, rel=0.2)


def test_variances_that_have_nothing_in_common_stay() -> None:
    known = [10.0**power for power in range(-12, 12)]
    found = moderate(known, [20.0] * len(known))
    assert found.prior < 0.2
    assert found.variances[8:] == pytest.approx(known[8:], rel=0.05)


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(1, 50)), max_size=20))
def test_any_variances_are_moved_towards_each_other(told: list[tuple[float, float]]) -> None:
    variances, freedoms = [pair[0] for pair in told], [pair[1] for pair in told]
    found = moderate(variances, freedoms)
    assert len(found.variances) == len(told) and found.prior >= 0
    assert all(value >= 0 and math.isfinite(value) for value in found.variances)
    if len([value for value in variances if value > 0]) < 3:
        assert found.variances == tuple(variances)
