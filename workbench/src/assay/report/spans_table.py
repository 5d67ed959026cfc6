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
    caption = (
        f"{block.title}. Now it is {numbers.significant(block.base)}; each row has what it is at the low and at the "
    )
    caption += "high end of one assumption."
    if block.limit is not None:
        caption += f" Below {numbers.significant(block.limit[0])} {block.limit[1]}."
    if any(end is None for row in block.rows for end in (row.low, row.high)):
        caption += " A dash: there is no such end, or no such value there."
    return Table(block.id, columns, rows, f"{caption} {block.caption}".strip()).without_empty_columns()
