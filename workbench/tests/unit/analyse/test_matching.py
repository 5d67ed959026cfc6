"""Which rows of two runs are of the same work."""

from typing import Any

from assay.analyse.matching import matched_rows
from assay.model.result.result import Estimate, ResultRow
from assay.model.result.verdict import Verdict
from assay.model.study.case import Case
from assay.model.study.parameters import Parameters

SIDES = ("first run", "second run")
RATE = Estimate(median=1e6, low=None, high=None, n=1, spread=None)


def row(target: str, **known: Any) -> ResultRow:
    case = Case(
        id="c0001",
        target=target,
        workload="job",
        operations=("read",),
        parameters=Parameters.partial(**known),
        axes={},
        label=f"{target} / job",
    )
    return ResultRow(
        case=case,
        operation="read",
        throughput=RATE,
        iops=RATE,
        latency={},
        curve=(),
        verdict=Verdict.OK,
        findings=(),
        samples=(),
    )


def found(before: list[ResultRow], after: list[ResultRow]) -> tuple[list[tuple[int, int]], list[str]]:
    """Places of the matched rows in each list, and why the others have no partner."""
    matched, rest = matched_rows(before, after, [("a", "b")], SIDES)
    places = [(before.index(old), after.index(new)) for old, new in matched]
    return places, [one.reason for one in rest]


def test_rows_that_do_not_contradict_each_other_are_the_same() -> None:
    whole = row("b", record_size=4096, file_size=1 << 20)
    assert found([row("a", record_size=4096)], [whole]) == ([(0, 0)], [])
    assert found([row("a", record_size=4096, lanes=2)], [whole]) == ([(0, 0)], [])


def test_a_row_that_fits_two_has_no_partner() -> None:
    two = [row("b", record_size=4096, lanes=1), row("b", record_size=4096, lanes=2)]
    assert found([row("a", record_size=4096)], two)[0] == []
    exact = [row("b", record_size=4096), two[0]]
    assert found([row("a", record_size=4096)], exact) == ([(0, 0)], ["only in the second run"])


def test_the_reason_names_what_differs_from_the_nearest() -> None:
    others = [row("b", record_size=8192, lanes=2), row("b", record_size=8192, lanes=1)]
    places, reasons = found([row("a", record_size=4096, lanes=1)], others)
    assert places == []
    assert reasons[0] == "only in the first run: record_size 4KiB, there 8KiB"
    assert reasons[1] == "only in the second run: record_size 8KiB, there 4KiB; lanes 2, there 1"
