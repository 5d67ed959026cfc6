"""Decides, for two sides measured in turns, what is known of each row and which cases need no more rounds.

The decision at each point is that of `assay.analyse.decide`. Any number of looks may be planned: p-values and intervals
are adjusted for all of them (Bonferroni). Stopping at the first decisive look is therefore wrong in at most 5 of 100
runs in which the sides are equal.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from assay.analyse.compare import MIN_TRIMMED, TRIMMED_SHARE, compare, deviation_of
from assay.analyse.decide import decide
from assay.analyse.statistics.autocorrelation import degrees_of_freedom, expected_bound, variance_inflation
from assay.analyse.statistics.significance import t_quantile
from assay.analyse.usable import usable
from assay.model.result.decision import PointDecision, PointOutcome, TargetDecision
from assay.model.result.result import ResultRow
from assay.model.study.blocks import Blocks
from assay.model.study.case import Case

USUAL_DEVIATION = 0.03
"""Standard deviation of the log ratio of two sides from round to round on a quiet machine; assumed until measured."""
_LEVEL, _POWER = 0.05, 1.6
"""Significance level of the decision; and the distance beyond the bound, in standard errors, of a difference that is
found in about 8 of 10 simulated runs. With 0.84, enough if the correlation of rounds is known, it is 6 or 7 of 10."""
_MIN_ROUNDS = 3
"""Minimum number of rounds that shows how much rounds differ."""

SideState = Literal["faster", "slower", "equal", "open", "no result"]
"""What is known of one side of a row compared with the other side."""


def side_state(point: PointDecision, other: str) -> SideState:
    """Return what the decision at a point means for the side named `other`."""
    if point.outcome is PointOutcome.FASTER:
        return "faster" if point.winner == other else "slower"
    words: dict[PointOutcome, SideState] = {PointOutcome.EQUAL: "equal", PointOutcome.OPEN: "open"}
    return words.get(point.outcome, "no result")


def decisions(rows: Sequence[ResultRow], blocks: Blocks) -> tuple[TargetDecision, ...]:
    """Return the decisions so far for all rows of a run with two sides."""
    return decide(
        rows,
        compare(rows, looks=len(blocks.looks)),
        blocks.within,
        ignored=blocks.ignored_verdicts,
        alike=blocks.symmetric_verdicts,
    )


def decided_cases(cases: Iterable[Case], rows: Sequence[ResultRow], blocks: Blocks) -> dict[str, str]:
    """Return the cases that need no more rounds, each with the reason.

    Args:
        cases: The cases still being measured, of both sides.
        rows: Rows of the run so far, analysed as if the run were complete.
        blocks: How the run is measured.
    """
    points: dict[object, list[PointDecision]] = {}
    for decision in decisions(rows, blocks):
        for point in decision.points:
            points.setdefault((decision.workload, tuple(point.axes.items())), []).append(point)
    found = {}
    for case in cases:
        mine = points.get((case.workload, tuple(case.axes.items())), [])
        if all(point.needs is None for point in mine):
            words = "; ".join(dict.fromkeys(_words(point, blocks.other) for point in mine))
            found[case.id] = words or "no result: a side has no usable repeat"
    return found


def detectable_difference(deviation: float, rounds: int, rows: int, looks: int) -> float:
    """Return the smallest true difference that is found in about 8 of 10 runs, as a share.

    The computation follows the test of `assay.analyse.compare`, for rounds without autocorrelation.

    Args:
        deviation: Standard deviation of the logarithm of the ratio of the sides, from round to round.
        rounds: Number of planned rounds.
        rows: Number of rows compared together.
        looks: Number of planned looks.
    """
    if rounds < _MIN_ROUNDS:
        return math.inf
    autocorrelation = expected_bound(rounds, rows)
    cut = 2 * int(TRIMMED_SHARE * rounds) if rounds >= MIN_TRIMMED else 0
    known = rows * max(1.0, degrees_of_freedom(autocorrelation, rounds) * (1 - cut / (rounds - 1)))
    error = deviation * math.sqrt(variance_inflation(autocorrelation, rounds) / rounds)
    reach = t_quantile(1 - _LEVEL / looks / rows / 2, known)
    return math.expm1(min(700.0, error * (reach + _POWER)))


def ratio_deviations(rows: Sequence[ResultRow], blocks: Blocks, cases: Iterable[str]) -> list[float]:
    """Return the standard deviation of the log ratio of the sides from round to round, for each row of these cases."""
    sides: dict[object, dict[str, dict[int, float]]] = {}
    wanted = set(cases)
    for row in rows:
        if row.case.id in wanted:
            key = (row.case.workload, row.operation, tuple(row.case.axes.items()))
            rates = {sample.repeat: sample.rate for sample in usable(row.samples) if sample.rate > 0}
            sides.setdefault(key, {})[row.case.target] = rates
    found = []
    for side in sides.values():
        base, other = side.get(blocks.base, {}), side.get(blocks.other, {})
        ratios = [math.log(other[number] / base[number]) for number in base if number in other]
        differ = deviation_of(ratios)
        if differ is not None and len(ratios) >= _MIN_ROUNDS:
            found.append(differ)
    return found


def _words(point: PointDecision, other: str) -> str:
    known = side_state(point, other)
    return (
        f"{'undecided' if known == 'open' else known}: {point.why}"
        if known in ("open", "no result")
        else f"decided: {other} is {known}"
    )
