"""The document that every output format is written from: headings, text, tables, charts, code, notes.

It holds no HTML. Charts are axes and marks with their values; writers draw them.
All text is plain and unescaped: it may come from a study file, so a writer must escape it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from assay.report import numbers

if TYPE_CHECKING:
    from assay.model.result.verdict import Verdict
    from assay.report.draw.drawing import Drawing, HeatMap


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True, slots=True)
class Mono:
    """A name, path or command in fixed-width type."""

    text: str


@dataclass(frozen=True, slots=True)
class Badge:
    """A verdict as a coloured label.

    Attributes:
        hint: Why, for a reader who points at it.
        also: Verdicts that the same result has besides.
        partly: It is `ok`, but not all checks could run.
    """

    verdict: "Verdict"
    hint: str = ""
    also: "tuple[Verdict, ...]" = ()
    partly: bool = False


Span = str | Strong | Mono | Badge
Text = str | tuple[Span, ...]
"""A run of words, some of them marked."""


def words(text: Text) -> str:
    """A text without its marks, for a terminal or an export."""
    if isinstance(text, str):
        return text
    return "".join(
        span if isinstance(span, str) else str(span.verdict) if isinstance(span, Badge) else span.text for span in text
    )


class Num(NamedTuple):
    """A table cell that sorts by `value` and reads as `text`; `value` None sorts last."""

    text: str
    value: float | None


class Share(NamedTuple):
    """A share of a ceiling, drawn as a bar with a mark at all of it; above 1 the bar goes past the mark.

    Attributes:
        value: None if no ceiling is known.
        more: What else is to be said, in few words.
    """

    value: float | None
    more: str = ""

    @property
    def words(self) -> str:
        """`93 %`, or `130 %`."""
        return numbers.share(self.value)


Cell = str | Num | Badge | Mono | Share


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        unit: Printed under the title; empty if the column has none.
        numeric: Right-aligned, sorts by value.
        facet: Few different values, so that a writer can offer them as a filter.
        detail: A page has room for it, a terminal has not.
        rank: Of the columns that a narrow terminal has no room for, the one with the highest rank is left out first, of
            those with the same rank the last. The first column always stays.
    """

    title: str
    unit: str = ""
    numeric: bool = False
    facet: bool = False
    detail: bool = False
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells.

    Attributes:
        interactive: Long enough that a reader wants to sort and filter.
    """

    id: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    interactive: bool = False

    @classmethod
    def of(
        cls,
        columns: Iterable[str],
        rows: Iterable[Sequence[Cell]],
        right: Sequence[str] = (),
        least: Sequence[str] = (),
    ) -> "Table":
        """A table of its own, outside of a page.

        Args:
            columns: Titles.
            rows: Cells.
            right: Titles of the columns that hold numbers.
            least: Titles of the columns that a narrow terminal leaves out before others, in that order.
        """
        ranks = {title: len(least) - place for place, title in enumerate(least)}
        found = (Column(title, numeric=title in right, rank=ranks.get(title, 0)) for title in columns)
        return cls("", tuple(found), tuple(map(tuple, rows)))


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section; level 3 or 4."""

    text: str
    id: str
    level: int = 3


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text; `lead` is set larger."""

    text: Text
    lead: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    items: tuple[tuple[str, Text], ...]


@dataclass(frozen=True, slots=True)
class Lane:
    """Repeats of one target, as dots along a scale.

    Attributes:
        target: Its number, for its colour; None for none.
        values: Of repeats at points that are decided.
        open: Of repeats at points that are not.
        middle: Where its mark is, as the text says it; None where the repeats are of points that are not alike.
    """

    name: str
    target: int | None
    values: tuple[float, ...]
    open: tuple[float, ...]
    middle: float | None


@dataclass(frozen=True, slots=True)
class DotRow:
    """The repeats of one kind of work."""

    label: str
    lanes: tuple[Lane, ...]


@dataclass(frozen=True, slots=True)
class Dots:
    """Kinds of work, each beside the dots of all its repeats; the dots share a logarithmic scale.

    A dot far from all others of its lane is an arrow at the edge.

    Attributes:
        title: What the scale shows, with its unit.
        caption: What a dot is, in words.
        ratio: The values are ratios, with a mark at 1; else rates in the unit of the title.
    """

    id: str
    title: str
    caption: str
    ratio: bool
    rows: tuple[DotRow, ...]


@dataclass(frozen=True, slots=True)
class Panels:
    """Short lists side by side, each with a title."""

    items: tuple[tuple[str, tuple[Text, ...]], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart; `caption` says in words what is drawn."""

    id: str
    title: str
    caption: str
    drawing: "Drawing | HeatMap"
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Gallery:
    """Figures that belong together."""

    figures: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class PlotLine:
    """One line of a plot; it is broken where y is None.

    Attributes:
        target: Number for its colour and mark.
        strong: It stands out.
    """

    name: str
    target: int
    points: tuple[tuple[float, float | None], ...]
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over two logarithmic scales; the caption says what the upright one shows.

    Attributes:
        x_ticks: Values at which the scale has a number, and these in words.
        here: Where the reader stands on the scale, and that in words.
        marks: Places on the scale with a sign each, which the text explains.
        level: A height to mark, and what it is.
    """

    id: str
    title: str
    caption: str
    x_title: str
    x_ticks: tuple[tuple[float, str], ...]
    lines: tuple[PlotLine, ...]
    here: tuple[float, str]
    marks: tuple[tuple[float, str], ...] = ()
    level: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class Plots:
    """Plots side by side whose lines mean the same.

    Attributes:
        legend: Number, name and small print of each line.
        caption: What holds for all of them.
    """

    legend: tuple[tuple[int, str, str], ...]
    figures: tuple[Plot, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class SpanRow:
    """What an assumption moves a value to.

    Attributes:
        low, high: The value at both ends of the assumption, and these ends in words; None: there is no such end.
        strong: It stands out.
        note: What it comes to, in words.
    """

    label: str
    low: tuple[float, str] | None
    high: tuple[float, str] | None
    note: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Spans:
    """Bars to both sides of a value, on a linear scale.

    Attributes:
        base: The value as it is.
        limit: A value to mark, and what lies beyond it.
    """

    id: str
    title: str
    caption: str
    base: float
    rows: tuple[SpanRow, ...]
    note_title: str = ""
    limit: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """Text in fixed-width type, verbatim."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark set apart; `kind` is `info` or `warning`."""

    text: Text
    kind: str = "info"


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that a reader opens when wanted, and that are not printed before.

    Attributes:
        id: By which the contents lead to it; empty if they do not.
    """

    summary: str
    blocks: tuple["Block", ...]
    id: str = ""


Block = (
    Heading | Paragraph | Bullets | Facts | Dots | Panels | Table | Chart | Gallery | Plots | Spans | Code | Note | Fold
)


@dataclass(frozen=True, slots=True)
class Section:
    """A numbered part of the document."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report.

    Attributes:
        kicker: The small line above the title.
        title: The question.
        meta: Name and value of what identifies the run.
        look: Name of a style for all of it; empty: the usual one.
    """

    kicker: str
    title: str
    description: str
    meta: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...] = field(default=())
    look: str = ""
