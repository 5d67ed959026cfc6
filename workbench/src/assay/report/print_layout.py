"""How a table fits on a page: type size, direction of the page, and which columns are left out."""

from dataclasses import dataclass, replace

from assay.report.document import Badge, Cell, Column, Mono, Num, Share, Table
from assay.report.document_look import DEFAULT_LOOK, Look

SIZES_PT = (8.5, 7.5, 6.8)
"""Type sizes of tables that are tried beside text of 10 points, the largest first."""
_LETTER = 0.46
"""Mean width of a letter, as a share of the type size; measured on Libertinus Serif."""
_MONO_LETTER = 0.46
"""The same of fixed-width type, which is set at 0.83 of the size around it."""
_OTHER_FONT = 1.2
"""How much wider the letters of other programs' fonts may be."""
_SPACE_PT = 9.0
"""Room between two columns."""
_MAX_WORD = 24
"""Longest part of a word that is not broken, in letters."""
_WRAP = 30
"""Letters of a line of a cell with several lines."""
_MAX_LINES = 4
"""Most lines of a cell, about; a table with more is set wider."""


_MAX_PIECE_PT = 300.0
"""A table that is higher, about, may go on on the next page or in the next column."""
_LINE = 1.6
"""Height of a line of a table with its share of the room between rows, as a share of the type size."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table as it is printed.

    Attributes:
        is_landscape: It is on a page of its own that is wider than high.
        is_wide: It needs the width of all columns of its page.
        is_long: It is so high that it may be broken.
    """

    table: Table
    size_pt: float
    is_landscape: bool
    is_wide: bool
    is_long: bool


def fitted(table: Table, look: Look = DEFAULT_LOOK) -> TableLayout:
    """Return how a table is printed, in the first of these ways in which it fits.

    In the largest type that fits into a column of text, then over all columns of the page, then in landscape; and
    with fewer columns of its own. These are left out by their `drop_rank`, the highest first; the caption names them.
    """
    table = table.without_empty_columns()
    sizes = _sizes(look)
    rooms = [(look.text_width, False), (look.landscape_width, True)]
    if look.columns > 1 and _fitting_size(table, sizes, look.column_width) is not None:
        rooms.insert(0, (look.column_width, False))
    for width, landscape in rooms:
        size = _fitting_size(table, sizes, width)
        if size is not None:
            return _layout(table, size, width, landscape, look)
        dropped = _dropped(table, width, sizes[-1])
        if dropped is not None:
            return _layout(dropped, sizes[-1], width, landscape, look)
    return _layout(_first_columns(table, look.landscape_width, sizes[-1]), sizes[-1], look.landscape_width, True, look)


def _sizes(look: Look) -> tuple[float, ...]:
    """Return the type sizes to try; larger text has larger tables, too, but the smallest size stays the same."""
    largest = round(SIZES_PT[0] * look.font_size / DEFAULT_LOOK.font_size, 1)
    return (largest, *(size for size in SIZES_PT[1:] if size < largest)) if largest > SIZES_PT[-1] else SIZES_PT[-1:]


def _fitting_size(table: Table, sizes: tuple[float, ...], width: float) -> float | None:
    return next((size for size in sizes if _width(table, size) <= width), None)


def _layout(table: Table, size: float, width: float, is_landscape: bool, look: Look) -> TableLayout:
    letters = sum(len(_words(cell)) for row in table.rows for cell in row)
    # The lines of all cells, if these filled the width evenly; a row has at least one.
    lines = max(len(table.rows), 1.5 * letters * size * _LETTER / width)
    return TableLayout(table, size, is_landscape, width > look.column_width, lines * size * _LINE > _MAX_PIECE_PT)


def column_widths(table: Table, size: float, width: float) -> list[float]:
    """Return the widths of a table's columns, for programs that do not find them: what cells need, at most `width`.

    Args:
        table: The table.
        size: Type size in points.
        width: Greatest width of the table in points.
    """
    cells = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    pairs = list(zip(table.columns, cells, strict=True))
    least = [_column_width(column, found, size * _OTHER_FONT) + _SPACE_PT for column, found in pairs]
    longest = [
        max([len(column.title), *(min(len(_words(cell)), 2 * _WRAP) for cell in found)]) for column, found in pairs
    ]
    wanted = [
        max(low, most * size * _LETTER * _OTHER_FONT + _SPACE_PT) for low, most in zip(least, longest, strict=True)
    ]
    if sum(wanted) <= width:
        return wanted
    spare = max(0.0, width - sum(least)) / (sum(wanted) - sum(least) or 1.0)
    grown = [low + (high - low) * min(1.0, spare) for low, high in zip(least, wanted, strict=True)]
    return [one * min(1.0, width / sum(grown)) for one in grown]


def _dropped(table: Table, width: float, size: float) -> Table | None:
    """Return the table without columns that have a rank, until it fits; None if it does not even then."""
    left_out: list[str] = []
    while _width(table, size) > width:
        ranked = [(column.drop_rank, place) for place, column in enumerate(table.columns) if column.drop_rank and place]
        if not ranked:
            return None
        place = max(ranked)[1]
        left_out.append(table.columns[place].title)
        table = _without(table, place)
    return _naming(table, left_out)


def _first_columns(table: Table, width: float, size: float) -> Table:
    """Return as many of the first columns as fit in landscape; at least one stays."""
    left_out: list[str] = []
    while len(table.columns) > 1 and _width(table, size) > width:
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
