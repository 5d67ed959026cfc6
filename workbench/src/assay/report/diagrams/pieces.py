"""Pieces that diagrams are laid out from: shapes around an origin of their own, and cards of hosts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from assay.model.base import AssayError
from assay.report.document import Chart
from assay.report.draw.diagram import NAME_SIZE, TEXT_SIZE, BoxShape, Diagram, Shape, TextShape
from assay.report.draw.letters import shortened, text_width, wrapped

PAGE_WIDTH = 612.0
"""Widest diagram in pixels: 0.78 points each, it is as wide as the text of an A4 page (482 points)."""
_MAX_HEIGHT = 900.0
"""A higher one would be shrunk on a page until its small print has less than 6.5 points."""
_MAX_CAPTION = 420
"""A longer description is not printed below the picture; it is for readers who do not see it."""
PADDING = 8.0
LINE = 12.5
"""Height of a line of text."""
_TITLE = 15.0
_DISK_WIDTH, _DISK_HEIGHT, _MAX_DISKS = 10.0, 13.0, 8
_DISK_STEP = 13.0
"""From the left edge of a disk to that of the next one."""
_ONE_LINE = 152.0
"""A text that is wider is in two lines."""
MIN_CARD, MAX_CARD = 104.0, 182.0
"""Narrowest and widest card."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Shapes within a rectangle that begins at 0, 0."""

    width: float
    height: float
    shapes: tuple[Shape, ...]

    @property
    def fits_page(self) -> bool:
        """Whether it fits on a page without being shrunk too much."""
        return self.height <= _MAX_HEIGHT

    def at(self, x: float, y: float) -> list[Shape]:
        """Return the shapes at another place."""
        return [shape.moved(x, y) for shape in self.shapes]


class Layable(Protocol):
    """What gets a place in a diagram."""

    @property
    def natural_width(self) -> float:
        """The width that it takes if there is room."""

    def piece(self, width: float) -> Piece:
        """Return its shapes, not wider than `width`."""


@dataclass(frozen=True, slots=True)
class DiskSet:
    """Equal disks, drawn as a row of small boxes; `text` stands below them."""

    count: int
    text: str


