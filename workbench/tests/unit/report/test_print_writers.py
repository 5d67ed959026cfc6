"""What is printed of a document: a PDF by Typst and Markdown, whatever its texts are."""

import json
import re
from typing import Any

import pytest

from assay.report import document as doc
from assay.report.document_look import DEFAULT_LOOK, Look
from assay.report.markdown import render_markdown
from assay.report.print_layout import SIZES_PT, fitted
from assay.report.typst import document_data, render_pdf

HOSTILE = (
    "#panic()",
    "$x^2$ *bold* _it_ @ref <label> // c /* d */ \\u{41} `raw` [x] {y}",
    "<script>alert(1)</script>",
    "\u202egnp.exe\u202c",
    "\x1b[31m",
    "日本 😀",
    "| a | b |",
    "- item",
    "1. item",
    "![x](http://x)",
    "</svg><b>",
    "",
)


def document_of(*blocks: doc.Block, title: str = "Title") -> doc.Document:
    return doc.Document("over", title, "", (("Run", "r"),), (doc.Section("s", "Section", blocks),))


def every_block(text: str) -> tuple[doc.Block, ...]:
    """One block of each kind, with this text wherever there is one."""
    line = doc.PlotLine(text, 0, ((1.0, 2.0), (10.0, 20.0), (20.0, None)))
    plot = doc.Plot("p", text, text, text, ((1.0, text), (10.0, "10")), (line,), (3.0, text))
    lanes = (doc.Lane(text, 0, (1.0, 2.0), (3.0,), 1.5),)
    return (
        doc.Heading(text, "h"),
        doc.Paragraph((text, doc.Strong(text), doc.Mono(text))),
        doc.Bullets((text, "b")),
        doc.Facts(((text, text),)),
        doc.Panels(((text, (text,)),)),
        doc.Table("t", (doc.Column(text, text), doc.Column("n")), ((text, doc.Num(text, 1.0)),), text),
        doc.Dots("d", text, text, False, (doc.DotRow(text, lanes),)),
        doc.Plots(((0, text, text),), (plot,), text),
        doc.Spans("s", text, text, 1.0, (doc.SpanRow(text, (1.0, text), None, text),)),
        doc.CodeBlock(text),
        doc.Note(text),
        doc.Fold(text, (doc.Paragraph(text),)),
    )


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_becomes_markup(text: str) -> None:
    document = document_of(*every_block(text), title=text or "Title")
    pdf = render_pdf(document, 1e9)
    assert pdf.startswith(b"%PDF-")
    written = render_markdown(document)
    assert "<script" not in re.sub(r"```.*?```|`[^`\n]+`", "", written, flags=re.DOTALL).replace("\\<", "")
    assert not set(written) & {"\u202e", "\x1b"}


def test_texts_reach_the_template_as_they_are() -> None:
    data = document_data(document_of(doc.Paragraph(HOSTILE[1])))
    before, code, after = HOSTILE[1].split("`")
    spans = [["text", before], ["mono", code], ["text", after]]
    assert data["sections"][0]["blocks"] == [{"kind": "paragraph", "text": spans, "lead": False}]


def test_what_typst_lays_out_is_what_was_written() -> None:
    typst = pytest.importorskip("typst", reason="the extra `paper` is not installed")
    from assay.report.typst import _template

    text = json.dumps(document_data(document_of(doc.Heading("#panic() <b>", "h"), title="$x$")))
    compiler = typst.Compiler(_template(), ignore_system_fonts=True, sys_inputs={"document": text})
    headings = [one["body"]["text"] for one in json.loads(compiler.query("heading"))]
    assert headings == ["Section", "#panic() <b>"]


def test_the_same_document_gives_the_same_bytes_and_is_archivable() -> None:
    document = document_of(*every_block("words"))
    first = render_pdf(document, 1e9)
    assert first == render_pdf(document, 1e9) != render_pdf(document, 2e9)
    for sign in (b"pdfaid:part>2<", b"pdfaid:conformance>A<", b"pdfuaid:part>1<", b"Made by Assay", b"2001-09-09"):
        assert sign in first


@pytest.mark.parametrize(
    "text", ["日" * 40 + "ñ Ω → ×", "\u20f1\u0301", "سلام עברית हिन्दी", "\u2807\u23b5\u258a", "\uaaa0\U00010526"]
)
def test_letters_of_any_script_are_printed_or_coded(text: str) -> None:
    """Some have no glyph in any font, some none in bold, some none beside another letter."""
    blocks = (doc.Paragraph((text, doc.Strong(text), doc.Mono(text))), doc.Heading(text, "h"))
    assert render_pdf(document_of(*blocks, title=text), 1e9).startswith(b"%PDF-")


def table(columns: list[doc.Column], words: str, rows: int = 3) -> doc.Table:
    return doc.Table("t", tuple(columns), ((*(words for _ in columns),),) * rows, "Caption.")


def titles(found: doc.Table) -> list[str]:
    return [column.title for column in found.columns]


