"""Counters that services report: objects of batches and pages, capacity units, throttled requests."""

from assay.analyse.services import row_report
from assay.model.result.result import ResultRow
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.measure import COUNTED
from assay.report.sections.leading_columns import LEADING_COLUMNS, leading_cells
from assay.report.view import RunView


def services_table(view: RunView) -> Table | None:
    """Return a table with a row for each result with counters of a service; None without any."""
    lines = tuple(line for row in view.analysis.rows if (line := _line(view, row)) is not None)
    if not lines:
        return None
    columns = (
        *LEADING_COLUMNS,
        Column("Objects", "1/s", is_numeric=True),
        Column("Read units", "per request", is_numeric=True),
        Column("Write units", "per request", is_numeric=True),
        Column("Units", "1/s", is_numeric=True),
        Column("Throttled", "requests", is_numeric=True),
        Column("Unprocessed", "objects", is_numeric=True),
    )
    caption = (
        "Medians over the repeats that count; throttled requests, and objects that the service left unprocessed in "
        "batches of which it processed others, of all repeats together. Units are the capacity units that the service "
        "reports as charged, for requests that were processed, also partly."
    )
    return Table("services-table", columns, lines, caption, is_interactive=True)


def _line(view: RunView, row: ResultRow) -> tuple[Cell, ...] | None:
    counts = row_report(row)
    if counts is None:
        return None
    return (
        *leading_cells(view, row),
        *map(_number, (counts.objects_per_s, counts.read_units, counts.write_units, counts.units_per_s)),
        *(Num(f"{number:,}", float(number)) for number in (counts.throttled, counts.unprocessed)),
    )


def _number(value: float | None) -> Num:
    return Num(numbers.NONE if value is None else COUNTED.number(value), value)
