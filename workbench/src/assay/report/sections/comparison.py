"""The comparison between targets: ratio with intervals, point by point."""

from assay.model.result.decision import Outcome, PointDecision
from assay.model.result.result import Comparison
from assay.model.study.repeats import LEAST_COMPARED
from assay.report import figures, numbers
from assay.report.charts.dots import ratio_chart
from assay.report.document import Block, Cell, Chart, Column, Gallery, Heading, Note, Num, Paragraph, Section, Table
from assay.report.measure import COUNTED, DATA, Measure, measure_of
from assay.report.view import View

_MOST_POINTS = 30
"""Points in one chart."""
_MOST_ROWS = 5000

EFFECT = (
    "Effect is Cliff's delta: 1 if every one of the second is faster than every one of the first, −1 if every one is "
    "slower, 0 if neither is more often faster."
)
RULE = (
    "Targets are compared round by round, on logarithms, so that what the machine did to a whole round falls out. How "
    "much such differences vary by chance is learnt from all comparisons of the same two targets together (moderated "
    "t test), and repeats that resemble the ones before count for less. A difference is significant, and two results "
    "separable, if p times the number of comparisons of this page is < 0.05 (Bonferroni), if the comparison by itself "
    f"has p < 0.05, too, so that no single repeat decides, and from {LEAST_COMPARED} repeats on. Otherwise the repeats "
    f"do not show which one is faster. {EFFECT}"
)


def section(view: View) -> Section | None:
    """The section; None if there is nothing to compare."""
    pairs = view.analysis.comparisons
    if not pairs:
        return None
    words = (
        "Each dot is the throughput (of metadata operations the rate) of one target divided by that of the other at "
        "the same parameters, with its 95 % interval."
    )
    blocks: list[Block] = [Paragraph(words), Paragraph(RULE)]
    few = sum(pair.too_few for pair in pairs)
    if few:
        words = (
            f"A side has fewer than {LEAST_COMPARED} repeats in {few:,} of {numbers.plural(len(pairs), 'comparison')}. "
        )
        words += "So few cannot show that one is faster, however far apart they are."
        blocks.append(Note(words, "warning"))
    charts = _charts(view)
    blocks.append(Gallery(tuple(charts[: figures.MOST_FIGURES])))
    if len(charts) > figures.MOST_FIGURES:
        blocks.append(Note(f"Only the first {figures.MOST_FIGURES} of {len(charts)} charts are drawn."))
    for measure in (DATA, COUNTED):
        mine = [pair for pair in pairs if measure_of(pair.operation) is measure]
        blocks += [_table(mine, measure, view)] if mine else []
    blocks += _latencies(view)
    return Section("comparison", "Comparison", tuple(blocks))


def _charts(view: View) -> list[Chart]:
    groups: dict[tuple[str, str, str, str], list[Comparison]] = {}
    for pair in view.analysis.comparisons:
        groups.setdefault((pair.workload, pair.operation, pair.base, pair.other), []).append(pair)
    several = len({workload for workload, *_ in groups}) > 1
    found = []
    for place, ((workload, operation, base, other), pairs) in enumerate(groups.items()):
        if not any(view.comparable(pair) for pair in pairs):
            continue
        title = numbers.operation_title(operation) + (f" · {workload}" if several else "")
        title += f" · {other} ÷ {base}" if len(view.targets) > 2 else ""
        caption = (
            f"Ratio of median {measure_of(operation).title.lower()}s, 95 % interval; the dashed line is no difference. "
            "Grey: not separable once all comparisons of this page are allowed for, though an interval may clear "
            "the line by itself."
        )
        if len(pairs) > _MOST_POINTS:
            caption += f" The first {_MOST_POINTS} of {len(pairs)} points."
        found.append(Chart(f"ratio-{place}", title, caption, ratio_chart(pairs[:_MOST_POINTS], view)))
    return found


def _table(pairs: list[Comparison], measure: Measure, view: View) -> Table:
    columns = (
        Column("Workload", facet=True),
        Column("Operation", facet=True),
        Column("At"),
        Column("Targets", facet=True),
        Column("Result", facet=True),
        Column("Ratio", "÷", numeric=True),
        Column("95 % from", numeric=True),
        Column("to", numeric=True),
        Column("Surely from", numeric=True),
        Column("to", numeric=True),
        Column("p", "adjusted", numeric=True),
        Column("Effect", "δ", numeric=True),
        Column("n"),
        Column("Caveat"),
    )
    points = _points(view)
    rows = tuple(_cells(pair, view, points) for pair in pairs[:_MOST_ROWS])
    caption = (
        "95 %: the interval of each ratio by itself. Surely: so wide that the intervals of all ratios hold at once, "
        "whenever the run was looked at; what the short answer says follows from it."
    )
    if len(pairs) > _MOST_ROWS:
        caption += f" The first {_MOST_ROWS:,} of {len(pairs):,}."
    name = "comparison-metadata-table" if measure.counted else "comparison-table"
    return Table(name, columns, rows, caption, interactive=True)


