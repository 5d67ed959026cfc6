"""Writes a document as a PDF, by Typst: tagged, archivable (PDF/A-2a, PDF/UA-1), the same bytes for the same document.

The text of a document may come from anywhere. It never becomes Typst markup: a fixed template gets it as JSON and shows
each piece as a plain string. Only the fonts that Typst itself contains are used, so that machines do not differ.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from assay.model.escape import escape_line, escape_lines
from assay.model.extras import is_installed, require
from assay.report import document as doc
from assay.report import numbers
from assay.report.document_look import COLUMN_GAP_PT, MARGIN_PT, MAX_CONTENTS, Logo, Look
from assay.report.print_layout import column_widths, fitted
from assay.report.print_pictures import pictures_of
from assay.report.spans_table import spans_table

if TYPE_CHECKING:
    import typst

PDF_STANDARDS: "list[Literal['a-2a', 'ua-1']]" = ["a-2a", "ua-1"]
MARK = "Made by Assay"
"""Among the keywords of each PDF, by which Assay knows its own files."""
_MAX_PART = 24
"""Longest part of a word that is not broken, in characters."""
_LONG_WORD = re.compile(rf"\S{{{_MAX_PART + 1},}}")
_PART = re.compile(rf"[^/_.:,=-]{{0,{_MAX_PART - 1}}}[^/_.:,=-]?[/_.:,=-]*")
_MAX_LINE = 20_000
"""Longest text that is not cut off, in characters."""
_FIXED_SPACE = "\u00a0"
_BREAK = "\u200b"
"""Zero-width space: a place where a line may end."""
_PICTURE_SCALE = 0.78
"""Points for each pixel of a picture: its type then is a little smaller than the text."""
_LAST_LATIN = 0x17F
"""Typst's fonts have all letters up to this one."""
_OWN_SIGNS = frozenset(f"{_BREAK}–—‘’“”•…×÷≤≥±→")
_PROBE = b"""#set document(title: "x")
#set text(font: "Libertinus Serif")
#let letters = sys.inputs.letters
#letters #strong(letters) #emph(letters) #raw(letters) #text(font: "DejaVu Sans Mono", letters)"""
"""Shows letters in each style of the template."""
_MAX_PICTURE_PT = 620.0
"""Greatest height of a picture, in points: with its caption it fits on a page."""
Data = dict[str, Any]
_PNG_DOTS = 200
"""Dots per inch of pictures for programs that show no SVG."""
_LOGO = b"""#set document(title: "x")
#let logo = json(bytes(sys.inputs.logo))
#image(bytes(logo.data), format: logo.format, alt: "Logo")"""
FLOATS = ("auto", "top", "pages")
"""Where charts and wide tables go in a text of two columns: to the top or bottom of a page, to the top, or to pages of
their own. Typst cannot tag all floats (its issue 8487); the first way that it can is taken."""
_PICTURES = b"""#set page(width: auto, height: auto, margin: 0pt, fill: white)
#for one in json(bytes(sys.inputs.pictures)) {
  page(image(bytes(one.svg), format: "svg", width: one.width * 1pt))
}"""


def render_pdf(document: doc.Document, created_at: float) -> bytes:
    """Return the document as a PDF.

    Characters that Typst's own fonts lack are written as codes, such as `U+4E2D`.

    Args:
        document: The document.
        created_at: Seconds since 1970 that the PDF gives as its time of creation.

    Raises:
        AssayError: The package `typst` is not installed.
    """
    require("typst", "the PDF of a paper")
    data = document_data(document)
    text = json.dumps(data, ensure_ascii=False, sort_keys=True)
    compiler = _compiler()
    import typst

    # In scripts that join letters, a font may have each of them and yet no form for two beside each other.
    for letters in (_missing_letters(compiler, text), _uncommon_letters(text)):
        for floats in FLOATS if document.look.columns > 1 else FLOATS[:1]:
            data["look"]["floats"] = floats
            text = json.dumps(data, ensure_ascii=False, sort_keys=True)
            try:
                return _compiled(compiler, _coded(text, letters), created_at)
            except typst.TypstError as error:
                failure = error
    raise failure


def can_draw(logo: Logo) -> bool:
    """Return whether Typst can draw a logo in a PDF; True if it is not installed, since no other form needs it."""
    if not is_installed("typst"):
        return True
    import typst

    inputs = {"logo": json.dumps(_logo(logo))}
    try:
        _compiler().compile(_LOGO, format="pdf", sys_inputs=inputs, pdf_standards=[*PDF_STANDARDS])
        _compiler().compile(_LOGO, format="png", sys_inputs=inputs)
    except typst.TypstError:
        return False
    return True


