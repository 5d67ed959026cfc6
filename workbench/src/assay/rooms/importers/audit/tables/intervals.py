"""Numbers that are known within a range, as printed ones are."""

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

SLACK = 1e-9
"""Share by which ranges are widened: more than floating-point arithmetic is off."""
_PRINTED = re.compile(r"-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]{1,2})?|-?\.[0-9]+")
_BOUND = re.compile(r"(<=|>=|<|>) *([0-9]{1,20}(?:\.[0-9]{1,20})?)( *\?)?")
_MAX_DIGITS = 40


class Interval(NamedTuple):
    """All numbers from `low` to `high`, both included."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The number in the middle."""
        return (self.low + self.high) / 2

    @property
    def is_finite(self) -> bool:
        """Whether both ends are numbers."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def overlaps(self, other: "Interval") -> bool:
        """Return whether some number is in both."""
        slack = SLACK * max(abs(self.low), abs(self.high), abs(other.low), abs(other.high))
        return self.low <= other.high + slack and other.low <= self.high + slack


class StatedBound(NamedTuple):
    """A bound as a text states it, such as `>256` or `<= 1.5`.

    Attributes:
        sign: One of `<`, `<=`, `>`, `>=`.
        is_of_words: The text has words such as "little", for which a reader has put the number: `<1.5?`.
    """

    sign: str
    value: float
    is_of_words: bool = False

    @classmethod
    def read(cls, text: str) -> "StatedBound | None":
        """Return the bound that a text is; None if it is none."""
        found = _BOUND.fullmatch(text)
        return cls(found[1], float(found[2]), bool(found[3])) if found else None

    def allows(self, number: Interval) -> bool:
        """Return whether some number of a range is within the bound."""
        slack = SLACK * max(abs(self.value), abs(number.low), abs(number.high))
        if self.sign == "<=":
            return number.low <= self.value + slack
        if self.sign == ">=":
            return number.high >= self.value - slack
        return number.low < self.value - slack if self.sign == "<" else number.high > self.value + slack


def is_printed_number(text: str) -> bool:
    """Whether a text is a plain number."""
    return len(text) <= _MAX_DIGITS and _PRINTED.fullmatch(text) is not None


def exactly(text: str) -> Interval:
    """Return a printed number that was not rounded, such as a count."""
    return Interval(float(text), float(text))


def rounded(text: str) -> Interval:
    """Return all numbers that are printed so: `2.06` is 2.055 to 2.065."""
    half = last_place(text) / 2
    return Interval(float(text) - half, float(text) + half)


def cut_off(text: str) -> Interval:
    """Return all numbers that are printed so if further digits are cut off: `2.06` is 2.06 to 2.07."""
    place = last_place(text)
    value = float(text)
    return Interval(value, value + place) if value >= 0 else Interval(value - place, value)


def last_place(text: str) -> float:
    """Return the place of the last printed digit: 0.01 of `2.06`."""
    number, _, exponent = text.lower().partition("e")
    digits = len(number.partition(".")[2])
    return float(10.0 ** ((int(exponent) if exponent else 0) - digits))


def combined(sign: str, one: Interval, two: Interval) -> Interval | None:
    """Return all results of one of `+ - * /`; None for a division by what may be 0."""
    if sign == "+":
        return Interval(one.low + two.low, one.high + two.high)
    if sign == "-":
        return Interval(one.low - two.high, one.high - two.low)
    if sign == "/" and two.low <= 0 <= two.high:
        return None
    by: Callable[[float, float], float] = (lambda a, b: a * b) if sign == "*" else (lambda a, b: a / b)
    ends = [by(a, b) for a in one for b in two]
    return Interval(min(ends), max(ends))


def over_many(function: str, numbers: Sequence[Interval]) -> Interval:
    """Return sum, mean, median, min, max or count of numbers."""
    return Interval(*(_of_ends(function, [number[end] for number in numbers]) for end in (0, 1)))


def _of_ends(function: str, values: list[float]) -> float:
    if function == "count":
        return float(len(values))
    if function in ("sum", "mean"):
        total = math.fsum(values)
        return total if function == "sum" else total / len(values)
    if function == "median":
        ordered = sorted(values)
        half = len(ordered) // 2
        return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    return min(values) if function == "min" else max(values)