def _latencies(view: View) -> list[Block]:
    """p50 and p99, where both sides have enough operations."""
    pairs = view.analysis.latency_comparisons
    if not pairs:
        return []
    columns = (
        Column("Percentile", facet=True),
        Column("Workload", facet=True),
        Column("Operation", facet=True),
        Column("At"),
        Column("Targets", facet=True),
        Column("Result", facet=True),
        Column("Ratio", "÷", numeric=True),
        Column("95 % from", numeric=True),
        Column("to", numeric=True),
        Column("p", "adjusted", numeric=True),
        Column("n"),
    )
    caption = (
        "Ratio of the latencies: below 1 the second target answers sooner. p50 and p99 are each adjusted for their own "
        "comparisons, so that they take nothing from those of rates."
    )
    if len(pairs) > _MOST_ROWS:
        caption += f" The first {_MOST_ROWS:,} of {len(pairs):,}."
    rows = tuple(_latency_cells(pair, view) for pair in pairs[:_MOST_ROWS])
    heading = Heading("Latencies compared", "comparison-latency", 4)
    return [heading, Table("comparison-latency-table", columns, rows, caption, interactive=True)]


def _latency_cells(pair: Comparison, view: View) -> tuple[Cell, ...]:
    drawn = view.comparable(pair)
    ratios = (pair.ratio, pair.low, pair.high) if drawn else (None, None, None)
    return (
        pair.of,
        pair.workload,
        numbers.operation_title(pair.operation),
        _where(pair, view),
        f"{pair.other} ÷ {pair.base}",
        _result(pair, drawn),
        *(Num(numbers.NONE if ratio is None else numbers.significant(ratio), ratio) for ratio in ratios),
        Num(numbers.p_value(pair.p_adjusted if drawn else None), pair.p_adjusted if drawn else None),
        numbers.repeats(pair.n_base, pair.n_other),
    )


def _where(pair: Comparison, view: View) -> str:
    names = view.swept_of(pair.workload)
    return " / ".join(numbers.axis_value(name, pair.axes.get(name)) for name in names) or numbers.NONE


def _points(view: View) -> dict[object, PointDecision]:
    """What the run answers at each point of a comparison."""
    return {
        (one.workload, one.operation, one.base, one.other, tuple(point.axes.items())): point
        for one in view.analysis.decisions
        for point in one.points
    }


def _cells(pair: Comparison, view: View, points: dict[object, PointDecision]) -> tuple[Cell, ...]:
    drawn = view.comparable(pair)
    ratios = (pair.ratio, pair.low, pair.high, pair.sure_low, pair.sure_high) if drawn else (None,) * 5
    point = points.get((pair.workload, pair.operation, pair.base, pair.other, tuple(pair.axes.items())))
    return (
        pair.workload,
        numbers.operation_title(pair.operation),
        _where(pair, view),
        f"{pair.other} ÷ {pair.base}",
        _answer(point) if point is not None and drawn and not pair.too_few else _result(pair, drawn),
        *(Num(numbers.NONE if ratio is None else numbers.significant(ratio), ratio) for ratio in ratios),
        Num(numbers.p_value(pair.p_adjusted if drawn else None), pair.p_adjusted if drawn else None),
        Num(numbers.signed(pair.effect if drawn else None), pair.effect if drawn else None),
        numbers.repeats(pair.n_base, pair.n_other),
        pair.caveat or numbers.NONE,
    )


def _answer(point: PointDecision) -> str:
    """As in the short answer."""
    words = {Outcome.FASTER: f"{point.winner} faster", Outcome.EQUAL: "equal", Outcome.OPEN: "open"}
    return words.get(point.outcome, "not compared")


def _result(pair: Comparison, drawn: bool) -> str:
    if not drawn:
        return "not compared"
    if pair.too_few:
        return "too few repeats"
    return f"{pair.other if pair.better else pair.base} faster" if pair.separable else "not separable"
