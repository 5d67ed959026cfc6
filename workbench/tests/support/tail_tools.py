"""Repeats with known latencies, and studies whose percentiles are compared."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from builders import MEMORY_PLACE, MS, hdr, make_case, make_place, make_run, make_sample
from scipy import stats

from assay.analyse import histograms
from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.percentile import PERCENTILES
from assay.model.result.result import ComparedQuantity, Comparison, Percentile, ResultRow, RunAnalysis
from assay.model.result.sample import Sample

Floats = npt.NDArray[np.float64]


SEED = 20261125


def sample(repeat: int, values: Sequence[int], **fields: Any) -> Sample:
    """A repeat with these latencies in nanoseconds."""
    text = hdr(list(values))
    tail = histograms.summary(histograms.decode(text))
    latency = {"min": float(min(values)), "mean": float(np.mean(values)), **tail, "max": float(max(values))}
    return make_sample(repeat=repeat, ops=len(values), latency=latency, histogram=text, **fields)


def row_of(samples: Sequence[Sample]) -> ResultRow:
    return analyse(make_run(repeats=len(samples)), (make_case(),), (), samples, (), judge).rows[0]


def percentile(samples: Sequence[Sample], name: str) -> Percentile:
    found = row_of(samples).percentile(name)
    assert found is not None
    return found


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


def compared(base: Floats, other: Floats, of: ComparedQuantity = "p99", **fields: Any) -> list[Comparison]:
    return [pair for pair in study(base, other, **fields).latency_comparisons if pair.of == of]
