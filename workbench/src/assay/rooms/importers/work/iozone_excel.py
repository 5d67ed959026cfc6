"""The reports that iozone prints below the table of rates with `-R`: the same rates, a table for each test."""

import re
from collections.abc import Sequence

from assay.rooms.importers.work.results import Figure, ImportedResult

_TITLE = re.compile(r'"(.{1,40}) report"')
_QUOTED = re.compile(r'"([0-9]{1,18})"')
_ROW = re.compile(r'"([0-9]{1,18})"((?:\s+[0-9]{1,18})+)\s*')
_COLUMNS = {
    "writer": "write",
    "re-writer": "rewrite",
    "reader": "read",
    "re-reader": "reread",
    "random read": "random read",
    "random write": "random write",
    "backward read": "bkwd read",
    "record rewrite": "record rewrite",
    "stride read": "stride read",
    "fwrite": "fwrite",
    "re-fwrite": "frewrite",
    "fread": "fread",
    "re-fread": "freread",
}
"""Title in small letters -> column of the table (iozone.c, dump_excel)."""


def with_reports(
    cells: tuple[ImportedResult, ...], lines: Sequence[str], start: int, end: int
) -> tuple[ImportedResult, ...]:
    """Return the cells of the table, each with the figure `report` if a report has it.

    A row of a report has the records of its heading that are no larger than its file.

    Args:
        cells: Results of the table.
        lines: All lines of the file.
        start: Index of the first line of the output.
        end: Index after its last.
    """
    reports = _reports(lines[start:end])
    if not reports:
        return cells
    found = []
    for cell in cells:
        size, record, *_ = (figure.text for figure in cell.figures)
        text = reports.get((cell.name, size, record))
        if text is not None:
            figure = Figure(name="report", text=text, unit=cell.figures[-1].unit)
            cell = cell.model_copy(update={"figures": (*cell.figures, figure)})
        found.append(cell)
    return tuple(found)


def _reports(lines: Sequence[str]) -> dict[tuple[str, str, str], str]:
    """Return (column, KB of the file, KB of the record) -> number as printed; rows of other lengths are left out."""
    found: dict[tuple[str, str, str], str] = {}
    column, records = "", list[str]()
    for line in lines:
        if match := _TITLE.fullmatch(line.strip()):
            column, records = _COLUMNS.get(match[1].lower(), ""), []
        elif column and not records and _QUOTED.findall(line) and not _ROW.fullmatch(line):
            records = _QUOTED.findall(line)
        elif column and records and (match := _ROW.fullmatch(line)):
            values, size = match[2].split(), match[1]
            fitting = [record for record in records if int(record) <= int(size)]
            if len(values) == len(fitting):
                found |= {(column, size, record): text for record, text in zip(fitting, values, strict=True)}
    return found
