"""Finds results with two levels instead of one: sometimes fast, sometimes slow, and hardly ever between."""

import math
from collections.abc import Sequence
from statistics import median

from assay.model.result.result import RateLevel

MIN_VALUES = 8
"""Fewer values fall into two groups too often by chance."""
_CLEAR, _CLEAR_OF_MANY, _MANY = 8.0, 5.0, 16
"""Least ratio of the gap to the scatter within a level. In simulations of normal, log-normal, uniform, heavy-tailed
and drifting values one set in 100 or fewer shows such a gap by chance."""
_MIN_GAP = math.log(1.1)
_SHARE = 5
"""Each level has at least one in this many of the values: a fifth."""


def levels(values: Sequence[float]) -> tuple[RateLevel, ...]:
    """Return the two levels of a set of values, the lower one first; empty without two clear levels.

    Args:
        values: One for each repeat, any unit, all above 0.
    """
    count = len(values)
    if count < MIN_VALUES or min(values) <= 0:
        return ()
    ordered = sorted(math.log(value) for value in values)
    fewest = max(2, count // _SHARE)
    clear = _CLEAR if count < _MANY else _CLEAR_OF_MANY
    for place in sorted(range(fewest, count - fewest + 1), key=lambda place: ordered[place - 1] - ordered[place]):
        gap = ordered[place] - ordered[place - 1]
        low, high = ordered[:place], ordered[place:]
        scatter = math.sqrt((_squares(low) + _squares(high)) / (count - 2))
        return (_level(low), _level(high)) if gap > max(_MIN_GAP, clear * scatter) else ()
    return ()


def _squares(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


def _level(values: Sequence[float]) -> RateLevel:
    return RateLevel(rate=math.exp(median(values)), count=len(values))
