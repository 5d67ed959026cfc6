"""Collects the rates of a run by the size of its data, with the limits that are known of them."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from assay.analyse.growth.known_limits import KnownLimit
from assay.analyse.growth.predict import MIN_POINTS, Basis, Prediction, Reason, predict
from assay.analyse.growth.size_shapes import size_shapes
from assay.analyse.scaling import describes_storage
from assay.model.money.priced_designs import FrozenPrices
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.study.growth import work_amount
from assay.model.study.names import is_counted
from assay.rooms.predict.work.questions import LimitOption
from assay.rooms.predict.work.series import MeasuredRate, limits_of, medians_by, rates_by

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
SizeUnit = Literal["bytes", "files", "objects"]


class SizeSeries(NamedTuple):
    """Rates of one operation of one workload on one target, with all axes but those of the size at one value.

    Attributes:
        unit: What the sizes count.
        others: Axis -> value of the other axes.
        rates: Size -> rate of each usable repeat, of results that are known to be the storage's.
        measured: Size -> what was measured.
        limits: In the unit of the rates.
        maybe_cached: Number of results that are memory's, or may be.
        has_several: A size has several results, so that the rates are of different work.
    """

    target: str
    workload: str
    operation: str
    unit: SizeUnit
    others: tuple[tuple[str, object], ...]
    rates: dict[int, tuple[float, ...]]
    measured: dict[int, MeasuredRate]
    limits: tuple[KnownLimit, ...]
    maybe_cached: int
    has_several: bool

    @property
    def is_counted(self) -> bool:
        """Whether the rates are operations per second."""
        return is_counted(self.operation)


def size_series(
    found: RunAnalysis, prices: FrozenPrices | None = None, stated: Sequence[LimitOption] = ()
) -> list[SizeSeries]:
    """Return the rates of each operation by size, in the order of the rows; results of unknown size are left out.

    Args:
        found: The run.
        prices: Its prices, with the designs of its targets.
        stated: Limits that the user states.
    """
    groups: dict[tuple[object, ...], list[ResultRow]] = {}
    for row in found.rows:
        if row.case.group != "programs" and work_amount(row.case.parameters):
            key = (row.case.target, row.case.workload, row.operation, _others(row))
            groups.setdefault(key, []).append(row)
    return [_series(rows, found, prices, stated) for rows in groups.values()]


def predict_size(series: SizeSeries, size: int) -> Prediction:
    """Return the prediction of the rate with so much data.

    Args:
        series: The rates.
        size: In the unit of the series.
    """
    if series.has_several:
        return Prediction(size, None, Reason.SEVERAL_RESULTS, None)
    if size in series.measured:
        return Prediction(size, series.measured[size].total, None, Basis.MEASURED)
    if len(series.rates) < MIN_POINTS and series.maybe_cached:
        return Prediction(size, None, Reason.MAYBE_CACHED, None)
    return predict(series.rates, [size], series.limits, shapes_of=size_shapes)[0]


def _others(row: ResultRow) -> tuple[tuple[str, object], ...]:
    return tuple((name, value) for name, value in row.case.axes.items() if name not in SIZE_AXES)


def _series(
    rows: Sequence[ResultRow], found: RunAnalysis, prices: FrozenPrices | None, stated: Sequence[LimitOption]
) -> SizeSeries:
    sound = sorted((row for row in rows if _is_of_storage(row)), key=_size)
    first = rows[0]
    hosts = first.case.parameters.get_value("hosts", 1)
    limits = limits_of(sound, found, prices, stated)
    return SizeSeries(
        first.case.target,
        first.case.workload,
        first.operation,
        _unit(first),
        _others(first),
        rates_by(sound, _size),
        medians_by(sound, _size),
        tuple(limit._replace(value=limit.at(hosts), grows=False) for limit in limits),
        len(rows) - len(sound),
        len({_size(row) for row in sound}) < len(sound),
    )


def _is_of_storage(row: ResultRow) -> bool:
    """Whether a result is known not to be memory's."""
    return describes_storage(row) and CACHE_RULES.isdisjoint(row.unevaluated_rules)


def _size(row: ResultRow) -> int:
    return round(work_amount(row.case.parameters))


def _unit(row: ResultRow) -> SizeUnit:
    parameters = row.case.parameters
    if parameters.get_value("objects") is not None:
        return "objects"
    return "files" if parameters.get_value("record_size") is None else "bytes"
