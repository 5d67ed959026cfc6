"""Counters that services report: objects of batches and pages, capacity units, throttled requests."""

from assay.analyse.services import told_of
from assay.model.result.result import Row
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.measure import COUNTED
from assay.report.sections.lead import LEAD, lead
from assay.report.view import View


def services_table(view: View) -> Table | None:
    """Return a table with a row for each result with counters of a service; None without any."""
    lines = tuple(line for row in view.analysis.rows if (line := _line(view, row)) is not None)
    if not lines:
        return None
    columns = (
        *LEAD,
        Column("Objects", "1/s", numeric=True),
        Column("Read units", "per request", numeric=True),
        Column("Write units", "per request", numeric=True),
        Column("Units", "1/s", numeric=True),
        Column("Throttled", "requests", numeric=True),
        Column("Left undone", "objects", numeric=True),
    )
    caption = (
        "Medians over the repeats that count; throttled requests, and objects of batches that the service left undone "
        "while it took others, of all repeats together. Units are the capacity units that the service says it has "
        "charged, of requests that were done, also in part."
    )
    return Table("services-table", columns, lines, caption, interactive=True)


def _line(view: View, row: Row) -> tuple[Cell, ...] | None:
    counts = told_of(row)
    if counts is None:
        return None
    return (
        *lead(view, row),
        *map(_number, (counts.objects_per_s, counts.read_units, counts.write_units, counts.units_per_s)),
        *(Num(f"{number:,}", float(number)) for number in (counts.throttled, counts.unprocessed)),
    )


def _number(value: float | None) -> Num:
    return Num(numbers.NONE if value is None else COUNTED.number(value), value)
