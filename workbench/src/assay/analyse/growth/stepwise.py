"""Compares each step of a growing run with its first step; two steps are enough."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.scaling import describes_storage, other_axes
from assay.model.result.result import ResultRow
from assay.model.study.names import is_counted


class Step(NamedTuple):
    """One operation of one workload on one target, at one number of hosts, tasks or lanes.

    Attributes:
        label: Target, workload, operation and the other axes.
        rate: Median total, bytes or operations per second; None if the result says nothing about the storage.
        low: Lower end of the 95 % interval of the rate.
        high: Its upper end.
        efficiency: Rate / (number x rate of each at the first number); None without both rates, or if the smallest
            number of all was not measured.
        verdict: Verdict of the result.
    """

    label: str
    operation: str
    number: int
    rate: float | None
    low: float | None
    high: float | None
    efficiency: float | None
    verdict: str

    @property
    def words(self) -> str:
        """The step in one line of text."""
        if self.rate is None:
            return f"{self.label}: no usable result ({self.verdict})"
        scale, unit = (1.0, "operations/s") if is_counted(self.operation) else (1e6, "MB/s")
        words = f"{self.label}: {self.rate / scale:,.4g} {unit}"
        if self.low is not None and self.high is not None:
            words += f" ({self.low / scale:,.4g} to {self.high / scale:,.4g})"
        if self.efficiency is not None:
            words += f", efficiency {100 * self.efficiency:.0f} %"
        return words if self.verdict == "ok" else f"{words}; {self.verdict}"


def steps(rows: Sequence[ResultRow], axis: str) -> list[Step]:
    """Return all steps, in the order of the rows.

    Args:
        rows: Rows of a run.
        axis: The growing axis.
    """
    groups: dict[tuple[object, ...], list[ResultRow]] = {}
    usable = [row for row in rows if isinstance(row.case.parameters.get_value(axis), int)]
    least = min((_number(row, axis) for row in usable), default=0)
    for row in usable:
        key = (row.case.target, row.case.workload, row.operation, other_axes(row, axis))
        groups.setdefault(key, []).append(row)
    return [_step(key, row, axis, group, least) for key, group in groups.items() for row in group]


def _number(row: ResultRow, axis: str) -> int:
    return int(row.case.parameters.get(axis) or 0)


def _step(key: tuple[object, ...], row: ResultRow, axis: str, group: Sequence[ResultRow], least: int) -> Step:
    target, workload, operation, others = key
    assert isinstance(others, tuple)
    first = min(group, key=lambda other: _number(other, axis))
    number = _number(row, axis)
    rate, alone = (one.rate if describes_storage(one) else None for one in (row, first))
    efficiency = None
    if rate is not None and alone is not None and alone.median > 0 and _number(first, axis) == least:
        efficiency = rate.median * least / (alone.median * number)
    return Step(
        ", ".join([str(target), str(workload), str(operation), *(f"{name} {value}" for name, value in others)]),
        str(operation),
        number,
        rate.median if rate else None,
        rate.low if rate else None,
        rate.high if rate else None,
        efficiency,
        str(row.verdict.value),
    )
