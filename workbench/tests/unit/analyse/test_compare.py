"""Differences between targets: what is called one, and what is not."""

import math
from typing import Any

import numpy as np
import pytest
from builders import MEMORY_PLACE, make_case, make_place, make_run, make_sample
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.analyse.compare import compare, compare_pairs, ratio_interval
from assay.analyse.rows import analyse
from assay.analyse.significance import holm, mann_whitney, welch
from assay.cli.analysis import judge_row
from assay.model.result import Comparison, Row

SEED = 4
TRIALS = 3000
SLOW = [100e6, 101e6, 99e6, 100.5e6]
FAST = [200e6, 203e6, 198e6, 201e6]
FEW_VALUES = st.lists(st.floats(1, 1e6), min_size=2, max_size=12)


def compare_speeds(base: list[float], other: list[float], **fields: Any) -> tuple[Comparison, ...]:
    return compare(rows_of({"disk": base, "memory": other}, **fields))


def rows_of(speeds: dict[str, list[float]], **fields: Any) -> tuple[Row, ...]:
    """One row a target; `fields` are those of the samples of the disk."""
    cases = tuple(make_case(f"c000{number}", target) for number, target in enumerate(speeds, start=1))
    samples = [
        make_sample(case.id, repeat, speed, **(fields if case.target == "disk" else {}))
        for case in cases
        for repeat, speed in enumerate(speeds[case.target], start=1)
    ]
    run = make_run(repeats=len(speeds["disk"]), places=(make_place(), MEMORY_PLACE))
    return analyse(run, cases, (), samples, (), judge_row, quick=True).rows


def test_a_clear_difference_is_separable() -> None:
    (found,) = compare_speeds(SLOW, FAST)
    assert (found.base, found.other, found.operation) == ("disk", "memory", "read")
    assert found.ratio == pytest.approx(2.0, rel=1e-2)
    assert found.low is not None and found.high is not None
    assert 1.9 < found.low < found.ratio < found.high < 2.1
    assert found.separable and found.caveat == ""
    assert (found.n_base, found.n_other, found.effect) == (4, 4, 1.0)
    assert found.p_ranks == pytest.approx(2 / 70)
    assert found.p == found.p_adjusted == pytest.approx(stats.ttest_ind(*np.log([SLOW, FAST]), equal_var=False).pvalue)


def test_overlapping_repeats_are_not_separable() -> None:
    (found,) = compare_speeds([100e6, 108e6, 93e6, 99e6], [101e6, 110e6, 95e6, 100e6])
    assert found.low is not None and found.high is not None
    assert found.low < 1 < found.high
    assert not found.separable


def test_three_repeats_never_suffice() -> None:
    (found,) = compare_speeds(SLOW[:3], FAST)
    assert found.p_adjusted is not None and found.p_adjusted < 1e-4
    assert found.too_few and not found.separable


def test_repeats_that_do_not_count_are_no_repeats() -> None:
    (found,) = compare_speeds(SLOW, FAST, status="done")
    assert not found.too_few
    rows = rows_of({"disk": SLOW, "memory": FAST})
    failed = rows[0].samples[0].model_copy(update={"status": "failed"})
    broken = rows[0].model_copy(update={"samples": (failed, *rows[0].samples[1:])})
    (found,) = compare_pairs([(broken, rows[1])])
    assert (found.n_base, found.n_other, found.too_few, found.separable) == (3, 4, True, False)


def test_ranks_have_a_veto() -> None:
    """The t test sees a difference, but the order of the repeats could be an accident."""
    (found,) = compare_speeds([100.0, 101.0, 102.0, 103.0], [102.9, 105.0, 106.0, 107.0])
    assert found.p_adjusted is not None and found.p_adjusted < 0.02
    assert found.p_ranks == pytest.approx(4 / 70)
    assert not found.separable


def test_the_more_is_compared_the_more_it_takes() -> None:
    """One pair whose p is 0.03 is a difference by itself, and none among ten."""
    base, other = [100.0, 101.0, 102.0, 103.0], [102.5, 103.5, 104.5, 105.5]
    close = rows_of({"disk": base, "memory": other})
    alike = rows_of({"disk": [100.0, 101.0, 102.0, 103.0], "memory": [100.1, 101.1, 101.9, 102.9]})
    far = rows_of({"disk": [100.0, 100.1, 100.2, 100.3], "memory": [103.0, 103.1, 103.2, 103.3]})
    single = compare_pairs([(close[0], close[1])])[0]
    assert single.p is not None and single.p == single.p_adjusted
    many = compare_pairs([(far[0], far[1]), (close[0], close[1]), *[(alike[0], alike[1])] * 8])
    assert many[0].separable and not many[1].separable
    assert many[1].p == single.p and many[1].p_adjusted == pytest.approx(9 * single.p)


