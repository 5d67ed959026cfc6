"""The document that every output format is written from: headings, text, tables, charts, code, notes.

It holds no HTML. Charts are axes and marks with their values; writers draw them.
All text is plain and unescaped: it may come from a study file, so a writer must escape it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from assay.report import numbers
from assay.report.document_look import DEFAULT_LOOK, Look

if TYPE_CHECKING:
    from assay.model.result.verdict import Verdict
    from assay.report.draw.diagram import Diagram
    from assay.report.draw.drawing import Drawing, HeatMap, Surface


@dataclass(frozen=True, slots=True)
class Strong:
    """Emphasised text."""

    text: str


@dataclass(frozen=True, slots=True)
class Mono:
    """A name, path or command in fixed-width type."""

    text: str


@dataclass(frozen=True, slots=True)
class Badge:
    """A verdict as a coloured label.

    Attributes:
        hint: The reason, shown when a reader points at the badge.
        further_verdicts: Further verdicts of the same result.
        is_partial: True if the verdict is `ok` but not all checks could run.
    """

    verdict: "Verdict"
    hint: str = ""
    further_verdicts: "tuple[Verdict, ...]" = ()
    is_partial: bool = False


Span = str | Strong | Mono | Badge
Text = str | tuple[Span, ...]
"""Text, parts of which may be marked up."""


_CODE = re.compile(r"`([^`\n]{1,300})`")


def text_spans(text: Text) -> Iterator[Span]:
    """Yield the parts of a text; what stands between backticks, as messages write commands and names, is `Mono`."""
    for span in (text,) if isinstance(text, str) else text:
        if not isinstance(span, str) or "`" not in span:
            yield span
            continue
        for place, part in enumerate(_CODE.split(span)):
            if part:
                yield Mono(part) if place % 2 else part


def plain_text(text: Text) -> str:
    """Return a text without its markup, for a terminal or an export."""
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
    """A share of a ceiling, drawn as a bar with a mark at 100 %; the bar of a share above 1 goes past the mark.

    Attributes:
        value: None if no ceiling is known.
        remark: A short remark, printed after the share.
    """

    value: float | None
    remark: str = ""

    @property
    def words(self) -> str:
        """The share in words: `93 %`, or `130 %`."""
        return numbers.share(self.value)


Cell = str | Num | Badge | Mono | Share


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        unit: Printed under the title; empty if the column has none.
        is_numeric: The column is right-aligned and sorts by value.
        is_filter: The column has few different values, so that a page can offer them as a filter.
        is_detail: The column is shown on a page, but not on a terminal.
        drop_rank: A narrow terminal leaves out the column with the highest rank first; of columns with equal ranks,
            the last
            one. The first column always stays.
    """

    title: str
    unit: str = ""
    is_numeric: bool = False
    is_filter: bool = False
    is_detail: bool = False
    drop_rank: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells.

    Attributes:
        is_interactive: The table is so long that a page lets the reader sort and filter it.
        notes: What signs in its cells mean; it stands below it.
    """

    id: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    is_interactive: bool = False
    notes: str = ""

    @classmethod
    def of(
        cls,
        columns: Iterable[str],
        rows: Iterable[Sequence[Cell]],
        numeric_titles: Sequence[str] = (),
        dropped_first: Sequence[str] = (),
    ) -> "Table":
        """Return a table for use outside a document; it has no id.

        Args:
            columns: Titles.
            rows: Cells.
            numeric_titles: Titles of the columns that hold numbers.
            dropped_first: Titles of the columns that a narrow terminal leaves out first, in this order.
        """
        ranks = {title: len(dropped_first) - place for place, title in enumerate(dropped_first)}
        found = (Column(title, is_numeric=title in numeric_titles, drop_rank=ranks.get(title, 0)) for title in columns)
        return cls("", tuple(found), tuple(map(tuple, rows)))

    def without_empty_columns(self) -> "Table":
        """Return the table without the columns in which no row has a value."""
        kept = [place for place in range(len(self.columns)) if not all(_is_empty(row[place]) for row in self.rows)]
        columns = tuple(self.columns[place] for place in kept)
        return replace(self, columns=columns, rows=tuple(tuple(row[place] for place in kept) for row in self.rows))


def _is_empty(cell: Cell) -> bool:
    """Whether a cell has no value."""
    if isinstance(cell, Share):
        return cell.value is None and not cell.remark
    return (cell.text if isinstance(cell, Num) else cell) in (numbers.NONE, "")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section; level 3 or 4."""

    text: str
    id: str
    level: int = 3


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text; with `lead` it is set larger."""

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
        target: Number of the target, which selects the colour; None: no colour.
        decided_values: One value for each repeat at a decided point.
        undecided_values: One value for each repeat at an undecided point.
        mark: Position of the lane's mark, the same number as in the text; None: no mark, since the points are not
            alike.
    """

    name: str
    target: int | None
    decided_values: tuple[float, ...]
    undecided_values: tuple[float, ...]
    mark: float | None


