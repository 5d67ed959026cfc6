"""Collects the totals of a run by number of hosts, with the limits that are known of them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from assay.analyse.growth.known_limits import KnownLimit, known_limits
from assay.analyse.growth.totals import Range
from assay.analyse.scaling import HOSTS, describes_storage, other_axes
from assay.analyse.usable import usable
from assay.model.money.priced_designs import FrozenPrices
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.study.names import is_counted
from assay.rooms.predict.work.questions import LimitOption

AXIS = HOSTS[0]


class MeasuredRate(NamedTuple):
    """The median rate of a result, and the ends of its 95 % interval, which are None with too few repeats."""

    value: float
    low: float | None
    high: float | None

    @property
    def total(self) -> Range:
        """The rate with an interval, which is the median alone with too few repeats."""
        return Range(
            self.value, self.value if self.low is None else self.low, self.value if self.high is None else self.high
        )


class HostSeries(NamedTuple):
    """Totals of one operation of one workload on one target, with all other axes at one value.

    Attributes:
        others: Axis -> value of the other axes.
        rates: Number of hosts -> rate of each usable repeat, bytes or operations per second.
        measured: Number of hosts -> what was measured.
        limits: In the unit of the rates.
        unusable: Number of results that say nothing about the storage: cached, impossible, incomplete.
        has_several: A number of hosts has several results, so that the totals are of different work.
    """

    target: str
    workload: str
    operation: str
    others: tuple[tuple[str, object], ...]
    rates: dict[int, tuple[float, ...]]
    measured: dict[int, MeasuredRate]
    limits: tuple[KnownLimit, ...]
    unusable: int
    has_several: bool

    @property
    def is_counted(self) -> bool:
        """Whether the rates are operations per second."""
        return is_counted(self.operation)


def host_series(
    found: RunAnalysis, prices: FrozenPrices | None = None, stated: Sequence[LimitOption] = ()
) -> list[HostSeries]:
    """Return the totals of each operation, in the order of the rows.

    Results with an unknown number of hosts are left out.

    Args:
        found: The run.
        prices: Its prices, with the designs of its targets.
        stated: Limits that the user states.
    """
    groups: dict[tuple[object, ...], list[ResultRow]] = {}
    for row in found.rows:
        if hosts_of(row):
            key = (row.case.target, row.case.workload, row.operation, other_axes(row, AXIS))
            groups.setdefault(key, []).append(row)
    return [_series(rows, found, prices, stated) for rows in groups.values()]


def hosts_of(row: ResultRow) -> int:
    """Return the number of hosts of a result; 0 if it is unknown."""
    count = row.case.parameters.get_value(AXIS)
    return count if isinstance(count, int) else 0


def _series(
    rows: Sequence[ResultRow],
    found: RunAnalysis,
    prices: FrozenPrices | None,
    stated: Sequence[LimitOption],
) -> HostSeries:
    sound = sorted((row for row in rows if describes_storage(row)), key=hosts_of)
    first = rows[0]
    return HostSeries(
        first.case.target,
        first.case.workload,
        first.operation,
        other_axes(first, AXIS),
        rates_by(sound, hosts_of),
        medians_by(sound, hosts_of),
        limits_of(sound, found, prices, stated),
        len(rows) - len(sound),
        len({hosts_of(row) for row in sound}) < len(sound),
    )


def rates_by(rows: Sequence[ResultRow], number_of: Callable[[ResultRow], int]) -> dict[int, tuple[float, ...]]:
    """Return for the number of each result the rate of each usable repeat, bytes or operations per second."""
    return {number_of(row): tuple(sample.rate for sample in usable(row.samples)) for row in rows}


def medians_by(rows: Sequence[ResultRow], number_of: Callable[[ResultRow], int]) -> dict[int, MeasuredRate]:
    """Return for the number of each result its median rate and interval."""
    rates = ((number_of(row), row.rate) for row in rows)
    return {number: MeasuredRate(rate.median, rate.low, rate.high) for number, rate in rates if rate is not None}


def limits_of(
    rows: Sequence[ResultRow], found: RunAnalysis, prices: FrozenPrices | None, stated: Sequence[LimitOption]
) -> tuple[KnownLimit, ...]:
    """Return the known limits of results of one operation on one target; arguments as in `host_series`."""
    if not rows:
        return ()
    first = rows[0]
    target = first.case.target
    place = next((one for one in found.run.places if one.target == target), None)
    design = prices.designs.get(target) if prices is not None else None
    ceilings = design.ceilings if design is not None else ()
    own = [one.limit for one in stated if one.target in (None, target) and one.is_counted == first.is_counted]
    return known_limits(rows, place, found.run.network, ceilings, own)
