"""The verdict table: how many results are sound, and for the others what was seen and what helps."""

from collections import Counter

from assay.model.result import Row
from assay.model.verdict import Verdict
from assay.report import numbers
from assay.report.document import Badge, Block, Cell, Column, Heading, Note, Num, Section, Table
from assay.report.view import View

_MEANING = {
    Verdict.IMPOSSIBLE: "above what the hardware can do: the measurement is wrong",
    Verdict.INCOMPLETE: "operations failed or a repeat is missing",
    Verdict.CACHED: "memory answered in place of the storage",
    Verdict.UNSUSTAINED: "the rate asked for was not reached",
    Verdict.THROTTLED: "something held the storage back during the run",
    Verdict.BURSTING: "speed on credit: it would not last",
    Verdict.UNSTABLE: "the repeats differ too much",
    Verdict.SKEWED: "the lanes did not work at the same time",
    Verdict.CLIENT_BOUND: "the machine that measured was the limit",
    Verdict.NETWORK_BOUND: "the network was the limit",
    Verdict.OK: "nothing speaks against it",
}
_MOST = 200


def section(view: View) -> Section:
    """Counts per verdict and target, then every result that is not ok."""
    bad = [row for row in view.analysis.rows if row.verdict is not Verdict.OK]
    blocks: list[Block] = [_counts(view)]
    if not bad:
        blocks.append(Note("Every result has the verdict ok."))
    else:
        blocks += [Heading("Results that are not ok", "verdicts-list"), _list(bad, view)]
    skipped = Counter(reason for row in view.analysis.rows for reason in row.not_evaluated)
    if skipped:
        columns = (Column("Rule and reason"), Column("Results", numeric=True))
        rows = tuple((reason, Num(numbers.count(n), float(n))) for reason, n in skipped.most_common(40))
        blocks += [Heading("Rules that lacked evidence", "verdicts-skipped"), Table("skipped-table", columns, rows)]
    return Section("verdicts", "Verdicts", tuple(blocks))


def _counts(view: View) -> Table:
    counts = Counter((row.verdict, row.case.target) for row in view.analysis.rows)
    seen = [verdict for verdict in Verdict if any(counts[verdict, target] for target in view.targets)]
    columns = (Column("Verdict"), Column("What it means"), *(Column(target, numeric=True) for target in view.targets))
    rows: list[tuple[Cell, ...]] = []
    for verdict in reversed(seen):
        cells = (Num(numbers.count(n), float(n)) for n in (counts[verdict, target] for target in view.targets))
        rows.append((Badge(verdict), _MEANING[verdict], *cells))
    return Table("verdict-counts", columns, tuple(rows), "Number of results per verdict and target.")


def _list(bad: list[Row], view: View) -> Table:
    columns = (
        Column("Verdict", facet=True),
        Column("Target", facet=True),
        Column("Operation", facet=True),
        Column("At"),
        Column("What was seen"),
        Column("Remedy"),
    )
    rows: list[tuple[Cell, ...]] = []
    for row in bad[:_MOST]:
        where = f"{row.case.workload}: {view.point_of(row)}".rstrip(": ")
        text = " ".join(finding.text for finding in row.findings) or numbers.NONE
        remedy = " ".join(dict.fromkeys(finding.remedy for finding in row.findings)) or numbers.NONE
        rows.append((Badge(row.verdict), row.case.target, numbers.operation_title(row.operation), where, text, remedy))
    caption = (
        f"The first {_MOST} of {len(bad):,}; the others are in the table of all results." if len(bad) > _MOST else ""
    )
    return Table("verdict-list", columns, tuple(rows), caption, interactive=len(rows) > 12)
