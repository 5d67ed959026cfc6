"""Rate or latency against a swept axis, one line per target and point of the other axes."""

from collections.abc import Sequence
from typing import Literal

from assay.model.result.percentile import Standing
from assay.model.result.result import Row
from assay.model.study.axis import AxisValue
from assay.report import numbers, percentiles
from assay.report.charts.theme import Spec, colour, finish, magnitude, marks, measured, setting, swept
from assay.report.measure import measure_of
from assay.report.view import plausible, point

Metric = Literal["rate", "latency"]
_HEIGHT = 230
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross"]
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4]]
MOST_SERIES = len(_SHAPES)


def line_chart(rows: Sequence[Row], axis: str, others: Sequence[str], targets: Sequence[str], metric: Metric) -> Spec:
    """The specification of one operation's line chart.

    Args:
        rows: Of one operation.
        axis: Runs right.
        others: The axes whose points give a line each.
        targets: One colour each.
        metric: rate: median and 95 % interval in the operation's measure; latency: likewise of p50, in µs, with the
            range of the repeats where the interval would set the scale for all.
    """
    data = [datum for row in rows if (datum := _datum(row, axis, others, metric)) is not None]
    series = list(dict.fromkeys(datum["s"] for datum in data))
    honest = [value for datum in data for value in setting(datum, "y")]
    title = measure_of(rows[0].operation).axis if metric == "rate" else "Median latency (µs)"
    x: Spec = {"field": "x", **swept(axis, [row.case.axes.get(axis) for row in rows])}
    y: Spec = {"field": "y", **magnitude(honest, title)}
    base: Spec = {"x": x, "y": y, "color": colour(targets)}
    shape: Spec | None = None
    dash: Spec = {}
    if len(series) > 1:
        legend: Spec = {"title": " / ".join(numbers.axis_title(name) for name in others), "symbolFillColor": "#5b6773"}
        shape = {"field": "s", "type": "nominal", "scale": {"domain": series, "range": _SHAPES}, "legend": legend}
        dash["strokeDash"] = {**shape, "scale": {"domain": series, "range": _DASHES}}
    line: Spec = {"mark": {"type": "line", "strokeWidth": 2, "opacity": 0.85}, "transform": [{"filter": "datum.o"}]}
    whisker: Spec = {"mark": {"type": "rule", "strokeWidth": 1.4, "opacity": 0.7}, "transform": [{"filter": "datum.o"}]}
    ends: Spec = {"x": x, "y": {**y, "field": "l"}, "y2": {"field": "h"}, "color": base["color"]}
    layers = [
        {**line, "encoding": {**base, **dash, "detail": {"field": "s", "type": "nominal"}}},
        {**whisker, "encoding": ends},
        *marks(data, base, shape),
    ]
    return finish({"data": {"values": data}, "width": "container", "height": _HEIGHT, "layer": layers})


def _datum(row: Row, axis: str, others: Sequence[str], metric: Metric) -> Spec | None:
    found = _rate(row) if metric == "rate" else _latency(row)
    x: AxisValue = row.case.axes.get(axis)
    if found is None or not isinstance(x, int | float):
        return None
    middle, low, high, words = found
    return {
        "t": row.case.target,
        "x": x,
        "y": middle,
        "l": low,
        "h": high,
        "s": point(row.case.axes, others),
        "v": row.verdict.value,
        "o": plausible(row),
        "p": point(row.case.axes, [axis, *others]),
        "m": words,
    }


def _rate(row: Row) -> tuple[float, float, float, str] | None:
    value, scale = row.rate, measure_of(row.operation).scale
    if value is None:
        return None
    low, high = (value.median if end is None else end for end in (value.low, value.high))
    return value.median / scale, max(low, value.median * 0.01) / scale, high / scale, measured(row)


def _latency(row: Row) -> tuple[float, float, float, str] | None:
    half, tail = row.percentile("p50"), row.percentile("p99")
    if half is None or half.value is None:
        return None
    ends = (half.lowest, half.highest) if half.standing is Standing.UNCERTAIN else half.interval
    low, high = (half.value if end is None else end for end in ends)
    words = f"p50 {percentiles.words(half)}"
    if tail is not None:
        words += f"; p99 {percentiles.words(tail)}"
    return half.value / 1e3, low / 1e3, high / 1e3, words
