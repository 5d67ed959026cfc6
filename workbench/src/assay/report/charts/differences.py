"""Differences between two runs with their intervals, on a common scale."""

from collections.abc import Sequence

from assay.model.result.comparison import ComparedRow
from assay.report import numbers
from assay.report.charts.theme import BAD, FAINT, GOOD, INK, Spec, finish
from assay.report.measure import measure_of

_STEP = 24
_KINDS = {"faster": GOOD, "slower": BAD, "no significant difference": FAINT}


def difference_chart(rows: Sequence[ComparedRow]) -> Spec:
    """Difference of each row in percent, its 95 % interval, a mark at none; coloured where it is significant."""
    data = [_datum(row) for row in rows]
    names = list(dict.fromkeys(str(datum["y"]) for datum in data))
    present = {str(datum["w"]) for datum in data}
    domain = [name for name in _KINDS if name in present]
    look = {"title": None, "domain": False, "ticks": False, "grid": False, "labelLimit": 360}
    axis = {"title": "Difference (%)", "grid": True, "format": "+~r"}
    x: Spec = {"field": "x", "type": "quantitative", "axis": axis, "scale": {"zero": True, "nice": True}}
    shade = {
        "field": "w",
        "type": "nominal",
        "scale": {"domain": domain, "range": [_KINDS[name] for name in domain]},
        "legend": {"title": None, "symbolType": "circle"},
    }
    y = {"field": "y", "type": "nominal", "sort": names, "scale": {"domain": names}, "axis": look}
    base: Spec = {"x": x, "y": y, "color": shade}
    whisker = {
        "mark": {"type": "rule", "strokeWidth": 1.6},
        "transform": [{"filter": "datum.l !== null"}],
        "encoding": {**base, "x": {**x, "field": "l"}, "x2": {"field": "h"}},
    }
    none = {
        "mark": {"type": "rule", "color": INK, "strokeDash": [4, 3]},
        "encoding": {"x": {key: value for key, value in x.items() if key != "field"} | {"datum": 0}},
    }
    tooltip = [
        {"field": "y", "type": "nominal", "title": "row"},
        {"field": "m", "type": "nominal", "title": "measured"},
        {"field": "w", "type": "nominal", "title": "result"},
    ]
    dot = {
        "mark": {"type": "point", "filled": True, "size": 44, "opacity": 1},
        "encoding": {**base, "tooltip": tooltip},
    }
    spec = {"data": {"values": data}, "width": "container", "height": _STEP * len(names)}
    return finish({**spec, "layer": [none, whisker, dot]})


def _datum(row: ComparedRow) -> Spec:
    pair = row.comparison
    measure = measure_of(pair.operation)
    word = "no significant difference"
    if pair.separable:
        word = "faster" if pair.ratio > 1 else "slower"
    return {
        "y": row.what,
        "x": 100 * (pair.ratio - 1),
        "l": None if pair.low is None else 100 * (pair.low - 1),
        "h": None if pair.high is None else 100 * (pair.high - 1),
        "w": word,
        "m": f"{measure.text(row.before.rate.median)} before, {measure.text(row.after.rate.median)} after, "
        f"n = {numbers.repeats(pair.n_base, pair.n_other)}",
    }
