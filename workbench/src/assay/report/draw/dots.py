"""Dots along a scale: sentences with the repeats that they rest on."""

from collections.abc import Callable, Sequence

from assay.report import numbers
from assay.report.document import DotRow, Dots, Lane, Text
from assay.report.draw.scales import Scale, amount, decades
from assay.report.draw.svg import anchor, classes, escape, percent, shade, upright

_HEIGHT = 17
_RADIUS = 2.2
_GOLDEN = 0.618
MOST_DOTS = 500
"""Of one lane; of more, evenly spread ones are drawn."""


def dots_html(block: Dots, text: Callable[[Text], str]) -> str:
    """The block as HTML.

    Args:
        block: What is to be drawn.
        text: Makes marked text HTML.
    """
    values = [value for row in block.rows for lane in row.lanes for value in (*lane.values, *lane.open)]
    if not values:
        return "".join(_said(row, text) for row in block.rows)
    scale = decades([*values, 1.0] if block.ratio else values)
    rows = "".join(_row(row, scale, block.ratio, text) for row in block.rows)
    cut = any(len(lane.values) + len(lane.open) > MOST_DOTS for row in block.rows for lane in row.lanes)
    caption = block.caption + (f" Of more than {MOST_DOTS} dots, so many are drawn." if cut else "")
    axis = f'<div class="lane axis"><b></b>{_axis(scale, block.ratio)}</div><p class=unit>{escape(block.title)}</p>'
    foot = f"<div class=row><div class=said></div><div class=lanes>{axis}</div></div>"
    return f'<div class=dots id="{block.id}">{rows}{foot}<p class=caption>{escape(caption)}</p></div>'


def _row(row: DotRow, scale: Scale, ratio: bool, text: Callable[[Text], str]) -> str:
    lanes = "".join(_lane(lane, scale, ratio) for lane in row.lanes)
    return f"<div class=row>{_said(row, text)}<div class=lanes>{lanes}</div></div>"


def _said(row: DotRow, text: Callable[[Text], str]) -> str:
    detail = f" <small>{escape(row.detail)}</small>" if row.detail else ""
    return f"<div class=said><h3>{escape(row.label)}{detail}</h3><p>{text(row.text)}</p></div>"


def _lane(lane: Lane, scale: Scale, ratio: bool) -> str:
    shown = _HEIGHT - 2 * _RADIUS - 2
    kinds = (("", _thinned(lane.values)), (" class=open", _thinned(lane.open)))
    # Spread over the height of the lane, so that dots of the same value can be told apart.
    places = (
        (kind, scale.place(value), 1 + _RADIUS + shown * (number * _GOLDEN % 1))
        for kind, values in kinds
        for number, value in enumerate(values)
    )
    dots = "".join(f'<circle{kind} cx="{percent(x)}" cy="{y:.1f}" r="{_RADIUS}"/>' for kind, x, y in places)
    count = len(lane.values) + len(lane.open)
    middle = upright("middle", scale.place(lane.middle), 0, _HEIGHT) if count else ""
    label = escape(f"{lane.name}: {numbers.plural(count, 'repeat')}, median {numbers.significant(lane.middle)}")
    drawn = f"{_lines(scale, ratio)}{dots}{middle}"
    svg = f'<svg role="img" aria-label="{label}" height="{_HEIGHT}">{drawn}</svg>'
    return f"<div {classes('lane', shade(lane.target))[1:]}><b>{escape(lane.name)}</b>{svg}</div>"


def _thinned(values: Sequence[float]) -> Sequence[float]:
    if len(values) <= MOST_DOTS:
        return values
    ordered = sorted(values)
    return [ordered[round(place * (len(ordered) - 1) / (MOST_DOTS - 1))] for place in range(MOST_DOTS)]


def _lines(scale: Scale, ratio: bool) -> str:
    lines = "".join(upright("grid", scale.place(tick), 0, _HEIGHT) for tick in scale.ticks())
    return lines + (upright("one", scale.place(1), 0, _HEIGHT) if ratio else "")


def _axis(scale: Scale, ratio: bool) -> str:
    texts = "".join(
        f'<text x="{percent(place)}" y="12"{anchor(place)}>{amount(tick)}{"×" if ratio else ""}</text>'
        for tick in scale.ticks()
        for place in (scale.place(tick),)
    )
    return f'<svg aria-hidden="true" height="16">{texts}</svg>'
