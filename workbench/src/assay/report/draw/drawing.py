"""The contents of a chart: axes, marks and legends, independent of the output format."""

from dataclasses import dataclass
from typing import Literal, TypeVar

from assay.report.draw.scales import AxisScale

PathPoint = tuple[float, float | None]


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """A scale with its title.

    Attributes:
        ticks: Labelled values, each with its label.
        grid: A line goes through the chart at each tick.
    """

    title: str
    scale: AxisScale
    ticks: tuple[tuple[float, str], ...]
    grid: bool = True


@dataclass(frozen=True, slots=True)
class NamedRows:
    """Named rows in place of a vertical axis; the first row is between 0 and 1.

    Attributes:
        step: Height of a row in pixels.
    """

    names: tuple[str, ...]
    step: int


@dataclass(frozen=True, slots=True)
class Dot:
    """A point.

    Attributes:
        css_class: Colour, as a class of the style sheet.
        tooltip: Text shown when the reader points at the dot.
        shape: Number of the shape; 0 is a circle.
        look: `open` (hollow), `small`, `large`, `unseen` (invisible, but with its title), `failed` (a cross); empty:
            plain.
        label: Words above it.
    """

    x: float
    y: float
    css_class: str = ""
    tooltip: str = ""
    shape: int = 0
    look: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class LineMark:
    """A line through points; it is broken where y is None.

    Attributes:
        dash: Number of the dash pattern; 0 is a solid line.
        look: `thin`, `strong`, `ideal`, `front`; empty: plain.
        step: Draw steps: the line goes up or down before or after the horizontal part; empty: a straight line.
    """

    points: tuple[PathPoint, ...]
    css_class: str = ""
    tooltip: str = ""
    dash: int = 0
    look: str = ""
    step: Literal["", "before", "after"] = ""


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """A straight line between two points: an interval, or with the look `join` a connection of two marks."""

    x: tuple[float, float]
    y: tuple[float, float]
    css_class: str = ""
    look: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A line through the whole chart at one value.

    Attributes:
        value: On the x axis if the line is vertical, else on the y axis.
        look: A class of the style sheet: `one`, `change`, `here`, `cross`, `level`, `mark`.
        is_vertical: The line is vertical.
        label: Words at the line; for a `cross`, the sign.
    """

    value: float
    look: str
    is_vertical: bool = True
    css_class: str = ""
    tooltip: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class TextMark:
    """A text to the right of a point."""

    x: float
    y: float
    text: str
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class BarMark:
    """A filled rectangle between two values of each axis.

    Attributes:
        pattern: Number of the pattern in it, by which bars differ in a grey print; 0 is none.
        look: `open` (hollow); empty: filled.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    css_class: str = ""
    tooltip: str = ""
    pattern: int = 0
    look: str = ""


Mark = Dot | LineMark | IntervalMark | ReferenceLine | TextMark | BarMark
M = TypeVar("M", Dot, LineMark, IntervalMark, ReferenceLine, TextMark, BarMark)


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """An entry of a legend: name, colour, shape and dash pattern; None: no shape or no line.

    Attributes:
        pattern: Number of the pattern of bars; None: it is no bar.
    """

    name: str
    css_class: str = ""
    shape: int | None = 0
    dash: int | None = None
    detail: str = ""
    pattern: int | None = None


@dataclass(frozen=True, slots=True)
class Legend:
    """Entries with a title."""

    title: str
    keys: tuple[LegendEntry, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart over two axes; later marks are drawn over earlier ones.

    Attributes:
        height: Height of the drawn area in pixels; ignored if `y` is rows, which have a height of their own.
    """

    x: ChartAxis
    y: ChartAxis | NamedRows
    marks: tuple[Mark, ...]
    legends: tuple[Legend, ...] = ()
    height: int = 210

    def marks_of(self, kind: type[M]) -> list[M]:
        """Return the marks of one kind."""
        return [mark for mark in self.marks if isinstance(mark, kind)]


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One field of a heat map.

    Attributes:
        column, row: Position, from the left and from below.
        value: The value that sets the colour; None: the field is white.
        text: The value in words.
        remark: Text in small type below the value.
        doubtful: The field is hatched.
        look: Colour of the words where there is no value, a class of the style sheet.
    """

    column: int
    row: int
    value: float | None
    text: str
    remark: str = ""
    doubtful: bool = False
    look: str = ""
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Fields over two axes, a panel for each target, on one logarithmic scale of colours.

    Attributes:
        columns, rows: Labels along x, from the left, and along y, from below.
        panels: Name and fields of each panel.
        width: Preferred width of a field, in pixels.
        height: Height of a field, in pixels.
        has_text: Fields are wide enough for text.
    """

    x_title: str
    y_title: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    panels: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    scale: AxisScale
    unit: str
    width: int
    height: int
    has_text: bool


@dataclass(frozen=True, slots=True)
class Surface:
    """A surface over two axes in three dimensions.

    Attributes:
        columns, rows: Labels along the first and along the second axis.
        values: For each row the value of each column; None where there is none.
        scale: The scale of heights.
        marked: Column and row of points that get a hollow mark.
    """

    x_title: str
    y_title: str
    z_title: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    scale: AxisScale
    marked: frozenset[tuple[int, int]] = frozenset()
