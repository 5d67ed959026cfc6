"""The search for the highest rate, at places of a known knee."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.rooms.fit.model.answer import Answer, NeedOutcome
from assay.rooms.fit.work.load import min_rate, runtime_s
from assay.rooms.fit.work.search import RATIO, RateStep, bracket, estimate_rate, final_rates, next_rate


def step(rate: float, answer: Answer, latency: float | None = None) -> RateStep:
    return RateStep(rate, NeedOutcome(answer), 5, latency)


def searched(knee: float, closed: float, least: float, doubt: float = 0.0) -> list[RateStep]:
    """Steps of a search where rates below the knee hold; those within `doubt` of it are undecided."""
    steps: list[RateStep] = []
    while (rate := next_rate(steps, closed, least)) is not None:
        open_here = abs(math.log(rate / knee)) < doubt
        steps.append(step(rate, Answer.UNDECIDED if open_here else Answer.YES if rate < knee else Answer.NO))
        assert len(steps) < 60
    return steps


@given(st.floats(20, 1e6), st.floats(0.05, 20))
def test_the_knee_lies_in_a_narrow_bracket(knee: float, factor: float) -> None:
    found = bracket(searched(knee, knee * factor, 1.0))
    assert found.holds is not None and found.fails is not None
    assert found.holds < knee <= found.fails <= found.holds * RATIO


@given(st.floats(20, 1e6), st.floats(0.01, 0.3))
def test_undecided_rates_end_the_search(knee: float, doubt: float) -> None:
    found = bracket(searched(knee, knee, 1.0, doubt))
    assert found.holds is not None and found.fails is not None
    assert found.holds < knee < found.fails


def test_no_rate_holds() -> None:
    steps = searched(1.0, 1000.0, 50.0)
    assert bracket(steps) == (None, 50.0, ())
    assert final_rates(steps) == [50.0]


def test_a_rate_that_held_above_one_that_did_not_shows_nothing() -> None:
    steps = [step(100, Answer.YES), step(200, Answer.NO), step(300, Answer.YES), step(150, Answer.UNDECIDED)]
    assert bracket(steps) == (100, 200, (150,))
    assert bracket([*steps, step(200, Answer.YES)]).holds == 300


def test_the_final_run_has_both_ends_and_a_rate_between() -> None:
    assert final_rates([step(100, Answer.YES), step(104, Answer.NO)]) == [100, pytest.approx(101.98, rel=1e-3), 104]
    three = [step(100, Answer.YES), step(101, Answer.UNDECIDED), step(104, Answer.NO)]
    assert final_rates(three) == [100, 101, 104]


def test_the_estimate_is_where_the_latency_crosses_the_bound() -> None:
    steps = [step(100, Answer.YES, 1e6), step(200, Answer.NO, 4e6)]
    assert estimate_rate(steps, 2e6) == pytest.approx(150)
    assert estimate_rate(steps, 5e6) is None and estimate_rate(steps, 5e5) is None
    assert estimate_rate([*steps, step(200, Answer.NO, 16e6)], 4e6) == pytest.approx(150)


@given(st.floats(0.1, 1e6), st.sampled_from([0.5, 0.05, 0.01, 0.001]), st.integers(1, 10**10))
def test_repeats_are_bounded(rate: float, allowed: float, limit: int) -> None:
    seconds = runtime_s(rate, allowed, limit)
    assert 1 <= seconds <= 5
    if rate >= min_rate(allowed):
        assert seconds * rate * allowed >= 2.99
