"""Describes how a total grows with servers and hosts together, compared with the sum of independent parts."""

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.analyse.growth.bend import Bend, find_bend
from assay.analyse.growth.totals import Range
from assay.analyse.scaling import Scaling, describes_storage, scalings
from assay.model.result.result import ResultRow
from assay.model.result.run import TargetPlace

GROWING = ("hosts", "streams", "servers")


class GrowthCell(NamedTuple):
    """The result with one number of servers and hosts.

    Attributes:
        rate: Total of all hosts: bytes per second, or operations per second for operations that are counted.
        parts: Expected total of as many independent servers: each with its part of the hosts does what one server does
            with so many; None if that was not measured.
    """

    servers: int
    hosts: int
    rate: float
    parts: float | None

    @property
    def efficiency(self) -> float | None:
        """The total as a share of the sum of the parts."""
        return self.rate / self.parts if self.parts else None


class Growth(NamedTuple):
    """The growth of one operation of one workload over servers and hosts, with all other axes at one value.

    Attributes:
        targets: Number of servers -> target.
        others: Axis -> value of the other axes.
        cells: By servers, then by hosts.
        bends: Number of servers -> fewest hosts from which on the total does not grow; None where it still grows.
        ratios: Number of servers -> hosts for each server where the total bends (`assay.analyse.growth.bend`), with its
            interval; None without a visible bend, or with too few repeats. Its `at` is set.
    """

    workload: str
    operation: str
    targets: dict[int, str]
    others: tuple[tuple[str, object], ...]
    cells: tuple[GrowthCell, ...]
    bends: dict[int, int | None]
    ratios: dict[int, Bend | None]

    @property
    def most(self) -> GrowthCell:
        """The cell with all servers, and with the hosts that get the highest total from them."""
        last = max(cell.servers for cell in self.cells)
        return max((cell for cell in self.cells if cell.servers == last), key=lambda cell: cell.rate)


def growths(rows: Sequence[ResultRow], places: Sequence[TargetPlace]) -> list[Growth]:
    """Return the growth of each operation that was measured with one server and with more of the same servers.

    The number of servers varies either by target, each target with the servers of the smaller one and further ones, or
    by the axis `servers`. Results that say nothing about the storage (cached, impossible, incomplete) are left out.
    """
    servers = {place.target: place.servers for place in places}
    grown = scalings(rows)
    groups: dict[tuple[object, ...], list[tuple[tuple[str, ...], ResultRow]]] = {}
    for row in rows:
        if not describes_storage(row) or not (row.case.parameters.has("hosts") and row.case.parameters.has("servers")):
            continue
        used = servers.get(row.case.target, ())[: row.case.parameters.servers]
        if used:
            groups.setdefault((row.case.workload, row.operation, _others(row)), []).append((used, row))
    found = (_growth(group, grown) for group in groups.values())
    return [growth for growth in found if growth is not None]


def _others(row: ResultRow) -> tuple[tuple[str, object], ...]:
    return tuple((name, value) for name, value in row.case.axes.items() if name not in GROWING)


def _growth(group: Sequence[tuple[tuple[str, ...], ResultRow]], grown: Sequence[Scaling]) -> Growth | None:
    rates: dict[tuple[int, int], float] = {}
    targets: dict[int, str] = {}
    used: dict[int, frozenset[str]] = {}
    for names, row in group:
        count, rate = len(names), row.rate
        assert rate is not None
        place = (count, row.case.parameters.hosts)
        if place in rates or used.setdefault(count, frozenset(names)) != frozenset(names):
            # Two targets with the same number of servers are two systems.
            return None
        rates[place] = rate.median
        targets[count] = row.case.target
    counts = sorted(used)
    nested = all(used[small] < used[large] for small, large in itertools.pairwise(counts))
    if len(counts) < 2 or counts[0] != 1 or not nested:
        return None
    first = group[0][1]
    cells = tuple(
        GrowthCell(count, hosts, rate, _parts(count, hosts, rates)) for (count, hosts), rate in sorted(rates.items())
    )
    by_target = len(set(targets.values())) > 1
    lines = {count: _line(grown, first, targets[count], count, by_target) for count in counts}
    return Growth(
        first.case.workload,
        first.operation,
        targets,
        _others(first),
        cells,
        {count: line.saturated.number if line and line.saturated else None for count, line in lines.items()},
        {count: _ratio(line, count) for count, line in lines.items()},
    )


def _ratio(line: Scaling | None, servers: int) -> Bend | None:
    bend = find_bend(line.repeats) if line is not None else None
    if bend is None or bend.at is None:
        return None
    return bend._replace(at=Range(*(hosts / servers for hosts in bend.at)))


def _parts(servers: int, hosts: int, rates: Mapping[tuple[int, int], float]) -> float | None:
    """Return the sum of the parts; with fewer hosts than servers each host has a server for itself."""
    if hosts < servers:
        alone = rates.get((1, 1))
        return None if alone is None else hosts * alone
    each = rates.get((1, hosts // servers)) if hosts % servers == 0 else None
    return None if each is None else servers * each


def _line(grown: Sequence[Scaling], first: ResultRow, target: str, servers: int, by_target: bool) -> Scaling | None:
    """Return the scaling with hosts on this number of servers."""
    for one in grown:
        same = (one.target, one.workload, one.operation) == (target, first.case.workload, first.operation)
        others = tuple((name, value) for name, value in one.others if name != "servers")
        own = by_target or dict(one.others).get("servers", servers) == servers
        if same and one.axis == "hosts" and own and others == _others(first):
            return one
    return None
