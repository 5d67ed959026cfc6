"""The comparison between targets: a chart and a row for each operation, and a folded table of all points."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from assay.model.result.decision import PointDecision, PointOutcome, TargetDecision
from assay.model.result.result import Comparison
from assay.model.study.repeats import MIN_COMPARED
from assay.report import chart_selection, numbers
from assay.report.charts.dots import ratio_chart
from assay.report.claims import kind_of_work
from assay.report.document import Block, Bullets, Cell, Chart, Column, Fold, Gallery, Note, Num, Paragraph, Table
from assay.report.summary.sentences import lower_bound_text
from assay.report.summary.uncompared import RatioGroup, groups_by_targets
from assay.report.view import RunView

_SIZES = " Two sizes are file size / record size."
_MAX_POINTS = 30
"""Most points in one chart."""
_MAX_ROWS = 2000
_MAX_OPEN = 8
"""Most charts outside the folded part."""
_MAX_LINES = 24
"""Most rows of the table that is not folded."""

_MAX_RATIOS = 6
"""Most columns of a table of ratios."""
_RATIOS = (
    "Ratios of the rates at the same sizes and settings, as far as these are known: the median and, in brackets, the "
    "least and the greatest of several points. No difference is decided."
)

EFFECT = "Effect is Cliff's delta: 1 if every repeat of the second is faster than every one of the first, −1 if slower."
RULE = (
    "Targets are compared round by round, on logarithms, so that a drift of the machine cancels out. The noise is "
    "estimated from all comparisons of the same two targets together (moderated t test); autocorrelated repeats count "
    "for less. A difference is significant if its p-value times the number of comparisons is below 0.05 (Bonferroni), "
    f"if it has p < 0.05 by itself, too, and from {MIN_COMPARED} repeats on; else there is no clear difference. "
    f"{EFFECT}"
)
_CHART = (
    "Ratio of medians at the same parameters with its 95 % confidence interval; the dashed line is no difference, grey "
    "is no clear difference once all comparisons are allowed for."
)


def evidence_blocks(view: RunView) -> list[Block]:
    """Return the blocks for the evidence: a row for each operation, then the first charts."""
    if not view.analysis.comparisons:
        return []
    blocks: list[Block] = []
    too_few = sum(pair.has_too_few for pair in view.analysis.comparisons)
    if too_few:
        of = numbers.plural(len(view.analysis.comparisons), "comparison")
        words = f"{too_few:,} of {of} have fewer than {MIN_COMPARED} repeats of a side: too few to show a difference."
        blocks.append(Note(words, "warning"))
    if decided := [one for one in view.analysis.decisions if not _shows_ratios_alone(one)]:
        blocks.append(_summary(decided, view))
    blocks += _ratio_tables(view)
    if charts := tuple(islice(_charts(view, True), _MAX_OPEN)):
        two = any({"file_size", "record_size"} <= workload.swept_axes.keys() for workload in view.workloads)
        blocks += [Gallery(charts), Paragraph(f"{_CHART}{_SIZES if two else ''}")]
    return blocks


def folds(view: RunView) -> Iterator[Fold]:
    """Yield all points in one table, and the charts that are not in the evidence."""
    pairs = view.analysis.comparisons
    if not pairs:
        return
    caveats = list(dict.fromkeys(pair.caveat for pair in pairs[:_MAX_ROWS] if pair.caveat))
    notes = (Bullets(tuple(f"{place}: {text}" for place, text in enumerate(caveats, start=1))),) if caveats else ()
    table = _table(view, {text: str(place) for place, text in enumerate(caveats, start=1)})
    yield Fold(f"All {numbers.plural(len(pairs), 'comparison')}", (Paragraph(RULE), table, *notes), "comparison")
    every = chain(islice(_charts(view, True), _MAX_OPEN, None), _charts(view, False))
    if charts := chart_selection.limited_gallery(every, "charts"):
        yield Fold("More charts of comparisons", (*charts, Paragraph(_CHART)), "comparison-charts")


def _shows_ratios_alone(one: TargetDecision) -> bool:
    """Whether nothing is decided at any point, since conditions are unknown, but each has a ratio."""
    return all(point.shows_ratio for point in one.points)


def _ratio_tables(view: RunView) -> list[Block]:
    """Return tables of ratios without a decision: a row for each kind of work, a column for each further target."""
    blocks: list[Block] = []
    for place, ((base, *others), groups) in enumerate(groups_by_targets(view).items()):
        shown, rows = others[:_MAX_RATIOS], groups[:_MAX_LINES]
        columns = (Column("Work"), *(Column(f"{other} ÷ {base}", is_numeric=True) for other in shown))
        cells: tuple[tuple[Cell, ...], ...] = tuple(
            (group.name, *(_ratio_cell(group, other) for other in shown)) for group in rows
        )
        more = [f"{len(others) - len(shown):,} more targets"] if len(others) > len(shown) else []
        more += [f"{len(groups) - len(rows):,} more kinds of work"] if len(groups) > len(rows) else []
        rest = f" {' and '.join(more)}: see the appendix." if more else ""
        blocks.append(Table(f"ratios-table-{place}", columns, cells, f"{_RATIOS}{rest}"))
    return blocks


def _ratio_cell(group: RatioGroup, other: str) -> Num:
    count = len(group.ratios[other])
    points = f"; {count:,} points" if count > 1 else ""
    return Num(f"{group.ratio_text(other)}{points}", numbers.median(group.ratios[other]))


def _summary(found: Sequence[TargetDecision], view: RunView) -> Table:
    """Return a table of the outcomes of each operation's points."""
    columns = (
        Column("Operation"),
        Column("Workload"),
        Column("Points", is_numeric=True),
        Column("Faster"),
        Column("Typically", is_numeric=True),
        Column("Least to most"),
        Column("At least", "simultaneous 95 %"),
        Column("Median latency"),
        Column("Other points"),
    )
    rows = tuple(_line(one, view) for one in found[:_MAX_LINES])
    caption = "Points: combinations of sizes and other settings. At least: at every point that counts as faster."
    if len(found) > _MAX_LINES:
        caption += f" The first {_MAX_LINES} of {len(found):,}; the appendix has every point."
    return Table("decisions-table", columns, rows, caption)


