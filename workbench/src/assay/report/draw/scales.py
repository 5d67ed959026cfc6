"""Scales: positions of values, and the round values that get a tick."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

MAX_TICKS = 6
_AS_LINEAR = 4
"""A logarithmic scale that spans a smaller factor has the ticks of a linear one."""


@dataclass(frozen=True, slots=True)
class AxisScale:
    """A scale from its lowest to its highest value.

    Attributes:
        logarithmic: Equal ratios have equal lengths; both ends must be above 0.
    """

    low: float
    high: float
    logarithmic: bool = False

    def position(self, value: float) -> float:
        """Return the position of a value, 0 at the low end to 1 at the high end; values beyond an end are at it."""
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def side_beyond(self, value: float) -> int:
        """Return -1 if a value is below the low end, 1 if it is above the high end, 0 if it is on the scale."""
        return (value > self.high) - (value < self.low)

    def ticks(self, most: int = MAX_TICKS) -> tuple[float, ...]:
        """Return round values between the ends, at most `most`."""
        if self.logarithmic and self.high / self.low >= _AS_LINEAR:
            return self._decades(most)
        step = _step(self.high - self.low, most)
        numbers = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        return tuple(number * step for number in numbers)

    def _decades(self, most: int) -> tuple[float, ...]:
        """Return ticks of a logarithmic scale; the more decades it has, the fewer ticks each has."""
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found: tuple[float, ...] = ()
        for steps in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
            every = (float(f"{step}e{decade}") for decade in decades for step in steps)
            found = tuple(value for value in every if self.low <= value <= self.high)
            if len(found) <= most:
                return found
        return found[:: math.ceil(len(found) / most)]


def _step(span: float, most: int) -> float:
    """Return the smallest step (1, 2 or 5 times a power of 10) that fits into a span at most `most` times."""
    step = 10.0 ** math.floor(math.log10(span / most))
    return next(step * factor for factor in (1, 2, 5, 10, 20) if span / (step * factor) <= most)


def linear_scale(values: Sequence[float], room: float = 0.06) -> AxisScale:
    """Return a linear scale that holds all values, with a share of their span as margin at both ends."""
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    return AxisScale(low - room * span, high + room * span)


def log_scale(values: Sequence[float], room: float = 1.06, least: float = 1.0) -> AxisScale:
    """Return a logarithmic scale that holds all values, which must be above 0.

    Args:
        values: At least one value.
        room: Margin at both ends, as a factor.
        least: Least ratio of the high end to the low end.
    """
    low, high = min(values) / room, max(values) * room
    if high / low < least:
        more = math.sqrt(least * low / high)
        low, high = low / more, high * more
    return AxisScale(low, high, logarithmic=True)


def scale_from_zero(high: float) -> AxisScale:
    """Return a linear scale from 0 to the next round value."""
    high = high if high > 0 else 1.0
    step = _step(high, MAX_TICKS - 1)
    return AxisScale(0.0, step * math.ceil(high / step - 1e-9))


def tick_text(value: float) -> str:
    """Return a round value without needless zeros: `1,000`, `2.5`, `0.02`."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.6g}" if abs(value) >= 1e-4 or value == 0 else f"{value:.9f}".rstrip("0")
