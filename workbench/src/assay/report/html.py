"""Writes a document as one self-contained HTML page that opens without a network.

A content security policy forbids the page every fetch, and every script but its own, which is named by its hash. So a
name from a study file can neither load nor run anything, even if an escape were missing. Charts are static SVG and need
no script.
"""

import base64
import hashlib
import html
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from typing import Any

from assay.model.escape import escape_lines
from assay.report import document as doc
from assay.report.document_look import DEFAULT_LOOK, Logo, Look
from assay.report.draw.chart import DEFINITIONS, chart_html
from assay.report.draw.diagram import Diagram, diagram_html
from assay.report.draw.dots import dots_html
from assay.report.draw.drawing import Drawing, HeatMap, Surface
from assay.report.draw.heat import heat_html
from assay.report.draw.plots import plots_html
from assay.report.draw.spans import spans_html
from assay.report.draw.surface import surface_html
from assay.report.draw.svg import escape

Writer = Callable[[Any], str]
_FOOTER = (
    "<footer>Made by Assay. MB and GB are powers of ten, KiB, MiB and GiB powers of two. This page loads nothing from "
    "anywhere.</footer>"
)


def render_html(document: doc.Document) -> str:
    """Return the whole page; the same document gives the same text."""
    body = "".join(_section(number, section) for number, section in enumerate(document.sections, 1))
    script = _asset("report.js")
    policy = (
        f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = (
        f'<!doctype html>\n<html lang="{escape(document.look.language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="generator" content="Assay">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)} · Assay</title>\n"
        f"<style>\n{_asset('report.css')}{_look_css(document.look)}{_alignments(document)}</style>\n</head>\n"
    )
    # Documents with a look of their own fit on one page and need no table of contents.
    contents = "" if document.style else _contents(document)
    look = f' class="{document.style}"' if document.style else ""
    page = f"<body{look}>\n{DEFINITIONS}\n{_header(document)}\n<div class=page>\n{contents}\n<main>\n{body}</main>\n"
    return f"{head}{page}</div>\n{_FOOTER}\n<script>{script}</script>\n</body>\n</html>\n"


def _look_css(look: Look) -> str:
    """Return CSS for the colour and the paper of a look; empty for the usual one."""
    parts = []
    if look.accent != DEFAULT_LOOK.accent:
        # On a dark page the colour is lightened, so that it can be read there, too.
        dark = f"color-mix(in srgb,{look.accent} 45%,#fff)"
        parts.append(f":root{{--accent:{look.accent}}}")
        parts.append(f"@media screen and (prefers-color-scheme:dark){{:root{{--accent:{dark}}}}}")
    if look.paper != DEFAULT_LOOK.paper:
        parts.append(f"@page{{size:{look.paper}}}")
    if look.logo is not None:
        parts.append("header .logo{float:right;margin:0 0 .4rem 1.5rem}")
    return "".join(f"{part}\n" for part in parts)


def _logo(logo: Logo | None) -> str:
    if logo is None:
        return ""
    data = base64.b64encode(logo.data).decode()
    kind = "svg+xml" if logo.is_svg else "png"
    # Points of print are pixels here, times 4/3.
    width, height = (round(size * 4 / 3) for size in (logo.width, logo.height))
    return f'<img class=logo alt="Logo" width={width} height={height} src="data:image/{kind};base64,{data}">\n'


@cache
def _asset(name: str) -> str:
    return resources.files("assay.report").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _header(document: doc.Document) -> str:
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in document.meta)
    more = f"<p class=description>{escape(document.description)}</p>" if document.description else ""
    authors = f"<p>{escape(', '.join(document.authors))}</p>" if document.authors else ""
    title = f"<p class=kicker>{escape(document.overline)}</p>\n<h1>{escape(document.title)}</h1>{authors}{more}"
    return f"<header>\n{_logo(document.look.logo)}{title}\n<dl class=meta>{facts}</dl>\n</header>"


