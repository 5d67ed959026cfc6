"""Tables as text: CSV with any separator, and Markdown; headings and rows with their lines."""

import csv
import html
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from assay.model.escape import escape_line
from assay.rooms.importers.work.results import OutputError

SEPARATORS = {",": ",", ";": ";", "tab": "\t", "|": "|"}
"""Separator of cells, as a roles file names it -> the character."""
MAX_COLUMNS = 500
"""Most columns of a table."""
MAX_ROWS = 100_000
"""Most rows of a table."""
MAX_HEADING = 80
"""Longest heading that is told apart."""
_HINT = "give the table as it was exported, with one row a line"
_SAMPLE_ROWS = 200
"""Rows that are looked at to find the separator."""
_MAX_SKIP = 20
"""Most lines that may precede the headings of a table that is recognised."""
_RULE = re.compile(r"\|?\s*:?-+:?\s*([|+]\s*:?-+:?\s*)*\|?")
"""The line between headings and rows of Markdown, and of Org mode."""
_STYLED = re.compile(r"(\*\*|__|`|~~)(.+)\1|([*_])([^*_]+)\3")
_MAX_STYLES = 3
"""Most marks of one cell, such as bold and code."""
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_PIPE = re.compile(r"(?<!\\)\|")
_EXCEL = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,' \u00a0\u202f]*([eE][-+]?[0-9]+)?")
_WITH_UNIT = re.compile(r"[-+]?[0-9][0-9.,']* ?[a-zA-Zµμ/]{0,8}")


class TextRow(NamedTuple):
    """One row.

    Attributes:
        line: Line on which it begins, from 1.
        cells: Its cells, without blanks around them.
    """

    line: int
    cells: tuple[str, ...]


class TextTable(NamedTuple):
    """A table.

    Attributes:
        form: What kind of text it is: `CSV` or `Markdown table`.
        separator: A key of `SEPARATORS`; empty for Markdown.
        line: Line of the headings.
        headings: Each different from the others, and safe to print.
        rows: All rows below, those of blanks left out; with as many cells as there are headings.
    """

    form: str
    separator: str
    line: int
    headings: tuple[str, ...]
    rows: tuple[TextRow, ...]


def is_table(text: str) -> bool:
    """Whether a text has the headings of several columns, and numbers below."""
    if text.lstrip()[:1] in ("{", "[", "<"):
        return False
    if markdown_rule(text.split("\n")) is not None:
        return True
    try:
        rows, _ = raw_rows(text, "", strict=False)
    except OutputError:
        return False
    at = heading_row(rows)
    return at is not None and at <= _MAX_SKIP


def read_table(text: str, separator: str = "", skip: int = 0, headings: int = 1) -> TextTable:
    """Return the table in a text.

    Args:
        text: The content of the file.
        separator: A key of `SEPARATORS`; empty: whichever gives the most regular table.
        skip: Rows above the headings, of CSV.
        headings: Rows that the headings have, of CSV; those of the first are continued to the right.

    Raises:
        OutputError: It is no table, or rows have other cells than the headings.
    """
    markdown = markdown_rule(text.split("\n")) if separator in ("", "|") else None
    if markdown is not None:
        rows, form, separator = _markdown_rows(text, markdown), "Markdown table", ""
    else:
        rows, separator = raw_rows(text, separator)
        form, rows = "CSV", rows[skip:]
    if len(rows) < headings:
        raise OutputError(1, "no headings in this table", "name the columns in the first row")
    line = rows[0].line
    if (width := max(len(row.cells) for row in rows[:headings])) > MAX_COLUMNS:
        raise OutputError(line, f"{width:,} columns, more than {MAX_COLUMNS}", "give a table of results")
    names = _headings([row.cells for row in rows[:headings]])
    return TextTable(form, separator, line, names, tuple(_fitted(row, len(names)) for row in rows[headings:]))


def markdown_rule(lines: Sequence[str]) -> int | None:
    """Return the index of the line between headings and rows of a Markdown table; None without one."""
    for number, line in enumerate(lines):
        if number and "-" in line and "|" in lines[number - 1] and "|" in line and _RULE.fullmatch(line.strip()):
            return number
    return None


def _markdown_rows(text: str, rule: int) -> list[TextRow]:
    """Return headings and rows of the Markdown table with that rule.

    Raises:
        OutputError: Another table follows.
    """
    lines = text.split("\n")
    end = next((at for at in range(rule + 1, len(lines)) if "|" not in lines[at]), len(lines))
    other = markdown_rule(lines[end:])
    if other is not None:
        raise OutputError(end + other, "a second table begins here", "give each table in a file of its own")
    places = [rule - 1, *(at for at in range(rule + 1, end) if not _RULE.fullmatch(lines[at].strip()))]
    rows = [TextRow(at + 1, tuple(map(_plain, _markdown_cells(lines[at])))) for at in places]
    return [rows[0], *(row for row in rows[1:] if any(row.cells))]


def _markdown_cells(line: str) -> list[str]:
    line = line.strip()
    line = line[1:] if line.startswith("|") else line
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [cell.replace("\\|", "|") for cell in _PIPE.split(line)]


