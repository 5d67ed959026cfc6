"""Quantities of results that tables and charts show: rates, latencies, ratios, costs, each with its unit."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from assay.model.base import AssayError
from assay.model.result.percentile import MIN_OPS
from assay.model.result.result import Estimate
from assay.model.units import DURATION_UNITS, UnitError, choices_hint, parse_throughput
from assay.report import numbers
from assay.report.costs import TargetCost, target_costs
from assay.report.measure import measure_of
from assay.report.selection.options import RATIO, ValueChoice
from assay.report.selection.properties import RunResult

Dimension = Literal["bytes", "operations", "time", "money", "ratio", "share", "count"]


@dataclass(frozen=True, slots=True)
class CellValue:
    """A value of a quantity, with both ends of its 95 % interval; None without an interval."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class DisplayUnit:
    """A unit.

    Attributes:
        name: Its name; empty if values have none.
        scale: Divides a stored value to give a number in this unit.
        dimension: What it measures: values of different dimensions never stand in one column.
    """

    name: str
    scale: float
    dimension: Dimension


@dataclass(frozen=True, slots=True)
class ShownQuantity:
    """A quantity.

    Attributes:
        title: Name for headings and axes; empty: that of the measure of each operation.
        get: Returns the value of a result; None if it has none.
        unit: Returns the usual unit of a result's value.
        of_target: It is a property of the target, the same for all results on it.
        has_interval: It is printed with its interval.
        base: Target of a ratio; empty for other quantities.
        missing: Why a result may have no value.
        remark: Returns what must be known of the values of these results; empty: nothing.
        of_repeats: How a value is made of the repeats: their median, all their operations together, or neither.
    """

    title: str
    get: Callable[[RunResult], CellValue | None]
    unit: Callable[[RunResult], DisplayUnit]
    of_target: bool = False
    has_interval: bool = False
    base: str = ""
    missing: str = "not measured, or without a result"
    remark: Callable[[Iterable[RunResult]], str] = lambda _: ""
    of_repeats: Literal["medians", "pooled", ""] = "medians"

    def title_of(self, result: RunResult) -> str:
        """Return the title for a heading above a result's value."""
        return self.title or measure_of(result.row.operation).title


TIMES = {"latency": "mean", "min": "min", "max": "max", **{name: name for name in MIN_OPS}}
"""Name of a quantity -> name of a latency."""
_PLAIN = ("rate", "interval", "iops", *TIMES, "spread", "repeats", "cost_month", "cost_per_rate")
NAMES = (*_PLAIN, f"{{{RATIO}: TARGET}}")
"""How quantities are written."""


def quantity_of(choice: ValueChoice, results: Iterable[RunResult]) -> ShownQuantity:
    """Return the quantity that an author names.

    Args:
        choice: Its name.
        results: All results of the chosen runs, also those that conditions leave out.

    Raises:
        AssayError: There is no such quantity, or no target of a ratio's name.
    """
    name = choice.name
    if name == RATIO:
        return _ratio_to(choice.base, list(results))
    if name in TIMES:
        return _time(name)
    if name not in _PLAIN:
        raise AssayError(f"there is no value `{name}`", choices_hint(name, NAMES))
    made: dict[str, Callable[[], ShownQuantity]] = {
        "rate": lambda: ShownQuantity("", lambda one: _of(one.row.rate), _rate_unit),
        "interval": lambda: ShownQuantity("", lambda one: _of(one.row.rate), _rate_unit, has_interval=True),
        "iops": lambda: ShownQuantity(
            "Operations per second", lambda one: _of(one.row.iops), _fixed("operations/s", 1.0, "operations")
        ),
        "spread": lambda: ShownQuantity(
            "Standard deviation / mean over repeats", _spread, _fixed("%", 0.01, "share"), of_repeats=""
        ),
        "repeats": lambda: ShownQuantity(
            "Repeats",
            _repeats,
            _fixed("", 1.0, "count"),
            of_repeats="",
        ),
        "cost_month": _cost_month,
        "cost_per_rate": _cost_per_rate,
    }
    return made[name]()


def _of(estimate: Estimate | None) -> CellValue | None:
    return None if estimate is None else CellValue(estimate.median, estimate.low, estimate.high)


def _spread(result: RunResult) -> CellValue | None:
    rate = result.row.rate
    return None if rate is None or rate.spread is None else CellValue(rate.spread)


def _repeats(result: RunResult) -> CellValue:
    return CellValue(result.row.rate.n if result.row.rate else 0)


def _fixed(text: str, scale: float, dimension: Dimension) -> Callable[[RunResult], DisplayUnit]:
    unit = DisplayUnit(text, scale, dimension)
    return lambda _: unit


def _rate_unit(result: RunResult) -> DisplayUnit:
    measure = measure_of(result.row.operation)
    return DisplayUnit(measure.unit, measure.scale, "operations" if measure.is_count else "bytes")


def _time(name: str) -> ShownQuantity:
    """Return a latency: a percentile over repeats, or the mean, least or greatest of all operations together."""

    def get(result: RunResult) -> CellValue | None:
        if name not in MIN_OPS:
            value = result.row.latency.get(TIMES[name])
            return None if value is None else CellValue(value)
        found = result.row.percentile(name)
        return None if found is None or found.value is None else CellValue(found.value, *found.interval)

    words = {"latency": "Mean latency", "min": "Least latency", "max": "Greatest latency", "p50": "Median latency"}
    return ShownQuantity(
        words.get(name, f"Latency, {name}"),
        get,
        _fixed("ns", 1.0, "time"),
        missing="no latency was recorded, or of too few operations for this percentile",
        of_repeats="medians" if name in MIN_OPS else "pooled",
    )


