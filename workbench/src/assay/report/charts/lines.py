"""Rate or latency against a swept axis, one line per target and point of the other axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from assay.model.result.percentile import PercentileQuality
from assay.model.result.result import ResultRow
from assay.report import numbers, percentiles
from assay.report.charts.theme import (
    PlottedValue,
    colours,
    line_legend,
    measured_axis,
    plotted_rate,
    swept_axis,
    target_legend,
    tooltip_text,
    verdict_dots,
)
from assay.report.draw.drawing import Dot, Drawing, IntervalMark, LineMark, Mark
from assay.report.measure import measure_of
from assay.report.view import is_plausible, point_words

ChartQuantity = Literal["rate", "latency"]
MAX_SERIES = 5


@dataclass(frozen=True, slots=True)
class _Point:
    row: ResultRow
    series: str
    at: float
    figure: PlottedValue


def line_chart(
    rows: Sequence[ResultRow], axis: str, others: Sequence[str], targets: Sequence[str], metric: ChartQuantity
) -> Drawing:
    """Return one operation's line chart.

    Args:
        rows: Results of one operation.
        axis: The horizontal axis.
        others: The other axes; each point on them has its own line.
        targets: All targets; each has its own colour.
        metric: `rate`: median and 95 % interval in the operation's measure. `latency`: median and 95 % interval of p50,
            in µs; if the interval is too wide, the range of the repeats instead.
    """
    points = [found for row in rows if (found := _point(row, axis, others, metric)) is not None]
    series = list(dict.fromkeys(found.series for found in points))
    shades = colours(targets)
    setting = [value for p in points for value in p.figure.scale_values(p.row.verdict, is_plausible(p.row))]
    title = measure_of(rows[0].operation).axis_title if metric == "rate" else "Median latency (µs)"
    names = [axis, *others]
    dots = [(_dot(p, names, shades, series.index(p.series)), p.row.verdict) for p in points]
    x = swept_axis(axis, [row.case.axes.get(axis) for row in rows])
    marks = (*_lines(points, series, shades), *verdict_dots(dots))
    name = " / ".join(numbers.axis_title(name) for name in others)
    legends = (
        *target_legend(targets, (found.row.case.target for found in points)),
        *line_legend(name, series, MAX_SERIES, shapes=True),
    )
    return Drawing(x, measured_axis(setting, title), marks, legends)


def _dot(found: _Point, names: Sequence[str], shades: dict[str, str], shape: int) -> Dot:
    case, words = found.row.case, found.figure.words
    title = tooltip_text(case.target, point_words(case.axes, names), words, found.row.verdict.value)
    return Dot(found.at, found.figure.middle, shades[case.target], title, shape)


def _lines(points: Sequence[_Point], series: Sequence[str], shades: dict[str, str]) -> list[Mark]:
    """Return lines and intervals of the results that are neither cached nor impossible."""

    def line(found: _Point) -> tuple[str, str]:
        return found.row.case.target, found.series

    sound = [found for found in points if is_plausible(found.row)]
    marks: list[Mark] = []
    for (target, name), group in groupby(sorted(sound, key=line), key=line):
        places = tuple(sorted((found.at, found.figure.middle) for found in group))
        marks.append(LineMark(places, shades[target], dash=series.index(name)))
    for found in sound:
        ends = found.figure.low, found.figure.high
        marks.append(IntervalMark((found.at, found.at), ends, shades[found.row.case.target]))
    return marks


def _point(row: ResultRow, axis: str, others: Sequence[str], metric: ChartQuantity) -> _Point | None:
    found = plotted_rate(row) if metric == "rate" else _latency(row)
    x = row.case.axes.get(axis)
    if found is None or not isinstance(x, int | float):
        return None
    return _Point(row, point_words(row.case.axes, others), float(x), found)


def _latency(row: ResultRow) -> PlottedValue | None:
    half, tail = row.percentile("p50"), row.percentile("p99")
    if half is None or half.value is None:
        return None
    ends = (half.lowest, half.highest) if half.quality is PercentileQuality.UNCERTAIN else half.interval
    low, high = (half.value if end is None else end for end in ends)
    words = f"p50 {percentiles.percentile_words(half)}"
    if tail is not None:
        words += f"; p99 {percentiles.percentile_words(tail)}"
    return PlottedValue(half.value / 1e3, low / 1e3, high / 1e3, words)
