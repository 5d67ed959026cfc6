"""Seconds of a phase, and moving averages."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.course import IntervalRate
from assay.analyse.statistics.segments import MAX_SEGMENTS, moving_average, segments_of

S = 10**9


def intervals(rates: list[float], length: int, start: int = 0) -> list[IntervalRate]:
    return [IntervalRate(start + n * length, start + (n + 1) * length, rate) for n, rate in enumerate(rates)]


def test_seconds_are_sums_of_their_intervals() -> None:
    found = segments_of(intervals([1, 3, 2, 2, 10, 0, 7], S // 2, start=S // 2))
    assert found is not None and found.length_ns == S
    assert found.rates == pytest.approx((2, 2, 5)), "what is left of the last one is less than a second"
    assert (found.slowest, found.median, found.fastest) == pytest.approx((2, 2, 5))


def test_an_interval_on_a_border_counts_in_both_by_its_parts() -> None:
    # 300 ms each: the fourth has 100 ms in the first second, and 200 ms in the second one.
    found = segments_of(intervals([10, 10, 10, 40, 0, 0, 0, 0, 0, 0, 0], 300_000_000))
    assert found is not None
    assert found.rates == pytest.approx((0.9 * 10 + 0.1 * 40, 0.2 * 40, 0))


def test_less_than_three_seconds_have_none() -> None:
    assert segments_of([]) is None
    assert segments_of(intervals([1.0] * 29, S // 10)) is None
    assert segments_of(intervals([1.0] * 30, S // 10)) is not None


def test_very_many_seconds_become_fewer_and_longer_ones() -> None:
    found = segments_of(intervals([float(n % 2) for n in range(4 * MAX_SEGMENTS)], S))
    assert found is not None and (found.length_ns, len(found.rates)) == (4 * S, MAX_SEGMENTS)
    assert set(found.rates) == {0.5}


@given(st.lists(st.floats(0, 1e12), min_size=60, max_size=200), st.sampled_from([S // 20, S // 7, S, 2 * S]))
def test_seconds_hold_what_the_intervals_held(rates: list[float], length: int) -> None:
    found = segments_of(intervals(rates, length))
    assert found is not None
    held = sum(found.rates) * found.length_ns
    every = math.fsum(rates) * length
    last = found.length_ns * max(rates)
    assert every - last - 1e-6 * every <= held <= every * (1 + 1e-6)
    assert 0 <= found.slowest <= found.median <= found.fastest <= max(rates) * (1 + 1e-6)


def test_a_moving_average_is_that_of_the_neighbours() -> None:
    assert moving_average([1, 2, 6, 3], reach=1) == [1.5, 3, 11 / 3, 4.5]
    assert moving_average([4.0]) == [4.0] and moving_average([]) == []
    assert moving_average([7.0] * 9) == [7.0] * 9
