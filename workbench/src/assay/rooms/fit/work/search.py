"""The search for the highest rate that holds a bound: bisection of the logarithm of the rate."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from assay.rooms.fit.model.answer import Answer, NeedOutcome

FIRST_SHARE = 0.7
"""The first rate, as a share of the rate of a closed loop."""
UP, DOWN = 1.25, 4.0
"""Factors by which the rate is changed while only one end is known."""
RATIO = 1.04
"""Ratio of two rates between which the search measures no further one; the final run measures one in the middle."""
MAX_FINAL = 4
"""Most rates of the final run."""


class RateStep(NamedTuple):
    """A rate at which the place was measured.

    Attributes:
        rate: Operations per second.
        outcome: Whether the bound was held, and the measured latency.
        repeats: Repeats that were measured.
        latency_ns: Median over the repeats of their own percentiles; None without any.
    """

    rate: float
    outcome: NeedOutcome
    repeats: int
    latency_ns: float | None = None

    @property
    def answer(self) -> Answer:
        """Whether the bound was held."""
        return self.outcome.answer


class Bracket(NamedTuple):
    """Where the highest rate that holds lies.

    Attributes:
        holds: Highest rate at which the bound was held; None if at none.
        fails: Lowest rate at which it was not; None if at none.
        undecided: Rates between the two that did not decide, ascending.
    """

    holds: float | None
    fails: float | None
    undecided: tuple[float, ...] = ()


def bracket(steps: Sequence[RateStep]) -> Bracket:
    """Return the highest rate that held below the lowest one that did not.

    Of several steps at a rate the last one counts. Answers may be wrong by chance: from a rate that held above one that
    did not, nothing is concluded.
    """
    latest = {step.rate: step.answer for step in steps}
    fails = min((rate for rate, answer in latest.items() if answer is Answer.NO), default=None)
    below = math.inf if fails is None else fails
    holds = max((rate for rate, answer in latest.items() if answer is Answer.YES and rate < below), default=None)
    above = 0.0 if holds is None else holds
    undecided = (rate for rate, answer in latest.items() if answer is Answer.UNDECIDED and above < rate < below)
    return Bracket(holds, fails, tuple(sorted(undecided)))


def next_rate(steps: Sequence[RateStep], closed_per_s: float, min_per_s: float) -> float | None:
    """Return the next rate to measure; None if the highest rate that holds is known well enough, or none holds.

    Args:
        steps: What was measured.
        closed_per_s: Rate of a closed loop, where the search begins.
        min_per_s: Lowest rate for which there is time.
    """
    if not steps:
        return max(min_per_s, FIRST_SHARE * closed_per_s)
    holds, fails, undecided = bracket(steps)
    if holds is None:
        lowest = min(step.rate for step in steps)
        return None if lowest <= min_per_s else max(min_per_s, lowest / DOWN)
    if fails is None:
        return max(step.rate for step in steps) * UP
    gaps = [(holds, undecided[0]), (undecided[-1], fails)] if undecided else [(holds, fails)]
    low, high = max(gaps, key=lambda gap: gap[1] / gap[0])
    return math.sqrt(low * high) if high / low > RATIO else None


def final_rates(steps: Sequence[RateStep]) -> list[float]:
    """Return the rates that are measured again in turns: both ends, and between them the undecided or the middle."""
    holds, fails, undecided = bracket(steps)
    if holds is None or fails is None:
        return [rate for rate in (holds, fails) if rate is not None] or [min(step.rate for step in steps)]
    inner = undecided[: MAX_FINAL - 2] or (math.sqrt(holds * fails),)
    return [holds, *inner, fails]


def estimate_rate(steps: Sequence[RateStep], limit_ns: float) -> float | None:
    """Return the rate at which the latency equals the bound, by interpolation; None unless it lies between two rates.

    The latency is the median over the repeats, which a stall of one of them does not move. Between two rates its
    logarithm is taken as linear. Of rates that were measured several times the last one counts. Where latencies do not
    rise with the rate throughout, the crossing at the highest rate counts.

    Args:
        steps: What was measured.
        limit_ns: The bound in nanoseconds.
    """
    latest = {step.rate: step.latency_ns for step in steps if step.latency_ns}
    points = sorted((rate, value) for rate, value in latest.items() if value is not None)
    for (low, before), (high, after) in reversed(list(itertools.pairwise(points))):
        if before < limit_ns <= after:
            return low + (high - low) * math.log(limit_ns / before) / math.log(after / before)
    return None
