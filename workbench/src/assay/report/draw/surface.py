"""Draws surfaces over two axes: an axonometric view of faces, painted from the back to the front."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from assay.report.draw.drawing import Surface
from assay.report.draw.heat import colour
from assay.report.draw.scales import tick_text
from assay.report.draw.svg import escape, pixels

_LETTER = 5.6
_SLOPE = 0.44
"""Height of the ground on the picture / its width: the view is from about 26 degrees above."""
_RISE = 0.34
"""Height of the highest value / width of the ground."""
_TOP = 26
_ROW = 12.5
"""Least distance between two labels of an edge, in pixels."""
_TITLE_ROOM = 22
_TICKS = 5

Place = tuple[float, float]
"""A position on the picture in pixels, from the left and from the top."""


@dataclass(frozen=True, slots=True)
class _View:
    """Converts positions on the ground, 0 to 1 along both axes, and heights, 0 to 1, into places on the picture.

    Position (0, 0) is the corner at the back, (1, 1) the one in front; the first axis runs to the right.

    Attributes:
        flip_x, flip_y: The axis begins in front.
    """

    left: float
    half: float
    top: float
    rise: float
    flip_x: bool
    flip_y: bool

    def place(self, across: float, along: float, height: float = 0.0) -> Place:
        """Return the place of a point whose position is that of the view, without regard to flipped axes."""
        x = self.left + (1 + across - along) * self.half
        return x, self.top + self.rise * (1 - height) + (across + along) * self.half * _SLOPE

    def ground(self, x: float, y: float) -> tuple[float, float]:
        """Return the position in the view of a position on both axes."""
        return (1 - x if self.flip_x else x), (1 - y if self.flip_y else y)


def surface_svg(surface: Surface, width: float) -> tuple[str, float]:
    """Return a surface as SVG elements with places in pixels, and its height."""
    ticks = surface.scale.ticks(_TICKS)
    left = max(_LETTER * len(tick_text(tick)) for tick in ticks) + 12
    right = _LETTER * max(map(len, surface.rows)) + 8
    half = (width - left - right) / 2
    flip_x, flip_y = _best_flips(surface)
    view = _View(left, half, _TOP, 2 * half * _RISE, flip_x, flip_y)
    parts = [_walls(surface, view, ticks), *_painted(surface, view), *_labels(surface, view)]
    parts.append(f'<text class="title start" x="2" y="11">{escape(surface.z_title)}</text>')
    bottom = view.place(1, 1)[1]
    return "".join(parts), bottom + _ROW + _TITLE_ROOM


def surface_html(surface: Surface, label: str) -> str:
    """Return a surface as HTML.

    Args:
        surface: The contents.
        label: Id of the element that describes it.
    """
    width = 520
    inner, height = surface_svg(surface, width)
    box = f'viewBox="0 0 {width} {pixels(height)}"'
    return f'<svg class=surface role="img" aria-labelledby="{label}" {box} style="max-width:38rem">{inner}</svg>'


def _best_flips(surface: Surface) -> tuple[bool, bool]:
    """Return which axes begin in front, so that high values are at the back, where they hide nothing."""
    columns, rows = len(surface.columns) - 1 or 1, len(surface.rows) - 1 or 1
    points = [(x / columns - 0.5, y / rows - 0.5, value) for x, y, value in _points(surface)]
    # An axis is turned only if its end is clearly higher than its beginning.
    least = 0.02 * sum(value for *_, value in points)
    return sum(x * value for x, _, value in points) > least, sum(y * value for _, y, value in points) > least


def _points(surface: Surface) -> Iterator[tuple[int, int, float]]:
    for y, row in enumerate(surface.values):
        for x, value in enumerate(row):
            if value is not None:
                yield x, y, value


def _walls(surface: Surface, view: _View, ticks: tuple[float, ...]) -> str:
    """Draw the ground, and both walls at the back with a line for each tick."""
    parts = []
    for tick in ticks:
        height = surface.scale.position(tick)
        places = [view.place(*corner, height) for corner in ((0, 1), (0, 0), (1, 0))]
        parts += [_line("grid", *pair) for pair in itertools.pairwise(places)]
        x, y = places[0]
        parts.append(f'<text class=up x="{pixels(x - 6)}" y="{pixels(y + 4)}">{tick_text(tick)}</text>')
    columns, rows = len(surface.columns), len(surface.rows)
    for number in range(columns):
        parts.append(_line("grid", view.place(_share(number, columns), 0), view.place(_share(number, columns), 1)))
    for number in range(rows):
        parts.append(_line("grid", view.place(0, _share(number, rows)), view.place(1, _share(number, rows))))
    for corner in ((0, 1), (0, 0), (1, 0)):
        parts.append(_line("edge", view.place(*corner), view.place(*corner, 1.0)))
    parts += [_line("edge", view.place(1, 1), view.place(*corner)) for corner in ((0, 1), (1, 0))]
    return "".join(parts)


def _share(number: int, count: int) -> float:
    return number / (count - 1) if count > 1 else 0.5


def _line(kind: str, first: Place, second: Place) -> str:
    ends = f'x1="{pixels(first[0])}" y1="{pixels(first[1])}" x2="{pixels(second[0])}" y2="{pixels(second[1])}"'
    return f"<line class={kind} {ends}/>"


def _painted(surface: Surface, view: _View) -> Iterator[str]:
    """Yield faces and points, those at the back first."""
    columns, rows = len(surface.columns), len(surface.rows)
    shapes: list[tuple[float, int, str]] = []
    has_face: set[tuple[int, int]] = set()

    def height(x: int, y: int) -> float | None:
        value = surface.values[y][x]
        return None if value is None else surface.scale.position(value)

    for y in range(rows - 1):
        for x in range(columns - 1):
            corners = [
                corner for corner in ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)) if height(*corner) is not None
            ]
            if len(corners) < 3:
                continue
            has_face.update(corners)
            heights = [height(*corner) or 0.0 for corner in corners]
            grounds = [view.ground(_share(cx, columns), _share(cy, rows)) for cx, cy in corners]
            places = [view.place(*ground, up) for ground, up in zip(grounds, heights, strict=True)]
            outline = "L".join(f"{pixels(px)} {pixels(py)}" for px, py in places)
            fill = colour(sum(heights) / len(heights))
            depth = sum(map(sum, grounds)) / len(grounds)
            shapes.append((depth, 0, f'<path class=face fill="{fill}" d="M{outline}Z"/>'))
    for x, y, value in _points(surface):
        ground = view.ground(_share(x, columns), _share(y, rows))
        foot, head = view.place(*ground), view.place(*ground, surface.scale.position(value))
        is_open = (x, y) in surface.marked
        dot = f'<g class={"open" if is_open else "small"}><circle cx="{pixels(head[0])}" cy="{pixels(head[1])}"/></g>'
        if (x, y) not in has_face:
            shapes.append((sum(ground), 1, _line("edge", foot, head) + dot))
        elif is_open:
            shapes.append((sum(ground), 1, dot))
    return (shape for *_, shape in sorted(shapes, key=lambda found: found[:2]))


def _labels(surface: Surface, view: _View) -> Iterator[str]:
    """Yield values and titles of both axes along the edges in front."""
    edge = view.half * _SLOPE
    for names, is_left, is_flipped in (
        (surface.columns, True, view.flip_x),
        (surface.rows, False, view.flip_y),
    ):
        count = len(names)
        every = max(1, -(-_ROW * (count - 1) // edge)) if count > 1 else 1
        for number, name in enumerate(names):
            if number % every:
                continue
            share = _share(number, count)
            share = 1 - share if is_flipped else share
            x, y = view.place(share, 1) if is_left else view.place(1, share)
            kind, x = ("up", x - 2) if is_left else ("start", x + 4)
            yield f'<text class={kind} x="{pixels(x)}" y="{pixels(y + 14)}">{escape(name)}</text>'
    x, y = view.place(0.5, 1)
    wide = _LETTER * max(map(len, surface.columns))
    place = f'x="{pixels(max(x - wide - 14, 2.0))}" y="{pixels(view.place(1, 1)[1] + _ROW + 12)}"'
    yield f'<text class="title start" {place}>{escape(surface.x_title)}</text>'
    x, _ = view.place(1, 0.5)
    wide = _LETTER * max(map(len, surface.rows))
    place = f'x="{pixels(x + wide)}" y="{pixels(view.place(1, 1)[1] + _ROW + 12)}"'
    yield f'<text class="title start" {place}>{escape(surface.y_title)}</text>'
