"""Bars around a base value as a table, for formats that do not draw them."""

from assay.report import numbers
from assay.report.document import Column, Num, Spans, Table


def spans_table(block: Spans) -> Table:
    """Return a row for each assumption: the value at its low and at its high end."""

    def cell(end: tuple[float, str] | None) -> Num:
        return Num(numbers.NONE, None) if end is None else Num(f"{numbers.significant(end[0])} ({end[1]})", end[0])

    columns = (
        Column("Assumption"),
        Column("Low", is_numeric=True),
        Column("High", is_numeric=True),
        Column(block.note_title),
    )
    rows = tuple((row.label, cell(row.low), cell(row.high), row.note) for row in block.rows)
    caption = f"{block.title}; now {numbers.significant(block.base)}. {block.caption}"
    return Table(block.id, columns, rows, caption).without_empty_columns()
