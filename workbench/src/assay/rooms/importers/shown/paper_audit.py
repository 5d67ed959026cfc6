"""The part `audit` of papers: what speaks against the figures of imported runs, by kind."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.model.base import AssayError
from assay.report import numbers
from assay.report.document import Block, Column, Heading, Paragraph, Table
from assay.report.paper_part import PaperContext, PartKind, PartOptions
from assay.report.view import RunView
from assay.rooms.importers.audit.findings import SEVERITIES, AuditFinding
from assay.rooms.importers.audit.tables.cells import AuditedTable
from assay.rooms.importers.audit.tables.rules import TABLE_RULES, recomputed_cells
from assay.rooms.importers.shown.section import audited_run
from assay.rooms.importers.work.results import ToolOutput

_PLACE = re.compile(r"([^\s()]+\.\w+):([0-9]+)")
"""File and line of another row."""
_MAX_ALIKE, _MAX_FIRST = 16, 2
"""Most findings of one rule that a paper prints, and how many of them if there are more."""
_OF_LISTS = ("different-values", "units-of-cells", "missing-cells", "few-repeats")
"""Rules whose sentences say of what they are."""
_TITLES = {"error": "cannot be true as printed", "warning": "doubtful as printed", "note": "to know before use"}
_MEANINGS = {
    "error": "Figures or statements of which at least one is wrong: the source should be asked before any is quoted.",
    "warning": "Figures and statements that may be of other things, edited, or true of less than they say.",
    "note": "What a reader should know of figures that may well be right.",
}
"""Severity -> what a finding means for a reader."""
_TABLE_RULES = frozenset(rule.id for rule in TABLE_RULES)


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
    count = recomputed_cells(outputs).cells
    cells = (
        f" {numbers.plural(count, 'figure')} of tables {'was' if count == 1 else 'were'} computed again."
        if count
        else ""
    )
    if not found:
        yield Paragraph(f"The checks found nothing against these figures.{cells}")
        return
    counts = [(severity, sum(one.severity == severity for one in found)) for severity in severities]
    words = numbers.listing([numbers.plural(count, severity) for severity, count in counts if count])
    yield Paragraph(
        f"The checks found {words}.{cells} A finding shows that figures or statements of the original do not agree "
        "with each other, or with what is known of its machines. It does not show which of them is wrong, nor why."
    )
    originals = _Originals(outputs)
    for severity in severities:
        members = [one for one in found if one.severity == severity]
        if members:
            yield Heading(f"{severity.capitalize()}s: {_TITLES[severity]}", "")
            yield _table(severity, members, originals)


class _Originals:
    """Where in the original the rows of imported tables stand."""

    def __init__(self, outputs: Sequence[ToolOutput]) -> None:
        self._tables = {one.table.file: AuditedTable(one.table) for one in outputs if one.table is not None}

    def source(self, found: AuditFinding) -> str:
        """Return the place in the original; empty if it is not stated."""
        if found.rule == "different-values":
            return ""
        if found.source or (known := self._row(found.file, found.line)) is None:
            return found.source
        table, row = known
        return table.place_of(row)

    def of(self, file: str, line: int) -> str:
        """Return of what a row is: `d2.2xlarge, read`; empty if it has no texts."""
        known = self._row(file, line)
        return "" if known is None else known[0].shortly_described(known[1])

    def _row(self, file: str, line: int) -> tuple[AuditedTable, int] | None:
        table = self._tables.get(file)
        return (table, table.lines.index(line)) if table is not None and line in table.lines else None

    def _without_places(self, sentence: str) -> str:
        named = _PLACE.sub(lambda match: self.of(match[1], int(match[2])) or Path(match[1]).name, sentence)
        return named.replace("`", "")

    def words(self, found: AuditFinding) -> str:
        """Return what is found, in words that need no file: places of other rows become what they are of."""
        if found.plain:
            return found.plain
        text = self._without_places(found.text)
        if found.rule in _OF_LISTS or found.rule not in _TABLE_RULES:
            return text
        return f"{found.result.replace('_', ' ')}: {text}" if found.result else text


def _table(severity: str, found: Sequence[AuditFinding], originals: _Originals) -> Table:
    """Return the findings of a severity: what is found of one place of the original in one row."""
    groups: dict[tuple[str, str], list[AuditFinding]] = {}
    counts = Counter(one.rule for one in found)
    seen: Counter[str] = Counter()
    for one in found:
        seen[one.rule] += 1
        if counts[one.rule] > _MAX_ALIKE and seen[one.rule] > _MAX_FIRST:
            continue
        of = "" if one.plain or one.rule in _OF_LISTS else originals.of(one.file, one.line)
        groups.setdefault((originals.source(one), of or f"\0{len(groups)}"), []).append(one)
    rows = []
    for (source, of), members in groups.items():
        parts = [_with_rest(originals.words(one), one.rule, counts) for one in members]
        files = numbers.listing(list(dict.fromkeys(f"{Path(one.file).name}:{one.line}" for one in members)))
        rows.append((source, "" if of.startswith("\0") else of, f"{'; '.join(dict.fromkeys(parts))}.", files))
    columns = tuple(
        Column(title) for title in ("In the original", "Of", "What is stated, and what follows", "Imported row")
    )
    return Table(f"audit-{severity}", columns, tuple(rows), _MEANINGS[severity]).without_empty_columns()


def _with_rest(text: str, rule: str, counts: Counter[str]) -> str:
    """Return a finding; of a rule with many of the same kind, how many more there are."""
    rest = counts[rule] - _MAX_FIRST if counts[rule] > _MAX_ALIKE else 0
    return f"{text} (one of {counts[rule]} such findings; {rest} are left out here)" if rest else text


AUDIT = PartKind(audit_blocks, "What speaks against the printed figures", AuditOptions, short_option="run")
