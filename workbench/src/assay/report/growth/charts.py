"""Charts of totals that grow, and of how much they vary."""

from collections.abc import Sequence

from assay.analyse.growth.best import Best
from assay.analyse.growth.variation import SMALL, Variation
from assay.analyse.scaling import Scaling
from assay.report import numbers
from assay.report.charts.theme import PALETTE, Spec, finish, magnitude, swept
from assay.report.growth.words import counted, scaled_where, several
from assay.report.measure import measure_of

_HEIGHT = 230
MOST_LINES = 12
"""Lines of one chart."""


def totals_chart(found: Sequence[Scaling]) -> Spec:
    """Totals with their intervals against the number of hosts, dashed what they would be if each added as much.

    Args:
        found: Of one operation and one axis; the first `MOST_LINES` are drawn.
    """
    measure, axis, lines = measure_of(found[0].operation), found[0].axis, found[:MOST_LINES]
    data: list[Spec] = []
    for one in lines:
        first, name = one.points[0], scaled_where(one, several(found))
        for point in one.points:
            low, high = (point.rate if end is None else end for end in (point.low, point.high))
            data.append(
                {
                    "s": name,
                    "x": point.number,
                    "y": point.rate / measure.scale,
                    "l": low / measure.scale,
                    "h": high / measure.scale,
                    "i": first.rate * point.number / first.number / measure.scale,
                    "m": f"{measure.text(point.rate)}, {numbers.share(point.efficiency)} of the ideal",
                    "p": counted(axis, point.number),
                }
            )
    y: Spec = {"field": "y", **magnitude([value for datum in data for value in (datum["y"], datum["i"])], measure.axis)}
    return _lines(data, axis, y, ideal=True)


def efficiency_chart(found: Sequence[Scaling]) -> Spec:
    """Efficiency with its interval against the number of hosts; arguments as of `totals_chart`."""
    axis, lines = found[0].axis, found[:MOST_LINES]
    data: list[Spec] = []
    for one in lines:
        for point in one.points:
            low, high = point.sure or (point.efficiency, point.efficiency)
            words = f"{numbers.share(point.efficiency)}"
            words += f" ({numbers.share(low)} to {numbers.share(high)})" if point.sure else ""
            ends = {"l": low, "h": high, "m": words, "p": counted(axis, point.number)}
            data.append({"s": scaled_where(one, several(found)), "x": point.number, "y": point.efficiency, **ends})
    top = max([1.0, *(datum["h"] for datum in data)])
    scale = {"domain": [0, min(2.0, 1.05 * top)], "clamp": True}
    y: Spec = {"field": "y", "type": "quantitative", "scale": scale, "axis": {"title": "Efficiency", "format": ".0%"}}
    return _lines(data, axis, y)


def best_chart(found: Sequence[Best]) -> Spec:
    """The best rate against the number of hosts, a line for each target; of one operation and axis."""
    measure, axis = measure_of(found[0].operation), found[0].axis
    data: list[Spec] = []
    for item in found:
        low, high = (item.rate if end is None else end for end in (item.low, item.high))
        at = ", ".join(numbers.axis_value(name, value) for name, value in item.at)  # type: ignore[arg-type]
        ends = {"l": low / measure.scale, "h": high / measure.scale}
        words = {"m": measure.text(item.rate), "p": f"{counted(axis, item.number)}, {at}"}
        data.append({"s": item.target, "x": item.number, "y": item.rate / measure.scale, **ends, **words})
    y: Spec = {"field": "y", **magnitude([datum["y"] for datum in data], measure.axis)}
    return _lines(data, axis, y)


def variation_chart(found: Sequence[Variation], hosts: bool) -> Spec:
    """Coefficient of variation against the size of a transfer, a line for each target and workload.

    Args:
        found: Of one operation.
        hosts: With different numbers of hosts, not from repeat to repeat.
    """
    data: list[Spec] = []
    for one in found[:MOST_LINES]:
        for item in one.sizes:
            value = item.hosts if hosts else item.repeats.value if item.repeats else None
            if value is None:
                continue
            ends = (value, value) if hosts or item.repeats is None else (item.repeats.low, item.repeats.high)
            words = {"m": f"{100 * value:.2g} %", "p": numbers.size(item.size)}
            data.append(
                {"s": f"{one.target}, {one.workload}", "x": item.size, "y": value, "l": ends[0], "h": ends[1], **words}
            )
    top = max((datum["y"] for datum in data), default=0.1)
    axis = {"title": "Coefficient of variation", "format": ".0%" if top >= 0.1 else ".1%"}
    y: Spec = {"field": "y", "type": "quantitative", "scale": {"domain": [0, 1.4 * top], "clamp": True}, "axis": axis}
    spec = _lines(data, "record_size", y)
    rule = {"mark": {"type": "rule", "strokeDash": [3, 3], "opacity": 0.5}, "encoding": {"x": {"datum": SMALL}}}
    spec["layer"].append(rule)
    return spec


def _lines(data: list[Spec], axis: str, y: Spec, ideal: bool = False) -> Spec:
    """Lines with points and intervals, one colour for each series; dashed what `i` says."""
    names = list(dict.fromkeys(str(datum["s"]) for datum in data))
    shades = [PALETTE[place % len(PALETTE)] for place in range(len(names))]
    legend = {"columns": 2, "title": None} if len(names) > 1 else None
    x: Spec = {"field": "x", **swept(axis, [datum["x"] for datum in data])}
    colour: Spec = {"field": "s", "type": "nominal", "scale": {"domain": names, "range": shades}, "legend": legend}
    base: Spec = {"x": x, "y": y, "color": colour}
    tooltip = [
        {"field": "s", "type": "nominal", "title": "result"},
        {"field": "p", "type": "nominal", "title": "at"},
        {"field": "m", "type": "nominal", "title": "measured"},
    ]
    ends: Spec = {**base, "y": {**y, "field": "l"}, "y2": {"field": "h"}}
    layers: list[Spec] = [
        {"mark": {"type": "line", "strokeWidth": 2, "opacity": 0.85}, "encoding": base},
        {"mark": {"type": "rule", "strokeWidth": 1.4, "opacity": 0.7}, "encoding": ends},
        {"mark": {"type": "point", "filled": True, "size": 44, "opacity": 1}, "encoding": {**base, "tooltip": tooltip}},
    ]
    if ideal:
        dashed: Spec = {"type": "line", "strokeDash": [5, 4], "strokeWidth": 1.2, "opacity": 0.6}
        layers.insert(0, {"mark": dashed, "encoding": {**base, "y": {**y, "field": "i"}}})
    return finish({"data": {"values": data}, "width": "container", "height": _HEIGHT, "layer": layers})
