"""The part `audit` of papers: what speaks against the figures of imported runs, by kind."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from assay.model.base import AssayError
from assay.report import numbers
from assay.report.document import Block, Column, Heading, Paragraph, Table
from assay.report.paper_part import PaperContext, PartKind, PartOptions
from assay.report.view import RunView
from assay.rooms.importers.audit.findings import SEVERITIES, AuditFinding, Rule
from assay.rooms.importers.audit.rules import RULES
from assay.rooms.importers.audit.shown import recomputed_words
from assay.rooms.importers.audit.tables.rules import TABLE_RULES, TableRule, recomputed_cells
from assay.rooms.importers.shown.section import audited_run

_FOLDERS = re.compile(r"[^\s(]*/(?=[^\s/]+\.\w+:[0-9])")
"""Folders before the name and line of a file."""
_MAX_ROWS = 40
"""Most findings of one rule that a paper prints."""
_TITLES = {"error": "cannot be true as printed", "warning": "hardly true as printed", "note": "to know before use"}
_MEANINGS = {
    "error": "At least one of the figures or statements is wrong: none should be quoted before the source is asked.",
    "warning": "The figures may be of other things, or edited: look at the place before quoting them.",
    "note": "The figures may be right, and carry less than they seem to.",
}
"""Severity -> what a finding means for a reader."""
_KNOWN: tuple[Rule | TableRule, ...] = (*RULES, *TABLE_RULES)
_RULES = {rule.id: (rule.about, rule.basis) for rule in _KNOWN}


class AuditOptions(PartOptions):
    """Options of the part.

    Attributes:
        run: One run of the paper, in place of `runs`.
        severities: Only findings of these.
    """

    run: str = ""
    severities: tuple[str, ...] = SEVERITIES


def audit_blocks(options: AuditOptions, context: PaperContext) -> list[Block]:
    """Return what the audit finds against the imported runs that the part covers, by severity and rule.

    Raises:
        AssayError: A run was measured by Assay, or a severity is unknown.
    """
    if unknown := [one for one in options.severities if one not in SEVERITIES]:
        raise AssayError(f"`{unknown[0]}` is no severity", f"write any of {', '.join(SEVERITIES)}")
    named = (options.run,) if options.run else options.runs
    views = context.named_runs(named)
    imported = {name: view for name, view in views.items() if view.run.imports}
    if other := next((name for name in views if name not in imported), None) if named or not imported else None:
        raise AssayError(f"run `{other}` was measured by Assay, not imported", "name an imported run")
    blocks: list[Block] = []
    for name, view in imported.items():
        blocks += [Heading(name, "")] if len(imported) > 1 else []
        blocks += _of_run(view, options.severities)
    return blocks


def _of_run(view: RunView, severities: Sequence[str]) -> Iterator[Block]:
    outputs, findings = audited_run(Path(view.run.folder))
    found = [one for one in findings if one.severity in severities]
    cells = recomputed_words(recomputed_cells(outputs))
    cells = f" {cells[:1].upper()}{cells[1:]}." if cells else ""
    if not found:
        yield Paragraph(f"The rules of the audit find nothing against these figures.{cells}")
        return
    counts = [(severity, sum(one.severity == severity for one in found)) for severity in severities]
    words = numbers.listing([numbers.plural(count, severity) for severity, count in counts if count])
    yield Paragraph(
        f"The rules of the audit have {words}.{cells} A finding says that figures contradict each other, or what is "
        "known, and not which of them is wrong or why."
    )
    for severity in severities:
        members = sorted((one for one in found if one.severity == severity), key=lambda one: one.rule)
        if members:
            yield Heading(f"{severity.capitalize()}s: {_TITLES[severity]}", "")
            yield Paragraph(_MEANINGS[severity])
        for rule, group in groupby(members, key=lambda one: one.rule):
            yield _table(rule, list(group))


def _table(rule: str, found: Sequence[AuditFinding]) -> Table:
    about, basis = _RULES[rule]
    rows = tuple((f"{Path(one.file).name}:{one.line}", _column(one), _short(one.text)) for one in found[:_MAX_ROWS])
    more = f" The first {_MAX_ROWS} of {len(found):,}." if len(found) > _MAX_ROWS else ""
    columns = (Column("Place"), Column("Result or column"), Column("Printed, and what follows"))
    return Table(f"audit-{rule}", columns, rows, f"{about} Basis: {basis}.{more}").without_empty_columns()


def _column(found: AuditFinding) -> str:
    """Return the result or column; empty for a list of statements, whose findings say what they are of."""
    return "" if found.rule == "different-values" else found.result


def _short(text: str) -> str:
    """Return a sentence with the names of files in place of their paths, and without signs for code."""
    return _FOLDERS.sub("", text).replace("`", "")


AUDIT = PartKind(audit_blocks, "What speaks against the printed figures", AuditOptions, short_option="run")
