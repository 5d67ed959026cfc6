"""Dots along a scale as SVG in HTML, without a chart library: it is in every report, keeps to any width, and prints."""

import math
from collections.abc import Callable, Sequence

from assay.report import numbers
from assay.report.document import DotRow, Dots, Lane, Text

_HEIGHT = 17
_RADIUS = 2.2
_GOLDEN = 0.618
MOST_DOTS = 500
"""Of one lane; of more, evenly spread ones are drawn."""
_MOST_TICKS = 6
_ROOM = 1.06
"""So much more than the values span is drawn at each end."""
_STEPS = (1, 2, 5)


class Scale:
    """A logarithmic scale.

    Attributes:
        ticks: Values at which it has a line and a number.
    """

    def __init__(self, values: Sequence[float]) -> None:
        """Span all values, which are above 0."""
        low, high = min(values) / _ROOM, max(values) * _ROOM
        self._low, self._span = math.log10(low), math.log10(high / low)
        self.ticks = _ticks(low, high)

    def place(self, value: float) -> float:
        """Where a value is, in percent of the width."""
        return 100 * (math.log10(value) - self._low) / self._span


def _ticks(low: float, high: float) -> tuple[float, ...]:
    """Round values between the ends; the fewer to a decade, the more decades there are."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in (tuple(n / 2 for n in range(2, 20)), (1, 1.5, 2, 3, 5, 7), _STEPS, (1, 3), (1,)):
        found = tuple(step * 10.0**decade for decade in decades for step in steps if low <= step * 10.0**decade <= high)
        if len(found) <= _MOST_TICKS:
            return found
    return found[:: math.ceil(len(found) / _MOST_TICKS)]


def dots_html(block: Dots, escape: Callable[[str], str], text: Callable[[Text], str]) -> str:
    """The block as HTML.

    Args:
        block: What is to be drawn.
        escape: Makes plain text HTML.
        text: Makes marked text HTML.
    """
    values = [value for row in block.rows for lane in row.lanes for value in (*lane.values, *lane.open)]
    if not values:
        return "".join(_said(row, escape, text) for row in block.rows)
    scale = Scale([*values, 1.0] if block.ratio else values)
    rows = "".join(_row(row, scale, block.ratio, escape, text) for row in block.rows)
    cut = any(len(lane.values) + len(lane.open) > MOST_DOTS for row in block.rows for lane in row.lanes)
    caption = block.caption + (f" Of more than {MOST_DOTS} dots, so many are drawn." if cut else "")
    axis = f'<div class="lane axis"><b></b>{_axis(scale, block.ratio)}</div><p class=unit>{escape(block.title)}</p>'
    foot = f"<div class=row><div class=said></div><div class=lanes>{axis}</div></div>"
    return f'<div class=dots id="{block.id}">{rows}{foot}<p class=caption>{escape(caption)}</p></div>'


def _row(row: DotRow, scale: Scale, ratio: bool, escape: Callable[[str], str], text: Callable[[Text], str]) -> str:
    lanes = "".join(_lane(lane, scale, ratio, escape) for lane in row.lanes)
    return f"<div class=row>{_said(row, escape, text)}<div class=lanes>{lanes}</div></div>"


def _said(row: DotRow, escape: Callable[[str], str], text: Callable[[Text], str]) -> str:
    detail = f" <small>{escape(row.detail)}</small>" if row.detail else ""
    return f"<div class=said><h3>{escape(row.label)}{detail}</h3><p>{text(row.text)}</p></div>"


def _lane(lane: Lane, scale: Scale, ratio: bool, escape: Callable[[str], str]) -> str:
    shade = "" if lane.target is None else f" t{lane.target % 8}"
    shown = _HEIGHT - 2 * _RADIUS - 2
    kinds = (("", _thinned(lane.values)), (" class=open", _thinned(lane.open)))
    # Spread over the height of the lane, so that dots of the same value can be told apart.
    places = (
        (kind, scale.place(value), 1 + _RADIUS + shown * (number * _GOLDEN % 1))
        for kind, values in kinds
        for number, value in enumerate(values)
    )
    dots = "".join(f'<circle{kind} cx="{x:.2f}%" cy="{y:.1f}" r="{_RADIUS}"/>' for kind, x, y in places)
    count = len(lane.values) + len(lane.open)
    middle = _line("middle", scale.place(lane.middle), _HEIGHT) if count else ""
    label = escape(f"{lane.name}: {numbers.plural(count, 'repeat')}, median {numbers.significant(lane.middle)}")
    drawn = f"{_lines(scale, ratio, _HEIGHT)}{dots}{middle}"
    svg = f'<svg role="img" aria-label="{label}" height="{_HEIGHT}">{drawn}</svg>'
    return f'<div class="lane{shade}"><b>{escape(lane.name)}</b>{svg}</div>'


def _line(kind: str, place: float, height: int) -> str:
    return f'<line class={kind} x1="{place:.2f}%" x2="{place:.2f}%" y1="0" y2="{height}"/>'


def _thinned(values: Sequence[float]) -> Sequence[float]:
    if len(values) <= MOST_DOTS:
        return values
    ordered = sorted(values)
    return [ordered[round(place * (len(ordered) - 1) / (MOST_DOTS - 1))] for place in range(MOST_DOTS)]


def _lines(scale: Scale, ratio: bool, height: int) -> str:
    lines = "".join(_line("grid", scale.place(tick), height) for tick in scale.ticks)
    one = _line("one", scale.place(1), height) if ratio else ""
    return lines + one


def _axis(scale: Scale, ratio: bool) -> str:
    sign = "×" if ratio else ""
    texts = "".join(
        f'<text x="{scale.place(tick):.2f}%" y="12"{_anchor(scale.place(tick))}>{_number(tick)}{sign}</text>'
        for tick in scale.ticks
    )
    return f'<svg aria-hidden="true" height="16">{texts}</svg>'


def _number(value: float) -> str:
    """Without needless zeros: `0.5`, `2`, `1,000`."""
    text = numbers.significant(value, 2) if value < 10 else numbers.count(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _anchor(place: float) -> str:
    """The first and the last number must not reach over the edge."""
    return ' text-anchor="start"' if place < 4 else ' text-anchor="end"' if place > 96 else ""
