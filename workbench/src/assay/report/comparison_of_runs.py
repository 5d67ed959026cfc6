"""Builds the document on any number of runs: their results in the same tables, and what differs between them."""

from collections.abc import Sequence
from itertools import groupby

from assay.analyse.run_variation import MIN_RUNS
from assay.analyse.runs import MORE_RUNS_HINT
from assay.model.result.comparison import JointResult, JointRow, JointRuns, RunLabel
from assay.model.result.result import Comparison
from assay.model.result.verdict import Verdict
from assay.model.units import about_number
from assay.report import numbers
from assay.report.document import Block, Bullets, Cell, Column, Document, Heading, Note, Num, Paragraph, Section, Table
from assay.report.environments import readable_values
from assay.report.measure import COUNTED, DATA, Measure, measure_of

MAX_ROWS = 5000
_READING = (
    "Medians over the repeats of each run. Each run is compared with the first one: the difference is that of the "
    "medians. Repeats of one run share its conditions, so each run counts as one observation. A difference is "
    f"significant if it exceeds the variation between runs of the study, which {MIN_RUNS} or more other runs in the "
    "folder show (p below 0.05, times the number of comparisons: Bonferroni). ~ marks differences that are not."
)


def joint_document(found: JointRuns) -> Document:
    """Build the document on several runs; the same runs give the same document."""
    names = run_names(found.runs)
    studies = list(dict.fromkeys(run.study for run in found.runs))
    sections = (
        Section("runs", "Runs", (_runs_table(found, names),)),
        Section("results", "Results", tuple(_results(found, names)) or (Note("No run has a result.", "warning"),)),
        Section("differences", f"Differences from {names[0]}", tuple(_differences(found, names))),
        Section("environment", "Differences in the environment", (_environment(found, names),)),
        Section("method", "Method", (Paragraph(_READING),)),
    )
    title = (
        f"{len(found.runs)} runs of {studies[0]}" if len(studies) == 1 else numbers.capitalized(numbers.listing(names))
    )
    return Document(f"Assay comparison · {numbers.listing(studies)}", title, "", (), sections)


def joint_blocks(found: JointRuns) -> list[Block]:
    """Return the same for a terminal, without the method."""
    *shown, _ = joint_document(found).sections
    return [block for section in shown for block in (Heading(section.title, section.id), *section.blocks)]


def run_names(runs: Sequence[RunLabel]) -> list[str]:
    """Return short names that differ: the studies, else the ids without what all have in common at their end."""
    studies = [run.study for run in runs]
    if len(set(studies)) == len(runs):
        return studies
    ids = [run.id for run in runs]
    short = [one.removesuffix(f"-{run.study}") for one, run in zip(ids, runs, strict=True)]
    return short if len(set(short)) == len(runs) else ids


def _runs_table(found: JointRuns, names: Sequence[str]) -> Table:
    rows = []
    for place, (name, run) in enumerate(zip(names, found.runs, strict=True)):
        results = [row.results[place] for row in found.rows]
        count = sum(one is not None for one in results)
        sound = sum(one is not None and one.verdict is Verdict.OK for one in results)
        cells: tuple[Cell, ...] = (
            name,
            run.id,
            numbers.utc_time(run.created_at),
            run.status,
            Num(numbers.count(count), count),
            Num(numbers.count(sound), sound),
            run.imported,
        )
        rows.append(cells)
    columns = (
        *(Column("Run"), Column("Id", drop_rank=2), Column("Began", drop_rank=1), Column("Status", drop_rank=3)),
        *(Column("Results", is_numeric=True), Column("ok", is_numeric=True), Column("Origin", drop_rank=4)),
    )
    return Table("runs-table", columns, tuple(rows)).without_empty_columns()


def _groups(found: JointRuns) -> list[tuple[str, Measure, list[JointRow]]]:
    """Return the rows of each target, bytes per second apart from operations per second."""
    groups = []
    ordered = sorted(enumerate(found.rows), key=lambda each: (_place(found, each[1].target), each[0]))
    for target, every in groupby((row for _, row in ordered), key=lambda row: row.target):
        rows = list(every)
        for measure in (DATA, COUNTED):
            if mine := [row for row in rows if row.is_counted == measure.is_count]:
                groups.append((target, measure_of(mine[0].operation) if measure.is_count else measure, mine))
    return groups


def _place(found: JointRuns, target: str) -> int:
    return next(place for place, row in enumerate(found.rows) if row.target == target)


