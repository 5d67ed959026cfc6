"""The text of a DOCX file: paragraphs, lists, tables, pictures, and sections of pages, as WordprocessingML."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from assay.report.document_look import COLUMN_GAP_PT, MARGIN_PT, MAX_CONTENTS, PAPER_SIZES_PT, Look

TWIPS = 20
"""Twips in a point, the unit of most lengths."""
_EMU = 12_700
"""English metric units in a point, the unit of pictures."""
_TOP_PT = 51.0
_SVG = "{96DAC541-7B7A-43D3-8B79-37D633B846F1}"
"""Identifies the extension that has the SVG of a picture ([MS-ODRAWXML], section 2.3.2.29)."""
_BREAK = "\u200b"
"""Places where Typst may break a word: Word needs none, and they would be copied with a command."""
_MAX_ALT = 2000
"""Longest alternative text, in characters."""
_LONG = 16
"""Headings from which on a document gets a table of contents; its number of pages is not known here."""
_SOFT = '<w:color w:val="4A5560"/>'
Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EmbeddedPicture:
    """A picture of the file; `svg` or, without one, `png` is its source.

    Attributes:
        svg: Text of an SVG file.
        png: Content of a PNG file.
        width: Width in points.
    """

    svg: str
    png: bytes
    width: float


def escaped(text: str) -> str:
    """Return a text as XML."""
    return escape(text.replace(_BREAK, ""), {'"': "&quot;"})


def run_of(text: str, properties: str = "") -> str:
    """Return a text as a run with properties; line feeds and tabs become elements."""
    look = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    words = f'<w:t xml:space="preserve">{escaped(text)}</w:t>'
    if "\n" in text or "\t" in text:
        words = words.replace("\t", '</w:t><w:tab/><w:t xml:space="preserve">')
        words = words.replace("\n", '</w:t><w:br/><w:t xml:space="preserve">')
    return f"<w:r>{look}{words}</w:r>"


def field(instruction: str, shown: str) -> str:
    """Return a field, such as the number of the page, with the text that stands there until it is updated."""
    return f'<w:fldSimple w:instr=" {instruction} ">{run_of(shown)}</w:fldSimple>'


def _runs(spans: Iterable[list[str]], properties: str = "") -> str:
    looks = {"strong": "<w:b/>", "mono": '<w:rStyle w:val="Mono"/>'}
    found = []
    for kind, words in spans:
        look = "<w:i/>" if kind == "badge" and words != "ok" else looks.get(kind, "")
        found.append(run_of(words, look + properties))
    return "".join(found)


def _words(spans: Iterable[list[str]]) -> str:
    """Return spans as plain text."""
    return "".join(words for _, words in spans)


def _paragraph(style: str, runs: str, more: str = "", keeps_next: bool = False) -> str:
    kept = "<w:keepNext/>" if keeps_next else ""
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{kept}{more}</w:pPr>{runs}</w:p>'


class Body:
    """The text of one document.

    Args:
        data: The document as data, as `assay.report.typst.document_data` makes it.
        look: How it looks.

    Attributes:
        pictures: Its pictures in order, after `xml`; number N is `pictureN.png` and, if drawn, `pictureN.svg`.
    """

    def __init__(self, data: Data, look: Look) -> None:
        self._data, self._look = data, look
        self.pictures: list[EmbeddedPicture] = []
        self._parts: list[str] = []
        self._pending: list[str] = []
        self._pages = "text"
        self._pages_before = ""
        self._entries: list[tuple[int, str, str]] = []
        self._counts = {"Table": 0, "Figure": 0}

    def xml(self) -> str:
        """Return the content of the element `w:body`."""
        self._head()
        place = len(self._parts)
        if self._look.columns > 1:
            self._end_pages("wide")
        for section in self._data["sections"]:
            self._heading(1, section["title"], is_numbered=section["id"] != "abstract")
            for block in section["blocks"]:
                if block["kind"] == "heading":
                    self._heading(block["level"], block["text"])
                else:
                    self._start_pages(block)
                    self._flush()
                    self._parts.append(self._writers()[block["kind"]](block))
        self._flush()
        wanted = self._look.has_contents
        if self._entries and (wanted or (wanted is None and self._count(1, 2) >= _LONG)):
            self._parts.insert(place, self._contents())
        # The last section of pages has its properties at the end, not in a paragraph.
        return "".join(self._parts) + self._page_properties(self._pages)

    def _writers(self) -> dict[str, Callable[[Data], str]]:
        return {
            "paragraph": lambda one: _paragraph("Lead" if one["lead"] else "Normal", _runs(one["text"])),
            "bullets": lambda one: "".join(_paragraph("ListBullet", _runs(item)) for item in one["items"]),
            "facts": self._facts,
            "table": self._table,
            "picture": self._picture,
            "code": lambda one: _paragraph("Code", run_of(one["text"])),
            "note": lambda one: _paragraph("Note", _runs(one["text"])),
        }

    def _head(self) -> None:
        data, logo = self._data, self._look.logo
        if logo is not None:
            svg, png = (logo.data.decode(), b"") if logo.is_svg else ("", logo.data)
            self._parts.append(
                _paragraph(
                    "Overline", self._drawing(svg, png, logo.width, logo.height, "Logo"), '<w:jc w:val="right"/>'
                )
            )
        self._parts.append(_paragraph("Overline", run_of(data["overline"])))
        self._parts.append(_paragraph("Title", run_of(data["title"])))
        if data["authors"]:
            self._parts.append(_paragraph("Authors", run_of(", ".join(data["authors"]))))
        if data["description"]:
            self._parts.append(_paragraph("Authors", run_of(data["description"])))
        facts = [run_of(f"{'   ' if place else ''}{name}: {value}") for place, (name, value) in enumerate(data["meta"])]
        self._parts.append(_paragraph("Facts", "".join(facts)))

    def _heading(self, level: int, text: str, is_numbered: bool = True) -> None:
        """Keep a heading until the block below it is known: both are on the same page."""
        name = f"_Toc{len(self._entries) + 1}"
        self._entries.append((level, text, name))
        number = len(self._entries)
        mark = f'<w:bookmarkStart w:id="{number}" w:name="{name}"/>{run_of(text)}<w:bookmarkEnd w:id="{number}"/>'
        plain = '<w:numPr><w:numId w:val="0"/></w:numPr>' if level == 1 and not is_numbered else ""
        self._pending.append(_paragraph(f"Heading{min(level, 3)}", mark, plain))

    def _flush(self) -> None:
        self._parts += self._pending
        self._pending = []

    # Sections of pages: `text` has the columns of the look, `wide` one column, `landscape` is wider than high.

    def _start_pages(self, block: Data) -> None:
        """Begin other pages before a block that needs them."""
        pages = "text"
        if block["kind"] == "table" and block["landscape"]:
            pages = "landscape"
        elif self._look.columns > 1 and block.get("wide"):
            pages = "wide"
        if pages != self._pages:
            self._end_pages(self._pages)
            self._pages = pages

    def _end_pages(self, pages: str) -> None:
        properties = self._page_properties(pages)
        low = '<w:spacing w:before="0" w:after="0" w:line="20" w:lineRule="exact"/>'
        self._parts.append(f"<w:p><w:pPr>{low}{properties}</w:pPr></w:p>")
        self._pages_before = pages

    def _page_properties(self, pages: str) -> str:
        wide, high = PAPER_SIZES_PT[self._look.paper]
        turned = ""
        kind = "nextPage" if "landscape" in (pages, self._pages_before) else "continuous"
        if pages == "landscape":
            wide, high, turned = high, wide, ' w:orient="landscape"'
        side, top = round(MARGIN_PT * TWIPS), round(_TOP_PT * TWIPS)
        columns = self._look.columns if pages == "text" else 1
        return (
            f'<w:sectPr><w:footerReference w:type="default" r:id="rId4"/><w:type w:val="{kind}"/>'
            f'<w:pgSz w:w="{round(wide * TWIPS)}" w:h="{round(high * TWIPS)}"{turned}/>'
            f'<w:pgMar w:top="{top}" w:right="{side}" w:bottom="{top}" w:left="{side}" w:header="567" w:footer="454" '
            f'w:gutter="0"/><w:cols w:num="{columns}" w:space="{round(COLUMN_GAP_PT * TWIPS)}"/></w:sectPr>'
        )

    def _count(self, *levels: int) -> int:
        return sum(level in levels for level, _, _ in self._entries)

    def _contents(self) -> str:
        """Return a table of contents with links; Word adds or removes entries when it is updated."""
        depth = 1 if self._count(2) > MAX_CONTENTS else 2
        begin = (
            '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> '
            f'TOC \\o "1-{depth}" \\n \\h \\z \\u </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        )
        shown = [(level, text, name) for level, text, name in self._entries if level <= depth]
        lines = [
            _paragraph(
                f"TOC{level}",
                f'{begin if place == 0 else ""}<w:hyperlink w:anchor="{name}">{run_of(text)}</w:hyperlink>',
            )
            for place, (level, text, name) in enumerate(shown)
        ]
        end = '<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
        return _paragraph("TOCHeading", run_of("Contents")) + "".join(lines) + end

    def _caption(self, kind: str, spans: Iterable[list[str]]) -> str:
        """Return a caption with its number, a field that counts on."""
        self._counts[kind] += 1
        number = field(f"SEQ {kind} \\* ARABIC", str(self._counts[kind]))
        return run_of(f"{kind} ") + number + run_of(": ") + _runs(spans)

    def _facts(self, one: Data) -> str:
        room = self._look.column_width
        first = min(room / 3, max(len(name) for name, _ in one["items"]) * 5.5 + 12)
        rows = [_row([_cell(run_of(name, _SOFT)), _cell(_runs(value))]) for name, value in one["items"]]
        return _table("FactTable", [first, room - first], rows, "", has_head=False) + _GAP

    def _table(self, one: Data) -> str:
        half = round(2 * one["size"])
        size = f'<w:sz w:val="{half}"/><w:szCs w:val="{half}"/>'
        sides = ["right" if column["numeric"] else "left" for column in one["columns"]]
        heads = []
        for column, side in zip(one["columns"], sides, strict=True):
            unit = f"<w:r><w:br/></w:r>{run_of(column['unit'], _SOFT + size)}" if column["unit"] else ""
            heads.append(_cell(run_of(column["title"], f"<w:b/>{size}") + unit, side))
        rows = [_row(heads, is_head=True)]
        for cells in one["rows"]:
            rows.append(_row([_cell(_runs(cell, size), side) for cell, side in zip(cells, sides, strict=True)]))
        caption = ""
        if one["caption"]:
            caption = _paragraph("Caption", self._caption("Table", one["caption"]), keeps_next=True)
        notes = _paragraph("Caption", _runs(one["notes"])) if one["notes"] else _GAP
        return caption + _table("ResultTable", one["widths"], rows, _words(one["caption"])) + notes

    def _picture(self, one: Data) -> str:
        width, height = _size_of(one["svg"])
        scaled = one["width"] * height / width
        drawing = self._drawing(one["svg"], b"", one["width"], scaled, one["alt"])
        caption = self._caption("Figure", ()) + run_of(f"{one['title']}. ", "<w:b/>") + _runs(one["caption"])
        return _paragraph("Picture", drawing) + _paragraph("Caption", caption)

    def _drawing(self, svg: str, png: bytes, width: float, height: float, words: str) -> str:
        """Return a picture in a line of text; an SVG has a PNG in its place where it cannot be shown."""
        self.pictures.append(EmbeddedPicture(svg, png, width))
        number = len(self.pictures)
        size = f'cx="{round(width * _EMU)}" cy="{round(height * _EMU)}"'
        alt = escaped(words[:_MAX_ALT])
        vector = (
            f'<a:extLst><a:ext uri="{_SVG}"><asvg:svgBlip r:embed="picture{number}-svg"/></a:ext></a:extLst>'
            if svg
            else ""
        )
        return (
            f'<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent {size}/>'
            f'<wp:docPr id="{number}" name="Picture {number}" descr="{alt}"/>'
            '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic>'
            f'<pic:nvPicPr><pic:cNvPr id="{number}" name="picture{number}.png" descr="{alt}"/><pic:cNvPicPr/>'
            f'</pic:nvPicPr><pic:blipFill><a:blip r:embed="picture{number}-png">{vector}</a:blip>'
            "<a:stretch><a:fillRect/></a:stretch></pic:blipFill>"
            f'<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext {size}/></a:xfrm><a:prstGeom prst="rect"><a:avLst/>'
            "</a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
        )


def _size_of(svg: str) -> tuple[float, float]:
    """Return width and height of a picture that Assay has drawn, in pixels."""
    box = svg.split('viewBox="', 1)[1].split('"', 1)[0].split()
    return float(box[2]), float(box[3])


_GAP = _paragraph("TableText", "")
"""Between two tables, which Word would join."""


def _cell(runs: str, side: str = "left") -> str:
    aligned = "" if side == "left" else f'<w:jc w:val="{side}"/>'
    return f"<w:tc>{_paragraph('TableText', runs, aligned)}</w:tc>"


def _row(cells: list[str], is_head: bool = False) -> str:
    head = "<w:tblHeader/>" if is_head else ""
    return f"<w:tr><w:trPr><w:cantSplit/>{head}</w:trPr>{''.join(cells)}</w:tr>"


def _table(style: str, widths: list[float], rows: list[str], words: str, has_head: bool = True) -> str:
    """Return a table of these widths in points; `words` describe it for readers who do not see it."""
    twips = [round(width * TWIPS) for width in widths]
    grid = "".join(f'<w:gridCol w:w="{width}"/>' for width in twips)
    about = f'<w:tblCaption w:val="{escaped(words[:_MAX_ALT])}"/>' if words else ""
    look = f'<w:tblLook w:val="00{"20" if has_head else "00"}"/>'
    return (
        f'<w:tbl><w:tblPr><w:tblStyle w:val="{style}"/><w:tblW w:w="{sum(twips)}" w:type="dxa"/>'
        f'<w:tblLayout w:type="fixed"/>{look}{about}</w:tblPr><w:tblGrid>{grid}</w:tblGrid>'
        f"{''.join(rows)}</w:tbl>"
    )
