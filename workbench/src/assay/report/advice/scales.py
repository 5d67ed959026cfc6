"""Places of values on the scales of plots and spans, and the round values that get a number."""

import math
from collections.abc import Sequence

MOST_TICKS = 6


class Logarithmic:
    """From the least to the largest value, with a little room, over a number of units."""

    def __init__(self, values: Sequence[float], start: float, end: float, room: float = 1.0) -> None:
        """Span all values, which are above 0; `start` may be above `end`, as heights run."""
        low, high = min(values) / room, max(values) * room
        if high / low < 2:
            low, high = low / 1.5, high * 1.5
        self.low, self.high = low, high
        self._start, self._per = start, (end - start) / math.log10(high / low)

    def place(self, value: float) -> float:
        """Where a value is."""
        return self._start + self._per * math.log10(value / self.low)

    def ticks(self) -> list[float]:
        """Round values, a few."""
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found: list[float] = []
        for steps in ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
            found = [step * 10.0**decade for decade in decades for step in steps]
            found = [value for value in found if self.low <= value <= self.high]
            if len(found) <= MOST_TICKS:
                break
        return found[:: math.ceil(len(found) / MOST_TICKS)] if found else []


class Linear:
    """From the least to the largest value over 0 to 100 percent, with room at both ends."""

    def __init__(self, values: Sequence[float], room: float = 0.06) -> None:
        """Span all values."""
        low, high = min(values), max(values)
        span = (high - low) or abs(high) or 1.0
        self.low, self.high = low - room * span, high + room * span

    def place(self, value: float) -> float:
        """Where a value is, in percent."""
        return 100 * (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round values, a few."""
        span = self.high - self.low
        step = 10.0 ** math.floor(math.log10(span / MOST_TICKS))
        step = next(step * factor for factor in (1, 2, 5, 10) if span / (step * factor) <= MOST_TICKS)
        first = math.ceil(self.low / step)
        return [number * step for number in range(first, math.floor(self.high / step) + 1)]
