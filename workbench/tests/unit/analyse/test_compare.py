"""Differences between targets: what is called one, and what is not."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from builders import MEMORY_PLACE, make_case, make_place, make_run, make_sample
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.analyse.compare import LEVEL, MIN_TRIMMED, TRIMMED_SHARE, compare, compare_rounds
from assay.analyse.rows import analyse
from assay.analyse.statistics.significance import cliffs_delta, t_p_value, t_quantile
from assay.judge.judge import judge
from assay.model.result.result import Comparison, ResultRow

SEED = 4
SLOW = [100e6, 101e6, 99e6, 100.5e6]
FAST = [200e6, 203e6, 198e6, 201e6]
VALUES = st.lists(st.floats(1, 1e6), min_size=2, max_size=11)
Pairs = list[tuple[ResultRow, ResultRow]]


def compare_speeds(base: list[float], other: list[float], **fields: Any) -> tuple[Comparison, ...]:
    return compare(rows_of({"disk": base, "memory": other}, **fields))


def rows_of(speeds: dict[str, list[float]], **fields: Any) -> tuple[ResultRow, ...]:
    """One row a target; `fields` are those of the samples of the disk."""
    cases = tuple(make_case(f"c000{number}", target) for number, target in enumerate(speeds, start=1))
    samples = [
        make_sample(case.id, repeat, speed, **(fields if case.target == "disk" else {}))
        for case in cases
        for repeat, speed in enumerate(speeds[case.target], start=1)
    ]
    run = make_run(repeats=len(speeds["disk"]), places=(make_place(), MEMORY_PLACE))
    return analyse(run, cases, (), samples, (), judge, quick=True).rows


def test_a_clear_difference_is_separable() -> None:
    (found,) = compare_speeds(SLOW, FAST)
    assert (found.base, found.other, found.operation) == ("disk", "memory", "read")
    assert found.ratio == pytest.approx(2.0, rel=1e-2)
    assert found.low is not None and found.high is not None
    assert 1 < found.low < found.ratio < found.high
    assert found.separable and found.caveat == ""
    assert (found.n_base, found.n_other, found.effect) == (4, 4, 1.0)
    assert found.p == found.p_adjusted and (found.simultaneous_low, found.simultaneous_high) == (found.low, found.high)


def test_overlapping_repeats_are_not_separable() -> None:
    (found,) = compare_speeds([100e6, 108e6, 93e6, 99e6], [101e6, 110e6, 95e6, 100e6])
    assert found.low is not None and found.high is not None
    assert found.low < 1 < found.high
    assert not found.separable


def test_three_repeats_never_suffice() -> None:
    (found,) = compare_speeds(SLOW[:3], FAST)
    assert found.p_adjusted is not None and found.p_adjusted < 1e-4
    assert found.has_too_few and not found.separable


def test_repeats_that_do_not_count_are_no_repeats() -> None:
    (found,) = compare_speeds(SLOW, FAST, status="done")
    assert not found.has_too_few
    rows = rows_of({"disk": SLOW, "memory": FAST})
    failed = rows[0].samples[0].model_copy(update={"status": "failed"})
    broken = rows[0].model_copy(update={"samples": (failed, *rows[0].samples[1:])})
    (found,) = compare_rounds([(broken, rows[1])])
    assert (found.n_base, found.n_other, found.has_too_few, found.separable) == (3, 4, True, False)


def lines(random: np.random.Generator, count: int, repeats: int, noise: float, ratio: float) -> Pairs:
    """Pairs of rows with the same noise, of which the other side is faster by that factor."""
    found = []
    for _ in range(count):
        base, other = np.exp(random.normal(20, noise, (2, repeats)))
        first, second = rows_of({"disk": base.tolist(), "memory": (ratio * other).tolist()})
        found.append((first, second))
    return found


def test_rounds_are_compared_with_themselves() -> None:
    """What the machine does to a whole round falls out; the same rates in another order show nothing."""
    random = np.random.default_rng(SEED)
    rounds = np.exp(random.normal(0, 0.3, 12))
    base, other = 100 * rounds, 105 * rounds * np.exp(random.normal(0, 0.003, 12))
    (paired,) = compare_speeds(base.tolist(), other.tolist())
    assert paired.separable and paired.ratio == pytest.approx(1.05, rel=0.01)
    (apart,) = compare_speeds(base.tolist(), random.permutation(other).tolist())
    assert not apart.separable


def test_what_failed_on_one_side_leaves_its_round_out() -> None:
    rows = rows_of({"disk": [100.0, 200.0, 400.0, 100.0, 300.0], "memory": [110.0, 220.0, 440.0, 110.0, 330.0]})
    failed = rows[0].samples[1].model_copy(update={"status": "failed"})
    broken = rows[0].model_copy(update={"samples": (rows[0].samples[0], failed, *rows[0].samples[2:])})
    (found,) = compare_rounds([(broken, rows[1])])
    assert (found.n_base, found.n_other) == (4, 5)
    assert found.simultaneous_low == pytest.approx(1.1, rel=0.01) or found.ratio > found.simultaneous_low


def test_noise_is_learnt_from_other_comparisons() -> None:
    random = np.random.default_rng(SEED)
    pairs = lines(random, 40, 6, 0.03, 1.1)
    alone = sum(compare_rounds([pair])[0].separable for pair in pairs)
    together = sum(found.separable for found in compare_rounds(pairs))
    assert alone <= 20 and together >= 36


def test_an_outlier_is_no_difference_where_all_else_is_quiet() -> None:
    random = np.random.default_rng(SEED)
    quiet = lines(random, 40, 6, 0.01, 1.0)
    base, other = [100.0, 101.0, 99.0, 100.0, 100.5, 99.5], [100.0, 99.0, 101.0, 180.0, 100.0, 100.0]
    odd = rows_of({"disk": base, "memory": other})
    found = compare_rounds([*quiet, (odd[0], odd[1])])[-1]
    assert found.p_own is not None and found.p_own > LEVEL and not found.separable


def test_repeats_that_resemble_their_neighbours_count_for_less() -> None:
    """Two levels, each held for half of the rounds, are two observations, not twelve."""
    level = [100.0, 101.0, 99.0, 100.0, 101.0, 99.0]
    (found,) = compare_speeds(level * 2, [1.3 * value for value in level] + level)
    assert found.autocorrelation is not None and found.autocorrelation > 0.6
    assert not found.separable


def test_the_more_is_compared_the_more_it_takes() -> None:
    random = np.random.default_rng(SEED)
    pairs = lines(random, 20, 8, 0.03, 1.0)
    found = compare_rounds(pairs)
    assert all(item.p is not None and item.p_adjusted is not None and item.p_adjusted >= item.p for item in found)
    least = min(item.p for item in found if item.p is not None)
    assert min(item.p_adjusted for item in found if item.p_adjusted is not None) == pytest.approx(min(1.0, 20 * least))


def test_looking_often_takes_more() -> None:
    random = np.random.default_rng(SEED)
    pairs = lines(random, 20, 6, 0.03, 1.07)
    called = [sum(item.separable for item in compare_rounds(pairs, looks=looks)) for looks in (1, 6, 1000)]
    assert called[0] >= called[1] >= called[2] and called[0] > called[2]


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=6), st.integers(1, 9))
def test_intervals_contain_each_other_and_the_ratio(speeds: list[tuple[list[float], list[float]]], looks: int) -> None:
    pairs = [rows_of({"disk": base, "memory": other}) for base, other in speeds]
    for found in compare_rounds([(pair[0], pair[1]) for pair in pairs], looks=looks):
        if found.low is None or found.high is None or found.simultaneous_low is None or found.simultaneous_high is None:
            assert not found.separable
            continue
        assert found.simultaneous_low <= found.low <= found.ratio <= found.high <= found.simultaneous_high
        assert 0 <= found.autocorrelation <= 1 and -1 <= found.effect <= 1  # type: ignore[operator]


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
    (found,) = compare_speeds([5e6] * 4, [5e6] * 4)
    assert (found.p, found.p_own, found.effect, found.separable) == (1.0, 1.0, 0.0, False)
    (found,) = compare_speeds([5e6] * 4, [10e6] * 4)
    assert (found.p, found.effect, found.separable) == (0.0, 1.0, True)
    assert (found.low, found.high) == (pytest.approx(2.0), pytest.approx(2.0))


@given(VALUES, VALUES)
def test_where_neighbours_are_not_alike_it_is_students_test(base: list[float], other: list[float]) -> None:
    count = min(len(base), len(other))
    (found,) = compare_speeds(base[:count], other[:count])
    assert count < MIN_TRIMMED
    apart = np.log(other[:count]) - np.log(base[:count])
    if found.autocorrelation or np.std(apart) < 1e-6:
        return
    expected = stats.ttest_rel(np.log(other[:count]), np.log(base[:count])).pvalue
    assert found.p_own == found.p == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(st.integers(0, 2**32), st.integers(MIN_TRIMMED, 60))
def test_of_many_rounds_it_is_yuens_test_of_the_middle_ones(seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    base, other = 100 * np.exp(0.05 * random.standard_t(2, (2, count)))
    (found,) = compare_speeds(base.tolist(), other.tolist())
    if found.autocorrelation:
        return
    apart = np.log(other) - np.log(base)
    assert found.p_own == found.p == pytest.approx(_yuen(apart), rel=1e-6, abs=1e-9)


def _yuen(values: npt.NDArray[np.float64]) -> float:
    """The p-value by scipy's own trimmed mean and winsorized values."""
    kept = len(values) - 2 * int(TRIMMED_SHARE * len(values))
    pulled = np.asarray(stats.mstats.winsorize(values, (TRIMMED_SHARE, TRIMMED_SHARE)))
    error = pulled.std(ddof=1) / (kept / len(values)) / np.sqrt(len(values))
    return float(2 * stats.t.sf(abs(stats.trim_mean(values, TRIMMED_SHARE)) / error, kept - 1))


