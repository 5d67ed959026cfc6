"""Charts as pictures that stand alone: SVG files with their legends, for print and for documents without a style sheet.

The elements are those of the HTML page. Here each gets absolute positions and its own colours and strokes, since a
picture has neither a width of its own choice nor the page's style sheet. Lines and shapes differ by target, so that a
grey print can be read.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser

from assay.report.document import Dots
from assay.report.draw import dots, heat
from assay.report.draw.axes import BOTTOM, TOP, gutter
from assay.report.draw.chart import SHAPE_DEFINITIONS, key_sign, plot_svg
from assay.report.draw.diagram import Diagram, diagram_parts
from assay.report.draw.drawing import Dot, Drawing, HeatMap, Legend, LegendEntry, LineMark, NamedRows, Surface
from assay.report.draw.marks import DASHES, SHAPES, STRETCH, area_of
from assay.report.draw.print_style import FONT, NARROW_FONT, style_of
from assay.report.draw.surface import surface_svg
from assay.report.draw.svg import colour_class, escape, pixels

WIDTH = 520
"""Width of a picture in pixels, unless the caller names another."""
_LETTER = 5.4
"""Mean width of a letter of 11 pixels, in pixels."""
_BOLD_LETTER = 6.3
"""The same of a bold one."""
_MAX_NAME = 34
"""Longest name of a row, in letters."""
_RIGHT = 16
_MAX_HEIGHT = 150
"""Greatest height of the drawn area of a chart without named rows, in pixels."""
_KEY_HEIGHT = 16
_X_OF_PATH = re.compile(r"([MLH])(-?[0-9.]+)")
_HORIZONTAL = {"x", "x1", "x2", "cx", "width"}
_DRAWN = {"line", "circle", "rect", "text", "path", "use"}


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart as an SVG file; width and height in pixels.

    Attributes:
        words: All that a diagram shows; empty for charts, whose captions say it.
    """

    svg: str
    width: int
    height: int
    words: str = ""


def picture_of(drawing: Drawing | HeatMap | Surface | Dots | Diagram, width: int = WIDTH) -> Picture:
    """Return a chart as a picture of this width; the same chart gives the same text. Diagrams have their own width."""
    if isinstance(drawing, Diagram):
        return _diagram(drawing)
    if isinstance(drawing, HeatMap):
        parts, height = _heat_map(drawing, width)
    elif isinstance(drawing, Surface):
        inner, height = surface_svg(drawing, width)
        parts = list(flattened(inner, 0, 0, STRETCH, "surface"))
    elif isinstance(drawing, Dots):
        parts, height = _dots(drawing, width)
    else:
        lower = replace(drawing, height=min(drawing.height, _MAX_HEIGHT))
        parts, height = _plot(differing_in_grey(lower), width)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{pixels(height)}"'
    head += f' viewBox="0 0 {width} {pixels(height)}" font-family="{FONT}">'
    return Picture(f"{head}<defs>{SHAPE_DEFINITIONS}</defs>{''.join(parts)}</svg>", width, round(height))


def _diagram(diagram: Diagram) -> Picture:
    width, height = round(diagram.width), round(diagram.height)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    body = "".join(diagram_parts(diagram))
    return Picture(f'{head} font-family="{NARROW_FONT}">{body}</svg>', width, height, diagram.words)


def differing_in_grey(drawing: Drawing) -> Drawing:
    """Return the drawing with a dash pattern for each target, and a shape if shapes do not have another meaning."""
    has_shapes = any(dot.shape for dot in drawing.marks_of(Dot))
    marks = []
    for mark in drawing.marks:
        number = _target(mark.css_class) if isinstance(mark, Dot | LineMark) else None
        if isinstance(mark, LineMark) and number is not None:
            mark = replace(mark, dash=number % DASHES)
        elif isinstance(mark, Dot) and number is not None and not has_shapes:
            mark = replace(mark, shape=number % len(SHAPES))
        marks.append(mark)
    dashed = any(_target(line.css_class) is not None for line in drawing.marks_of(LineMark))
    legends = tuple(
        Legend(legend.title, tuple(_grey_key(key, has_shapes, dashed) for key in legend.keys))
        for legend in drawing.legends
    )
    return replace(drawing, marks=tuple(marks), legends=legends)


