"""Line and bar charts of chosen results."""

from assay.model.base import AssayError
from assay.report.charts.theme import measured_axis, swept_axis, ticked_axis
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
from assay.report.selection.cells import Key
from assay.report.selection.contents import ChartContents, series_name
from assay.report.selection.properties import property_title

_MAX_BARS = 160
_WIDTH = 440
"""Width of the drawn area of a printed chart, in pixels."""
_LETTER = 5.6
_GROUP = 0.8
"""Share of its place that a group of bars takes."""
_BAR_HEIGHT = 11
"""Height of a horizontal bar in pixels."""


def line_chart(contents: ChartContents) -> Drawing:
    """Return lines over a property with numbers; doubtful values are hollow.

    Raises:
        AssayError: The property has other values than numbers.
    """
    name = contents.axes[0]
    places = contents.orders[name]
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in places):
        raise AssayError(f"lines need numbers along x, which {name} does not have", "use kind: bars")
    lines: list[Mark] = []
    dots: list[Mark] = []
    for series in contents.series():
        number = contents.number(series)
        colour, points = colour_class(number), []
        for place in places:
            figure = contents.figure((place, *series))
            if figure is None or not isinstance(place, int | float):
                continue
            points.append((float(place), figure.value))
            if figure.low is not None and figure.high is not None:
                lines.append(IntervalMark((float(place), float(place)), (figure.low, figure.high), colour))
            look = "open" if contents.marks.is_marked(contents.cells[(place, *series)]) else ""
            tip = contents.tooltip((place, *series))
            dots.append(Dot(float(place), figure.value, colour, tip, number % len(SHAPES), look))
        lines.append(LineMark(tuple(points), colour, dash=number % DASHES))
    return Drawing(
        swept_axis(name, places),
        measured_axis(_ends(contents), contents.title),
        (*lines, *dots),
        _legend(contents, False),
    )


def _legend(contents: ChartContents, are_bars: bool) -> tuple[Legend, ...]:
    series = contents.series()
    if len(series) < 2:
        return ()
    keys = []
    for one in series:
        number = contents.number(one)
        colour, name = colour_class(number), contents.name(one)
        entry = LegendEntry(name, colour, None, None, pattern=number) if are_bars else None
        keys.append(entry or LegendEntry(name, colour, number % len(SHAPES), number % DASHES))
    return (Legend(" / ".join(map(property_title, contents.series_names)), tuple(keys)),)


def _ends(contents: ChartContents) -> list[float]:
    """Return the values that the scale must hold: those of the cells and the upper ends of their intervals."""
    figures = [figure for key in contents.cells if (figure := contents.figure(key)) is not None]
    return [value for figure in figures for value in (figure.value, figure.low, figure.high) if value is not None]


def bar_chart(contents: ChartContents) -> Drawing:
    """Return a group of bars for each value of a property; horizontal ones if their names are long."""
    places, series = contents.orders[contents.axes[0]], contents.series()
    if len(places) * len(series) > _MAX_BARS:
        raise AssayError(
            f"there would be {len(places) * len(series)} bars", f"at most {_MAX_BARS}; choose some with where, or split"
        )
    names = [series_name(contents.axes[0], value) for value in places]
    room = _WIDTH / len(places)
    is_horizontal = any(_LETTER * len(name) + 6 > room for name in names)
    values = ticked_axis(scale_from_zero(max([*_ends(contents), 0.0])), contents.title)
    marks: list[Mark] = []
    for number, place in enumerate(places):
        present = [one for one in series if (place, *one) in contents.cells]
        wide = _GROUP / len(series)
        # Where a group lacks a bar, the others stand together in its middle.
        first = number + 0.5 - wide * len(present) / 2
        for at, one in enumerate(present):
            marks += _bar(contents, (place, *one), one, (first + at * wide, first + (at + 0.92) * wide), is_horizontal)
    legends = _legend(contents, True)
    if is_horizontal:
        step = max(20, round(_BAR_HEIGHT * len(series) / _GROUP))
        return Drawing(values, NamedRows(tuple(names), step), tuple(marks), legends)
    scale = AxisScale(0.0, float(len(places)))
    ticks = tuple((number + 0.5, name) for number, name in enumerate(names))
    return Drawing(ChartAxis(property_title(contents.axes[0]), scale, ticks, grid=False), values, tuple(marks), legends)


def _bar(contents: ChartContents, key: Key, series: Key, side: tuple[float, float], is_horizontal: bool) -> list[Mark]:
    """Return a bar with its interval; a doubtful one is hollow."""
    figure = contents.figure(key)
    if figure is None:
        return []
    number = contents.number(series)
    colour = colour_class(number)
    length, middle = (0.0, figure.value), sum(side) / 2
    look = "open" if contents.marks.is_marked(contents.cells[key]) else ""
    x, y = (length, side) if is_horizontal else (side, length)
    marks: list[Mark] = [BarMark(x, y, colour, contents.tooltip(key), number, look)]
    if figure.low is not None and figure.high is not None:
        ends, at = (figure.low, figure.high), (middle, middle)
        marks.append(IntervalMark(*((ends, at) if is_horizontal else (at, ends)), look="range"))
    return marks
