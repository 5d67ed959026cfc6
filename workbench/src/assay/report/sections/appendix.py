"""The appendix, all of it folded: all numbers, each once, and everything needed to repeat the run."""

from collections.abc import Iterator

from assay.report.document import Block, Bullets, CodeBlock, Facts, Fold, Heading, Mono, Paragraph, Section
from assay.report.sections import (
    breakdowns,
    ceilings,
    comparison,
    environment,
    host_usage,
    io500,
    method,
    results,
    seconds,
    variation,
    verdicts,
)
from assay.report.view import RunView

_MODULES = (
    results,
    breakdowns,
    seconds,
    comparison,
    variation,
    io500,
    host_usage,
    verdicts,
    ceilings,
    method,
    environment,
)


def section(view: RunView) -> Section:
    """Return the section: what the other sections leave out, then commands, versions and the study file."""
    found = [fold for module in _MODULES for fold in module.folds(view)]
    last = _imported(view) if view.run.imports else _repeat(view)
    return Section("appendix", "Appendix", (*found, *_notes(view), last))


def _notes(view: RunView) -> Iterator[Fold]:
    if view.analysis.notes:
        yield Fold("Anomalies", (Bullets(view.analysis.notes),), "notes")


def _imported(view: RunView) -> Fold:
    run = view.run
    blocks: list[Block] = [
        Paragraph(("This was made by ", Mono(run.command), ".")),
        Heading("Versions", "appendix-versions", 4),
        Facts(tuple((name, (Mono(value),)) for name, value in run.versions.items())),
    ]
    return Fold("Import it again", tuple(blocks), "appendix-repeat")


def _repeat(view: RunView) -> Fold:
    run = view.run
    blocks: list[Block] = [
        Paragraph("Save the study below as study.yaml, then:"),
        CodeBlock(
            "assay plan study.yaml       # what it will take\n"
            "assay run study.yaml        # the whole run\n"
            f"assay report {run.id}\n"
            f"assay show {run.id} CASE --json   # all of one case, the job of each repeat included",
            "shell",
        ),
        Paragraph(("This run was started with ", Mono(run.command), " and is stored in ", Mono(run.folder), ".")),
        Heading("Versions and hashes", "appendix-versions", 4),
        Facts(tuple((name, (Mono(value),)) for name, value in run.versions.items())),
        Heading("The study file", "appendix-study", 4),
        CodeBlock(run.study_text, "yaml"),
    ]
    return Fold("Repeat it: commands, versions, the study file", tuple(blocks), "appendix-repeat")
