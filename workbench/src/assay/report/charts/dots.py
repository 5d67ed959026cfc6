"""Dots with intervals on a common scale: rates, and ratios between targets."""

from collections.abc import Sequence

from assay.model.result.result import Comparison, Row
from assay.model.result.verdict import Verdict
from assay.report import numbers
from assay.report.charts.theme import (
    colours,
    marked_dots,
    measured_axis,
    of_targets,
    on_ticks,
    pointed,
    rate_of,
)
from assay.report.draw.drawing import Dot, Drawing, Interval, Key, Legend, Mark, Rows, Rule, Words
from assay.report.draw.scales import Scale
from assay.report.measure import measure_of
from assay.report.view import View, plausible, point

_STEP = 24
_APART = "no clear difference"


def plain_chart(rows: Sequence[Row], view: View) -> Drawing:
    """Draw the rate per workload, operation and target, for workloads without a numeric axis; all of one measure."""
    shades = colours(view.targets)
    drawn = [row for row in rows if rate_of(row) is not None]
    present = [target for target in view.targets if any(row.case.target == target for row in drawn)]
    count = len(present)
    names: list[str] = []
    dots: list[tuple[Dot, Verdict]] = []
    intervals: list[Mark] = []
    setting: list[float] = []
    for row in drawn:
        if (figure := rate_of(row)) is None:
            continue
        where, target = view.point_of(row), row.case.target
        name = f"{row.case.workload}: {numbers.operation_title(row.operation)}{f', {where}' if where else ''}"
        if name not in names:
            names.append(name)
        y = names.index(name) + (present.index(target) + 0.5) / count
        words = pointed(target, name, figure.words, row.verdict.value)
        dots.append((Dot(figure.middle, y, shades[target], words), row.verdict))
        setting += figure.setting(row.verdict, plausible(row))
        if plausible(row):
            intervals.append(Interval((figure.low, figure.high), (y, y), shades[target]))
    x = measured_axis(setting, measure_of(rows[0].operation).axis)
    step = max(26, 13 * count)
    legends = tuple(of_targets(view.targets, present))
    return Drawing(x, Rows(tuple(names), step), (*intervals, *marked_dots(dots)), legends)


def ratio_chart(pairs: Sequence[Comparison], view: View) -> Drawing:
    """Draw the ratio of rates with its 95 % interval, one row per point, and a line at 1.

    A dot has the colour of the faster target if the difference is significant, else it is grey. It is hollow if a
    side's verdict makes the comparison doubtful, and missing if a side has no rate or is cached or impossible.
    """
    names = list(dict.fromkeys(_where(pair, view) for pair in pairs))
    drawn = [pair for pair in pairs if view.comparable(pair)]
    # The interval of a doubtful pair does not set the scale.
    ends = [value for pair in drawn for value in ((pair.ratio,) if pair.caveat else (pair.ratio, pair.low, pair.high))]
    values = [value for value in ends if value]
    scale = Scale(min([*values, 1.0]) * 0.9, max([*values, 1.0]) * 1.1, logarithmic=True)
    shades = colours(view.targets) | {_APART: "soft"}
    marks: list[Mark] = [Rule(1.0, "one")]
    dots: list[tuple[Dot, Verdict]] = []
    winners = set()
    for pair in pairs:
        where = _where(pair, view)
        y = names.index(where) + 0.5
        title = f"{pair.other} ÷ {pair.base}"
        if not view.comparable(pair):
            words = f"not compared: {pair.caveat}" if pair.caveat else "not compared"
            marks.append(Words(1.0, y, words, pointed(title, where, "not compared")))
            continue
        winner = (pair.other if pair.ratio > 1 else pair.base) if pair.separable else _APART
        winners.add(winner)
        if pair.low is not None and pair.high is not None:
            marks.append(Interval((pair.low, pair.high), (y, y), shades[winner]))
        verdict = _worst(pair, view)
        dots.append((Dot(pair.ratio, y, shades[winner], pointed(title, where, _ratio(pair), verdict.value)), verdict))
    title = f"{measure_of(pairs[0].operation).title} of {pairs[0].other} ÷ {pairs[0].base}, log scale"
    keys = tuple(Key(name, shade) for name, shade in shades.items() if name in winners)
    legends = (Legend("Faster", keys),) if keys else ()
    return Drawing(on_ticks(scale, title), Rows(tuple(names), _STEP), (*marks, *marked_dots(dots)), legends)


def _where(pair: Comparison, view: View) -> str:
    return point(pair.axes, view.swept_of(pair.workload)) or pair.workload


def _worst(pair: Comparison, view: View) -> Verdict:
    """Return the verdict that makes a comparison doubtful; ok if there is none."""
    verdicts = (row.verdict for row in view.sides(pair) if row is not None and row.verdict is not Verdict.OK)
    return next(verdicts, Verdict.OK) if pair.caveat else Verdict.OK


def _ratio(pair: Comparison) -> str:
    words = numbers.ratio(pair.ratio)
    if pair.low is not None and pair.high is not None:
        words += f" ({numbers.ratio(pair.low)} to {numbers.ratio(pair.high)})"
    return words
