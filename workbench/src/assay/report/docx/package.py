"""Puts a DOCX file together: a zip of the text, its styles, pictures and properties; the same bytes for the same input.

Written without a library: what a paper needs most (repeated header rows, numbered captions, page numbers, vector
pictures, alternative texts, the language) has to be written as XML with python-docx, too, which would add 15 MB.
"""

import io
import zipfile
from datetime import UTC, datetime

from assay.report import document as doc
from assay.report.document_look import MARGIN_PT, PAPER_SIZES_PT, Look
from assay.report.docx.body import TWIPS, Body, escaped, field, run_of
from assay.report.docx.styles import numbering_xml, styles_xml
from assay.report.typst import MARK, document_data, pictures_as_png

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_WORDS = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    f'xmlns:r="{_OFFICE}/relationships" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" '
    'xmlns:asvg="http://schemas.microsoft.com/office/drawing/2016/SVG/main"'
)
_PARTS = {
    "document": "main",
    "styles": "styles",
    "numbering": "numbering",
    "settings": "settings",
    "footer": "footer",
}


def render_docx(document: doc.Document, created_at: float) -> bytes:
    """Return the document as a DOCX file.

    Charts are SVG pictures, with PNG pictures for programs that show none. These are made by Typst.

    Args:
        document: The document.
        created_at: Seconds since 1970 that the file gives as its time of creation.

    Raises:
        AssayError: The package `typst` is not installed.
    """
    data = document_data(document)
    body = Body(data, document.look)
    text = body.xml()
    media: list[tuple[str, bytes]] = []
    png = iter(pictures_as_png([(picture.svg, picture.width) for picture in body.pictures if picture.svg]))
    for number, picture in enumerate(body.pictures, 1):
        media.append((f"picture{number}.png", next(png) if picture.svg else picture.png))
        if picture.svg:
            media.append((f"picture{number}.svg", picture.svg.encode()))
    parts = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _package_relations(),
        "docProps/core.xml": _core_properties(document, data["title"], created_at),
        "docProps/app.xml": f'<Properties xmlns="{_OFFICE}/extended-properties"><Application>Assay</Application>'
        "</Properties>",
        "word/document.xml": f"<w:document {_NAMESPACES}><w:body>{text}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_NAMESPACES}>{styles_xml(document.look)}</w:styles>",
        "word/numbering.xml": f"<w:numbering {_NAMESPACES}>{numbering_xml()}</w:numbering>",
        "word/settings.xml": f"<w:settings {_NAMESPACES}>{_SETTINGS}</w:settings>",
        "word/footer.xml": f"<w:ftr {_NAMESPACES}>{_footer(data['overline'], document.look)}</w:ftr>",
        "word/_rels/document.xml.rels": _text_relations([name for name, _ in media]),
    }
    return _zipped(
        {name: (_HEAD + part).encode() for name, part in parts.items()}
        | {f"word/media/{name}": content for name, content in media}
    )


_SETTINGS = (
    '<w:autoHyphenation/><w:compat><w:compatSetting w:name="compatibilityMode" '
    'w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat>'
)


def _zipped(parts: dict[str, bytes]) -> bytes:
    """Return a zip file without the time and the system on which it was made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name, _ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            file.writestr(entry, content)
    return buffer.getvalue()


def _content_types() -> str:
    overrides = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_WORDS}.{kind if kind != "main" else "document.main"}'
        '+xml"/>'
        for name, kind in _PARTS.items()
    )
    return (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="png" ContentType="image/png"/><Default Extension="svg" ContentType="image/svg+xml"/>'
        f"{overrides}"
        '<Override PartName="/docProps/core.xml" '
        'ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>'
        '<Override PartName="/docProps/app.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.extended-properties+xml"/></Types>'
    )


def _relations(targets: list[tuple[str, str]]) -> str:
    """Return relations `rId1`, `rId2` ... of these types to these parts."""
    found = "".join(
        f'<Relationship Id="rId{number}" Type="{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{found}</Relationships>'


def _package_relations() -> str:
    return _relations(
        [
            (f"{_OFFICE}/relationships/officeDocument", "word/document.xml"),
            (f"{_PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
            (f"{_OFFICE}/relationships/extended-properties", "docProps/app.xml"),
        ]
    )


def _text_relations(media: list[str]) -> str:
    """Return the relations of the text: styles and the like first, then the pictures under their own names."""
    names = [name for name in _PARTS if name != "document"]
    relations = _relations([(f"{_OFFICE}/relationships/{name}", f"{name}.xml") for name in names])
    pictures = "".join(
        f'<Relationship Id="{name.replace(".", "-")}" Type="{_OFFICE}/relationships/image" Target="media/{name}"/>'
        for name in media
    )
    return relations.replace("</Relationships>", f"{pictures}</Relationships>")


def _core_properties(document: doc.Document, title: str, created_at: float) -> str:
    moment = datetime.fromtimestamp(int(created_at), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    times = "".join(
        f'<dcterms:{name} xsi:type="dcterms:W3CDTF">{moment}</dcterms:{name}>' for name in ("created", "modified")
    )
    authors = escaped("; ".join(document.authors) or "Assay")
    return (
        f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escaped(title)}</dc:title><dc:creator>{authors}</dc:creator>"
        f"<dc:description>{escaped(document.description)}</dc:description>"
        f"<dc:language>{document.look.language}</dc:language><cp:keywords>{MARK}</cp:keywords>{times}"
        "</cp:coreProperties>"
    )


def _footer(overline: str, look: Look) -> str:
    """Return the footer: what the document is about, and the page of how many."""
    right = round((PAPER_SIZES_PT[look.paper][0] - 2 * MARGIN_PT) * TWIPS)
    pages = f"{field('PAGE', '1')}{run_of(' / ')}{field('NUMPAGES', '1')}"
    return (
        f'<w:p><w:pPr><w:pStyle w:val="Footer"/><w:tabs><w:tab w:val="right" w:pos="{right}"/></w:tabs></w:pPr>'
        f"{run_of(overline)}<w:r><w:tab/></w:r>{pages}</w:p>"
    )
