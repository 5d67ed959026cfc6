"""When two sides that are measured in turns have been told apart, row by row, and what is still open.

A row is decided if one side is faster, by the rule of `assay.analyse.compare`, or if both are equal: the interval of
the ratio, so wide that those of all rows hold at once, lies within what counts as equal. It is looked at after planned
rounds only; each look has its equal share of the chance of error (Bonferroni), so that stopping at the first one that
decides does not raise it above 5 in 100. A row whose numbers are not the storage's cannot be decided by more of them.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from assay.analyse.compare import compare
from assay.model.blocks import Blocks
from assay.model.case import Case
from assay.model.result import Comparison, Row
from assay.model.verdict import FALSE

Told = Literal["faster", "slower", "equal", "open"]
"""What is known of the other side of a row."""


def told(pair: Comparison, within: float) -> Told:
    """What a comparison says of the other side.

    Args:
        pair: The comparison.
        within: Greatest difference of what counts as equal, as a share.
    """
    if pair.separable:
        return "faster" if pair.ratio > 1 else "slower"
    return "equal" if pair.equal(within) else "open"


def decided_cases(cases: Iterable[Case], rows: Sequence[Row], blocks: Blocks) -> dict[str, str]:
    """Cases that need no more rounds, each with the reason.

    Args:
        cases: Those that are still measured, of both sides.
        rows: Of the run so far.
        blocks: How it is measured.
    """
    compared = {_key(pair): told(pair, blocks.within) for pair in compare(rows, looks=len(blocks.looks))}
    bad = {_row_key(row) for row in rows if not FALSE.isdisjoint(row.verdicts)}
    answers: dict[object, list[str]] = {}
    for row in rows:
        answer = "no number of its own" if _row_key(row) in bad else compared.get(_row_key(row), "no result")
        answers.setdefault(_case_key(row.case), []).append(answer)
    found = {}
    for case in cases:
        words = answers.get(_case_key(case), [])
        if words and "open" not in words:
            found[case.id] = f"told apart: {blocks.other} is {', '.join(dict.fromkeys(words))}"
    return found


def _case_key(case: Case) -> object:
    return case.workload, tuple(case.axes.items())


def _row_key(row: Row) -> object:
    return row.case.workload, row.operation, tuple(row.case.axes.items())


def _key(pair: Comparison) -> object:
    return pair.workload, pair.operation, tuple(pair.axes.items())


def rounds_needed(pair: Comparison, within: float) -> int | None:
    """Rounds after which a comparison is likely decided, if its noise and its ratio are what they seem to be.

    An interval gets narrower as the root of the number of rounds. It must then leave out equality, or lie within what
    counts as equal, whichever comes first.

    Args:
        pair: One that is open.
        within: As in `told`.

    Returns:
        None if too little is known.
    """
    if pair.sure_low is None or pair.sure_high is None or min(pair.sure_low, pair.ratio) <= 0:
        return None
    half = math.log(pair.sure_high / pair.sure_low) / 2
    apart = abs(math.log(pair.ratio))
    room = max(apart, -math.log(1 - within) - apart)
    return math.ceil(min(pair.n_base, pair.n_other) * max(1.0, half / room) ** 2)
