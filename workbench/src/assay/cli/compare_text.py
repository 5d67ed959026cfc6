"""A comparison of runs for people: the notable rows, their summary, and differences of the environment."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby

from assay.analyse.runs import UnjudgedRow
from assay.model.result.comparison import ComparedRow, RunLabel, RunsComparison
from assay.model.result.environment import EnvironmentDifference
from assay.report import latencies
from assay.report.comparison_page import (
    caveat_lines,
    difference_counts,
    difference_tables,
    mean_change_lines,
    remarks,
    sides_heading,
    uncompared_table,
)
from assay.report.document import Block, Bullets, Facts, Heading, Note, Paragraph
from assay.report.environments import differences_table
from assay.terminal.output import note, print_blocks

FIRST_ROWS = 40
FIRST_DIFFERENCES = 12
FIRST_LATENCIES = 8
FIRST_UNJUDGED = 3
"""If more rows than this were not judged for the same reason, only the first is named."""


def print_comparison(found: RunsComparison, everything: bool) -> None:
    """Print a table for each pair of targets, what could not be compared, and what differs in the environment.

    Args:
        found: The comparison.
        everything: Print all rows; otherwise `FIRST_ROWS` at most, preferring those with a difference or a caveat.
    """
    one = found.before.id == found.after.id
    shown = list(found.rows) if everything else _first(found.rows)
    blocks: list[Block] = [_runs(found), *_machines(found)]
    for (base, other), rows in groupby(shown, key=lambda row: (row.comparison.base, row.comparison.other)):
        every = [row for row in found.rows if (row.comparison.base, row.comparison.other) == (base, other)]
        blocks += [Heading(sides_heading(base, other), "rows"), *difference_tables(list(rows), "rows")]
        blocks += map(Paragraph, mean_change_lines(every))
    if len(shown) < len(found.rows):
        blocks.append(Paragraph(f"{len(found.rows) - len(shown)} more rows without a significant difference: --all"))
    blocks += [Paragraph(line) for line in (difference_counts(found), *caveat_lines(found))]
    blocks += _latencies(found, everything)
    blocks += [Heading("Not compared", "uncompared"), uncompared_table(found)] if found.uncompared else []
    if found.before.imported or found.after.imported:
        blocks.append(Paragraph("of an imported run the environment is not known"))
    elif not one:
        blocks += differences_blocks(found.differences)
    print_blocks(*blocks)


def _runs(found: RunsComparison) -> Facts:
    if found.before.id == found.after.id:
        return Facts((("run", run_words(found.before)),))
    sides = zip(("before", "after"), (found.before, found.after), found.runs, strict=True)
    return Facts(
        tuple((name, run_words(run) + (f", the last of {count}" if count > 1 else "")) for name, run, count in sides)
    )


def _machines(found: RunsComparison) -> list[Note]:
    """Return a note for each run whose results the machine itself affected."""
    runs = (run for run in dict.fromkeys((found.before, found.after)) if run.disturbed)
    return [Note(f"the machine itself affected results of {run.id}: see `assay show {run.id}`") for run in runs]


def run_words(run: RunLabel) -> str:
    """Return a run in words: `20261121-211503-quickstart (complete, 2026-11-21 21:15 UTC)`."""
    moment = f"{datetime.fromtimestamp(run.created_at, UTC):%Y-%m-%d %H:%M} UTC"
    return f"{run.id} ({', '.join(filter(None, (run.status, moment, run.imported)))})"


def _first(rows: Sequence[ComparedRow]) -> list[ComparedRow]:
    """Return at most `FIRST_ROWS` rows in their order, preferring those with a difference or a remark."""
    by_interest = sorted(
        range(len(rows)), key=lambda place: not (rows[place].comparison.separable or remarks(rows[place]))
    )
    return [rows[place] for place in sorted(by_interest[:FIRST_ROWS])]


def _latencies(found: RunsComparison, everything: bool) -> list[Block]:
    """Return which rows differ in p50 and p99, and how many: the table has no room for them."""
    blocks: list[Block] = []
    for line, rows in zip(latencies.latency_lines(found), latencies.latency_rows(found).values(), strict=True):
        different = [row for row in rows if row.pair.separable]
        shown = different if everything else different[:FIRST_LATENCIES]
        more = [f"and {len(different) - len(shown)} more: --all"] if len(shown) < len(different) else []
        blocks += [Paragraph(line), Bullets((*map(latencies.row_words, shown), *more))]
    return blocks


def differences_blocks(differences: Sequence[EnvironmentDifference]) -> list[Block]:
    """Return the first differences of the environment that commonly change results."""
    matter = [difference for difference in differences if difference.matters]
    if not matter:
        return [Paragraph("no differences in the environment that commonly change results")]
    more = f"and {len(matter) - FIRST_DIFFERENCES} more: assay env --diff RUN RUN" * (len(matter) > FIRST_DIFFERENCES)
    title = "Differences in the environment that commonly change results:"
    return [Heading(title, "environment"), differences_table(matter[:FIRST_DIFFERENCES], caption=more)]


def note_unjudged(rows: Iterable[UnjudgedRow]) -> None:
    """Print on standard error which rows were not judged; more than `FIRST_UNJUDGED` with one reason share a line."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        by_reason.setdefault(row.why, []).append(row.row)
    for why, names in by_reason.items():
        if len(names) <= FIRST_UNJUDGED:
            for name in names:
                note(f"not judged: {name}: {why}")
        else:
            note(f"not judged: {len(names):,} rows, the first {names[0]}: {why}")
