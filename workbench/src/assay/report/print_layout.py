"""How a table fits on an A4 page: type size, direction of the page, and which columns are left out."""

from dataclasses import dataclass, replace

from assay.report.document import Badge, Cell, Column, Mono, Num, Share, Table

WIDTH_PT = 482.0
"""Width of the text of an upright A4 page with margins of 20 mm, in points."""
LANDSCAPE_PT = 728.0
"""The same of a page in landscape."""
SIZES_PT = (8.5, 7.5, 6.8)
"""Type sizes of tables that are tried, the largest first."""
_LETTER = 0.46
"""Mean width of a letter, as a share of the type size; measured on Libertinus Serif."""
_MONO_LETTER = 0.46
"""The same of fixed-width type, which is set at 0.83 of the size around it."""
_SPACE_PT = 9.0
"""Room between two columns."""
_MAX_WORD = 24
"""Longest part of a word that is not broken, in letters."""
_WRAP = 30
"""Letters of a line of a cell with several lines."""
_MAX_LINES = 4
"""Most lines of a cell, about; a table with more is set wider."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table as it is printed; `is_landscape`: on a page of its own that is wider than high."""

    table: Table
    size_pt: float
    is_landscape: bool


def fitted(table: Table) -> TableLayout:
    """Return how a table is printed: upright in the largest type that fits, else in landscape, else with less columns.

    Columns are left out by their `drop_rank`, the highest first, and the caption names them.
    """
    table = table.without_empty_columns()
    for width, landscape in ((WIDTH_PT, False), (LANDSCAPE_PT, True)):
        for size in SIZES_PT:
            if _width(table, size) <= width:
                return TableLayout(table, size, landscape)
        dropped = _dropped(table, width)
        if dropped is not None:
            return TableLayout(dropped, SIZES_PT[-1], landscape)
    return TableLayout(_first_columns(table), SIZES_PT[-1], True)


def _dropped(table: Table, width: float) -> Table | None:
    """Return the table without columns that have a rank, until it fits; None if it does not even then."""
    left_out: list[str] = []
    while _width(table, SIZES_PT[-1]) > width:
        ranked = [(column.drop_rank, place) for place, column in enumerate(table.columns) if column.drop_rank and place]
        if not ranked:
            return None
        place = max(ranked)[1]
        left_out.append(table.columns[place].title)
        table = _without(table, place)
    return _naming(table, left_out)


def _first_columns(table: Table) -> Table:
    """Return as many of the first columns as fit in landscape; at least one stays."""
    left_out: list[str] = []
    while len(table.columns) > 1 and _width(table, SIZES_PT[-1]) > LANDSCAPE_PT:
        left_out.insert(0, table.columns[-1].title)
        table = _without(table, len(table.columns) - 1)
    return _naming(table, left_out)


def _without(table: Table, place: int) -> Table:
    columns = (*table.columns[:place], *table.columns[place + 1 :])
    return replace(table, columns=columns, rows=tuple((*row[:place], *row[place + 1 :]) for row in table.rows))


def _naming(table: Table, left_out: list[str]) -> Table:
    words = f"Left out for lack of room: {', '.join(left_out)}." if left_out else ""
    return replace(table, caption=f"{table.caption} {words}".strip())


def _width(table: Table, size: float) -> float:
    """Return the least width of a table in points."""
    return sum(
        _column_width(column, [row[place] for row in table.rows], size) + _SPACE_PT
        for place, column in enumerate(table.columns)
    )


def _column_width(column: Column, cells: list[Cell], size: float) -> float:
    texts = [_words(cell) for cell in cells]
    letters = [_letters(text, column.is_numeric) for text in texts]
    head = max(_longest_word(column.title), _longest_word(column.unit)) * 1.08
    mono = any(isinstance(cell, Mono) for cell in cells)
    return max([head, *letters]) * size * (_MONO_LETTER if mono else _LETTER)


def _letters(text: str, is_numeric: bool) -> float:
    """Return the letters of the widest line: numbers stay in one line, texts take a few lines."""
    if is_numeric:
        return len(text)
    return max(_longest_word(text), min(len(text), _WRAP, max(12, len(text) / _MAX_LINES)))


def _longest_word(text: str) -> int:
    return max((min(len(word), _MAX_WORD) for word in text.split()), default=0)


def _words(cell: Cell) -> str:
    match cell:
        case Num():
            return cell.text
        case Share():
            return f"{cell.words} {cell.remark}".strip()
        case Badge():
            return ", ".join(map(str, (cell.verdict, *cell.further_verdicts)))
        case Mono(text):
            return text
    return cell
