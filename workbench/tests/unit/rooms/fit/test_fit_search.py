"""The search for the highest rate, at places of a known knee on a virtual clock."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_queue import VirtualQueue, fixed

from assay.analyse.statistics.shares import Exceeding
from assay.rooms.fit.model.bound import parse_latency_bound
from assay.rooms.fit.work.knee import fit_knee

P99 = parse_latency_bound("p99<10ms")
FOUR_KNEE = 1741.5
"""Operations per second at which 1 % take 10 ms or longer, of four servers with 2 ms each: 10^7 operations."""


def four(seed: int, **options: float) -> VirtualQueue:
    return VirtualQueue(4, fixed(0.002), seed, **options)


def test_the_knee_is_found_within_three_percent() -> None:
    found = [four(seed).search(P99, 2000, 115) for seed in range(4)]
    for each in found:
        assert each.estimate is not None and each.low is not None and each.high is not None
        assert each.estimate == pytest.approx(FOUR_KNEE, rel=0.03)
        assert each.low <= FOUR_KNEE <= each.high < 1.2 * each.low
        assert each.fails_at is None


def test_no_rate_holds_a_bound_below_the_service_time() -> None:
    found = four(1).search(parse_latency_bound("p99<1ms"), 2000, 60)
    assert found.estimate is None and found.low is None and found.fails_at == min(found.measured)


def test_where_waits_for_a_cpu_may_be_the_cause_no_rate_is_known_to_fail() -> None:
    found = four(2, late_share=1.0).search(P99, 2000, 60)
    assert found.fails_at is None and found.low is not None
    assert found.estimate is None and found.high is None
    assert four(2).search(P99, 2000, 60).high is not None


def test_short_times_give_wide_intervals_instead_of_high_rates() -> None:
    slow = parse_latency_bound("p99<1s")
    found = four(3).search(slow, 2000, 30)
    assert found.low is not None and found.low < 1990 < (found.high or math.inf)
    assert found.low < 0.95 * 1990


@settings(max_examples=20)
@given(st.floats(10, 1e6), st.floats(4, 60), st.sampled_from([0.5, 0.05, 0.01, 0.001]), st.floats(-0.05, 0.05))
def test_shares_on_a_curve_give_its_crossing(knee: float, slope: float, allowed: float, shift: float) -> None:
    """Whatever rates are measured about it, of shares that rise by a power of the rate."""
    odds = allowed / (1 - allowed)
    shares = {}
    for place in (-0.04, 0.0, 0.04):
        rate = knee * math.exp(shift + place)
        ratio = odds * (rate / knee) ** slope
        shares[rate] = [Exceeding(round(1e7 * ratio / (1 + ratio)), 10_000_000)] * 3
    found = fit_knee(shares, allowed, 2 * knee)
    assert found is not None and found.low is not None and found.high is not None
    assert found.rate == pytest.approx(knee, rel=0.002)
    assert found.low <= found.rate <= found.high


def test_too_little_gives_no_crossing() -> None:
    assert fit_knee({}, 0.01, 100) is None
    assert fit_knee({50.0: [Exceeding(0, 1000)] * 6}, 0.01, 100) is None
    one_rate = fit_knee({50.0: [Exceeding(8, 1000), Exceeding(12, 1000)] * 2}, 0.01, 100)
    assert one_rate is not None and one_rate.rate == pytest.approx(50, rel=0.02)