def test_one_repeat_has_a_ratio_without_interval() -> None:
    (found,) = compare_speeds([100e6], [200e6])
    assert (found.ratio, found.low, found.high, found.separable) == (2.0, None, None, False)
    assert (found.p, found.p_adjusted) == (None, None)


def test_a_bad_verdict_is_a_caveat() -> None:
    (found,) = compare_speeds(SLOW, FAST, device_read_bytes=0)
    assert found.caveat == "disk is cached"


def test_sides_without_a_result_are_not_compared() -> None:
    assert compare_speeds(SLOW, FAST, status="crashed") == ()


def test_equal_repeats_give_an_interval_without_width() -> None:
    low, high = ratio_interval([5.0, 5.0, 5.0], [10.0, 10.0, 10.0], 2.0)
    assert low == pytest.approx(2.0) and high == pytest.approx(2.0)
    (found,) = compare_speeds([5e6] * 4, [5e6] * 4)
    assert (found.p, found.p_ranks, found.effect, found.separable) == (1.0, 1.0, 0.0, False)
    (found,) = compare_speeds([5e6] * 4, [10e6] * 4)
    assert (found.p, found.effect, found.separable) == (0.0, 1.0, True)


@pytest.mark.parametrize(("n", "other_n", "sigma"), [(3, 3, 0.03), (5, 3, 0.1), (10, 10, 0.03)])
def test_the_interval_of_equal_targets_excludes_1_in_at_most_5_percent(n: int, other_n: int, sigma: float) -> None:
    random = np.random.default_rng(SEED)
    wrong = 0
    for _ in range(TRIALS):
        base = np.exp(random.normal(20, sigma, n)).tolist()
        other = np.exp(random.normal(20, sigma, other_n)).tolist()
        low, high = ratio_interval(base, other, float(np.median(other) / np.median(base)))
        assert low is not None and high is not None
        wrong += not low <= 1 <= high
    assert wrong / TRIALS <= 0.06


@given(FEW_VALUES, FEW_VALUES)
def test_welch_is_scipys(base: list[float], other: list[float]) -> None:
    found = welch(base, other)
    logs = np.log(base), np.log(other)
    if min(np.std(logs[0]), np.std(logs[1])) < 1e-6:
        return
    assert found is not None
    assert found.p == pytest.approx(stats.ttest_ind(*logs, equal_var=False).pvalue, rel=1e-6, abs=1e-9)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=7), st.lists(st.integers(0, 9), min_size=1, max_size=7))
def test_mann_whitney_is_exact_also_where_values_are_equal(base: list[int], other: list[int]) -> None:
    p, delta = mann_whitney(base, other)
    both = np.array([*base, *other])
    ranks = stats.rankdata(both)
    found = ranks[len(base) :].sum()
    sums = np.array([ranks[list(chosen)].sum() for chosen in _choices(len(both), len(other))])
    assert p == pytest.approx(min(1.0, 2 * min((sums <= found + 1e-9).mean(), (sums >= found - 1e-9).mean())))
    wins = sum(np.sign(there - here) for there in other for here in base)
    assert delta == pytest.approx(wins / (len(base) * len(other)))


def _choices(count: int, chosen: int) -> list[tuple[int, ...]]:
    from itertools import combinations

    return list(combinations(range(count), chosen))


@pytest.mark.parametrize("counts", [(4, 4), (10, 9), (30, 30), (60, 61)])
def test_mann_whitney_without_equal_values_is_scipys(counts: tuple[int, int]) -> None:
    random = np.random.default_rng(SEED)
    base, other = random.normal(0, 1, counts[0]), random.normal(0.6, 1, counts[1])
    p, delta = mann_whitney(base.tolist(), other.tolist())
    theirs = stats.mannwhitneyu(other, base, method="exact" if sum(counts) <= 100 else "asymptotic")
    assert p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert delta == pytest.approx(2 * theirs.statistic / math.prod(counts) - 1)
    assert mann_whitney(other.tolist(), base.tolist())[1] == pytest.approx(-delta)


def test_holm() -> None:
    """The example of Holm's adjustment: 4 x 0.005, 3 x 0.01, then the greatest so far."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
