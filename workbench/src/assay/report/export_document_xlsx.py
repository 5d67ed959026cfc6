"""Writes the tables of a document, and what its charts are drawn from, as a spreadsheet; the same bytes each time."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from assay.model.escape import escape_lines
from assay.report import document as doc
from assay.report import numbers
from assay.report.chart_tables import drawing_table
from assay.report.draw.diagram import Diagram
from assay.report.export_xlsx import WORKBOOK_OPTIONS, safe_sheet_class
from assay.report.print_pictures import drawings_of
from assay.report.spans_table import spans_table
from assay.report.typst import MARK

_WIDEST = 60
_MAX_NAME = 31
"""Longest name of a sheet that Excel allows."""
_FORBIDDEN = re.compile(r"[\[\]:*?/\\']")
_NUMBER = re.compile(r"(?P<before>[^0-9]*?)(?P<number>-?[0-9][0-9,]*(?:\.(?P<decimals>[0-9]+))?)(?P<after>[^0-9]*)")
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9,]*)(?:\.[0-9]+)?")
"""A number; a text with leading zeros is none."""
_SIGNS = re.compile(r"[^\w%×$€£¥/]")
_CURRENCIES = ("", "$", "€", "£", "¥")
"""What may stand before a number."""
_SCALES = (1.0, *(1000.0**power for power in (-2, -1, 1, 2, 3, 4)), *(1024.0**power for power in (1, 2, 3, 4)), 0.01)
_ROUNDED = 0.006
"""Greatest difference between a number and its text of three digits, as a share."""
_TOP = 4
"""Rows above a table: title, section, caption, and an empty one."""


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """A table of a document, or of what a chart shows.

    Attributes:
        section: Title of its section.
        title: The heading above it, or the title of its chart.
    """

    table: doc.Table
    section: str
    title: str
    is_chart: bool = False


def render_document_xlsx(document: doc.Document, created_at: float) -> bytes:
    """Return a workbook with a sheet for each table and each chart, behind one that lists them.

    Args:
        document: The document.
        created_at: Seconds since 1970 that the file gives as its time of creation.
    """
    import xlsxwriter

    tables = list(document_tables(document))
    names = sheet_names(tables)
    data = io.BytesIO()
    # In memory: no temporary files that a full disk could cut off.
    with xlsxwriter.Workbook(data, {**WORKBOOK_OPTIONS, "in_memory": True}) as book:
        book.worksheet_class = safe_sheet_class()
        book.set_properties(
            {
                "title": escape_lines(document.title),
                "author": escape_lines(", ".join(document.authors)) or "Assay",
                "keywords": MARK,
                "created": datetime.fromtimestamp(int(created_at), tz=UTC).replace(tzinfo=None),
            }
        )
        _write_contents(book, document, tables, names)
        for name, one in zip(names, tables, strict=True):
            _write_table(book, name, one)
    return data.getvalue()


def document_tables(document: doc.Document) -> Iterator[DocumentTable]:
    """Yield the tables of a document and the values of its charts, in order."""
    for section in document.sections:
        yield from _tables_in(section.blocks, section.title, "")


def _tables_in(blocks: tuple[doc.Block, ...], section: str, heading: str) -> Iterator[DocumentTable]:
    for block in blocks:
        match block:
            case doc.Heading():
                heading = block.text
            case doc.Table():
                yield DocumentTable(block, section, f"{section}: {heading}" if heading else section)
            case doc.Spans():
                yield DocumentTable(spans_table(block), section, block.title)
            case doc.Fold():
                yield from _tables_in(block.blocks, section, block.summary)
            case doc.Chart() | doc.Dots() | doc.Gallery() | doc.Plots():
                for drawing, title, caption in drawings_of(block):
                    # A diagram has no numbers of its own.
                    if not isinstance(drawing, Diagram):
                        yield DocumentTable(drawing_table(drawing, caption), section, title, is_chart=True)


def sheet_names(tables: list[DocumentTable]) -> list[str]:
    """Return a name for each sheet: its number, which makes it unique, and as much of its title as there is room."""
    names = []
    for number, one in enumerate(tables, 1):
        title = _FORBIDDEN.sub(" ", escape_lines(one.title))
        names.append(f"{number} {' '.join(title.split())}"[:_MAX_NAME].strip())
    return names


def _write_contents(book: Any, document: doc.Document, tables: list[DocumentTable], names: list[str]) -> None:
    sheet = book.add_worksheet("Contents")
    bold = book.add_format({"bold": True})
    sheet.set_column(0, 0, 34)
    sheet.set_column(1, 2, 28)
    sheet.set_column(3, 3, 100)
    sheet.write_string(0, 0, document.title, book.add_format({"bold": True, "font_size": 14}))
    facts = (("Authors", ", ".join(document.authors)), *document.meta)
    line = 1
    for name, value in (fact for fact in facts if fact[1]):
        sheet.write_string(line, 0, name, bold)
        sheet.write_string(line, 1, value)
        line += 1
    line += 1
    for place, title in enumerate(("Sheet", "Section", "Content", "Caption")):
        sheet.write_string(line, place, title, bold)
    link = book.add_format({"font_color": "#0b4f7d", "underline": 1})
    for name, one in zip(names, tables, strict=True):
        line += 1
        sheet.write_url(line, 0, f"internal:'{name}'!A1", link, name)
        sheet.write_string(line, 1, one.section)
        sheet.write_string(line, 2, "values of a chart" if one.is_chart else "table")
        sheet.write_string(line, 3, one.table.caption)


def _write_table(book: Any, name: str, one: DocumentTable) -> None:
    """Write title, section and caption, then the table below a heading that stays in view."""
    table = one.table
    sheet = book.add_worksheet(name)
    sheet.write_string(0, 0, one.title, book.add_format({"bold": True, "font_size": 13}))
    sheet.write_string(1, 0, one.section)
    sheet.write_string(2, 0, table.caption)
    head = {"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom"}
    left, right = book.add_format(head), book.add_format({**head, "align": "right"})
    formats: dict[str, Any] = {}
    for place, column in enumerate(table.columns):
        cells = _as_numbers([row[place] for row in table.rows], place)
        shown = f"{column.title}\n{column.unit}" if column.unit else column.title
        sheet.write_string(_TOP, place, shown, right if column.is_numeric else left)
        widest = max([len(column.title), len(column.unit), *(len(_words(cell)) for cell in cells)], default=0)
        sheet.set_column(place, place, min(_WIDEST, max(8, widest + 2)))
        units = {_unit(cell) for cell in cells} - {None}
        for line, cell in enumerate(cells, _TOP + 1):
            number = cell_number(cell) if len(units) <= 1 else None
            if number is None:
                style = {"align": "right"} if column.is_numeric else {}
                sheet.write_string(line, place, _words(cell), _format(book, formats, style))
            else:
                sheet.write_number(line, place, number[0], _format(book, formats, {"num_format": number[1]}))
    if table.notes:
        sheet.write_string(_TOP + len(table.rows) + 2, 0, table.notes)
    sheet.freeze_panes(_TOP + 1, 1)


def _as_numbers(cells: list[doc.Cell], place: int) -> list[doc.Cell]:
    """Return the cells of a column with texts as numbers, if there are only numbers; the first column has names."""
    texts = [cell for cell in cells if cell not in (numbers.NONE, "")]
    if place and texts and all(isinstance(cell, str) and _PLAIN.fullmatch(cell) for cell in texts):
        return [doc.Num(cell, None) if cell in texts and isinstance(cell, str) else cell for cell in cells]
    return cells


def _format(book: Any, formats: dict[str, Any], style: dict[str, str]) -> Any:
    key = repr(style)
    if key not in formats:
        formats[key] = book.add_format(style)
    return formats[key]


def _words(cell: doc.Cell) -> str:
    match cell:
        case doc.Num():
            return cell.text
        case doc.Share():
            return f"{cell.words} {cell.remark}".strip()
        case doc.Badge():
            words = ", ".join(map(str, (cell.verdict, *cell.further_verdicts)))
            return words + (" *" if cell.is_partial else "")
        case doc.Mono(text):
            return text
    return cell


def _unit(cell: doc.Cell) -> str | None:
    """Return the unit of a cell's number, without signs such as a dagger; None for a cell without a number."""
    if cell_number(cell) is None:
        return None
    return _SIGNS.sub("", _NUMBER.sub(r"\g<before>\g<after>", _words(cell)))


