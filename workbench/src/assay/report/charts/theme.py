"""What all charts share: colours, fonts, axes, the way a doubtful result is drawn."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from assay.model.result.result import Row
from assay.model.result.verdict import NO_RESULT, Verdict
from assay.model.study.axis import AxisValue
from assay.report import numbers
from assay.report.measure import measure_of

Spec = dict[str, Any]
T = TypeVar("T")

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#555555")
"""Colours of the targets, told apart by colour-blind readers: Okabe and Ito, Color Universal Design, 2008."""

_MOST_LABELS = 6
"""Doubtful results in a chart that are labelled each; beyond it only the worst are, and the caption counts the rest."""

INK, FAINT, GRID = "#1c2733", "#5b6773", "#e3e8ed"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

GOOD, DOUBT, BAD = "#1b7f5c", "#9a6700", "#b3261e"
VERDICT_COLOURS = {Verdict.OK: GOOD} | {
    verdict: BAD if verdict in NO_RESULT else DOUBT for verdict in Verdict if verdict is not Verdict.OK
}

CONFIG: Spec = {
    "background": "transparent",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": FAINT,
        "titleColor": INK,
        "titleFontWeight": 600,
        "titleFontSize": 12,
        "labelFontSize": 11,
        "gridColor": GRID,
        "domainColor": "#b8c1ca",
        "tickColor": "#b8c1ca",
        "titlePadding": 8,
        "labelPadding": 4,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "orient": "top",
        "direction": "horizontal",
        "symbolStrokeWidth": 2,
        "columnPadding": 14,
        "labelLimit": 220,
    },
    "header": {"labelColor": INK, "labelFontSize": 12, "labelFontWeight": 600, "title": None},
}


def finish(spec: Spec) -> Spec:
    """`spec` with the schema and the common look; its legend of targets names those that have a datum."""
    present = {datum["t"] for datum in spec.get("data", {}).get("values", ()) if "t" in datum}
    shown = {key: _of_present(value, present) if key != "data" else value for key, value in spec.items()}
    return {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "config": CONFIG, **shown}


def _of_present(part: Any, present: set[str]) -> Any:
    """A part of a specification in which the colours of absent targets have no place."""
    if isinstance(part, list):
        return [_of_present(item, present) for item in part]
    if not isinstance(part, dict):
        return part
    if part.get("field") == "t" and "range" in part.get("scale", {}):
        kept = [
            pair for pair in zip(part["scale"]["domain"], part["scale"]["range"], strict=True) if pair[0] in present
        ]
        names, shades = [name for name, _ in kept], [shade for _, shade in kept]
        legend = part["legend"] if len(names) > 1 else None
        return {**part, "scale": {"domain": names, "range": shades}, "legend": legend}
    return {key: _of_present(value, present) for key, value in part.items()}


def colour(targets: Sequence[str]) -> Spec:
    """The colour encoding that gives each target the same colour in every chart."""
    shades = [PALETTE[place % len(PALETTE)] for place in range(len(targets))]
    legend = {"title": "Target", "symbolType": "circle"} if len(targets) > 1 else None
    return {"field": "t", "type": "nominal", "scale": {"domain": list(targets), "range": shades}, "legend": legend}


def magnitude(values: Sequence[float], title: str, grid: bool = True) -> Spec:
    """Type, scale and axis for measured values: linear from 0, logarithmic if they span a factor of 20 and more.

    Values outside the domain (those of doubtful rows, which must not set it) are drawn at its edge.
    """
    positive = [value for value in values if value > 0]
    low, high = (min(positive), max(positive)) if positive else (0.1, 1.0)
    axis: Spec = {"title": title, "grid": grid, "format": ",~f", "tickCount": 5}
    if high / low >= 20:
        scale: Spec = {"type": "log", "domain": [low * 0.8, high * 1.25], "nice": False, "clamp": True}
        axis["values"] = decades(low * 0.8, high * 1.25)
        axis["title"] = f"{title}, log scale"
    else:
        scale = {"domain": [0, high * 1.08], "nice": True, "clamp": True, "zero": True}
    return {"type": "quantitative", "scale": scale, "axis": axis}


def setting(datum: Spec, middle: str) -> list[float]:
    """The values of a datum that a scale must hold: the whole interval of a sound result, the median of a doubtful one.

    Nothing of a result that is not the storage's (`o` is false). Longer whiskers end at the edge.
    """
    if not datum["o"]:
        return []
    keys = (middle, "l", "h") if datum["v"] == "ok" else (middle,)
    return [float(datum[key]) for key in keys if datum[key]]


def decades(low: float, high: float) -> list[float]:
    """Round tick values between: 1, 10, 100 ..., with 2 and 5 between if that leaves few."""
    found: list[float] = []
    for steps in ((1,), (1, 3), (1, 2, 5)):
        found = [step * 10.0**power for power in range(-9, 13) for step in steps]
        found = [value for value in found if low <= value <= high]
        if len(found) >= 4:
            break
    return found


def swept(name: str, values: Sequence[AxisValue]) -> Spec:
    """Type, scale and axis for a swept axis: its own values as ticks, logarithmic if they span a factor of 8."""
    found = sorted(float(value) for value in values if isinstance(value, int | float))
    logarithmic = bool(found) and found[0] > 0 and found[-1] / found[0] >= 8
    ticks = _spread(found) if logarithmic else thin(found, 8)
    labels = {f"{value:.12g}": numbers.axis_value(name, value) for value in ticks}
    words = ", ".join(f"'{key}': '{text}'" for key, text in labels.items())
    axis = {
        "title": numbers.axis_title(name),
        "values": ticks,
        "labelExpr": f"{{{words}}}[datum.value]",
        "grid": False,
        "labelOverlap": True,
    }
    scale: Spec = {"nice": False, "padding": 14}
    if logarithmic:
        scale |= {"type": "log", "base": 2}
    else:
        scale["zero"] = False
    return {"type": "quantitative", "scale": scale, "axis": axis}


def _spread(values: list[float]) -> list[float]:
    """At most 8 of the values, evenly spread on a logarithmic scale, both ends among them."""
    if len(values) <= 8:
        return values
    step = (values[-1] / values[0]) ** (1 / 7)
    places = [values[0] * step**power for power in range(8)]
    return sorted({min(values, key=lambda value: abs(math.log(value / place))) for place in places})


def thin(values: Sequence[T], most: int) -> list[T]:
    """At most `most` of the values, evenly spread, both ends among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def measured(row: Row) -> str:
    """A row's rate with interval and n, for tooltips."""
    value, measure = row.rate, measure_of(row.operation)
    if value is None:
        return "no result"
    words = measure.text(value.median)
    if value.low is not None and value.high is not None:
        words += f" ({measure.number(value.low)} to {measure.number(value.high)})"
    return f"{words}, n = {value.n}"


