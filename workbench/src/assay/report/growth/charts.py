"""Charts of totals that grow with hosts, tasks or lanes, and of how much results vary."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.analyse.growth.best import BestPoint
from assay.analyse.growth.variation import SMALL, Variation
from assay.analyse.scaling import Scaling
from assay.model.units import about_number
from assay.report import numbers
from assay.report.charts.theme import measured_axis, share_axis, swept_axis, tooltip_text
from assay.report.draw.drawing import (
    ChartAxis,
    Dot,
    Drawing,
    IntervalMark,
    Legend,
    LegendEntry,
    LineMark,
    Mark,
    ReferenceLine,
)
from assay.report.draw.svg import colour_class
from assay.report.growth.sentences import count_words, has_several_workloads, number_words, scaling_title
from assay.report.measure import measure_of

MAX_LINES = 12
"""Most lines of one chart."""


@dataclass(frozen=True, slots=True)
class LinePoint:
    """A point of a line, in the unit of the axis; `ideal` is the value if each host added as much as the first."""

    line: str
    x: float
    y: float
    low: float
    high: float
    words: str
    ideal: float | None = None


def totals_chart(found: Sequence[Scaling]) -> Drawing:
    """Draw totals with intervals against the number of hosts, and dashed lines for ideal growth.

    Args:
        found: Totals of one operation along one axis; the first `MAX_LINES` are drawn.
    """
    measure, axis = measure_of(found[0].operation), found[0].axis
    points: list[LinePoint] = []
    for one in found[:MAX_LINES]:
        first, name = one.points[0], scaling_title(one, has_several_workloads(found))
        for point in one.points:
            low, high = (point.rate if end is None else end for end in (point.low, point.high))
            value_words = f"{measure.text(point.rate)}, {numbers.share(point.efficiency)} of the ideal"
            words = tooltip_text(name, count_words(one, point.number), value_words)
            ideal = first.rate * point.number / first.number / measure.scale
            ends = low / measure.scale, high / measure.scale
            points.append(LinePoint(name, point.number, point.rate / measure.scale, *ends, words, ideal))
    heights = [value for point in points for value in (point.y, point.ideal or point.y)]
    return number_lines(points, axis, measured_axis(heights, measure.axis_title))


def efficiency_chart(found: Sequence[Scaling]) -> Drawing:
    """Draw efficiency with its interval against the number of hosts, for the same arguments as `totals_chart`."""
    axis = found[0].axis
    points: list[LinePoint] = []
    for one in found[:MAX_LINES]:
        name = scaling_title(one, has_several_workloads(found))
        for point in one.points:
            low, high = point.efficiency_interval or (point.efficiency, point.efficiency)
            value_words = f"{numbers.share(point.efficiency)}"
            value_words += f" ({numbers.share(low)} to {numbers.share(high)})" if point.efficiency_interval else ""
            words = tooltip_text(name, count_words(one, point.number), value_words)
            points.append(LinePoint(name, point.number, point.efficiency, low, high, words))
    top = max([1.0, *(point.high for point in points)])
    return number_lines(points, axis, share_axis(min(2.0, 1.05 * top), "Efficiency"))


def best_chart(found: Sequence[BestPoint]) -> Drawing:
    """Draw the best rate against the number of hosts, a line for each target, for one operation and axis."""
    measure, axis = measure_of(found[0].operation), found[0].axis
    points: list[LinePoint] = []
    for item in found:
        low, high = (item.rate if end is None else end for end in (item.low, item.high))
        at = ", ".join(numbers.axis_value(name, value) for name, value in item.at)  # type: ignore[arg-type]
        words = tooltip_text(
            item.target, f"{number_words(axis, item.number, item.operation)}, {at}", measure.text(item.rate)
        )
        ends = low / measure.scale, high / measure.scale
        points.append(LinePoint(item.target, item.number, item.rate / measure.scale, *ends, words))
    return number_lines(points, axis, measured_axis([point.y for point in points], measure.axis_title))


def variation_chart(found: Sequence[Variation], hosts: bool) -> Drawing:
    """Draw the coefficient of variation against the size of a transfer, a line for each target and workload.

    Args:
        found: Variations of one operation.
        hosts: Draw the variation between numbers of hosts, instead of that between repeats.
    """
    points: list[LinePoint] = []
    for one in found[:MAX_LINES]:
        for item in one.sizes:
            value = item.hosts if hosts else item.repeats.value if item.repeats else None
            if value is None:
                continue
            ends = (value, value) if hosts or item.repeats is None else (item.repeats.low, item.repeats.high)
            name = f"{one.target}, {one.workload}"
            words = tooltip_text(name, numbers.size(item.size), f"{about_number(100 * value, 2)} %")
            points.append(LinePoint(name, item.size, value, *ends, words))
    top = max((point.y for point in points), default=0.1)
    drawing = number_lines(points, "record_size", share_axis(1.4 * top or 0.1, "Coefficient of variation"))
    inside = drawing.x.scale.low <= SMALL <= drawing.x.scale.high
    return replace(drawing, marks=(*drawing.marks, ReferenceLine(float(SMALL), "mark"))) if inside else drawing


def _along(point: LinePoint) -> float:
    return point.x


def number_lines(points: Sequence[LinePoint], axis: str, y: ChartAxis) -> Drawing:
    """Draw lines with points and intervals, one colour for each, and dashed lines for ideal growth.

    Args:
        points: All points; those with the same `line` are connected.
        axis: Name of the horizontal axis.
        y: The vertical axis.
    """
    lines: dict[str, list[LinePoint]] = {}
    for point in points:
        lines.setdefault(point.line, []).append(point)
    shades = {name: colour_class(number) for number, name in enumerate(lines)}
    ideal: list[Mark] = []
    drawn: list[Mark] = []
    for number, (name, its) in enumerate(lines.items()):
        if any(point.ideal is not None for point in its):
            ideal.append(
                LineMark(tuple((point.x, point.ideal) for point in sorted(its, key=_along)), shades[name], look="ideal")
            )
        drawn.append(
            LineMark(tuple((point.x, point.y) for point in sorted(its, key=_along)), shades[name], name, number // 8)
        )
        drawn += [IntervalMark((point.x, point.x), (point.low, point.high), shades[name]) for point in its]
    dots = [Dot(point.x, point.y, shades[point.line], point.words) for point in points]
    keys = tuple(LegendEntry(name, colour, 0, number // 8) for number, (name, colour) in enumerate(shades.items()))
    x = swept_axis(axis, [point.x for point in points])
    return Drawing(x, y, (*ideal, *drawn, *dots), (Legend("", keys),) if len(keys) > 1 else ())
