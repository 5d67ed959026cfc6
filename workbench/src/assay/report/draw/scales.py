"""Places of values on scales, and the round values that get a number."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

MOST_TICKS = 6
_AS_LINEAR = 4
"""A logarithmic scale over a smaller factor has the round values of a linear one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From the lowest to the highest value.

    Attributes:
        logarithmic: Equal ratios take equal room; both ends are above 0.
    """

    low: float
    high: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """How far on the way from the low to the high end a value is, 0 to 1; what lies beyond an end is at it."""
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def beyond(self, value: float) -> int:
        """On which side of the scale a value lies: -1 below its low end, 1 above its high end, 0 on it."""
        return (value > self.high) - (value < self.low)

    def ticks(self, most: int = MOST_TICKS) -> tuple[float, ...]:
        """Round values between the ends, at most so many."""
        if self.logarithmic and self.high / self.low >= _AS_LINEAR:
            return self._decades(most)
        step = _step(self.high - self.low, most)
        numbers = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        return tuple(number * step for number in numbers)

    def _decades(self, most: int) -> tuple[float, ...]:
        """The fewer to a decade, the more decades there are."""
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found: tuple[float, ...] = ()
        for steps in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
            every = (float(f"{step}e{decade}") for decade in decades for step in steps)
            found = tuple(value for value in every if self.low <= value <= self.high)
            if len(found) <= most:
                return found
        return found[:: math.ceil(len(found) / most)]


def _step(span: float, most: int) -> float:
    """The least of 1, 2, 5, 10 ... of which a span holds no more than so many."""
    step = 10.0 ** math.floor(math.log10(span / most))
    return next(step * factor for factor in (1, 2, 5, 10, 20) if span / (step * factor) <= most)


def spread(values: Sequence[float], room: float = 0.06) -> Scale:
    """A linear scale that holds all values, with a share of their span left at both ends."""
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    return Scale(low - room * span, high + room * span)


def decades(values: Sequence[float], room: float = 1.06, least: float = 1.0) -> Scale:
    """A logarithmic scale that holds all values, which are above 0.

    Args:
        values: At least one.
        room: Factor that is left at both ends.
        least: The whole scale spans at least twice this factor's half.
    """
    low, high = min(values) / room, max(values) * room
    if high / low < least:
        more = math.sqrt(least * low / high)
        low, high = low / more, high * more
    return Scale(low, high, logarithmic=True)


def from_zero(high: float) -> Scale:
    """A linear scale from 0 to the next round value."""
    high = high if high > 0 else 1.0
    step = _step(high, MOST_TICKS - 1)
    return Scale(0.0, step * math.ceil(high / step - 1e-9))


def amount(value: float) -> str:
    """A round value without needless zeros: `1,000`, `2.5`, `0.02`."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.6g}" if abs(value) >= 1e-4 or value == 0 else f"{value:.9f}".rstrip("0")
