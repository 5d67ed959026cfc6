"""The best that is reached with each number of hosts, tasks or lanes, whatever the other axes are."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.scaling import of_store, other_axes
from assay.model.result.result import Row


class Best(NamedTuple):
    """The fastest point.

    Attributes:
        axis: What grows.
        number: How many.
        rate: Bytes per second, of counted operations their number per second.
        low: Of its 95 % interval; likewise `high`.
        at: Axis -> value of the other axes there.
        of: Points of the other axes that were measured.
    """

    target: str
    operation: str
    axis: str
    number: int
    rate: float
    low: float | None
    high: float | None
    at: tuple[tuple[str, object], ...]
    of: int


def bests(rows: Sequence[Row], axis: str) -> list[Best]:
    """For each target, operation and number, where at least two points of other axes were measured with one number.

    All workloads count together: which of them is faster is a part of the question. Results that say nothing of the
    store are left out.

    Args:
        rows: Of a run.
        axis: What grows, of `assay.model.study.growth.GROWING`.
    """
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        count = row.case.parameters.known(axis)
        if of_store(row) and axis in row.case.axes and isinstance(count, int):
            groups.setdefault((row.case.target, row.operation, count), []).append(row)
    if all(len(group) < 2 for group in groups.values()):
        return []
    found = [_best(axis, count, group) for (_, _, count), group in groups.items()]
    order = list(dict.fromkeys((item.operation, item.target) for item in found))
    return sorted(found, key=lambda item: (order.index((item.operation, item.target)), item.number))


def _best(axis: str, count: int, group: Sequence[Row]) -> Best:
    top = max(group, key=lambda row: row.rate.median if row.rate else 0.0)
    rate = top.rate
    assert rate is not None
    at = other_axes(top, axis)
    return Best(top.case.target, top.operation, axis, count, rate.median, rate.low, rate.high, at, len(group))
