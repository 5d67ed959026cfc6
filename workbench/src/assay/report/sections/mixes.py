"""What operations that mix several kinds consist of: reads and writes, each with a rate and latencies of its own."""

from collections.abc import Iterator
from statistics import median

from assay.analyse.usable import usable
from assay.model.result.result import Row
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.kinds_table import KindRate, mixed_kinds
from assay.report.measure import COUNTED, DATA
from assay.report.view import View

_MOST_ROWS = 500
_TAIL = ("p50", "p99")


def mixes_table(view: View) -> Table | None:
    """A line for each kind of operation in each result that mixes several; None if none does."""
    lines = [line for row in view.analysis.rows for line in _lines(view, row)]
    if not lines:
        return None
    columns = (
        Column("Case"),
        Column("Target", facet=True),
        Column("Operation", facet=True),
        Column("At"),
        Column("Of which", facet=True),
        Column(DATA.title, DATA.unit, numeric=True),
        Column("Operations", "1/s", numeric=True),
        *(Column(name, "µs", numeric=True) for name in _TAIL),
    )
    caption = "Medians over the repeats that count; a percentile of each repeat's own."
    if len(lines) > _MOST_ROWS:
        caption += f" The first {_MOST_ROWS:,} of {len(lines):,}; `assay export --table kinds` writes all."
    return Table("mixes-table", columns, tuple(lines[:_MOST_ROWS]), caption, interactive=True)


def _lines(view: View, row: Row) -> Iterator[tuple[Cell, ...]]:
    for kind, rates in mixed_kinds(usable(row.samples)).items():
        moves = any(rate.throughput is not None for rate in rates)
        moved = [rate.throughput or 0.0 for rate in rates] if moves else []
        yield (
            row.case.id,
            row.case.target,
            numbers.operation_title(row.operation),
            view.point_of(row) or row.case.workload,
            kind.replace("_", " "),
            Num(DATA.number(median(moved)), median(moved)) if moved else Num(numbers.NONE, None),
            _per_second([rate.iops for rate in rates]),
            *(_time(rates, name) for name in _TAIL),
        )


def _per_second(values: list[float]) -> Num:
    return Num(COUNTED.number(median(values)), median(values))


def _time(rates: list[KindRate], name: str) -> Num:
    """Of the repeats; none unless each of them has operations enough for it."""
    values = [said[name] for rate in rates if name in (said := rate.counts.latency_said)]
    if len(values) < len(rates):
        return Num("too few", None)
    return Num(numbers.microseconds(median(values)), median(values))
