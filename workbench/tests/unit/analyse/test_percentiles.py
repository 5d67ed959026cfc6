"""Percentiles of latency: when one can be said, how well it is known, and whether two of them differ."""

import numpy as np
import pytest
from builders import MS, make_sample
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tail_tools import SEED, compared, percentile, row_of, sample, study, tails

from assay.analyse.compare import compare, compare_medians
from assay.analyse.percentiles import percentiles, repeat_percentiles
from assay.model.result.percentile import (
    MAX_INTERVAL_RATIO,
    MIN_OPS,
    PERCENTILES,
    PercentileQuality,
    reliable_latencies,
)
from assay.model.result.sample import Sample
from assay.model.result.verdict import Verdict

SEEN = (1.8, 6.8, 4.4, 4.5, 113.6)
"""p99 of five repeats in milliseconds, whose rates were alike."""


def with_tail(repeat: int, p99_ms: float, ops: int = 2000) -> Sample:
    """Most operations take 1 ms, the slowest hundredth and a few more take as long as that."""
    slow = ops // 50
    return sample(repeat, [MS] * (ops - slow) + [int(p99_ms * MS)] * slow)


def test_it_takes_ten_operations_beyond_a_percentile() -> None:
    assert MIN_OPS == {"p50": 20, "p90": 100, "p99": 1000, "p99.9": 10_000, "p99.99": 100_000}
    for name, percent in PERCENTILES.items():
        beyond = min(percent, 100 - percent) / 100
        # The share of latencies below the one of that rank, in 95 of 100 repeats: within a factor of 2 of what its
        # name says is beyond it.
        rank = round(MIN_OPS[name] * percent / 100)
        ends = 1 - stats.beta.ppf([0.975, 0.025], rank, MIN_OPS[name] + 1 - rank)
        assert beyond / 2 <= ends[0] <= ends[1] <= beyond * 2
        # With a tenth of the operations one lies beyond it.
        few, rank = MIN_OPS[name] // 10, round(MIN_OPS[name] * percent / 1000)
        assert (1 - stats.beta.ppf(0.025, rank, few + 1 - rank)) / beyond > 1.5


def test_a_percentile_that_was_not_printed_is_not_called_too_few() -> None:
    """Imported samples may have a mean alone, of operations enough for most percentiles."""
    known = make_sample(ops=5000, latency={"mean": 1.0 * MS})
    assert [item.name for item in percentiles([known], {})] == ["p99.9", "p99.99"]


@given(ops=st.integers(1, 200_000))
def test_what_so_many_operations_can_tell(ops: int) -> None:
    every = {"min": 1.0, "mean": 2.0, **dict.fromkeys(PERCENTILES, 3.0), "max": 4.0}
    kept = reliable_latencies(every, ops)
    assert {"min", "mean", "max"} <= kept.keys()
    assert [name in kept for name in PERCENTILES] == [ops >= least for least in MIN_OPS.values()]


def test_a_tail_that_repeats_do_not_agree_on_is_uncertain_though_the_rate_is_ok() -> None:
    row = row_of([with_tail(repeat, p99) for repeat, p99 in enumerate(SEEN, start=1)])
    assert row.verdict is Verdict.OK
    half, tail = row.percentile("p50"), row.percentile("p99")
    assert half is not None and tail is not None
    assert half.quality is PercentileQuality.KNOWN
    assert tail.quality is PercentileQuality.UNCERTAIN
    assert tail.estimate is not None and tail.estimate.n == 5
    assert tail.value == pytest.approx(4.5 * MS, rel=1e-3)
    assert (tail.lowest, tail.highest) == (pytest.approx(1.8 * MS, rel=1e-3), pytest.approx(113.6 * MS, rel=1e-3))
    low, high = tail.interval
    assert low is not None and high is not None and high > 10 * MAX_INTERVAL_RATIO * low
    assert (tail.fewest_ops, tail.ops) == (2000, 10_000)
    assert row.latency["p99"] == pytest.approx(4.5 * MS, rel=1e-3), "all of them together"


def test_a_tail_that_repeats_agree_on_is_known() -> None:
    assert percentile([with_tail(n, p99) for n, p99 in enumerate((4.4, 4.6, 4.5, 4.7, 4.3))], "p99").quality == "known"


def test_five_operations_have_no_p999_and_no_median() -> None:
    row = row_of([sample(repeat, [MS, MS, MS, MS, 7 * MS]) for repeat in (1, 2, 3)])
    assert list(row.latency) == ["min", "mean", "max"]
    assert {item.quality for item in row.percentiles} == {PercentileQuality.TOO_FEW}
    assert {item.value for item in row.percentiles} == {None}
    (top,) = [item for item in row.percentiles if item.name == "p99.9"]
    assert (top.fewest_ops, top.ops, top.min_ops) == (5, 15, 10_000)


def test_what_only_all_operations_together_can_tell_has_no_interval() -> None:
    found = percentile([sample(repeat, [MS] * 392 + [9 * MS] * 8) for repeat in (1, 2, 3)], "p99")
    assert (found.estimate, found.quality, found.ops) == (None, PercentileQuality.NO_INTERVAL, 1200)
    assert found.value == found.pooled == pytest.approx(9 * MS, rel=1e-3)


