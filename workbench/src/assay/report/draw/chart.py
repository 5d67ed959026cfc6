"""Writes a chart as HTML: its legends, and an SVG that is as wide as the page allows."""

from assay.report.draw.axes import BOTTOM, TOP, gutter, horizontal_axis, row_lines, row_names, vertical_axis
from assay.report.draw.drawing import Drawing, Legend, LegendEntry, NamedRows
from assay.report.draw.marks import area_of, marks_svg, pattern_svg, shape_svg
from assay.report.draw.svg import classes, escape, pixels

SHAPE_DEFINITIONS = (
    '<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="2" height="7" fill="#fff" fill-opacity=".3"/></pattern>'
    + "".join(
        f'<pattern id="bar-{number}" width="6" height="6" patternUnits="userSpaceOnUse"{turned}>{inner}</pattern>'
        for number, turned, inner in (
            (1, ' patternTransform="rotate(45)"', '<rect width="2.2" height="6" fill="#fff" fill-opacity=".8"/>'),
            (2, "", '<circle cx="3" cy="3" r="1.3" fill="#fff" fill-opacity=".85"/>'),
            (3, ' patternTransform="rotate(-45)"', '<rect width="3.6" height="6" fill="#fff" fill-opacity=".85"/>'),
            (4, "", '<rect width="6" height="1.6" fill="#fff" fill-opacity=".85"/>'),
            (5, "", '<path d="M0 0H6V1.4H1.4V6H0Z" fill="#fff" fill-opacity=".85"/>'),
        )
    )
    + '<path id="square" d="M-3.2-3.2H3.2V3.2H-3.2Z"/><path id="triangle" d="M0-4.2 4 3H-4Z"/>'
    '<path id="diamond" d="M0-4.6 4.6 0 0 4.6-4.6 0Z"/><path id="upside" d="M0 4.2 4-3H-4Z"/>'
    '<path id="cross" d="M-3.8-2.2-2.2-3.8 0-1.6 2.2-3.8 3.8-2.2 1.6 0 3.8 2.2 2.2 3.8 0 1.6-2.2 3.8-3.8 2.2-1.6 0Z"/>'
    '<path id="to-left" d="M0 0 6-3.6V3.6Z"/><path id="to-right" d="M0 0-6-3.6V3.6Z"/>'
    '<path id="to-top" d="M0 0 3.6 6H-3.6Z"/><path id="to-bottom" d="M0 0 3.6-6H-3.6Z"/>'
)
"""Patterns and shapes that charts refer to."""
DEFINITIONS = f'<svg class="defs" width="0" height="0" aria-hidden="true"><defs>{SHAPE_DEFINITIONS}</defs></svg>'
"""These as a part of a page, which contains them once."""


def chart_html(drawing: Drawing, label: str) -> str:
    """Return a chart as HTML.

    Args:
        drawing: The contents of the chart.
        label: Id of the element that describes the chart.
    """
    area = area_of(drawing)
    rows = isinstance(drawing.y, NamedRows)
    left = "" if isinstance(drawing.y, NamedRows) else f' style="padding-left:{gutter(drawing.y)}px"'
    names = row_names(drawing.y) if isinstance(drawing.y, NamedRows) else ""
    size = f'width="100%" height="{pixels(TOP + area.height + BOTTOM)}"'
    svg = f'<svg role="img" aria-labelledby="{label}" {size}>{plot_svg(drawing)}</svg>'
    plot = f"<div{classes('plot', 'rows' if rows else '')}{left}>{names}<div class=area>{svg}</div></div>"
    return legends_html(drawing.legends) + plot


def plot_svg(drawing: Drawing) -> str:
    """Return axes and marks as SVG elements: along x in percent of the drawn width, along y in pixels."""
    area, y = area_of(drawing), drawing.y
    scale = row_lines(y) if isinstance(y, NamedRows) else vertical_axis(y, area.height)
    across = horizontal_axis(drawing.x, area.height, isinstance(y, NamedRows))
    return f"{across}{scale}{marks_svg(drawing.marks, area)}"


def legends_html(legends: tuple[Legend, ...]) -> str:
    """Return all legends as one list; a legend's title is part of its first entry, so that no line ends with it."""
    items = []
    for legend in legends:
        items += [_key(key, "" if place else legend.title) for place, key in enumerate(legend.keys)]
    return f"<ul class=keys>{''.join(items)}</ul>" if items else ""


def _key(key: LegendEntry, before: str) -> str:
    sign, width = key_sign(key)
    detail = f" <small>{escape(key.detail)}</small>" if key.detail else ""
    box = f'<svg aria-hidden="true" width="{width}" height="12">{sign}</svg>'
    head = f"<i>{escape(before)}</i>" if before else ""
    return f"<li{classes(key.css_class)}>{head}{box}<b>{escape(key.name)}</b>{detail}</li>"


def key_sign(key: LegendEntry) -> tuple[str, int]:
    """Return line and shape of a legend's entry as SVG elements 12 pixels high, and their width in pixels."""
    if key.pattern is not None:
        box = ' x="1" y="1" width="16" height="10"'
        return f"<rect{box}/>{pattern_svg(key.pattern, box)}", 18
    line, wide = "", key.dash is not None
    if key.dash is not None:
        line = f'<line{classes(f"d{key.dash}" if key.dash else "")} x1="1" x2="25" y1="6" y2="6"/>'
    mark = shape_svg(key.shape or 0, ' transform="translate(13 6)"' if wide else ' transform="translate(6 6)"')
    return line + (mark if key.shape is not None else ""), 26 if wide else 12
