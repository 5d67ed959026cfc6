"""The part `references` of papers: works that the paper cites, in the order of the description."""

import datetime as dt
from typing import Annotated

from pydantic import Field

from assay.model.frozen import Frozen
from assay.report.document import Block, Bullets, Mono, Span, Strong, Text
from assay.report.paper_part import PaperContext, PartKind, PartOptions

_Words = Annotated[str, Field(max_length=500)]


class CitedWork(Frozen):
    """A work that the paper cites.

    Attributes:
        key: What the texts call it, such as `[NFS-2016]`; empty: its place in the list.
        authors: Their names.
        published: Publisher, journal or kind of work.
        year: Year of publication.
        url: Where it can be read.
        read: Day on which it was read there.
    """

    key: _Words = ""
    title: Annotated[str, Field(min_length=1, max_length=500)]
    authors: tuple[_Words, ...] = ()
    published: _Words = ""
    year: Annotated[int, Field(ge=1400, le=9999)] | None = None
    url: _Words = ""
    read: dt.date | None = None


class ReferencesOptions(PartOptions):
    """Options of the part."""

    works: Annotated[tuple[CitedWork, ...], Field(min_length=1, max_length=500)]


def references_blocks(options: ReferencesOptions, context: PaperContext) -> list[Block]:  # noqa: ARG001
    """Return the works as a list."""
    return [Bullets(tuple(_entry(number, work) for number, work in enumerate(options.works, 1)))]


def _entry(number: int, work: CitedWork) -> Text:
    spans: list[Span] = [Strong(f"[{work.key or number}]"), " "]
    spans += [f"{', '.join(work.authors)}. "] if work.authors else []
    spans.append(f"{work.title}. ")
    facts = ", ".join(str(fact) for fact in (work.published, work.year) if fact)
    spans += [f"{facts}. "] if facts else []
    spans += [Mono(work.url)] if work.url else []
    spans += [f", read on {work.read}."] if work.url and work.read else ["."] if work.url else []
    return tuple(spans)


REFERENCES = PartKind(references_blocks, "References", ReferencesOptions)
