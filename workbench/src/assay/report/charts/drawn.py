"""What of a document can be drawn with the packages that are there; one note says what the rest needs."""

from dataclasses import replace

from assay.model.extras import how_to_install, is_installed
from assay.report import document as doc

DRAWN_BY: dict[type[doc.Block], str] = {doc.Chart: "vl_convert", doc.Surface: "matplotlib"}


def drawable(document: doc.Document) -> doc.Document:
    """The document without figures that nothing can draw, and without headings and parts that only had those.

    What was left out is said at the end of the first section.
    """
    lacking = tuple(package for package in DRAWN_BY.values() if not is_installed(package))
    if not lacking:
        return document
    absent = tuple(kind for kind, package in DRAWN_BY.items() if package in lacking)
    sections = [replace(section, blocks=_left(section.blocks, absent)) for section in document.sections]
    if all(after.blocks == before.blocks for after, before in zip(sections, document.sections, strict=True)):
        return document
    kept = [section for section, before in zip(sections, document.sections, strict=True) if section.blocks]
    how = doc.Mono(how_to_install(lacking))
    note = doc.Note(("Charts are left out, since the packages that draw them are not installed: ", how, "."))
    if not kept:
        return replace(document, sections=(replace(document.sections[0], blocks=(note,)),))
    first = replace(kept[0], blocks=(*kept[0].blocks, note))
    return replace(document, sections=(first, *kept[1:]))


def _left(blocks: tuple[doc.Block, ...], absent: tuple[type[doc.Block], ...]) -> tuple[doc.Block, ...]:
    left: list[doc.Block] = []
    gone = False
    for block in blocks:
        kept = _without(block, absent)
        gone = gone or kept is not block
        if isinstance(kept, doc.Heading):
            _drop_empty(left, kept.level)
        if kept is not None:
            left.append(kept)
    _drop_empty(left, 0)
    return tuple(left) if gone else blocks


def _without(block: doc.Block, absent: tuple[type[doc.Block], ...]) -> doc.Block | None:
    if isinstance(block, absent):
        return None
    if isinstance(block, doc.Gallery):
        figures = tuple(figure for figure in block.figures if not isinstance(figure, absent))
        return block if figures == block.figures else replace(block, figures=figures) if figures else None
    if isinstance(block, doc.Fold):
        inner = _left(block.blocks, absent)
        return block if inner is block.blocks else replace(block, blocks=inner) if inner else None
    return block


def _drop_empty(left: list[doc.Block], level: int) -> None:
    """Takes away headings at the end under which nothing is left, down to a level."""
    while left and isinstance(last := left[-1], doc.Heading) and last.level >= level:
        left.pop()