def test_a_slow_repeat_with_few_operations_is_not_left_out() -> None:
    fast = [with_tail(repeat, 2.0) for repeat in (1, 2, 3)]
    slow = with_tail(4, 500.0, ops=900)
    assert repeat_percentiles([*fast, slow], "p99") == {}
    found = percentile([*fast, slow], "p99")
    assert found.quality is PercentileQuality.NO_INTERVAL and found.value == pytest.approx(2 * MS, rel=1e-3)


def test_one_repeat_has_no_interval() -> None:
    found = percentile([with_tail(1, 5.0)], "p99")
    assert (found.quality, found.interval) == (PercentileQuality.NO_INTERVAL, (None, None))
    assert found.value == pytest.approx(found.pooled, rel=1e-3)


def test_repeats_without_latencies_have_no_percentiles() -> None:
    assert row_of([make_sample(repeat=repeat) for repeat in (1, 2, 3)]).percentiles == ()


LATENCIES = st.lists(st.integers(1, 60_000_000_000), min_size=1, max_size=60)


@given(repeats=st.lists(LATENCIES, min_size=1, max_size=6), copies=st.sampled_from([1, 7, 40, 400, 4000]))
def test_percentiles_are_in_order_and_within_their_intervals(repeats: list[list[int]], copies: int) -> None:
    counts = min(map(len, repeats))
    samples = [
        sample(number, values[:counts]).model_copy(update={"ops": copies * counts})
        for number, values in enumerate(repeats, start=1)
    ]
    found = percentiles(samples, {})
    assert [item.name for item in found] == list(PERCENTILES)
    told = [item for item in found if item.value is not None]
    assert [item.name for item in told] == [name for name, least in MIN_OPS.items() if copies * counts >= least]
    values = [item.value for item in told if item.value is not None]
    assert values == sorted(values)
    for item in told:
        assert item.lowest is not None and item.highest is not None and item.value is not None
        assert item.lowest <= item.value <= item.highest
        low, high = item.interval
        assert (low is None) == (high is None) == (item.quality is PercentileQuality.NO_INTERVAL) == (len(repeats) == 1)
        if low is not None and high is not None:
            assert low <= item.value <= high
            assert (item.quality is PercentileQuality.UNCERTAIN) == (high > MAX_INTERVAL_RATIO * low)


def test_both_sides_must_have_enough_operations() -> None:
    random = np.random.default_rng(SEED)
    base, other = (tails(random, (2, 5), 1500, "p99") for _ in range(2))
    assert len(compared(base, other)) == 2
    assert compared(base, other, ops=999) == []
    assert len(compared(base, other, of="p50", ops=999)) == 2
    assert compared(base, other, of="p50", ops=19) == []


def test_latencies_take_nothing_from_the_comparison_of_rates() -> None:
    random = np.random.default_rng(SEED)
    base, other = (tails(random, (3, 5), 1500, "p99") for _ in range(2))
    assert study(base, other).comparisons == study(base, other, ops=1).comparisons
    for of in ("p50", "p99"):
        pairs = compared(base, other, of)
        least = min(pairs, key=lambda pair: pair.p or 0.0)
        assert least.p is not None and least.p_adjusted == pytest.approx(min(1.0, 3 * least.p))


def test_what_a_histogram_cannot_tell_apart_is_no_difference() -> None:
    base = np.full((1, 5), 200_063.0)
    (same,) = compared(base, np.full((1, 5), 200_191.0))
    (apart,) = compared(base, np.full((1, 5), 201_000.0))
    assert (same.separable, apart.separable) == (False, True)
    (same,) = compared(np.full((1, 5), 40.0), np.full((1, 5), 41.0))
    assert not same.separable


def test_runs_are_compared_by_their_medians() -> None:
    random = np.random.default_rng(SEED)
    rows = [study(tails(random, (1, 5), 1500, "p99"), np.ones((1, 5))).rows[0] for _ in range(6)]
    slow = [study(3 * tails(random, (1, 5), 1500, "p99"), np.ones((1, 5))).rows[0] for _ in range(3)]
    (same,) = compare_medians([(rows[:3], rows[3:])], None, None, "p99")
    (apart,) = compare_medians([(rows[:3], slow)], None, None, "p99")
    assert (same.unit, same.n_base, same.separable) == ("run", 3, False)
    assert apart.separable and not apart.is_better and apart.ratio == pytest.approx(3, rel=0.4)
    (few,) = compare_medians([(rows[:1], slow[:1])], None, None, "p99")
    assert few.has_too_few and not few.separable


def test_only_targets_with_operations_enough_are_compared() -> None:
    rows = study(np.ones((1, 4)) * MS, np.ones((1, 4)) * MS).rows
    few = rows[0].model_copy(update={"samples": tuple(s.model_copy(update={"ops": 10}) for s in rows[0].samples)})
    assert len(compare(rows, of="p99")) == 1 and compare([few, rows[1]], of="p99") == ()
