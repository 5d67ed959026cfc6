"""Latency percentile curves, stretched towards the tail."""

from collections.abc import Sequence

from assay.model.result.percentile import LEAST_BEYOND
from assay.model.result.result import Row
from assay.report import numbers
from assay.report.charts.theme import Spec, colour, decades, finish
from assay.report.view import View

_DASHES = [[1, 0], [5, 3], [2, 2]]
_NINES = {
    2: "50",
    10: "90",
    100: "99",
    1000: "99.9",
    10_000: "99.99",
    100_000: "99.999",
    1_000_000: "99.9999",
}


def percentile_chart(rows: Sequence[Row], view: View) -> Spec:
    """Pooled latency against 1 / (1 - p): each nine of the percentile takes the same room.

    Up to the last percentile that can be said of so many operations.

    Args:
        rows: Of one operation, at a few points, on all targets.
        view: For names and colours.
    """
    data = [datum for row in rows for datum in _curve(row, view)]
    series = list(dict.fromkeys(str(datum["s"]) for datum in data))
    far = max((float(datum["x"]) for datum in data), default=10.0)
    heights = [float(datum["y"]) for datum in data] or [1.0]
    ticks = [tick for tick in _NINES if tick <= far * 1.01]
    labels = ", ".join(f"'{tick}': '{_NINES[tick]}'" for tick in ticks)
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [1, far * 1.05], "nice": False},
        "axis": {
            "title": "Percentile of operations (%)",
            "values": ticks,
            "labelExpr": f"{{{labels}}}[datum.value]",
            "grid": True,
        },
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [min(heights) * 0.8, max(heights) * 1.25], "nice": False},
        "axis": {
            "title": "Latency (µs), log scale",
            "format": ",~f",
            "values": decades(min(heights) * 0.8, max(heights) * 1.25),
        },
    }
    tooltip = [
        {"field": "t", "type": "nominal", "title": "target"},
        {"field": "s", "type": "nominal", "title": "at"},
        {"field": "q", "type": "nominal", "title": "percentile"},
        {"field": "m", "type": "nominal", "title": "latency"},
        {"field": "v", "type": "nominal", "title": "verdict"},
    ]
    encoding: Spec = {"x": x, "y": y, "color": colour(view.targets), "detail": {"field": "s", "type": "nominal"}}
    if len(series) > 1:
        scale = {"domain": series, "range": _DASHES}
        legend = {"title": "At", "symbolStrokeColor": "#5b6773"}
        encoding["strokeDash"] = {"field": "s", "type": "nominal", "scale": scale, "legend": legend}
    layers = [
        {"mark": {"type": "line", "strokeWidth": 2, "interpolate": "step-after"}, "encoding": encoding},
        {"mark": {"type": "point", "size": 90, "opacity": 0}, "encoding": {**encoding, "tooltip": tooltip}},
    ]
    layers[1]["encoding"] = {key: value for key, value in layers[1]["encoding"].items() if key != "strokeDash"}
    return finish({"data": {"values": data}, "width": "container", "height": 230, "layer": layers})


def _curve(row: Row, view: View) -> list[Spec]:
    half = row.percentile("p50")
    operations = 0 if half is None else half.ops
    found = []
    for percent, nanoseconds in row.curve:
        rest = 1 - percent / 100
        if rest * operations >= LEAST_BEYOND:
            found.append(
                {
                    "t": row.case.target,
                    "s": view.point_of(row) or row.case.workload,
                    "x": round(1 / rest, 4),
                    "y": max(nanoseconds, 1) / 1e3,
                    "q": f"{percent:.6g} %",
                    "m": numbers.latency(nanoseconds),
                    "v": row.verdict.value,
                }
            )
    return found
