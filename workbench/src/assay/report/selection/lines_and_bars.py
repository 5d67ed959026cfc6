"""Line and bar charts of chosen results."""

from collections.abc import Mapping

from assay.model.base import AssayError
from assay.model.study.axis import AxisValue
from assay.report.charts.series import ChartSeries, SeriesPoint, bars_drawing, lines_drawing
from assay.report.charts.theme import swept_axis
from assay.report.draw.drawing import Drawing
from assay.report.selection.contents import ChartContents, series_name
from assay.report.selection.properties import property_title


def line_chart(contents: ChartContents) -> Drawing:
    """Return lines over a property with numbers; doubtful values are hollow.

    Raises:
        AssayError: The property has other values than numbers.
    """
    name = contents.axes[0]
    values = contents.orders[name]
    places: dict[AxisValue, float] = {
        value: float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)
    }
    if len(places) < len(values):
        raise AssayError(f"lines need numbers along x, which {name} does not have", "use kind: bars")
    return lines_drawing(_series(contents, places), swept_axis(name, values), contents.title, _legend(contents))


def bar_chart(contents: ChartContents) -> Drawing:
    """Return a group of bars for each value of a property; doubtful ones are hollow."""
    name = contents.axes[0]
    values = contents.orders[name]
    places = {value: float(number) for number, value in enumerate(values)}
    names = [series_name(name, value) for value in values]
    series = _series(contents, places)
    return bars_drawing(series, names, property_title(name), contents.title, _legend(contents))


def _series(contents: ChartContents, places: Mapping[AxisValue, float]) -> list[ChartSeries]:
    found = []
    for one in contents.series():
        points = []
        for value, place in places.items():
            key = (value, *one)
            figure = contents.figure(key)
            if figure is not None:
                is_open = contents.marks.is_marked(contents.cells[key])
                points.append(SeriesPoint(place, figure.value, figure.low, figure.high, is_open, contents.tooltip(key)))
        found.append(ChartSeries(contents.name(one), contents.number(one), tuple(points)))
    return found


def _legend(contents: ChartContents) -> str:
    return " / ".join(map(property_title, contents.series_names))
