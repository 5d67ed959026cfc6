"""Dots with intervals on a common scale: rates, and ratios between targets."""

from collections.abc import Sequence

from assay.model.result.result import Comparison, ResultRow
from assay.model.result.verdict import Verdict
from assay.report import numbers
from assay.report.charts.theme import (
    colours,
    measured_axis,
    plotted_rate,
    target_legend,
    ticked_axis,
    tooltip_text,
    verdict_dots,
)
from assay.report.draw.drawing import (
    Dot,
    Drawing,
    IntervalMark,
    Legend,
    LegendEntry,
    Mark,
    NamedRows,
    ReferenceLine,
    TextMark,
)
from assay.report.draw.scales import AxisScale
from assay.report.measure import measure_of
from assay.report.view import RunView, is_plausible, point_words

_STEP = 24
_APART = "no clear difference"


def plain_chart(rows: Sequence[ResultRow], view: RunView) -> Drawing:
    """Draw the rate per workload, operation and target, for workloads without a numeric axis; all of one measure."""
    shades = colours(view.targets)
    drawn = [row for row in rows if plotted_rate(row) is not None]
    present = [target for target in view.targets if any(row.case.target == target for row in drawn)]
    count = len(present)
    names: list[str] = []
    dots: list[tuple[Dot, Verdict]] = []
    intervals: list[Mark] = []
    setting: list[float] = []
    for row in drawn:
        if (figure := plotted_rate(row)) is None:
            continue
        where, target = view.point_of(row), row.case.target
        name = f"{row.case.workload}: {numbers.operation_title(row.operation)}{f', {where}' if where else ''}"
        if name not in names:
            names.append(name)
        y = names.index(name) + (present.index(target) + 0.5) / count
        words = tooltip_text(target, name, figure.words, row.verdict.value)
        dots.append((Dot(figure.middle, y, shades[target], words), row.verdict))
        setting += figure.scale_values(row.verdict, is_plausible(row))
        if is_plausible(row):
            intervals.append(IntervalMark((figure.low, figure.high), (y, y), shades[target]))
    x = measured_axis(setting, measure_of(rows[0].operation).axis_title)
    step = max(26, 13 * count)
    legends = tuple(target_legend(view.targets, present))
    return Drawing(x, NamedRows(tuple(names), step), (*intervals, *verdict_dots(dots)), legends)


def ratio_chart(pairs: Sequence[Comparison], view: RunView) -> Drawing:
    """Draw the ratio of rates with its 95 % interval, one row per point, and a line at 1.

    A dot has the colour of the faster target if the difference is significant, else it is grey. It is hollow if a
    side's verdict makes the comparison doubtful, and missing if a side has no rate or is cached or impossible.
    """
    names = list(dict.fromkeys(_where(pair, view) for pair in pairs))
    drawn = [pair for pair in pairs if view.is_comparable(pair)]
    # The interval of a doubtful pair does not set the scale.
    ends = [value for pair in drawn for value in ((pair.ratio,) if pair.caveat else (pair.ratio, pair.low, pair.high))]
    values = [value for value in ends if value]
    scale = AxisScale(min([*values, 1.0]) * 0.9, max([*values, 1.0]) * 1.1, logarithmic=True)
    shades = colours(view.targets) | {_APART: "soft"}
    marks: list[Mark] = [ReferenceLine(1.0, "one")]
    dots: list[tuple[Dot, Verdict]] = []
    winners = set()
    for pair in pairs:
        where = _where(pair, view)
        y = names.index(where) + 0.5
        title = f"{pair.other} ÷ {pair.base}"
        if not view.is_comparable(pair):
            words = f"not compared: {pair.caveat}" if pair.caveat else "not compared"
            marks.append(TextMark(1.0, y, words, tooltip_text(title, where, "not compared")))
            continue
        winner = (pair.other if pair.ratio > 1 else pair.base) if pair.separable else _APART
        winners.add(winner)
        if pair.low is not None and pair.high is not None:
            marks.append(IntervalMark((pair.low, pair.high), (y, y), shades[winner]))
        verdict = _worst(pair, view)
        dots.append(
            (Dot(pair.ratio, y, shades[winner], tooltip_text(title, where, _ratio(pair), verdict.value)), verdict)
        )
    title = f"{measure_of(pairs[0].operation).title} of {pairs[0].other} ÷ {pairs[0].base}, log scale"
    keys = tuple(LegendEntry(name, shade) for name, shade in shades.items() if name in winners)
    legends = (Legend("Faster", keys),) if keys else ()
    return Drawing(ticked_axis(scale, title), NamedRows(tuple(names), _STEP), (*marks, *verdict_dots(dots)), legends)


def _where(pair: Comparison, view: RunView) -> str:
    return point_words(pair.axes, view.swept_axes_of(pair.workload)) or pair.workload


def _worst(pair: Comparison, view: RunView) -> Verdict:
    """Return the verdict that makes a comparison doubtful; ok if there is none."""
    verdicts = (row.verdict for row in view.sides(pair) if row is not None and row.verdict is not Verdict.OK)
    return next(verdicts, Verdict.OK) if pair.caveat else Verdict.OK


def _ratio(pair: Comparison) -> str:
    words = numbers.ratio(pair.ratio)
    if pair.low is not None and pair.high is not None:
        words += f" ({numbers.ratio(pair.low)} to {numbers.ratio(pair.high)})"
    return words