def _target(css_class: str) -> int | None:
    """Return the number of the target that a class is the colour of; None for other classes."""
    return next((number for number in range(8) if css_class == colour_class(number)), None)


def _grey_key(key: LegendEntry, has_shapes: bool, dashed: bool) -> LegendEntry:
    number = _target(key.css_class)
    if key.pattern is not None:
        return key
    if number is None:
        return replace(key, dash=None) if dashed and key.shape is not None else key
    shape = key.shape if has_shapes else number % len(SHAPES)
    return replace(key, shape=shape, dash=number % DASHES if dashed else None)


def _plot(drawing: Drawing, width: int) -> tuple[list[str], float]:
    parts, top = _legends(drawing.legends, width)
    area = area_of(drawing)
    if isinstance(drawing.y, NamedRows):
        names = [_shortened(name) for name in drawing.y.names]
        left = min(round(_LETTER * max(map(len, names))) + 12, width // 2)
        for number, name in enumerate(names):
            parts.append(_text(left - 8, top + TOP + drawing.y.step * (number + 0.5) + 4, name, "end"))
    else:
        left = gutter(drawing.y)
    parts += flattened(plot_svg(drawing), left, top, width - left - _RIGHT, "plot")
    return parts, top + TOP + area.height + BOTTOM


def _legends(legends: tuple[Legend, ...], width: int) -> tuple[list[str], float]:
    """Return the entries of all legends in lines, and the height of these."""
    parts: list[str] = []
    x, y = 0.0, 0.0
    for legend in legends:
        for place, key in enumerate(legend.keys):
            sign, wide = key_sign(key)
            head = legend.title if place == 0 else ""
            words = " ".join(filter(None, (key.name, key.detail)))
            room = _LETTER * (len(head) + 1) * bool(head) + wide + 5 + _LETTER * len(words) + 16
            if x and x + room > width:
                x, y = 0.0, y + _KEY_HEIGHT
            at = x
            if head:
                parts.append(_text(at, y + 11, head, "start"))
                at += _LETTER * (len(head) + 1)
            parts += flattened(sign, at, y + 1, wide, f"keys {key.css_class}")
            parts.append(_text(at + wide + 5, y + 11, words, "start", "title"))
            x += room
    return parts, y + _KEY_HEIGHT + 4 if legends else 0.0


def _heat_map(drawing: HeatMap, width: int) -> tuple[list[str], float]:
    """Return the scale of colours, and the panels beside each other as far as there is room."""
    parts = [_text(0, 11, drawing.unit, "start")]
    at = _LETTER * len(drawing.unit) + 14
    parts += flattened(heat.scale_svg(drawing), at, 2, heat.SCALE_WIDTH, "colours")
    left, right = heat.left_room(drawing), heat.right_room(drawing)
    panels = len(drawing.panels)
    wide = drawing.width * len(drawing.columns)
    across = min(panels, max(1, (width + 14) // (wide + left + right + 14)))
    if across < panels and panels == 2:
        # Two panels are compared with each other: narrower fields are better than one below the other.
        across = 2
    field = min(wide, (width - 14 * (across - 1)) // across - left - right)
    height = heat.panel_height(drawing) + 18
    for number, (name, cells) in enumerate(drawing.panels):
        x = number % across * (left + field + right + 14)
        y = 34 + number // across * height
        parts.append(_text(x, y + 11, _shortened(name), "start", "title"))
        parts += flattened(heat.panel_svg(cells, drawing), x + left, y + 14, field, "map")
    return parts, 34 + -(-panels // across) * height


def _dots(block: Dots, width: int) -> tuple[list[str], float]:
    scale = dots.dots_scale(block)
    if scale is None:
        return [], 1.0
    rows = [row for row in block.rows if row.lanes]
    labels = [_shortened(row.label) for row in rows]
    names = {lane.name: _shortened(lane.name) for row in rows for lane in row.lanes}
    left = round(_BOLD_LETTER * max(map(len, labels)) + _LETTER * max(map(len, names.values()))) + 26
    left = min(left, width * 3 // 5)
    parts: list[str] = []
    y = 2.0
    for label, row in zip(labels, rows, strict=True):
        middle = y + len(row.lanes) * dots.HEIGHT / 2
        parts.append(_text(0, middle + 4, label, "start", "title"))
        for lane in row.lanes:
            parts.append(_text(left - 8, y + 12, names[lane.name], "end"))
            kind = f"lane {colour_class(lane.target)}"
            parts += flattened(dots.lane_svg(lane, scale, block.is_ratio), left, y, width - left - _RIGHT, kind)
            y += dots.HEIGHT
        parts.append(f'<line x1="0" x2="{width}" y1="{pixels(y + 2)}" y2="{pixels(y + 2)}" stroke="#dfe5ea"/>')
        y += 5
    parts += flattened(dots.axis_svg(scale, block.is_ratio), left, y, width - left - _RIGHT, "axis")
    parts.append(_text(width - _RIGHT, y + 27, dots.scale_title(block, scale), "end", "title"))
    return parts, y + 32


def _shortened(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"


def _text(x: float, y: float, words: str, anchor: str, look: str = "") -> str:
    style = " ".join(f'{name}="{value}"' for name, value in style_of("text", {"plot", look}).items())
    style = re.sub(r'text-anchor="\w+"', f'text-anchor="{anchor}"', style)
    return f'<text x="{pixels(x)}" y="{pixels(y)}" {style}>{escape(words)}</text>'


def flattened(markup: str, left: float, top: float, width: float, look: str) -> Iterator[str]:
    """Yield elements of a page's chart with absolute positions and their own style.

    Args:
        markup: Elements as charts of pages have them: along x in percent, with classes of the style sheet.
        left: Where the drawn area begins, in pixels from the left edge.
        top: The same from the upper edge.
        width: Its width, in pixels.
        look: Classes of the elements around it.
    """
    parser = _Flattener(width, look)
    parser.feed(markup)
    parser.close()
    yield f'<g transform="translate({pixels(left)} {pixels(top)})">{"".join(parser.parts)}</g>'


class _Flattener(HTMLParser):
    """Writes each element that draws something; groups only hand their classes down, tooltips are left out."""

    def __init__(self, width: float, look: str) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._width = width
        self._classes: list[set[str]] = [set(look.split())]
        self._in_tooltip = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        names = self._classes[-1] | set(found.pop("class", "").split())
        if tag == "title":
            self._in_tooltip = True
        elif tag in ("g", "svg"):
            self._classes.append(names)
        elif tag in _DRAWN:
            written = {name: self._position(name, value) for name, value in found.items()}
            # The page draws the styles of elements over those of classes.
            look = style_of(tag, names) | written
            words = "".join(f' {name}="{escape(value)}"' for name, value in look.items())
            self.parts.append(f"<{tag}{words}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_tooltip = False
        elif tag in ("g", "svg"):
            self._classes.pop()
        elif tag in _DRAWN:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._in_tooltip:
            self.parts.append(escape(data))

    def _position(self, name: str, value: str) -> str:
        if name == "d":
            scaled: Callable[[re.Match[str]], str] = lambda found: (  # noqa: E731
                f"{found[1]}{pixels(float(found[2]) * self._width / STRETCH)}"
            )
            return _X_OF_PATH.sub(scaled, value)
        if name in _HORIZONTAL and value.endswith("%"):
            return pixels(float(value[:-1]) / 100 * self._width)
        return value
