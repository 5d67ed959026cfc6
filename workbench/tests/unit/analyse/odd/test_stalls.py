"""Operations that took far longer than all others."""

from typing import Any

import pytest
from builders import make_case, make_sample, row_of

from assay.analyse.anomalies.stalls import StalledResult, stalls
from assay.model.result.result import ResultRow
from assay.model.result.watch import Watch

MS = 1e6


def row(longest: float, usual: float = 2 * MS, **fields: Any) -> ResultRow:
    latency = {"min": usual / 2, "p50": usual, "mean": usual, "max": longest}
    quiet, odd = (
        make_sample(repeat=repeat, latency={**latency, "max": top}, **fields)
        for repeat, top in ((1, 3 * usual), (2, longest))
    )
    return row_of(make_case(), [1e8, 1e8]).model_copy(update={"samples": (quiet, odd)})


def watched(longest_ns: int) -> Watch:
    return Watch(interval_ns=1_000_000, elapsed_ns=5_000_000_000, longest_ns=longest_ns, away_ns=0)


@pytest.mark.parametrize(
    "found",
    [
        row(400 * MS),  # not half a second
        row(900 * MS, usual=50 * MS),  # slow storage is slow all the time
        row(900 * MS, cpu_wait_ns=600_000_000),  # it had no CPU
        row(900 * MS, watch=watched(700_000_000)),  # the engine stood still
        row(900 * MS, usual=0.0),
    ],
)
def test_what_is_no_stall_of_the_storage(found: ResultRow) -> None:
    assert stalls([found]) == []


def test_the_longest_comes_first_with_what_is_usual() -> None:
    short, long = row(600 * MS, watch=watched(1000)), row(1540 * MS, cpu_wait_ns=1000)
    assert stalls([short, long]) == [StalledResult(long, 1540 * MS, 2 * MS), StalledResult(short, 600 * MS, 2 * MS)]
