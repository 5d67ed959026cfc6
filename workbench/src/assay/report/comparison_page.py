"""Builds the document on a comparison of two runs, or of the targets of one."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from assay.analyse.run_variation import MIN_RUNS
from assay.analyse.runs import MORE_RUNS_HINT, mean_ratio
from assay.model.result.comparison import ComparedRow, ComparedSide, RunsComparison
from assay.model.result.result import Comparison
from assay.model.study.repeats import MIN_COMPARED
from assay.model.units import about_number
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
)
from assay.report.environments import differences_table
from assay.report.measure import MEASURES, REPLAYS, TASKS, measure_of
from assay.report.sections.comparison import EFFECT, RULE

_MAX_ROWS = 5000
_MAX_POINTS = 40

_READING = (
    "The difference is that of the medians, as a share of the median before, with its 95 % interval, for each row on "
    "its own. p is adjusted for the number of rows. p50 and p99 of latency are medians over the repeats. Their "
    "differences are tested like those of rates, if both sides have enough operations; p is adjusted for each "
    "percentile on its own. ~ marks differences that are not significant."
)
_RUNS = (
    "Repeats of one run share its conditions, such as file placement and other load. So each run counts as one "
    "observation, its median. The normal variation between runs is estimated from the runs of both sides if "
    f"there are {MIN_RUNS} or more, else from at least {MIN_RUNS} other runs of the study. A difference is "
    f"significant if p < 0.05 times the number of rows (Bonferroni). "
    f"Day-to-day variation of latency is not known. {EFFECT}"
)


def comparison_document(found: RunsComparison) -> Document:
    """Build the document on two runs, or on the targets of one; the same comparison gives the same document."""
    is_one_run = found.before.id == found.after.id
    if is_one_run:
        meta: tuple[tuple[str, str], ...] = (("Run", _run(found, 0)),)
        title = f"The targets of {found.before.id}"
    else:
        meta = (("Before", _run(found, 0)), ("After", _run(found, 1)))
        title = f"{found.after.id} against {found.before.id}"
    parts = [_answer(found), _differences(found), _uncompared(found), None if is_one_run else _environment(found)]
    method = Section("method", "Method", (Paragraph(RULE if is_one_run else _RUNS), Paragraph(_READING)))
    sections = tuple(part for part in [*parts, method] if part is not None)
    return Document(f"Assay comparison · {found.after.study}", title, "", meta, sections)


def _run(found: RunsComparison, place: int) -> str:
    run = (found.before, found.after)[place]
    return ", ".join(filter(None, (run.id, run.status, numbers.utc_time(run.created_at), run.imported)))


def _answer(found: RunsComparison) -> Section:
    items = (
        f"{numbers.capitalized(line)}."
        for line in (*mean_change_lines(found.rows), *latencies.latency_lines(found), *caveat_lines(found))
    )
    return Section(
        "answer", "Short answer", (Paragraph(f"{difference_counts(found)}.", lead=True), Bullets(tuple(items)))
    )


def difference_counts(found: RunsComparison) -> str:
    """Count in words the rows that are faster, slower, without a significant difference, and without a result."""
    sound = [row.comparison for row in found.rows if not row.has_no_result]
    differ = [pair for pair in sound if pair.separable]
    slower = sum(pair.ratio < 1 for pair in differ)
    same = len(sound) - len(differ)
    words = f"{len(differ) - slower:,} faster, {slower:,} slower, {same:,} without a significant difference (~)"
    none = len(found.rows) - len(sound)
    words += f", {none:,} with a side that is cached, impossible or incomplete" if none else ""
    return f"{numbers.plural(len(found.rows), 'row')}: {words}"


def mean_change_lines(rows: Sequence[ComparedRow]) -> list[str]:
    """Return a line with the geometric mean of all comparable ratios; no line if there are none."""
    mean = mean_ratio(rows)
    return (
        []
        if mean is None
        else [f"geometric mean of {numbers.plural(mean[1], 'ratio')}: {numbers.difference_text(mean[0])}"]
    )


def caveat_lines(found: RunsComparison) -> list[str]:
    """Return lines on how a change differs from chance, and on rows that have too few repeats or are not compared."""
    lines = []
    if found.before.id != found.after.id:
        lines += _knowledge(found)
    row_count = sum(
        row.comparison.has_too_few and row.comparison.unit == "repeat" for row in found.rows if not row.has_no_result
    )
    if row_count:
        words = f"fewer than {MIN_COMPARED} repeats on a side, too few to report a difference"
        lines.append(f"{numbers.plural(row_count, 'row')} with {words}")
    if found.uncompared:
        lines.append(f"{numbers.plural(len(found.uncompared), 'row')} not compared, as listed below")
    return lines


def _knowledge(found: RunsComparison) -> list[str]:
    if min(found.runs) >= MIN_RUNS:
        return [f"each run counts as one: {found.runs[0]} before, {found.runs[1]} after"]
    if found.typical_difference is not None:
        percent = about_number(100 * found.typical_difference, 2)
        words = f"two runs of a typical row are less than {percent} % apart in 95 of 100 cases"
        return [f"{found.known_runs} runs of this study, all but those after, show its day-to-day variation: {words}"]
    known = "two runs alone cannot separate a change from day-to-day variation, so no difference is reported"
    can_repeat = not (found.before.imported or found.after.imported)
    return [known, *([f"to compare: {MORE_RUNS_HINT}"] if can_repeat else [])]


def _differences(found: RunsComparison) -> Section:
    blocks: list[Block] = []
    groups = groupby(found.rows, key=lambda row: (row.comparison.base, row.comparison.other))
    for place, ((base, other), grouped) in enumerate(groups):
        rows = list(grouped)
        blocks.append(Heading(sides_heading(base, other), f"target-{place}"))
        drawn = [row for row in rows if not row.has_no_result][:_MAX_POINTS]
        if drawn:
            caption = "Difference of the medians with its 95 % interval; grey where it is not significant."
            if len(drawn) < len(rows):
                caption += (
                    f" {len(drawn)} of {len(rows):,} rows are drawn; rows with a side that is cached, impossible or "
                )
                caption += "incomplete never are."
            blocks.append(Chart(f"differences-{place}", "Differences", caption, difference_chart(drawn), wide=True))
        blocks += difference_tables(rows, f"rows-{place}")
    if not blocks:
        blocks.append(Note("No row has a result on both sides.", "warning"))
    return Section("differences", "Differences", tuple(blocks))


def sides_heading(base: str, other: str) -> str:
    """Return the heading of a pair of targets."""
    return base if base == other else f"{other} against {base}"


def difference_tables(rows: Sequence[ComparedRow], name: str) -> list[Table]:
    """Return tables of one pair of targets: throughput first, then what is counted; `name` begins their ids."""
    found = []
    for measure, ending in zip(MEASURES, ("", "-metadata", "-tasks", "-replays"), strict=True):
        mine = [row for row in rows if measure_of(row.comparison.operation) is measure]
        found += [_table(mine, f"{name}{ending}")] if mine else []
    return found


def _table(rows: Sequence[ComparedRow], name: str) -> Table:
    pair, unit = rows[0].comparison, measure_of(rows[0].comparison.operation).unit
    timed = any(row.before.p50 is not None or row.after.p50 is not None for row in rows)
    names = ("Before", "After") if pair.base == pair.other else (pair.base, pair.other)
    columns = (
        Column("What"),
        Column("Result", is_filter=True, is_detail=True),
        Column(names[0], unit, is_numeric=True, drop_rank=1),
        Column("±", "%", is_numeric=True, drop_rank=4),
        Column(names[1], unit, is_numeric=True, drop_rank=1),
        Column("±", "%", is_numeric=True, drop_rank=4),
        Column("Difference", is_numeric=True),
        Column("95 % from", is_numeric=True, drop_rank=3),
        Column("to", is_numeric=True, drop_rank=3),
        Column("p", "adjusted", is_numeric=True, drop_rank=5),
        Column("Effect", "δ", is_numeric=True, drop_rank=6),
        Column("n", drop_rank=5),
        Column("Remark"),
        Column("Verdict before", is_detail=True),
        Column("after", is_detail=True),
        *_latency_columns(timed),
    )
    caption = f"The first {_MAX_ROWS:,} of {len(rows):,}." if len(rows) > _MAX_ROWS else ""
    cells = tuple(_cells(row, timed) for row in rows[:_MAX_ROWS])
    return Table(name, columns, cells, caption, is_interactive=len(rows) > 8)


def _latency_columns(timed: bool) -> tuple[Column, ...]:
    if not timed:
        return ()
    return tuple(
        column
        for name in latencies.COMPARED_PERCENTILES
        for column in (
            Column(f"{name} before", "µs", is_numeric=True, is_detail=True),
            Column("after", "µs", is_numeric=True, is_detail=True),
            Column(f"{name} difference", is_filter=True, is_detail=True),
            Column("by", is_numeric=True, is_detail=True),
        )
    )


def _latencies(row: ComparedRow) -> Iterator[Cell]:
    for name in latencies.COMPARED_PERCENTILES:
        pair = latencies.percentile_comparison(row, name)
        yield percentiles.percentile_cell(getattr(row.before, name))
        yield percentiles.percentile_cell(getattr(row.after, name))
        yield _latency_result(pair)
        yield _percent(None if pair is None else pair.ratio)


def _latency_result(pair: Comparison | None) -> str:
    if pair is None:
        return numbers.NONE
    if pair.has_too_few:
        return "too few runs" if pair.unit == "run" else "too few repeats"
    if not pair.separable:
        return "no significant difference"
    return "shorter" if pair.is_better else "longer"


def _cells(row: ComparedRow, timed: bool) -> tuple[Cell, ...]:
    pair = row.comparison
    return (
        row.what,
        _result(row),
        *_rate(row.before, pair.operation),
        *_rate(row.after, pair.operation),
        _percent(pair.ratio, "" if pair.separable else "~ "),
        *map(_percent, (pair.low, pair.high)),
        Num(numbers.p_value(pair.p_adjusted), pair.p_adjusted),
        Num(numbers.signed(pair.effect), pair.effect),
        numbers.repeats(pair.n_base, pair.n_other),
        "; ".join(filter(None, (_time_words(pair), remarks(row)))),
        Badge(row.before.verdict, row.before.finding),
        Badge(row.after.verdict, row.after.finding),
        *(_latencies(row) if timed else ()),
    )


def _time_words(pair: Comparison) -> str:
    """Return by how much the time of a command differs: its rate is the other way round; empty for all else."""
    if measure_of(pair.operation) not in (TASKS, REPLAYS) or not pair.ratio:
        return ""
    return f"time {'' if pair.separable else '~ '}{numbers.difference_text(1 / pair.ratio)}"


def _result(row: ComparedRow) -> str:
    if row.has_no_result:
        return "a side is cached, impossible or incomplete"
    if row.comparison.has_too_few:
        return "too few runs" if row.comparison.unit == "run" else "too few repeats"
    if not row.comparison.separable:
        return "no significant difference"
    return "faster" if row.comparison.ratio > 1 else "slower"


def _rate(side: ComparedSide, operation: str) -> tuple[Cell, Cell]:
    reach = side.rate.relative_reach
    return (
        Num(measure_of(operation).number(side.rate.median), side.rate.median),
        Num(numbers.NONE if reach is None else f"{100 * reach:.1f}", reach),
    )


def remarks(row: ComparedRow) -> str:
    """Return reasons to doubt a comparison; empty if there are none."""
    few = "too few repeats" if row.comparison.has_too_few and row.comparison.unit == "repeat" else ""
    return "; ".join(words for words in (row.comparison.caveat, few) if words)


def _percent(ratio: float | None, mark: str = "") -> Num:
    if ratio is None:
        return Num(numbers.NONE, None)
    return Num(f"{mark}{numbers.difference_text(ratio)}", 100 * (ratio - 1))


def uncompared_table(found: RunsComparison) -> Table:
    """Return the table of rows that cannot be compared, with the reasons."""
    columns = (Column("What"), Column("Before"), Column("After"), Column("Why"))
    rows: list[tuple[Cell, ...]] = [
        (
            row.name,
            numbers.NONE if row.before is None else Badge(row.before),
            numbers.NONE if row.after is None else Badge(row.after),
            row.reason,
        )
        for row in found.uncompared[:_MAX_ROWS]
    ]
    return Table("uncompared-table", columns, tuple(rows))


def _uncompared(found: RunsComparison) -> Section | None:
    return Section("uncompared", "Not compared", (uncompared_table(found),)) if found.uncompared else None


def _environment(found: RunsComparison) -> Section:
    title = "Differences in the environment"
    if not found.differences:
        return Section("environment", title, (Note("There are none."),))
    caption = "Matters: commonly changes results."
    return Section("environment", title, (differences_table(found.differences[:_MAX_ROWS], caption=caption),))
