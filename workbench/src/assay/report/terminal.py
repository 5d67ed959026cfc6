"""Writes document blocks as text: for a terminal of a given width, or for a pipe, where each table row is one line.

Columns marked as detail and charts are left out. Control characters are written as visible escapes, since text may come
from a study file.
"""

import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any

from assay.model.escape import escape_line
from assay.report import document as doc

LONGEST_LINE = 100_000
"""Longest line, in characters; the rest is cut off."""
MIN_WIDTH = 12
"""Least width of a text column; if the table is then still too wide, the terminal breaks its lines."""
_GAP = "  "
_BOLD, _END = "\x1b[1m", "\x1b[0m"

StyledLine = tuple[str, bool]
"""The text of a line, and whether it is set in bold."""


def render_terminal(blocks: Iterable[doc.Block], width: int | None = None, styled: bool = False) -> str:
    """Return blocks of a document as text that ends in a line break; empty without blocks.

    Args:
        blocks: The blocks, from top to bottom.
        width: Columns of the terminal; None: lines are not broken.
        styled: Print headings in bold with ANSI codes, which only a terminal understands.
    """
    found: list[StyledLine] = []
    before: doc.Block | None = None
    for block in blocks:
        lines = _WRITERS[type(block)](block, width)
        if isinstance(before, doc.Heading) and isinstance(block, doc.Facts):
            lines = [(f"  {text}", bold) for text, bold in lines]
        if lines and before is not None and _apart(before, block):
            found.append(("", False))
        found += lines
        before = block if lines else before
    return "".join(f"{_BOLD}{text}{_END}\n" if bold and styled else f"{text}\n" for text, bold in found)


def _apart(before: doc.Block, block: doc.Block) -> bool:
    """Return whether an empty line separates two blocks."""
    if isinstance(before, doc.Heading):
        return False
    return isinstance(before, doc.Table) or isinstance(block, doc.Heading | doc.Table | doc.Fold)


def text_of(cell: doc.Cell) -> str:
    """Return the text of a table cell without markup."""
    match cell:
        case doc.Badge():
            return ", ".join((f"{cell.verdict}{' *' if cell.is_partial else ''}", *cell.further_verdicts))
        case doc.Share():
            return f"{cell.words}; {cell.remark}" if cell.remark else cell.words
        case doc.Num() | doc.Mono():
            return cell.text
    return cell


_JOINT = "\u00a0"
_UNIT = re.compile(
    r"(?<=\d) (?=(?:[kMGT]?i?B(?:/s)?|[nµum]?s|min|h|d|%|ops/s|1/s|/s|operations|points?|results?|repeats?|hosts?)\b|%)"
)


def with_joined_units(text: str) -> str:
    """Return a text with no-break spaces between numbers and their units."""
    return _UNIT.sub(_JOINT, text)


