"""Heat maps: two swept axes, the rate as colour, targets side by side on one colour scale."""

import math
from collections.abc import Sequence
from typing import Any

from assay.model.result.result import Row
from assay.model.result.verdict import Verdict
from assay.model.study.axis import AxisValue
from assay.report import numbers
from assay.report.charts.theme import INK, TOOLTIP, VERDICT_COLOURS, Spec, decades, finish, measured
from assay.report.measure import measure_of
from assay.report.view import plausible, sound

_CELL_HEIGHT = 34
_PANEL_WIDTH = 380
_TEXT_FROM = 36
"""Narrowest cell, in pixels, that a number still fits in."""


def heat_map(
    rows: Sequence[Row], axes: tuple[str, str], values: tuple[list[Any], list[Any]], targets: Sequence[str]
) -> Spec:
    """The specification of one operation's heat map.

    Cells of rows that a cache (or an error of measurement) made stay white and never set the colour scale; those that
    are not sound are hatched. Both carry their verdict; unstable ones, half their interval.

    Args:
        rows: Of one operation, at one point of all other axes.
        axes: The axis that runs up, the axis that runs right.
        values: Their values to draw, ascending.
        targets: One panel each.
    """
    shown = [row for row in rows if row.case.axes.get(axes[0]) in values[0] and row.case.axes.get(axes[1]) in values[1]]
    measure = measure_of(rows[0].operation)
    speeds = [row.rate.median / measure.scale for row in shown if row.rate and plausible(row)]
    domain = (min(speeds), max(speeds)) if speeds else (1.0, 10.0)
    if domain[0] == domain[1]:
        domain = (domain[0] * 0.9, domain[1] * 1.1)
    width = max(10, min(76, _PANEL_WIDTH // len(values[1])))
    texts = width >= _TEXT_FROM
    names = [[numbers.axis_value(axis, value) for value in some] for axis, some in zip(axes, values, strict=True)]
    panel: Spec = {
        "width": {"step": width},
        "height": {"step": _CELL_HEIGHT if len(values[0]) <= 12 else 14},
        "layer": _layers(domain, texts, measure.unit),
        "encoding": {
            "x": _ordinal("x", axes[1], names[1]),
            "y": _ordinal("y", axes[0], names[0][::-1]),
            "tooltip": TOOLTIP,
        },
    }
    facet = {"field": "t", "type": "nominal", "sort": list(targets), "title": None, "header": {"labelLimit": 300}}
    data = {"values": [_datum(row, axes, domain) for row in shown]}
    return finish({"data": data, "facet": facet, "columns": min(2, len(targets)), "spec": panel, "spacing": 22})


def _ordinal(channel: str, axis: str, labels: list[str]) -> Spec:
    title = numbers.axis_title(axis)
    angle = {"labelAngle": 0, "labelOverlap": True} if channel == "x" else {"labelOverlap": True}
    look = {"title": title, "domain": False, "ticks": False, **angle}
    return {"field": channel, "type": "ordinal", "sort": labels, "scale": {"domain": labels}, "axis": look}


def _datum(row: Row, axes: tuple[str, str], domain: tuple[float, float]) -> Spec:
    speed = row.rate.median / measure_of(row.operation).scale if row.rate else None
    up, right = (row.case.axes.get(axis) for axis in axes)
    drawn = speed is not None and plausible(row)
    return {
        "t": row.case.target,
        "x": _label(axes[1], right),
        "y": _label(axes[0], up),
        "c": speed if drawn else None,
        "l": numbers.significant(speed, 3) if speed is not None else "",
        "v": row.verdict.value,
        "s": _remark(row),
        "d": not sound(row),
        "i": _ink(speed if drawn else None, domain, VERDICT_COLOURS[row.verdict]),
        "p": f"{_label(axes[0], up)} / {_label(axes[1], right)}",
        "m": measured(row),
    }


def _remark(row: Row) -> str:
    """The verdict; of an unstable result half its interval: the number is the storage's, known less well."""
    value = row.rate
    if not sound(row) or value is None:
        return row.verdict.value
    if row.verdict is Verdict.OK:
        return ""
    if value.low is None or value.high is None or not value.median:
        return row.verdict.value
    return f"± {numbers.share((value.high - value.low) / 2 / value.median)}"


def _label(axis: str, value: AxisValue) -> str:
    return numbers.axis_value(axis, value)


def _ink(speed: float | None, domain: tuple[float, float], otherwise: str) -> str:
    """The colour of a number that stands out from its cell."""
    if speed is None or speed <= 0:
        return otherwise
    place = math.log(speed / domain[0]) / math.log(domain[1] / domain[0])
    return "white" if place < 0.62 else INK


def _layers(domain: tuple[float, float], texts: bool, unit: str) -> list[Spec]:
    scale = {"type": "log", "scheme": "viridis", "domain": list(domain), "nice": False, "clamp": True}
    look = {"orient": "right", "direction": "vertical", "gradientLength": 100, "gradientThickness": 10}
    legend = {"title": unit, "format": ",~f", "values": decades(*domain), **look}
    fill = {"field": "c", "type": "quantitative", "scale": scale, "legend": legend}
    cells: list[Spec] = [
        {
            "mark": {"type": "rect", "stroke": "white", "strokeWidth": 1.5},
            "transform": [{"filter": "datum.c !== null"}],
            "encoding": {"fill": fill},
        },
        {
            "mark": {"type": "rect", "fill": "url(#hatch)", "stroke": INK, "strokeDash": [3, 2], "strokeWidth": 1.2},
            "transform": [{"filter": "datum.c !== null && datum.d"}],
        },
        {
            "mark": {"type": "rect", "fill": "white", "stroke": "#b3261e", "strokeDash": [3, 2], "strokeWidth": 1.2},
            "transform": [{"filter": "datum.c === null"}],
        },
    ]
    if texts:
        ink = {"field": "i", "type": "nominal", "scale": None}
        number = {"type": "text", "fontSize": 11, "dy": {"expr": "datum.s === '' ? 0 : -5"}}
        label = {"type": "text", "fontSize": 9, "fontWeight": 600, "dy": {"expr": "datum.l === '' ? 0 : 8"}}
        cells += [
            {"mark": number, "encoding": {"text": {"field": "l", "type": "nominal"}, "color": ink}},
            {"mark": label, "encoding": {"text": {"field": "s", "type": "nominal"}, "color": ink}},
        ]
    return cells
