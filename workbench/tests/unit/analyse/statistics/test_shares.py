"""Bounds of a share of operations, held against exact sums and against simulated repeats."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.statistics.shares import TAIL, EffectiveShare, Exceeding, effective_share
from assay.analyse.statistics.special import beta_share


@given(st.integers(1, 60), st.integers(1, 60), st.floats(0.01, 0.99))
def test_beta_share_is_the_binomial_tail(a: int, b: int, share: float) -> None:
    trials = a + b - 1
    exact = math.fsum(math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(a, trials + 1))
    assert beta_share(a, b, share) == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_beta_share_has_its_ends() -> None:
    assert (beta_share(3, 4, 0.0), beta_share(3, 4, 1.0)) == (0.0, 1.0)


@given(st.integers(0, 2000), st.integers(1, 2000), st.floats(0.001, 0.5))
def test_a_share_is_never_both_below_and_above(over: int, more: int, limit: float) -> None:
    share = EffectiveShare(over / (over + more), float(over + more))
    assert not (share.is_below(limit) and share.is_above(limit))
    if share.is_below(limit):
        assert share.share < limit
    if share.is_above(limit):
        assert share.share > limit


def test_none_of_so_many_operations_shows_a_share_below_one_percent() -> None:
    """The exact bound of none over: (1 - limit)^n must be below 2.5 %."""
    needed = math.ceil(math.log(TAIL) / math.log(0.99))
    assert EffectiveShare(0.0, needed).is_below(0.01)
    assert not EffectiveShare(0.0, needed - 1).is_below(0.01)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(50, 500)), min_size=2, max_size=12))
def test_repeats_never_count_for_more_than_their_operations(repeats: list[tuple[int, int]]) -> None:
    found = effective_share([Exceeding(*each) for each in repeats])
    assert 0 <= found.ops <= sum(ops for _, ops in repeats)
    assert found.share == pytest.approx(sum(over for over, _ in repeats) / sum(ops for _, ops in repeats))


def test_one_repeat_shows_nothing() -> None:
    assert not effective_share([Exceeding(0, 10**6)]).is_below(0.01)
    assert not effective_share([Exceeding(10**6, 10**6)]).is_above(0.01)


def test_repeats_that_differ_count_for_less() -> None:
    alike = effective_share([Exceeding(10, 1000)] * 6)
    apart = effective_share([Exceeding(60, 1000), *[Exceeding(0, 1000)] * 5])
    assert alike.share == pytest.approx(apart.share)
    assert apart.ops < alike.ops / 5


@pytest.mark.parametrize("concentration", [20.0, 1e6])
def test_bounds_are_wrong_rarely(concentration: float) -> None:
    """Shares of repeats differ (beta-binomial) around a true share that equals the limit: neither answer is right."""
    random = np.random.default_rng(3)
    truth, wrong, trials = 0.05, 0, 600
    for _ in range(trials):
        shares = random.beta(truth * concentration, (1 - truth) * concentration, 7)
        found = effective_share([Exceeding(int(random.binomial(400, share)), 400) for share in shares])
        wrong += found.is_below(truth) or found.is_above(truth)
    assert wrong <= 0.10 * trials