def _contents(document: doc.Document) -> str:
    links = []
    for section in document.sections:
        inner = "".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title in _parts(section) if name)
        links.append(
            f'<li><a href="#{section.id}">{escape(section.title)}</a>{f"<ul>{inner}</ul>" if inner else ""}</li>'
        )
    return (
        f'<nav aria-label="Contents"><details open><summary>Contents</summary><ol>{"".join(links)}</ol></details></nav>'
    )


def _parts(section: doc.Section) -> Iterator[tuple[str, str]]:
    """Yield id and title of each entry below a section in the table of contents."""
    for block in section.blocks:
        if isinstance(block, doc.Heading) and block.level == 3:
            yield block.id, block.text
        elif isinstance(block, doc.Fold):
            yield block.id, block.summary


def _section(number: int, section: doc.Section) -> str:
    title = f"<h2><span class=number>{number}</span>{escape(section.title)}</h2>"
    return f'<section id="{section.id}">\n{title}\n{_blocks(section.blocks)}</section>\n'


def _blocks(blocks: tuple[doc.Block, ...]) -> str:
    return "\n".join(_WRITERS[type(block)](block) for block in blocks) + "\n"


def _text(text: doc.Text) -> str:
    if isinstance(text, str) and "`" not in text:
        return escape(text)
    return "".join(_span(span) for span in doc.text_spans(text))


def _span(span: doc.Span) -> str:
    match span:
        case doc.Strong(text):
            return f"<strong>{escape(text)}</strong>"
        case doc.Mono(text):
            return f"<code>{escape(text)}</code>"
        case doc.Badge():
            return _badge(span)
    return escape(span)


def _badge(badge: doc.Badge) -> str:
    hint = f' title="{escape(badge.hint)}"' if badge.hint else ""
    # The style sheet prints this attribute; so the text of the cell stays one verdict, which filters look for.
    also = f' data-also="+ {", ".join(badge.further_verdicts)}"' if badge.further_verdicts else ""
    partly = " partly" if badge.is_partial else ""
    return f'<b class="v {badge.verdict.value}{partly}"{hint}{also}>{badge.verdict.value}</b>'


def _bar(share: doc.Share) -> str:
    """Return the bar of a share; its number is printed, too, for readers who cannot see the bar."""
    if share.value is None:
        return ""
    return f'<i class="bar{" over" if share.value > 1 else ""}" style="--s:{min(100 * share.value, 999):.3g}"></i>'


def _heading(block: doc.Heading) -> str:
    return f'<h{block.level} id="{block.id}">{escape(block.text)}</h{block.level}>'


def _paragraph(block: doc.Paragraph) -> str:
    return f"<p{' class=lead' if block.lead else ''}>{_text(block.text)}</p>"


def _bullets(block: doc.Bullets) -> str:
    return f"<ul>{''.join(f'<li>{_text(item)}</li>' for item in block.items)}</ul>"


def _facts(block: doc.Facts) -> str:
    items = "".join(f"<dt>{escape(name)}</dt><dd>{_text(value)}</dd>" for name, value in block.items)
    return f"<dl class=facts>{items}</dl>"


def _dots(block: doc.Dots) -> str:
    return dots_html(block)


def _panels(block: doc.Panels) -> str:
    return f"<div class=panels>{''.join(_panel(title, items) for title, items in block.items)}</div>"


def _panel(title: str, items: tuple[doc.Text, ...]) -> str:
    lines = [_text(item) for item in items]
    body = f"<p>{lines[0]}</p>" if len(lines) == 1 else f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"
    return f"<div class=panel><h3>{escape(title)}</h3>{body}</div>"


def _table(table: doc.Table) -> str:
    heads = []
    for column in table.columns:
        unit = f"<small>{escape(column.unit)}</small>" if column.unit else ""
        facet = " data-facet" if column.is_filter and table.is_interactive else ""
        kind = " data-number" if column.is_numeric else ""
        heads.append(f"<th scope=col{kind}{facet}><span>{escape(column.title)}</span>{unit}")
    rows = "\n".join(f"<tr>{''.join(_cell(cell) for cell in row)}" for row in table.rows)
    caption = "".join(f"<p class=caption>{_text(text)}</p>" for text in (table.notes, table.caption) if text)
    kind = " interactive" if table.is_interactive else ""
    inner = f'<table id="{table.id}"><thead><tr>{"".join(heads)}</thead><tbody>\n{rows}</tbody></table>'
    return f'<div class="table{kind}"><div class=scroll tabindex=0>{inner}</div>{caption}</div>'


