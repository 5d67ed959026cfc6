"""What the runs of a paper say, indexed once: results, costs, and figures of imported tables."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from assay.model.result.decision import PointDecision
from assay.model.result.result import Comparison, Estimate, ResultRow
from assay.model.room import hook
from assay.model.study.axis import AxisValue
from assay.report import numbers
from assay.report.costs import target_costs
from assay.report.measure import measure_of
from assay.report.view import RunView, is_false
from assay.rooms.paper.work.claims.quantities import Kind

COUNTED_KEYS = ("hosts", "lanes", "streams", "servers", "queue_depth", "tasks_per_host")
"""Parameters that sentences name as numbers of things."""
SIZE_KEYS = ("record_size", "file_size", "object_size", "part_size", "range")
"""Parameters that sentences name as sizes."""
OWN_KEYS = ("run", "target", "workload", "operation")

Pair = tuple[str, AxisValue]


class Measured(NamedTuple):
    """A number of a result.

    Attributes:
        low, high: Ends of its interval; None without one.
        name: `rate`, or the name of a latency: `mean`, `p50`, `p99`.
    """

    median: float
    low: float | None
    high: float | None
    name: str = "rate"


@dataclass(frozen=True)
class Cell:
    """A result with all that a sentence may select it by.

    Attributes:
        number: Its place in the index.
        properties: Run, target, workload, operation, axes, and the usual parameters.
    """

    number: int
    row: ResultRow
    properties: Mapping[str, AxisValue]

    @property
    def run(self) -> str:
        """Name of the run in the paper."""
        return str(self.properties["run"])

    @property
    def operation(self) -> str:
        """Name of the operation, without a number behind it."""
        return str(self.properties["operation"])

    @property
    def target(self) -> str:
        """Name of the target."""
        return self.row.case.target

    @property
    def is_false(self) -> bool:
        """Its number is cached or impossible."""
        return is_false(self.row)

    def values(self, kind: Kind) -> list[Measured]:
        """Return the numbers of a kind of unit."""
        if kind is Kind.THROUGHPUT:
            return [_value(self.row.throughput)] if self.row.throughput and not self.row.is_counted else []
        if kind is Kind.OPERATIONS:
            return [_value(self.row.iops)] if self.row.iops else []
        return self.times if kind is Kind.TIME else []

    @cached_property
    def times(self) -> list[Measured]:
        """The latencies, in nanoseconds."""
        found = {item.name: item for item in self.row.percentiles if item.value is not None}
        known = [Measured(item.value, *item.interval, name) for name, item in found.items() if item.value is not None]
        return known + [
            Measured(value, None, None, name) for name, value in self.row.latency.items() if name not in found
        ]

    @property
    def rate(self) -> Measured | None:
        """The rate by which targets are compared."""
        return _value(self.row.rate) if self.row.rate else None

    def text(self) -> str:
        """Return what was measured in words: `random read of disk at record size 4 KiB`."""
        case = self.row.case
        points = [
            f"{numbers.axis_title(key).lower()} {numbers.axis_value(key, value)}" for key, value in case.axes.items()
        ]
        what = f"{numbers.operation_title(self.operation).lower()} of {case.target}"
        return f"{what} at {', '.join(points)}" if points else what

    def rate_text(self) -> str:
        """Return the rate with its unit."""
        assert self.row.rate is not None
        return measure_of(self.row.operation).text(self.row.rate.median)

    def reference(self, has_several_runs: bool) -> str:
        """Return the reference that gives the rate in a text."""
        case = self.row.case
        words: list[Pair] = [("run", self.run)] if has_several_runs else []
        words += [
            ("target", case.target),
            ("workload", case.workload),
            ("operation", self.row.operation),
            *case.axes.items(),
        ]
        return f"{{{{ rate({', '.join(f'{key}={reference_word(str(value))}' for key, value in words)}) }}}}"


def reference_word(value: str) -> str:
    """Return a value as references have it: in quotes if it has other signs."""
    return value if value and all(letter.isalnum() or letter in "_.:/+-" for letter in value) else f'"{value}"'


def _value(estimate: Estimate) -> Measured:
    return Measured(estimate.median, estimate.low, estimate.high)


class StatedFigure(NamedTuple):
    """A cost, or a figure of a table that was imported.

    Attributes:
        run: Name of the run in the paper.
        subjects: Names of what it is about, in lower case.
        name: Name of the figure: `month`, `usd_hour`, `usable_tib`.
        kind, value: As of a quantity.
        period: Of money: `hour`, `month`, `year`, `three years`; empty for all others.
        text: The figure with its unit.
        reference: What gives it in a text; empty if nothing does.
        source: Number of the table that it stands in.
        currency: Of money, such as `USD`.
    """

    run: str
    subjects: frozenset[str]
    name: str
    kind: Kind
    value: float
    text: str
    period: str = ""
    reference: str = ""
    source: int = 0
    currency: str = ""


@dataclass
class FactIndex:
    """The facts of the runs of a paper.

    Attributes:
        views: The runs by their names in it.
        cells: All results with a number.
        index: Property and value -> numbers of cells.
        figures: Costs and figures of imported tables.
    """

    views: Mapping[str, RunView]
    cells: list[Cell] = field(default_factory=list)
    index: dict[Pair, set[int]] = field(default_factory=dict)
    figures: list[StatedFigure] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Index the results."""
        for name, view in self.views.items():
            for row in view.analysis.rows:
                if row.rate is not None:
                    self._add(name, row)
            self.figures += _costs(name, view)
            if view.run.imports:
                self.figures += dict.fromkeys(_imported(name, view))

    def _add(self, run: str, row: ResultRow) -> None:
        case = row.case
        properties: dict[str, AxisValue] = {
            "run": run, "target": case.target, "workload": case.workload, "operation": row.operation.split(" ", 1)[0],
        }  # fmt: skip
        for key in (*COUNTED_KEYS, *SIZE_KEYS):
            if (value := case.parameters.get_value(key)) is not None:
                properties[key] = value
        properties |= {key: value for key, value in case.axes.items() if key not in properties}
        cell = Cell(len(self.cells), row, properties)
        self.cells.append(cell)
        for pair in properties.items():
            self.index.setdefault(pair, set()).add(cell.number)

    @cached_property
    def values_of(self) -> dict[str, list[AxisValue]]:
        """Property -> its values in all runs."""
        found: dict[str, dict[AxisValue, None]] = {}
        for key, value in self.index:
            found.setdefault(key, {})[value] = None
        return {key: list(values) for key, values in found.items()}

    @cached_property
    def points(self) -> dict[tuple[object, ...], PointDecision]:
        """The comparisons of targets: run, workload, operation, both targets, axes -> comparison."""
        found: dict[tuple[object, ...], PointDecision] = {}
        for run, view in self.views.items():
            for decision in view.analysis.decisions:
                names = frozenset((decision.base, decision.other))
                for point in decision.points:
                    axes = tuple(sorted(point.axes.items()))
                    found[run, decision.workload, decision.operation, names, axes] = point
        return found

    @cached_property
    def _latency_pairs(self) -> dict[tuple[object, ...], Comparison]:
        found: dict[tuple[object, ...], Comparison] = {}
        for run, view in self.views.items():
            for pair in view.analysis.latency_comparisons:
                axes = tuple(sorted(pair.axes.items()))
                found[run, pair.workload, pair.operation, frozenset((pair.base, pair.other)), axes, pair.of] = pair
        return found

    def latency_comparison(self, first: Cell, second: Cell, name: str) -> Comparison | None:
        """Return the comparison of a latency, `p50` or `p99`, of two targets; None if none was made."""
        case = first.row.case
        names = frozenset((case.target, second.row.case.target))
        key = (first.run, case.workload, first.row.operation, names, tuple(sorted(case.axes.items())), name)
        return self._latency_pairs.get(key)

    def select(self, groups: Iterable[Iterable[Pair]]) -> set[int]:
        """Return the cells that have, of each group, one of its properties."""
        found: set[int] | None = None
        for group in groups:
            these: set[int] = set()
            for pair in group:
                these |= self.index.get(pair, set())
            found = these if found is None else found & these
        return set(range(len(self.cells))) if found is None else found

    def point(self, first: Cell, second: Cell) -> PointDecision | None:
        """Return the comparison of two results that differ only in the target; None if none was made."""
        case = first.row.case
        names = frozenset((case.target, second.row.case.target))
        axes = tuple(sorted(case.axes.items()))
        return self.points.get((first.run, case.workload, first.row.operation, names, axes))


