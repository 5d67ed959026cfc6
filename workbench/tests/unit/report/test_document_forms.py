"""One document in all its forms: HTML, Markdown, DOCX, PDF and the tables of a spreadsheet say the same."""

import functools
import html
import io
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from page_runs import store_page_run
from priced import priced_run
from sample_run import sample_run

from assay.report import document as doc
from assay.report.chart_tables import drawing_table
from assay.report.docx.package import render_docx
from assay.report.draw.drawing import (
    BarMark,
    ChartAxis,
    Dot,
    Drawing,
    HeatCell,
    HeatMap,
    IntervalMark,
    Legend,
    LegendEntry,
    LineMark,
    NamedRows,
    ReferenceLine,
    Surface,
)
from assay.report.draw.scales import log_scale
from assay.report.export_document_xlsx import cell_number, document_tables, render_document_xlsx, sheet_names
from assay.report.html import render_html
from assay.report.markdown import render_markdown
from assay.report.print_layout import fitted
from assay.report.spans_table import spans_table
from assay.report.typst import render_pdf
from assay.report.view import RunView
from assay.rooms.paper.work.build import paper_of_runs
from assay.run.analysis import load_analysis

RUNS = ("sample", "priced", "crossing", "need-missed", "stopped-and-cached")
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


@functools.cache
def document_of(name: str) -> doc.Document:
    if name in ("sample", "priced"):
        return paper_of_runs({"a": RunView(sample_run() if name == "sample" else priced_run())}).document
    with tempfile.TemporaryDirectory() as folder:
        analysis = load_analysis(str(store_page_run(Path(folder), name)), Path(folder))
        return paper_of_runs({"a": RunView(analysis)}).document


def squeezed(text: str) -> str:
    """A text without what forms may change in it: blanks, hyphens, places where a line may end, signs of Markdown."""
    return re.sub(r"[\s\u00a0\u200b\u00ad\u2010`*-]+", "", text)


def html_text(document: doc.Document) -> str:
    page = re.sub(
        r'<b class="v ([a-z-]+)( partly)?"[^>]*?(?: data-also="\+ ([^"]*)")?>[^<]*</b>', _badge, render_html(document)
    )
    body = page.split("</style>")[1]
    return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"<(title|script)\b.*?</\1>", "", body, flags=re.DOTALL)))


def _badge(found: re.Match[str]) -> str:
    return ", ".join(filter(None, (found[1], found[3]))) + (" *" if found[2] else "")


def markdown_text(document: doc.Document) -> str:
    return re.sub(r"\\([\\`*_{}\[\]<>#|~$&!.:=+-])", r"\1", render_markdown(document))


def docx_text(document: doc.Document) -> str:
    with zipfile.ZipFile(io.BytesIO(render_docx(document, 1e9))) as file:
        root = ElementTree.fromstring(file.read("word/document.xml"))
    return "".join(one.text or "" for one in root.iter(f"{W}t"))


def pdf_text(document: doc.Document) -> str:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext (poppler-utils) is not installed")
    command = ["pdftotext", "-raw", "-", "-"]
    pages = subprocess.run(command, input=render_pdf(document, 1e9), check=True, capture_output=True).stdout.decode()
    footer = re.escape(document.overline)
    return re.sub(rf"{footer}\s+\d+ / \d+\s*\f", "", pages)


def texts_of(blocks: tuple[doc.Block, ...]) -> Iterator[str]:
    """All that stands in text and tables, as a reader sees it in print."""
    for block in blocks:
        match block:
            case doc.Heading() | doc.Paragraph() | doc.Note():
                yield doc.plain_text(block.text)
            case doc.Bullets():
                yield from map(doc.plain_text, block.items)
            case doc.Facts():
                for name, value in block.items:
                    yield from (name, doc.plain_text(value))
            case doc.Panels():
                for title, items in block.items:
                    yield from (title, *map(doc.plain_text, items))
            case doc.CodeBlock():
                yield from block.text.splitlines()
            case doc.Table():
                yield from (block.caption, block.notes)
                yield from table_texts(block)
            case doc.Fold():
                yield block.summary
                yield from texts_of(block.blocks)


def table_texts(table: doc.Table) -> Iterator[str]:
    """Titles and cells of the columns that fit on a page; those left out are in the caption."""
    layout = fitted(table).table
    places = [place for place, column in enumerate(table.columns) if column in layout.columns]
    for column in set(table.without_empty_columns().columns) - set(layout.columns):
        assert column.title in layout.caption
    for place in places:
        yield from (table.columns[place].title, table.columns[place].unit)
        yield from (cell_text(row[place]) for row in table.rows)


def cell_text(cell: doc.Cell) -> str:
    match cell:
        case doc.Num() | doc.Mono():
            return cell.text
        case doc.Share():
            return f"{cell.words} {cell.remark}".strip()
        case doc.Badge():
            return ", ".join(map(str, (cell.verdict, *cell.further_verdicts))) + (" *" if cell.is_partial else "")
    return cell


