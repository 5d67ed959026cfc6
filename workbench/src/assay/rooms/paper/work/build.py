"""Puts a paper together, from runs alone or as a description orders it."""

from dataclasses import dataclass

from assay.report import numbers
from assay.report.document import Document, Section
from assay.report.document_look import DEFAULT_LOOK, Look
from assay.report.paper_part import PaperContext
from assay.report.view import RunView
from assay.rooms.paper.work.part_kinds import part_kinds
from assay.rooms.paper.work.parts import counted_names
from assay.rooms.paper.work.sections import Sections

_MAX_DAYS = 4
"""Most days that are listed one by one."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper that is ready to be written.

    Attributes:
        first_run: Id of its first run.
        created_at: Start of the newest run, in seconds since 1970: the same runs give the same file.
    """

    document: Document
    first_run: str
    created_at: float


def paper_of_runs(views: dict[str, RunView]) -> Paper:
    """Return the paper of runs without a description; its title is the question of the first one."""
    context = PaperContext(views)
    sections = Sections()
    for name, kind in part_kinds().items():
        if kind.is_usual:
            sections.add_part(name, kind.title, kind.make(kind.options(), context))
    return assembled(_question(next(iter(views.values()))), (), views, sections.all)


def assembled(
    title: str, authors: tuple[str, ...], views: dict[str, RunView], sections: list[Section], look: Look = DEFAULT_LOOK
) -> Paper:
    """Return a paper with the facts that identify its runs below the title."""
    runs = [view.run for view in views.values()]
    targets = dict.fromkeys(target for view in views.values() for target in view.targets)
    days = sorted({numbers.utc_time(run.created_at)[:10] for run in runs})
    when = numbers.listing(days) if len(days) <= _MAX_DAYS else f"{days[0]} to {days[-1]}"
    meta = (
        ("Imported" if all(run.imports for run in runs) else "Measured", when),
        ("Targets", counted_names(targets, "targets")),
        ("Run" if len(runs) == 1 else "Runs", counted_names((run.id for run in runs), "runs")),
    )
    description = runs[0].description if len(runs) == 1 else ""
    overline = f"Assay · {counted_names((run.study for run in runs), 'studies')}"
    document = Document(overline, title, description, meta, tuple(sections), authors=authors, look=look)
    return Paper(document, runs[0].id, max(run.created_at for run in runs))


def _question(view: RunView) -> str:
    return view.run.question or view.run.study
