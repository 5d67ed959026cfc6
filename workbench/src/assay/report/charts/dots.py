"""Dots with whiskers on a common scale: plain results, ratios between targets, cached beside honest."""

from collections.abc import Sequence

from assay.model.result.result import Comparison, Row
from assay.report import numbers
from assay.report.charts.theme import (
    DOUBT,
    FAINT,
    INK,
    PALETTE,
    TOOLTIP,
    Spec,
    colour,
    finish,
    magnitude,
    marks,
    measured,
    setting,
)
from assay.report.measure import measure_of
from assay.report.view import View, plausible

_STEP = 24


def plain_chart(rows: Sequence[Row], view: View) -> Spec:
    """The rate per workload, operation and target, for workloads without a numeric axis; all of one measure."""
    measure = measure_of(rows[0].operation)
    data: list[Spec] = []
    for row in rows:
        value = row.rate
        if value is None:
            continue
        name = f"{row.case.workload}: {numbers.operation_title(row.operation)}"
        where = view.point_of(row)
        name += f", {where}" if where else ""
        data.append(
            {
                "t": row.case.target,
                "y": name,
                "x": value.median / measure.scale,
                "l": (value.median if value.low is None else max(value.low, value.median * 0.01)) / measure.scale,
                "h": (value.median if value.high is None else value.high) / measure.scale,
                "v": row.verdict.value,
                "o": plausible(row),
                "p": name,
                "m": measured(row),
            }
        )
    names = list(dict.fromkeys(str(datum["y"]) for datum in data))
    honest = [value for datum in data for value in setting(datum, "x")]
    x = {"field": "x", **magnitude(honest, measure.axis)}
    base = {"x": x, "y": _labels(names), "color": colour(view.targets), "yOffset": _offset(view.targets)}
    whisker = {
        "mark": {"type": "rule", "strokeWidth": 1.6},
        "transform": [{"filter": "datum.o"}],
        "encoding": {**base, "x": {**x, "field": "l"}, "x2": {"field": "h"}},
    }
    height = max(26, 13 * len(view.targets)) * len(names)
    return finish(
        {
            "data": {"values": data},
            "width": "container",
            "height": height,
            "layer": [whisker, *marks(data, base)],
        }
    )


def _offset(targets: Sequence[str]) -> Spec:
    return {"field": "t", "type": "nominal", "sort": list(targets)}


def _labels(names: list[str]) -> Spec:
    look = {"title": None, "domain": False, "ticks": False, "grid": False, "labelLimit": 190}
    return {"field": "y", "type": "nominal", "sort": names, "scale": {"domain": names}, "axis": look}


