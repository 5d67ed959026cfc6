"""Plots and spans as SVG in HTML, without a chart library: they need no script, keep to any width, and print."""

from collections.abc import Callable, Sequence

from assay.report.advice.scales import Linear, Logarithmic
from assay.report.document import Plot, PlotLine, Plots, SpanRow, Spans

WIDTH, HEIGHT = 480, 244
LEFT, RIGHT, TOP, BOTTOM = 66, 450, 40, 200
"""Edges of the drawn area."""
APART = 17
"""Least distance of two signs."""
LANE = 15

Escape = Callable[[str], str]


def plots_html(block: Plots, escape: Escape) -> str:
    """The block as HTML.

    Args:
        block: What is to be drawn.
        escape: Makes plain text HTML.
    """
    keys = "".join(
        f'<li class="t{number % 8}"><svg aria-hidden="true" width="26" height="12">'
        f'<line x1="1" x2="25" y1="6" y2="6"/>{_mark(number, 13, 6)}</svg>'
        f"<b>{escape(name)}</b>{f' <small>{escape(detail)}</small>' if detail else ''}</li>"
        for number, name, detail in block.legend
    )
    figures = "".join(_figure(plot, escape) for plot in block.figures)
    caption = f"<p class=caption>{escape(block.caption)}</p>" if block.caption else ""
    return f'<ul class=keys>{keys}</ul><div class="gallery plots">{figures}</div>{caption}'


def _figure(plot: Plot, escape: Escape) -> str:
    small = f" <span>{escape(plot.caption)}</span>" if plot.caption else ""
    words = f"<figcaption><b>{escape(plot.title)}</b>{small}</figcaption>"
    label = escape(f"{plot.title}. {plot.caption}".removesuffix(". "))
    return (
        f'<figure class=card>{words}<svg class=plot id="{plot.id}" role="img" aria-label="{label}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">{_plot(plot, escape)}</svg></figure>'
    )


def _plot(plot: Plot, escape: Escape) -> str:
    xs = [x for line in plot.lines for x, _ in line.points]
    ys = [y for line in plot.lines for _, y in line.points if y]
    ys += [plot.level[0]] if plot.level is not None and ys and min(ys) / 3 < plot.level[0] < max(ys) * 3 else []
    across, up = Logarithmic(xs, LEFT, RIGHT), Logarithmic(ys or [1.0], BOTTOM, TOP, 1.12)
    parts = [_grid(plot, across, up, escape), _signs(plot, across, escape), _level(plot, up, escape)]
    # The strong one lies on top.
    parts += [_line(line, across, up, escape) for line in sorted(plot.lines, key=lambda line: line.strong)]
    return "".join(parts)


def _grid(plot: Plot, across: Logarithmic, up: Logarithmic, escape: Escape) -> str:
    found = []
    for value in up.ticks():
        y = up.place(value)
        found.append(f'<line class=grid x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        found.append(f'<text x="{LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{amount(value)}</text>')
    for value, words in plot.x_ticks:
        x = across.place(value)
        found.append(f'<line class=grid x1="{x:.1f}" x2="{x:.1f}" y1="{BOTTOM}" y2="{BOTTOM + 4}"/>')
        found.append(f'<text x="{x:.1f}" y="{BOTTOM + 17}" text-anchor="middle">{escape(words)}</text>')
    middle = (LEFT + RIGHT) / 2
    found.append(f'<line class=edge x1="{LEFT}" x2="{RIGHT}" y1="{BOTTOM}" y2="{BOTTOM}"/>')
    found.append(f'<text class=title x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(plot.x_title)}</text>')
    return "".join(found)


def _signs(plot: Plot, across: Logarithmic, escape: Escape) -> str:
    """Where the reader stands, and the crossings, each with its sign above the drawn area, none over another."""
    value, words = plot.here
    x = across.place(value)
    found = [f'<line class=here x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{BOTTOM}"/>']
    found.append(f'<text class=here x="{x:.1f}" y="11" text-anchor="middle">{escape(words)}</text>')
    last = -float("inf")
    for value, sign in sorted(plot.marks):
        x = across.place(value)
        at = max(x, last + APART)
        last = at
        found.append(f'<line class=cross x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 2}" y2="{BOTTOM}"/>')
        found.append(f'<circle class=sign cx="{at:.1f}" cy="{TOP - 14}" r="7.5"/>')
        found.append(f'<text class=sign x="{at:.1f}" y="{TOP - 10.4}" text-anchor="middle">{escape(sign)}</text>')
    return "".join(found)


def _level(plot: Plot, up: Logarithmic, escape: Escape) -> str:
    if plot.level is None or not up.low <= plot.level[0] <= up.high:
        return ""
    y = up.place(plot.level[0])
    return (
        f'<line class=level x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class=level x="{LEFT + 4}" y="{y - 4:.1f}" text-anchor="start">{escape(plot.level[1])}</text>'
    )


def _line(line: PlotLine, across: Logarithmic, up: Logarithmic, escape: Escape) -> str:
    places = [(across.place(x), None if not y else up.place(y)) for x, y in line.points]
    paths, open_path = [], False
    for x, y in places:
        if y is not None:
            paths.append(f"{'L' if open_path else 'M'}{x:.1f} {y:.1f}")
        open_path = y is not None
    marks = "".join(_mark(line.target, x, y) for x, y in places if y is not None)
    strong = " strong" if line.strong else ""
    title = f"<title>{escape(line.name)}</title>"
    return f'<g class="t{line.target % 8}{strong}">{title}<path d="{"".join(paths)}"/>{marks}</g>'


def _mark(number: int, x: float, y: float) -> str:
    """A shape of its own for each line, so that they are told apart without colours."""
    r = 3.6
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>',
        f'<rect x="{x - 3.2:.1f}" y="{y - 3.2:.1f}" width="6.4" height="6.4"/>',
        f'<polygon points="{x:.1f},{y - 4.2:.1f} {x + 4:.1f},{y + 3:.1f} {x - 4:.1f},{y + 3:.1f}"/>',
        f'<polygon points="{x:.1f},{y - 4.6:.1f} {x + 4.6:.1f},{y:.1f} {x:.1f},{y + 4.6:.1f} {x - 4.6:.1f},{y:.1f}"/>',
        f'<polygon points="{x:.1f},{y + 4.2:.1f} {x + 4:.1f},{y - 3:.1f} {x - 4:.1f},{y - 3:.1f}"/>',
    )
    return shapes[number % len(shapes)]


