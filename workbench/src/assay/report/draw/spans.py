"""Draws bars to both sides of a value, which show how each assumption changes it."""

from assay.report.document import SpanRow, Spans
from assay.report.draw.scales import AxisScale, linear_scale, tick_text
from assay.report.draw.svg import classes, escape, percent, tooltip, vertical_line

ROW_HEIGHT = 15


def spans_html(block: Spans) -> str:
    """Return the block as HTML."""
    values = [end[0] for row in block.rows for end in (row.low, row.high) if end is not None]
    values += [block.base, *([block.limit[0]] if block.limit is not None else [])]
    scale = linear_scale(values)
    rows = "".join(_row(row, block, scale) for row in block.rows)
    beyond = side = ""
    if block.limit is not None:
        x = scale.position(block.limit[0])
        side = "left" if x < 0.5 else "right"
        beyond = f" <i class=beyond>{'◂' if side == 'left' else '▸'} {escape(block.limit[1])}</i>"
    axis = f"<div class=row><b></b>{_axis(scale)}<small></small></div>"
    head = f"<span class=unit>{escape(block.title)}{beyond}</span><small>{escape(block.note_title)}</small>"
    heads = f"<div class=row><b></b>{head}</div>"
    caption = "From the value now (upright line) to the low end (light) and the high end (dark) of each assumption"
    caption += f"; {side} of the red line {block.limit[1]}. " if block.limit is not None else ". "
    words = f"<p class=caption>{escape(f'{caption}{block.caption}'.strip())}</p>"
    return f'<div class=spans id="{block.id}">{heads}{rows}{axis}{words}</div>'


def _row(row: SpanRow, block: Spans, scale: AxisScale) -> str:
    bars = "".join(
        _bar(kind, end, block.base, scale) for kind, end in (("low", row.low), ("high", row.high)) if end is not None
    )
    limit = [block.limit[0]] if block.limit is not None else []
    grid = "".join(vertical_line("grid", scale.position(tick), 0, ROW_HEIGHT) for tick in scale.ticks())
    lines = "".join(
        vertical_line(kind, scale.position(value), 0, ROW_HEIGHT)
        for kind, values in (("base", [block.base]), ("limit", limit))
        for value in values
    )
    ends = [f"{words}: {tick_text(value)}" for value, words in (end for end in (row.low, row.high) if end is not None)]
    label = escape(f"{row.label}: {', '.join(ends)}" if ends else row.label)
    svg = f'<svg role="img" aria-label="{label}" height="{ROW_HEIGHT}">{grid}{bars}{lines}</svg>'
    kind = classes("row", "strong" if row.is_emphasised else "")
    return f"<div{kind}><b>{escape(row.label)}</b>{svg}<small>{escape(row.note)}</small></div>"


def _bar(kind: str, end: tuple[float, str], base: float, scale: AxisScale) -> str:
    value, words = end
    low, high = sorted((scale.position(base), scale.position(value)))
    # The bars of both ends may go to the same side, so each takes half of the height.
    y = 1.5 if kind == "low" else ROW_HEIGHT / 2
    width = percent(max(high - low, 0.0025))
    box = f'x="{percent(low)}" y="{y:g}" width="{width}" height="{ROW_HEIGHT / 2 - 1.5:g}"'
    return f"<rect class={kind} {box}>{tooltip(f'{words}: {tick_text(value)}')}</rect>"


def _axis(scale: AxisScale) -> str:
    texts = "".join(
        f'<text x="{percent(scale.position(tick))}" y="12">{tick_text(tick)}</text>' for tick in scale.ticks()
    )
    return f'<svg aria-hidden="true" height="16">{texts}</svg>'
