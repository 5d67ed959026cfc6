"""Differences between two runs with their intervals, on a common scale."""

from collections.abc import Sequence

from assay.model.result.comparison import ComparedRow
from assay.report import numbers
from assay.report.charts.theme import pointed
from assay.report.draw.drawing import Axis, Dot, Drawing, Interval, Key, Legend, Mark, Rows, Rule
from assay.report.draw.scales import amount, spread
from assay.report.measure import measure_of

_STEP = 24
_KINDS = {"faster": "good", "slower": "bad", "no significant difference": "soft"}


def difference_chart(rows: Sequence[ComparedRow]) -> Drawing:
    """Difference of each row in percent, its 95 % interval, a mark at none; coloured where it is significant."""
    names = list(dict.fromkeys(row.what for row in rows))
    marks: list[Mark] = [Rule(0.0, "one")]
    values, present = [0.0], set()
    dots: list[Mark] = []
    for row in rows:
        pair, y, kind = row.comparison, names.index(row.what) + 0.5, _kind(row)
        present.add(kind)
        middle = 100 * (pair.ratio - 1)
        values.append(middle)
        if pair.low is not None and pair.high is not None:
            ends = 100 * (pair.low - 1), 100 * (pair.high - 1)
            values += ends
            marks.append(Interval(ends, (y, y), _KINDS[kind]))
        dots.append(Dot(middle, y, _KINDS[kind], pointed(row.what, _measured(row), kind)))
    scale = spread(values)
    ticks = tuple((tick, f"{'+' if tick > 0 else ''}{amount(tick)}") for tick in scale.ticks())
    keys = tuple(Key(name, shade) for name, shade in _KINDS.items() if name in present)
    x = Axis("Difference (%)", scale, ticks)
    return Drawing(x, Rows(tuple(names), _STEP), (*marks, *dots), (Legend("", keys),))


def _kind(row: ComparedRow) -> str:
    if not row.comparison.separable:
        return "no significant difference"
    return "faster" if row.comparison.ratio > 1 else "slower"


def _measured(row: ComparedRow) -> str:
    pair, measure = row.comparison, measure_of(row.comparison.operation)
    rates = f"{measure.text(row.before.rate.median)} before, {measure.text(row.after.rate.median)} after"
    return f"{rates}, n = {numbers.repeats(pair.n_base, pair.n_other)}"
