"""Percentiles of equal targets differ, and intervals hold the truth, as often as is promised."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from builders import MEMORY_PLACE, MS, hdr, make_case, make_place, make_run, make_sample
from scipy import stats
from soak import times

from assay.analyse import histograms
from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.percentile import PERCENTILES
from assay.model.result.result import Compared, Comparison, Percentile, Row, RunAnalysis
from assay.model.result.sample import Sample

Floats = npt.NDArray[np.float64]


STUDIES = times(150, 2000)


MOST_WRONG = times(15, 130)
"""Of the studies: where 5 of 100 are wrong, more are in less than one of a hundred simulations."""


SEED = 20261125


def sample(repeat: int, values: Sequence[int], **fields: Any) -> Sample:
    """A repeat with these latencies in nanoseconds."""
    text = hdr(list(values))
    tail = histograms.summary(histograms.decode(text))
    latency = {"min": float(min(values)), "mean": float(np.mean(values)), **tail, "max": float(max(values))}
    return make_sample(repeat=repeat, ops=len(values), latency=latency, histogram=text, **fields)


def row_of(samples: Sequence[Sample]) -> Row:
    return analyse(make_run(repeats=len(samples)), (make_case(),), (), samples, (), judge).rows[0]


def percentile(samples: Sequence[Sample], name: str) -> Percentile:
    found = row_of(samples).percentile(name)
    assert found is not None
    return found


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


def tails(random: np.random.Generator, shape: tuple[int, ...], ops: int, name: str) -> Floats:
    """Percentiles of so many latencies each, in nanoseconds.

    Latencies are log-normal. The share of all latencies that lies below the one of rank k is a Beta variable, so that
    no latency needs to be drawn. Besides, each repeat is held up by a factor of its own, which has a long tail.
    """
    rank = int(np.ceil(ops * PERCENTILES[name] / 100))
    below = random.beta(rank, ops + 1 - rank, shape)
    held_up = np.exp(0.1 * np.abs(random.standard_t(3, shape)))
    found: Floats = MS * np.exp(0.5 * stats.norm.ppf(below)) * held_up
    return found


def study(base: Floats, other: Floats, ops: int = 1500) -> RunAnalysis:
    """Two targets, a point for each line; each value is the p50 and the p99 of a repeat."""
    cases, samples = [], []
    for target, values in (("disk", base), ("memory", other)):
        for point, line in enumerate(values.tolist()):
            case = make_case(f"c{len(cases) + 1:04}", target, axes={"record_size": 4096 * (point + 1)})
            cases.append(case)
            samples += [
                make_sample(case.id, repeat, ops=ops, latency={"p50": value, "p99": value}, histogram=None)
                for repeat, value in enumerate(line, start=1)
            ]
    run = make_run(repeats=base.shape[1], places=(make_place(), MEMORY_PLACE))
    return analyse(run, cases, (), samples, (), judge)


def compared(base: Floats, other: Floats, of: Compared = "p99", **fields: Any) -> list[Comparison]:
    return [pair for pair in study(base, other, **fields).latency_comparisons if pair.of == of]


@pytest.mark.parametrize("points", [1, 6])
def test_p99_of_equal_targets_differ_in_at_most_5_of_100_studies(points: int) -> None:
    random = np.random.default_rng(SEED + points)
    wrong = 0
    for _ in range(STUDIES):
        base, other = (tails(random, (points, 6), 1500, "p99") for _ in range(2))
        wrong += any(pair.separable for pair in compared(base, other))
    assert wrong <= MOST_WRONG


def test_a_p99_that_is_half_as_long_again_is_found() -> None:
    random = np.random.default_rng(SEED)
    found = 0
    for _ in range(times(20, 200)):
        base, other = (tails(random, (6, 10), 1500, "p99") for _ in range(2))
        other[0] *= 1.5
        first, *rest = compared(base, other)
        found += first.separable and not first.better and first.ratio > 1 and not any(pair.separable for pair in rest)
    assert found >= 0.9 * times(20, 200)
