"""The part `printed` of papers: a table of an imported run as its source prints it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from assay.model.base import AssayError
from assay.model.study.axis import fault
from assay.model.units import choices_hint
from assay.report.document import Block, Cell, Column, Num, Table
from assay.report.paper_part import PaperContext, PartKind, PartOptions
from assay.rooms.importers.audit.runs import outputs_of_run
from assay.rooms.importers.audit.tables.cells import AuditedTable
from assay.rooms.importers.audit.tables.derived import recomputed
from assay.rooms.importers.audit.tables.intervals import Interval, last_place


def headings_with_titles(written: Any) -> Any:
    """Take a heading or a list of headings for headings that are their own titles."""
    written = [written] if isinstance(written, str) else written
    if not isinstance(written, list):
        return written
    if any(not isinstance(one, str) for one in written):
        raise fault("a column is a heading of the table", "write [server, usd_hour], or {usd_hour: USD an hour}")
    return {one: one.replace("_", " ") for one in written}


class PrintedOptions(PartOptions):
    """Options of the part.

    Attributes:
        run: A run of the paper; may be left out in a paper of one run.
        table: File name of the table, such as `costs.csv`.
        columns: Headings in the order in which they are shown, with titles; empty: all.
        where: Heading -> the text that rows must have there.
        caption: Words below the table.
    """

    run: str = ""
    table: str
    columns: Annotated[dict[str, str], BeforeValidator(headings_with_titles)] = Field(default_factory=dict)
    where: dict[str, str] = Field(default_factory=dict)
    caption: Annotated[str, Field(max_length=1000)] = ""


def printed_blocks(options: PrintedOptions, context: PaperContext) -> list[Block]:
    """Return the table, with what follows from other cells in brackets where the printed cell is something else.

    Raises:
        AssayError: There is no such run, table or column, or no such row.
    """
    table = printed_table(options.run, options.runs, options.table, context)
    for heading in (*options.columns, *options.where):
        if heading not in table.columns:
            raise AssayError(f"{options.table} has no column `{heading}`", choices_hint(heading, table.columns))
    titles = options.columns or {heading: heading.replace("_", " ") for heading in table.columns}
    rows = chosen_rows(table, options.where, options.table)
    deviating = {column.heading: column for column in recomputed(table)}
    wrong = {(heading, row): column.values[row] for heading, column in deviating.items() for row in column.wrong(table)}
    columns = tuple(Column(title, is_numeric=table.columns[heading].is_numeric) for heading, title in titles.items())
    cells = tuple(tuple(_cell(table, heading, row, wrong.get((heading, row))) for heading in titles) for row in rows)
    has_marks = any((heading, row) in wrong for heading in titles for row in rows)
    caption = options.caption or f"As printed: {options.table}."
    caption += " In brackets: what follows from other cells, where that is something else." if has_marks else ""
    return [Table(Path(options.table).stem, columns, cells, caption)]


def printed_table(run: str, runs: Iterable[str], name: str, context: PaperContext) -> AuditedTable:
    """Return a table of one of these runs by its file name; of all runs of the paper if none is named.

    Raises:
        AssayError: There is none.
    """
    views = context.named_runs((run,) if run else runs)
    tables = {
        Path(output.table.file).name: output.table
        for view in views.values()
        if view.run.imports
        for output in outputs_of_run(Path(view.run.folder))
        if output.table is not None
    }
    if name not in tables:
        hint = choices_hint(name, tables) if tables else "import tables with roles files"
        raise AssayError(f"no run of this part was imported from a table {name}", hint)
    return AuditedTable(tables[name])


def chosen_rows(table: AuditedTable, where: Mapping[str, str], name: str) -> list[int]:
    """Return the rows that have all these texts; their headings must exist.

    Raises:
        AssayError: There is no such row.
    """
    rows = [row for row in table.rows() if _is_wanted(table, row, where)]
    if not rows:
        raise AssayError(f"no row of {name} has what `where` states", "mend `where`, or leave it out")
    return rows


def _is_wanted(table: AuditedTable, row: int, where: Mapping[str, str]) -> bool:
    return all(table.columns[heading].texts[row] == text for heading, text in where.items())


def _cell(table: AuditedTable, heading: str, row: int, value: Interval | None) -> Cell:
    column = table.columns[heading]
    text, digits = column.texts[row], column.digits[row]
    if not column.is_numeric or not digits:
        return text
    shown = text if value is None else f"{text} ({_rounded(value.middle, digits)})"
    return Num(shown, float(digits))


def _rounded(value: float, digits: str) -> str:
    """Return a value with one place more than the printed number, unless it is whole."""
    if value == int(value):
        return f"{value:.10g}"
    places = 0
    while 10.0**-places > last_place(digits) * 0.11 and places < 9:
        places += 1
    return f"{value:.{places}f}"


PRINTED = PartKind(printed_blocks, "", PrintedOptions)
