"""Diagrams: boxes, lines and texts at places, in pixels; and how they are written as SVG.

In a page, shapes have classes of the style sheet; in a picture that stands alone, they have the attributes of
`print_style.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.report.draw.letters import has_known_widths, text_width
from assay.report.draw.print_style import diagram_style
from assay.report.draw.svg import classes, escape, pixels, tooltip

NAME_SIZE, TEXT_SIZE, SMALL_SIZE = 11.0, 10.0, 9.5
"""Sizes of type: of names, which are bold, of what is said of them, and of small print."""
_SIZES = {"name": NAME_SIZE, "small": SMALL_SIZE}
_PAGE_SCALE = 1.25
"""Greatest size of a diagram on a screen: its type is then about as large as captions."""
_BASELINE = 0.35
"""A baseline is so far below the middle of a line, in parts of the type size."""


@dataclass(frozen=True, slots=True)
class BoxShape:
    """A rectangle.

    Attributes:
        look: `host`, `outside` (not part of what is described), `frame`, `switch`, `cable`, `disk`, `field`, `shaded`.
    """

    x: float
    y: float
    width: float
    height: float
    look: str

    def moved(self, x: float, y: float) -> "BoxShape":
        """Return the shape further to the right and further down."""
        return replace(self, x=self.x + x, y=self.y + y)


@dataclass(frozen=True, slots=True)
class Wire:
    """A line through points.

    Attributes:
        look: `wire`, or `arrow`: with a head at its end.
    """

    points: tuple[tuple[float, float], ...]
    look: str = "wire"

    def moved(self, x: float, y: float) -> "Wire":
        """Return the line further to the right and further down."""
        return replace(self, points=tuple((px + x, py + y) for px, py in self.points))


@dataclass(frozen=True, slots=True)
class Joint:
    """A dot where a line is joined to a switch."""

    x: float
    y: float

    def moved(self, x: float, y: float) -> "Joint":
        """Return the dot further to the right and further down."""
        return replace(self, x=self.x + x, y=self.y + y)


@dataclass(frozen=True, slots=True)
class TextShape:
    """A text in one line.

    Attributes:
        x: Its left or right end, or its middle, by `anchor`.
        y: The middle of the line.
        look: `name`, `small`, or empty: plain.
        anchor: `start`, `middle` or `end`.
        whole: The text before it was shortened, or what an abbreviation stands for; empty: the text is whole.
        is_abbreviation: It stands for `whole`, and is not its beginning.
    """

    x: float
    y: float
    text: str
    look: str = ""
    anchor: str = "start"
    whole: str = ""
    is_abbreviation: bool = False

    @property
    def size(self) -> float:
        """Size of its type."""
        return _SIZES.get(self.look, TEXT_SIZE)

    @property
    def width(self) -> float:
        """Upper bound of its width."""
        return text_width(self.text, self.size, self.look == "name")

    @property
    def left(self) -> float:
        """Its left end."""
        return self.x - {"start": 0.0, "middle": self.width / 2, "end": self.width}[self.anchor]

    def moved(self, x: float, y: float) -> "TextShape":
        """Return the text further to the right and further down."""
        return replace(self, x=self.x + x, y=self.y + y)


Shape = BoxShape | Wire | Joint | TextShape


@dataclass(frozen=True, slots=True)
class Diagram:
    """Shapes; later ones are drawn over earlier ones.

    Attributes:
        words: All that it shows, in sentences: for readers who do not see it.
    """

    width: float
    height: float
    shapes: tuple[Shape, ...]
    words: str

    @property
    def shortened_texts(self) -> list[str]:
        """The whole of each text that was shortened, each once; behind an abbreviation, what it stands for."""
        cut = [one for one in self.shapes if isinstance(one, TextShape) and one.whole]
        return list(dict.fromkeys(f"{one.text}: {one.whole}" if one.is_abbreviation else one.whole for one in cut))


def diagram_html(diagram: Diagram, label: str, caption: str) -> str:
    """Return a diagram as a part of a page; it shrinks where there is less room.

    Args:
        diagram: The diagram.
        label: Id of the element with its title and caption.
        caption: The caption: if it has all that the diagram shows in words, these are not repeated.
    """
    width, height = pixels(diagram.width), pixels(diagram.height)
    shown = escape(diagram.words)
    described = "" if shown in escape(caption) else f'<desc id="{label}-drawn">{shown}</desc>'
    labels = f"{label} {label}-drawn" if described else label
    head = f'<svg class=diagram role="img" aria-labelledby="{labels}" viewBox="0 0 {width} {height}"'
    head += f' style="max-width:{pixels(_PAGE_SCALE * diagram.width)}px">'
    return f"{head}{described}{''.join(_elements(diagram, is_page=True))}</svg>"


def diagram_parts(diagram: Diagram) -> list[str]:
    """Return the elements of a picture that stands alone."""
    return list(_elements(diagram, is_page=False))


def _elements(diagram: Diagram, is_page: bool) -> Iterator[str]:
    for shape in diagram.shapes:
        match shape:
            case BoxShape():
                yield _box(shape, is_page)
            case Wire():
                yield _wire(shape, is_page)
            case Joint():
                look = _look("circle", "dot", is_page)
                yield f'<circle{look} cx="{pixels(shape.x)}" cy="{pixels(shape.y)}" r="2.6"/>'
            case TextShape():
                yield _words(shape, is_page)


def _box(box: BoxShape, is_page: bool) -> str:
    if box.look == "disk":
        return f'<path{_look("path", "disk", is_page)} d="{_cylinder(box)}"/>'
    size = f'x="{pixels(box.x)}" y="{pixels(box.y)}" width="{pixels(box.width)}" height="{pixels(box.height)}"'
    round_by = {"switch": 4, "cable": 8, "field": 0, "shaded": 0}.get(box.look, 5)
    corners = f' rx="{round_by}"' if round_by else ""
    return f"<rect{_look('rect', box.look, is_page)} {size}{corners}/>"


def _cylinder(box: BoxShape) -> str:
    """Return the outline of a cylinder with the edge of its lid, the sign of a disk."""
    half, lid = pixels(box.width / 2), pixels(box.height / 6)
    top, side = pixels(box.y + box.height / 6), pixels(box.height * 2 / 3)
    left, right = pixels(box.x), pixels(box.x + box.width)
    body = f"M{left} {top}a{half} {lid} 0 0 1 {pixels(box.width)} 0v{side}a{half} {lid} 0 0 1 -{pixels(box.width)} 0z"
    return f"{body}M{right} {top}a{half} {lid} 0 0 1 -{pixels(box.width)} 0"


def _wire(wire: Wire, is_page: bool) -> str:
    path = "".join(f"{'L' if place else 'M'}{pixels(x)} {pixels(y)}" for place, (x, y) in enumerate(wire.points))
    line = f'<path{_look("path", wire.look, is_page)} d="{path}"/>'
    if wire.look == "arrow":
        line += f'<path{_look("path", "head", is_page)} d="{_arrow_head(*wire.points[-2:])}"/>'
    return line


def _arrow_head(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return a triangle at the end of a horizontal or vertical line."""
    (x0, y0), (x, y) = start, end
    ahead_x, ahead_y = (x > x0) - (x < x0), (y > y0) - (y < y0)
    back_x, back_y = x - 6 * ahead_x, y - 6 * ahead_y
    aside_x, aside_y = 3.2 * ahead_y, 3.2 * ahead_x
    corners = ((back_x + aside_x, back_y + aside_y), (back_x - aside_x, back_y - aside_y))
    return f"M{pixels(x)} {pixels(y)}" + "".join(f"L{pixels(a)} {pixels(b)}" for a, b in corners) + "Z"


def _words(words: TextShape, is_page: bool) -> str:
    at = f'x="{pixels(words.x)}" y="{pixels(words.y + _BASELINE * words.size)}"'
    anchor = "" if words.anchor == "start" else f' text-anchor="{words.anchor}"'
    # A page's type may be wider than what was measured: it then gets narrower.
    if is_page and has_known_widths(words.text):
        anchor += f' textLength="{pixels(words.width)}" lengthAdjust="spacingAndGlyphs"'
    hint = tooltip(words.whole) if is_page else ""
    size = "" if is_page else f' font-size="{words.size:g}"'
    return f"<text{_look('text', words.look, is_page)} {at}{size}{anchor}>{hint}{escape(words.text)}</text>"


def _look(tag: str, name: str, is_page: bool) -> str:
    if is_page:
        return classes(name)
    return "".join(f' {key}="{value}"' for key, value in diagram_style(tag, name).items())
