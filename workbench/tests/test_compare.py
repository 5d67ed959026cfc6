"""Ratios between targets."""

from typing import Any

import numpy as np
import pytest
from builders import MEMORY_PLACE, make_case, make_place, make_run, make_sample

from assay.analyse.compare import ratio_interval
from assay.analyse.rows import analyse
from assay.cli.analysis import judge_row
from assay.model.result import Comparison

SEED = 4
TRIALS = 3000


def compare_speeds(base: list[float], other: list[float], **fields: Any) -> tuple[Comparison, ...]:
    cases = (make_case("c0001", "disk"), make_case("c0002", "memory"))
    samples = [
        make_sample(case.id, repeat, speed, **(fields if case.target == "disk" else {}))
        for case, speeds in zip(cases, (base, other), strict=True)
        for repeat, speed in enumerate(speeds, start=1)
    ]
    run = make_run(repeats=len(base), places=(make_place(), MEMORY_PLACE))
    return analyse(run, cases, (), samples, (), judge_row).comparisons


def test_a_clear_difference_is_separable() -> None:
    (found,) = compare_speeds([100e6, 101e6, 99e6], [200e6, 203e6, 198e6])
    assert (found.base, found.other, found.operation) == ("disk", "memory", "read")
    assert found.ratio == pytest.approx(2.0)
    assert found.low is not None and found.high is not None
    assert 1.9 < found.low < 2.0 < found.high < 2.1
    assert found.separable and found.caveat == ""


def test_overlapping_repeats_are_not_separable() -> None:
    (found,) = compare_speeds([100e6, 108e6, 93e6], [101e6, 110e6, 95e6])
    assert found.low is not None and found.high is not None
    assert found.low < 1 < found.high
    assert not found.separable


def test_two_repeats_never_suffice() -> None:
    (found,) = compare_speeds([100e6, 100.1e6], [200e6, 200.1e6])
    assert found.low is not None and found.low > 1
    assert not found.separable


def test_one_repeat_has_a_ratio_without_interval() -> None:
    (found,) = compare_speeds([100e6], [200e6])
    assert (found.ratio, found.low, found.high, found.separable) == (2.0, None, None, False)


def test_a_bad_verdict_is_a_caveat() -> None:
    (found,) = compare_speeds([100e6, 101e6, 99e6], [200e6, 203e6, 198e6], device_read_bytes=0)
    assert found.caveat == "disk is cached"


def test_sides_without_a_result_are_not_compared() -> None:
    assert compare_speeds([100e6, 101e6, 99e6], [200e6, 203e6, 198e6], status="crashed") == ()


def test_equal_repeats_give_an_interval_without_width() -> None:
    low, high = ratio_interval([5.0, 5.0, 5.0], [10.0, 10.0, 10.0], 2.0)
    assert low == pytest.approx(2.0) and high == pytest.approx(2.0)


@pytest.mark.parametrize(("n", "other_n", "sigma"), [(3, 3, 0.03), (5, 3, 0.1), (10, 10, 0.03)])
def test_equal_targets_are_called_different_in_at_most_5_percent(n: int, other_n: int, sigma: float) -> None:
    random = np.random.default_rng(SEED)
    wrong = 0
    for _ in range(TRIALS):
        base = np.exp(random.normal(20, sigma, n)).tolist()
        other = np.exp(random.normal(20, sigma, other_n)).tolist()
        low, high = ratio_interval(base, other, float(np.median(other) / np.median(base)))
        assert low is not None and high is not None
        wrong += not low <= 1 <= high
    assert wrong / TRIALS <= 0.06