def _line(one: TargetDecision, view: RunView) -> tuple[Cell, ...]:
    sides = [(name, [point for point in one.points if point.winner == name]) for name in (one.other, one.base)]
    won = [(name, points) for name, points in sides if points]
    typical = [numbers.median([point.ratio for point in points]) for _, points in won]
    ends = [sorted(point.ratio for point in points) for _, points in won]
    least = [min(point.at_least for point in points) for _, points in won]
    return (
        numbers.operation_title(one.operation),
        one.workload,
        Num(f"{len(one.points):,}", len(one.points)),
        ", ".join(f"{name} at {len(points):,}" for name, points in won) or f"{one.other} or {one.base}?",
        Num(", ".join(map(numbers.ratio, typical)) or numbers.NONE, max(typical, default=None)),
        ", ".join(f"{numbers.ratio(low)} to {numbers.ratio(high)}" for low, *_, high in (e * 2 for e in ends))
        or numbers.NONE,
        ", ".join(map(lower_bound_text, least)) or numbers.NONE,
        _latency(one, view),
        ", ".join(f"{len(points):,} {name}" for outcome, name in _OTHERS if (points := one.points_with(outcome)))
        or numbers.NONE,
    )


_OTHERS = ((PointOutcome.EQUAL, "equal"), (PointOutcome.OPEN, "undecided"), (PointOutcome.BARRED, "excluded"))


def _latency(one: TargetDecision, view: RunView) -> str:
    """Return the ratio of p50, as the median over the points."""
    mine = (one.workload, one.operation, one.base, one.other)
    ratios = [
        pair.ratio
        for pair in view.analysis.latency_comparisons
        if pair.of == "p50"
        and (pair.workload, pair.operation, pair.base, pair.other) == mine
        and view.is_comparable(pair)
    ]
    return f"{one.other} {_lower(numbers.median(ratios))}" if ratios else numbers.NONE


def _lower(ratio: float) -> str:
    """Return a ratio of latencies in words, `29× lower`: a ratio below 1 is inverted, since less is better."""
    return f"{numbers.ratio(ratio if ratio > 1 else 1 / ratio)} {'higher' if ratio > 1 else 'lower'}"


def _charts(view: RunView, leading: bool) -> Iterator[Chart]:
    """Yield charts of the first operation of each kind of work in each workload, or of all other operations."""
    groups: dict[tuple[str, str, str, str], list[Comparison]] = {}
    for pair in view.analysis.comparisons:
        groups.setdefault((pair.workload, pair.operation, pair.base, pair.other), []).append(pair)
    several = len({workload for workload, *_ in groups}) > 1
    pairs_of = {tuple(sides) for _, _, *sides in groups}
    charted: set[tuple[str, ...]] = set()
    for place, ((workload, operation, base, other), pairs) in enumerate(groups.items()):
        if not any(view.is_comparable(pair) for pair in pairs) or not any(pair.conditions_known for pair in pairs):
            continue
        kind = (workload, kind_of_work(operation, workload), base, other)
        first = kind not in charted
        charted.add(kind)
        if first is not leading:
            continue
        title = numbers.operation_title(operation) + (f" · {workload}" if several else "")
        title += f" · {other} ÷ {base}" if len(pairs_of) > 1 else ""
        more = f"The first {_MAX_POINTS} of {len(pairs)} points." if len(pairs) > _MAX_POINTS else ""
        yield Chart(f"ratio-{place}", title, more, ratio_chart(pairs[:_MAX_POINTS], view))


