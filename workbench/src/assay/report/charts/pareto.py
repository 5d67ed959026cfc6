"""Cost against measured rate: dots with intervals, and the front that no other one beats."""

from collections.abc import Sequence

from assay.model.money.amount import money
from assay.money.cost.limits import Metric
from assay.report.charts.theme import FAINT, Spec, colour, finish, magnitude
from assay.report.costs import Point, scale, unit
from assay.report.numbers import significant

_HEIGHT = 260
_TOOLTIP: list[Spec] = [
    {"field": "t", "type": "nominal", "title": "target"},
    {"field": "d", "type": "nominal", "title": "design"},
    {"field": "c", "type": "nominal", "title": "a month"},
    {"field": "m", "type": "nominal", "title": "measured"},
    {"field": "f", "type": "nominal", "title": "front"},
]
_SHAPES = {"on the front": "circle", "not separable from it": "diamond", "dominated": "cross"}


def pareto_chart(
    points: Sequence[Point], designs: dict[str, str], metric: Metric, currency: str, targets: Sequence[str]
) -> Spec:
    """Months' costs upwards, the rate with its interval to the right; the line joins the front by the medians.

    Args:
        points: At least one.
        designs: Target -> its design in words.
        metric: What was measured.
        currency: Of the costs.
        targets: For the colours.
    """
    data = [_datum(point, designs, metric, currency) for point in points]
    title = f"{'Read' if metric.startswith('read') else 'Write'} ({unit(metric)})"
    ends = [float(datum[key]) for datum in data for key in ("x", "l", "h")]
    x: Spec = {"field": "x", **magnitude(ends, title)}
    y: Spec = {"field": "y", **magnitude([float(datum["y"]) for datum in data], f"{currency} a month")}
    present = [name for name in _SHAPES if name in {datum["f"] for datum in data}]
    shape: Spec = {
        "field": "f",
        "type": "nominal",
        "scale": {"domain": present, "range": [_SHAPES[name] for name in present]},
        "legend": {"title": "Front", "symbolFillColor": FAINT},
    }
    base: Spec = {"x": x, "y": y, "color": colour(targets)}
    layers: list[Spec] = [
        {
            "mark": {"type": "line", "color": FAINT, "strokeDash": [5, 4], "interpolate": "step-before"},
            "transform": [{"filter": "datum.e"}],
            "encoding": {"x": x, "y": y},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 1.8},
            "encoding": {**base, "x": {**x, "field": "l"}, "x2": {"field": "h"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
            "encoding": {**base, "shape": shape, "tooltip": _TOOLTIP},
        },
        {
            "mark": {"type": "text", "dy": -12, "fontSize": 11, "fontWeight": 600},
            "encoding": {**base, "text": {"field": "t", "type": "nominal"}},
        },
    ]
    return finish({"data": {"values": data}, "width": "container", "height": _HEIGHT, "layer": layers})


def _datum(point: Point, designs: dict[str, str], metric: Metric, currency: str) -> Spec:
    size, rate = scale(metric), point.rate
    low = rate.value if rate.low is None else rate.low
    high = rate.value if rate.high is None else rate.high
    words = f"{significant(rate.value / size)} {unit(metric)}"
    if rate.low is not None and rate.high is not None:
        words += f" ({significant(low / size)} to {significant(high / size)})"
    return {
        "t": point.target,
        "d": designs[point.target],
        "x": rate.value / size,
        "l": low / size,
        "h": high / size,
        "y": float(point.month),
        "c": money(point.month, currency),
        "m": words,
        "f": point.standing,
        "e": point.edge,
    }
