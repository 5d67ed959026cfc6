"""The parts of a report's document, those in folds included."""

from collections.abc import Iterable, Iterator

from assay.report.document import (
    Block,
    Bullets,
    Chart,
    Document,
    Fold,
    Gallery,
    Heading,
    Paragraph,
    Section,
    Table,
    plain_text,
)


def flat(blocks: Iterable[Block]) -> Iterator[Block]:
    """All blocks, also those in folds and the folds themselves."""
    for block in blocks:
        yield block
        if isinstance(block, Fold):
            yield from flat(block.blocks)


def blocks_of(found: Document | Section | Iterable[Block]) -> list[Block]:
    """All blocks of a document, a section, or of some folds."""
    if isinstance(found, Document):
        return [block for part in found.sections for block in flat(part.blocks)]
    return list(flat(found.blocks if isinstance(found, Section) else found))


def tables_of(found: Document | Section | Iterable[Block]) -> dict[str, Table]:
    """By their id."""
    return {block.id: block for block in blocks_of(found) if isinstance(block, Table)}


def charts_of(found: Document | Section | Iterable[Block]) -> list[Chart]:
    """In the order of the page."""
    galleries = [block for block in blocks_of(found) if isinstance(block, Gallery)]
    return [figure for gallery in galleries for figure in gallery.figures]


def text_of(found: Document | Section | Iterable[Block]) -> str:
    """The sentences and headings, a line each."""
    lines: list[str] = []
    for block in blocks_of(found):
        if isinstance(block, Paragraph | Heading):
            lines.append(plain_text(block.text))
        elif isinstance(block, Bullets):
            lines += map(plain_text, block.items)
    return "\n".join(lines)
