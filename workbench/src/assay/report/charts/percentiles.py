"""Latency percentile curves, stretched towards the tail."""

from collections.abc import Sequence

from assay.model.result.percentile import MIN_BEYOND
from assay.model.result.result import ResultRow
from assay.report import numbers
from assay.report.charts.theme import colours, line_legend, target_legend, ticked_axis, tooltip_text
from assay.report.draw.drawing import ChartAxis, Dot, Drawing, LineMark, Mark
from assay.report.draw.scales import AxisScale
from assay.report.view import RunView

_DASHES = 3
_NINES = {
    2: "50",
    10: "90",
    100: "99",
    1000: "99.9",
    10_000: "99.99",
    100_000: "99.999",
    1_000_000: "99.9999",
}
_BETWEEN = {4: "75", 20: "95"}
"""Further ticks for charts in which all curves end before 99 %."""


def percentile_chart(rows: Sequence[ResultRow], view: RunView) -> Drawing:
    """Draw pooled latency against 1 / (1 - p), so that each nine of the percentile takes the same room.

    A curve ends at the last percentile for which there are enough operations.

    Args:
        rows: Results of one operation, at a few points, on all targets.
        view: The run, for names and colours.
    """
    shades = colours(view.targets)
    series = list(dict.fromkeys(_series(row, view) for row in rows if _curve(row)))
    paths: list[Mark] = []
    dots: list[Dot] = []
    for row in rows:
        curve, name, shade = _curve(row), _series(row, view), shades[row.case.target]
        if not curve:
            continue
        words = tooltip_text(row.case.target, name, row.verdict.value)
        points = tuple((x, y) for x, y, _ in curve)
        paths.append(LineMark(points, shade, words, series.index(name) % _DASHES, step="after"))
        dots += [Dot(x, y, shade, tooltip_text(row.case.target, title), look="unseen") for x, y, title in curve]
    far = max((dot.x for dot in dots), default=10.0)
    heights = [dot.y for dot in dots] or [1.0]
    places = _NINES if far >= 100 else _NINES | _BETWEEN
    ticks = tuple((float(place), places[place]) for place in sorted(places) if place <= far * 1.01)
    x = ChartAxis("Percentile of operations (%)", AxisScale(1.0, far * 1.05, logarithmic=True), ticks)
    y = ticked_axis(AxisScale(min(heights) * 0.8, max(heights) * 1.25, logarithmic=True), "Latency (µs), log scale")
    legends = (
        *target_legend(view.targets, (row.case.target for row in rows if _curve(row))),
        *line_legend("At", series, _DASHES),
    )
    return Drawing(x, y, (*paths, *dots), legends)


def _series(row: ResultRow, view: RunView) -> str:
    return view.point_of(row) or row.case.workload


def _curve(row: ResultRow) -> list[tuple[float, float, str]]:
    """Return 1 / (1 - p), latency in µs and both in words for each point of a curve."""
    half = row.percentile("p50")
    operations = 0 if half is None else half.ops
    return [
        (1 / rest, max(nanoseconds, 1) / 1e3, f"{percent:.6g} %: {numbers.latency(nanoseconds)}")
        for percent, nanoseconds in row.curve
        if (rest := 1 - percent / 100) * operations >= MIN_BEYOND
    ]
