"""Axes of charts: numbers, lines and titles."""

from assay.report.draw.drawing import Axis, Rows
from assay.report.draw.svg import classes, escape, percent, pixel, upright

TOP, BELOW = 22, 38
"""Room above and below the drawn area, in pixels."""
_LETTER = 6.3
_LEAST_GUTTER = 26
_LONG = 26
"""Letters of a title that a narrow area has no room for."""
_ROOMS = (("wide", 330), ("middling", 230), ("narrow", 150))
"""Numbers that take more room than this, in pixels, are thinned out where the chart is narrower (`report.css`)."""


def gutter(axis: Axis) -> int:
    """Width that the numbers of an upright axis take, in pixels."""
    return max([_LEAST_GUTTER, *(round(_LETTER * len(words)) + 10 for _, words in axis.ticks)])


def across(axis: Axis, height: float, beside: bool) -> str:
    """The lower axis of a drawn area of some height, which has less room beside names of rows."""
    bottom = TOP + height
    room = sum(_LETTER * len(words) + 16 for _, words in axis.ticks)
    thinned = next((kind for kind, least in _ROOMS if room > least), "")
    parts = []
    for number, (value, words) in enumerate(axis.ticks):
        at = axis.scale.place(value)
        if axis.grid:
            parts.append(upright("grid", at, TOP, bottom))
        kind = classes(thinned if number % 2 else "")
        parts.append(f'<text x="{percent(at)}" y="{pixel(bottom + 15)}"{kind}>{escape(words)}</text>')
    # A long one may reach below the names on the left, and not over the edge on the right.
    place = ' x="100%" text-anchor="end"' if beside and len(axis.title) > _LONG else ' x="50%"'
    title = f'<text class=title{place} y="{pixel(bottom + 32)}">{escape(axis.title)}</text>' if axis.title else ""
    return f"{''.join(parts)}{_edge(bottom)}{title}"


def up(axis: Axis, height: float) -> str:
    """The left axis; its title stands above it, so that it is read without turning the head."""
    parts = []
    for value, words in axis.ticks:
        y = pixel(TOP + height * (1 - axis.scale.place(value)))
        if axis.grid:
            parts.append(f'<line class=grid x2="100%" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class=up x="-7" y="{y}" dy=".35em">{escape(words)}</text>')
    title = f'<text class="title over" x="{2 - gutter(axis)}" y="10">{escape(axis.title)}</text>' if axis.title else ""
    return "".join(parts) + title


def row_names(rows: Rows) -> str:
    """The names of rows, beside the drawing: long ones go over two lines, or are cut off."""
    names = "".join(f'<li title="{escape(name)}"><span>{escape(name)}</span></li>' for name in rows.names)
    return f'<ul class=names aria-hidden="true" style="--step:{rows.step}px;--top:{TOP}px">{names}</ul>'


def row_lines(rows: Rows) -> str:
    """A line between two rows."""
    places = [pixel(TOP + rows.step * number) for number in range(1, len(rows.names))]
    return "".join(f'<line class=grid x2="100%" y1="{y}" y2="{y}"/>' for y in places)


def _edge(y: float) -> str:
    return f'<line class=edge x2="100%" y1="{pixel(y)}" y2="{pixel(y)}"/>'
