"""Draws marks of charts as SVG: positions along x are shares of the width, along y pixels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeGuard

from assay.report.draw.axes import TOP
from assay.report.draw.drawing import Axis, Dot, Drawing, Interval, Mark, Path, Rows, Rule, Words
from assay.report.draw.svg import anchor, classes, escape, percent, pixel, title, upright

_ACROSS = 1000
"""Width of a path's view box, which is stretched to the chart, since paths cannot use percentages."""
SHAPES = ("", "square", "triangle", "diamond", "cross", "upside")
_APART = 0.052
"""Least distance between two signs, as a share of the width."""


@dataclass(frozen=True, slots=True)
class Area:
    """Converts values of a drawing into positions.

    Attributes:
        height: Height of the drawn area, in pixels.
    """

    across: Axis
    up: Axis | Rows
    height: float

    def x(self, value: float) -> float:
        """Return the position of a value along x, as a share of the width."""
        return self.across.scale.place(value)

    def y(self, value: float) -> float:
        """Return the position of a value along y, in pixels from the top."""
        if isinstance(self.up, Rows):
            return TOP + self.up.step * value
        return TOP + self.height * (1 - self.up.scale.place(value))


def area_of(drawing: Drawing) -> Area:
    """Return the area of a drawing; named rows determine its height."""
    height = drawing.y.step * len(drawing.y.names) if isinstance(drawing.y, Rows) else drawing.height
    return Area(drawing.x, drawing.y, height)


def marks_svg(marks: Sequence[Mark], area: Area) -> str:
    """Draw all marks in their order, except crossings, which are first and whose signs do not overlap."""
    crossings = sorted((mark for mark in marks if _is_crossing(mark)), key=lambda rule: rule.value)
    others = (mark for mark in marks if not _is_crossing(mark))
    parts = [_signs(crossings, area)]
    for (kind, look), group in groupby(others, key=_look):
        written = "".join(_WRITERS[kind](mark, area) for mark in group)
        parts.append(_stretched(written, area) if kind is Path else f"<g{look}>{written}</g>" if look else written)
    return "".join(parts)


def shape(number: int, attributes: str, inner: str = "") -> str:
    """Draw a shape by its number; the page defines all shapes except the circle (`DEFINITIONS` of `chart.py`)."""
    name = SHAPES[number % len(SHAPES)]
    return f"<circle{attributes}>{inner}</circle>" if not name else f'<use href="#{name}"{attributes}>{inner}</use>'


def _is_crossing(mark: Mark) -> TypeGuard[Rule]:
    return isinstance(mark, Rule) and mark.look == "cross"


def _look(mark: Mark) -> tuple[type, str]:
    """Return class and attributes of a mark; consecutive marks with the same ones share a group element."""
    match mark:
        case Dot():
            return Dot, classes(mark.shade, mark.look or "dot")
        case Interval():
            return Interval, classes(mark.look or "interval", mark.shade)
    return type(mark), ""


def _dot(dot: Dot, area: Area) -> str:
    share, y = area.x(dot.x), area.y(dot.y)
    number = 4 if dot.look == "failed" else dot.shape
    names = ("cx", "cy") if not SHAPES[number % len(SHAPES)] else ("x", "y")
    at = f' {names[0]}="{percent(share)}" {names[1]}="{pixel(y)}"'
    label = ""
    if dot.label:
        label = f'<text class=doubt x="{percent(share)}" y="{pixel(y - 8)}"{anchor(share, 0.1)}>'
        label += f"{escape(dot.label)}</text>"
    return shape(number, at, title(dot.title)) + label


def _path(path: Path, area: Area) -> str:
    places = [(x, None if y is None else (area.x(x), area.y(y))) for x, y in path.points]
    words, last = [], None
    for _, place in places:
        if place is not None:
            words.append(_leg(last, place, path.step))
        last = place
    dash = f"d{path.dash}" if path.dash else ""
    kind = classes(path.shade, dash, path.look)
    return f'<path{kind} d="{"".join(words)}">{title(path.title)}</path>'


def _stretched(paths: str, area: Area) -> str:
    """Return paths stretched to the width of the chart; the style sheet keeps the width of their strokes."""
    height = pixel(TOP + area.height)
    box = f'viewBox="0 0 {_ACROSS} {height}" preserveAspectRatio="none"'
    return f'<svg width="100%" height="{height}" {box}>{paths}</svg>'


def _leg(last: tuple[float, float] | None, place: tuple[float, float], step: str) -> str:
    x, y = round(_ACROSS * place[0]), pixel(place[1])
    if last is None:
        return f"M{x} {y}"
    return f"V{y}H{x}" if step == "before" else f"H{x}V{y}" if step == "after" else f"L{x} {y}"


def _interval(interval: Interval, area: Area) -> str:
    """Draw a line; an end beyond the drawn area is an arrowhead at its edge."""
    (x1, x2), (y1, y2) = (tuple(map(area.x, interval.x)), tuple(map(area.y, interval.y)))
    ends = f' x1="{percent(x1)}" x2="{percent(x2)}" y1="{pixel(y1)}" y2="{pixel(y2)}"'
    return f"<line{ends}/>{_arrows(interval, area)}"


def _arrows(interval: Interval, area: Area) -> str:
    parts = []
    for x, y in zip(interval.x, interval.y, strict=True):
        sides = [("left", "right")[side > 0]] if (side := area.across.scale.beyond(x)) else []
        if isinstance(area.up, Axis) and (side := area.up.scale.beyond(y)):
            sides.append(("bottom", "top")[side > 0])
        parts += [f'<use href="#to-{side}" x="{percent(area.x(x))}" y="{pixel(area.y(y))}"/>' for side in sides]
    return "".join(parts)


def _rule(rule: Rule, area: Area) -> str:
    kind = " ".join(name for name in ("rule", rule.look, rule.shade) if name)
    bottom = TOP + area.height
    if rule.upright:
        share = area.x(rule.value)
        words = f'<text class="{kind}" x="{percent(share)}" y="9"{anchor(share, 0.12)}>{escape(rule.label)}</text>'
        line = upright(kind, share, TOP - 4 if rule.label else TOP, bottom)
        line = line.replace("/>", f">{title(rule.title)}</line>") if rule.title else line
        return line + (words if rule.label else "")
    y = area.y(rule.value)
    words = f'<text class="{kind}" x="4" y="{pixel(y - 4)}">{escape(rule.label)}</text>' if rule.label else ""
    return f'<line class="{kind}" x2="100%" y1="{pixel(y)}" y2="{pixel(y)}"/>{words}'


def _signs(rules: Sequence[Rule], area: Area) -> str:
    """Draw crossings, each with its sign above the drawn area; signs do not overlap."""
    parts, last = [], -1.0
    for rule in rules:
        share = area.x(rule.value)
        last = max(share, last + _APART)
        at = percent(last)
        parts.append(upright("rule cross", share, TOP - 2, TOP + area.height))
        parts.append(f'<circle class=sign cx="{at}" cy="{TOP - 2}"/>')
        parts.append(f'<text class=sign x="{at}" y="{TOP + 1.5}">{escape(rule.label)}</text>')
    return "".join(parts)


def _words(words: Words, area: Area) -> str:
    x, y = percent(area.x(words.x)), pixel(area.y(words.y))
    return f'<text class=said x="{x}" y="{y}" dx="5" dy=".35em">{title(words.title)}{escape(words.text)}</text>'


_WRITERS: dict[type, Callable[..., str]] = {
    Dot: _dot,
    Path: _path,
    Interval: _interval,
    Rule: _rule,
    Words: _words,
}
