"""Finds rates that rise or fall from repeat to repeat: the machine or the storage changed while the run lasted.

Intervals and comparisons treat the repeats of a case as draws about one level. A drive that warms up, fills up or loses
cache gives draws about a level that moves. One case of a few repeats shows that badly; all cases of a target together
show it well, since what moves the level moves all of them, round by round.

For each round the median over the cases (the logarithm of each case's rate, less its mean) represents the target, so
that no single odd or noisy case decides. A line is fitted to the rounds by least squares. Neighbouring rounds correlate
anyway, so that its t is compared with that of series without a trend whose neighbours correlate by 0.5: a false trend
is then found in 5 of 100 such runs, and in fewer where rounds are independent.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.analyse.usable import usable
from assay.model.result.result import ResultRow
from assay.model.units import about_number

MIN_ROUNDS = 4
MIN_CHANGE = 0.05
"""A smaller change from the first round to the last is not worth a note."""
NOTE_PROBABILITY = 0.05
"""Probability of a note in a run without a trend, over all its targets."""

_CORRELATION = 0.5
_DRAWN, _SEED = 20_000, 20261123
_LONG = 64
"""For longer series the asymptotic formula is good enough."""

Floats = npt.NDArray[np.float64]


class Trend(NamedTuple):
    """The trend of the rates of a target over the rounds of a run.

    Attributes:
        change: Change of the level from the first round to the last, as a share: -0.15 is a loss of 15 %.
        p: Share of series without a trend that show as clear a line.
        rounds: Number of rounds.
        cases: Number of results used.
        same_direction_count: Number of these that moved in the same direction, from the first half of the rounds to
            the second.
    """

    target: str
    change: float
    p: float
    rounds: int
    cases: int
    same_direction_count: int


def trends(rows: Iterable[ResultRow]) -> tuple[Trend, ...]:
    """Return the trends of targets whose rates rose or fell over the rounds, in the order of the rows.

    Args:
        rows: Rows of one run; repeats that are not usable are left out.
    """
    of_target: dict[str, list[dict[int, float]]] = defaultdict(list)
    for row in rows:
        rates = {sample.repeat: math.log(sample.rate) for sample in usable(row.samples) if sample.rate > 0}
        of_target[row.case.target].append(rates)
    found = [trend for target, series in of_target.items() if (trend := _trend(target, series)) is not None]
    return tuple(item for item in found if item.p <= NOTE_PROBABILITY / len(found) and abs(item.change) >= MIN_CHANGE)


def trend_notes(rows: Iterable[ResultRow]) -> tuple[str, ...]:
    """Return a sentence for each trend."""
    return tuple(
        f"On {item.target} the rates {'rose' if item.change > 0 else 'fell'} by {100 * abs(item.change):.0f} % over the"
        f" {item.rounds} rounds of the run ({item.same_direction_count} of {item.cases} results went that way; p ="
        f" {about_number(item.p, 2)}):"
        " the level moved while it was measured, so that medians and intervals depend on when the run began and ended."
        for item in trends(rows)
    )


def _trend(target: str, every: Sequence[dict[int, float]]) -> Trend | None:
    """Return the trend of a target; None where too few rounds are common to the cases."""
    counts = Counter(len(series) for series in every if len(series) >= MIN_ROUNDS)
    if not counts:
        return None
    # Adaptive repeats end at different rounds: use as many rounds as at least half of the cases have.
    rounds = sorted(counts.elements())[(counts.total() - 1) // 2]
    full = [dict(sorted(series.items())[:rounds]) for series in every if len(series) >= rounds]
    common = sorted(set.intersection(*(set(series) for series in full)))
    if len(common) < MIN_ROUNDS:
        return None
    logs = np.array([[series[number] for number in common] for series in full])
    logs -= logs.mean(axis=1, keepdims=True)
    level = np.median(logs, axis=0)
    slope, t = _line(np.array(common, dtype=np.float64), level[None, :])
    half = len(common) // 2
    moved = logs[:, -half:].mean(axis=1) - logs[:, :half].mean(axis=1)
    change = float(np.expm1(slope[0] * (common[-1] - common[0])))
    along = int((np.sign(moved) == np.sign(slope[0])).sum())
    return Trend(target, change, _chance(float(abs(t[0])), len(common)), len(common), len(full), along)


def _line(places: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the slope of the least-squares line of each row of values, and its t."""
    x = places - places.mean()
    y = values - values.mean(axis=1, keepdims=True)
    slopes = y @ x / (x @ x)
    rest = y - slopes[:, None] * x
    variance = (rest * rest).sum(axis=1) / (len(places) - 2)
    errors = np.sqrt(np.maximum(variance, 1e-24) / (x @ x))
    return slopes, slopes / errors


def _chance(t: float, count: int) -> float:
    """Return the share of correlated series without a trend whose absolute t is at least this."""
    if count > _LONG:
        # The variance of a mean of long series grows by (1 + r) / (1 - r).
        return math.erfc(t / math.sqrt(2 * (1 + _CORRELATION) / (1 - _CORRELATION)))
    drawn = _drawn(count)
    return float((len(drawn) - np.searchsorted(drawn, t) + 1) / (len(drawn) + 1))


@lru_cache(maxsize=_LONG)
def _drawn(count: int) -> Floats:
    """Return the |t| of simulated series, in ascending order."""
    rows = np.random.default_rng(_SEED).standard_normal((_DRAWN, count))
    for place in range(1, count):
        rows[:, place] = _CORRELATION * rows[:, place - 1] + math.sqrt(1 - _CORRELATION**2) * rows[:, place]
    found: Floats = np.sort(np.abs(_line(np.arange(count, dtype=np.float64), rows)[1]))
    return found
