"""Finds axes with a falling rate: more operations in flight, lanes or hosts, or a larger record, and much less done."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.model.result.result import Estimate, ResultRow
from assay.model.result.verdict import LOWER_BOUND
from assay.model.units import about_count, about_number, about_size, format_size

AXES = {
    "queue_depth": "queue depth",
    "lanes": "lanes",
    "hosts": "hosts",
    "record_size": "record size",
    "object_size": "object size",
}
"""Axes along which a higher value is not expected to do less, with their names for people."""
SIZES = ("record_size", "object_size")
MIN_RATIO = 1.5
"""Least ratio of the rates that is reported, if the intervals do not overlap."""


class RateFall(NamedTuple):
    """Two points of an axis, of which the higher one does much less.

    Attributes:
        times: Ratio of the rate at the lower value to that at the higher value.
    """

    axis: str
    low: tuple[int | float, ResultRow]
    high: tuple[int | float, ResultRow]
    times: float

    @property
    def words(self) -> str:
        """The fall as a sentence."""
        (before, fast), (after, slow) = self.low, self.high
        rest = ", ".join(
            f"{AXES.get(name, name.replace('_', ' '))} {_value(name, value)}"
            for name, value in slow.case.axes.items()
            if name != self.axis
        )
        where = f"{slow.operation.replace('_', ' ')} on {slow.case.target}, workload {slow.case.workload}"
        return (
            f"Slower at a higher {AXES[self.axis]}: {where}{f' ({rest})' if rest else ''} does"
            f" {_rate(slow, self.axis)} at {_value(self.axis, after)} and {_rate(fast, self.axis)} at"
            f" {_value(self.axis, before)}, {about_number(self.times)}× as much."
        )


def fall_notes(rows: Sequence[ResultRow]) -> list[str]:
    """Return a sentence for each series of results in which a higher value of an axis does much less, worst first."""
    return [fall.words for fall in falls(rows)]


def falls(rows: Sequence[ResultRow]) -> list[RateFall]:
    """Return one fall for each series of results in which a higher value of an axis does much less, the worst first.

    Results limited by something other than the storage say nothing about it and are left out.
    """
    return sorted(_falls(rows), key=lambda fall: -fall.times)


def _falls(rows: Sequence[ResultRow]) -> Iterator[RateFall]:
    series: dict[object, list[tuple[int | float, ResultRow]]] = defaultdict(list)
    for row in rows:
        if row.has_no_result or not LOWER_BOUND.isdisjoint(row.verdicts):
            continue
        for axis in AXES:
            value = row.case.axes.get(axis)
            if isinstance(value, int | float) and not isinstance(value, bool) and _estimate(row, axis) is not None:
                rest = tuple((name, other) for name, other in row.case.axes.items() if name != axis)
                series[axis, row.case.target, row.case.workload, row.operation, rest].append((value, row))
    for key, points in series.items():
        axis = str(key[0]) if isinstance(key, tuple) else ""
        ordered = sorted(points, key=lambda point: point[0])
        found: list[RateFall] = []
        # Comparing with the earlier point of the highest lower bound is enough: a point not below it is below none.
        fastest = ordered[0]
        for point in ordered[1:]:
            fall = _fall(axis, fastest, point)
            found += [fall] if fall is not None else []
            fastest = max(fastest, point, key=lambda one: _surely(one[1], axis))
        if found:
            yield max(found, key=lambda fall: fall.times)


def _surely(row: ResultRow, axis: str) -> float:
    """Return the lower end of the interval; 0 without one."""
    value = _estimate(row, axis)
    return value.low if value is not None and value.low is not None else 0.0


def _fall(axis: str, low: tuple[int | float, ResultRow], high: tuple[int | float, ResultRow]) -> RateFall | None:
    fast, slow = _estimate(low[1], axis), _estimate(high[1], axis)
    if fast is None or slow is None or fast.low is None or slow.high is None or slow.median <= 0:
        return None
    times = fast.median / slow.median
    return RateFall(axis, low, high, times) if times >= MIN_RATIO and fast.low > slow.high else None


def _estimate(row: ResultRow, axis: str) -> Estimate | None:
    """Return the rate to compare: bytes per second along sizes, since larger records are fewer operations."""
    return row.throughput if axis in SIZES else row.rate


def _rate(row: ResultRow, axis: str) -> str:
    value = _estimate(row, axis)
    assert value is not None
    counted = row.is_counted and axis not in SIZES
    return f"{about_count(value.median)} operations/s" if counted else f"{about_size(value.median)}/s"


def _value(axis: str, value: object) -> str:
    return format_size(value) if axis.endswith("_size") and isinstance(value, int) else f"{value}"
