"""From a comparison of two runs to the document."""

from collections.abc import Iterator
from itertools import groupby

from assay.analyse.between import LEAST_RUNS
from assay.analyse.runs import HOW_TO_TELL, geometric_means
from assay.model.result.comparison import ComparedRow, RunsComparison, Side
from assay.model.result.environment import EnvironmentDifference
from assay.model.result.result import Comparison
from assay.report import latencies, numbers, percentiles
from assay.report.charts.differences import difference_chart
from assay.report.document import (
    Badge,
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Document,
    Heading,
    Note,
    Num,
    Paragraph,
    Section,
    Table,
    Text,
)
from assay.report.measure import DATA, METADATA, measure_of
from assay.report.sections.comparison import EFFECT, RULE

_MOST_ROWS = 5000
_MOST_POINTS = 40

_READING = (
    "The difference is that of the medians, as a share of the one before, with its 95 % interval, of each row by "
    "itself. p is adjusted for the number of rows. p50 and p99 of latency are the medians of the repeats' own. Their "
    "differences are tested as those of rates are, where both sides have enough operations, each adjusted by itself."
)
_RUNS = (
    "Repeats of a run share its day: where the files came to lie, what else the machine did. So each run counts as one "
    "observation, its median. How much runs differ though nothing was changed is taken from the runs of both sides if "
    f"there are {LEAST_RUNS} or more, else from at least {LEAST_RUNS} other runs of the study. A difference is "
    f"significant if p < 0.05 times the number of rows (Bonferroni). Of latencies other runs tell nothing. {EFFECT}"
)


def comparison_document(found: RunsComparison) -> Document:
    """The page on two runs, or on the targets of one. The same comparison gives the same document."""
    one = found.before.id == found.after.id
    if one:
        meta: tuple[tuple[str, str], ...] = (("Run", _run(found, 0)),)
        title = f"The targets of {found.before.id}"
    else:
        meta = (("Before", _run(found, 0)), ("After", _run(found, 1)))
        title = f"{found.after.id} against {found.before.id}"
    parts = [_answer(found), _differences(found), _uncompared(found), None if one else _environment(found)]
    method = Section("method", "How it was compared", (Paragraph(RULE if one else _RUNS), Paragraph(_READING)))
    sections = tuple(part for part in [*parts, method] if part is not None)
    return Document(f"Assay comparison · {found.after.study}", title, "", meta, sections)


def _run(found: RunsComparison, place: int) -> str:
    run = (found.before, found.after)[place]
    return f"{run.id}, {run.status}, {numbers.moment(run.created_at)}"


def _answer(found: RunsComparison) -> Section:
    sound = [row for row in found.rows if not row.no_result]
    differ = [row.comparison.ratio for row in sound if row.comparison.separable]
    faster, slower = sum(ratio > 1 for ratio in differ), sum(ratio < 1 for ratio in differ)
    words = f"{faster:,} faster, {slower:,} slower, {len(sound) - len(differ):,} without a significant difference, "
    words += f"of {numbers.plural(len(sound), 'row')}."
    items: list[Text] = []
    for measure in (DATA, METADATA):
        means = geometric_means(row for row in sound if row.metadata == measure.metadata)
        if means:
            before, after, count = means
            change = f"{numbers.signed(100 * (after / before - 1), 1)} %"
            rates = f"{measure.text(before)} before, {measure.text(after)} after, {change}"
            items.append(f"{measure.title}, geometric mean of {numbers.plural(count, 'row')}: {rates}.")
    for name in latencies.latency_rows(found):
        items.append(f"{name} of latency: {latencies.latency_words(found, name)}.")
    few = sum(row.comparison.too_few and row.comparison.unit == "repeat" for row in sound)
    if any(row.comparison.too_few and row.comparison.unit == "run" for row in sound):
        items.append(f"Two runs alone do not tell a change from what days do. To find out: {HOW_TO_TELL}.")
    elif found.typical is not None and min(found.runs) < LEAST_RUNS:
        apart = f"Two runs of a typical row are less than {numbers.share(found.typical)} apart in 95 of 100 cases"
        items.append(f"{apart}, as {found.known_runs} runs of this study, all but those after, show.")
    left = len(found.rows) - len(sound)
    lone = len(found.uncompared)
    for count, why in (
        (few, "with too few repeats on a side for any difference to be called"),
        (left, "not counted here: a side is cached, impossible or incomplete"),
        (lone, "not compared: they have a result on one side only"),
    ):
        if count:
            items.append(f"{numbers.plural(count, 'row')} {why}.")
    return Section("answer", "Short answer", (Paragraph(words, lead=True), Bullets(tuple(items))))


def _differences(found: RunsComparison) -> Section:
    blocks: list[Block] = []
    groups = groupby(found.rows, key=lambda row: (row.comparison.base, row.comparison.other))
    for place, ((base, other), grouped) in enumerate(groups):
        rows = list(grouped)
        title = base if base == other else f"{base} (before) and {other} (after)"
        blocks.append(Heading(title, f"target-{place}"))
        drawn = [row for row in rows if not row.no_result][:_MOST_POINTS]
        if drawn:
            caption = "Difference of the medians with its 95 % interval; grey where it is not significant."
            if len(drawn) < len(rows):
                caption += f" {len(drawn)} of {len(rows):,} rows are drawn; false results never are."
            blocks.append(Chart(f"differences-{place}", "Differences", caption, difference_chart(drawn), wide=True))
        for measure in (DATA, METADATA):
            mine = [row for row in rows if row.metadata == measure.metadata]
            blocks += [_table(mine, f"rows-{place}{'-metadata' * measure.metadata}")] if mine else []
    if not blocks:
        blocks.append(Note("No row has a result on both sides.", "warning"))
    return Section("differences", "Differences", tuple(blocks))


