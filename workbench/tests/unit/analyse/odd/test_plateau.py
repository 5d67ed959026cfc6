"""Rates that stay the same whatever the size and the queue depth are behind a link or a rate limit."""

import pytest
from builders import make_case, make_place, row_of
from judge_tools import bind

from assay.analyse.anomalies.plateau import Plateau, plateaus
from assay.model.result.result import ResultRow
from assay.model.result.verdict import Verdict

PLACES = (make_place("store"),)
POINTS = ((4096, 1), (4096, 32), (1 << 20, 1), (1 << 20, 32))


def row(operation: str, rate: float, size: int = 4096, depth: int = 1, verdict: Verdict = Verdict.OK) -> ResultRow:
    axes = {"record_size": size, "queue_depth": depth}
    case = make_case(f"c{size}-{depth}", "store", (operation,), axes=axes)
    return row_of(case, [rate] * 5, verdict, operation=operation)


def rows(read: float = 24e6, write: float = 23e6, slow: float = 22e6) -> list[ResultRow]:
    """Reads and writes at all points; the smallest reads have another rate."""
    found = [row(name, rate, *point) for name, rate in (("read", read), ("write", write)) for point in POINTS]
    return [row("read", slow), *found[1:]]


def test_reads_and_writes_that_are_alike_at_all_points_are_a_plateau() -> None:
    assert plateaus(rows(), PLACES) == {"store": Plateau(22e6, 24e6)}


@pytest.mark.parametrize(
    "found",
    [
        rows(slow=10e6),
        rows(read=40e6),
        [one for one in rows() if one.operation == "read"],
        [row(name, 24e6, 4096, depth) for name in ("read", "write") for depth in (1, 8)],
        rows()[:3],
        [*rows(), row("write", 23e6, verdict=Verdict.THROTTLED)],
        [*rows(), row("write", 23e6, verdict=Verdict.NETWORK_BOUND)],
    ],
    ids=["small ones slower", "reads faster", "reads only", "few in flight", "few", "throttled", "network"],
)
def test_others_are_none(found: list[ResultRow]) -> None:
    assert plateaus(found, PLACES) == {}


def test_a_ceiling_that_most_results_come_close_to_is_the_limit() -> None:
    bound = (bind("device write", 0.95),)
    assert plateaus([one.model_copy(update={"ceilings": bound}) for one in rows()], PLACES) == {}


def test_false_numbers_are_left_out() -> None:
    cached = row("read", 5e9, verdict=Verdict.CACHED)
    assert plateaus([*rows(), cached], PLACES) == plateaus(rows(), PLACES)


def test_memory_has_no_link() -> None:
    assert plateaus(rows(), (make_place("store", memory_backed=True),)) == {}
