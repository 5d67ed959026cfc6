"""The look that a description orders: what is refused, with its line, and what reaches each form."""

import io
import re
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from sample_run import sample_run

from assay.model.base import AssayError
from assay.report.document import Document
from assay.report.docx.package import render_docx
from assay.report.html import render_html
from assay.report.typst import render_pdf
from assay.report.view import RunView
from assay.rooms.paper.work.description import DescribedPaper

VIEW = RunView(sample_run())
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 260 42"><path d="M0 0h9v9z" fill="#123456"/>%s</svg>'
BROKEN_PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 20, 40, 8, 6, 0, 0, 0) + b"\0" * 8
_CHUNKS = (
    (b"IHDR", struct.pack(">IIBBBBB", 20, 40, 8, 0, 0, 0, 0)),
    (b"IDAT", zlib.compress(b"\0" * 21 * 40)),
    (b"IEND", b""),
)
PNG = BROKEN_PNG[:8] + b"".join(
    struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in _CHUNKS
)
LOOK = """\
title: T
look:
  logo: logo.svg
  accent: "#7A1F5C"
  columns: 2
  paper: letter
  font_size: 11
  language: de-CH
  contents: true
runs: {a: one}
parts: [abstract, limits]
"""


def described(folder: Path, text: str = LOOK, logo: str | bytes = SVG % "") -> Document:
    (folder / "logo.svg").write_bytes(logo if isinstance(logo, bytes) else logo.encode())
    (folder / "p.yaml").write_text(text)
    return DescribedPaper(folder / "p.yaml").build({"a": VIEW}).document


def test_all_of_it_is_read(tmp_path: Path) -> None:
    look = described(tmp_path).look
    assert look.logo is not None and (look.logo.width, look.logo.height, look.logo.is_svg) == (130.0, 21.0, True)
    assert (look.accent, look.columns, look.paper, look.font_size) == ("#7a1f5c", 2, "letter", 11.0)
    assert (look.language, look.has_contents) == ("de-CH", True)


def test_of_an_svg_only_its_shapes_are_taken(tmp_path: Path) -> None:
    extra = '<metadata><x:a xmlns:x="urn:x" src="http://x"/></metadata><y:view xmlns:y="urn:y"/><path d="M0 0h9v9z"/>'
    logo = described(tmp_path, logo='<?xml-stylesheet href="http://x"?>' + SVG % extra).look.logo
    assert logo is not None and b"path" in logo.data
    assert not any(word in logo.data for word in (b"http://x", b"urn:", b"metadata", b"stylesheet"))


def test_a_logo_may_be_a_png(tmp_path: Path) -> None:
    logo = described(tmp_path, logo=PNG).look.logo
    assert logo is not None and (logo.width, logo.height, logo.is_svg) == (21.0, 42.0, False)


@pytest.mark.parametrize(
    ("change", "error", "hint"),
    [
        (('"#7A1F5C"', "red"), ":4: look.accent: `red` is no colour", "'#0b4f7d'"),
        (('"#7A1F5C"', '"#ffcc00"'), ":4: look.accent: #ffcc00 has a contrast of 1.5 with white", "darker"),
        (("columns: 2", "columns: 3"), ":5: look.columns: 3 columns cannot be printed", "1 or 2"),
        (("columns: 2", "columns: true"), ":5: look.columns: true columns", "1 or 2"),
        (("letter", "a3"), ":6: look.paper: `a3` is not allowed here", "a4"),
        (("11", "30"), ":7: look.font_size: 30 is no type size", "from 8 to 12"),
        (("11", "nan"), ":7: look.font_size: `nan` is no type size", "from 8 to 12"),
        (("de-CH", "german"), ":8: look.language: `german` is no language", "en-GB"),
        (("de-CH", "zh"), ":8: look.language: words of the language `zh` cannot be broken", "one of: "),
        (("contents: true", "contents: perhaps"), ":9: look.contents: `perhaps` is neither", "leave it out"),
        (("  logo:", "  lgo:"), ":3: look: unknown key `lgo`", "did you mean `logo`"),
        (("logo.svg", "none.svg"), ":3: look.logo: none.svg: no such file", "SVG or PNG file"),
        (("logo.svg", "../"), ":3: look.logo: ../: ", "SVG or PNG file"),
    ],
)
def test_what_is_wrong_has_its_line(tmp_path: Path, change: tuple[str, str], error: str, hint: str) -> None:
    assert LOOK.count(change[0]) == 1
    with pytest.raises(AssayError) as raised:
        described(tmp_path, LOOK.replace(*change))
    assert error in raised.value.message and hint in raised.value.hint and "\n" not in raised.value.message


