"""Draws axes of charts: numbers, lines and titles."""

from assay.report.draw.drawing import ChartAxis, NamedRows
from assay.report.draw.svg import classes, escape, percent, pixels, vertical_line

TOP, BOTTOM = 22, 38
"""Room above and below the drawn area, in pixels."""
_LETTER = 6.3
_MIN_GUTTER = 26
_LONG = 26
"""Titles with more letters than this have no room below a narrow chart."""
_ROOMS = (("wide", 330), ("middling", 230), ("narrow", 150))
"""CSS class -> width of all numbers, in pixels, above which every second one is hidden in a narrower chart."""


def gutter(axis: ChartAxis) -> int:
    """Return the width of the numbers of a vertical axis, in pixels."""
    return max([_MIN_GUTTER, *(round(_LETTER * len(words)) + 10 for _, words in axis.ticks)])


def horizontal_axis(axis: ChartAxis, height: float, has_row_names: bool) -> str:
    """Draw the horizontal axis below an area of this height; with `has_row_names`, names of rows are on its left."""
    bottom = TOP + height
    room = sum(_LETTER * len(words) + 16 for _, words in axis.ticks)
    thinned = next((kind for kind, least in _ROOMS if room > least), "")
    parts = []
    for number, (value, words) in enumerate(axis.ticks):
        at = axis.scale.position(value)
        if axis.grid:
            parts.append(vertical_line("grid", at, TOP, bottom))
        kind = classes(thinned if number % 2 else "")
        parts.append(f'<text x="{percent(at)}" y="{pixels(bottom + 15)}"{kind}>{escape(words)}</text>')
    # A long title ends at the right edge; to the left it may extend below the names of rows.
    place = ' x="100%" text-anchor="end"' if has_row_names and len(axis.title) > _LONG else ' x="50%"'
    title = f'<text class=title{place} y="{pixels(bottom + 32)}">{escape(axis.title)}</text>' if axis.title else ""
    return f"{''.join(parts)}{_edge(bottom)}{title}"


def vertical_axis(axis: ChartAxis, height: float) -> str:
    """Draw the vertical axis; its title is horizontal, above the axis."""
    parts = []
    for value, words in axis.ticks:
        y = pixels(TOP + height * (1 - axis.scale.position(value)))
        if axis.grid:
            parts.append(f'<line class=grid x2="100%" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class=up x="-7" y="{y}" dy=".35em">{escape(words)}</text>')
    title = f'<text class="title over" x="{2 - gutter(axis)}" y="10">{escape(axis.title)}</text>' if axis.title else ""
    return "".join(parts) + title


def row_names(rows: NamedRows) -> str:
    """Return the list of row names, left of the drawing; long names take two lines or are cut off."""
    names = "".join(f'<li title="{escape(name)}"><span>{escape(name)}</span></li>' for name in rows.names)
    return f'<ul class=names aria-hidden="true" style="--step:{rows.step}px;--top:{TOP}px">{names}</ul>'


def row_lines(rows: NamedRows) -> str:
    """Draw lines between the rows."""
    places = [pixels(TOP + rows.step * number) for number in range(1, len(rows.names))]
    return "".join(f'<line class=grid x2="100%" y1="{y}" y2="{y}"/>' for y in places)


def _edge(y: float) -> str:
    return f'<line class=edge x2="100%" y1="{pixels(y)}" y2="{pixels(y)}"/>'
