"""Percentiles of equal targets differ, and intervals hold the truth, as often as is promised."""

import numpy as np
import pytest
from builders import MS
from soak import times
from tail_tools import SEED, compared, percentile, sample, tails

STUDIES = times(150, 2000)


MAX_WRONG = times(15, 130)
"""Of the studies: where 5 of 100 are wrong, more are in less than one of a hundred simulations."""


def test_the_interval_of_repeats_holds_what_all_operations_together_tell() -> None:
    """Where all repeats are alike: in 95 of 100 runs, and a little more or less."""
    random = np.random.default_rng(SEED)
    runs, held = times(60, 400), 0
    for _ in range(runs):
        every = (MS * np.exp(random.normal(0, 0.5, (5, 2000)))).astype(int).tolist()
        found = percentile([sample(repeat, values) for repeat, values in enumerate(every, start=1)], "p99")
        low, high = found.interval
        assert low is not None and high is not None and found.pooled is not None
        held += low <= found.pooled <= high
    assert held >= 0.9 * runs


@pytest.mark.parametrize("points", [1, 6])
def test_p99_of_equal_targets_differ_in_at_most_5_of_100_studies(points: int) -> None:
    random = np.random.default_rng(SEED + points)
    wrong = 0
    for _ in range(STUDIES):
        base, other = (tails(random, (points, 6), 1500, "p99") for _ in range(2))
        wrong += any(pair.separable for pair in compared(base, other))
    assert wrong <= MAX_WRONG


def test_a_p99_that_is_half_as_long_again_is_found() -> None:
    random = np.random.default_rng(SEED)
    found = 0
    for _ in range(times(20, 200)):
        base, other = (tails(random, (6, 10), 1500, "p99") for _ in range(2))
        other[0] *= 1.5
        first, *rest = compared(base, other)
        found += (
            first.separable and not first.is_better and first.ratio > 1 and not any(pair.separable for pair in rest)
        )
    assert found >= 0.9 * times(20, 200)
