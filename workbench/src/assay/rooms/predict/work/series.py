"""Collects the rates of a run by number of hosts, or by size of data, with the limits that are known of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from assay.analyse.growth.known_limits import KnownLimit, known_limits
from assay.analyse.growth.totals import Range
from assay.analyse.scaling import HOSTS, describes_storage, other_axes
from assay.analyse.usable import usable
from assay.model.money.priced_designs import FrozenPrices
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.study.growth import work_amount
from assay.model.study.names import is_counted
from assay.rooms.predict.work.questions import LimitOption

HOSTS_AXIS = HOSTS[0]
SIZE_AXES = ("file_size", "total_size", "files", "total_files", "objects", "block_size", "segments")
"""Axes that set how much data there is."""
CACHE_RULES = frozenset(
    {
        "cached_read",
        "direct_read",
        "answered_below",
        "cached_names",
        "unflushed_write",
        "absorbed_writes",
        "unflushed_names",
    }
)
"""Rules that find results of memory; if one lacked evidence, a result may be memory's."""
Unit = Literal["hosts", "bytes", "files", "objects"]


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


class Series(NamedTuple):
    """Rates of one operation of one workload on one target by one number, with all other axes at one value.

    Attributes:
        unit: What the numbers count.
        others: Axis -> value of the other axes.
        rates: Number -> rate of each usable repeat, bytes or operations per second.
        measured: Number -> what was measured.
        limits: In the unit of the rates.
        unusable: Number of results that say nothing about the storage: cached, impossible, incomplete. By size, also
            of those that may be memory's.
        has_several: A number has several results, so that the rates are of different work.
    """

    target: str
    workload: str
    operation: str
    unit: Unit
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
) -> list[Series]:
    """Return the totals of each operation by number of hosts, in the order of the rows.

    Results with an unknown number of hosts are left out.

    Args:
        found: The run.
        prices: Its prices, with the designs of its targets.
        stated: Limits that the user states.
    """
    series = []
    for rows in _groups([row for row in found.rows if _hosts(row)], lambda row: other_axes(row, HOSTS_AXIS)):
        sound = [row for row in rows if describes_storage(row)]
        limits = _limits(sound, found, prices, stated)
        series.append(_series(rows, sound, _hosts, "hosts", other_axes(rows[0], HOSTS_AXIS), limits))
    return series


def size_series(
    found: RunAnalysis, prices: FrozenPrices | None = None, stated: Sequence[LimitOption] = ()
) -> list[Series]:
    """Return the rates of each operation by size of data; results of unknown size are left out.

    Arguments and order as in `host_series`.
    """
    sized = [row for row in found.rows if row.case.group != "programs" and work_amount(row.case.parameters)]
    series = []
    for rows in _groups(sized, _axes_but_size):
        sound = [row for row in rows if describes_storage(row) and CACHE_RULES.isdisjoint(row.unevaluated_rules)]
        hosts = rows[0].case.parameters.get_value("hosts", 1)
        limits = [one._replace(value=one.at(hosts), grows=False) for one in _limits(sound, found, prices, stated)]
        series.append(_series(rows, sound, _size, _size_unit(rows[0]), _axes_but_size(rows[0]), limits))
    return series


def _groups(
    rows: Sequence[ResultRow], others_of: Callable[[ResultRow], tuple[tuple[str, object], ...]]
) -> Iterator[list[ResultRow]]:
    """Yield the rows of each series."""
    groups: dict[tuple[object, ...], list[ResultRow]] = {}
    for row in rows:
        key = (row.case.target, row.case.workload, row.operation, others_of(row))
        groups.setdefault(key, []).append(row)
    yield from groups.values()


def _series(
    rows: Sequence[ResultRow],
    sound: Sequence[ResultRow],
    number_of: Callable[[ResultRow], int],
    unit: Unit,
    others: tuple[tuple[str, object], ...],
    limits: Sequence[KnownLimit],
) -> Series:
    case, operation = rows[0].case, rows[0].operation
    by_number = {number_of(row): row for row in sorted(sound, key=number_of)}
    rates = {number: tuple(sample.rate for sample in usable(row.samples)) for number, row in by_number.items()}
    measured = {
        number: MeasuredRate(row.rate.median, row.rate.low, row.rate.high)
        for number, row in by_number.items()
        if row.rate is not None
    }
    has_several = len(by_number) < len(sound)
    unusable = len(rows) - len(sound)
    return Series(
        case.target, case.workload, operation, unit, others, rates, measured, tuple(limits), unusable, has_several
    )


def _limits(
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


def _hosts(row: ResultRow) -> int:
    """Return the number of hosts of a result; 0 if it is unknown."""
    count = row.case.parameters.get_value(HOSTS_AXIS)
    return count if isinstance(count, int) else 0


def _size(row: ResultRow) -> int:
    return round(work_amount(row.case.parameters))


def _size_unit(row: ResultRow) -> Unit:
    parameters = row.case.parameters
    if parameters.get_value("objects") is not None:
        return "objects"
    return "files" if parameters.get_value("record_size") is None else "bytes"


def _axes_but_size(row: ResultRow) -> tuple[tuple[str, object], ...]:
    return tuple((name, value) for name, value in row.case.axes.items() if name not in SIZE_AXES)
