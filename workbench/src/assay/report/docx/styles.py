"""The styles of a DOCX file, and how its lists and headings are numbered."""

from functools import partial

from assay.report.document_look import Look

_INK, _SOFT, _RULE = "1C2733", "4A5560", "C5CED6"
_MONO = '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Consolas"/>'
BULLETS = 1
"""Number of the list of bullets."""
CHAPTERS = 2
"""Number of the list that headings of the first level are in."""


def styles_xml(look: Look) -> str:
    """Return the styles: those that Word's navigation and table of contents know, and a few of their own."""
    accent = look.accent.removeprefix("#").upper()
    half = partial(_half_points, look)
    colour = f'<w:color w:val="{accent}"/>'
    soft = f'<w:color w:val="{_SOFT}"/>'
    parts = [
        "<w:docDefaults><w:rPrDefault><w:rPr>"
        '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" w:cs="Calibri"/>'
        f'<w:color w:val="{_INK}"/>{half(10)}<w:lang w:val="{look.language}" w:eastAsia="{look.language}"/>'
        '</w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="110" w:line="259" w:lineRule="auto"/></w:pPr>'
        "</w:pPrDefault></w:docDefaults>",
        _style("Normal", "Normal", "", "", is_default=True),
        _style("Title", "Title", _spaced(0, 80, keep=True), f"<w:b/>{half(19)}"),
        _style("Overline", "Overline", _spaced(0, 0, keep=True), f"<w:b/>{colour}{half(9)}"),
        _style("Authors", "Authors", _spaced(0, 80), half(10.5)),
        _style("Facts", "Document facts", _rule("bottom", accent, 6) + _spaced(0, 200), f"{soft}{half(8.5)}"),
        _heading(1, f"<w:b/>{colour}{half(14)}", 280, f'<w:numPr><w:numId w:val="{CHAPTERS}"/></w:numPr>'),
        _heading(2, f"<w:b/>{colour}{half(11.5)}", 200),
        _heading(3, f"<w:b/>{colour}{half(10.5)}", 160),
        _style("Lead", "Lead", _spaced(0, 140), half(10.5)),
        _style("Caption", "caption", _spaced(60, 80), f"{soft}{half(8.5)}"),
        _style("TableText", "Table text", _spaced(0, 0, line=240), half(8.5)),
        _style("Picture", "Picture", _spaced(120, 0, keep=True), ""),
        _style(
            "ListBullet",
            "List Bullet",
            f'<w:numPr><w:numId w:val="{BULLETS}"/></w:numPr>{_spaced(0, 60)}',
            "",
        ),
        _style("Code", "Code", _boxed() + _spaced(60, 160, line=240), f"{_MONO}<w:noProof/>{half(8)}"),
        _style("Note", "Note", _rule("left", accent, 12) + _spaced(60, 140) + '<w:ind w:left="140"/>', half(9)),
        _style("TOCHeading", "TOC Heading", _spaced(200, 80, keep=True), f"<w:b/>{colour}{half(12)}"),
        _style("TOC1", "toc 1", _spaced(40, 20), half(9.5)),
        _style("TOC2", "toc 2", _spaced(0, 10) + '<w:ind w:left="240"/>', half(9)),
        _style("Footer", "footer", _spaced(0, 0), f"{soft}{half(8)}"),
        f'<w:style w:type="character" w:styleId="Mono"><w:name w:val="Mono"/><w:rPr>{_MONO}<w:noProof/></w:rPr>'
        "</w:style>",
        _table_style("ResultTable", "Result table", inner=True),
        _table_style("FactTable", "Fact table", inner=False),
    ]
    return "".join(parts)


def _half_points(look: Look, size: float) -> str:
    """Return a type size, stated beside text of 10 points, in half points of this look."""
    value = round(2 * size * look.font_size / 10)
    return f'<w:sz w:val="{value}"/><w:szCs w:val="{value}"/>'


def _style(name: str, shown: str, paragraph: str, run: str, is_default: bool = False) -> str:
    based = "" if is_default else '<w:basedOn w:val="Normal"/>'
    kind = 'w:type="paragraph" w:default="1"' if is_default else 'w:type="paragraph"'
    return (
        f"<w:style {kind} "
        f'w:styleId="{name}"><w:name w:val="{shown}"/>{based}<w:qFormat/><w:pPr>{paragraph}</w:pPr>'
        f"<w:rPr>{run}</w:rPr></w:style>"
    )


def _heading(level: int, run: str, before: int, numbering: str = "") -> str:
    paragraph = (
        f'<w:keepNext/><w:keepLines/>{numbering}<w:spacing w:before="{before}" w:after="100"/>'
        f'<w:outlineLvl w:val="{level - 1}"/>'
    )
    return (
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        '<w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:qFormat/>'
        f"<w:pPr>{paragraph}</w:pPr><w:rPr>{run}</w:rPr></w:style>"
    )


def _spaced(before: int, after: int, keep: bool = False, line: int = 0) -> str:
    lines = f' w:line="{line}" w:lineRule="auto"' if line else ""
    return f'{"<w:keepNext/>" if keep else ""}<w:spacing w:before="{before}" w:after="{after}"{lines}/>'


def _rule(side: str, colour: str, size: int) -> str:
    return f'<w:pBdr><w:{side} w:val="single" w:sz="{size}" w:space="4" w:color="{colour}"/></w:pBdr>'


def _boxed() -> str:
    sides = "".join(
        f'<w:{side} w:val="single" w:sz="4" w:space="4" w:color="{_RULE}"/>'
        for side in ("top", "left", "bottom", "right")
    )
    return f"<w:pBdr>{sides}</w:pBdr>"


def _table_style(name: str, shown: str, inner: bool) -> str:
    rules = f'<w:bottom w:val="single" w:sz="4" w:space="0" w:color="{_RULE}"/>'
    rules += f'<w:insideH w:val="single" w:sz="4" w:space="0" w:color="{_RULE}"/>'
    borders = f"<w:tblBorders>{rules}</w:tblBorders>" if inner else ""
    margins = (
        '<w:tblCellMar><w:top w:w="30" w:type="dxa"/><w:left w:w="60" w:type="dxa"/><w:bottom w:w="30" w:type="dxa"/>'
        '<w:right w:w="60" w:type="dxa"/></w:tblCellMar>'
    )
    return (
        f'<w:style w:type="table" w:styleId="{name}"><w:name w:val="{shown}"/><w:tblPr>{borders}{margins}</w:tblPr>'
        '<w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr></w:style>'
    )


def numbering_xml() -> str:
    """Return the two lists: bullets, and numbers of headings of the first level."""

    def level(kind: str, text: str, style: str, left: int) -> str:
        linked = f'<w:pStyle w:val="{style}"/>' if style else ""
        return (
            f'<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>{linked}<w:lvlText w:val="{text}"/>'
            f'<w:lvlJc w:val="left"/><w:pPr><w:ind w:left="{left}" w:hanging="{left}"/></w:pPr></w:lvl>'
        )

    lists = ((BULLETS, level("bullet", "•", "", 240)), (CHAPTERS, level("decimal", "%1", "Heading1", 400)))
    kinds = "".join(
        f'<w:abstractNum w:abstractNumId="{number}"><w:multiLevelType w:val="singleLevel"/>{one}</w:abstractNum>'
        for number, one in lists
    )
    used = "".join(f'<w:num w:numId="{number}"><w:abstractNumId w:val="{number}"/></w:num>' for number, _ in lists)
    return kinds + used
