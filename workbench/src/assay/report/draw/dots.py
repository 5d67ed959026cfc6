"""Draws kinds of work with all their repeats as dots along a scale."""

from collections.abc import Sequence

from assay.report import numbers
from assay.report.document import DotRow, Dots, Lane
from assay.report.draw.scales import AxisScale, log_scale, tick_text
from assay.report.draw.svg import classes, colour_class, escape, percent, text_anchor, vertical_line

HEIGHT = 17
"""Height of a lane, in pixels."""
_RADIUS = 2.2
_GOLDEN = 0.618
_FAR = 10.0
"""The outermost dot of a lane does not affect the scale if its value differs from the next one by this factor."""
_MIN_DOTS = 4
"""Lanes with fewer dots have no outliers."""
MAX_DOTS = 500
"""Most dots that are drawn in one lane; if it has more, evenly spread ones are drawn."""


def dots_html(block: Dots) -> str:
    """Return the block as HTML; empty if there is nothing to draw."""
    scale = dots_scale(block)
    if scale is None:
        return ""
    rows = "".join(_row(row, scale, block.is_ratio) for row in block.rows)
    axis = f'<div class="lane axis"><b></b><svg aria-hidden="true" height="16">{axis_svg(scale, block.is_ratio)}</svg>'
    axis += f"</div><p class=unit>{escape(scale_title(block, scale))}</p>"
    foot = f"<div class=row><div class=said></div><div class=lanes>{axis}</div></div>"
    return f'<div class=dots id="{block.id}">{rows}{foot}<p class=caption>{escape(dots_caption(block))}</p></div>'


def dots_scale(block: Dots) -> AxisScale | None:
    """Return the scale that all lanes have in common; None if there is nothing to draw."""
    inliers = [value for row in block.rows for lane in row.lanes for value in _set_scale(lane)]
    if not inliers:
        return None
    return log_scale([*inliers, 1.0] if block.is_ratio else inliers)


def scale_title(block: Dots, scale: AxisScale) -> str:
    """Return the title of the scale, with the values beyond it."""
    values = [
        value for row in block.rows for lane in row.lanes for value in (*lane.decided_values, *lane.undecided_values)
    ]
    return f"{block.title}, log scale{_beyond(values, scale, block.is_ratio)}"


def dots_caption(block: Dots) -> str:
    """Return the caption, with a remark if not all repeats are drawn."""
    most = max((lane_count(lane) for row in block.rows for lane in row.lanes), default=0)
    return block.caption + (f" Of more than {MAX_DOTS} dots, so many are drawn." if most > MAX_DOTS else "")


def lane_count(lane: Lane) -> int:
    """Return the number of repeats of a lane."""
    return len(lane.decided_values) + len(lane.undecided_values)


def _set_scale(lane: Lane) -> Sequence[float]:
    """Return the values of a lane that determine the scale: all except a single outlier at each end."""
    values = sorted((*lane.decided_values, *lane.undecided_values))
    if len(values) < _MIN_DOTS:
        return values
    low = 1 if values[1] > _FAR * values[0] else 0
    high = -1 if values[-1] > _FAR * values[-2] else len(values)
    return values[low:high]


def _beyond(values: Sequence[float], scale: AxisScale, ratio: bool) -> str:
    """Return in words which values are beyond the scale."""
    sign = "×" if ratio else ""
    found = [f"{numbers.significant(value)}{sign}" for value in sorted(values) if scale.side_beyond(value)]
    if len(found) > 2:
        return f"; {len(found)} arrows: {found[0]} to {found[-1]}"
    return f"; {'arrow' if len(found) == 1 else 'arrows'}: {numbers.listing(found)}" if found else ""


def _row(row: DotRow, scale: AxisScale, ratio: bool) -> str:
    lanes = "".join(_lane(lane, scale, ratio) for lane in row.lanes)
    return f"<div class=row><div class=said>{escape(row.label)}</div><div class=lanes>{lanes}</div></div>"


def _lane(lane: Lane, scale: AxisScale, ratio: bool) -> str:
    known = _has_mark(lane)
    median = f", median {numbers.significant(lane.mark or 0.0)}" if known else ""
    label = escape(f"{lane.name}: {numbers.plural(lane_count(lane), 'repeat')}{median}")
    svg = f'<svg role="img" aria-label="{label}" height="{HEIGHT}">{lane_svg(lane, scale, ratio)}</svg>'
    return f"<div {classes('lane', colour_class(lane.target))[1:]}><b>{escape(lane.name)}</b>{svg}</div>"


def lane_svg(lane: Lane, scale: AxisScale, ratio: bool) -> str:
    """Return a lane as SVG elements, `HEIGHT` pixels high: along x in percent of its width."""
    shown = HEIGHT - 2 * _RADIUS - 2
    kinds = (("", _thinned(lane.decided_values)), (" class=open", _thinned(lane.undecided_values)))
    # Dots are spread over the height of the lane, so that equal values can be distinguished; a single one is centred.
    first = 0.5 if lane_count(lane) == 1 else 0.0
    places = (
        (kind, value, 1 + _RADIUS + shown * ((first + number * _GOLDEN) % 1))
        for kind, values in kinds
        for number, value in enumerate(values)
    )
    dots = "".join(_dot(kind, value, scale, y) for kind, value, y in places)
    middle = vertical_line("middle", scale.position(lane.mark or 0.0), 0, HEIGHT) if _has_mark(lane) else ""
    return f"{_lines(scale, ratio)}{dots}{middle}"


def _has_mark(lane: Lane) -> bool:
    """Return whether a lane's mark is drawn; it would hide a single dot."""
    return lane.mark is not None and lane_count(lane) > 1


def _dot(kind: str, value: float, scale: AxisScale, y: float) -> str:
    """Draw a dot, or an arrow at the edge if its value is beyond the scale."""
    x = scale.position(value)
    if side := scale.side_beyond(value):
        return f'<use{kind} href="#to-{"right" if side > 0 else "left"}" x="{percent(x)}" y="{y:.1f}"/>'
    return f'<circle{kind} cx="{percent(x)}" cy="{y:.1f}" r="{_RADIUS}"/>'


def _thinned(values: Sequence[float]) -> Sequence[float]:
    if len(values) <= MAX_DOTS:
        return values
    ordered = sorted(values)
    return [ordered[round(place * (len(ordered) - 1) / (MAX_DOTS - 1))] for place in range(MAX_DOTS)]


def _lines(scale: AxisScale, ratio: bool) -> str:
    lines = "".join(vertical_line("grid", scale.position(tick), 0, HEIGHT) for tick in scale.ticks())
    return lines + (vertical_line("one", scale.position(1), 0, HEIGHT) if ratio else "")


def axis_svg(scale: AxisScale, ratio: bool) -> str:
    """Return the labels below all lanes as SVG elements: along x in percent of the width."""
    return "".join(
        f'<text x="{percent(place)}" y="12"{text_anchor(place)}>{tick_text(tick)}{"×" if ratio else ""}</text>'
        for tick in scale.ticks()
        for place in (scale.position(tick),)
    )