def _costs(run: str, view: RunView) -> Iterator[StatedFigure]:
    for item in target_costs(view):
        cost = item.cost
        amounts = {
            "hour": item.hour, "month": cost.month, "year": cost.year, "three years": cost.three_years,
            "TB-month": item.per_terabyte,
        }  # fmt: skip
        for period, amount in amounts.items():
            if amount is not None:
                words = f"{numbers.significant(float(amount), 4)} {cost.currency}"
                reference = f"{{{{ cost({reference_word(item.target)}) }}}}" if period == "month" else ""
                yield StatedFigure(
                    run,
                    frozenset({item.target.casefold()}),
                    period,
                    Kind.MONEY,
                    float(amount),
                    words,
                    period,
                    reference,
                )


_MONEY_NAMES = {"usd": "USD", "eur": "EUR", "gbp": "GBP"}
_NAME_UNITS: dict[str, tuple[Kind, float]] = {
    "gb_s": (Kind.THROUGHPUT, 1e9), "mb_s": (Kind.THROUGHPUT, 1e6), "kb_s": (Kind.THROUGHPUT, 1e3),
    "mib_s": (Kind.THROUGHPUT, 2.0**20), "gib_s": (Kind.THROUGHPUT, 2.0**30), "kib_s": (Kind.THROUGHPUT, 2.0**10),
    "gbit_s": (Kind.THROUGHPUT, 1e9 / 8), "mbit_s": (Kind.THROUGHPUT, 1e6 / 8),
    "tib": (Kind.SIZE, 2.0**40), "tb": (Kind.SIZE, 1e12), "gib": (Kind.SIZE, 2.0**30), "gb": (Kind.SIZE, 1e9),
    "mb": (Kind.SIZE, 1e6), "bytes": (Kind.SIZE, 1.0), "hours": (Kind.TIME, 3600e9), "min": (Kind.TIME, 60e9),
    "ms": (Kind.TIME, 1e6), "seconds": (Kind.TIME, 1e9), "s": (Kind.TIME, 1e9),
}  # fmt: skip
"""End of a column's name -> kind and scale of its numbers."""
_NUMBER = re.compile(r"[0-9.,:;-]+")
_YEARS = {"1": "year", "3": "three years"}


