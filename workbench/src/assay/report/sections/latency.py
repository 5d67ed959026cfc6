"""Latency: percentile curves, latency against each swept axis, the percentiles as numbers."""

from assay.report import figures, numbers
from assay.report.document import Badge, Block, Cell, Column, Heading, Note, Num, Section, Table
from assay.report.view import View

_NAMES = ("min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max")
_MOST_ROWS = 2000


def section(view: View) -> Section:
    """Curves, charts, table."""
    blocks: list[Block] = [Heading("Percentiles", "latency-percentiles", 4)]
    drawn: list[Block] = []
    for workload in view.main_workloads():
        mark = str(view.workloads.index(workload))
        drawn += figures.capped(figures.percentile_charts(view, workload, mark), "charts")
    if not drawn:
        blocks.append(Note("No latencies were recorded.", "warning"))
    blocks += drawn
    for workload in view.main_workloads():
        mark = str(view.workloads.index(workload))
        for axis in workload.numeric_axes()[::-1]:
            charts = figures.capped(figures.line_charts(view, workload, axis, "latency", mark), "charts")
            if charts:
                where = f" ({workload.name})" if len(view.main_workloads()) > 1 else ""
                title = f"Median latency against {numbers.axis_title(axis).lower()}{where}"
                blocks += [Heading(title, f"latency-{mark}-{axis}", 4), *charts]
    blocks += [Heading("Latency percentiles in numbers", "latency-all", 4), _table(view)]
    return Section("latency", "Latency", tuple(blocks))


def _table(view: View) -> Table:
    columns = (
        Column("Verdict", facet=True),
        Column("Case"),
        Column("Target", facet=True),
        Column("Operation", facet=True),
        Column("At"),
        *(Column(name, "µs", numeric=True) for name in _NAMES),
    )
    rows: list[tuple[Cell, ...]] = []
    found = [row for row in view.analysis.rows if row.latency]
    for row in found[:_MOST_ROWS]:
        values = [row.latency.get(name) for name in _NAMES]
        cells = (Num(numbers.microseconds(value), value) for value in values)
        where = view.point_of(row) or row.case.workload
        operation = numbers.operation_title(row.operation)
        rows.append((Badge(row.verdict), row.case.id, row.case.target, operation, where, *cells))
    caption = "From the histograms of all repeats merged, three significant digits."
    if len(found) > _MOST_ROWS:
        caption += f" The first {_MOST_ROWS:,} of {len(found):,} results; `assay export` writes all."
    return Table("latency-table", columns, tuple(rows), caption, interactive=True)
