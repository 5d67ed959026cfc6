"""The first columns of tables with a row for each result: case, target, operation and point."""

from assay.model.result.result import Row
from assay.report import numbers
from assay.report.document import Cell, Column
from assay.report.view import View

LEAD = (Column("Case"), Column("Target", facet=True), Column("Operation", facet=True), Column("At"))
"""The columns of `lead`."""


def lead(view: View, row: Row) -> tuple[Cell, ...]:
    """Return the first cells of a result's row; the last one is its point on the axes, or else its workload."""
    where = view.point_of(row) or row.case.workload
    return (row.case.id, row.case.target, numbers.operation_title(row.operation), where)
