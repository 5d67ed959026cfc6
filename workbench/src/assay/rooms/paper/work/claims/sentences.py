"""Sentences of a text, each with its line."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MARK = re.compile("\x00([0-9]+)\x00")
"""A number that replaced a reference."""
REFERENCE_OPEN, REFERENCE_CLOSE = "\x01", "\x02"
"""Around numbers of references in a sentence."""
_ABBREVIATIONS = re.compile(
    (
        r"(?:(?<![0-9] )\b(?:e\.g|i\.e|vs|cf|approx|ca|fig|figs|sec|no|nos|eq|resp|"
        r"etc|al|incl|max|min|avg|dr|mr|ms|prof|st)|"
        r"(?-i:(?<![\w/])[A-Z]))\.$"
    ),
    re.IGNORECASE,
)
_END = re.compile(r"[.!?][)\"'\u201d\u2019*]*(?=\s|$)|:(?=\s*$)")
_BREAK = re.compile(r"^\s*(?:[-*]\s+|#{1,6}\s|\|)")
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an author.

    Attributes:
        line: Line on which it begins, from 0.
        text: Its words in one line, without markup; numbers of references are between `REFERENCE_OPEN` and
            `REFERENCE_CLOSE`.
        begins: It is the first one of its paragraph.
    """

    line: int
    text: str
    begins: bool


def split_sentences(text: str, values: Sequence[str]) -> list[Sentence]:
    """Return the sentences of paragraphs and lists, without headings, tables and code.

    Args:
        text: A text in which marks stand for references, without fenced code.
        values: The numbers of these references.
    """
    found: list[Sentence] = []
    for first, paragraph in _paragraphs(text):
        begins = True
        for start, sentence in _sentences(paragraph):
            words = _plain(sentence, values)
            if words:
                found.append(Sentence(first + paragraph.count("\n", 0, start), words, begins))
                begins = False
    return found


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield paragraphs and items of lists with their first lines."""
    lines: list[str] = []
    first = 0
    for number, line in enumerate([*text.split("\n"), ""]):
        is_break = _BREAK.match(line) is not None
        if lines and (is_break or not line.strip()):
            yield first, "\n".join(lines)
            lines = []
        if line.lstrip().startswith(("#", "|")) or not line.strip():
            continue
        if not lines:
            first = number
        lines.append(re.sub(r"^(\s*)[-*]\s+", r"\1  ", line) if is_break else line)
    if lines:
        yield first, "\n".join(lines)


def _sentences(paragraph: str) -> Iterator[tuple[int, str]]:
    start = 0
    for end in _END.finditer(paragraph):
        before = paragraph[start : end.start() + 1]
        if end[0].startswith(".") and _ABBREVIATIONS.search(before):
            continue
        yield _begin(paragraph, start), paragraph[start : end.end()]
        start = end.end()
    if paragraph[start:].strip():
        yield _begin(paragraph, start), paragraph[start:]


def _begin(paragraph: str, start: int) -> int:
    return start + len(paragraph[start:]) - len(paragraph[start:].lstrip())


def _plain(text: str, values: Sequence[str]) -> str:
    text = re.sub(r"\\([\\`*_#{}-])", r"\1", _CODE.sub(r"\1", text.replace("**", "")))
    text = MARK.sub(lambda found: f"{REFERENCE_OPEN}{values[int(found[1])]}{REFERENCE_CLOSE}", text)
    return " ".join(text.split())