def ratio_chart(pairs: Sequence[Comparison], view: View) -> Spec:
    """Ratio of rates with its 95 % interval, one line per point, a mark at 1.

    Coloured after the faster target where the difference is significant, grey where it is not; hollow where a side's
    verdict speaks against comparing; without a dot where a side is no result of the storage at all.
    """
    data = [_ratio_datum(pair, view) for pair in pairs]
    names = list(dict.fromkeys(str(datum["y"]) for datum in data))
    ends = [value for datum in data for value in setting(datum, "x")]
    low, high = min([*ends, 1.0]) * 0.9, max([*ends, 1.0]) * 1.1
    shades = [*(PALETTE[k % len(PALETTE)] for k in range(len(view.targets))), FAINT]
    names_of_winners = [*view.targets, "not separable"]
    present = {str(datum["w"]) for datum in data}
    domain = [name for name in names_of_winners if name in present]
    range_ = [shade for name, shade in zip(names_of_winners, shades, strict=True) if name in present]
    other, base_name = pairs[0].other, pairs[0].base
    title = f"{measure_of(pairs[0].operation).title} of {other} ÷ {base_name}, log scale"
    axis: Spec = {"title": title, "format": ",~f", "grid": True}
    ticks = [t for t in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if low <= t <= high]
    if len(ticks) >= 3:
        axis["values"] = ticks
    x: Spec = {"field": "x", "type": "quantitative", "axis": axis}
    x["scale"] = {"type": "log", "domain": [low, high], "nice": False, "clamp": True}
    legend = {"title": "Faster", "symbolType": "circle"}
    shade = {"field": "w", "type": "nominal", "scale": {"domain": domain, "range": range_}, "legend": legend}
    base = {"x": x, "y": _labels(names), "color": shade}
    whisker = {
        "mark": {"type": "rule", "strokeWidth": 1.6},
        "transform": [{"filter": "datum.o && datum.l !== null"}],
        "encoding": {**base, "x": {**x, "field": "l"}, "x2": {"field": "h"}},
    }
    one: Spec = {
        "mark": {"type": "rule", "color": INK, "strokeDash": [4, 3]},
        "encoding": {"x": {**x, "field": None, "datum": 1}},
    }
    one["encoding"]["x"].pop("field")
    absent = {
        "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 10, "fontWeight": 600, "color": DOUBT},
        "transform": [{"filter": "!datum.o"}],
        "encoding": {
            "x": {**one["encoding"]["x"]},
            "y": base["y"],
            "text": {"field": "n", "type": "nominal"},
            "tooltip": TOOLTIP,
        },
    }
    dots = marks([datum for datum in data if datum["o"]], base)
    for layer in dots:
        layer["transform"] = [{"filter": "datum.o"}, *layer["transform"]]
    spec = {"data": {"values": data}, "width": "container", "height": _STEP * len(names)}
    return finish({**spec, "layer": [one, whisker, *dots, absent]})


def _ratio_datum(pair: Comparison, view: View) -> Spec:
    sides = view.sides(pair)
    drawn = view.comparable(pair)
    worst = next((row.verdict.value for row in sides if row is not None and row.verdict != "ok"), "ok")
    names = view.swept_of(pair.workload)
    where = " / ".join(numbers.axis_value(name, pair.axes.get(name)) for name in names) or pair.workload
    words = f"{numbers.ratio(pair.ratio)}"
    if pair.low is not None and pair.high is not None:
        words += f" ({numbers.ratio(pair.low)} to {numbers.ratio(pair.high)})"
    winner = pair.other if pair.ratio > 1 else pair.base
    return {
        "t": f"{pair.other} ÷ {pair.base}",
        "y": where,
        "x": pair.ratio if drawn else None,
        "l": pair.low if drawn else None,
        "h": pair.high if drawn else None,
        "w": winner if pair.separable and drawn else "not separable",
        "o": drawn,
        "v": worst if pair.caveat else "ok",
        "n": f"not compared: {pair.caveat}" if pair.caveat else "not compared",
        "p": where,
        "m": words if drawn else "not compared",
    }


def cache_chart(pairs: Sequence[tuple[str, Row, Row]], targets: Sequence[str]) -> Spec:
    """Honest (filled) and cached (hollow) rate of the same thing, joined by a line.

    Args:
        pairs: Label, honest row, cached row; both with a rate, all of one measure.
        targets: For the colours.
    """
    measure = measure_of(pairs[0][1].operation)
    data: list[Spec] = []
    ends: list[float] = []
    for label, honest, cached in pairs:
        if honest.rate is None or cached.rate is None:
            continue
        values = honest.rate.median / measure.scale, cached.rate.median / measure.scale
        ends += values
        for row, value in zip((honest, cached), values, strict=True):
            common = {"t": row.case.target, "y": label, "p": row.case.label, "m": measured(row), "v": row.verdict.value}
            data.append({**common, "x": value, "a": values[0], "b": values[1]})
    names = list(dict.fromkeys(str(datum["y"]) for datum in data))
    x = {"field": "x", **magnitude(ends, measure.axis)}
    base = {"x": x, "y": _labels(names), "color": colour(targets)}
    join = {
        "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.25},
        "encoding": {**base, "x": {**x, "field": "a"}, "x2": {"field": "b"}},
    }
    height = 34 * len(names)
    return finish(
        {
            "data": {"values": data},
            "width": "container",
            "height": height,
            "layer": [join, *marks(data, base)],
        }
    )