def pictures_as_png(pictures: Sequence[tuple[str, float]]) -> list[bytes]:
    """Return SVG pictures as PNG files, in order.

    Args:
        pictures: Each SVG with its width in points.

    Raises:
        AssayError: The package `typst` is not installed.
    """
    require("typst", "a PNG picture")
    if not pictures:
        return []
    compiler = _compiler()
    text = json.dumps([{"svg": svg, "width": width} for svg, width in pictures])
    made = compiler.compile(_PICTURES, format="png", ppi=_PNG_DOTS, sys_inputs={"pictures": text})
    return [made] if isinstance(made, bytes) else [page for page in made or () if page is not None]


def _compiled(compiler: "typst.Compiler", text: str, created_at: float) -> bytes:
    made = compiler.compile(
        _template(),
        format="pdf",
        sys_inputs={"document": text},
        pdf_standards=[*PDF_STANDARDS],
        timestamp=int(created_at),
    )
    assert isinstance(made, bytes)
    return made


def _coded(text: str, letters: Set[str]) -> str:
    """Return the text with these letters as codes."""
    return "".join(f"U+{ord(letter):04X}" if letter in letters else letter for letter in text) if letters else text


def _compiler() -> "typst.Compiler":
    import typst

    return typst.Compiler(ignore_system_fonts=True)


@cache
def _template() -> bytes:
    return resources.files("assay.report").joinpath("assets", "paper.typ").read_bytes()


def _uncommon_letters(text: str) -> frozenset[str]:
    """Return the letters of a text that are neither Latin nor among the signs that Assay writes itself."""
    return frozenset(letter for letter in set(text) if ord(letter) > _LAST_LATIN and letter not in _OWN_SIGNS)


def _missing_letters(compiler: "typst.Compiler", text: str) -> frozenset[str]:
    """Return the letters that Typst's fonts lack in some style: with a PDF standard, it refuses such a text."""
    return frozenset(_refused(compiler, sorted(_uncommon_letters(text))))


def _refused(compiler: "typst.Compiler", letters: list[str]) -> Iterator[str]:
    """Yield the refused letters one by one; each half of a refused group is tried again."""
    import typst

    if not letters:
        return
    try:
        compiler.compile(_PROBE, format="pdf", sys_inputs={"letters": " ".join(letters)}, pdf_standards="a-2a")
    except typst.TypstError:
        if len(letters) == 1:
            yield letters[0]
            return
        half = len(letters) // 2
        yield from _refused(compiler, letters[:half])
        yield from _refused(compiler, letters[half:])


def document_data(document: doc.Document) -> Data:
    """Return the document as the data of the template: plain texts, tables as rows, charts as SVG."""
    return {
        "overline": _plain(document.overline),
        "title": _title(document.title),
        "description": _plain(document.description),
        "authors": [_plain(name) for name in document.authors],
        "keywords": [MARK],
        "meta": [[_plain(name), _plain(value)] for name, value in document.meta],
        "look": _look(document.look),
        "sections": [
            {
                "id": section.id,
                "title": _title(section.title),
                "blocks": list(_section_data(section, document.look)),
            }
            for section in document.sections
        ],
    }


def _section_data(section: doc.Section, look: Look) -> Iterator[Data]:
    """Yield the data of a section's blocks; a table that leaves its column gets a caption, if it has none."""
    heading = _title(section.title)
    for block in section.blocks:
        for data in _written(block, look):
            if data["kind"] == "heading":
                heading = data["text"]
            elif data["kind"] == "table" and data["wide"] and not data["landscape"] and not data["caption"]:
                data["caption"] = _text(f"{heading}.")
            elif data["kind"] == "picture":
                data["wide"] = data["width"] > look.column_width
            yield data


def _look(look: Look) -> Data:
    language, _, region = look.language.partition("-")
    return {
        "accent": look.accent,
        "columns": look.columns,
        "gap": COLUMN_GAP_PT,
        "margin": MARGIN_PT,
        "paper": {"letter": "us-letter"}.get(look.paper, look.paper),
        "size": look.font_size,
        "language": language,
        "region": region,
        "max-contents": MAX_CONTENTS,
        "floats": FLOATS[0],
        "contents": {None: "long", True: "yes", False: "no"}[look.has_contents],
        "logo": None if look.logo is None else _logo(look.logo),
    }


def _logo(logo: Logo) -> Data:
    kind, data = ("svg", logo.data.decode()) if logo.is_svg else ("png", list(logo.data))
    return {"format": kind, "data": data, "width": logo.width, "height": logo.height}


def _written(block: doc.Block, look: Look) -> Iterator[Data]:
    """Yield the data of a block; how a table is laid out depends on the look."""
    match block:
        case doc.Table():
            return _table(block, look)
        case doc.Spans():
            return _table(spans_table(block), look)
        case doc.Fold():
            return _fold(block, look)
    return _WRITERS[type(block)](block)