def _results(found: JointRuns, names: Sequence[str]) -> list[Block]:
    blocks: list[Block] = []
    for number, (target, measure, rows) in enumerate(_groups(found)):
        if target:
            blocks.append(Heading(target, f"results-{number}"))
        columns = (Column("What"), *(Column(name, measure.unit, is_numeric=True) for name in names))
        cells: tuple[tuple[Cell, ...], ...] = tuple(
            (row.what, *(_result(one, measure) for one in row.results)) for row in rows[:MAX_ROWS]
        )
        caption = f"The first {MAX_ROWS:,} of {len(rows):,}. " if len(rows) > MAX_ROWS else ""
        caption += (
            "Medians over the repeats, and how far their 95 % interval reaches. A verdict other than ok stands behind."
        )
        blocks.append(Table(f"results-{number}-table", columns, cells, caption, is_interactive=len(rows) > 8))
    return blocks


def _result(one: JointResult | None, measure: Measure) -> Num:
    if one is None:
        return Num(numbers.NONE, None)
    words = "" if one.verdict is Verdict.OK else f" {one.verdict}"
    if one.rate is None:
        return Num(f"{numbers.NONE}{words}", None)
    reach = one.rate.relative_reach
    ends = "" if reach is None else f" ± {about_number(100 * reach, 2)} %"
    return Num(f"{measure.number(one.rate.median)}{ends}{words}", one.rate.median)


def _differences(found: JointRuns, names: Sequence[str]) -> list[Block]:
    blocks: list[Block] = [Bullets(tuple(_counts(found, place, names[place]) for place in range(1, len(names))))]
    if hint := _unknown_variation(found):
        blocks.append(Note(hint))
    for number, (target, _, rows) in enumerate(_groups(found)):
        compared = [row for row in rows if any(row.comparisons)][:MAX_ROWS]
        if not compared:
            continue
        if target:
            blocks.append(Heading(target, f"differences-{number}"))
        columns = (Column("What"), *(Column(name, is_numeric=True) for name in names[1:]))
        cells: tuple[tuple[Cell, ...], ...] = tuple(
            (row.what, *map(_difference, row.comparisons[1:])) for row in compared
        )
        has_caveats = any(pair is not None and pair.caveat for row in compared for pair in row.comparisons)
        caption = "* A verdict of one of the two results speaks against the comparison." if has_caveats else ""
        blocks.append(Table(f"differences-{number}-table", columns, cells, caption, is_interactive=len(compared) > 8))
    return blocks


def _difference(one: Comparison | None) -> Num:
    if one is None:
        return Num(numbers.NONE, None)
    words = f"{'' if one.separable else '~ '}{numbers.difference_text(one.ratio)}{' *' if one.caveat else ''}"
    return Num(words, 100 * (one.ratio - 1))


def _counts(found: JointRuns, place: int, name: str) -> str:
    pairs = [pair for row in found.rows if (pair := row.comparisons[place]) is not None]
    differ = [pair for pair in pairs if pair.separable]
    slower = sum(pair.ratio < 1 for pair in differ)
    same = len(pairs) - len(differ)
    return (
        f"{name}: {numbers.plural(len(pairs), 'common result')}: {len(differ) - slower:,} faster, {slower:,} slower, "
        f"{same:,} without a significant difference."
    )


def _unknown_variation(found: JointRuns) -> str:
    """Return why no difference can be significant; empty if one can."""
    pairs = [pair for row in found.rows for pair in row.comparisons if pair is not None]
    if not pairs or not all(pair.has_too_few for pair in pairs):
        return ""
    can_repeat = not any(run.imported for run in found.runs)
    words = "How much runs of this study differ from day to day is not known, so that no difference is significant."
    return f"{words} {numbers.capitalized(MORE_RUNS_HINT)}." if can_repeat else words


def _environment(found: JointRuns, names: Sequence[str]) -> Block:
    unknown = [name for name, run in zip(names, found.runs, strict=True) if run.imported]
    note = f" Not known of imported runs: {numbers.listing(unknown)}." if unknown else ""
    if not found.environment:
        return Note(f"None is known.{note}" if unknown else "There are none.")
    columns = (
        Column("Matters", is_filter=True),
        Column("Section", is_filter=True),
        Column("Name"),
        *map(Column, names),
    )
    rows = tuple(
        (
            "yes" if item.matters else "no",
            item.section,
            item.name,
            *(readable_values({item.name: value})[item.name] if value else "not recorded" for value in item.values),
        )
        for item in found.environment[:MAX_ROWS]
    )
    caption = f"Matters: commonly changes results.{note}"
    return Table("environment-table", columns, rows, caption, is_interactive=len(rows) > 8)