@dataclass(frozen=True, slots=True)
class DotRow:
    """The repeats of one kind of work."""

    label: str
    lanes: tuple[Lane, ...]


@dataclass(frozen=True, slots=True)
class Dots:
    """A row of dots for each kind of work, a dot for each repeat, all on one logarithmic scale.

    A dot far from all others of its lane is drawn as an arrow at the edge.

    Attributes:
        title: What the scale shows, with its unit.
        caption: What a dot is, in words.
        is_ratio: The values are ratios, with a mark at 1; otherwise they are rates in the unit of the title.
    """

    id: str
    title: str
    caption: str
    is_ratio: bool
    rows: tuple[DotRow, ...]


@dataclass(frozen=True, slots=True)
class Panels:
    """Short lists side by side, each with a title."""

    items: tuple[tuple[str, tuple[Text, ...]], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart; `caption` describes what is drawn."""

    id: str
    title: str
    caption: str
    drawing: "Drawing | HeatMap | Surface | Diagram"
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Gallery:
    """Charts that are shown together."""

    figures: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class PlotLine:
    """One line of a plot; it is broken where y is None.

    Attributes:
        target: Number that selects the colour and the shape of the marks.
        is_emphasised: The line is emphasised.
    """

    name: str
    target: int
    points: tuple[tuple[float, float | None], ...]
    is_emphasised: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over two logarithmic axes; the caption names the quantity on the vertical axis.

    Attributes:
        x_ticks: Labelled values of the horizontal axis, each with its label.
        need: The reader's own value on the horizontal axis, and its label.
        marks: Values on the horizontal axis, each with a sign that the text explains.
        level: A value on the vertical axis to mark, and its label.
    """

    id: str
    title: str
    caption: str
    x_title: str
    x_ticks: tuple[tuple[float, str], ...]
    lines: tuple[PlotLine, ...]
    need: tuple[float, str]
    marks: tuple[tuple[float, str], ...] = ()
    level: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class Plots:
    """Plots side by side with a common legend.

    Attributes:
        legend: Number, name and small print of each line.
        caption: Text that applies to all plots.
    """

    legend: tuple[tuple[int, str, str], ...]
    figures: tuple[Plot, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class SpanRow:
    """How an assumption changes a value.

    Attributes:
        low, high: The value at the low and at the high end of the assumption, each with that end in words; None if the
            assumption has no such end.
        is_emphasised: The row is emphasised.
        note: A remark at the end of the row.
    """

    label: str
    low: tuple[float, str] | None
    high: tuple[float, str] | None
    note: str = ""
    is_emphasised: bool = False


@dataclass(frozen=True, slots=True)
class Spans:
    """Bars that start at a base value and go to either side, on a linear scale.

    Attributes:
        base: The value under the present assumptions.
        note_title: Title over the remarks of the rows.
        limit: A value to mark, and what values beyond it mean.
    """

    id: str
    title: str
    caption: str
    base: float
    rows: tuple[SpanRow, ...]
    note_title: str = ""
    limit: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class CodeBlock:
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
    """Blocks that are neither shown nor printed until the reader opens them.

    Attributes:
        id: Anchor for the link from the table of contents; empty: there is no such link.
    """

    summary: str
    blocks: tuple["Block", ...]
    id: str = ""


Block = (
    Heading
    | Paragraph
    | Bullets
    | Facts
    | Dots
    | Panels
    | Table
    | Chart
    | Gallery
    | Plots
    | Spans
    | CodeBlock
    | Note
    | Fold
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
        overline: The small line above the title.
        title: The question.
        meta: Names and values that identify the run.
        style: Name of a style for the whole page; empty: the usual style.
        authors: Names of those who wrote it; empty for what Assay wrote alone.
        look: Logo, colour and layout.
    """

    overline: str
    title: str
    description: str
    meta: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...] = field(default=())
    style: str = ""
    authors: tuple[str, ...] = ()
    look: Look = DEFAULT_LOOK
