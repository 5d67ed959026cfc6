"""DOCX files: what Word needs of them, whatever the texts are."""

import io
import re
import struct
import zipfile
from xml.etree import ElementTree

import pytest

from assay.report import document as doc
from assay.report.document_look import Look
from assay.report.docx.body import Body
from assay.report.docx.package import render_docx
from assay.report.draw.diagram import Diagram, TextShape
from assay.report.typst import document_data

pytest.importorskip("typst", reason="the extra `paper` is not installed")
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
LINE = doc.PlotLine("a", 0, ((1.0, 2.0), (10.0, 20.0)))
PLOT = doc.Plot("p", "A plot", "What is to be seen.", "x", ((1.0, "1"), (10.0, "10")), (LINE,), (3.0, "need"))
TABLE = doc.Table(
    "t",
    (doc.Column("Name"), doc.Column("Rate", "MB/s", is_numeric=True)),
    (("disk", doc.Num("303", 303.0)), ("<b>&\"'", doc.Num("9", 9.0))),
    "Rates.",
)
WIDE = doc.Table(
    "w", tuple(doc.Column(f"column {n}", is_numeric=True) for n in range(14)), (("1,234,567.8",) * 14,), "W."
)
BLOCKS = (
    doc.Paragraph(("some ", doc.Strong("strong"), doc.Mono("a/very/long/path/that/would/be/broken.txt"))),
    doc.Heading("Below", "h"),
    doc.Bullets(("one", "two")),
    doc.Facts((("Host", "vm"),)),
    TABLE,
    doc.Plots(((0, "a", ""),), (PLOT,)),
    doc.CodeBlock("first\n\tsecond"),
    doc.Note("Mind this."),
)


def document_of(*blocks: doc.Block, look: Look | None = None, title: str = "Title") -> doc.Document:
    parts = (doc.Section("abstract", "Abstract", (doc.Paragraph("In short."),)), doc.Section("s", "Section", blocks))
    return doc.Document("over", title, "", (("Run", "r"),), parts, authors=("Ada", "Bo"), look=look or Look())


def parts_of(document: doc.Document) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(render_docx(document, 1e9))) as file:
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        return {name: file.read(name) for name in file.namelist()}


@pytest.fixture(scope="module")
def parts() -> dict[str, bytes]:
    return parts_of(document_of(*BLOCKS))


@pytest.fixture(scope="module")
def body(parts: dict[str, bytes]) -> ElementTree.Element:
    return ElementTree.fromstring(parts["word/document.xml"])


def styles_in(body: ElementTree.Element) -> list[str]:
    return [str(one.get(f"{W}val")) for one in body.iter(f"{W}pStyle")]


def test_the_same_document_gives_the_same_bytes() -> None:
    assert render_docx(document_of(*BLOCKS), 1e9) == render_docx(document_of(*BLOCKS), 1e9)


def test_every_part_is_xml_and_every_relation_leads_to_a_part(parts: dict[str, bytes]) -> None:
    for name, content in parts.items():
        if name.endswith((".xml", ".rels", ".svg")):
            ElementTree.fromstring(content)
    relations = dict(re.findall(r'Id="([^"]+)"[^>]*Target="([^"]+)"', parts["word/_rels/document.xml.rels"].decode()))
    assert all(f"word/{target}" in parts for target in relations.values())
    used = re.findall(r'r:(?:id|embed)="([^"]+)"', parts["word/document.xml"].decode())
    assert used and set(used) <= set(relations)
    named = re.findall(r'PartName="/([^"]+)"', parts["[Content_Types].xml"].decode())
    assert set(named) <= set(parts)


def test_every_style_is_defined(parts: dict[str, bytes], body: ElementTree.Element) -> None:
    defined = {one.get(f"{W}styleId") for one in ElementTree.fromstring(parts["word/styles.xml"]).iter(f"{W}style")}
    used = {one.get(f"{W}val") for kind in ("pStyle", "rStyle", "tblStyle") for one in body.iter(f"{W}{kind}")}
    assert used <= defined and {"Heading1", "Heading2", "ListBullet", "Code", "Caption", "Mono"} <= used


def test_properties_name_title_authors_language_and_assay(parts: dict[str, bytes]) -> None:
    core = parts["docProps/core.xml"].decode()
    for words in (
        "<dc:title>Title<",
        "<dc:creator>Ada; Bo<",
        "<dc:language>en<",
        ">Made by Assay<",
        "2001-09-09T01:46:40Z",
    ):
        assert words in core


def test_sections_are_headings_and_the_abstract_has_no_number(body: ElementTree.Element) -> None:
    heads = [one for one in body.iter(f"{W}p") if "Heading1" in styles_in(one)]
    texts = ["".join(run.text or "" for run in one.iter(f"{W}t")) for one in heads]
    numbers = [one.find(f"{W}pPr/{W}numPr/{W}numId") for one in heads]
    assert texts == ["Abstract", "Section"]
    assert numbers[1] is None and numbers[0] is not None and numbers[0].get(f"{W}val") == "0"


