"""Whether two tools measure the same: ratios within rounds, their interval, and what chance alone would do."""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass
from enum import Enum

from figures import Rounds, Spread, spread

TOLERANCE = 0.03
"""Agreement asked for, of the median ratio."""
CONFIDENCE = 0.95
DRAWS, SEED = 4000, 1


def again(tool: str) -> str:
    """Key of a tool's second run in a round."""
    return f"{tool} again"


class Verdict(Enum):
    """What the pairs say."""

    AGREE = "agree"
    AGREE_BY_CHANCE = "agree within what runs of the same tool differ"
    DIFFER = "**differ**"
    UNKNOWN = "too few pairs to tell"


@dataclass(frozen=True)
class Ratio:
    """Median of the rounds' ratios, and the interval of that median; none if there are too few."""

    median: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Line:
    """One measure of one workload."""

    measure: str
    pairs: int
    fio: Spread
    assay: Spread
    ratio: Ratio
    """Assay by fio."""
    same_fio: float
    """How far apart two runs of fio in a round are: median of the greater by the smaller, minus 1."""
    same_assay: float
    chance: float | None
    """How far from 1 the median ratio comes by chance, in 95 of 100 series; none if there are too few pairs."""
    verdict: Verdict


@dataclass(frozen=True)
class Round:
    """The logarithms of the four figures of a round."""

    fio: tuple[float, float]
    assay: tuple[float, float]

    @property
    def difference(self) -> float:
        """Assay's mean less fio's."""
        return (sum(self.assay) - sum(self.fio)) / 2

    @property
    def by_chance(self) -> tuple[float, float]:
        """The four divided so that each side has one run of each tool: what is left is not the tools' doing."""
        fio, assay = self.fio[1] - self.fio[0], self.assay[1] - self.assay[0]
        return (fio + assay) / 2, (fio - assay) / 2


def whole_rounds(rounds: Rounds, measure: str) -> list[Round]:
    """The rounds in which all four runs have the measure, and it is above 0."""
    keys = ("fio", again("fio"), "assay", again("assay"))
    found = []
    for four in zip(*(rounds.get(key, []) for key in keys), strict=True):
        values = [sample.get(measure, 0.0) if sample else 0.0 for sample in four]
        if min(values) > 0:
            logs = [math.log(value) for value in values]
            found.append(Round((logs[0], logs[1]), (logs[2], logs[3])))
    return found


def interval(values: list[float]) -> tuple[float, float] | None:
    """The interval between two order statistics that has the median in it with at least 95 % confidence.

    Source: W. J. Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2. Needs six values.
    """
    count = len(values)
    outside, cut = 0.0, 0
    while True:
        outside += math.comb(count, cut) / 2**count
        if outside > (1 - CONFIDENCE) / 2:
            break
        cut += 1
    ordered = sorted(values)
    return (ordered[cut - 1], ordered[count - cut]) if cut else None


def ratio(logs: list[float]) -> Ratio:
    """Of logarithms of ratios."""
    bounds = interval(logs)
    return Ratio(
        math.exp(statistics.median(logs)),
        (math.exp(bounds[0]), math.exp(bounds[1])) if bounds else None,
    )


def chance(rounds: list[Round]) -> float | None:
    """How far from 1 the median of as many ratios comes in 95 of 100 series in which the tools do the same.

    Each series is drawn from what the rounds show by chance, with either sign, by a generator with a fixed seed.
    """
    if interval([r.difference for r in rounds]) is None:
        return None
    pool = [value for r in rounds for value in r.by_chance]
    source = random.Random(SEED)
    medians = sorted(
        abs(statistics.median(source.choice(pool) * source.choice((-1, 1)) for _ in rounds)) for _ in range(DRAWS)
    )
    return math.expm1(medians[math.ceil(CONFIDENCE * DRAWS) - 1])


def judge(found: Ratio, by_chance: float | None) -> Verdict:
    """What a median ratio means; it differs if chance does not reach as far, and its interval leaves out 1."""
    if abs(found.median - 1) <= TOLERANCE:
        return Verdict.AGREE
    if by_chance is None or found.interval is None:
        return Verdict.UNKNOWN
    near = abs(math.log(found.median)) <= math.log1p(by_chance) or found.interval[0] <= 1 <= found.interval[1]
    return Verdict.AGREE_BY_CHANCE if near else Verdict.DIFFER


def compare(rounds: Rounds, measure: str) -> Line | None:
    """One measure of one workload; none if no round is whole."""
    whole = whole_rounds(rounds, measure)
    if not whole:
        return None
    found = ratio([r.difference for r in whole])
    by_chance = chance(whole)
    return Line(
        measure=measure,
        pairs=len(whole),
        fio=_spread([value for r in whole for value in r.fio]),
        assay=_spread([value for r in whole for value in r.assay]),
        ratio=found,
        same_fio=_apart([r.fio for r in whole]),
        same_assay=_apart([r.assay for r in whole]),
        chance=by_chance,
        verdict=judge(found, by_chance),
    )


def against(rounds: Rounds, variant: str, measure: str) -> tuple[Ratio, Ratio] | None:
    """A variant of fio by fio, and Assay by the variant; none without a whole round."""
    by_fio, assay_by = [], []
    keys = ("fio", again("fio"), "assay", again("assay"), variant)
    for five in zip(*(rounds.get(key, []) for key in keys), strict=True):
        values = [sample.get(measure, 0.0) if sample else 0.0 for sample in five]
        if min(values) > 0:
            fio, fio_again, assay, assay_again, other = (math.log(value) for value in values)
            by_fio.append(other - (fio + fio_again) / 2)
            assay_by.append((assay + assay_again) / 2 - other)
    return (ratio(by_fio), ratio(assay_by)) if by_fio else None


def _spread(logs: list[float]) -> Spread:
    found = spread([math.exp(value) for value in logs])
    assert found is not None
    return found


def _apart(pairs: list[tuple[float, float]]) -> float:
    return math.expm1(statistics.median(abs(second - first) for first, second in pairs))
