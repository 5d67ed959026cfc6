"""An author's text: a small, safe subset of Markdown, with numbers in it that refer to results.

Headings (`#`, and `##` below it), paragraphs, lists (`-`), fenced code, **strong** and `code`; a backslash before a
sign keeps it as it is. Everything else is shown as it is written: no HTML, no links, no pictures.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.model.escape import escape_line
from assay.report.document import Block, Bullets, CodeBlock, Heading, Mono, Paragraph, Span, Strong, Text
from assay.report.view import RunView
from assay.rooms.paper.work.claims.reading import RemarkKind
from assay.rooms.paper.work.claims.sentences import MARK, Sentence, split_sentences
from assay.rooms.paper.work.lookup import quoted
from assay.rooms.paper.work.references import WrongReferenceError, parse_reference, split_text

_HEADING = re.compile(r"(#{1,3}) +(\S.*)")
_MAX_TITLE = 300
"""Longest heading, in characters."""
_ITEM = re.compile(r"[-*] +(.+)")
_INLINE = re.compile(r"\\(?P<kept>[\\`*_#{}-])|`(?P<mono>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*")


@dataclass(frozen=True, slots=True)
class ProseRemark:
    """What a check says of one line of a file.

    Attributes:
        kind: What is wrong; a doubtful reference unless a sentence was checked.
    """

    line: int
    text: str
    kind: RemarkKind = RemarkKind.REFERENCE


class WrongProseError(Exception):
    """A reference of a text that is wrong; `line` counts from the beginning of the text, from 0."""

    def __init__(self, line: int, fault: WrongReferenceError) -> None:
        super().__init__(fault.message)
        self.line, self.fault = line, fault


@dataclass(frozen=True, slots=True)
class Prose:
    """A text as blocks.

    Attributes:
        blocks: In order; a heading of level 2 begins a section.
        remarks: Doubtful numbers, with lines that count from the beginning of the text, from 0.
        sentences: Its sentences, with lines as those of remarks.
    """

    blocks: tuple[Block, ...]
    remarks: tuple[ProseRemark, ...]
    sentences: tuple[Sentence, ...] = ()


def read_prose(text: str, views: Mapping[str, RunView]) -> Prose:
    """Return a text as blocks, with the numbers that it refers to.

    Raises:
        WrongProseError: A reference is wrong.
    """
    values: list[str] = []
    remarks: list[ProseRemark] = []
    parts: list[str] = []
    without_code: list[str] = []
    for is_code, start, part in _by_code(text):
        parts.append(part if is_code else _substituted(part, text.count("\n", 0, start), views, values, remarks))
        without_code.append("\n" * part.count("\n") if is_code else parts[-1])
    blocks = tuple(_blocks("".join(parts).split("\n"), values))
    return Prose(blocks, tuple(remarks), tuple(split_sentences("".join(without_code), values)))


def _by_code(text: str) -> Iterator[tuple[bool, int, str]]:
    """Yield fenced code and what is between it, each with its position: references are not read in code."""
    at = 0
    for found in re.finditer(r"^```.*?(?:^```[^\n]*$|\Z)", text, re.DOTALL | re.MULTILINE):
        yield False, at, text[at : found.start()]
        yield True, found.start(), found[0]
        at = found.end()
    yield False, at, text[at:]


def _substituted(
    text: str, first: int, views: Mapping[str, RunView], values: list[str], remarks: list[ProseRemark]
) -> str:
    """Return the text with a mark in place of each reference; append the numbers, and what speaks against them."""
    parts: list[str] = []
    at = 0
    try:
        for start, before, reference in split_text(text):
            at = start
            parts.append(before)
            if start == len(text):
                break
            found = quoted(parse_reference(reference), views)
            parts.append(f"\x00{len(values)}\x00" + "\n" * reference.count("\n"))
            values.append(found.text)
            line = first + text.count("\n", 0, start)
            remarks += [ProseRemark(line, f"{{{{{reference}}}}}: {doubt}") for doubt in found.doubts]
    except WrongReferenceError as fault:
        at = max(at, text.find("{{", at))
        raise WrongProseError(first + text.count("\n", 0, at), fault) from None
    return "".join(parts)


def _blocks(lines: Sequence[str], values: Sequence[str]) -> Iterator[Block]:
    paragraph: list[str] = []
    items: list[str] = []
    code: list[str] | None = None
    for line in [*lines, ""]:
        if code is not None:
            if line.startswith("```"):
                yield CodeBlock("\n".join(code))
                code = None
            else:
                code.append(line)
            continue
        heading, item = _HEADING.fullmatch(line.rstrip()), _ITEM.fullmatch(line.strip())
        is_more_of_item = bool(items) and line[:1] in (" ", "\t") and bool(line.strip()) and item is None
        if is_more_of_item:
            items[-1] += f" {line.strip()}"
            continue
        if item is None and items:
            yield Bullets(tuple(_inline(text, values) for text in items))
            items = []
        if paragraph and (item or heading or not line.strip() or line.startswith("```")):
            yield Paragraph(_inline(" ".join(paragraph), values))
            paragraph = []
        if line.startswith("```"):
            code = []
        elif heading:
            yield Heading(_heading_words(heading[2], values), "", 2 if len(heading[1]) == 1 else 3)
        elif item:
            items.append(item[1])
        elif line.strip():
            paragraph.append(line.strip())
    if code is not None:
        yield CodeBlock("\n".join(code).rstrip("\n"))


def _heading_words(text: str, values: Sequence[str]) -> str:
    """Return the words of a heading, without signs that close it, and not longer than a title may be."""
    return escape_line(_plain(text.rstrip("#").rstrip() or text, values), _MAX_TITLE)


def _inline(text: str, values: Sequence[str]) -> Text:
    spans: list[Span] = []
    at = 0
    for found in _INLINE.finditer(text):
        spans.append(_filled(text[at : found.start()], values))
        if found["kept"]:
            spans.append(found["kept"])
        elif found["mono"]:
            spans.append(Mono(_filled(found["mono"], values)))
        else:
            spans.append(Strong(_filled(found["strong"], values)))
        at = found.end()
    spans.append(_filled(text[at:], values))
    return tuple(span for span in spans if span != "")


def _plain(text: str, values: Sequence[str]) -> str:
    return "".join(span if isinstance(span, str) else getattr(span, "text", "") for span in _inline(text, values))


def _filled(text: str, values: Sequence[str]) -> str:
    return MARK.sub(lambda found: values[int(found[1])], text)