def amount(value: float) -> str:
    """A round amount without needless zeros: `1,000`, `2.5`, `0.02`."""
    return f"{value:,.0f}" if abs(value) >= 10 or value == 0 else f"{value:.3g}"


def spans_html(block: Spans, escape: Escape) -> str:
    """The block as HTML.

    Args:
        block: What is to be drawn.
        escape: Makes plain text HTML.
    """
    values = [end[0] for row in block.rows for end in (row.low, row.high) if end is not None]
    values += [block.base, *([block.limit[0]] if block.limit is not None else [])]
    scale = Linear(values)
    rows = "".join(_row(row, block, scale, escape) for row in block.rows)
    beyond = ""
    if block.limit is not None:
        x = scale.place(block.limit[0])
        side = "left" if x < 50 else "right"
        beyond = f" <i class=beyond>{'◂' if side == 'left' else '▸'} {escape(block.limit[1])}</i>"
    axis = f"<div class=row><b></b>{_axis(scale)}<small></small></div>"
    head = f"<span class=unit>{escape(block.title)}{beyond}</span><small>{escape(block.note_title)}</small>"
    heads = f"<div class=row><b></b>{head}</div>"
    return f'<div class=spans id="{block.id}">{heads}{rows}{axis}<p class=caption>{escape(block.caption)}</p></div>'


def _row(row: SpanRow, block: Spans, scale: Linear, escape: Escape) -> str:
    bars = "".join(
        _bar(kind, end, block.base, scale, escape)
        for kind, end in (("low", row.low), ("high", row.high))
        if end is not None
    )
    limit = [block.limit[0]] if block.limit is not None else []
    grid = _upright("grid", scale.ticks(), scale)
    lines = _upright("base", [block.base], scale) + _upright("limit", limit, scale)
    ends = [f"{words}: {amount(value)}" for value, words in (end for end in (row.low, row.high) if end is not None)]
    label = escape(f"{row.label}: {', '.join(ends)}" if ends else row.label)
    svg = f'<svg role="img" aria-label="{label}" height="{LANE}">{grid}{bars}{lines}</svg>'
    strong = " strong" if row.strong else ""
    return f'<div class="row{strong}"><b>{escape(row.label)}</b>{svg}<small>{escape(row.note)}</small></div>'


def _bar(kind: str, end: tuple[float, str], base: float, scale: Linear, escape: Escape) -> str:
    value, words = end
    low, high = sorted((scale.place(base), scale.place(value)))
    # Two bars to one side share the height.
    y = 1.5 if kind == "low" else LANE / 2
    width = max(high - low, 0.25)
    title = escape(f"{words}: {amount(value)}")
    return (
        f'<rect class={kind} x="{low:.2f}%" y="{y:g}" width="{width:.2f}%" height="{LANE / 2 - 1.5:g}">'
        f"<title>{title}</title></rect>"
    )


def _upright(kind: str, values: Sequence[float], scale: Linear) -> str:
    return "".join(
        f'<line class={kind} x1="{scale.place(value):.2f}%" x2="{scale.place(value):.2f}%" y1="0" y2="{LANE}"/>'
        for value in values
    )


def _axis(scale: Linear) -> str:
    texts = "".join(
        f'<text x="{scale.place(tick):.2f}%" y="12" text-anchor="middle">{amount(tick)}</text>'
        for tick in scale.ticks()
    )
    return f'<svg aria-hidden="true" height="16">{texts}</svg>'