@pytest.mark.parametrize(
    ("logo", "error"),
    [
        (b"GIF89a", "neither a PNG nor an SVG"),
        (b"\xff\xfe<svg/>", "neither a PNG nor an SVG"),
        (b"<svg>", "neither a PNG nor an SVG"),
        (b"<svg/>", "neither a PNG nor an SVG"),
        (b"", "neither a PNG nor an SVG"),
        (BROKEN_PNG, "the picture cannot be drawn"),
        (SVG.replace("<svg", '<svg width="0"') % "", "the picture cannot be drawn"),
        (PNG[:20], "the PNG file is damaged"),
        (PNG.replace(struct.pack(">I", 40), struct.pack(">I", 4_000_000)), "4,000,000 pixels"),
        (SVG % "<script>x</script>", "it has a script"),
        (SVG % "<text>Acme</text>", "it has text"),
        (SVG % '<image href="data:image/png;base64,AA"/>', "it has a picture inside"),
        (SVG % '<use href="http://x/y.svg#a"/>', "refers to something outside"),
        (SVG % '<path d="M0 0" style="fill: url(http://x)"/>', "refers to something outside"),
        (SVG % '<path d="M0 0" onload="x()"/>', "refers to something outside"),
        (SVG % "<style>@import 'x.css';</style>", "refers to something outside"),
        (SVG % r"<style>@\69mport 'x.css';</style>", "refers to something outside"),
        (SVG % '<path d="M0 0" style="fill: u\\72l(http://x)"/>', "refers to something outside"),
        (SVG % '<x:script xmlns:x="http://www.w3.org/1999/xhtml">x</x:script>', "it has a script"),
        (SVG % '<set attributeName="onclick" to="x()"/>', "it has a `set`, which is no plain shape"),
        (SVG % '<filter id="f"/>', "it has a `filter`"),
        (SVG.replace('viewBox="0 0 260 42"', 'width="1.2.3" height="5"') % "", "no size"),
        ("<!DOCTYPE svg [<!ENTITY a 'b'>]>" + SVG % "", "document type"),
        (SVG.replace("260 42", "0 0") % "", "no size"),
        (SVG % (" " * 600_000), "larger than 512 KiB"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
def test_a_logo_that_is_no_plain_picture_is_refused(tmp_path: Path, logo: str | bytes, error: str) -> None:
    with pytest.raises(AssayError) as raised:
        described(tmp_path, logo=logo)
    assert error in raised.value.message and raised.value.message.startswith(f"{tmp_path / 'p.yaml'}:3: look.logo: ")


def test_the_same_look_is_in_all_forms(tmp_path: Path) -> None:
    document = described(tmp_path)
    page = render_html(document)
    assert '<html lang="de-CH">' in page and "--accent:#7a1f5c" in page and "@page{size:letter}" in page
    assert re.search(r"<img class=logo alt=\"Logo\" width=173 height=28 src=\"data:image/svg\+xml;base64,", page)
    with zipfile.ZipFile(io.BytesIO(render_docx(document, 1e9))) as file:
        styles, text = (file.read(f"word/{name}.xml").decode() for name in ("styles", "document"))
        assert document.look.logo is not None and document.look.logo.data == file.read("word/media/picture1.svg")
    assert '<w:color w:val="7A1F5C"/>' in styles and 'w:lang w:val="de-CH"' in styles and '<w:sz w:val="22"/>' in styles
    assert '<w:cols w:num="2"' in text and '<w:pgSz w:w="12240" w:h="15840"/>' in text and 'TOC \\o "1-2"' in text
    pdf = render_pdf(document, 1e9)
    assert re.search(rb"/MediaBox ?\[0 0 612 792\]", pdf) and b"/Lang(de-CH)" in pdf.replace(b" ", b"")