def test_a_few_stalls_of_one_side_hide_no_difference() -> None:
    random = np.random.default_rng(SEED)
    base, other = np.exp(0.03 * random.standard_normal((2, 20)))
    other *= 0.9
    base[3] *= 0.2
    base[11] *= 0.3
    (found,) = compare_speeds((1e8 * base).tolist(), (1e8 * other).tolist())
    assert found.separable and found.ratio == pytest.approx(0.9, rel=0.03)
    assert stats.ttest_rel(np.log(other), np.log(base)).pvalue > 0.2


def test_a_difference_whose_medians_say_the_contrary_is_none() -> None:
    """A machine with two speeds: one side is the same at one and faster at the other, which is not its median."""
    base, other = ([high, low] * 5 + [high] for high, low in ((1e8, 0.6e8), (0.99e8, 0.9e8)))
    (found,) = compare_speeds(base, other)
    assert found.p_adjusted is not None and found.p_adjusted < LEVEL
    assert found.ratio < 1 and not found.separable


@given(st.floats(0.01, 50), st.floats(1, 1e9))
def test_quantile_and_p_value_belong_together(error: float, freedom: float) -> None:
    for share in (0.6, 0.975, 0.9999):
        reach = t_quantile(share, freedom)
        assert reach == pytest.approx(stats.t.ppf(share, min(freedom, 1e6)), rel=1e-6)
        assert t_p_value(reach * error, error, freedom) == pytest.approx(2 * (1 - share), rel=1e-3)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9), st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_cliffs_delta(base: list[int], other: list[int]) -> None:
    wins = sum(np.sign(there - here) for there in other for here in base)
    assert cliffs_delta(base, other) == pytest.approx(wins / (len(base) * len(other)))
    assert cliffs_delta(other, base) == pytest.approx(-cliffs_delta(base, other))
