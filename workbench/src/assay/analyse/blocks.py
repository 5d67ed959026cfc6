"""Two sides measured in turns: what is known of each row, and which cases need no more rounds.

What is known is the answer of the run, as `assay.analyse.decide` gives it. Any number of looks may be planned: p-values
and intervals allow for each of them (Bonferroni), so that whoever stops at the first decisive one is wrong in at most 5
of 100 runs in which the sides are equal.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.model.result.decision import Decision, Outcome, PointDecision
from assay.model.result.result import Row
from assay.model.study.blocks import Blocks
from assay.model.study.case import Case

Told = Literal["faster", "slower", "equal", "open", "no result"]
"""What is known of the other side of a row."""


def told(point: PointDecision, other: str) -> Told:
    """What the answer at a point says of the side named `other`."""
    if point.outcome is Outcome.FASTER:
        return "faster" if point.winner == other else "slower"
    words: dict[Outcome, Told] = {Outcome.EQUAL: "equal", Outcome.OPEN: "open"}
    return words.get(point.outcome, "no result")


def decisions(rows: Sequence[Row], blocks: Blocks) -> tuple[Decision, ...]:
    """What is known so far of all rows of a run with two sides."""
    return decide(
        rows, compare(rows, looks=len(blocks.looks)), blocks.within, ignored=blocks.ignored, alike=blocks.alike
    )


def decided_cases(cases: Iterable[Case], rows: Sequence[Row], blocks: Blocks) -> dict[str, str]:
    """Cases that need no more rounds, each with the reason.

    Args:
        cases: Those that are still measured, of both sides.
        rows: Of the run so far, as if it were whole.
        blocks: How it is measured.
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


def _words(point: PointDecision, other: str) -> str:
    known = told(point, other)
    return (
        f"{'undecided' if known == 'open' else known}: {point.why}"
        if known in ("open", "no result")
        else f"decided: {other} is {known}"
    )