def _folded(text: str, width: int | None, first: str = "", rest: str = "") -> list[StyledLine]:
    """Return a text as lines of at most `width` columns, broken only between words."""
    line = escape_line(text, LONGEST_LINE)
    if width is None or _columns(line) + len(first) <= width:
        return [(f"{first}{line}".rstrip(), False)]
    room = max(width, len(rest) + MIN_WIDTH)
    parts = textwrap.wrap(
        with_joined_units(line),
        room,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [(part.replace(_JOINT, " "), False) for part in parts]


def _heading(block: doc.Heading, width: int | None) -> list[StyledLine]:
    return [(text, True) for text, _ in _folded(block.text, width)]


def _paragraph(block: doc.Paragraph, width: int | None) -> list[StyledLine]:
    return _folded(doc.plain_text(block.text), width)


def _bullets(block: doc.Bullets, width: int | None) -> list[StyledLine]:
    return [line for item in block.items for line in _folded(doc.plain_text(item), width, "  ", "    ")]


def _facts(block: doc.Facts, width: int | None) -> list[StyledLine]:
    names = [escape_line(name, LONGEST_LINE) for name, _ in block.items]
    wide = max(map(_columns, names), default=0) + len(_GAP)
    return [
        line
        for name, (_, value) in zip(names, block.items, strict=True)
        for line in _folded(doc.plain_text(value), width, _padded(name, wide), " " * wide)
    ]


def _panels(block: doc.Panels, width: int | None) -> list[StyledLine]:
    found: list[StyledLine] = []
    for title, items in block.items:
        found += [("", False), (escape_line(title, LONGEST_LINE), True)]
        found += [line for item in items for line in _folded(doc.plain_text(item), width, "  ", "    ")]
    return found


def _code(block: doc.CodeBlock, _width: int | None) -> list[StyledLine]:
    return [(escape_line(line, LONGEST_LINE), False) for line in block.text.splitlines()]


def _note(block: doc.Note, width: int | None) -> list[StyledLine]:
    return _folded(f"{'warning' if block.kind == 'warning' else 'note'}: {doc.plain_text(block.text)}", width)


def _fold(block: doc.Fold, width: int | None) -> list[StyledLine]:
    inner = render_terminal(block.blocks, width).splitlines()
    return [(escape_line(block.summary, LONGEST_LINE), True), *((line, False) for line in inner)]


def _nothing(_block: object, _width: int | None) -> list[StyledLine]:
    return []


def _table(table: doc.Table, width: int | None) -> list[StyledLine]:
    shown = [place for place, column in enumerate(table.columns) if not column.is_detail]
    left_out: list[str] = []
    if width is not None:
        shown, left_out = _fitting(table, shown, width)
    columns = [table.columns[place] for place in shown]
    heads = [[escape_line(column.title, LONGEST_LINE) for column in columns]]
    if any(column.unit for column in columns):
        heads.append([escape_line(column.unit, LONGEST_LINE) for column in columns])
    rows = [[escape_line(text_of(row[place]), LONGEST_LINE) for place in shown] for row in table.rows]
    cells = [list(column) for column in zip(*heads, *rows, strict=True)]
    widths = [max(map(_columns, column)) for column in cells]
    if width is not None:
        widths = _narrowed(widths, list(map(_min_width, cells, columns)), width)
    rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    lines = [(line, True) for head in heads for line in _row(head, columns, widths)]
    lines += [(rule, False), *((line, False) for row in rows for line in _row(row, columns, widths))]
    if left_out:
        lines += _folded(f"columns left out: {', '.join(left_out)}", width)
    return [*lines, *(line for text in (table.notes, table.caption) if text for line in _folded(text, width))]


def _fitting(table: doc.Table, shown: list[int], width: int) -> tuple[list[int], list[str]]:
    """Return the positions of the columns that fit into the width, and the titles of those that are left out."""
    least = {}
    for place in shown:
        column = table.columns[place]
        texts = (column.title, column.unit, *(text_of(row[place]) for row in table.rows))
        least[place] = _min_width([escape_line(text, LONGEST_LINE) for text in texts], column)
    fitting = list(shown)
    while len(fitting) > 1 and sum(least[place] for place in fitting) + len(_GAP) * (len(fitting) - 1) > width:
        fitting.remove(max(fitting[1:], key=lambda place: (table.columns[place].drop_rank, place)))
    titles = (escape_line(table.columns[place].title, LONGEST_LINE) for place in shown if place not in fitting)
    return fitting, list(dict.fromkeys(filter(None, titles)))


def _min_width(cells: Sequence[str], column: doc.Column) -> int:
    """Return the least width of a column: no number is broken, and no word of a text."""
    whole = max(map(_columns, cells))
    if column.is_numeric:
        return whole
    words = max((_columns(piece.rstrip()) for cell in cells for piece in _pieces(cell)), default=0)
    return max(words, min(whole, MIN_WIDTH))


def _narrowed(widths: list[int], least: Sequence[int], width: int) -> list[int]:
    """Return column widths, the widest reduced until the table fits or no column can become narrower."""
    found = list(widths)
    while sum(found) + len(_GAP) * (len(found) - 1) > width:
        places = [place for place, smallest in enumerate(least) if found[place] > smallest]
        if not places:
            break
        found[max(places, key=lambda place: found[place])] -= 1
    return found


def _row(cells: Sequence[str], columns: Sequence[doc.Column], widths: Sequence[int]) -> list[str]:
    """Return the lines of one row; there are several where a cell is wider than its column."""
    parts = [_cut(cell, width) for cell, width in zip(cells, widths, strict=True)]
    found = []
    for line in zip_longest(*parts, fillvalue=""):
        words = [
            _padded(text, width, right=column.is_numeric)
            for text, column, width in zip(line, columns, widths, strict=True)
        ]
        found.append(_GAP.join(words).rstrip())
    return found


def _cut(text: str, width: int) -> list[str]:
    """Return a cell as lines, broken between words and, in paths, after a slash."""
    if _columns(text) <= width:
        return [text]
    lines, line = [], ""
    for piece in _pieces(text):
        if line and _columns(f"{line}{piece}".rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()]


def _pieces(text: str) -> list[str]:
    """Return the parts of a text after which a line may end; each word includes the blank after it."""
    found = []
    for word in text.split():
        parts = re.findall("[^/]*/+|[^/]+", word) if word.count("/") > 1 else [word]
        found += [*parts[:-1], f"{parts[-1]} "]
    return found


def _padded(text: str, width: int, right: bool = False) -> str:
    blanks = " " * (width - _columns(text))
    return blanks + text if right else text + blanks


def _columns(text: str) -> int:
    """Return the columns that a text takes on a terminal: two for East Asian letters, none for combining marks.

    Source: Unicode Standard Annex 11.
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


_WRITERS: dict[type[Any], Callable[[Any, int | None], list[StyledLine]]] = {
    doc.Heading: _heading,
    doc.Paragraph: _paragraph,
    doc.Bullets: _bullets,
    doc.Facts: _facts,
    doc.Dots: _nothing,
    doc.Panels: _panels,
    doc.Table: _table,
    doc.Chart: _nothing,
    doc.Gallery: _nothing,
    doc.Plots: _nothing,
    doc.Spans: _nothing,
    doc.CodeBlock: _code,
    doc.Note: _note,
    doc.Fold: _fold,
}
