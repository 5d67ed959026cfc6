"""The front: options of which no other costs less and is as fast."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TypeVar

T = TypeVar("T")


def front(points: Sequence[tuple[Decimal, float, T]]) -> list[T]:
    """The points that no other beats, cheapest first; of equal ones the first.

    A point is beaten by one that costs no more and is at least as fast, and better in one of the two.

    Args:
        points: Cost, rate, and what they belong to.
    """
    ordered = sorted(enumerate(points), key=lambda item: (item[1][0], -item[1][1], item[0]))
    kept, best = [], -1.0
    for _, (_, rate, what) in ordered:
        if rate > best:
            best = rate
            kept.append(what)
    return kept
