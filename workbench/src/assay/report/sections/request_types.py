"""Kinds of request within operations: reads and writes, gets and heads, each with its own rate and latencies."""

from collections.abc import Iterator
from statistics import median

from assay.analyse.usable import usable
from assay.model.result.result import ResultRow
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.kinds_table import KindRate, rates_by_kind
from assay.report.measure import COUNTED, DATA
from assay.report.sections.leading_columns import LEADING_COLUMNS, leading_cells
from assay.report.view import RunView

_MAX_ROWS = 500
_TAIL = ("p50", "p99")
Kinds = dict[str, list[KindRate]]
"""Kind of operation -> its rates in each repeat."""


def request_types_table(view: RunView) -> Table | None:
    """Return a table with a row per kind of operation, for results with several kinds or first bytes; None if empty."""
    found = [(row, rates_by_kind(usable(row.samples))) for row in view.analysis.rows]
    first = any(rate.counts.first_byte for _, kinds in found for rates in kinds.values() for rate in rates)
    lines = [line for row, kinds in found for line in _lines(view, row, kinds, first)]
    if not lines:
        return None
    columns = (
        *LEADING_COLUMNS,
        Column("Request type", is_filter=True),
        Column(DATA.title, DATA.unit, is_numeric=True),
        Column("Operations", "1/s", is_numeric=True),
        *(Column(name, "µs", is_numeric=True) for name in _TAIL),
        *(Column(f"First byte {name}", "µs", is_numeric=True) for name in _TAIL if first),
    )
    caption = "Medians over the repeats that count; of percentiles, the median of those of the repeats."
    if first:
        caption += " First byte: time until the first requested byte arrived."
    if len(lines) > _MAX_ROWS:
        caption += f" The first {_MAX_ROWS:,} of {len(lines):,}; `assay export --table kinds` writes all."
    return Table("mixes-table", columns, tuple(lines[:_MAX_ROWS]), caption, is_interactive=True)


def _lines(view: RunView, row: ResultRow, kinds: Kinds, first: bool) -> Iterator[tuple[Cell, ...]]:
    for kind, rates in kinds.items():
        moves = any(rate.throughput is not None for rate in rates)
        moved = [rate.throughput or 0.0 for rate in rates] if moves else []
        yield (
            *leading_cells(view, row),
            kind.replace("_", " "),
            Num(DATA.number(median(moved)), median(moved)) if moved else Num(numbers.NONE, None),
            _per_second([rate.iops for rate in rates]),
            *(_time([rate.counts.reliable_latency for rate in rates], name) for name in _TAIL),
            *(_first_byte(rates, name) for name in _TAIL if first),
        )


def _per_second(values: list[float]) -> Num:
    return Num(COUNTED.number(median(values)), median(values))


def _first_byte(rates: list[KindRate], name: str) -> Num:
    if not any(rate.counts.first_byte for rate in rates):
        return Num(numbers.NONE, None)
    return _time([rate.counts.reliable_first_byte for rate in rates], name)


def _time(repeats: list[dict[str, float]], name: str) -> Num:
    """Return the median of a percentile over the repeats; no number unless each has enough operations."""
    values = [latencies[name] for latencies in repeats if name in latencies]
    if len(values) < len(repeats):
        return Num("too few", None)
    return Num(numbers.microseconds(median(values)), median(values))