def _plain(cell: str) -> str:
    """Return a cell without marks of bold or code text, and with its HTML characters as such."""
    cell = " ".join(html.unescape(_BREAK.sub(" ", cell)).split())
    for _ in range(_MAX_STYLES):
        styled = _STYLED.fullmatch(cell)
        cell = (styled[2] or styled[4]).strip() if styled else cell
    return cell


def raw_rows(text: str, separator: str, strict: bool = True) -> tuple[list[TextRow], str]:
    """Return all rows of CSV that are not blank, and the separator.

    Args:
        text: The content of the file.
        separator: A key of `SEPARATORS`; empty: whichever gives the most regular table.
        strict: Read all rows, and refuse quotes that are not closed; if not, only the first rows are read.

    Raises:
        OutputError: It is no CSV, or has too many rows.
    """
    first, _, rest = text.partition("\n")
    begin = 1
    if match := _EXCEL.fullmatch(first):
        # The first line of a file that tells Excel the separator.
        named = next((name for name, sign in SEPARATORS.items() if sign == match[1]), "")
        text, begin, separator = rest, 2, separator or named
    separator = separator or _separator(text)
    rows = _csv_rows(text, SEPARATORS[separator], begin, strict)
    found = list(islice(rows, MAX_ROWS + 1 if strict else _SAMPLE_ROWS))
    if strict and len(found) > MAX_ROWS:
        raise OutputError(found[-1].line, f"more than {MAX_ROWS:,} rows", "leave out rows, or give parts of the table")
    return found, separator


def _separator(text: str) -> str:
    """Return the separator with which most rows have the same number of cells, at least two."""

    def score(name: str) -> tuple[float, int]:
        rows = islice(_csv_rows(text, SEPARATORS[name], 1, strict=False), _SAMPLE_ROWS)
        counts = Counter(len(_without_end(row.cells)) for row in rows)
        regular = {cells: count for cells, count in counts.items() if cells > 1}
        if not regular:
            return (0.0, 0)
        # Rows with less than the most cells are titles, notes and rows that end in blanks.
        widest = max(regular, key=lambda cells: (regular[cells], cells))
        return (regular[widest] / counts.total(), widest)

    return max(SEPARATORS, key=score)


def _without_end(cells: Sequence[str]) -> Sequence[str]:
    """Return cells without those at the end of a single blank row."""
    return cells if any(cells) else ()


def _csv_rows(text: str, sign: str, begin: int, strict: bool) -> Iterator[TextRow]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=strict, skipinitialspace=True)
    line = begin
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise OutputError(
                line, f"not CSV: {error}", "close each quote, and double quotes inside of quotes"
            ) from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield TextRow(line, tuple(" ".join(cell.split()) for cell in cells))
        line = begin + reader.line_num


def heading_row(rows: Sequence[TextRow]) -> int | None:
    """Return the index of the first row of words above a row of several cells with a number; None without one."""
    for at, (row, below) in enumerate(pairwise(rows)):
        words = [cell for cell in row.cells if cell]
        numbers = sum(is_number(cell) for cell in words)
        if len(words) > 1 and 2 * numbers < len(words) and len(below.cells) > 1:
            following = [cell for each in rows[at + 1 : at + 4] for cell in each.cells]
            if any(_WITH_UNIT.fullmatch(cell) for cell in following):
                return at
    return None


def is_number(cell: str) -> bool:
    """Whether a cell is written like a number, with any separators."""
    return _NUMBER.fullmatch(cell) is not None


def _headings(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the headings of one or more rows, as `Write / MB/s`; those of the first are continued over blanks."""
    width = max((_width(row) for row in rows), default=0)
    parts: list[list[str]] = [[] for _ in range(width)]
    for depth, row in enumerate(rows):
        above = ""
        for column in range(width):
            cell = row[column] if column < len(row) else ""
            above = cell or (above if depth < len(rows) - 1 and _has_below(rows, depth, column) else "")
            parts[column] += [above] if above else []
    names: list[str] = []
    for number, words in enumerate(parts, start=1):
        name = escape_line(" / ".join(words), MAX_HEADING) or f"column {number}"
        count = sum(other == name or other.startswith(f"{name} (") for other in names)
        taken = name in names
        names.append(f"{name} ({count + 1})" if taken else name)
    return tuple(names)


def _has_below(rows: Sequence[Sequence[str]], depth: int, column: int) -> bool:
    return any(column < len(row) and row[column] for row in rows[depth + 1 :])


def _width(cells: Sequence[str]) -> int:
    return next((at for at in range(len(cells), 0, -1) if cells[at - 1]), 0)


def _fitted(row: TextRow, width: int) -> TextRow:
    """Return a row with as many cells as there are headings; a row of a single text is a note.

    Raises:
        OutputError: It has more or fewer cells.
    """
    cells = row.cells[: max(width, _width(row.cells))]
    if len(cells) > width or (len(cells) < width and _width(cells) > 1):
        message = f"{len(cells)} cells in this row, and {width} headings"
        raise OutputError(row.line, message, "write as many cells as headings; quote cells that contain the separator")
    return TextRow(row.line, (*cells, *[""] * (width - len(cells))))
