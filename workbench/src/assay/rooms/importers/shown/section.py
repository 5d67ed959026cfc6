"""The section of a report on where imported results come from."""

from collections import Counter
from functools import lru_cache
from pathlib import Path

from assay.report import numbers
from assay.report.document import Block, Cell, Column, Fold, Heading, Mono, Paragraph, Section, Table
from assay.report.view import RunView
from assay.rooms.importers.audit.facts import MachineFacts, facts_by_name
from assay.rooms.importers.audit.findings import AuditFinding, Severity
from assay.rooms.importers.audit.rules import audit
from assay.rooms.importers.audit.runs import outputs_of_run
from assay.rooms.importers.audit.shown import recomputed_words
from assay.rooms.importers.audit.tables.rules import recomputed_cells
from assay.rooms.importers.shown.figures import imported_run, options_words, place_words
from assay.rooms.importers.work.results import Figure, ImportedResult, ImportedRun, ToolOutput

MAX_ROWS = 200
"""Most results whose figures a report has."""
MAX_SHORT = 7
"""Most figures of a result of a tool that has no parts of results."""
_FIGURES = frozenset(
    {"bw_bytes", "bw", "iops", "total_ios", "io_bytes", "runtime"}
    | {"bits_per_second", "bytes", "seconds", "retransmits", "lost_percent", "jitter_ms"}
)
"""Main figures of parts of results: those of fio's JSON, and of iperf3's."""
GRAVE: tuple[Severity, ...] = ("error", "warning")
"""Severities that the first page names."""
_FILE_COLUMNS = ("File", "Line", "Tool", "Form", "Host", "Date", "SHA-256")


def section(view: RunView) -> Section | None:
    """Return the section: files, results as printed, what was left out; None for a run that Assay measured."""
    if not view.run.imports:
        return None
    run = imported_run(Path(view.run.folder))
    measured = Paragraph(
        "Assay measured nothing of this run: all figures are those of the files below. What a file does not say is not "
        "known, and rules that need it were not evaluated."
    )
    blocks: list[Block] = [measured, _files(view), *_left_out(run), *_figures(run)]
    return Section("imported", "Imported", tuple(blocks))


def audit_words(folder: Path, has_first: bool = True) -> str:
    """Return how many errors and warnings the audit has, with the first; empty without any.

    Args:
        folder: The folder of an imported run.
        has_first: Name the gravest finding.
    """
    found = [one for one in audited_run(folder)[1] if one.severity in GRAVE]
    if not found:
        return ""
    counts = Counter(one.severity for one in found)
    words = numbers.listing([numbers.plural(counts[severity], severity) for severity in GRAVE if counts[severity]])
    if not has_first:
        return f"The audit of these results has {words}."
    first = min(found, key=lambda one: GRAVE.index(one.severity))
    name = f"{first.result}: " if first.result and not first.plain else ""
    return f"The audit of these results has {words}, such as: {name}{first.plain or first.text}."


@lru_cache(maxsize=1)
def audited_run(folder: Path) -> tuple[list[ToolOutput], list[AuditFinding]]:
    """Return what a run was imported from, and the findings, both used twice in a report."""
    outputs = outputs_of_run(folder)
    return outputs, audit(outputs, MachineFacts())


def audit_blocks(folder: Path) -> list[Block]:
    """Return what the audit finds against the results, by the facts about the machines that the run has.

    Args:
        folder: The folder of an imported run.
    """
    outputs, findings = audited_run(folder)
    known = next((output.facts for output in outputs if output.facts), None)
    title: list[Block] = [Heading("Audit", "imported-audit", 3)]
    if known is not None:
        stated = ", ".join(f"{name} {words}" for name, words in facts_by_name(known).items())
        title.append(Paragraph(f"Stated of the machines: {stated}."))
    cells = recomputed_words(recomputed_cells(outputs))
    recomputed = f"{cells[:1].upper()}{cells[1:]}." if cells else ""
    if not findings:
        return [*title, Paragraph(f"The rules of the audit find nothing against these results. {recomputed}".strip())]
    rows = tuple((one.severity, one.place, one.result, one.text, one.rule) for one in findings[:MAX_ROWS])
    columns = tuple(Column(name) for name in ("Severity", "Place", "Result", "Finding", "Rule"))
    more = f"The first {MAX_ROWS} of {len(findings):,}." if len(findings) > MAX_ROWS else ""
    by_facts = "" if known else "`assay audit RUN --facts FILE` judges by memory, links and devices, too."
    about = " ".join(part for part in (by_facts, recomputed, more) if part)
    return [*title, Table("imported-audit-table", columns, rows, about)]


def _files(view: RunView) -> Table:
    rows = [
        (
            one.file,
            str(one.line),
            one.program,
            one.form,
            one.host or "not stated",
            one.date or "not stated",
            Mono(one.sha256),
        )
        for one in view.run.imports
    ]
    return Table("imported-files", tuple(Column(name) for name in _FILE_COLUMNS), tuple(rows))


def _left_out(run: ImportedRun) -> list[Block]:
    rows = tuple(
        (place_words(output, result), result.name, result.left_out, _short(result))
        for output in run.outputs
        for result in output.results
        if result.left_out
    )
    if not rows:
        return []
    columns = (Column("Place"), Column("Result"), Column("Why"), Column("Figures as printed"))
    return [Heading("Left out", "imported-left-out", 4), Table("imported-left-out-table", columns, rows[:MAX_ROWS])]


def _figures(run: ImportedRun) -> list[Block]:
    rows: list[tuple[Cell, ...]] = [
        (
            result.case,
            str(result.repeat),
            place_words(output, result),
            result.name,
            options_words(result),
            _short(result),
        )
        for output in run.outputs
        for result in output.results
        if result.case
    ]
    columns = tuple(Column(name) for name in ("Case", "Repeat", "Place", "Result", "Options", "Figures as printed"))
    more = f" The first {MAX_ROWS} of {numbers.plural(len(rows), 'result')}." if len(rows) > MAX_ROWS else ""
    table = Table("imported-figures", columns, tuple(rows[:MAX_ROWS]), f"`assay show RUN CASE` has every figure.{more}")
    return [Fold("Results as printed", (table,), "imported-printed")]


def _short(result: ImportedResult) -> str:
    """Return the main figures of a result that are not zero: `read.bw=475333 KiB/s, read.iops=118833.333333`."""
    wanted = [figure for figure in result.figures if figure.name.count(".") == 1 and _is_main(figure)]
    wanted = wanted or [figure for figure in result.figures if "." not in figure.name][:MAX_SHORT]
    wanted = wanted or list(result.figures[:MAX_SHORT])
    return ", ".join(f"{figure.name}={figure.text} {figure.unit}".strip() for figure in wanted)


def _is_main(figure: Figure) -> bool:
    return figure.name.split(".")[1] in _FIGURES and bool(figure.text.strip("0."))
