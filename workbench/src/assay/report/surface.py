"""3-D surfaces as SVG: drawn here, so that a page needs no WebGL and paper shows the same."""

import io
import math
import re
from typing import Any

from assay.report.charts.theme import decades
from assay.report.document import Surface

_PANEL_INCHES = (3.3, 2.9)
_LOG_FROM = 30
"""Heights that span this factor are drawn on a logarithmic axis, so that the lower target keeps its shape."""
_MOST_LABELS = 5


def surface_svg(surface: Surface) -> str:
    """The panels side by side as one `<svg>` element, without XML prologue; the same input gives the same text."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    heights = [z for panel in surface.panels for row in panel.z for z in row if z is not None and z > 0]
    if not heights:
        return ""
    logarithmic = max(heights) / min(heights) >= _LOG_FROM
    limits = (min(heights), max(heights)) if logarithmic else (0.0, max(heights))
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": surface.id,
        "font.family": "sans-serif",
        "font.size": 8.5,
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(_PANEL_INCHES[0] * len(surface.panels), _PANEL_INCHES[1]))
        for place, panel in enumerate(surface.panels):
            axes = figure.add_subplot(1, len(surface.panels), place + 1, projection="3d")
            _draw(axes, surface, place, limits, logarithmic)
            axes.set_title(panel.name, fontsize=11, fontweight="bold", color="#1c2733", pad=0, parse_math=False)
        figure.subplots_adjust(left=0.03, right=0.96, bottom=0.08, top=0.93, wspace=0.12)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _inline(out.getvalue(), surface)


def _draw(axes: Any, surface: Surface, place: int, limits: tuple[float, float], logarithmic: bool) -> None:
    import matplotlib as mpl
    import numpy as np
    from matplotlib.colors import LogNorm, Normalize

    z = np.array([[math.nan if v is None else v for v in row] for row in surface.panels[place].z], dtype=float)
    x, y = np.meshgrid(range(len(surface.xs)), range(len(surface.ys)))
    norm = LogNorm(*limits) if logarithmic else Normalize(*limits)
    height = np.log10(z) if logarithmic else z
    corners = np.nanmax(np.stack([z[:-1, :-1], z[1:, :-1], z[:-1, 1:], z[1:, 1:]]), axis=0, initial=limits[0])
    colours = mpl.colormaps["viridis"](norm(corners))
    axes.plot_surface(
        x, y, height, facecolors=colours, rstride=1, cstride=1, edgecolor="white", linewidth=0.4, shade=False
    )
    for axis, labels in ((axes.xaxis, surface.xs), (axes.yaxis, surface.ys)):
        step = max(1, math.ceil(len(labels) / _MOST_LABELS))
        axis.set_ticks(range(0, len(labels), step), [label.replace(" ", "\u00a0") for label in labels[::step]])
    axes.set_xlabel(surface.x_title, labelpad=-2)
    axes.set_ylabel(surface.y_title, labelpad=-1)
    unit = surface.z_title + (", log" if logarithmic else "")
    axes.text2D(0.0, 0.86, unit, transform=axes.transAxes, fontsize=7.5, color="#5b6773")
    axes.tick_params(labelsize=7.5, pad=-3, colors="#5b6773")
    if logarithmic:
        low, high = (math.log10(limit) for limit in limits)
        axes.set_zlim(low, high)
        ticks = decades(*limits)
        axes.set_zticks([math.log10(tick) for tick in ticks], [f"{tick:,.12g}" for tick in ticks])
    else:
        axes.set_zlim(*limits)
    for pane in (axes.xaxis, axes.yaxis, axes.zaxis):
        pane.set_pane_color((0.965, 0.973, 0.98, 1.0))
        pane._axinfo["grid"].update(color="#d5dce3", linewidth=0.5)
    axes.view_init(elev=26, azim=-128)
    axes.set_box_aspect((1.25, 1, 0.78), zoom=1.12)


def _inline(svg: str, surface: Surface) -> str:
    """The bare element, scalable, its ids unique to this figure and its coordinates to a tenth of a point."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{surface.id}-\1"', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\1{surface.id}-", svg)
    svg = re.sub(r"-?\d+\.\d{2,}", lambda found: f"{float(found.group()):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r'<svg [^>]*viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img">', svg, count=1)
    return re.sub(r"\n\s*", "\n", svg)
