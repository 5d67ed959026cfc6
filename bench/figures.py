"""Medians, spreads and ratios of the rounds of a row, and whether its goals are met."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from model import Goal, Sample

Rounds = dict[str, list[Sample | None]]
"""By contender: its figures of each round; none where it has failed."""


@dataclass(frozen=True)
class Spread:
    """A median with its quartiles, and of how many."""

    median: float
    low: float
    high: float
    count: int


def spread(values: list[float]) -> Spread | None:
    """Median and quartiles; none of nothing."""
    if not values:
        return None
    if len(values) == 1:
        return Spread(values[0], values[0], values[0], 1)
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high, len(values))


def of_measure(samples: list[Sample | None], measure: str) -> Spread | None:
    """The spread of one measure of one contender."""
    return spread([s[measure] for s in samples if s is not None and measure in s])


def ratios(rounds: Rounds, one: str, other: str, measure: str) -> Spread | None:
    """The spread of the ratio of two contenders, made round by round."""
    found = []
    for a, b in zip(rounds.get(one, []), rounds.get(other, []), strict=False):
        if a and b and measure in a and b.get(measure):
            found.append(a[measure] / b[measure])
    return spread(found)


@dataclass(frozen=True)
class Outcome:
    """A goal, what was measured, and whether that is within the bound; none: could not be measured."""

    goal: Goal
    measured: Spread | None
    met: bool | None


def judge(goal: Goal, rounds: Rounds) -> Outcome:
    """Compares the median with the bound."""
    if goal.against is None:
        measured = of_measure(rounds.get(goal.contender, []), goal.measure)
    else:
        measured = ratios(rounds, goal.contender, goal.against, goal.measure)
    if measured is None:
        return Outcome(goal, None, None)
    met = measured.median <= goal.bound if goal.most else measured.median >= goal.bound
    return Outcome(goal, measured, met)
