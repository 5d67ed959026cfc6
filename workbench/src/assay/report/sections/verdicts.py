"""The verdicts: how many results have each, what it means and what to do; folded, each reason for a verdict."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from assay.analyse.machine import machine_notes
from assay.model.result.counts import count_verdicts
from assay.model.result.result import Row
from assay.model.result.verdict import MEANINGS, PARTLY, RANK, Finding, Verdict
from assay.model.told import NOT_TOLD
from assay.report import numbers, reasons
from assay.report.document import Badge, Block, Cell, Column, Fold, Note, Num, Paragraph, Section, Table
from assay.report.measure import measure_of
from assay.report.view import View, false, sound

_MORE = "Repeat more often, and find out what else the machine does."
"""The remedy for unstable results in general, since each finding names its own number of repeats."""
_MOST = 40
"""Most reasons in the table."""
_MOST_NAMED = 6
_ALIKE = ("file_size", "record_size", "object_size", "files", "lanes", "queue_depth", "hosts")
"""Parameters that two cases with the same operation and target must share to differ in the cache alone."""


def section(view: View) -> Section:
    """Return the section: notes on the machine, and a row for each verdict that occurs."""
    blocks: list[Block] = [Note(text) for text in machine_notes(view.analysis.machine)]
    return Section("verdicts", "Verdicts", (*blocks, _counts(view), *_excluded(view)))


def folds(view: View) -> Iterator[Fold]:
    """Yield each reason for a verdict other than ok, and the checks that could not run."""
    bad = [row for row in view.analysis.rows if row.verdict is not Verdict.OK]
    if bad:
        yield Fold("Why results are not ok", (_list(bad, view),), "verdicts-list")
    found = reasons.grouped(view.analysis.rows)
    if found:
        yield Fold("Checks that could not run", (_lacking(view, found),), "verdicts-skipped")


def _lacking(view: View, found: list[reasons.Lack]) -> Table:
    """Return a table of the rules that were not evaluated, with a row per reason."""
    columns = (Column("Rules"), Column("Why"), Column("Results", f"of {len(view.analysis.rows):,}", numeric=True))
    rows = tuple(
        (
            ", ".join(name.replace("_", " ") for name in lack.rules),
            ("" if lack.applies else "does not apply: ")
            + lack.reason
            + (f" (and {lack.more:,} with other figures)" if lack.more else ""),
            Num(numbers.count(lack.results), float(lack.results)),
        )
        for lack in found
    )
    return Table("skipped-table", columns, rows, "A rule that does not apply takes nothing from a result.")


def _counts(view: View) -> Table:
    every = view.analysis.rows
    counts = Counter((row.verdict, row.as_far_as_seen, row.case.target) for row in every)
    kinds = [(verdict, partly) for verdict in Verdict for partly in (True, False)]
    occurring = [kind for kind in kinds if any(counts[*kind, target] for target in view.targets)]
    remedies = _remedies(every)
    columns = (
        Column("Verdict"),
        *(Column(target, "results", numeric=True) for target in view.targets),
        Column("What it means"),
        *((Column("What to do"),) if remedies else ()),
    )
    rows: list[tuple[Cell, ...]] = []
    for verdict, partly in reversed(occurring):
        cells = (Num(numbers.count(n), float(n)) for n in (counts[verdict, partly, target] for target in view.targets))
        remedy = (remedies.get(verdict, numbers.NONE),) if remedies else ()
        rows.append(
            (Badge(verdict, partly=partly), *cells, (PARTLY if partly else MEANINGS[verdict]).sentence, *remedy)
        )
    also = count_verdicts(row.verdicts for row in every).also_words
    caption = f"A result counts once, under its gravest verdict. {also}." if also else ""
    return Table("verdict-counts", columns, tuple(rows), caption)


def _remedies(rows: tuple[Row, ...]) -> dict[Verdict, str]:
    """Return the most frequent remedy of each verdict."""
    counts: dict[Verdict, Counter[str]] = {}
    for row in rows:
        for finding in row.findings:
            counts.setdefault(finding.verdict, Counter())[finding.remedy] += 1
    common = {verdict: found.most_common(1)[0][0] for verdict, found in counts.items()}
    return common | ({Verdict.UNSTABLE: _MORE} if Verdict.UNSTABLE in common else {})


def _excluded(view: View) -> list[Block]:
    """Return the greatest ratio of a cached rate to that of the same work without the cache, if the run has both."""
    found = [
        (row, uncached) for row in view.analysis.rows if false(row) and (uncached := _uncached(row, view)) is not None
    ]
    factors = [
        (row.rate.median / uncached.rate.median, row, uncached) for row, uncached in found if row.rate and uncached.rate
    ]
    if not factors:
        return []
    factor, row, uncached = max(factors, key=lambda item: item[0])
    measure = measure_of(row.operation)
    words = f"{numbers.operation_title(row.operation)} on {row.case.target}, workload {row.case.workload}: "
    words += f"{measure.text(row.rate.median if row.rate else 0.0)}, {numbers.ratio(factor)} the "
    words += f"{measure.text(uncached.rate.median if uncached.rate else 0.0)} of the same work without the cache."
    return [Paragraph(f"Excluded results (served from cache): {words}")]


def _uncached(row: Row, view: View) -> Row | None:
    """Return the sound result of the same work on the same target without the cache; None if there is none."""

    def alike(other: Row) -> bool:
        same = (other.operation, other.case.target) == (row.operation, row.case.target)
        mine, its = row.case.parameters, other.case.parameters
        return same and all(mine.known(name) == its.known(name) for name in _ALIKE)

    rows = (other for other in view.analysis.rows if sound(other) and alike(other))
    return next((one for one in rows if one.case.parameters.known("cache", NOT_TOLD) not in ("keep", NOT_TOLD)), None)


class _Complaint(NamedTuple):
    """Findings that differ only in their figures.

    Attributes:
        example: The finding of the first result, and that result in words.
        rows: The results, by identity.
        wordings: The different texts of the findings.
    """

    example: tuple[Finding, str]
    rows: dict[int, Row]
    wordings: set[str]


def _complaints(bad: list[Row], view: View) -> list[_Complaint]:
    """Return one item for each reason, the gravest verdict first, then the most frequent reason."""
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
    """Return a table with a row per reason, its number of results, and where they are."""
    every = _complaints(bad, view)
    rows: list[tuple[Cell, ...]] = []
    for complaint in every[:_MOST]:
        finding, where = complaint.example
        count = len(complaint.rows)
        others = len(complaint.wordings) - 1
        evidence = f"{finding.text} ({where}{f'; {others:,} more with other figures' if others else ''})"
        cells = (
            Badge(finding.verdict),
            Num(numbers.count(count), float(count)),
            _targets_and_operations(complaint, view),
            evidence,
            finding.remedy,
        )
        rows.append(cells)
    columns = (
        Column("Verdict"),
        Column("Results", f"of {len(view.analysis.rows):,}", numeric=True),
        Column("Where"),
        Column("What was seen"),
        Column("Remedy"),
    )
    caption = "Results with the same reason are one line; `assay show RUN CASE` has all of one case."
    if len(every) > _MOST:
        caption += f" The first {_MOST} of {len(every):,} reasons."
    return Table("verdict-list", columns, tuple(rows), caption)


def _targets_and_operations(complaint: _Complaint, view: View) -> str:
    """Return the number of results per target, and the operations."""
    counts = Counter(row.case.target for row in complaint.rows.values())
    targets = [f"{name} {counts[name]:,}" for name in view.targets if counts[name]]
    operations = list(dict.fromkeys(numbers.operation_title(row.operation).lower() for row in complaint.rows.values()))
    named = numbers.listing(operations) if len(operations) <= _MOST_NAMED else f"{len(operations)} operations"
    return f"{', '.join(targets)}: {named}"
