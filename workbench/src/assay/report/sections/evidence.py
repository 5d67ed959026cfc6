"""The evidence: each kind of work in tables and charts, further caveats, and how to read them."""

from collections import Counter
from pathlib import Path

from assay.analyse.scaling import scalings
from assay.model.result.result import ResultRow
from assay.model.result.summary_page import MAX_CAVEATS
from assay.model.result.verdict import Verdict
from assay.model.room import hook
from assay.report import numbers
from assay.report.claims import find_claims, kind_of_work
from assay.report.document import (
    Block,
    Bullets,
    Cell,
    Column,
    Heading,
    Num,
    Paragraph,
    Section,
    Share,
    Table,
)
from assay.report.measure import measure_of
from assay.report.sections import comparison, greatest, means, results
from assay.report.summary.caveats import caveats
from assay.report.summary.lines import is_usable
from assay.report.view import RunView

_MAX_ROWS = 24
"""Most rows of the table of results that are not compared."""


_READ = (
    "Faster: the difference is significant among all comparisons of this run together. At least: the lower end of a "
    "simultaneous 95 % confidence interval. Undecided: the data does not show yet whether one is faster or both are "
    "equal. Excluded: a side is cached, impossible or incomplete. Where the client, the network or a limit bound the "
    "rate, it is a lower bound."
)


def section(view: RunView) -> Section:
    """Return the section, from which the short answer follows."""
    found = find_claims(view.analysis.decisions)
    growth = scalings(view.analysis.rows)
    blocks: list[Block] = comparison.evidence_blocks(view)
    if not results.are_in_evidence(view):
        blocks += uncompared_blocks(view, {name for claim in found for name in (claim.base, claim.other)})
    blocks += results.evidence_blocks(view)
    if (best := greatest.table(view)) is not None:
        blocks += [Heading("Greatest rates", "evidence-greatest"), best]
    blocks += means.blocks(view)
    if view.run.imports:
        blocks += hook("audit_blocks")(Path(view.run.folder))
    more = caveats(view, found, growth)[MAX_CAVEATS:]
    if more:
        blocks += [Heading("More caveats", "evidence-caveats"), Bullets(tuple(one.words for one in more))]
    if any(claim.counted_points for claim in found):
        blocks += [Heading("How to read this", "evidence-read"), Paragraph(_READ)]
    return Section("evidence", "Evidence", tuple(blocks))


def uncompared_blocks(view: RunView, compared: set[str]) -> list[Block]:
    """Return a table of the rates per kind of work, for targets that are compared with no other.

    Args:
        view: The run.
        compared: Targets that are compared, which are left out.
    """
    groups: dict[tuple[str, str], list[ResultRow]] = {}
    mine = [row for row in view.analysis.rows if row.case.target not in compared]
    for row in mine:
        if is_usable(row):
            kind = kind_of_work(row.operation, row.case.workload)
            groups.setdefault((numbers.capitalized(kind), row.case.target), []).append(row)
    if mine and not groups:
        return [Paragraph("No result is usable: see Verdicts.")]
    if not groups:
        return []
    columns = (
        Column("Kind of work"),
        Column("Target"),
        Column("Points", is_numeric=True),
        Column("Slowest"),
        Column("Fastest"),
        Column("Nearest limit"),
        Column("% of limit", "median", is_numeric=True),
    )
    rows = tuple(_line(kind, target, rows, view) for (kind, target), rows in groups.items())
    unverified = sum(Verdict.UNVERIFIED in row.verdicts for found in groups.values() for row in found)
    caption = "Medians of usable results (ok, unstable or lower bounds)"
    caption += f", {unverified:,} of them unverified." if unverified else "."
    return [Table("alone-table", columns, rows[:_MAX_ROWS], caption)]


def _line(kind: str, target: str, rows: list[ResultRow], view: RunView) -> tuple[Cell, ...]:
    measure = measure_of(rows[0].operation)
    ordered = sorted(rows, key=lambda row: row.rate.median if row.rate else 0.0)
    ends = [
        f"{measure.text(row.rate.median if row.rate else 0.0)}{f' ({point})' if (point := view.point_of(row)) else ''}"
        for row in (ordered[0], ordered[-1])
    ]
    limits = [row.limiting_ceiling for row in rows if row.limiting_ceiling is not None]
    name = Counter(one.name for one in limits).most_common(1)[0][0] if limits else "none known"
    share = numbers.median([one.share for one in limits if one.name == name]) if limits else None
    return (
        kind,
        target,
        Num(f"{len(rows):,}", len(rows)),
        *ends,
        name,
        Share(share),
    )