def _table(rows: list[ComparedRow], name: str) -> Table:
    unit = measure_of(rows[0].comparison.operation).unit
    timed = any(row.before.p50 is not None or row.after.p50 is not None for row in rows)
    columns = (
        Column("What"),
        Column("Result", facet=True),
        Column("Before", unit, numeric=True),
        Column("±", "%", numeric=True),
        Column("After", unit, numeric=True),
        Column("±", "%", numeric=True),
        Column("Difference", "%", numeric=True),
        Column("95 % from", "%", numeric=True),
        Column("to", "%", numeric=True),
        Column("p", "adjusted", numeric=True),
        Column("Effect", "δ", numeric=True),
        Column("n"),
        Column("Verdict before"),
        Column("after"),
        *_latency_columns(timed),
    )
    caption = f"The first {_MOST_ROWS:,} of {len(rows):,}." if len(rows) > _MOST_ROWS else ""
    return Table(
        name, columns, tuple(_cells(row, timed) for row in rows[:_MOST_ROWS]), caption, interactive=len(rows) > 8
    )


def _latency_columns(timed: bool) -> tuple[Column, ...]:
    if not timed:
        return ()
    return tuple(
        column
        for name in latencies.NAMES
        for column in (
            Column(f"{name} before", "µs", numeric=True),
            Column("after", "µs", numeric=True),
            Column(f"{name} difference", facet=True),
            Column("by", "%", numeric=True),
        )
    )


def _latencies(row: ComparedRow) -> Iterator[Cell]:
    for name in latencies.NAMES:
        pair = latencies.pair_of(row, name)
        yield percentiles.cell(getattr(row.before, name))
        yield percentiles.cell(getattr(row.after, name))
        yield _latency_result(pair)
        yield _percent(None if pair is None else pair.ratio)


def _latency_result(pair: Comparison | None) -> str:
    if pair is None:
        return numbers.NONE
    if pair.too_few:
        return "too few runs" if pair.unit == "run" else "too few repeats"
    if not pair.separable:
        return "no significant difference"
    return "shorter" if pair.better else "longer"


def _cells(row: ComparedRow, timed: bool) -> tuple[Cell, ...]:
    pair = row.comparison
    return (
        row.what,
        _result(row),
        *_rate(row.before, pair.operation),
        *_rate(row.after, pair.operation),
        *(_percent(ratio) for ratio in (pair.ratio, pair.low, pair.high)),
        Num(numbers.p_value(pair.p_adjusted), pair.p_adjusted),
        Num(numbers.signed(pair.effect), pair.effect),
        numbers.repeats(pair.n_base, pair.n_other),
        Badge(row.before.verdict, row.before.finding),
        Badge(row.after.verdict, row.after.finding),
        *(_latencies(row) if timed else ()),
    )


def _result(row: ComparedRow) -> str:
    if row.no_result:
        return "a side is false"
    if row.comparison.too_few:
        return "too few runs" if row.comparison.unit == "run" else "too few repeats"
    if not row.comparison.separable:
        return "no significant difference"
    return "faster" if row.comparison.ratio > 1 else "slower"


def _rate(side: Side, operation: str) -> tuple[Cell, Cell]:
    reach = side.rate.reach
    return (
        Num(measure_of(operation).number(side.rate.median), side.rate.median),
        Num(numbers.NONE if reach is None else f"{100 * reach:.1f}", reach),
    )


def _percent(ratio: float | None) -> Num:
    change = None if ratio is None else 100 * (ratio - 1)
    return Num(numbers.signed(change, 1), change)


def _uncompared(found: RunsComparison) -> Section | None:
    if not found.uncompared:
        return None
    columns = (Column("What"), Column("Before"), Column("After"), Column("Why"))
    rows: list[tuple[Cell, ...]] = [
        (
            row.name,
            numbers.NONE if row.before is None else Badge(row.before),
            numbers.NONE if row.after is None else Badge(row.after),
            row.reason,
        )
        for row in found.uncompared[:_MOST_ROWS]
    ]
    return Section("uncompared", "Not compared", (Table("uncompared-table", columns, tuple(rows)),))


def _environment(found: RunsComparison) -> Section:
    title = "What differs in the environment"
    if not found.differences:
        return Section("environment", title, (Note("Nothing does."),))
    facets = Column("Matters", facet=True), Column("Section", facet=True)
    columns = (*facets, Column("Name"), Column("Before"), Column("After"))
    rows = tuple(_difference(item) for item in found.differences[:_MOST_ROWS])
    caption = "Matters: commonly changes results."
    table = Table("environment-table", columns, rows, caption, interactive=len(rows) > 8)
    return Section("environment", title, (table,))


def _difference(item: EnvironmentDifference) -> tuple[Cell, ...]:
    before, after = item.before or "not recorded", item.after or "not recorded"
    return ("yes" if item.matters else "no", item.section, item.name, before, after)
