"""Builds the report's document from a run."""

from assay.model.money.price import Book
from assay.model.result.result import RunAnalysis
from assay.report import numbers
from assay.report.beside import Beside
from assay.report.document import Document
from assay.report.growth.stages import stage_lines
from assay.report.sections import (
    answer,
    appendix,
    ceilings,
    cost,
    environment,
    evidence,
    hosts,
    method,
    network,
    published,
    scaling,
    verdicts,
)
from assay.report.view import View

_SECTIONS = (
    answer,
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


def build_document(analysis: RunAnalysis, today: Book | None = None, beside: Beside | None = None) -> Document:
    """Build the report on a run; the same run gives the same document.

    Args:
        analysis: The run.
        today: A price book to show beside the prices of the run; None: show only those of the run.
        beside: Published figures to draw in the same charts as the run's own; None: no such section.
    """
    view = View(analysis, today)
    run = analysis.run
    found = (module.section(view) for module in _SECTIONS)
    duration = f", {numbers.seconds(run.finished_at - run.created_at)}" if run.finished_at is not None else ""
    meta = (
        ("Measured", f"{numbers.moment(run.created_at)}{duration}"),
        ("Targets", ", ".join(view.targets)),
        ("Scope", f"{numbers.plural(len(analysis.cases), 'case')}, {run.repeats_words} each"),
        ("Repeats done", f"{run.finished:,} of {run.planned:,}"),
        ("Status", run.status),
        *(("Stages", line) for line in stage_lines(run)),
        ("Run", run.id),
    )
    sections = tuple(section for section in found if section is not None)
    if beside is not None:
        place = next(place for place, section in enumerate(sections) if section.id == "evidence") + 1
        sections = (*sections[:place], published.section(view, beside), *sections[place:])
    return Document(f"Assay storage report · {run.study}", run.question or run.study, run.description, meta, sections)