def _plain(text: str) -> str:
    """Return a text in one line, with places to break long words."""
    line = escape_line(text, _MAX_LINE).replace(" %", f"{_FIXED_SPACE}%")
    return _LONG_WORD.sub(lambda found: _BREAK.join(_PART.findall(found[0])).strip(_BREAK), line)


def _title(text: str) -> str:
    """Return a title in one line; a dash for an empty one, which PDF/UA forbids."""
    return _plain(text).strip() or numbers.NONE


def _text(text: doc.Text) -> list[list[str]]:
    return [_span(span) for span in doc.text_spans(text) if span != ""]


def _span(span: doc.Span) -> list[str]:
    match span:
        case doc.Strong(text):
            return ["strong", _plain(text)]
        case doc.Mono(text):
            return ["mono", _plain(text)]
        case doc.Badge():
            words = ", ".join(map(str, (span.verdict, *span.further_verdicts)))
            return ["badge", words + (" *" if span.is_partial else "")]
    return ["text", _plain(span)]


def _cell(cell: doc.Cell) -> list[list[str]]:
    if isinstance(cell, doc.Num):
        return [["text", _plain(cell.text)]]
    if isinstance(cell, doc.Share):
        return [["text", _plain(f"{cell.words} {cell.remark}".strip())]]
    return _text((cell,))


def _heading(block: doc.Heading) -> Iterator[Data]:
    yield {"kind": "heading", "text": _title(block.text), "level": block.level - 1}


def _paragraph(block: doc.Paragraph) -> Iterator[Data]:
    yield {"kind": "paragraph", "text": _text(block.text), "lead": block.lead}


def _bullets(block: doc.Bullets) -> Iterator[Data]:
    if block.items:
        yield {"kind": "bullets", "items": [_text(item) for item in block.items]}


def _facts(block: doc.Facts) -> Iterator[Data]:
    if block.items:
        yield {"kind": "facts", "items": [[_plain(name), _text(value)] for name, value in block.items]}


def _panels(block: doc.Panels) -> Iterator[Data]:
    for title, items in block.items:
        yield {"kind": "heading", "text": _title(title), "level": 2}
        yield from _bullets(doc.Bullets(items))


def _table(table: doc.Table, look: Look) -> Iterator[Data]:
    layout = fitted(table, look)
    if not layout.table.rows or not layout.table.columns:
        return
    room = look.landscape_width if layout.is_landscape else look.text_width if layout.is_wide else look.column_width
    yield {
        "kind": "table",
        "columns": [
            {"title": _plain(column.title), "unit": _plain(column.unit), "numeric": column.is_numeric}
            for column in layout.table.columns
        ],
        "widths": [round(width, 1) for width in column_widths(layout.table, layout.size_pt, room)],
        "rows": [[_cell(cell) for cell in row] for row in layout.table.rows],
        "caption": _text(layout.table.caption),
        "notes": _text(layout.table.notes),
        "size": layout.size_pt,
        "landscape": layout.is_landscape,
        "wide": layout.is_wide,
        "long": layout.is_long,
    }


def _pictures(block: doc.Chart | doc.Dots | doc.Gallery | doc.Plots) -> Iterator[Data]:
    for shown in pictures_of(block):
        picture, title, caption = shown
        yield {
            "kind": "picture",
            "svg": picture.svg,
            "width": round(picture.width * min(_PICTURE_SCALE, _MAX_PICTURE_PT / picture.height), 1),
            "title": _plain(title),
            "caption": _text(caption),
            "alt": _plain(shown.words).replace("`", ""),
        }


def _code(block: doc.CodeBlock) -> Iterator[Data]:
    yield {"kind": "code", "text": escape_lines(block.text.rstrip("\n"))}


def _note(block: doc.Note) -> Iterator[Data]:
    yield {"kind": "note", "text": _text(block.text)}


def _fold(block: doc.Fold, look: Look) -> Iterator[Data]:
    """Yield what is folded on a page: print has no folds."""
    yield {"kind": "heading", "text": _title(block.summary), "level": 2}
    for one in block.blocks:
        yield from _written(one, look)


_WRITERS: dict[type[Any], Callable[[Any], Iterator[Data]]] = {
    doc.Heading: _heading,
    doc.Paragraph: _paragraph,
    doc.Bullets: _bullets,
    doc.Facts: _facts,
    doc.Dots: _pictures,
    doc.Panels: _panels,
    doc.Chart: _pictures,
    doc.Gallery: _pictures,
    doc.Plots: _pictures,
    doc.CodeBlock: _code,
    doc.Note: _note,
}