@pytest.mark.parametrize("form", [html_text, markdown_text, docx_text, pdf_text])
@pytest.mark.parametrize("name", RUNS)
def test_every_paragraph_and_cell_is_in_every_form(name: str, form: Callable[[doc.Document], str]) -> None:
    document = document_of(name)
    written = squeezed(form(document))
    head = [document.title, *(value for _, value in document.meta), *(part.title for part in document.sections)]
    expected = [*head, *(text for part in document.sections for text in texts_of(part.blocks))]
    assert len(expected) > 40
    assert [text for text in expected if squeezed(text) not in written] == []


@pytest.mark.parametrize("name", RUNS)
def test_every_cell_of_every_table_is_in_the_spreadsheet(name: str, tmp_path: Path) -> None:
    calamine = pytest.importorskip("python_calamine", reason="the extra `spreadsheet` is not installed")
    document = document_of(name)
    files = [tmp_path / "a.xlsx", tmp_path / "b.xlsx"]
    for file in files:
        file.write_bytes(render_document_xlsx(document, 1e9))
    assert files[0].read_bytes() == files[1].read_bytes()
    tables = list(document_tables(document))
    book = calamine.CalamineWorkbook.from_path(str(files[0]))
    assert book.sheet_names == ["Contents", *sheet_names(tables)]
    assert any(one.is_chart for one in tables)
    for sheet, one in zip(book.sheet_names[1:], tables, strict=True):
        rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
        assert rows[2][0] == one.table.caption
        for row, cells in zip(rows[5:], one.table.rows, strict=not one.table.notes):
            for found, cell in zip(row, cells, strict=False):
                assert_same(found, cell)
        assert [row[0] for row in rows[6 + len(one.table.rows) :]] == [one.table.notes] * bool(one.table.notes)


def assert_same(found: object, cell: doc.Cell) -> None:
    """A number may have more digits than its text."""
    words = cell_text(cell)
    if isinstance(found, str):
        assert found == words
        return
    assert isinstance(found, float)
    printed = float(re.sub(r"[^0-9.-]", "", words))
    scale = 100 if "%" in words else 1
    assert found * scale == pytest.approx(printed, rel=0.006)


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (doc.Num("303", 303_123_456.0), (303.123456, "0")),
        (doc.Num("1,230", 1234.0), (1234.0, "#,##0")),
        (doc.Num("2.14×", 2.1412), (2.1412, '0.00"×"')),
        (doc.Num("93 %", 0.9312), (0.9312, "0 %")),
        (doc.Num("93 %", 93.12), (0.9312, "0 %")),
        (doc.Num("$1,200.50", 1200.5), (1200.5, '"$"#,##0.00')),
        (doc.Num("12", 99.0), (12.0, "0")),
        (doc.Num("0", 0.0), (0.0, "0")),
        (doc.Num("4 GiB", float(4 << 30)), (4.0, '0" GiB"')),
        (doc.Num("91.5 †", 91_512_345.0), (91.512345, '0.0" †"')),
        (doc.Num("at least 728", 728.0), None),
        (doc.Num("≥5", 5.0), None),
        (doc.Num("89.6 to 4,270", 4270.0), None),
        (doc.Num("–", None), None),
        (doc.Share(0.93), (0.93, "0 %")),
        (doc.Mono("12"), None),
    ],
)
def test_numbers_keep_the_unit_of_their_text_and_gain_digits(cell: doc.Cell, number: tuple[float, str] | None) -> None:
    found = cell_number(cell)
    if number is None or found is None:
        assert found == number
    else:
        assert found == (pytest.approx(number[0], rel=1e-9), number[1])


def test_a_column_of_several_units_stays_text(tmp_path: Path) -> None:
    calamine = pytest.importorskip("python_calamine", reason="the extra `spreadsheet` is not installed")
    rows = (("a", doc.Num("1 GB/s", 1e9), "007", "7"), ("b", doc.Num("9 MB/s", 9e6), "8", "–"))
    table = doc.Table("t", tuple(map(doc.Column, "abcd")), rows, "=1+1")
    document = doc.Document("o", "T", "", (), (doc.Section("s", "[S]: '*?/\\", (table,)),))
    (tmp_path / "a.xlsx").write_bytes(render_document_xlsx(document, 1e9))
    book = calamine.CalamineWorkbook.from_path(str(tmp_path / "a.xlsx"))
    assert book.sheet_names == ["Contents", "1 S"]
    found = book.get_sheet_by_name("1 S").to_python(skip_empty_area=False)
    assert found[2][0] == "=1+1" and found[5:] == [["a", "1 GB/s", "007", 7.0], ["b", "9 MB/s", "8", "–"]]