def _imported(run: str, view: RunView) -> Iterator[StatedFigure]:
    for source, texts, figures in hook("imported_figures")(Path(view.run.folder)):
        names = {name.casefold() for name, _ in figures}
        subjects = frozenset(text.casefold() for text in texts if text and not _NUMBER.fullmatch(text)) - names
        for name, text in figures:
            try:
                value = float(text.replace(",", ""))
            except ValueError:
                continue
            unit = _unit_of(name)
            if unit is not None:
                kind, scale, period = unit
                currency = next((_MONEY_NAMES[word] for word in name.casefold().split("_") if word in _MONEY_NAMES), "")
                yield StatedFigure(
                    run,
                    subjects,
                    name,
                    kind,
                    value * scale,
                    f"{text} ({name})",
                    period,
                    source=source,
                    currency=currency,
                )


def _unit_of(name: str) -> tuple[Kind, float, str] | None:
    """Return kind, scale and period of a column by its name, such as `usd_month` or `usable_tib`."""
    words = name.casefold().split("_")
    if _MONEY_NAMES.keys() & set(words):
        if "per" in words:
            return None
        period = next((word for word in ("hour", "month", "year") if word in words or f"{word}s" in words), "")
        if period == "year":
            period = next((_YEARS[word] for word in words if word in _YEARS), "year")
        return Kind.MONEY, 1.0, period
    for count in (2, 1):
        if (
            "per" not in words
            and (unit := _NAME_UNITS.get("_".join(words[-count:]))) is not None
            and len(words) > count - 1
        ):
            return *unit, ""
    return None
