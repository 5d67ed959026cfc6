"""What all charts share: colours, axes, the way a doubtful result is drawn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from assay.model.result.counts import count_verdicts
from assay.model.result.result import Row
from assay.model.result.verdict import NO_RESULT, Verdict
from assay.model.study.axis import AxisValue
from assay.report import numbers
from assay.report.draw.drawing import Axis, Dot, Key, Legend
from assay.report.draw.scales import Scale, amount, from_zero
from assay.report.draw.svg import shade
from assay.report.measure import measure_of

T = TypeVar("T")

_MOST_LABELS = 6
"""Doubtful results in a chart that are labelled each; beyond it only the worst are, and the caption counts the rest."""
_LOG_FROM = 20
"""Measured values that span this factor are drawn on a logarithmic axis."""
_MOST_SWEPT = 8


@dataclass(frozen=True, slots=True)
class Figure:
    """A rate or latency as it is drawn, in the unit of its axis, with both ends of its interval.

    Attributes:
        words: The same as text.
    """

    middle: float
    low: float
    high: float
    words: str

    def setting(self, verdict: Verdict, plausible: bool) -> list[float]:
        """The values that a scale must hold: the whole interval of a sound result, the median of a doubtful one.

        Nothing of a result that is not the storage's. Longer intervals end at the edge.
        """
        if not plausible:
            return []
        values = (self.middle, self.low, self.high) if verdict is Verdict.OK else (self.middle,)
        return [value for value in values if value]


def rate_of(row: Row) -> Figure | None:
    """A row's rate in the unit of its operation."""
    value, scale = row.rate, measure_of(row.operation).scale
    if value is None:
        return None
    low, high = (value.median if end is None else end for end in (value.low, value.high))
    return Figure(value.median / scale, max(low, value.median * 0.01) / scale, high / scale, measured(row))


def colours(targets: Sequence[str]) -> dict[str, str]:
    """The colour of each target, the same in every chart."""
    return {target: shade(number) for number, target in enumerate(targets)}


def of_targets(targets: Sequence[str], present: Iterable[str]) -> list[Legend]:
    """The legend of those targets that are drawn; none if it is one."""
    drawn = set(present)
    keys = tuple(Key(target, colour) for target, colour in colours(targets).items() if target in drawn)
    return [Legend("Target", keys)] if len(keys) > 1 else []


def of_lines(title: str, names: Sequence[str], dashes: int, shapes: bool = False) -> list[Legend]:
    """The legend of patterns and shapes; none if there is one name."""
    keys = tuple(Key(name, "soft", place if shapes else None, place % dashes) for place, name in enumerate(names))
    return [Legend(title, keys)] if len(names) > 1 else []


def on_ticks(scale: Scale, title: str, most: int = 5) -> Axis:
    """An axis with round numbers."""
    return Axis(title, scale, tuple((tick, amount(tick)) for tick in scale.ticks(most)))


def measured_axis(values: Sequence[float], title: str) -> Axis:
    """An axis of measured values: linear from 0, logarithmic if they span a factor of 20 and more."""
    positive = [value for value in values if value > 0]
    low, high = (min(positive), max(positive)) if positive else (0.1, 1.0)
    if high / low >= _LOG_FROM:
        return on_ticks(Scale(low * 0.8, high * 1.25, logarithmic=True), f"{title}, log scale")
    return on_ticks(from_zero(high * 1.04), title)


def share_axis(high: float, title: str) -> Axis:
    """An axis of shares from 0, in percent."""
    scale = from_zero(100 * high)
    ticks = scale.ticks()
    return Axis(title, Scale(0.0, scale.high / 100), tuple((tick / 100, f"{amount(tick)} %") for tick in ticks))


def time_axis(values: Iterable[float], title: str) -> Axis:
    """An axis of seconds from 0."""
    scale = Scale(0.0, max([*values, 1.0]))
    ticks = [tick for tick in scale.ticks(6) if tick == round(tick)]
    return Axis(title, scale, tuple((tick, amount(tick)) for tick in ticks), grid=False)


def swept_axis(name: str, values: Sequence[AxisValue]) -> Axis:
    """A swept axis: its own values as ticks, logarithmic if they span a factor of 8."""
    found = sorted({float(value) for value in values if isinstance(value, int | float)}) or [1.0]
    low, high = found[0], found[-1]
    logarithmic = low > 0 and high / low >= 8
    if logarithmic:
        room = (high / low) ** 0.05
        scale = Scale(low / room, high * room, logarithmic=True)
    else:
        room = 0.05 * (high - low) or abs(high) * 0.5 or 1.0
        scale = Scale(low - room, high + room)
    words = tuple(
        (tick, numbers.axis_value(name, int(tick) if tick == int(tick) else tick)) for tick in _apart(found, scale)
    )
    return Axis(numbers.axis_title(name), scale, words, grid=False)


def _apart(values: list[float], scale: Scale) -> list[float]:
    """At most 8 of the values, so far apart that their words have room, both ends among them."""
    room = 0.999 * (scale.place(values[-1]) - scale.place(values[0])) / (_MOST_SWEPT - 1)
    kept = values[:1]
    for value in values[1:]:
        if scale.place(value) - scale.place(kept[-1]) >= room:
            kept.append(value)
    return kept if kept[-1] == values[-1] else [*(kept[:-1] or kept), values[-1]]


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


def pointed(*words: str) -> str:
    """What is said of a mark when it is pointed at, a line each."""
    return "\n".join(word for word in words if word)


def marked_dots(dots: Sequence[tuple[Dot, Verdict]]) -> list[Dot]:
    """The dots: as they are where the verdict is ok, hollow and labelled where it is not.

    Of many only those are labelled that are no result of the storage.
    """
    doubtful = sum(verdict is not Verdict.OK for _, verdict in dots)
    found = []
    for dot, verdict in dots:
        if verdict is Verdict.OK:
            found.append(dot)
            continue
        label = verdict.value if doubtful <= _MOST_LABELS or verdict in NO_RESULT else ""
        found.append(Dot(dot.x, dot.y, dot.shade, dot.title, dot.shape, "open", label))
    return found


def marked(rows: Iterable[Row]) -> str:
    """Which verdicts the hollow or hatched marks of a chart have, as a sentence; empty if there are none."""
    counts = count_verdicts(row.verdicts for row in rows if row.verdict is not Verdict.OK)
    return f" Not ok: {counts.words}." if counts.total else ""
