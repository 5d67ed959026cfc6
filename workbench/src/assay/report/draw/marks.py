"""Draws marks of charts as SVG: positions along x are shares of the width, along y pixels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeGuard

from assay.report.draw.axes import TOP
from assay.report.draw.drawing import (
    BarMark,
    ChartAxis,
    Dot,
    Drawing,
    IntervalMark,
    LineMark,
    Mark,
    NamedRows,
    ReferenceLine,
    TextMark,
)
from assay.report.draw.svg import classes, escape, percent, pixels, text_anchor, tooltip, vertical_line

STRETCH = 1000
"""Width of a path's view box, which is stretched to the chart, since paths cannot use percentages."""
SHAPES = ("", "square", "triangle", "diamond", "cross", "upside")
DASHES = 5
"""Number of dash patterns; the first is a solid line."""
PATTERNS = 6
"""Number of patterns of bars; the first is none."""
_APART = 0.052
"""Least distance between two signs, as a share of the width."""


@dataclass(frozen=True, slots=True)
class DrawnArea:
    """Converts values of a drawing into positions.

    Attributes:
        height: Height of the drawn area, in pixels.
    """

    x_axis: ChartAxis
    y_axis: ChartAxis | NamedRows
    height: float

    def x(self, value: float) -> float:
        """Return the position of a value along x, as a share of the width."""
        return self.x_axis.scale.position(value)

    def y(self, value: float) -> float:
        """Return the position of a value along y, in pixels from the top."""
        if isinstance(self.y_axis, NamedRows):
            return TOP + self.y_axis.step * value
        return TOP + self.height * (1 - self.y_axis.scale.position(value))


def area_of(drawing: Drawing) -> DrawnArea:
    """Return the area of a drawing; named rows determine its height."""
    height = drawing.y.step * len(drawing.y.names) if isinstance(drawing.y, NamedRows) else drawing.height
    return DrawnArea(drawing.x, drawing.y, height)


def marks_svg(marks: Sequence[Mark], area: DrawnArea) -> str:
    """Draw all marks in their order, except crossings, which are first and whose signs do not overlap."""
    crossings = sorted((mark for mark in marks if _is_crossing(mark)), key=lambda rule: rule.value)
    others = (mark for mark in marks if not _is_crossing(mark))
    parts = [_signs(crossings, area)]
    for (kind, look), group in groupby(others, key=_look):
        written = "".join(_WRITERS[kind](mark, area) for mark in group)
        parts.append(_stretched(written, area) if kind is LineMark else f"<g{look}>{written}</g>" if look else written)
    return "".join(parts)


def shape_svg(number: int, attributes: str, inner: str = "") -> str:
    """Draw a shape by its number; the page defines all shapes except the circle (`DEFINITIONS` of `chart.py`)."""
    name = SHAPES[number % len(SHAPES)]
    return f"<circle{attributes}>{inner}</circle>" if not name else f'<use href="#{name}"{attributes}>{inner}</use>'


def _is_crossing(mark: Mark) -> TypeGuard[ReferenceLine]:
    return isinstance(mark, ReferenceLine) and mark.look == "cross"


def _look(mark: Mark) -> tuple[type, str]:
    """Return class and attributes of a mark; consecutive marks with the same ones share a group element."""
    match mark:
        case Dot():
            return Dot, classes(mark.css_class, mark.look or "dot")
        case BarMark():
            return BarMark, classes("bar", mark.css_class, mark.look)
        case IntervalMark():
            return IntervalMark, classes(mark.look or "interval", mark.css_class)
    return type(mark), ""


def _dot(dot: Dot, area: DrawnArea) -> str:
    share, y = area.x(dot.x), area.y(dot.y)
    number = 4 if dot.look == "failed" else dot.shape
    names = ("cx", "cy") if not SHAPES[number % len(SHAPES)] else ("x", "y")
    at = f' {names[0]}="{percent(share)}" {names[1]}="{pixels(y)}"'
    label = ""
    if dot.label:
        label = f'<text class=doubt x="{percent(share)}" y="{pixels(y - 8)}"{text_anchor(share, 0.1)}>'
        label += f"{escape(dot.label)}</text>"
    return shape_svg(number, at, tooltip(dot.tooltip)) + label


def _path(path: LineMark, area: DrawnArea) -> str:
    places = [(x, None if y is None else (area.x(x), area.y(y))) for x, y in path.points]
    words, last = [], None
    for _, place in places:
        if place is not None:
            words.append(_leg(last, place, path.step))
        last = place
    dash = f"d{path.dash}" if path.dash else ""
    kind = classes(path.css_class, dash, path.look)
    return f'<path{kind} d="{"".join(words)}">{tooltip(path.tooltip)}</path>'


