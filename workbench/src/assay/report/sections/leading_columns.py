"""The first columns of tables with a row for each result: case, target, operation and point."""

from assay.model.result.result import ResultRow
from assay.report import numbers
from assay.report.document import Cell, Column
from assay.report.view import RunView

LEADING_COLUMNS = (Column("Case"), Column("Target", is_filter=True), Column("Operation", is_filter=True), Column("At"))
"""The columns of `lead`."""


def leading_cells(view: RunView, row: ResultRow) -> tuple[Cell, ...]:
    """Return the first cells of a result's row; the last one is its point on the axes, or else its workload."""
    where = view.point_of(row) or row.case.workload
    return (row.case.id, row.case.target, numbers.operation_title(row.operation), where)


COMMAND_COLUMNS = (Column("Command"), Column("Target"), Column("Point"))
"""What names a case of a command in tables of them."""


def command_cells(view: RunView, row: ResultRow) -> tuple[Cell, ...]:
    """Return the cells of `COMMAND_COLUMNS`."""
    return row.case.workload, row.case.target, view.point_of(row)
