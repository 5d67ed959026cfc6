"""The hosts: how much each contributed to results that several hosts made together."""

from collections.abc import Sequence

from assay.analyse import hosts
from assay.model.result.result import ResultRow
from assay.model.units import about_number
from assay.report import numbers
from assay.report.brief import rate_cell
from assay.report.document import (
    Badge,
    Block,
    Cell,
    Column,
    Fold,
    Num,
    Paragraph,
    Section,
    Table,
)
from assay.report.measure import Measure, measure_of
from assay.report.view import RunView

_WORDS = (
    "all start at a barrier, at a time of the controller's clock. Least transferred is what the slowest host had "
    "moved when the first thread of any host ended: if that is far below the other hosts, the hosts did not work "
    "together for most of the time. All numbers are medians over repeats."
)
_MAX_ROWS = 500
_MAX_OPEN = 12
"""Most results of a table that is not folded."""


def section(view: RunView) -> Section | None:
    """Return the section: a row for each result with the least, mean and greatest rate of a host, and all hosts folded.

    None if no result has several hosts.
    """
    rows = [row for row in view.analysis.rows if hosts.summary(row) is not None]
    if not rows:
        return None
    each = [line for row in rows for line in _hosts(view, row)]
    unit = measure_of(rows[0].operation).unit
    totals = _totals(view, rows, unit)
    shown = totals if len(rows) <= _MAX_OPEN else Fold("Result by result", (totals,))
    blocks: list[Block] = [Paragraph(f"{_engines(view, rows)}; {_WORDS}"), shown]
    caption = "" if len(each) <= _MAX_ROWS else f"The first {_MAX_ROWS:,} of {len(each):,}; `assay export` writes all."
    table = Table("host-table", _host_columns(unit), tuple(each[:_MAX_ROWS]), caption, is_interactive=True)
    blocks.append(Fold("Host by host", (table,)))
    return Section("hosts", "Hosts", tuple(blocks))


def _engines(view: RunView, rows: Sequence[ResultRow]) -> str:
    """Return how many engines each host has, and which launcher started them if it was not ssh."""
    launcher = view.run.launcher
    by = f", started by {launcher}" if launcher not in ("", "ssh") else ""
    tasks = {row.case.parameters.get_value("tasks_per_host", 1) for row in rows}
    if tasks == {1}:
        return f"Each host is a machine with an engine of its own{by}"
    if len(tasks) == 1:
        return (
            f"Each host is a machine with {tasks.pop():,} engines of its own{by}, which count as one in these numbers"
        )
    several = f"{min(tasks):,} to {max(tasks):,} engines of its own (tasks per host)"
    return f"Each host is a machine with {several}{by}, which count as one in these numbers"


def _totals(view: RunView, rows: list[ResultRow], unit: str) -> Table:
    columns = (
        Column("Verdict", is_filter=True),
        Column("Target", is_filter=True),
        Column("Operation", is_filter=True),
        Column("At"),
        Column("Hosts", is_numeric=True),
        *(Column(name, unit, is_numeric=True) for name in ("All", "Least", "Mean", "Most")),
        Column("Least transferred", is_numeric=True),
        Column("Start skew", "ms", is_numeric=True),
    )
    return Table("hosts-table", columns, tuple(_total(view, row) for row in rows), is_interactive=True)


def _total(view: RunView, row: ResultRow) -> tuple[Cell, ...]:
    found = hosts.summary(row)
    assert found is not None
    measure = measure_of(row.operation)
    rates = (row.rate.median if row.rate else None, found.min_rate, found.mean_rate, found.max_rate)
    skew = f"{about_number(found.skew_ns / 1e6, 2)} ± {about_number(found.uncertainty_ns / 1e6, 2)}"
    return (
        Badge(row.verdict),
        row.case.target,
        numbers.operation_title(row.operation),
        view.point_of(row) or row.case.workload,
        Num(str(found.host_count), found.host_count),
        *(Num(measure.number(rate), rate) for rate in rates),
        Num(numbers.size(found.min_transferred_bytes), found.min_transferred_bytes),
        Num(skew, found.skew_ns),
    )


def _host_columns(unit: str) -> tuple[Column, ...]:
    return (Column("Target", is_filter=True), Column("Operation", is_filter=True), Column("At"), *_line_columns(unit))


def _hosts(view: RunView, row: ResultRow) -> list[tuple[Cell, ...]]:
    measure, where = measure_of(row.operation), view.point_of(row) or row.case.workload
    head = (row.case.target, numbers.operation_title(row.operation), where)
    return [(*head, *_line_cells(line, measure)) for line in hosts.lines(row)]


def _line_columns(unit: str) -> tuple[Column, ...]:
    """Return the columns of `_line_cells`."""
    return (
        Column("Host", is_filter=True),
        Column("Rate", unit, is_numeric=True),
        Column("Moved", is_numeric=True),
        Column("Moved when the first host ended", is_numeric=True),
        Column("p50", "µs", is_numeric=True),
        Column("p99", "µs", is_numeric=True),
        Column("CPUs used", is_numeric=True),
    )


def _line_cells(line: hosts.HostFigures, measure: Measure) -> tuple[Cell, ...]:
    """Return the cells of one host's part of a result."""
    return (
        line.host,
        rate_cell(line.rate, measure),
        Num(numbers.size(line.bytes), line.bytes),
        Num(numbers.size(line.stonewall_bytes), line.stonewall_bytes),
        Num(numbers.microseconds(line.p50_ns), line.p50_ns),
        Num(numbers.microseconds(line.p99_ns), line.p99_ns),
        Num(f"{line.cpu_share:.2f}", line.cpu_share),
    )


def host_tables(rows: Sequence[ResultRow]) -> list[Table]:
    """Return tables of each host's part of results of several hosts, medians over repeats; none for other results."""
    found = []
    for row in rows:
        measure = measure_of(row.operation)
        cells: list[tuple[Cell, ...]] = [(row.operation, *_line_cells(line, measure)) for line in hosts.lines(row)]
        if cells:
            found.append(Table("host-table", (Column("Operation"), *_line_columns(measure.unit)), tuple(cells)))
    return found
