"""Writes a document as Markdown (CommonMark with tables as GitHub has them); charts are pictures inside the file.

All text is escaped: a name becomes neither markup nor HTML.
"""

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any

from assay.model.escape import escape_line, escape_lines
from assay.report import document as doc
from assay.report.print_pictures import pictures_of
from assay.report.spans_table import spans_table

MARK = "<!-- Made by Assay -->"
"""First line of each file, by which Assay knows its own ones."""
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_NUMBERED = re.compile(r"^(\s*[0-9]+)([.)])(?=\s|$)|^(\s*)([-+=:])(?=[-+=:\s]|$)")


def render_markdown(document: doc.Document) -> str:
    """Return the whole text; the same document gives the same text."""
    parts = [MARK, f"# {_plain(document.title)}"]
    if document.authors:
        parts.append(_plain(", ".join(document.authors)))
    if document.description:
        parts.append(_plain(document.description))
    parts.append("  \n".join(f"{_plain(name)}: {_plain(value)}" for name, value in document.meta))
    for section in document.sections:
        parts.append(f"## {_plain(section.title)}")
        parts += _blocks(section.blocks)
    return "\n\n".join(part for part in parts if part) + "\n"


def _blocks(blocks: tuple[doc.Block, ...]) -> list[str]:
    return [text for block in blocks for text in _WRITERS[type(block)](block)]


def _plain(text: str) -> str:
    """Escape a text for one line; what begins a list or a rule is escaped at the beginning, too."""
    escaped = _MARKUP.sub(r"\\\1", escape_line(text, 20_000))
    return _NUMBERED.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"{found[3]}\\{found[4]}", escaped)


def _text(text: doc.Text) -> str:
    return _plain(text) if isinstance(text, str) else "".join(map(_span, text))


def _span(span: doc.Span) -> str:
    match span:
        case doc.Strong(text):
            return f"**{_plain(text)}**" if text.strip() else ""
        case doc.Mono(text):
            return _mono(text)
        case doc.Badge():
            words = ", ".join(map(str, (span.verdict, *span.further_verdicts)))
            return _plain(words + (" *" if span.is_partial else ""))
    # At the beginning of a span that is not the first there is no list and no rule to escape.
    return _MARKUP.sub(r"\\\1", escape_line(span, 20_000))


def _mono(text: str) -> str:
    """Return a code span: its fence is longer than any run of backticks inside."""
    line = escape_line(text, 20_000).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{room}{line}{room}{fence}" if line.strip() else ""


def _cell(cell: doc.Cell) -> str:
    if isinstance(cell, doc.Num):
        return _plain(cell.text)
    if isinstance(cell, doc.Share):
        return _plain(f"{cell.words} {cell.remark}".strip())
    return _span(cell)


def _heading(block: doc.Heading) -> Iterator[str]:
    yield f"{'#' * block.level} {_plain(block.text)}"


def _paragraph(block: doc.Paragraph) -> Iterator[str]:
    yield _text(block.text).strip()


def _bullets(block: doc.Bullets) -> Iterator[str]:
    yield "\n".join(f"- {_text(item)}" for item in block.items)


def _facts(block: doc.Facts) -> Iterator[str]:
    yield "\n".join(f"- {_plain(name)}: {_text(value)}" for name, value in block.items)


def _panels(block: doc.Panels) -> Iterator[str]:
    for title, items in block.items:
        yield f"### {_plain(title)}"
        yield from _bullets(doc.Bullets(items))


def _table(table: doc.Table) -> Iterator[str]:
    if table.caption:
        yield f"*{_plain(table.caption)}*"
    heads = [f"{column.title} ({column.unit})" if column.unit else column.title for column in table.columns]
    rule = ["---:" if column.is_numeric else "---" for column in table.columns]
    lines = [[_plain(head) or " " for head in heads], rule, *([_cell(cell) for cell in row] for row in table.rows)]
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
    if table.notes:
        yield _plain(table.notes)


def _pictures(block: doc.Chart | doc.Dots | doc.Gallery | doc.Plots) -> Iterator[str]:
    for picture, title, caption in pictures_of(block):
        data = base64.b64encode(picture.svg.encode()).decode()
        alt = f"{title}. {picture.words}" if picture.words else title
        yield f"![{_plain(alt)}](data:image/svg+xml;base64,{data})"
        yield f"*{_plain(f'{title}. {caption}'.strip())}*"


def _spans(block: doc.Spans) -> Iterator[str]:
    yield from _table(spans_table(block))


def _code(block: doc.CodeBlock) -> Iterator[str]:
    text = escape_lines(block.text.rstrip("\n"))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    yield f"{fence}{block.language}\n{text}\n{fence}"


def _note(block: doc.Note) -> Iterator[str]:
    yield f"> {_text(block.text)}"


def _fold(block: doc.Fold) -> Iterator[str]:
    yield f"### {_plain(block.summary)}"
    yield from _blocks(block.blocks)


_WRITERS: dict[type[Any], Callable[[Any], Iterator[str]]] = {
    doc.Heading: _heading,
    doc.Paragraph: _paragraph,
    doc.Bullets: _bullets,
    doc.Facts: _facts,
    doc.Dots: _pictures,
    doc.Panels: _panels,
    doc.Table: _table,
    doc.Chart: _pictures,
    doc.Gallery: _pictures,
    doc.Plots: _pictures,
    doc.Spans: _spans,
    doc.CodeBlock: _code,
    doc.Note: _note,
    doc.Fold: _fold,
}
