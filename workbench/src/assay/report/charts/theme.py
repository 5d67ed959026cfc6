"""Parts that all charts share: colours, axes, legends, marks of doubtful results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from assay.model.result.result import ResultRow
from assay.model.result.verdict import NO_RESULT, Verdict
from assay.model.result.verdict_counts import count_verdicts
from assay.model.study.axis import AxisValue
from assay.report import numbers
from assay.report.draw.drawing import ChartAxis, Dot, Legend, LegendEntry
from assay.report.draw.scales import AxisScale, scale_from_zero, tick_text
from assay.report.draw.svg import colour_class
from assay.report.measure import measure_of

T = TypeVar("T")

_MAX_LABELS = 6
"""Most doubtful results that are all labelled; if there are more, only those that are no result of the storage are."""
_LOG_FROM = 20
"""Measured values that span at least this factor have a logarithmic axis."""
_MAX_SWEPT = 8


@dataclass(frozen=True, slots=True)
class PlottedValue:
    """A rate or latency to draw, in the unit of its axis, with both ends of its interval.

    Attributes:
        words: The figure as text.
    """

    middle: float
    low: float
    high: float
    words: str

    def scale_values(self, verdict: Verdict, plausible: bool) -> list[float]:
        """Return the values that a scale must hold: the whole interval of an ok result, the median of a doubtful one.

        There are none for a result that is not plausible. Intervals that go beyond the scale end at its edge.
        """
        if not plausible:
            return []
        values = (self.middle, self.low, self.high) if verdict is Verdict.OK else (self.middle,)
        return [value for value in values if value]


def plotted_rate(row: ResultRow) -> PlottedValue | None:
    """Return a row's rate in the unit of its operation; None if it has no rate."""
    value, scale = row.rate, measure_of(row.operation).scale
    if value is None:
        return None
    low, high = (value.median if end is None else end for end in (value.low, value.high))
    return PlottedValue(value.median / scale, max(low, value.median * 0.01) / scale, high / scale, rate_words(row))


def colours(targets: Sequence[str]) -> dict[str, str]:
    """Return the colour of each target, the same in every chart."""
    return {target: colour_class(number) for number, target in enumerate(targets)}


def target_legend(targets: Sequence[str], present: Iterable[str]) -> list[Legend]:
    """Return the legend of the targets that are drawn; none for a single one."""
    drawn = set(present)
    keys = tuple(LegendEntry(target, colour) for target, colour in colours(targets).items() if target in drawn)
    return [Legend("Target", keys)] if len(keys) > 1 else []


def line_legend(title: str, names: Sequence[str], dashes: int, shapes: bool = False) -> list[Legend]:
    """Return the legend of dash patterns and shapes; none for a single name."""
    keys = tuple(
        LegendEntry(name, "soft", place if shapes else None, place % dashes) for place, name in enumerate(names)
    )
    return [Legend(title, keys)] if len(names) > 1 else []


def ticked_axis(scale: AxisScale, title: str, most: int = 5) -> ChartAxis:
    """Return an axis with round numbers."""
    return ChartAxis(title, scale, tuple((tick, tick_text(tick)) for tick in scale.ticks(most)))


def measured_axis(values: Sequence[float], title: str) -> ChartAxis:
    """Return an axis of measured values: linear from 0, or logarithmic if they span a factor of 20 or more."""
    positive = [value for value in values if value > 0]
    low, high = (min(positive), max(positive)) if positive else (0.1, 1.0)
    if high / low >= _LOG_FROM:
        return ticked_axis(AxisScale(low * 0.8, high * 1.25, logarithmic=True), f"{title}, log scale")
    return ticked_axis(scale_from_zero(high * 1.04), title)


def share_axis(high: float, title: str) -> ChartAxis:
    """Return an axis of shares from 0, in percent."""
    scale = scale_from_zero(100 * high)
    ticks = scale.ticks()
    return ChartAxis(
        title, AxisScale(0.0, scale.high / 100), tuple((tick / 100, f"{tick_text(tick)} %") for tick in ticks)
    )


def time_axis(values: Iterable[float], title: str) -> ChartAxis:
    """Return an axis of seconds from 0."""
    scale = AxisScale(0.0, max([*values, 1.0]))
    ticks = [tick for tick in scale.ticks(6) if tick == round(tick)]
    return ChartAxis(title, scale, tuple((tick, tick_text(tick)) for tick in ticks), grid=False)


def swept_axis(name: str, values: Sequence[AxisValue]) -> ChartAxis:
    """Return a swept axis with its own values as ticks; it is logarithmic if they span a factor of 8 or more."""
    found = sorted({float(value) for value in values if isinstance(value, int | float)}) or [1.0]
    low, high = found[0], found[-1]
    logarithmic = low > 0 and high / low >= 8
    if logarithmic:
        room = (high / low) ** 0.05
        scale = AxisScale(low / room, high * room, logarithmic=True)
    else:
        room = 0.05 * (high - low) or abs(high) * 0.5 or 1.0
        scale = AxisScale(low - room, high + room)
    words = tuple(
        (tick, numbers.axis_value(name, int(tick) if tick == int(tick) else tick)) for tick in _apart(found, scale)
    )
    return ChartAxis(numbers.axis_title(name), scale, words, grid=False)


def _apart(values: list[float], scale: AxisScale) -> list[float]:
    """Return at most 8 of the values, far enough apart for their labels; both ends are among them."""
    room = 0.999 * (scale.position(values[-1]) - scale.position(values[0])) / (_MAX_SWEPT - 1)
    chosen = values[:1]
    for value in values[1:]:
        if scale.position(value) - scale.position(chosen[-1]) >= room:
            chosen.append(value)
    return chosen if chosen[-1] == values[-1] else [*(chosen[:-1] or chosen), values[-1]]


def thinned(values: Sequence[T], most: int) -> list[T]:
    """Return at most `most` of the values, evenly spread; both ends are among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def rate_words(row: ResultRow) -> str:
    """Return a row's rate with interval and n, for tooltips."""
    value, measure = row.rate, measure_of(row.operation)
    if value is None:
        return "no result"
    words = measure.text(value.median)
    if value.low is not None and value.high is not None:
        words += f" ({measure.number(value.low)} to {measure.number(value.high)})"
    return f"{words}, n = {value.n}"


def tooltip_text(*words: str) -> str:
    """Return the tooltip of a mark, a line for each text that is not empty."""
    return "\n".join(word for word in words if word)


def verdict_dots(dots: Sequence[tuple[Dot, Verdict]]) -> list[Dot]:
    """Return the dots, hollow and labelled with the verdict if it is not ok.

    If there are many such dots, only cached, impossible and incomplete ones are labelled.
    """
    doubtful = sum(verdict is not Verdict.OK for _, verdict in dots)
    found = []
    for dot, verdict in dots:
        if verdict is Verdict.OK:
            found.append(dot)
            continue
        label = verdict.value if doubtful <= _MAX_LABELS or verdict in NO_RESULT else ""
        found.append(Dot(dot.x, dot.y, dot.css_class, dot.tooltip, dot.shape, "open", label))
    return found


def doubtful_counts(rows: Iterable[ResultRow]) -> str:
    """Return a sentence that counts the verdicts of hollow or hatched marks; empty if there are none."""
    counts = count_verdicts(row.verdicts for row in rows if row.verdict is not Verdict.OK)
    return f" Not ok: {counts.words}." if counts.total else ""