def cell_number(cell: doc.Cell) -> tuple[float, str] | None:
    """Return the number of a cell and the format in which a spreadsheet shows its text; None: there is no number.

    The number has the unit that the text has, and all digits that are known, also those that the text leaves out. A
    bound such as `at least 5` is no number.
    """
    if not isinstance(cell, doc.Num | doc.Share):
        return None
    found = _NUMBER.fullmatch(_words(cell))
    if found is None or found["before"].strip() not in _CURRENCIES:
        return None
    printed = float(found["number"].replace(",", ""))
    digits = "#,##0" if "," in found["number"] else "0"
    digits += f".{'0' * len(found['decimals'])}" if found["decimals"] else ""
    before, after = found["before"], found["after"]
    value = _in_unit(cell.value, printed)
    if after.strip() == "%" and not before:
        return value / 100, f"{digits}{after}"
    return value, f"{_literal(before)}{digits}{_literal(after)}"


def _literal(text: str) -> str:
    """Return a text as a part of a number format."""
    return f'"{text.replace(chr(34), chr(39))}"' if text else ""


def _in_unit(value: float | None, printed: float) -> float:
    """Return the exact value in the unit in which it is printed; the printed number if they do not agree."""
    if value is None or value == 0 or printed == 0:
        return printed
    for scale in _SCALES:
        if abs(value / scale - printed) <= _ROUNDED * abs(printed):
            return value / scale
    return printed
