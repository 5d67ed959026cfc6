"""What charts show as tables: the values behind each line, point, interval and field."""

from collections.abc import Iterator
from itertools import chain

from assay.report import numbers
from assay.report.document import Cell, Column, Dots, Num, Table
from assay.report.draw.drawing import (
    BarMark,
    ChartAxis,
    Dot,
    Drawing,
    HeatMap,
    IntervalMark,
    LineMark,
    NamedRows,
    ReferenceLine,
    Surface,
)

_LOG = ", log scale"
"""End of the title of an axis that says nothing of its values."""


def drawing_table(drawing: Drawing | HeatMap | Surface | Dots, caption: str) -> Table:
    """Return the values of a chart, one row for each thing that is drawn."""
    if isinstance(drawing, Surface):
        return _surface_table(drawing, caption)
    if isinstance(drawing, HeatMap):
        return _heat_table(drawing, caption)
    if isinstance(drawing, Dots):
        return _dots_table(drawing, caption)
    return _plot_table(drawing, caption)


def _number(value: float | None) -> Num:
    return Num(numbers.NONE, None) if value is None else Num(f"{value:.6g}", value)


def _heat_table(drawing: HeatMap, caption: str) -> Table:
    columns = (
        Column("Panel"),
        Column(drawing.x_title),
        Column(drawing.y_title),
        Column("Value", drawing.unit, is_numeric=True),
        Column("Shown as"),
        Column("Remark"),
    )
    rows = [
        (name, drawing.columns[cell.column], drawing.rows[cell.row], _number(cell.value), cell.text, cell.remark)
        for name, cells in drawing.panels
        for cell in cells
    ]
    return Table("", columns, tuple(rows), caption).without_empty_columns()


def _surface_table(drawing: Surface, caption: str) -> Table:
    columns = (Column(drawing.x_title), Column(drawing.y_title), Column(drawing.z_title, is_numeric=True))
    rows = tuple(
        (x, y, _number(value))
        for y, values in zip(drawing.rows, drawing.values, strict=True)
        for x, value in zip(drawing.columns, values, strict=True)
    )
    return Table("", columns, rows, caption)


def _dots_table(drawing: Dots, caption: str) -> Table:
    columns = (
        Column("Work"),
        Column("Target"),
        Column("Repeats"),
        Column("Value", drawing.title, is_numeric=True),
    )
    rows: list[tuple[Cell, ...]] = [
        (row.label, lane.name, words, _number(value))
        for row in drawing.rows
        for lane in row.lanes
        for words, values in (("decided", lane.decided_values), ("undecided", lane.undecided_values))
        for value in values
    ]
    return Table("", columns, tuple(rows), caption)


def _plot_table(drawing: Drawing, caption: str) -> Table:
    """Return the marks of a chart over two axes; an interval has its two ends."""
    x_title = drawing.x.title.removesuffix(_LOG)
    y_title = drawing.y.title.removesuffix(_LOG) if isinstance(drawing.y, ChartAxis) else "Row"
    columns = (
        Column("Drawn as"),
        Column("Series"),
        Column(x_title, is_numeric=True),
        Column(y_title, is_numeric=isinstance(drawing.y, ChartAxis)),
        Column(f"{x_title} at the other end", is_numeric=True),
        Column(f"{y_title} at the other end", is_numeric=True),
        Column("Label"),
    )
    names = {key.css_class: key.name for legend in drawing.legends for key in legend.keys if key.css_class}
    rows = chain(_point_rows(drawing, names), _line_rows(drawing))
    return Table("", columns, tuple(rows), caption).without_empty_columns()


def _point_rows(drawing: Drawing, names: dict[str, str]) -> Iterator[tuple[Cell, ...]]:
    series = ""
    for mark in drawing.marks:
        if isinstance(mark, LineMark):
            series = names.get(mark.css_class, "")
            for x, y in mark.points:
                yield ("line", series, *_at(drawing, x, y), "", "", _label(drawing, x, mark.tooltip))
        elif isinstance(mark, Dot):
            words = _label(drawing, mark.x, mark.tooltip or mark.label)
            yield ("point", names.get(mark.css_class, ""), *_at(drawing, mark.x, mark.y), "", "", words)
        elif isinstance(mark, BarMark):
            # Where a bar is along its axis says nothing: its label says what it is of.
            series = names.get(mark.css_class, "")
            yield ("bar", series, "", _vertical(drawing, mark.y[1]), "", "", _one_line(mark.tooltip))
        elif isinstance(mark, IntervalMark):
            # That of a bar has no colour; it stands behind its bar.
            name = names.get(mark.css_class, "" if mark.css_class else series)
            ends = (*_at(drawing, mark.x[0], mark.y[0]), *_at(drawing, mark.x[1], mark.y[1]))
            yield ("interval", name, *ends, _label(drawing, mark.x[0], ""))


def _at(drawing: Drawing, x: float, y: float | None) -> tuple[Cell, Cell]:
    return _number(x), _vertical(drawing, y)


def _label(drawing: Drawing, x: float, words: str) -> str:
    """Return what the axis writes at a value, and other words on it."""
    tick = dict(drawing.x.ticks).get(x, "")
    return ", ".join(filter(None, (tick, _one_line(words))))


def _one_line(words: str) -> str:
    return ", ".join(words.split("\n"))


def _line_rows(drawing: Drawing) -> Iterator[tuple[Cell, ...]]:
    for mark in drawing.marks_of(ReferenceLine):
        at = _number(mark.value) if mark.is_vertical else _vertical(drawing, mark.value)
        place = (at, "") if mark.is_vertical else ("", at)
        yield ("reference line", "", *place, "", "", mark.label or mark.tooltip)


def _vertical(drawing: Drawing, value: float | None) -> Cell:
    """Return a value on the vertical axis, or the name of its row."""
    if isinstance(drawing.y, NamedRows):
        row = None if value is None else int(value)
        return drawing.y.names[row] if row is not None and row in range(len(drawing.y.names)) else ""
    return _number(value)
