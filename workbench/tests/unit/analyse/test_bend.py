"""Where totals bend: what was put in is found again, as often as the interval says, and nothing where nothing bends."""

import numpy as np
import pytest
from bend_tools import DOUBLING, MANY, TRIES, bend_of, measured, sharp
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import times

from assay.analyse.growth.bend import MIN_POINTS, find_bend


@given(st.floats(1.05, 3.9), st.sampled_from([DOUBLING, MANY, (1, 2, 5, 9)]))
@settings(max_examples=times(30, 300), deadline=None)
def test_without_noise_the_corner_is_found(bend: float, hosts: tuple[int, ...]) -> None:
    found = bend_of({number: [1e8 * sharp(bend)(number)] * 3 for number in hosts})
    assert found.is_sharp and found.fits and found.at is not None
    assert found.at.value == pytest.approx(bend, rel=1e-6)


def test_a_total_that_grows_in_step_has_no_bend() -> None:
    random = np.random.default_rng(3)
    told = [bend_of(measured(random, MANY, lambda hosts: hosts, 0.03, 4), seed).at for seed in range(TRIES)]
    assert sum(at is not None for at in told) <= 0.05 * TRIES


def test_one_number_beyond_the_bend_shows_no_plateau() -> None:
    for number in (5.0, 7.0):
        found = bend_of({hosts: [1e8 * sharp(number)(hosts)] * 3 for hosts in DOUBLING})
        assert found.is_sharp and found.at is None


def test_one_that_is_level_from_the_beginning_bends_there() -> None:
    random = np.random.default_rng(4)
    found = bend_of(measured(random, DOUBLING, lambda _: 1.0, 0.02, 4))
    assert found.is_sharp and found.at is not None and found.at.low == 1 and found.at.high < 1.1


def test_one_that_neither_curve_describes_is_said_to_be_so() -> None:
    random = np.random.default_rng(5)
    up_and_down = {1: 1.0, 2: 2.0, 4: 1.0, 8: 4.0, 16: 2.0}
    found = bend_of(measured(random, tuple(up_and_down), lambda hosts: up_and_down[int(hosts)], 0.01, 4))
    assert not found.fits and found.at is None


@pytest.mark.parametrize(
    "rates",
    [
        {number: [100.0 * number] * 4 for number in range(1, MIN_POINTS)},
        {number: [100.0 * number] for number in MANY},
        {1: [1.0, 1.1], 2: [2.0, 2.1], 4: [0.0, 3.0], 8: [4.0, 4.0]},
    ],
    ids=["few numbers", "one repeat each", "nothing moved"],
)
def test_too_little_is_not_fitted(rates: dict[int, list[float]]) -> None:
    assert find_bend(rates) is None


@given(
    st.dictionaries(
        st.integers(1, 300), st.lists(st.floats(1e-3, 1e12), min_size=2, max_size=5), min_size=4, max_size=7
    )
)
@settings(max_examples=times(30, 300), deadline=None)
def test_whatever_is_measured_gives_numbers_in_order(rates: dict[int, list[float]]) -> None:
    found = find_bend(rates)
    if found is not None and found.at is not None:
        assert found.fits and 0 <= found.at.low <= found.at.value <= found.at.high <= max(rates)