def test_a_table_gets_smaller_type_then_loses_columns_with_a_rank_then_lies_across() -> None:
    few = fitted(table([doc.Column(f"c{n}") for n in range(4)], "some words"))
    assert (few.size_pt, few.is_landscape) == (SIZES_PT[0], False)
    small = fitted(table([doc.Column(f"c{n}", is_numeric=True) for n in range(10)], "1,234,567.8"))
    assert small.size_pt < SIZES_PT[0] and not small.is_landscape and len(small.table.columns) == 10
    ranked = fitted(table([doc.Column(f"c{n}", is_numeric=True, drop_rank=n) for n in range(14)], "1,234,567.8"))
    assert not ranked.is_landscape and titles(ranked.table) == [f"c{n}" for n in range(len(ranked.table.columns))]
    assert ranked.table.caption.startswith("Caption. Left out for lack of room: c13, ")
    across = fitted(table([doc.Column(f"c{n}", is_numeric=True) for n in range(14)], "1,234,567.8"))
    assert across.is_landscape and len(across.table.columns) == 14
    far = fitted(table([doc.Column(f"c{n}", is_numeric=True) for n in range(60)], "1,234,567.8"))
    assert far.is_landscape and 1 < len(far.table.columns) < DEFAULT_LOOK.landscape_width / 9
    assert far.table.caption.endswith("c59.")


def test_in_two_columns_a_table_stays_in_its_column_only_if_all_of_it_fits_there() -> None:
    look = Look(columns=2)
    narrow = fitted(table([doc.Column(f"c{n}") for n in range(3)], "some words"), look)
    assert not narrow.is_wide and len(narrow.table.columns) == 3
    ranked = fitted(table([doc.Column(f"c{n}", is_numeric=True, drop_rank=n) for n in range(7)], "1,234,567.8"), look)
    assert ranked.is_wide and not ranked.is_landscape and len(ranked.table.columns) == 7
    assert not fitted(table([doc.Column("c")], "x" * 20), look).is_long
    assert fitted(table([doc.Column("c")], "x" * 20, rows=40), look).is_long
    assert fitted(table([doc.Column(f"c{n}") for n in range(4)], "words " * 200), look).is_long, "few rows, but high"


@pytest.mark.parametrize("count", [1, 20, 200])
def test_no_picture_is_higher_than_a_page(count: int) -> None:
    lanes = tuple(doc.Lane(f"target {n}", n, (1.0, 2.0), (), 1.5) for n in range(4))
    dots = doc.Dots("d", "MB/s", "words", False, tuple(doc.DotRow(f"work {n}", lanes) for n in range(count)))
    (data,) = document_data(document_of(dots))["sections"][0]["blocks"]
    width, height = map(float, re.findall(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', data["svg"])[0])
    assert 0 < data["width"] * height / width <= 621


@pytest.mark.parametrize("width", [4, 14, 30])
def test_no_cell_is_beyond_the_edge_of_its_page(width: int) -> None:
    """Typst measures each table: it is no wider than the text of its page."""
    typst = pytest.importorskip("typst", reason="the extra `paper` is not installed")
    wide = table([doc.Column(f"column {n}", is_numeric=n > 2) for n in range(width)], "12,345 to 67,890")
    layout = fitted(wide)
    assert layout.table.rows[0] != () and len(layout.table.columns) <= width
    source = (
        '#let d = json(bytes(sys.inputs.d))\n#set text(font: "Libertinus Serif", size: d.size * 1pt)\n'
        "#let t = table(columns: d.cells.len(), inset: (x: 3pt), ..d.cells.map(c => [#c]))\n"
        "#context [#metadata(measure(t).width.pt()) <width>]"
    )
    data = json.dumps({"size": layout.size_pt, "cells": ["12,345 to 67,890"] * len(layout.table.columns)})
    compiler = typst.Compiler(source.encode(), ignore_system_fonts=True, sys_inputs={"d": data})
    (found,) = json.loads(compiler.query("<width>"))
    numeric_only: Any = found["value"]
    assert numeric_only <= (DEFAULT_LOOK.landscape_width if layout.is_landscape else 482.0) * 1.03


def test_markdown_of_all_blocks() -> None:
    blocks = (
        doc.Paragraph(("1. a ", doc.Strong("b*c"), " and ", doc.Mono("x`y|z"))),
        doc.Table(
            "t", (doc.Column("A|B", "MB/s", is_numeric=True), doc.Column("C")), ((doc.Num("1", 1.0), "x|y"),), "Cap."
        ),
        doc.CodeBlock("a\n```\nb", "shell"),
        doc.Note("n"),
    )
    written = render_markdown(document_of(*blocks)).split("## Section\n\n")[1]
    assert written == (
        "1. a **b\\*c** and ``x`y\\|z``\n\n*Cap.*\n\n| A\\|B (MB/s) | C |\n| ---: | --- |\n| 1 | x\\|y |\n\n"
        "````shell\na\n```\nb\n````\n\n> n\n"
    )
