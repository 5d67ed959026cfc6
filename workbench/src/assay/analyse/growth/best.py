"""Finds the best rate for each number of hosts, tasks or lanes over all values of the other axes."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.scaling import describes_storage, other_axes
from assay.model.result.result import ResultRow


class BestPoint(NamedTuple):
    """The fastest point for one target, operation and number.

    Attributes:
        axis: The growing axis.
        number: Its value.
        rate: Bytes per second, or operations per second for operations that are counted.
        low: Lower end of the 95 % interval of the rate; None with too few repeats.
        high: Its upper end.
        at: Axis -> value of the other axes at the fastest point.
        point_count: Number of points of the other axes that were measured.
    """

    target: str
    operation: str
    axis: str
    number: int
    rate: float
    low: float | None
    high: float | None
    at: tuple[tuple[str, object], ...]
    point_count: int


def best_points(rows: Sequence[ResultRow], axis: str) -> list[BestPoint]:
    """Return the best for each target, operation and number; empty if no number was measured at several points.

    All workloads count together: which of them is faster is a part of the question. Results that say nothing about the
    storage are left out.

    Args:
        rows: Rows of a run.
        axis: The growing axis, one of `assay.model.study.growth.GROWING`.
    """
    groups: dict[tuple[str, str, int], list[ResultRow]] = {}
    for row in rows:
        count = row.case.parameters.get_value(axis)
        if describes_storage(row) and axis in row.case.axes and isinstance(count, int):
            groups.setdefault((row.case.target, row.operation, count), []).append(row)
    if all(len(group) < 2 for group in groups.values()):
        return []
    found = [_best(axis, count, group) for (_, _, count), group in groups.items()]
    order = list(dict.fromkeys((item.operation, item.target) for item in found))
    return sorted(found, key=lambda item: (order.index((item.operation, item.target)), item.number))


def _best(axis: str, count: int, group: Sequence[ResultRow]) -> BestPoint:
    top = max(group, key=lambda row: row.rate.median if row.rate else 0.0)
    rate = top.rate
    assert rate is not None
    at = other_axes(top, axis)
    return BestPoint(top.case.target, top.operation, axis, count, rate.median, rate.low, rate.high, at, len(group))