def test_a_very_long_text_is_cut_off_where_excel_has_no_room(tmp_path: Path) -> None:
    calamine = pytest.importorskip("python_calamine", reason="the extra `spreadsheet` is not installed")
    table = doc.Table("t", (doc.Column("a"),), (("x" * 40_000,),), "")
    document = doc.Document("o", "T", "", (), (doc.Section("s", "S", (table,)),))
    (tmp_path / "a.xlsx").write_bytes(render_document_xlsx(document, 1e9))
    rows = calamine.CalamineWorkbook.from_path(str(tmp_path / "a.xlsx")).get_sheet_by_name("1 S").to_python()
    assert rows[-1] == [f"{'x' * 32_764}..."]


def test_a_sign_at_some_numbers_does_not_make_their_column_text(tmp_path: Path) -> None:
    calamine = pytest.importorskip("python_calamine", reason="the extra `spreadsheet` is not installed")
    numbers = [doc.Num("91.5 †", 91.5), doc.Num("300", 300.0), doc.Num("at least 7", 7.0)]
    table = doc.Table("t", (doc.Column("a"), doc.Column("b")), tuple(("x", one) for one in numbers), "", notes="† n")
    document = doc.Document("o", "T", "", (), (doc.Section("s", "S", (table,)),))
    (tmp_path / "a.xlsx").write_bytes(render_document_xlsx(document, 1e9))
    book = calamine.CalamineWorkbook.from_path(str(tmp_path / "a.xlsx"))
    found = book.get_sheet_by_name("1 S").to_python(skip_empty_area=False)
    assert [row[1] for row in found[5:8]] == [91.5, 300.0, "at least 7"] and found[-1][0] == "† n"


X, Y = (ChartAxis(title, log_scale([1.0, 100.0]), ((1.0, "one"),)) for title in ("Size", "MB/s, log scale"))
KEYS = (Legend("Target", (LegendEntry("disk", "t0"),)),)
MARKS = (
    LineMark(((1.0, 5.0), (10.0, None)), "t0"),
    Dot(1.0, 5.0, "t0", "5 MB/s\nok"),
    IntervalMark((1.0, 1.0), (4.0, 6.0), "t0"),
    BarMark((0.1, 0.9), (0.0, 7.0), "t0", "write, disk\n7"),
    IntervalMark((0.5, 0.5), (6.0, 8.0)),
    ReferenceLine(50.0, "level", is_vertical=False, label="limit"),
)


def test_the_values_of_a_chart_are_rows() -> None:
    table = drawing_table(Drawing(X, Y, MARKS, KEYS), "Caption.")
    assert [column.title for column in table.columns] == [
        *("Drawn as", "Series", "Size", "MB/s", "Size at the other end", "MB/s at the other end", "Label")
    ]
    assert [tuple(map(cell_text, row)) for row in table.rows] == [
        ("line", "disk", "1", "5", "", "", "one"),
        ("line", "disk", "10", "–", "", "", ""),
        ("point", "disk", "1", "5", "", "", "one, 5 MB/s, ok"),
        ("interval", "disk", "1", "4", "1", "6", "one"),
        ("bar", "disk", "", "7", "", "", "write, disk, 7"),
        ("interval", "disk", "0.5", "6", "0.5", "8", ""),
        ("reference line", "", "", "50", "", "", "limit"),
    ]
    rows = drawing_table(Drawing(X, NamedRows(("a", "b"), 20), (Dot(1.0, 1.5),)), "").rows
    assert [tuple(map(cell_text, row)) for row in rows] == [("point", "1", "b", "one")]


def test_the_values_of_maps_and_surfaces_are_rows() -> None:
    scale = log_scale([1.0, 100.0])
    cells = (HeatCell(0, 1, 5.0, "5.0", "weak"), HeatCell(1, 0, None, "none"))
    heat = HeatMap("x", "y", ("a", "b"), ("c", "d"), (("disk", cells),), scale, "MB/s", 10, 10, True)
    assert [tuple(map(cell_text, row)) for row in drawing_table(heat, "").rows] == [
        ("disk", "a", "d", "5", "5.0", "weak"),
        ("disk", "b", "c", "–", "none", ""),
    ]
    surface = Surface("x", "y", "z", ("a", "b"), ("c",), ((1.0, None),), scale)
    assert [tuple(map(cell_text, row)) for row in drawing_table(surface, "").rows] == [("a", "c", "1"), ("b", "c", "–")]


def test_spans_are_a_sheet_of_their_own() -> None:
    block = doc.Spans("s", "What matters", "words", 1.0, (doc.SpanRow("price", (1.0, "low"), None, "note"),))
    document = doc.Document("o", "T", "", (), (doc.Section("s", "S", (block,)),))
    assert [one.table for one in document_tables(document)] == [spans_table(block)]
