"""The verdicts: how many results have each, what it means and what to do; folded, each reason for a verdict."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from assay.analyse.machine import machine_notes
from assay.model.partial import MISSING_TEXT
from assay.model.result.result import ResultRow
from assay.model.result.verdict import MEANINGS, PARTLY_CHECKED_MEANING, RANK, Finding, Verdict
from assay.model.result.verdict_counts import count_verdicts
from assay.report import numbers, unevaluated
from assay.report.document import Badge, Block, Cell, Column, Fold, Note, Num, Paragraph, Section, Table
from assay.report.measure import measure_of
from assay.report.view import RunView, is_false, is_sound

_MORE = "Repeat more often, and find out what else the machine does."
"""The remedy for unstable results in general, since each finding names its own number of repeats."""
_MAX_ROWS = 40
"""Most reasons in the table."""
_MAX_NAMED = 6
_ALIKE = ("file_size", "record_size", "object_size", "files", "lanes", "queue_depth", "hosts")
"""Parameters that two cases with the same operation and target must share to differ in the cache alone."""


def section(view: RunView) -> Section:
    """Return the section: notes on the machine, and a row for each verdict that occurs."""
    blocks: list[Block] = [Note(text) for text in machine_notes(view.analysis.machine)]
    return Section("verdicts", "Verdicts", (*blocks, _counts(view), *_excluded(view)))


def folds(view: RunView) -> Iterator[Fold]:
    """Yield each reason for a verdict other than ok, and the checks that could not run."""
    bad = [row for row in view.analysis.rows if row.verdict is not Verdict.OK]
    if bad:
        yield Fold("Why results are not ok", (_list(bad, view),), "verdicts-list")
    found = unevaluated.group_by_reason(view.analysis.rows)
    if found:
        yield Fold("Checks that could not run", (_lacking(view, found),), "verdicts-skipped")


def _lacking(view: RunView, found: list[unevaluated.UnevaluatedGroup]) -> Table:
    """Return a table of the rules that were not evaluated, with a row per reason."""
    columns = (Column("Rules"), Column("Why"), Column("Results", f"of {len(view.analysis.rows):,}", is_numeric=True))
    rows = tuple(
        (
            ", ".join(name.replace("_", " ") for name in lack.rules),
            ("" if lack.applies else "does not apply: ")
            + lack.reason
            + (f" (and {lack.other_wordings_count:,} with other numbers)" if lack.other_wordings_count else ""),
            Num(numbers.count(lack.result_count), float(lack.result_count)),
        )
        for lack in found
    )
    return Table("skipped-table", columns, rows, "A rule that does not apply does not weaken a result.")


def _counts(view: RunView) -> Table:
    every = view.analysis.rows
    counts = Counter((row.verdict, row.is_partly_checked, row.case.target) for row in every)
    kinds = [(verdict, partly) for verdict in Verdict for partly in (True, False)]
    occurring = [kind for kind in kinds if any(counts[*kind, target] for target in view.targets)]
    remedies = _remedies(every)
    columns = (
        Column("Verdict"),
        *(Column(target, "results", is_numeric=True) for target in view.targets),
        Column("What it means"),
        *((Column("What to do"),) if remedies else ()),
    )
    rows: list[tuple[Cell, ...]] = []
    for verdict, partly in reversed(occurring):
        cells = (Num(numbers.count(n), float(n)) for n in (counts[verdict, partly, target] for target in view.targets))
        remedy = (remedies.get(verdict, numbers.NONE),) if remedies else ()
        rows.append(
            (
                Badge(verdict, is_partial=partly),
                *cells,
                (PARTLY_CHECKED_MEANING if partly else MEANINGS[verdict]).sentence,
                *remedy,
            )
        )
    also = count_verdicts(row.verdicts for row in every).also_words
    caption = f"A result counts once, under its most serious verdict. {also}." if also else ""
    return Table("verdict-counts", columns, tuple(rows), caption)


def _remedies(rows: tuple[ResultRow, ...]) -> dict[Verdict, str]:
    """Return the most frequent remedy of each verdict."""
    counts: dict[Verdict, Counter[str]] = {}
    for row in rows:
        for finding in row.findings:
            counts.setdefault(finding.verdict, Counter())[finding.remedy] += 1
    common = {verdict: found.most_common(1)[0][0] for verdict, found in counts.items()}
    return common | ({Verdict.UNSTABLE: _MORE} if Verdict.UNSTABLE in common else {})


def _excluded(view: RunView) -> list[Block]:
    """Return the greatest ratio of a cached rate to that of the same work without the cache, if the run has both."""
    found = [
        (row, uncached)
        for row in view.analysis.rows
        if is_false(row) and (uncached := _uncached(row, view)) is not None
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


def _uncached(row: ResultRow, view: RunView) -> ResultRow | None:
    """Return the sound result of the same work on the same target without the cache; None if there is none."""

    def alike(other: ResultRow) -> bool:
        same = (other.operation, other.case.target) == (row.operation, row.case.target)
        mine, its = row.case.parameters, other.case.parameters
        return same and all(mine.get_value(name) == its.get_value(name) for name in _ALIKE)

    rows = (other for other in view.analysis.rows if is_sound(other) and alike(other))
    return next(
        (one for one in rows if one.case.parameters.get_value("cache", MISSING_TEXT) not in ("keep", MISSING_TEXT)),
        None,
    )


class _Complaint(NamedTuple):
    """Findings that differ only in their figures.

    Attributes:
        example: The finding of the first result, and that result in words.
        rows: The results, by identity.
        wordings: The different texts of the findings.
    """

    example: tuple[Finding, str]
    rows: dict[int, ResultRow]
    wordings: set[str]


def _complaints(bad: list[ResultRow], view: RunView) -> list[_Complaint]:
    """Return one item for each reason, the gravest verdict first, then the most frequent reason."""
    found: dict[tuple[Verdict, str, str], _Complaint] = {}
    for row in bad:
        for finding in row.findings:
            key = (
                finding.verdict,
                unevaluated.without_numbers(finding.text),
                unevaluated.without_numbers(finding.remedy),
            )
            where = " ".join(filter(None, (row.case.target, row.case.workload, view.point_of(row))))
            complaint = found.setdefault(key, _Complaint((finding, f"{where}, {row.operation}"), {}, set()))
            complaint.rows[id(row)] = row
            complaint.wordings.add(finding.text)
    return sorted(found.values(), key=lambda one: (RANK[one.example[0].verdict], -len(one.rows)))


def _list(bad: list[ResultRow], view: RunView) -> Table:
    """Return a table with a row per reason, its number of results, and where they are."""
    every = _complaints(bad, view)
    rows: list[tuple[Cell, ...]] = []
    for complaint in every[:_MAX_ROWS]:
        finding, where = complaint.example
        count = len(complaint.rows)
        others = len(complaint.wordings) - 1
        evidence = f"{finding.text} ({where}{f'; {others:,} more with other numbers' if others else ''})"
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
        Column("Results", f"of {len(view.analysis.rows):,}", is_numeric=True),
        Column("Where"),
        Column("Observation"),
        Column("Remedy"),
    )
    caption = "Results with the same reason are one line; `assay show RUN CASE` has all of one case."
    if len(every) > _MAX_ROWS:
        caption += f" The first {_MAX_ROWS} of {len(every):,} reasons."
    return Table("verdict-list", columns, tuple(rows), caption)


def _targets_and_operations(complaint: _Complaint, view: RunView) -> str:
    """Return the number of results per target, and the operations."""
    counts = Counter(row.case.target for row in complaint.rows.values())
    targets = [f"{name} {counts[name]:,}" for name in view.targets if counts[name]]
    operations = list(dict.fromkeys(numbers.operation_title(row.operation).lower() for row in complaint.rows.values()))
    named = numbers.listing(operations) if len(operations) <= _MAX_NAMED else f"{len(operations)} operations"
    return f"{', '.join(targets)}: {named}"
