"""The verdict table: how many results are sound, and for the others what was seen and what helps."""

from collections import Counter
from typing import NamedTuple

from assay.analyse.machine import machine_notes
from assay.model.result.counts import count_verdicts
from assay.model.result.result import Row
from assay.model.result.verdict import RANK, Finding, Verdict
from assay.report import numbers, reasons
from assay.report.document import Badge, Block, Cell, Column, Heading, Note, Num, Paragraph, Section, Table
from assay.report.view import View

_MEANING = {
    Verdict.IMPOSSIBLE: "above a limit that nothing can exceed: something else was measured",
    Verdict.INCOMPLETE: "operations failed or a repeat is missing",
    Verdict.CACHED: "memory did the work: it answered reads, or still held what was written",
    Verdict.UNSUSTAINED: "the rate asked for was not reached, or the rate never became steady",
    Verdict.THROTTLED: "something before the device held the rate while the device was idle",
    Verdict.BURSTING: "fast at first, then slower: the first speed does not last",
    Verdict.UNSTABLE: "the repeats differ too much",
    Verdict.SKEWED: "the lanes did not work together, or the clock was set meanwhile",
    Verdict.CONTENDED: "somebody else used the device meanwhile: the rate is that of a shared one",
    Verdict.CLIENT_BOUND: "the machine that measured was the limit: the engine, or too little CPU for it",
    Verdict.NETWORK_BOUND: "the network was the limit",
    Verdict.UNVERIFIED: "what answered cannot be seen from here: the storage, or a cache before it",
    Verdict.OK: "nothing speaks against it",
}
_PARTLY = "nothing speaks against it, but not all checks could run: see below"
_MOST = 40
"""Reasons in the table."""
_MOST_NAMED = 6


def section(view: View) -> Section:
    """Counts per verdict and target, then what speaks against each result that is not ok, then what was not judged."""
    bad = [row for row in view.analysis.rows if row.verdict is not Verdict.OK]
    blocks: list[Block] = [*_machine(view), _counts(view)]
    if not bad:
        far = "; for some, not all checks could run" if any(row.as_far_as_seen for row in view.analysis.rows) else ""
        blocks.append(Note(f"Every result has the verdict ok{far}."))
    else:
        blocks += [Heading("Results that are not ok", "verdicts-list"), _list(bad, view)]
    return Section("verdicts", "Verdicts", (*blocks, *_lacking(view)))


def _machine(view: View) -> list[Block]:
    """The verdict on the machine, once for all results."""
    return [Note(text) for text in machine_notes(view.analysis.machine)]


def _lacking(view: View) -> list[Block]:
    """The rules that were not evaluated, once per reason."""
    found = reasons.grouped(view.analysis.rows)
    if not found:
        return []
    words = "A result is ok if it passed every check that could run; ok * if a check that might apply could not run. "
    words += "Checks that do not apply to a result take nothing from it:"
    columns = (Column("Rules"), Column("Why"), Column("Results", f"of {len(view.analysis.rows):,}", numeric=True))
    rows = tuple(
        (
            ", ".join(name.replace("_", " ") for name in lack.rules),
            ("" if lack.applies else "nothing to say: ")
            + lack.reason
            + (f" (and {lack.more:,} with other figures)" if lack.more else ""),
            Num(numbers.count(lack.results), float(lack.results)),
        )
        for lack in found
    )
    heading = Heading("Rules that were not evaluated", "verdicts-skipped")
    return [heading, Paragraph(words), Table("skipped-table", columns, rows)]


def _counts(view: View) -> Table:
    every = view.analysis.rows
    counts = Counter((row.verdict, row.as_far_as_seen, row.case.target) for row in every)
    kinds = [(verdict, partly) for verdict in Verdict for partly in (True, False)]
    seen = [kind for kind in kinds if any(counts[*kind, target] for target in view.targets)]
    columns = (Column("Verdict"), Column("What it means"), *(Column(target, numeric=True) for target in view.targets))
    rows: list[tuple[Cell, ...]] = []
    for verdict, partly in reversed(seen):
        cells = (Num(numbers.count(n), float(n)) for n in (counts[verdict, partly, target] for target in view.targets))
        rows.append((Badge(verdict, partly=partly), _PARTLY if partly else _MEANING[verdict], *cells))
    caption = "Number of results per verdict and target; a result counts once, under its gravest verdict."
    if also := count_verdicts(row.verdicts for row in every).also_words:
        caption += f" {also}."
    return Table("verdict-counts", columns, tuple(rows), caption)


class _Complaint(NamedTuple):
    """Findings that differ in their figures only.

    Attributes:
        example: Of the first result, in words, where it is, and what helps.
        rows: The results.
        wordings: All texts.
    """

    example: tuple[Finding, str]
    rows: dict[int, Row]
    wordings: set[str]


def _complaints(bad: list[Row], view: View) -> list[_Complaint]:
    """One for each reason, the gravest verdict first, then the commonest."""
    found: dict[tuple[Verdict, str, str], _Complaint] = {}
    for row in bad:
        for finding in row.findings:
            key = (finding.verdict, reasons.without_figures(finding.text), reasons.without_figures(finding.remedy))
            where = " ".join(filter(None, (row.case.target, row.case.workload, view.point_of(row))))
            complaint = found.setdefault(key, _Complaint((finding, f"{where}, {row.operation}"), {}, set()))
            complaint.rows[id(row)] = row
            complaint.wordings.add(finding.text)
    return sorted(found.values(), key=lambda one: (RANK[one.example[0].verdict], -len(one.rows)))


def _list(bad: list[Row], view: View) -> Table:
    """Each reason once, with how many results it holds for, and where."""
    every = _complaints(bad, view)
    rows: list[tuple[Cell, ...]] = []
    for complaint in every[:_MOST]:
        finding, where = complaint.example
        count = len(complaint.rows)
        others = len(complaint.wordings) - 1
        seen = f"{finding.text} ({where}{f'; {others:,} more with other figures' if others else ''})"
        cells = (
            Badge(finding.verdict),
            Num(numbers.count(count), float(count)),
            _whose(complaint, view),
            seen,
            finding.remedy,
        )
        rows.append(cells)
    columns = (
        Column("Verdict"),
        Column("Results", f"of {len(view.analysis.rows):,}", numeric=True),
        Column("Of which"),
        Column("What was seen"),
        Column("Remedy"),
    )
    caption = "Results with the same reason are one line; `assay show RUN CASE` tells all of one case."
    if len(every) > _MOST:
        caption += f" The first {_MOST} of {len(every):,} reasons."
    return Table("verdict-list", columns, tuple(rows), caption)


def _whose(complaint: _Complaint, view: View) -> str:
    """How many results of which target, and of which operations."""
    counts = Counter(row.case.target for row in complaint.rows.values())
    targets = [f"{name} {counts[name]:,}" for name in view.targets if counts[name]]
    operations = list(dict.fromkeys(numbers.operation_title(row.operation).lower() for row in complaint.rows.values()))
    named = numbers.listing(operations) if len(operations) <= _MOST_NAMED else f"{len(operations)} operations"
    return f"{', '.join(targets)}: {named}"
