"""What a chart holds: axes, marks and legends, without a word of how they are written."""

from dataclasses import dataclass
from typing import Literal, TypeVar

from assay.report.draw.scales import Scale

Place = tuple[float, float | None]


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale with its title.

    Attributes:
        ticks: Values at which it has a number, and these in words.
        grid: A line goes through the chart at each of them.
    """

    title: str
    scale: Scale
    ticks: tuple[tuple[float, str], ...]
    grid: bool = True


@dataclass(frozen=True, slots=True)
class Rows:
    """In place of an upright axis: a row for each name; the first one is between 0 and 1.

    Attributes:
        step: Height of a row in pixels.
    """

    names: tuple[str, ...]
    step: int


@dataclass(frozen=True, slots=True)
class Dot:
    """A point.

    Attributes:
        shade: Its colour, a class of the style sheet.
        title: What is said of it when pointed at.
        shape: Number of its shape; 0 is a circle.
        look: `open` (hollow), `small`, `large`, `unseen` (only pointed at), `failed` (a cross); empty: plain.
        label: Words above it.
    """

    x: float
    y: float
    shade: str = ""
    title: str = ""
    shape: int = 0
    look: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Path:
    """A line through points; it is broken where y is None.

    Attributes:
        dash: Number of its pattern; 0 is a whole line.
        look: `thin`, `strong`, `ideal`, `front`; empty: plain.
        step: Where it goes up or down between two points; empty: it goes straight.
    """

    points: tuple[Place, ...]
    shade: str = ""
    title: str = ""
    dash: int = 0
    look: str = ""
    step: Literal["", "before", "after"] = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """A straight line between two points: an interval, or with the look `join` what belongs together."""

    x: tuple[float, float]
    y: tuple[float, float]
    shade: str = ""
    look: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A line through the whole chart at one value.

    Attributes:
        value: Along x if it is upright, else along y.
        look: A class of the style sheet: `one`, `change`, `here`, `cross`, `level`, `mark`.
        label: Words at it; of a `cross` the sign.
    """

    value: float
    look: str
    upright: bool = True
    shade: str = ""
    title: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """Words to the right of a point."""

    x: float
    y: float
    text: str
    title: str = ""


Mark = Dot | Path | Interval | Rule | Words
M = TypeVar("M", Dot, Path, Interval, Rule, Words)


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of a legend: its colour, and its shape or pattern or both; None: it has none of these."""

    name: str
    shade: str = ""
    shape: int | None = 0
    dash: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Legend:
    """Entries with a title."""

    title: str
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart over two axes; later marks lie on top of earlier ones.

    Attributes:
        height: Of the drawn area, in pixels; rows have their own.
    """

    x: Axis
    y: Axis | Rows
    marks: tuple[Mark, ...]
    legends: tuple[Legend, ...] = ()
    height: int = 210

    def of(self, kind: type[M]) -> list[M]:
        """Its marks of one kind."""
        return [mark for mark in self.marks if isinstance(mark, kind)]


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of a heat map.

    Attributes:
        column, row: Its place, from the left and from below.
        value: What its colour says; None: none, and it stays white.
        text: The value in words.
        remark: In small type below it.
        doubtful: It is hatched.
        look: Colour of the words where there is no value, a class of the style sheet.
    """

    column: int
    row: int
    value: float | None
    text: str
    remark: str = ""
    doubtful: bool = False
    look: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Fields over two axes, a panel for each target, on one logarithmic scale of colours.

    Attributes:
        columns, rows: Labels along x, from the left; along y, from below.
        panels: Name and fields of each.
        width: Of a field where there is room, in pixels.
        words: Fields are wide enough for words.
    """

    x_title: str
    y_title: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    panels: tuple[tuple[str, tuple[Cell, ...]], ...]
    scale: Scale
    unit: str
    width: int
    height: int
    words: bool