_Key = tuple[object, ...]


def _key(pair: Comparison) -> _Key:
    return (pair.workload, pair.operation, pair.base, pair.other, tuple(pair.axes.items()))


def _table(view: RunView, caveats: Mapping[str, str]) -> Table:
    """Return a row for each comparison; `caveats` has the number of each."""
    columns = (
        Column("Workload", is_filter=True),
        Column("Operation", is_filter=True),
        Column("At"),
        Column("Targets", is_filter=True),
        Column("Result", is_filter=True),
        Column("Ratio", "÷", is_numeric=True),
        Column("95 % interval"),
        Column("Simultaneous 95 %"),
        Column("p", "adjusted", is_numeric=True),
        Column("Effect", "δ", is_numeric=True),
        Column("n"),
        Column("p50", "95 % interval", is_numeric=True),
        Column("p99", "95 % interval", is_numeric=True),
        Column("Caveat"),
    )
    points = _points(view)
    latencies = {(pair.of, *_key(pair)): pair for pair in view.analysis.latency_comparisons}
    pairs = view.analysis.comparisons
    rows = tuple(_cells(pair, view, points, latencies, caveats) for pair in pairs[:_MAX_ROWS])
    caption = (
        "Simultaneous 95 %: intervals so wide that those of all comparisons hold at once, whenever the run was looked "
        "at; the short answer follows from them. p50 and p99: latency of the second target; a star: a significant "
        "difference among those of the same percentile. Caveats are numbered below."
    )
    if len(pairs) > _MAX_ROWS:
        caption += f" The first {_MAX_ROWS:,} of {len(pairs):,}."
    return Table("comparison-table", columns, rows, caption, is_interactive=True).without_empty_columns()


def _where(pair: Comparison, view: RunView) -> str:
    names = view.swept_axes_of(pair.workload)
    return " / ".join(numbers.axis_value(name, pair.axes[name]) for name in names if name in pair.axes) or numbers.NONE


def _points(view: RunView) -> dict[_Key, PointDecision]:
    """Return the decision at each point of a comparison."""
    return {
        (one.workload, one.operation, one.base, one.other, tuple(point.axes.items())): point
        for one in view.analysis.decisions
        for point in one.points
    }


def _cells(
    pair: Comparison,
    view: RunView,
    points: dict[_Key, PointDecision],
    latencies: dict[_Key, Comparison],
    caveats: Mapping[str, str],
) -> tuple[Cell, ...]:
    drawn, point = view.is_comparable(pair), points.get(_key(pair))
    p_value, effect = (pair.p_adjusted, pair.effect) if drawn else (None, None)
    return (
        pair.workload,
        numbers.operation_title(pair.operation),
        _where(pair, view),
        f"{pair.other} ÷ {pair.base}",
        _answer(point) if point is not None and drawn and not pair.has_too_few else _result(pair, drawn),
        Num(numbers.significant(pair.ratio) if drawn else numbers.NONE, pair.ratio if drawn else None),
        _interval(pair.low, pair.high) if drawn else numbers.NONE,
        _interval(pair.simultaneous_low, pair.simultaneous_high) if drawn else numbers.NONE,
        Num(numbers.p_value(p_value), p_value),
        Num(numbers.signed(effect), effect),
        numbers.repeats(pair.n_base, pair.n_other),
        *(_of_latency(latencies.get((name, *_key(pair))), drawn) for name in ("p50", "p99")),
        caveats.get(pair.caveat, numbers.NONE),
    )


def _interval(low: float | None, high: float | None) -> str:
    return numbers.NONE if low is None or high is None else f"{numbers.significant(low)} to {numbers.significant(high)}"


def _of_latency(pair: Comparison | None, drawn: bool) -> Num:
    if pair is None or not drawn:
        return Num(numbers.NONE, None)
    ends = [end if pair.ratio > 1 else 1 / end for end in (pair.low, pair.high) if end]
    interval = f" ({' to '.join(map(numbers.ratio, sorted(ends)))})" if len(ends) == 2 else ""
    return Num(f"{_lower(pair.ratio)}{interval}{'*' if pair.separable else ''}", pair.ratio)


def _answer(point: PointDecision) -> str:
    """Return the outcome of a point in the words of the short answer."""
    words = {PointOutcome.FASTER: f"{point.winner} faster", PointOutcome.EQUAL: "equal", PointOutcome.OPEN: "undecided"}
    return words.get(point.outcome, "not decided" if point.shows_ratio else "not compared")


def _result(pair: Comparison, drawn: bool) -> str:
    if not drawn:
        return "not compared"
    if pair.has_too_few:
        return "too few repeats"
    return f"{pair.other if pair.is_better else pair.base} faster" if pair.separable else "no clear difference"
