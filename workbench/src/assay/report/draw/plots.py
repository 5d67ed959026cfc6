"""Draws plots of costs: lines over two logarithmic scales, with the reader's need and the points of change marked."""

from assay.report.document import Plot, Plots
from assay.report.draw.chart import chart_html, legends_html
from assay.report.draw.drawing import ChartAxis, Dot, Drawing, Legend, LegendEntry, LineMark, Mark, ReferenceLine
from assay.report.draw.marks import SHAPES
from assay.report.draw.scales import log_scale, tick_text
from assay.report.draw.svg import classes, colour_class, escape

_HEIGHT = 160
_SHAPES = len(SHAPES) - 1


def plots_html(block: Plots) -> str:
    """Return the block as HTML."""
    figures = "".join(_figure(plot) for plot in block.figures)
    caption = f"<p class=caption>{escape(block.caption)}</p>" if block.caption else ""
    return f'{legends_html((plots_legend(block),))}<div class="gallery plots">{figures}</div>{caption}'


def plots_legend(block: Plots) -> Legend:
    """Return the legend that all plots have in common."""
    return Legend(
        "",
        tuple(
            LegendEntry(name, colour_class(number), number % _SHAPES, 0, detail)
            for number, name, detail in block.legend
        ),
    )


def _figure(plot: Plot) -> str:
    small = f" <span>{escape(plot.caption)}</span>" if plot.caption else ""
    words = f'<figcaption id="{plot.id}-words"><b>{escape(plot.title)}</b>{small}</figcaption>'
    return (
        f'<figure{classes("card")} id="{plot.id}">{words}{chart_html(plot_drawing(plot), f"{plot.id}-words")}</figure>'
    )


def plot_drawing(plot: Plot, legend: Legend | None = None) -> Drawing:
    """Return the contents of a plot; each line has its own shape, so that lines differ without colours, too.

    Args:
        plot: The plot.
        legend: A legend above it; None if several plots have one in common.
    """
    xs = [x for line in plot.lines for x, _ in line.points]
    ys = [y for line in plot.lines for _, y in line.points if y]
    shown = plot.level is not None and bool(ys) and min(ys) / 3 < plot.level[0] < max(ys) * 3
    level = [plot.level] if plot.level is not None and shown else []
    up = log_scale([*(ys or [1.0]), *(value for value, _ in level)], 1.12, 2.0)
    marks: list[Mark] = [ReferenceLine(value, "cross", label=sign) for value, sign in plot.marks]
    marks += [ReferenceLine(plot.need[0], "here", label=plot.need[1])]
    marks += [ReferenceLine(value, "level", is_vertical=False, label=words) for value, words in level]
    # The emphasised line is drawn last, over the others.
    for line in sorted(plot.lines, key=lambda line: line.is_emphasised):
        points = tuple((x, y or None) for x, y in line.points)
        marks.append(
            LineMark(points, colour_class(line.target), line.name, look="strong" if line.is_emphasised else "")
        )
        number = line.target % _SHAPES
        marks += [Dot(x, y, colour_class(line.target), line.name, number, "small") for x, y in points if y is not None]
    across = ChartAxis(plot.x_title, log_scale(xs, 1.0, 2.0), plot.x_ticks, grid=False)
    ticks = tuple((value, tick_text(value)) for value in up.ticks())
    legends = () if legend is None else (legend,)
    return Drawing(across, ChartAxis("", up, ticks), tuple(marks), legends, _HEIGHT)