@dataclass(frozen=True, slots=True)
class Card:
    """A box with a name and what is said of it.

    Attributes:
        count: Number of equal things that it stands for.
        is_outside: Drawn with dashes: not part of what is described.
    """

    name: str
    count: int = 1
    lines: tuple[str, ...] = ()
    disks: tuple[DiskSet, ...] = ()
    is_outside: bool = False

    @property
    def natural_width(self) -> float:
        """Width of its longest text within bounds; a text takes two lines at most."""
        count = text_width(f"  {self._times}", NAME_SIZE, True) if self.count > 1 else 0
        inner = [_wrapping_width(self.name, NAME_SIZE, True) + count]
        inner += [_wrapping_width(text, TEXT_SIZE) for text in self.lines]
        for disks in self.disks:
            row = _DISK_STEP * min(disks.count, _MAX_DISKS) + 2
            beside = row + text_width(disks.text, TEXT_SIZE)
            inner.append(beside if beside <= _ONE_LINE else max(row, _wrapping_width(disks.text, TEXT_SIZE)))
        # Half a pixel more, so that rounding shortens no text.
        return min(MAX_CARD, max(MIN_CARD, max(inner) + 2 * PADDING + 0.5))

    @property
    def _times(self) -> str:
        return f"× {self.count:,}"

    def piece(self, width: float) -> Piece:
        """Return its shapes."""
        width = min(width, MAX_CARD)
        inner = width - 2 * PADDING
        shapes: list[Shape] = []
        room = inner
        if self.count > 1:
            shapes.append(TextShape(width - PADDING, PADDING + 6, self._times, "name", "end"))
            room -= text_width(f"  {self._times}", NAME_SIZE, True)
        y = _add_lines(shapes, self.name, PADDING - 0.5, room, "name") + _TITLE - LINE
        for text in self.lines:
            y = _add_lines(shapes, text, y, inner)
        for disks in self.disks:
            drawn = min(_MAX_DISKS, int(inner // _DISK_STEP))
            shapes += _disk_row(disks.count, drawn, y + 2)
            after = _DISK_STEP * min(disks.count, drawn) + 2
            if after + text_width(disks.text, TEXT_SIZE) <= inner:
                shapes.append(TextShape(PADDING + after, y + 2 + _DISK_HEIGHT / 2, disks.text))
                y += _DISK_HEIGHT + 4
            else:
                y = _add_lines(shapes, disks.text, y + _DISK_HEIGHT + 4, inner, max_lines=3)
        height = y + PADDING - 3
        box = BoxShape(0, 0, width, height, "outside" if self.is_outside else "host")
        return Piece(width, height, (box, *shapes))


def _wrapping_width(text: str, size: float, is_bold: bool = False) -> float:
    """Return the width that a text takes in one line, or in two if it is long."""
    width = text_width(text, size, is_bold)
    return width if width <= _ONE_LINE else max(_ONE_LINE, width / 1.9)


def _add_lines(shapes: list[Shape], text: str, y: float, width: float, look: str = "", max_lines: int = 2) -> float:
    """Add a text in lines; return the place of the next one."""
    is_bold = look == "name"
    lines = wrapped(text, width, NAME_SIZE if is_bold else TEXT_SIZE, max_lines, is_bold)
    whole = " ".join(text.split())
    is_whole = " ".join(lines) == whole
    for number, line in enumerate(lines):
        is_cut = not is_whole and number == len(lines) - 1
        shapes.append(TextShape(PADDING, y + LINE / 2, line, look, whole=whole if is_cut else ""))
        y += LINE
    return y


def _disk_row(count: int, most: int, y: float) -> Iterable[Shape]:
    """Yield as many disks as there are; of more than `most`, one less and a sign that there are more."""
    drawn = count if count <= most else most - 1
    for number in range(drawn):
        yield BoxShape(PADDING + number * _DISK_STEP, y, _DISK_WIDTH, _DISK_HEIGHT, "disk")
    if drawn < count:
        yield TextShape(PADDING + drawn * _DISK_STEP, y + _DISK_HEIGHT / 2, "…")


def words(x: float, y: float, text: str, width: float, look: str = "", anchor: str = "start") -> TextShape:
    """Return a text that is shortened to a width."""
    line = " ".join(text.split())
    whole = TextShape(x, y, line, look, anchor)
    short = shortened(line, width, whole.size, look == "name")
    return whole if short == line else TextShape(x, y, short, look, anchor, line)


def diagram_of(piece: Piece, shown: str) -> Diagram:
    """Return a piece as a diagram.

    Args:
        piece: What is drawn.
        shown: All that it shows, in sentences.

    Raises:
        AssayError: It is too high for a page.
    """
    if not piece.fits_page:
        message = f"the diagram is {piece.height / _MAX_HEIGHT:.1f} times as high as a page has room for"
        raise AssayError(message, "draw a part of it, or write equal hosts as one with a `count`")
    return Diagram(piece.width + 2, piece.height + 2, tuple(piece.at(1, 1)), shown)


def diagram_chart(name: str, diagram: Diagram, caption: str) -> Chart:
    """Return a diagram as a figure of a document.

    Args:
        name: What is drawn, as the title of the figure.
        diagram: The diagram.
        caption: What a reader of the picture has to know.
    """
    parts = [diagram.words if len(diagram.words) <= _MAX_CAPTION else caption]
    cut = [text for text in diagram.shortened_texts if text not in parts[0]]
    parts += [f"Shortened in the picture: {'; '.join(cut)}."] if cut else []
    return Chart("diagram", name, " ".join(filter(None, parts)), diagram, wide=True)