TOOLTIP: list[Spec] = [
    {"field": "t", "type": "nominal", "title": "target"},
    {"field": "p", "type": "nominal", "title": "at"},
    {"field": "m", "type": "nominal", "title": "measured"},
    {"field": "v", "type": "nominal", "title": "verdict"},
]
"""Shown on every mark; each datum has these fields as text."""


def marks(data: Sequence[Spec], base: Spec, shape: Spec | None = None) -> list[Spec]:
    """Layers of points: filled where the verdict is ok, hollow and labelled where it is not."""
    more = {"shape": shape} if shape else {}
    doubtful = {"filter": "datum.v !== 'ok'"}
    layers = [
        {
            "mark": {"type": "point", "filled": True, "size": 44, "opacity": 1},
            "transform": [{"filter": "datum.v === 'ok'"}],
            "encoding": {**base, **more, "tooltip": TOOLTIP},
        },
        {
            "mark": {"type": "point", "filled": False, "size": 70, "fill": "white", "strokeWidth": 1.8},
            "transform": [doubtful],
            "encoding": {**base, **more, "tooltip": TOOLTIP},
        },
        {
            "mark": {"type": "text", "dy": -11, "fontSize": 10, "fontWeight": 600},
            "transform": [doubtful],
            "encoding": {
                "x": base["x"],
                "y": base["y"],
                "text": {"field": "v", "type": "nominal"},
                "color": {"value": DOUBT},
            },
        },
    ]
    doubtful_ones = sum(datum["v"] != "ok" for datum in data)
    if doubtful_ones > _MOST_LABELS:
        layers[2]["transform"] = [
            {"filter": f"indexof({[verdict.value for verdict in Verdict if verdict in NO_RESULT]}, datum.v) >= 0"}
        ]
    return (layers[:1] if doubtful_ones < len(data) else []) + (layers[1:] if doubtful_ones else [])


def marked(rows: Iterable[Row]) -> str:
    """Which verdicts the hollow or hatched marks of a chart have, as a sentence; empty if there are none."""
    counts: Counter[Verdict] = Counter(row.verdict for row in rows if row.verdict is not Verdict.OK)
    if not counts:
        return ""
    words = [f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict]]
    return f" Not ok: {', '.join(words)}."
