"""Builds the report's document from a run."""

from assay.model.money.price import PriceBook
from assay.model.result.result import RunAnalysis
from assay.model.result.run import RunInfo
from assay.model.room import load, rooms
from assay.report import numbers
from assay.report.document import Document, Section
from assay.report.growth.stages import stage_lines
from assay.report.measure import works_without_storage
from assay.report.sections import (
    appendix,
    ceilings,
    commands,
    cost,
    environment,
    evidence,
    hosts,
    method,
    network,
    other_run,
    replays,
    scaling,
    short_answer,
    verdicts,
)
from assay.report.view import RunView

SECTIONS = (
    short_answer,
    commands,
    replays,
    evidence,
    scaling,
    hosts,
    cost,
    ceilings,
    network,
    verdicts,
    environment,
    method,
    appendix,
)
"""Modules whose `section` makes a section of the report, in its order; rooms register theirs (`Room.sections`)."""


def build_document(
    analysis: RunAnalysis, current_book: PriceBook | None = None, other: RunAnalysis | None = None
) -> Document:
    """Build the report on a run; the same run gives the same document.

    Args:
        analysis: The run.
        current_book: A price book to show beside the prices of the run; None: show only those of the run.
        other: Another run, such as imported figures, to draw in the same charts; None: no such section.
    """
    view = RunView(analysis, current_book)
    run = analysis.run
    made = [section for module in SECTIONS if (section := module.section(view)) is not None]
    for make, after in ((load(make), after) for room in rooms() for make, after in room.sections.items()):
        if (section := make(view)) is not None:
            made = _behind(made, after, section)
    duration = f", {numbers.seconds(run.finished_at - run.created_at)}" if run.finished_at is not None else ""
    meta = (
        _made(run, duration),
        ("Targets", ", ".join(view.targets)),
        ("Scope", f"{numbers.plural(len(analysis.cases), 'case')}, {view.repeats_words} each"),
        ("Repeats done", f"{run.finished:,} of {run.planned:,}"),
        ("Status", run.status),
        *(("Stages", line) for line in stage_lines(run)),
        ("Run", run.id),
    )
    if other is not None:
        made = _behind(made, "evidence", other_run.section(view, other))
    return Document(
        f"{'Assay report' if works_without_storage(analysis.rows) else 'Assay storage report'} · {run.study}",
        run.question or run.study,
        run.description,
        meta,
        tuple(made),
    )


def _made(run: RunInfo, duration: str) -> tuple[str, str]:
    """When the run was measured; for one that another tool measured, where it was imported from."""
    if run.imports:
        return "Imported", f"{run.import_words.removeprefix('imported ')}, {numbers.utc_time(run.created_at)}"
    return "Measured", f"{numbers.utc_time(run.created_at)}{duration}"


def _behind(sections: list[Section], place: str, section: Section) -> list[Section]:
    """The sections with one more behind that with the id `place`; last where that is missing."""
    at = next((at for at, each in enumerate(sections, 1) if each.id == place), len(sections))
    return [*sections[:at], section, *sections[at:]]
