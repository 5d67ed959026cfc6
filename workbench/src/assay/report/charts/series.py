"""Lines and groups of bars of plain numbers, a line or a bar of each group for each series."""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.model.base import AssayError
from assay.report.charts.theme import measured_axis, ticked_axis
from assay.report.draw.drawing import (
    BarMark,
    ChartAxis,
    Dot,
    Drawing,
    IntervalMark,
    Legend,
    LegendEntry,
    LineMark,
    Mark,
    NamedRows,
)
from assay.report.draw.marks import DASHES, SHAPES
from assay.report.draw.scales import AxisScale, scale_from_zero
from assay.report.draw.svg import colour_class

MAX_SERIES = 8
"""Most lines, or bars of a group: as many as there are colours."""
_MAX_BARS = 160
_WIDTH = 440
"""Width of the drawn area of a printed chart, in pixels."""
_LETTER = 5.6
_GROUP = 0.8
"""Share of its place that a group of bars takes."""
_BAR_HEIGHT = 11
"""Height of a horizontal bar in pixels."""


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """A value of a series.

    Attributes:
        place: Value on the horizontal axis of lines; number of the group of bars, from 0.
        low, high: Ends of its interval; None without one.
        is_open: It is drawn hollow.
    """

    place: float
    value: float
    low: float | None = None
    high: float | None = None
    is_open: bool = False
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """A line, or a bar of each group.

    Attributes:
        number: Selects colour, dashes, shape and pattern.
    """

    name: str
    number: int
    points: tuple[SeriesPoint, ...]


def lines_drawing(series: Sequence[ChartSeries], x: ChartAxis, title: str, legend: str = "") -> Drawing:
    """Return lines with their points and intervals.

    Args:
        series: The lines.
        x: The horizontal axis.
        title: Title of the vertical axis, with the unit.
        legend: Title of the legend.
    """
    lines: list[Mark] = []
    dots: list[Mark] = []
    for one in series:
        colour = colour_class(one.number)
        for point in one.points:
            if point.low is not None and point.high is not None:
                lines.append(IntervalMark((point.place, point.place), (point.low, point.high), colour))
            look = "open" if point.is_open else ""
            dots.append(Dot(point.place, point.value, colour, point.tooltip, one.number % len(SHAPES), look))
        places = tuple((point.place, point.value) for point in one.points)
        lines.append(LineMark(places, colour, dash=one.number % DASHES))
    keys = [
        LegendEntry(one.name, colour_class(one.number), one.number % len(SHAPES), one.number % DASHES) for one in series
    ]
    return Drawing(x, measured_axis(_ends(series), title), (*lines, *dots), _legends(legend, keys))


def _legends(title: str, keys: Sequence[LegendEntry]) -> tuple[Legend, ...]:
    return (Legend(title, tuple(keys)),) if len(keys) > 1 else ()


def _ends(series: Sequence[ChartSeries]) -> list[float]:
    """Return what a scale must hold: all values and the ends of their intervals."""
    points = [point for one in series for point in one.points]
    return [value for point in points for value in (point.value, point.low, point.high) if value is not None]


def bars_drawing(
    series: Sequence[ChartSeries], names: Sequence[str], x_title: str, title: str, legend: str = ""
) -> Drawing:
    """Return groups of bars; they are horizontal if the names of the groups are long.

    Args:
        series: One bar of each group.
        names: Names of the groups.
        x_title: What the groups are.
        title: What the values are, with their unit.
        legend: Title of the legend.

    Raises:
        AssayError: There are too many bars.
    """
    if len(names) * len(series) > _MAX_BARS:
        raise AssayError(
            f"there would be {len(names) * len(series)} bars", f"at most {_MAX_BARS}; choose some with where, or split"
        )
    is_horizontal = any(_LETTER * len(name) + 6 > _WIDTH / len(names) for name in names)
    values = ticked_axis(scale_from_zero(max([*_ends(series), 0.0])), title)
    wide = _GROUP / len(series)
    marks: list[Mark] = []
    for number in range(len(names)):
        present = [(one, point) for one in series for point in one.points if point.place == number]
        # Where a group lacks a bar, the others stand together in its middle.
        first = number + 0.5 - wide * len(present) / 2
        for at, (one, point) in enumerate(present):
            marks += _bar(one, point, (first + at * wide, first + (at + 0.92) * wide), is_horizontal)
    keys = [LegendEntry(one.name, colour_class(one.number), None, None, pattern=one.number) for one in series]
    legends = _legends(legend, keys)
    if is_horizontal:
        step = max(20, round(_BAR_HEIGHT * len(series) / _GROUP))
        return Drawing(values, NamedRows(tuple(names), step), tuple(marks), legends)
    ticks = tuple((number + 0.5, name) for number, name in enumerate(names))
    x = ChartAxis(x_title, AxisScale(0.0, float(len(names))), ticks, grid=False)
    return Drawing(x, values, tuple(marks), legends)


def _bar(series: ChartSeries, point: SeriesPoint, side: tuple[float, float], is_horizontal: bool) -> list[Mark]:
    """Return a bar with its interval."""
    length, middle = (0.0, point.value), sum(side) / 2
    x, y = (length, side) if is_horizontal else (side, length)
    look = "open" if point.is_open else ""
    marks: list[Mark] = [BarMark(x, y, colour_class(series.number), point.tooltip, series.number, look)]
    if point.low is not None and point.high is not None:
        ends, at = (point.low, point.high), (middle, middle)
        marks.append(IntervalMark(*((ends, at) if is_horizontal else (at, ends)), look="range"))
    return marks