def _ratio_to(base: str, results: list[RunResult]) -> ShownQuantity:
    """Return the rate divided by that of the same work on another target of the same run.

    Raises:
        AssayError: No result is of that target.
    """
    targets = list(dict.fromkeys(one.row.case.target for one in results))
    if base not in targets:
        raise AssayError(f"{RATIO}: no result is of target `{base}`", choices_hint(base, targets))
    return ShownQuantity(
        f"Ratio to {base}",
        lambda one: _of(one.row.rate),
        _fixed("×", 1.0, "ratio"),
        base=base,
        missing=f"not measured, or not on {base}, or without a result",
    )


class _Costs:
    """Costs of the targets of runs, computed once for each run."""

    def __init__(self) -> None:
        self._found: dict[int, dict[str, TargetCost]] = {}

    def of(self, result: RunResult) -> TargetCost | None:
        """Return the cost of a result's target; None if it has no design with a price.

        Raises:
            AssayError: The run has no prices.
        """
        view = result.view
        if view.run.prices is None:
            raise AssayError(f"run {result.run} has no prices", "only runs of studies with `prices:` have costs")
        if id(view) not in self._found:
            self._found[id(view)] = {item.target: item for item in target_costs(view)}
        return self._found[id(view)].get(result.row.case.target)

    def remark(self, results: Iterable[RunResult]) -> str:
        """Return the price books with their dates, and the targets whose requests are not in their costs."""
        books: dict[str, None] = {}
        without: dict[str, None] = {}
        for one in results:
            if one.view.run.prices is not None:
                book = one.view.run.prices.book
                books[f"{book.book} of {book.date}"] = None
            if (cost := self.of(one)) is not None and cost.excludes_requests:
                without[one.row.case.target] = None
        words = f"Prices: {numbers.listing(list(books))}."
        return f"{words} Without requests: {numbers.listing(list(without))}." if without else words


def _cost_month() -> ShownQuantity:
    costs = _Costs()

    def get(result: RunResult) -> CellValue | None:
        cost = costs.of(result)
        return None if cost is None else CellValue(float(cost.cost.month))

    def unit(result: RunResult) -> DisplayUnit:
        cost = costs.of(result)
        return DisplayUnit("" if cost is None else cost.cost.currency, 1.0, "money")

    missing = "no design with a price"
    return ShownQuantity(
        "Cost of a month", get, unit, of_target=True, missing=missing, remark=costs.remark, of_repeats=""
    )


def _cost_per_rate() -> ShownQuantity:
    """Return the cost of a month divided by the rate: for each GB/s, or each 1,000 operations per second."""
    costs = _Costs()

    def size(result: RunResult) -> tuple[float, str]:
        measure = measure_of(result.row.operation)
        return (1e3, f"1,000 {measure.unit}") if measure.is_count else (1e9, "GB/s")

    def get(result: RunResult) -> CellValue | None:
        cost, rate = costs.of(result), result.row.rate
        if cost is None or rate is None or rate.median <= 0:
            return None
        month = float(cost.cost.month) * size(result)[0]
        ends = [None if end is None or end <= 0 else month / end for end in (rate.high, rate.low)]
        return CellValue(month / rate.median, *ends)

    def unit(result: RunResult) -> DisplayUnit:
        cost = costs.of(result)
        currency = "" if cost is None else f"{cost.cost.currency} for {size(result)[1]}"
        return DisplayUnit(currency, 1.0, "money")

    missing = "no design with a price, or no result"
    return ShownQuantity("Cost of a month per rate", get, unit, missing=missing, remark=costs.remark)


def shown_unit(
    quantity: ShownQuantity, results: Iterable[RunResult], wanted: str, values: Iterable[float]
) -> DisplayUnit:
    """Return the unit of a column or picture.

    Args:
        quantity: What is shown.
        results: The results behind it; at least one.
        wanted: The unit that the author names; empty: the usual one.
        values: All values, in the stored unit.

    Raises:
        AssayError: The results have values of several dimensions, or none that is measured in that unit.
    """
    units = list(dict.fromkeys(quantity.unit(one) for one in results))
    dimensions = {unit.dimension for unit in units}
    if len(dimensions) > 1 or len({unit.name for unit in units if unit.name}) > 1:
        words = numbers.listing([unit.name for unit in units])
        raise AssayError(
            f"{words} would stand in one column", "give each its own with columns or split, such as operation"
        )
    usual = next((unit for unit in units if unit.name), units[0])
    if wanted:
        return _unit_named(wanted, usual)
    if usual.dimension == "time":
        return _time_unit(max(values, default=1.0))
    return usual


def _time_unit(greatest: float) -> DisplayUnit:
    for text, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if greatest >= scale:
            return DisplayUnit(text, scale, "time")
    return DisplayUnit("ns", 1.0, "time")


def _unit_named(wanted: str, usual: DisplayUnit) -> DisplayUnit:
    """Return the unit that an author names.

    Raises:
        AssayError: It is unknown, or measures something else.
    """
    scale: float | None = None
    if usual.dimension == "bytes":
        try:
            scale = parse_throughput(f"1{wanted}")
        except UnitError as error:
            raise AssayError(f"unit `{wanted}`: {error.message}", "write one such as MB/s, KiB/s or Gb/s") from None
    elif usual.dimension == "time":
        scale = DURATION_UNITS.get(wanted.replace("µ", "u"))
        if scale is None:
            raise AssayError(f"there is no unit of time `{wanted}`", choices_hint(wanted, DURATION_UNITS))
    elif wanted == usual.name:
        scale = usual.scale
    if scale is None:
        raise AssayError(f"values in {usual.name or 'no unit'} cannot be shown in {wanted}", "leave `unit` out")
    return DisplayUnit(wanted, float(scale), usual.dimension)
