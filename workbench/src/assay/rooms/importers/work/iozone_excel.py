"""The reports that iozone prints below the table of rates with `-R`: the same rates, a table for each test.

With `-b` it writes them to a spreadsheet of Excel 2 (libbif.c), too.
"""

import re
import struct
from collections.abc import Sequence
from typing import NamedTuple

from assay.rooms.importers.work.results import Figure, ImportedResult

_TITLE = re.compile(r'"(.{1,40}) [rR]eport"')
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


_OPTION_LINES = {
    "-O": "OPS Mode. Output is in operations per second.",
    "-N": "Microseconds/op Mode. Output is in microseconds per operation.",
}
"""Option -> what iozone prints of it, which the spreadsheet does not have."""
_NUMBER, _LABEL = 3, 4
"""Types of the records of a spreadsheet that have values: a number, a text."""


class ReportCell(NamedTuple):
    """One rate of a report.

    Attributes:
        column: Column of the table of rates.
        size: KB of the file, as printed.
        record: KB of a record, as printed.
        text: The rate, as printed.
        line: Index of its line.
    """

    column: str
    size: str
    record: str
    text: str
    line: int


def text_of_spreadsheet(content: bytes) -> str:
    """Return what `iozone -b` wrote as iozone prints it: its command line, and the reports.

    Args:
        content: The file; what is no record of it is left out.
    """
    rows: dict[int, dict[int, str]] = {}
    position = 0
    while position + 4 <= len(content):
        kind, length = struct.unpack_from("<HH", content, position)
        record = content[position + 4 : position + 4 + length]
        position += 4 + length
        if kind == _NUMBER and len(record) >= 15:
            row, column, value = (*struct.unpack_from("<HH", record), *struct.unpack_from("<d", record, 7))
            rows.setdefault(row, {})[column] = f"{value:.0f}" if abs(value) < 1e18 and value % 1 == 0 else repr(value)
        elif kind == _LABEL and len(record) >= 8:
            row, column = struct.unpack_from("<HH", record)
            rows.setdefault(row, {})[column] = record[8 : 8 + record[7]].decode("latin-1")
    command = rows.pop(0, {}).get(0, "").strip()
    options = [line for option, line in _OPTION_LINES.items() if option in command.split()]
    return "\n".join((f"\tCommand line used: {command}", *options, *(_printed(row) for _, row in sorted(rows.items()))))


def _printed(row: dict[int, str]) -> str:
    """Return a row as iozone prints it: sizes and titles in quotes, rates without."""
    first = row.get(0, "")
    if len(row) == 1 and first:
        return f'"{first}"'
    others = [row[column] for column in sorted(row) if column]
    return f'"{first}" ' + " ".join(others) if first else " ".join(f'"{one}"' for one in others)


def has_reports(lines: Sequence[str]) -> bool:
    """Whether lines have the title of a report that iozone prints."""
    return any((match := _TITLE.fullmatch(line.strip())) and match[1].lower() in _COLUMNS for line in lines)


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
    reports = {(one.column, one.size, one.record): one.text for one in report_cells(lines, start, end)}
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


def report_cells(lines: Sequence[str], start: int, end: int) -> list[ReportCell]:
    """Return the rates of all reports; rows of other lengths are left out. Arguments as in `with_reports`."""
    found: list[ReportCell] = []
    column, records = "", list[str]()
    for number in range(start, end):
        line = lines[number]
        if match := _TITLE.fullmatch(line.strip()):
            column, records = _COLUMNS.get(match[1].lower(), ""), []
        elif column and not records and _QUOTED.findall(line) and not _ROW.fullmatch(line):
            records = _QUOTED.findall(line)
        elif column and records and (match := _ROW.fullmatch(line)):
            values, size = match[2].split(), match[1]
            fitting = [record for record in records if int(record) <= int(size)]
            if len(values) == len(fitting):
                cells = zip(fitting, values, strict=True)
                found += [ReportCell(column, size, record, text, number) for record, text in cells]
    return found
