"""Finds storage that did not answer for a while: an operation that took far longer than the others of its repeat."""

from collections.abc import Iterable
from typing import NamedTuple

from assay.analyse.usable import usable
from assay.model.result.result import ResultRow
from assay.model.result.sample import Sample

MIN_NS = 500_000_000
MIN_RATIO = 20
"""A stall takes at least MIN_NS, and this many times the median latency."""


class StalledResult(NamedTuple):
    """The longest operation of a result.

    Attributes:
        longest_ns: Its latency.
        usual_ns: Median latency of that repeat.
    """

    row: ResultRow
    longest_ns: float
    usual_ns: float


def stalls(rows: Iterable[ResultRow]) -> list[StalledResult]:
    """Return one stall for each result that has any, the longest first.

    Args:
        rows: Rows of the run.
    """
    found = [
        StalledResult(row, *max(pairs))
        for row in rows
        if (pairs := [pair for one in usable(row.samples) for pair in _of(one)])
    ]
    return sorted(found, key=lambda stall: -stall.longest_ns)


def _of(sample: Sample) -> list[tuple[float, float]]:
    """Return longest and median latency of a repeat, if it has a stall that this machine did not cause."""
    longest, usual = sample.latency.get("max", 0.0), sample.latency.get("p50", 0.0)
    here = max(sample.watch.longest_ns if sample.watch else 0, sample.cpu_wait_ns or 0)
    stalled = longest >= MIN_NS and longest >= MIN_RATIO * usual > 0 and here < longest / 2
    return [(longest, usual)] if stalled else []
