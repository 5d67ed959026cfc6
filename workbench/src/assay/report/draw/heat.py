"""Draws heat maps as SVG: panels of coloured fields with their values, and the scale of colours."""

import math
from collections.abc import Sequence

from assay.report.draw.drawing import HeatCell, HeatMap
from assay.report.draw.scales import tick_text
from assay.report.draw.svg import classes, escape, percent, pixels, text_anchor, tooltip

_COLOURS = (
    *((68, 1, 84), (72, 36, 117), (65, 68, 135), (53, 95, 141), (42, 120, 142), (33, 145, 140)),
    *((34, 168, 132), (68, 191, 112), (122, 209, 81), (189, 223, 38), (253, 231, 37)),
)
"""Viridis at each tenth: higher values are lighter, also in print and for colour-blind readers."""
_DARK_UP_TO = 0.62
"""Up to this share of the scale, text on a field is white."""
_LETTER = 6.3
_HEAD, _FOOT = 20, 38
_NARROWEST = 34
"""Least width of a field with text, in pixels; a map with less room is scrolled."""
SCALE_WIDTH = 220


def colour(share: float) -> str:
    """Return the colour at a share of the scale, 0 to 1."""
    place = min(max(share, 0.0), 1.0) * (len(_COLOURS) - 1)
    low = min(int(place), len(_COLOURS) - 2)
    parts = (round(a + (b - a) * (place - low)) for a, b in zip(_COLOURS[low], _COLOURS[low + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in parts)


def heat_html(heat: HeatMap, label: str) -> str:
    """Return a heat map as HTML.

    Args:
        heat: The contents of the map.
        label: Id of the element that describes the map.
    """
    left = left_room(heat)
    panels = "".join(_panel(name, cells, heat, left, label) for name, cells in heat.panels)
    return f"{_bar(heat)}<div class=maps>{panels}</div>"


def _panel(name: str, cells: Sequence[HeatCell], heat: HeatMap, left: int, label: str) -> str:
    size = f'width="100%" height="{panel_height(heat)}"'
    inner = panel_svg(cells, heat)
    svg = f'<svg role="img" aria-label="{escape(name)}" aria-describedby="{label}" {size}>{inner}</svg>'
    wide = heat.width * len(heat.columns)
    narrowest = min(_NARROWEST if heat.has_text else 10, heat.width)
    right = right_room(heat)
    sides, least = left + right, narrowest * len(heat.columns)
    style = f"padding:0 {right}px 0 {left}px;width:{wide + sides}px;min-width:{least + sides}px"
    return f'<div class=map style="{style}"><b>{escape(name)}</b>{svg}</div>'


def left_room(heat: HeatMap) -> int:
    """Return the width of the labels left of a panel, in pixels."""
    return max(round(_LETTER * max(len(name) for name in heat.rows)) + 10, 40)


def right_room(heat: HeatMap) -> int:
    """Return the room right of a panel, in pixels: the label of the last column may be wider than that column."""
    narrowest = min(_NARROWEST if heat.has_text else 10, heat.width)
    return max(4, math.ceil((_LETTER * max(map(len, heat.columns)) - narrowest) / 2))


def panel_height(heat: HeatMap) -> int:
    """Return the height of a panel with its labels, in pixels."""
    return _HEAD + heat.height * len(heat.rows) + _FOOT


def panel_svg(cells: Sequence[HeatCell], heat: HeatMap) -> str:
    """Return fields and labels of a panel as SVG elements: along x in percent of its width, along y in pixels."""
    fields = "".join(_field(cell, heat) for cell in cells)
    names = _column_names(heat, _HEAD + heat.height * len(heat.rows))
    return fields + names + _row_names(heat, left_room(heat))


def _field(cell: HeatCell, heat: HeatMap) -> str:
    count = len(heat.columns)
    x, y = cell.column / count, _HEAD + heat.height * (len(heat.rows) - 1 - cell.row)
    box = f' x="{percent(x)}" y="{pixels(y)}" width="{percent(1 / count)}" height="{heat.height}"'
    share = None if cell.value is None else heat.scale.position(cell.value)
    ink = cell.look if share is None else "light" if share < _DARK_UP_TO else "dark"
    look = classes("none") if share is None else f' fill="{colour(share)}"'
    parts = [f"<rect{look}{box}>{tooltip(cell.tooltip)}</rect>"]
    if share is not None and cell.doubtful:
        parts.append(f'<rect class=hatched fill="url(#hatch)"{box}>{tooltip(cell.tooltip)}</rect>')
    if heat.has_text:
        middle, centre = percent((cell.column + 0.5) / count), y + heat.height / 2 + 4
        lift = 5 if cell.remark else 0
        parts.append(f'<text{classes(ink)} x="{middle}" y="{pixels(centre - lift)}">{escape(cell.text)}</text>')
        if cell.remark:
            down = 8 if cell.text else 0
            small = f'<text{classes("small", ink)} x="{middle}" y="{pixels(centre + down)}">'
            parts.append(f"{small}{escape(cell.remark)}</text>")
    return "".join(parts)


def _column_names(heat: HeatMap, bottom: float) -> str:
    count = len(heat.columns)
    every = max(1, -(-max(_LETTER * len(name) + 6 for name in heat.columns) // heat.width))
    texts = "".join(
        f'<text x="{percent((number + 0.5) / count)}" y="{pixels(bottom + 15)}">{escape(name)}</text>'
        for number, name in enumerate(heat.columns)
        if number % every == 0
    )
    return f'{texts}<text class=title x="50%" y="{pixels(bottom + 31)}">{escape(heat.x_title)}</text>'


def _row_names(heat: HeatMap, left: int) -> str:
    middle = _HEAD + heat.height * (len(heat.rows) - 0.5) + 4
    texts = "".join(
        f'<text class=up x="-6" y="{pixels(middle - heat.height * number)}">{escape(name)}</text>'
        for number, name in enumerate(heat.rows)
    )
    return f'{texts}<text class="title over" x="{4 - left}" y="12">{escape(heat.y_title)}</text>'


def _bar(heat: HeatMap) -> str:
    """Draw the scale of colours with its unit."""
    svg = f'<svg aria-hidden="true" width="{SCALE_WIDTH}" height="24">{scale_svg(heat)}</svg>'
    return f"<p class=colours>{escape(heat.unit)}{svg}</p>"


def scale_svg(heat: HeatMap) -> str:
    """Return the scale of colours as SVG elements, `SCALE_WIDTH` wide and 24 pixels high."""
    steps = 32
    fields = "".join(
        f'<rect fill="{colour((number + 0.5) / steps)}" x="{number * SCALE_WIDTH / steps:g}" '
        f'width="{SCALE_WIDTH / steps + 0.5:g}" '
        'height="10"/>'
        for number in range(steps)
    )
    texts = "".join(
        f'<text x="{pixels(SCALE_WIDTH * place)}" y="22"{text_anchor(place, 0.03)}>{tick_text(tick)}</text>'
        for tick in heat.scale.ticks(4)
        for place in (heat.scale.position(tick),)
    )
    return fields + texts
