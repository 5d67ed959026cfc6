"""The Pareto front: options to which no other is both cheaper and as fast."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TypeVar

T = TypeVar("T")


def pareto_front(points: Sequence[tuple[Decimal, float, T]]) -> list[T]:
    """Return the points that no other dominates, cheapest first; of equal points the first.

    A point dominates another if it costs no more, is at least as fast, and is better in one of the two.

    Args:
        points: Cost, rate, and the object that they belong to.
    """
    ordered = sorted(enumerate(points), key=lambda item: (item[1][0], -item[1][1], item[0]))
    result, best = [], -1.0
    for _, (_, rate, value) in ordered:
        if rate > best:
            best = rate
            result.append(value)
    return result
