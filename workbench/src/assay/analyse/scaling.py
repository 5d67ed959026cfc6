"""Describes how a total grows with the number of hosts, tasks or lanes, and where it stops growing."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.estimate import mean_deviation, student_t
from assay.analyse.usable import usable
from assay.model.result.ceiling import CeilingShare
from assay.model.result.result import ResultRow
from assay.model.result.verdict import Verdict
from assay.model.study.growth import WorkScaling, work_scaling

HOSTS = ("hosts", "tasks_per_host")
"""Axes along which engines are added."""
DEPENDENT_AXES = {"hosts": ("streams",)}
"""Axes that may grow together with one of HOSTS."""
MAX_UNCERTAINTY = 2.0
"""If the interval of an efficiency is wider than by this factor, there is no statement about growth."""
PLATEAU_SHARE = 0.95
"""Totals of at least this share of the greatest total count as equal to it."""
MIN_POINTS = 3
BINDING_SHARE = 0.8
"""At or above this share, a ceiling counts as what limits a result."""
UNUSABLE = frozenset({Verdict.CACHED, Verdict.IMPOSSIBLE, Verdict.INCOMPLETE})
"""Results with one of these verdicts say nothing about the storage."""


class ScalingPoint(NamedTuple):
    """The result at one number of hosts, tasks or lanes.

    Attributes:
        number: Number of hosts, tasks or lanes.
        rate: Total: bytes per second, or operations per second for operations that are counted.
        efficiency: Rate / (number x rate of each at the smallest number). With strong scaling that is the ideal time
            divided by the actual time.
        efficiency_interval: Its 95 % interval, Student's t on logarithms of the repeats of both, whose variance is
            pooled over all
            points; None with too few repeats.
        seconds: Median time of a phase; None if it ran for a fixed time.
    """

    number: int
    rate: float
    low: float | None
    high: float | None
    efficiency: float
    binding: CeilingShare | None
    efficiency_interval: tuple[float, float] | None = None
    seconds: float | None = None


class Scaling(NamedTuple):
    """The growth of one operation of one workload on one target, with all other axes at one value.

    Attributes:
        axis: The growing axis, one of `GROWING`.
        others: Axis -> value of the other axes.
        points: By number of hosts, tasks or lanes.
        saturated: The first point from which on the total stays within 5 % of the greatest; None if it still grows at
            the greatest number that was measured.
        greatest: The point with the greatest total: the last one if it still grows, an earlier one if it falls again.
        binding: The ceiling that limits the total where it saturates, or else where it is greatest; None if none is
            near.
        repeats: Number of hosts -> total of each usable repeat.
        work: How the amount of data changes along the axis.
        client_bound: Where it saturates, or is greatest, the verdict is that the clients limit it.
    """

    target: str
    workload: str
    operation: str
    axis: str
    others: tuple[tuple[str, object], ...]
    points: tuple[ScalingPoint, ...]
    saturated: ScalingPoint | None
    greatest: ScalingPoint
    binding: CeilingShare | None
    repeats: dict[int, tuple[float, ...]]
    work: WorkScaling
    client_bound: bool = False

    @property
    def is_clear(self) -> bool:
        """Whether efficiencies are known within a factor of two, so that totals can be compared."""
        return all(
            point.efficiency_interval is not None
            and point.efficiency_interval[1] <= MAX_UNCERTAINTY * point.efficiency_interval[0]
            for point in self.points[1:]
        )


def scalings(rows: Sequence[ResultRow], axes: Sequence[str] = HOSTS) -> list[Scaling]:
    """Return the scaling of every operation measured with at least three numbers of hosts, tasks or lanes.

    Results that say nothing about the storage (cached, impossible, incomplete) are left out.

    Args:
        rows: Rows of a run.
        axes: Axes to consider, of `GROWING`.
    """
    groups: dict[tuple[object, ...], list[ResultRow]] = {}
    for axis in axes:
        for row in rows:
            if describes_storage(row) and axis in row.case.axes and _count(row, axis):
                key = (axis, row.case.target, row.case.workload, row.operation, other_axes(row, axis))
                groups.setdefault(key, []).append(row)
    found = (_scaling(str(key[0]), group) for key, group in groups.items())
    return [one for one in found if one is not None]


def describes_storage(row: ResultRow) -> bool:
    """Whether a result has a rate that says something about the storage."""
    return row.rate is not None and not UNUSABLE.intersection(row.verdicts)


def other_axes(row: ResultRow, axis: str) -> tuple[tuple[str, object], ...]:
    """Return axis -> value of all axes except the growing one and those that grow with it."""
    left = (axis, *DEPENDENT_AXES.get(axis, ()))
    return tuple((name, value) for name, value in row.case.axes.items() if name not in left)


def _count(row: ResultRow, axis: str) -> int:
    """Return the number along the axis; 0 if it is unknown."""
    value = row.case.parameters.get_value(axis)
    return value if isinstance(value, int) else 0


def _scaling(axis: str, rows: Sequence[ResultRow]) -> Scaling | None:
    by_count = {_count(row, axis): row for row in rows}
    if len(by_count) < MIN_POINTS or len(by_count) < len(rows):
        return None
    ordered = [by_count[count] for count in sorted(by_count)]
    first = ordered[0]
    assert first.rate is not None
    each = first.rate.median / _count(first, axis)
    repeats = {_count(row, axis): tuple(sample.rate for sample in usable(row.samples)) for row in ordered}
    reaches = _reaches(repeats)
    points = tuple(_point(row, _count(row, axis), each, reaches) for row in ordered)
    saturated = _saturated(points)
    greatest = max(points, key=lambda point: point.rate)
    limited = saturated or greatest
    binding = limited.binding if limited.binding is not None and limited.binding.share >= BINDING_SHARE else None
    return Scaling(
        first.case.target,
        first.case.workload,
        first.operation,
        axis,
        other_axes(first, axis),
        points,
        saturated,
        greatest,
        binding,
        repeats,
        work_scaling({count: row.case.parameters for count, row in by_count.items()}),
        Verdict.CLIENT_BOUND in by_count[limited.number].verdicts,
    )


def _saturated(points: Sequence[ScalingPoint]) -> ScalingPoint | None:
    """Return the first point of the plateau at the end; None if the last point is alone on it, or below it."""
    greatest = max(point.rate for point in points)
    first = len(points)
    while first > 0 and points[first - 1].rate >= PLATEAU_SHARE * greatest:
        first -= 1
    return points[first] if first < len(points) - 1 else None


def _point(row: ResultRow, count: int, each: float, reaches: dict[int, float]) -> ScalingPoint:
    rate = row.rate
    assert rate is not None
    efficiency = rate.median / (count * each) if each else 0.0
    reach = reaches.get(count)
    sure = None if reach is None else (efficiency * math.exp(-reach), efficiency * math.exp(reach))
    timed = row.case.parameters.get_value("runtime") is not None
    spans = sorted(sample.get_value("elapsed_ns", 0) for sample in usable(row.samples))
    seconds = None if timed or not spans or not spans[-1] else spans[len(spans) // 2] / 1e9
    return ScalingPoint(count, rate.median, rate.low, rate.high, efficiency, row.limiting_ceiling, sure, seconds)


def _reaches(repeats: dict[int, tuple[float, ...]]) -> dict[int, float]:
    """Return count -> half the interval of the logarithm of its efficiency; empty if it cannot be computed."""
    freedom = sum(len(several) - 1 for several in repeats.values())
    if freedom < 1 or any(rate <= 0 for several in repeats.values() for rate in several) or not all(repeats.values()):
        return {}
    logs = [[math.log(rate) for rate in several] for several in repeats.values() if len(several) > 1]
    noise = sum(mean_deviation(several)[1] ** 2 * (len(several) - 1) for several in logs) / freedom
    first = min(repeats)
    t = student_t(freedom)
    found = {count: t * math.sqrt(noise * (1 / len(repeats[first]) + 1 / len(repeats[count]))) for count in repeats}
    return found | {first: 0.0}