def test_a_table_repeats_its_head_and_aligns_numbers(body: ElementTree.Element) -> None:
    (table,) = (one for one in body.iter(f"{W}tbl") if "ResultTable" in ElementTree.tostring(one).decode())
    rows = list(table.iter(f"{W}tr"))
    assert [row.find(f"{W}trPr/{W}tblHeader") is not None for row in rows] == [True, False, False]
    assert all(row.find(f"{W}trPr/{W}cantSplit") is not None for row in rows)
    sides = [[one.get(f"{W}val") for one in row.iter(f"{W}jc")] for row in rows]
    assert sides == [["right"]] * 3
    assert table.find(f"{W}tblPr/{W}tblCaption").get(f"{W}val") == "Rates."  # type: ignore[union-attr]


def test_captions_are_numbered_by_fields_and_stay_with_what_they_name(parts: dict[str, bytes]) -> None:
    text = parts["word/document.xml"].decode()
    assert re.findall(r'w:instr=" SEQ (\w+) ', text) == ["Table", "Figure"]
    assert re.search(r'<w:pStyle w:val="Caption"/><w:keepNext/>.{0,400}SEQ Table', text)


def test_a_chart_is_a_vector_with_a_bitmap_of_the_same_shape(parts: dict[str, bytes]) -> None:
    text = parts["word/document.xml"].decode()
    assert '<asvg:svgBlip r:embed="picture1-svg"/>' in text and 'r:embed="picture1-png"' in text
    assert 'descr="A plot. What is to be seen."' in text
    width, height = struct.unpack(">II", parts["word/media/picture1.png"][16:24])
    (extent,) = set(re.findall(r'<wp:extent cx="(\d+)" cy="(\d+)"/>', text))
    assert width / height == pytest.approx(int(extent[0]) / int(extent[1]), rel=0.01) and width > 1000
    assert parts["word/media/picture1.svg"].startswith(b"<svg ")


def test_a_diagram_has_all_that_it_shows_as_alternative_text() -> None:
    shapes = (TextShape(5.0, 9.0, "host a"),)
    block = doc.Chart("c", "Hosts", "Two hosts.", Diagram(200.0, 80.0, shapes, "host a is linked to host b."))
    text = parts_of(document_of(block))["word/document.xml"].decode()
    assert 'descr="Hosts. host a is linked to host b."' in text and ">Two hosts.<" in text


def test_words_have_no_places_to_break_them(body: ElementTree.Element) -> None:
    texts = [one.text for one in body.iter(f"{W}t")]
    assert "a/very/long/path/that/would/be/broken.txt" in texts and "<b>&\"'" in texts
    (code,) = (one for one in body.iter(f"{W}p") if styles_in(one) == ["Code"])
    kinds = [one.tag.removeprefix(W) for one in code.iter() if one.tag.removeprefix(W) in ("t", "br", "tab")]
    assert kinds == ["t", "br", "t", "tab", "t"]


def test_a_very_wide_table_has_pages_in_landscape_with_its_heading() -> None:
    document = document_of(doc.Paragraph("before"), doc.Heading("Wide", "w"), WIDE, doc.Paragraph("after"))
    text = Body(document_data(document), document.look).xml()
    first, second, third = text.split("<w:sectPr>")[1:]
    assert ["landscape" in one.split("</w:sectPr>")[0] for one in (first, second, third)] == [False, True, False]
    assert ">Wide<" in first.split("</w:sectPr>")[1], "the heading is on the page of its table"
    assert 'w:val="nextPage"' in third


def test_in_two_columns_a_small_picture_stays_in_its_column() -> None:
    small = doc.Chart("c", "Hosts", "Two hosts.", Diagram(200.0, 80.0, (TextShape(5.0, 9.0, "a"),), "a"))
    document = document_of(small, look=Look(columns=2))
    text = Body(document_data(document), document.look).xml()
    assert re.findall(r'<w:cols w:num="(\d)"', text) == ["1", "2"]


def test_in_two_columns_charts_are_over_both() -> None:
    document = document_of(doc.Plots(((0, "a", ""),), (PLOT,)), doc.Paragraph("after"), look=Look(columns=2))
    text = Body(document_data(document), document.look).xml()
    assert re.findall(r'<w:cols w:num="(\d)"', text) == ["1", "2", "1", "2"]


@pytest.mark.parametrize(("contents", "count", "expected"), [(None, 3, 0), (None, 20, 1), (True, 3, 1), (False, 20, 0)])
def test_a_long_document_has_contents_unless_the_look_says_otherwise(
    contents: bool | None, count: int, expected: int
) -> None:
    heads = [doc.Heading(f"head {n}", f"h{n}") for n in range(count)]
    document = document_of(*heads, doc.Paragraph("end"), look=Look(has_contents=contents))
    text = Body(document_data(document), document.look).xml()
    assert text.count(" TOC ") == expected
    names = set(re.findall(r'w:anchor="(\w+)"', text))
    assert names <= set(re.findall(r'w:bookmarkStart w:id="\d+" w:name="(\w+)"', text))


@pytest.mark.parametrize("text", ["\x00\x1b[31m\u202e", "]]>", "\ud800", "日本 😀", "a\u200bb", ""])
def test_no_text_breaks_the_file(text: str) -> None:
    blocks = (
        doc.Paragraph(text),
        doc.Facts(((text, text),)),
        doc.CodeBlock(text),
        doc.Note(text),
        doc.Bullets((text,)),
    )
    for name, content in parts_of(document_of(*blocks, title=text)).items():
        if name.endswith(".xml"):
            ElementTree.fromstring(content)
