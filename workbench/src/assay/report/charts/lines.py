"""Rate or latency against a swept axis, one line per target and point of the other axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from assay.model.result.percentile import Standing
from assay.model.result.result import Row
from assay.report import numbers, percentiles
from assay.report.charts.theme import (
    Figure,
    colours,
    marked_dots,
    measured_axis,
    of_lines,
    of_targets,
    pointed,
    rate_of,
    swept_axis,
)
from assay.report.draw.drawing import Dot, Drawing, Interval, Mark, Path
from assay.report.measure import measure_of
from assay.report.view import plausible, point

Metric = Literal["rate", "latency"]
MOST_SERIES = 5


@dataclass(frozen=True, slots=True)
class _Point:
    row: Row
    series: str
    at: float
    figure: Figure


def line_chart(
    rows: Sequence[Row], axis: str, others: Sequence[str], targets: Sequence[str], metric: Metric
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
    setting = [value for p in points for value in p.figure.setting(p.row.verdict, plausible(p.row))]
    title = measure_of(rows[0].operation).axis if metric == "rate" else "Median latency (µs)"
    names = [axis, *others]
    dots = [(_dot(p, names, shades, series.index(p.series)), p.row.verdict) for p in points]
    x = swept_axis(axis, [row.case.axes.get(axis) for row in rows])
    marks = (*_lines(points, series, shades), *marked_dots(dots))
    name = " / ".join(numbers.axis_title(name) for name in others)
    legends = (
        *of_targets(targets, (found.row.case.target for found in points)),
        *of_lines(name, series, MOST_SERIES, shapes=True),
    )
    return Drawing(x, measured_axis(setting, title), marks, legends)


def _dot(found: _Point, names: Sequence[str], shades: dict[str, str], shape: int) -> Dot:
    case, words = found.row.case, found.figure.words
    title = pointed(case.target, point(case.axes, names), words, found.row.verdict.value)
    return Dot(found.at, found.figure.middle, shades[case.target], title, shape)


def _lines(points: Sequence[_Point], series: Sequence[str], shades: dict[str, str]) -> list[Mark]:
    """Return lines and intervals of the results that are neither cached nor impossible."""

    def line(found: _Point) -> tuple[str, str]:
        return found.row.case.target, found.series

    sound = [found for found in points if plausible(found.row)]
    marks: list[Mark] = []
    for (target, name), group in groupby(sorted(sound, key=line), key=line):
        places = tuple(sorted((found.at, found.figure.middle) for found in group))
        marks.append(Path(places, shades[target], dash=series.index(name)))
    for found in sound:
        ends = found.figure.low, found.figure.high
        marks.append(Interval((found.at, found.at), ends, shades[found.row.case.target]))
    return marks


def _point(row: Row, axis: str, others: Sequence[str], metric: Metric) -> _Point | None:
    found = rate_of(row) if metric == "rate" else _latency(row)
    x = row.case.axes.get(axis)
    if found is None or not isinstance(x, int | float):
        return None
    return _Point(row, point(row.case.axes, others), float(x), found)


def _latency(row: Row) -> Figure | None:
    half, tail = row.percentile("p50"), row.percentile("p99")
    if half is None or half.value is None:
        return None
    ends = (half.lowest, half.highest) if half.standing is Standing.UNCERTAIN else half.interval
    low, high = (half.value if end is None else end for end in ends)
    words = f"p50 {percentiles.words(half)}"
    if tail is not None:
        words += f"; p99 {percentiles.words(tail)}"
    return Figure(half.value / 1e3, low / 1e3, high / 1e3, words)