def _cell(cell: doc.Cell) -> str:
    if isinstance(cell, doc.Num):
        plain = cell.text.replace(",", "")
        sortable = cell.value is None or plain.replace(".", "", 1).isdigit()
        return f"<td>{escape(cell.text)}" if sortable else f"<td data-v={cell.value:.12g}>{escape(cell.text)}"
    if isinstance(cell, doc.Share):
        place = "" if cell.value is None else f" data-v={cell.value:.4g}"
        more = f"<small>{escape(cell.remark)}</small>" if cell.remark else ""
        return f"<td{place}>{escape(cell.words)}{_bar(cell)}{more}"
    return f"<td>{_text(cell if isinstance(cell, str) else (cell,))}"


def _alignments(document: doc.Document) -> str:
    """Return CSS that aligns numeric columns to the right; cells need no attribute, which keeps long tables small."""
    places = [
        (table.id, place)
        for table in _tables(document)
        for place, column in enumerate(table.columns, 1)
        if column.is_numeric
    ]
    if not places:
        return ""
    whole, cells = (
        ",".join(f"#{name} {tag}:nth-child({place})" for name, place in places) for tag in (":is(td,th)", "td")
    )
    return f"{whole}{{text-align:right}}\n{cells}{{white-space:nowrap}}\n"


def _tables(document: doc.Document) -> list[doc.Table]:
    return [table for section in document.sections for table in _tables_in(section.blocks)]


def _tables_in(blocks: tuple[doc.Block, ...]) -> Iterator[doc.Table]:
    for block in blocks:
        if isinstance(block, doc.Table):
            yield block
        elif isinstance(block, doc.Fold):
            yield from _tables_in(block.blocks)


def _chart(chart: doc.Chart) -> str:
    label = f"{chart.id}-words"
    drawn = chart_markup(chart.drawing, label, chart.caption)
    words = f"<b>{escape(chart.title)}</b> <span>{_text(chart.caption)}</span>"
    kind = "card wide" if chart.wide else "card"
    return (
        f'<figure class="{kind}"><figcaption id="{label}">{words}</figcaption>'
        f'<div class=chart id="{chart.id}">{drawn}</div></figure>'
    )


def chart_markup(drawing: Drawing | HeatMap | Surface | Diagram, label: str, caption: str = "") -> str:
    """Return the markup of a chart or diagram; `label` is the id of its description, and `caption` the text of that."""
    match drawing:
        case HeatMap():
            return heat_html(drawing, label)
        case Surface():
            return surface_html(drawing, label)
        case Diagram():
            return diagram_html(drawing, label, caption)
    return chart_html(drawing, label)


def _gallery(block: doc.Gallery) -> str:
    return f"<div class=gallery>{''.join(_WRITERS[type(figure)](figure) for figure in block.figures)}</div>"


def _code(block: doc.CodeBlock) -> str:
    return (
        '<pre class="code '
        f'{escape(block.language)}"><code>{html.escape(escape_lines(block.text), quote=False)}</code></pre>'
    )


def _note(block: doc.Note) -> str:
    return f'<p class="note {block.kind}">{_text(block.text)}</p>'


def _fold(block: doc.Fold) -> str:
    name = f' id="{block.id}"' if block.id else ""
    return f"<details class=fold{name}><summary>{escape(block.summary)}</summary>{_blocks(block.blocks)}</details>"


_WRITERS: dict[type[Any], Writer] = {
    doc.Heading: _heading,
    doc.Paragraph: _paragraph,
    doc.Bullets: _bullets,
    doc.Facts: _facts,
    doc.Dots: _dots,
    doc.Panels: _panels,
    doc.Table: _table,
    doc.Chart: _chart,
    doc.Gallery: _gallery,
    doc.Plots: plots_html,
    doc.Spans: spans_html,
    doc.CodeBlock: _code,
    doc.Note: _note,
    doc.Fold: _fold,
}