def _stretched(paths: str, area: DrawnArea) -> str:
    """Return paths stretched to the width of the chart; the style sheet keeps the width of their strokes."""
    height = pixels(TOP + area.height)
    box = f'viewBox="0 0 {STRETCH} {height}" preserveAspectRatio="none"'
    return f'<svg width="100%" height="{height}" {box}>{paths}</svg>'


def _leg(last: tuple[float, float] | None, place: tuple[float, float], step: str) -> str:
    x, y = round(STRETCH * place[0]), pixels(place[1])
    if last is None:
        return f"M{x} {y}"
    return f"V{y}H{x}" if step == "before" else f"H{x}V{y}" if step == "after" else f"L{x} {y}"


def _interval(interval: IntervalMark, area: DrawnArea) -> str:
    """Draw a line; an end beyond the drawn area is an arrowhead at its edge."""
    (x1, x2), (y1, y2) = (tuple(map(area.x, interval.x)), tuple(map(area.y, interval.y)))
    ends = f' x1="{percent(x1)}" x2="{percent(x2)}" y1="{pixels(y1)}" y2="{pixels(y2)}"'
    return f"<line{ends}/>{_arrows(interval, area)}"


def _bar(bar: BarMark, area: DrawnArea) -> str:
    left, right = sorted(map(area.x, bar.x))
    top, bottom = sorted(map(area.y, bar.y))
    box = f' x="{percent(left)}" y="{pixels(top)}" width="{percent(right - left)}" height="{pixels(bottom - top)}"'
    drawn = f"<rect{box}>{tooltip(bar.tooltip)}</rect>"
    return drawn + pattern_svg(bar.pattern, box) if bar.look != "open" else drawn


def pattern_svg(number: int, box: str) -> str:
    """Draw the pattern of a bar over it; nothing for number 0. The page defines all patterns."""
    return f'<rect class=pattern fill="url(#bar-{number % PATTERNS})"{box}/>' if number % PATTERNS else ""


def _arrows(interval: IntervalMark, area: DrawnArea) -> str:
    parts = []
    for x, y in zip(interval.x, interval.y, strict=True):
        sides = [("left", "right")[side > 0]] if (side := area.x_axis.scale.side_beyond(x)) else []
        if isinstance(area.y_axis, ChartAxis) and (side := area.y_axis.scale.side_beyond(y)):
            sides.append(("bottom", "top")[side > 0])
        parts += [f'<use href="#to-{side}" x="{percent(area.x(x))}" y="{pixels(area.y(y))}"/>' for side in sides]
    return "".join(parts)


def _rule(rule: ReferenceLine, area: DrawnArea) -> str:
    kind = " ".join(name for name in ("rule", rule.look, rule.css_class) if name)
    bottom = TOP + area.height
    if rule.is_vertical:
        share = area.x(rule.value)
        words = f'<text class="{kind}" x="{percent(share)}" y="9"{text_anchor(share, 0.12)}>{escape(rule.label)}</text>'
        line = vertical_line(kind, share, TOP - 4 if rule.label else TOP, bottom)
        line = line.replace("/>", f">{tooltip(rule.tooltip)}</line>") if rule.tooltip else line
        return line + (words if rule.label else "")
    y = area.y(rule.value)
    words = f'<text class="{kind}" x="4" y="{pixels(y - 4)}">{escape(rule.label)}</text>' if rule.label else ""
    return f'<line class="{kind}" x2="100%" y1="{pixels(y)}" y2="{pixels(y)}"/>{words}'


def _signs(rules: Sequence[ReferenceLine], area: DrawnArea) -> str:
    """Draw crossings, each with its sign above the drawn area; signs do not overlap."""
    parts, last = [], -1.0
    for rule in rules:
        share = area.x(rule.value)
        last = max(share, last + _APART)
        at = percent(last)
        parts.append(vertical_line("rule cross", share, TOP - 2, TOP + area.height))
        parts.append(f'<circle class=sign cx="{at}" cy="{TOP - 2}"/>')
        parts.append(f'<text class=sign x="{at}" y="{TOP + 1.5}">{escape(rule.label)}</text>')
    return "".join(parts)


def _words(words: TextMark, area: DrawnArea) -> str:
    x, y = percent(area.x(words.x)), pixels(area.y(words.y))
    return f'<text class=said x="{x}" y="{y}" dx="5" dy=".35em">{tooltip(words.tooltip)}{escape(words.text)}</text>'


_WRITERS: dict[type, Callable[..., str]] = {
    Dot: _dot,
    LineMark: _path,
    IntervalMark: _interval,
    ReferenceLine: _rule,
    TextMark: _words,
    BarMark: _bar,
}
