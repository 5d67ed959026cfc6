"""The universal scalability law: what was put in is found again, and nothing where there is nothing."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import times
from usl_tools import DOUBLING, MANY, fit, measured, total

from assay.analyse.growth.usl import FARTHEST_PEAK, MIN_POINTS, fit_law


@given(st.floats(1e3, 1e9), st.floats(0, 0.9), st.floats(0, 0.1), st.sampled_from([DOUBLING, MANY, (2, 3, 5, 9)]))
@settings(max_examples=times(30, 300), deadline=None)
def test_without_noise_the_parameters_are_found(
    rate: float, contention: float, coherency: float, hosts: tuple[int, ...]
) -> None:
    law = fit({count: [total(count, rate, contention, coherency)] * 3 for count in hosts})
    assert law.fits and law.deviation < 1e-6
    assert law.rate.value == pytest.approx(rate, rel=1e-5)
    assert law.contention.value == pytest.approx(contention, abs=1e-5)
    assert law.coherency.value == pytest.approx(coherency, abs=1e-5)
    peak = math.sqrt((1 - contention) / coherency) if coherency > 1e-4 else math.inf
    falls = max(total(count, rate, contention, coherency) for count in hosts) > total(
        hosts[-1], rate, contention, coherency
    )
    if peak <= 0.99 * FARTHEST_PEAK * hosts[-1] and (falls or peak > 1.01 * hosts[-2]):
        assert law.peak is not None and law.peak.value == pytest.approx(peak, rel=1e-2)


def test_a_limit_that_cuts_the_growth_off_is_not_described() -> None:
    random = np.random.default_rng(5)
    cut = {count: list(min(100.0 * count, 400.0) * np.exp(random.normal(0, 0.01, 4))) for count in MANY}
    law = fit(cut)
    assert not law.fits and law.deviation > 0.05 and law.peak is None


def test_the_same_repeats_give_the_same_intervals() -> None:
    rates = measured(np.random.default_rng(1), DOUBLING, 0.05, 0.01, 0.03, 4)
    assert fit_law(rates) == fit_law({count: rates[count] for count in reversed(DOUBLING)})


@pytest.mark.parametrize(
    "rates",
    [
        {count: [100.0 * count] * 3 for count in range(1, MIN_POINTS)},
        {count: [100.0 * count] for count in MANY},
        {**{count: [100.0 * count] * 3 for count in DOUBLING}, 16: [0.0, 1.0, 2.0]},
    ],
    ids=["few numbers", "one repeat each", "nothing moved"],
)
def test_too_little_is_not_fitted(rates: dict[int, list[float]]) -> None:
    assert fit_law(rates) is None


@given(
    st.dictionaries(
        st.integers(1, 300), st.lists(st.floats(1e-3, 1e12), min_size=2, max_size=5), min_size=4, max_size=7
    )
)
@settings(max_examples=times(30, 300), deadline=None)
def test_whatever_is_measured_gives_numbers_in_order(rates: dict[int, list[float]]) -> None:
    law = fit_law(rates)
    if law is not None:
        for item in (law.rate, law.contention, law.coherency, *((law.peak,) if law.peak else ())):
            assert 0 <= item.low <= item.value <= item.high
        if law.peak is not None:
            assert law.fits and law.coherency.low > 0 and law.peak.value <= FARTHEST_PEAK * law.max_hosts
