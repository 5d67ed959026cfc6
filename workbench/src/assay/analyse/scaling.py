"""How a total grows with the number of hosts, and where it stops."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.usable import usable
from assay.model.result.ceiling import Binding
from assay.model.result.result import Row
from assay.model.result.verdict import Verdict

PLATEAU = 0.95
"""From this share of the greatest total on, more hosts add nothing that counts."""
LEAST_POINTS = 3
BINDS = 0.8
"""From this share of a ceiling on it counts as what limits a result."""
UNUSABLE = frozenset({Verdict.CACHED, Verdict.IMPOSSIBLE, Verdict.INCOMPLETE})
"""Results with one of these say nothing of the store."""


class Point(NamedTuple):
    """One number of hosts.

    Attributes:
        rate: Total of all hosts: bytes per second, of counted operations their number per second.
        efficiency: Rate / (hosts x rate of the fewest hosts, for each of them).
    """

    hosts: int
    rate: float
    low: float | None
    high: float | None
    efficiency: float
    binding: Binding | None


class Scaling(NamedTuple):
    """One operation of one workload on one target, with all other axes at one value.

    Attributes:
        others: Axis -> value of the other axes.
        points: By number of hosts.
        saturated: Fewest hosts from which on the total stays within 5 % of the greatest; None if it still grows at the
            most hosts that were measured.
        greatest: The point with the greatest total: the last one if it still grows, an earlier one if it falls again.
        binding: The ceiling that limits it where it saturates, or else where it is greatest; None if none is near.
        repeats: Number of hosts -> total of each usable repeat.
    """

    target: str
    workload: str
    operation: str
    others: tuple[tuple[str, object], ...]
    points: tuple[Point, ...]
    saturated: Point | None
    greatest: Point
    binding: Binding | None
    repeats: dict[int, tuple[float, ...]]


def scalings(rows: Sequence[Row]) -> list[Scaling]:
    """The scaling of every operation that was measured with at least three numbers of hosts.

    Results that say nothing of the store (cached, impossible, incomplete) are left out.
    """
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        others = tuple((name, value) for name, value in row.case.axes.items() if name not in ("hosts", "streams"))
        verdicts = {finding.verdict for finding in row.findings}
        if row.rate is not None and not verdicts & UNUSABLE and "hosts" in row.case.axes and _told(row):
            groups.setdefault((row.case.target, row.case.workload, row.operation, others), []).append(row)
    return [found for group in groups.values() if (found := _scaling(group)) is not None]


def _told(row: Row) -> bool:
    return row.case.parameters.tells("hosts")


def _scaling(rows: Sequence[Row]) -> Scaling | None:
    by_hosts = {row.case.parameters.hosts: row for row in rows}
    if len(by_hosts) < LEAST_POINTS or len(by_hosts) < len(rows):
        return None
    ordered = [by_hosts[count] for count in sorted(by_hosts)]
    first = ordered[0]
    assert first.rate is not None
    each = first.rate.median / first.case.parameters.hosts
    points = tuple(_point(row, each) for row in ordered)
    saturated = _saturated(points)
    greatest = max(points, key=lambda point: point.rate)
    limited = saturated or greatest
    binding = limited.binding if limited.binding is not None and limited.binding.share >= BINDS else None
    others = tuple((name, value) for name, value in first.case.axes.items() if name not in ("hosts", "streams"))
    repeats = {row.case.parameters.hosts: tuple(sample.rate for sample in usable(row.samples)) for row in ordered}
    return Scaling(
        first.case.target, first.case.workload, first.operation, others, points, saturated, greatest, binding, repeats
    )


def _saturated(points: Sequence[Point]) -> Point | None:
    """The first point of a plateau that reaches to the last one; None if the last one is alone on it, or below it."""
    greatest = max(point.rate for point in points)
    first = len(points)
    while first > 0 and points[first - 1].rate >= PLATEAU * greatest:
        first -= 1
    return points[first] if first < len(points) - 1 else None


def _point(row: Row, each: float) -> Point:
    rate, hosts = row.rate, row.case.parameters.hosts
    assert rate is not None
    efficiency = rate.median / (hosts * each) if each else 0.0
    return Point(hosts, rate.median, rate.low, rate.high, efficiency, row.binding)
