"""Heat maps of the rate over two swept axes, targets side by side on one colour scale."""

from collections.abc import Sequence
from typing import Any

from assay.model.result.result import ResultRow
from assay.model.result.verdict import NO_RESULT, Verdict
from assay.report import numbers
from assay.report.charts.theme import rate_words, tooltip_text
from assay.report.draw.drawing import HeatCell, HeatMap
from assay.report.draw.scales import AxisScale
from assay.report.measure import measure_of
from assay.report.view import is_plausible, is_sound

_PANEL_WIDTH = 380
_WORDS_FROM = 36
"""Least width of a cell, in pixels, that has room for a number."""


def heat_map(
    rows: Sequence[ResultRow], axes: tuple[str, str], values: tuple[list[Any], list[Any]], targets: Sequence[str]
) -> HeatMap:
    """Return one operation's heat map.

    Cells of cached or impossible rows stay white and do not affect the colour scale. Cells of other rows that are not
    sound are hatched. Both name their verdict; cells of unstable rows have half their interval instead.

    Args:
        rows: Results of one operation, at one point of all other axes.
        axes: The vertical axis and the horizontal axis.
        values: Values to draw on each axis, ascending.
        targets: The targets, a panel for each.
    """
    places = [{value: number for number, value in enumerate(some)} for some in values]
    shown = [row for row in rows if row.case.axes.get(axes[0]) in places[0] and row.case.axes.get(axes[1]) in places[1]]
    measure = measure_of(rows[0].operation)
    speeds = [row.rate.median / measure.scale for row in shown if row.rate and is_plausible(row)]
    low, high = (min(speeds), max(speeds)) if speeds else (1.0, 10.0)
    if low == high:
        low, high = low * 0.9, high * 1.1
    width = max(10, min(76, _PANEL_WIDTH // len(values[1])))
    up, right = ([numbers.axis_value(axis, value) for value in some] for axis, some in zip(axes, values, strict=True))
    panels = [
        (target, tuple(_cell(row, axes, places) for row in shown if row.case.target == target)) for target in targets
    ]
    return HeatMap(
        numbers.axis_title(axes[1]),
        numbers.axis_title(axes[0]),
        tuple(right),
        tuple(up),
        tuple(panels),
        AxisScale(low, high, logarithmic=True),
        measure.unit,
        width,
        34 if len(up) <= 12 else 14,
        width >= _WORDS_FROM,
    )


def _cell(row: ResultRow, axes: tuple[str, str], places: list[dict[Any, int]]) -> HeatCell:
    speed = row.rate.median / measure_of(row.operation).scale if row.rate else None
    up, right = (row.case.axes.get(axis) for axis in axes)
    drawn = speed is not None and is_plausible(row)
    at = f"{numbers.axis_value(axes[0], up)} / {numbers.axis_value(axes[1], right)}"
    return HeatCell(
        places[1][right],
        places[0][up],
        speed if drawn else None,
        numbers.significant(speed, 3) if speed is not None else "",
        _remark(row),
        not is_sound(row),
        "good" if row.verdict is Verdict.OK else "bad" if row.verdict in NO_RESULT else "doubt",
        tooltip_text(row.case.target, at, rate_words(row), row.verdict.value),
    )


def _remark(row: ResultRow) -> str:
    """Return the verdict; for an unstable result half its interval, since the number is still the storage's own."""
    value = row.rate
    if not is_sound(row) or value is None:
        return row.verdict.value
    if row.verdict is Verdict.OK:
        return ""
    if value.low is None or value.high is None or not value.median:
        return row.verdict.value
    return f"± {numbers.share((value.high - value.low) / 2 / value.median)}"
