"""Heat maps and surfaces of chosen results."""

from collections.abc import Sequence

from assay.model.base import AssayError
from assay.model.study.axis import AxisValue
from assay.report import numbers
from assay.report.draw.drawing import HeatCell, HeatMap, Surface
from assay.report.draw.scales import AxisScale, scale_from_zero
from assay.report.selection.cells import Key
from assay.report.selection.contents import ChartContents
from assay.report.selection.properties import property_title, value_words

_MAX_VALUES = 40
"""Most values of an axis."""
_PANEL_WIDTH = 440
_WORDS_FROM = 36
"""Least width of a cell, in pixels, that has room for a number."""


def heat_map(contents: ChartContents) -> HeatMap:
    """Return a heat map with a panel for each value of the series; all have one logarithmic scale.

    Raises:
        AssayError: An axis has too many values.
    """
    columns, rows = _axis_values(contents, 0), _axis_values(contents, 1)
    panels = contents.series()
    figures = [figure.value for key in contents.cells if (figure := contents.figure(key)) is not None]
    positive = [value for value in figures if value > 0] or [1.0]
    low, high = min(positive), max(positive)
    if low == high:
        low, high = low * 0.9, high * 1.1
    wide = _PANEL_WIDTH if len(panels) == 1 else _PANEL_WIDTH - 60
    width = max(10, min(76, wide // len(columns)))
    has_text = width >= _WORDS_FROM
    return HeatMap(
        property_title(contents.axes[0]),
        property_title(contents.axes[1]),
        tuple(value_words(contents.axes[0], value) for value in columns),
        tuple(value_words(contents.axes[1], value) for value in rows),
        tuple((contents.name(panel), tuple(_cells(contents, columns, rows, panel))) for panel in panels),
        AxisScale(low, high, logarithmic=True),
        contents.title,
        width,
        34 if has_text and len(rows) <= 12 else 20 if len(rows) <= 12 else 14,
        has_text,
    )


def _axis_values(contents: ChartContents, place: int) -> Sequence[AxisValue]:
    values = contents.orders[contents.axes[place]]
    if len(values) > _MAX_VALUES:
        name = contents.axes[place]
        raise AssayError(f"{name} has {len(values)} values", f"at most {_MAX_VALUES} can be drawn; choose with where")
    return values


def _cells(
    contents: ChartContents, columns: Sequence[AxisValue], rows: Sequence[AxisValue], panel: Key
) -> list[HeatCell]:
    found = []
    for up, row in enumerate(rows):
        for right, column in enumerate(columns):
            key = (column, row, *panel)
            figure = contents.figure(key)
            if figure is None:
                continue
            is_marked = contents.marks.is_marked(contents.cells[key])
            verdicts = contents.cells[key].verdicts
            remark = str(verdicts[0]) if is_marked and verdicts else ""
            words = numbers.significant(figure.value)
            value = figure.value if figure.value > 0 else None
            found.append(HeatCell(right, up, value, words, remark, is_marked, tooltip=contents.tooltip(key)))
    return found


def surface(contents: ChartContents) -> Surface:
    """Return a surface in three dimensions.

    Raises:
        AssayError: An axis has too few or too many values.
    """
    columns, rows = _axis_values(contents, 0), _axis_values(contents, 1)
    for name, values in zip(contents.axes, (columns, rows), strict=True):
        if len(values) < 2:
            raise AssayError(f"a surface needs at least two values of {name}", "use kind: lines or bars")
    heights = tuple(
        tuple(figure.value if (figure := contents.figure((column, row))) else None for column in columns)
        for row in rows
    )
    doubtful = frozenset(
        (right, up)
        for up, row in enumerate(rows)
        for right, column in enumerate(columns)
        if (column, row) in contents.cells and contents.marks.is_marked(contents.cells[(column, row)])
    )
    greatest = max(height for line in heights for height in line if height is not None)
    return Surface(
        property_title(contents.axes[0]),
        property_title(contents.axes[1]),
        contents.title,
        tuple(value_words(contents.axes[0], value) for value in columns),
        tuple(value_words(contents.axes[1], value) for value in rows),
        heights,
        scale_from_zero(greatest),
        doubtful,
    )
