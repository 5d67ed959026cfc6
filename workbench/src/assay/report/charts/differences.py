"""Differences between two runs, with their intervals, on a common scale."""

from collections.abc import Sequence

from assay.model.result.comparison import ComparedRow
from assay.report import numbers
from assay.report.charts.theme import tooltip_text
from assay.report.draw.drawing import (
    ChartAxis,
    Dot,
    Drawing,
    IntervalMark,
    Legend,
    LegendEntry,
    Mark,
    NamedRows,
    ReferenceLine,
)
from assay.report.draw.scales import AxisScale, linear_scale, log_scale, tick_text
from assay.report.measure import measure_of
from assay.report.view import point_words

_STEP = 30
"""Height of a row in pixels: two lines of a name fit in."""
_KINDS = {"faster": "good", "slower": "bad", "no significant difference": "soft"}


def difference_chart(rows: Sequence[ComparedRow]) -> Drawing:
    """Draw each row's difference with its 95 % interval and a line at no difference; significant ones are coloured."""
    names = {row.what: _name(row) for row in rows}
    places = {what: place + 0.5 for place, what in enumerate(names)}
    marks: list[Mark] = [ReferenceLine(1.0, "one")]
    values, present = [1.0], set()
    dots: list[Mark] = []
    for row in rows:
        pair, y, kind = row.comparison, places[row.what], _kind(row)
        present.add(kind)
        values.append(pair.ratio)
        if pair.low is not None and pair.high is not None:
            values += pair.low, pair.high
            marks.append(IntervalMark((pair.low, pair.high), (y, y), _KINDS[kind]))
        dots.append(Dot(pair.ratio, y, _KINDS[kind], tooltip_text(row.what, _measured(row), kind)))
    keys = tuple(LegendEntry(name, shade) for name, shade in _KINDS.items() if name in present)
    return Drawing(_axis(values), NamedRows(tuple(names.values()), _STEP), (*marks, *dots), (Legend("", keys),))


def _axis(ratios: Sequence[float]) -> ChartAxis:
    """Return an axis in percent if all ratios are between a half and 2, else a logarithmic axis of ratios."""
    if max(ratios) < numbers.FACTOR_FROM and min(ratios) > 1 / numbers.FACTOR_FROM:
        percent = linear_scale([100 * (ratio - 1) for ratio in ratios])
        ticks = tuple((1 + tick / 100, f"{'+' if tick > 0 else ''}{tick_text(tick)}") for tick in percent.ticks())
        return ChartAxis("Difference (%)", AxisScale(1 + percent.low / 100, 1 + percent.high / 100), ticks)
    scale = log_scale([ratio for ratio in ratios if ratio > 0], room=1.15)
    return ChartAxis("After ÷ before, log scale", scale, tuple((tick, f"{tick_text(tick)}×") for tick in scale.ticks()))


def _name(row: ComparedRow) -> str:
    """Name a row, the operation first, since the end of a long name is cut off."""
    pair = row.comparison
    where = point_words(pair.axes, pair.axes)
    return f"{numbers.operation_title(pair.operation)}, {pair.workload}{f': {where}' if where else ''}"


def _kind(row: ComparedRow) -> str:
    if not row.comparison.separable:
        return "no significant difference"
    return "faster" if row.comparison.ratio > 1 else "slower"


def _measured(row: ComparedRow) -> str:
    pair, measure = row.comparison, measure_of(row.comparison.operation)
    rates = f"{measure.text(row.before.rate.median)} before, {measure.text(row.after.rate.median)} after"
    return f"{rates}, n = {numbers.repeats(pair.n_base, pair.n_other)}"
