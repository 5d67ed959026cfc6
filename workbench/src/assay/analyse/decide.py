"""Turns comparisons into answers: which target is faster, where, and by how much at least.

All answers follow from comparisons of one run. A target is faster at a point if the difference is significant among all
comparisons; it is faster by at least the bound of the simultaneous intervals. Two targets are equal if that interval
lies within the range that counts as equal, even if one is faster by a tiny significant difference.

Verdicts limit what a number proves. A rate limited by the client, the network or a stated limit may be greater in
truth: on the faster side the answer becomes a lower bound, on the slower side it stays open. A number that is not the
storage's (cached, impossible) or not whole (incomplete) answers nothing. The loss of a slower side whose CPUs or device
were used by something else is bounded: by the share of the time that it waited, or by the other users' part of the
device's work. A number that is unverified counts, and is named.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from assay.analyse.compare import unknown_parameters
from assay.analyse.statistics.autocorrelation import GREATEST, variance_inflation
from assay.model.result.decision import PointDecision, PointOutcome, TargetDecision
from assay.model.result.result import Comparison, ResultRow
from assay.model.result.verdict import LOWER_BOUND, Finding, Verdict
from assay.model.study.case import Case
from assay.model.study.commands import REPLAY
from assay.model.study.repeats import EQUAL_WITHIN, MIN_BEFORE_LOOK

DOUBTFUL = frozenset({Verdict.UNSUSTAINED, Verdict.BURSTING, Verdict.SKEWED})
"""Verdicts of rates whose true value may be lower or higher."""

MAX_NEEDED = 1000
"""A point that would take more repeats stays open: the targets are practically equal, or too noisy."""

Key = tuple[str, str, str, tuple[tuple[str, object], ...]]


def decide(
    rows: Iterable[ResultRow],
    comparisons: Sequence[Comparison],
    within: float = EQUAL_WITHIN,
    repeat_seconds: Mapping[str, float] | None = None,
    ignored: Collection[Verdict] = (),
    alike: Collection[Verdict] = (),
) -> tuple[TargetDecision, ...]:
    """Return the answer of a run to each of its questions, in plan order.

    Args:
        rows: Rows of the run.
        comparisons: All comparisons of its targets that were made together.
        within: Greatest difference that counts as equal, as a share.
        repeat_seconds: Case id -> mean seconds of a repeat, to compute the time that open points need; None for no
            times.
        ignored: Verdicts that do not matter to the question, see `assay.model.study.blocks.Blocks`.
        alike: Verdicts that affect both sides equally, see there.
    """
    known = {_key(row.case.workload, row.operation, row.case.target, row.case.axes): row for row in rows}
    groups: dict[tuple[str, str, str, str], list[PointDecision]] = {}
    for pair in comparisons:
        base = known.get(_key(pair.workload, pair.operation, pair.base, pair.axes))
        other = known.get(_key(pair.workload, pair.operation, pair.other, pair.axes))
        if base is not None and other is not None:
            base, other = _without(base, ignored), _without(other, ignored)
            question = (pair.workload, pair.operation, pair.base, pair.other)
            groups.setdefault(question, []).append(
                _timed(_point(pair, base, other, within, alike), pair, base, other, repeat_seconds or {})
            )
    return tuple(
        TargetDecision(workload=workload, operation=operation, base=base, other=other, points=tuple(points))
        for (workload, operation, base, other), points in groups.items()
    )


def mean_repeat_seconds(took: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return case id -> mean seconds of a repeat, from the seconds of each repeat."""
    found: dict[str, list[float]] = {}
    for case, seconds in took:
        found.setdefault(case, []).append(seconds)
    return {case: math.fsum(each) / len(each) for case, each in found.items()}


def _key(workload: str, operation: str, target: str, axes: Mapping[str, object]) -> Key:
    return workload, operation, target, tuple(sorted(axes.items()))


def _without(row: ResultRow, ignored: Collection[Verdict]) -> ResultRow:
    """Return the row as if these verdicts had not been found."""
    if not any(verdict in ignored for verdict in row.verdicts):
        return row
    findings = tuple(finding for finding in row.findings if finding.verdict not in ignored)
    verdict = findings[0].verdict if findings else Verdict.OK
    return row.model_copy(update={"verdict": verdict, "findings": findings})


def _in_turns(row: ResultRow, alike: Collection[Verdict]) -> ResultRow:
    """Return the row without findings that slow both sides equally when they take turns.

    `alike` is empty if the sides do not take turns. Another user of a disk further down, shared by both sides, affects
    both; that it affects only one by chance is noise.
    """
    if not alike:
        return row
    left = tuple(item for item in row.findings if not item.numbers.get("further_down"))
    verdict = left[0].verdict if left else Verdict.OK
    lighter = row if len(left) == len(row.findings) else row.model_copy(update={"findings": left, "verdict": verdict})
    return _without(lighter, alike)


def _timed(
    point: PointDecision, pair: Comparison, base: ResultRow, other: ResultRow, took: Mapping[str, float]
) -> PointDecision:
    """Return the point with the time of the repeats that would settle it."""
    if point.needs is None or base.case.id not in took or other.case.id not in took:
        return point
    more = point.needs - min(pair.n_base, pair.n_other)
    return point.model_copy(update={"seconds": more * (took[base.case.id] + took[other.case.id])})


def _point(
    pair: Comparison, base: ResultRow, other: ResultRow, within: float, alike: Collection[Verdict]
) -> PointDecision:
    invalid = [f"{row.case.target} is {row.verdict}" for row in (base, other) if row.has_no_result]
    unknowns = unknown_parameters(base, other)
    if invalid or unknowns:
        why = "; ".join([*invalid, *([unknowns] if unknowns else [])])
        return PointDecision(
            axes=pair.axes, outcome=PointOutcome.BARRED, shows_ratio=not invalid, ratio=pair.ratio, why=why
        )
    if pair.simultaneous_low is None or pair.simultaneous_high is None:
        return _unsettled(pair, within, base, other)
    if _reached_set_rate(base) and _reached_set_rate(other):
        why = "the study sets the rate, and both kept it: compare their latencies"
        return PointDecision(axes=pair.axes, outcome=PointOutcome.BARRED, ratio=pair.ratio, why=why)
    if pair.is_equal(within):
        return _equal(pair, base, other)
    if pair.separable and (pair.simultaneous_low > 1 or pair.simultaneous_high < 1):
        return _faster(pair, base, other, alike)
    return _unsettled(pair, within, base, other)


def _reached_set_rate(row: ResultRow) -> bool:
    """Whether the row reached the rate that the study sets, so that its own maximum is unknown."""
    return row.case.parameters.rate is not None and Verdict.UNSUSTAINED not in row.verdicts


def _faster(pair: Comparison, base: ResultRow, other: ResultRow, alike: Collection[Verdict]) -> PointDecision:
    assert pair.simultaneous_low is not None and pair.simultaneous_high is not None
    ahead = pair.simultaneous_low > 1
    fast, slow = (other, base) if ahead else (base, other)
    # A side that misses the rate which the other one reaches is the slower one: that is the question.
    slow_doubts = DOUBTFUL - {Verdict.UNSUSTAINED} if _reached_set_rate(fast) else DOUBTFUL
    # Replays at recorded times are compared by their operations, whose times do not depend on when they were due.
    late = frozenset({Verdict.UNSUSTAINED}) if fast.operation == REPLAY else frozenset[Verdict]()
    kinds = ((fast, DOUBTFUL - late), (slow, slow_doubts - late))
    doubts = [f"{row.case.target} is {_named(row, kind)}" for row, kind in kinds if _named(row, kind)]
    bound = (pair.simultaneous_low if ahead else 1 / pair.simultaneous_high) / _possible_speedup(_in_turns(slow, alike))
    if bound <= 1:
        doubts.append(f"{slow.case.target} is {_named(slow, LOWER_BOUND)} and may be faster than measured")
    if doubts:
        return _open(pair, "; ".join(doubts))
    return PointDecision(
        axes=pair.axes,
        outcome=PointOutcome.FASTER,
        winner=fast.case.target,
        at_least=bound,
        ratio=pair.ratio if ahead else 1 / pair.ratio,
        why=f"{fast.case.target} is {_named(fast, LOWER_BOUND)}: it may be faster still"
        if _named(fast, LOWER_BOUND)
        else "",
        unverified=_unverified(base, other),
    )


def _possible_speedup(row: ResultRow) -> float:
    """Return how many times as fast a row may be in truth: 1 if nothing limited it, infinite if unknown."""
    found = [finding for finding in row.findings if finding.verdict in LOWER_BOUND]
    if row.verdict in LOWER_BOUND and not found:
        return math.inf
    return math.prod(_max_loss_factor(finding) for finding in found)


def _max_loss_factor(finding: Finding) -> float:
    """Return the greatest factor lost: an engine that waited for a share of the time did all its work in the rest."""
    if finding.rule == "contended":
        return finding.numbers.get("max_slowdown", math.inf)
    if finding.rule == "stopped_engine":
        lost = finding.numbers["away_share"]
    elif finding.rule == "starved_client":
        lost = finding.numbers["cpu_wait_share"] + finding.numbers["stolen_share"]
    else:
        return math.inf
    return 1 / (1 - lost) if lost < 1 else math.inf


def _equal(pair: Comparison, base: ResultRow, other: ResultRow) -> PointDecision:
    assert pair.simultaneous_low is not None and pair.simultaneous_high is not None
    both = LOWER_BOUND | DOUBTFUL
    doubts = [f"{row.case.target} is {_named(row, both)}" for row in (base, other) if _named(row, both)]
    if doubts:
        return _open(pair, "; ".join(doubts))
    most = max(1 - pair.simultaneous_low, 1 - 1 / pair.simultaneous_high)
    unverified = _unverified(base, other)
    return PointDecision(
        axes=pair.axes, outcome=PointOutcome.EQUAL, ratio=pair.ratio, within=most, unverified=unverified
    )


def _unverified(*rows: ResultRow) -> tuple[str, ...]:
    return tuple(row.case.target for row in rows if Verdict.UNVERIFIED in row.verdicts)


def _open(pair: Comparison, why: str, needs: int | None = None, too_few: bool = False) -> PointDecision:
    ratio = pair.ratio
    return PointDecision(axes=pair.axes, outcome=PointOutcome.OPEN, ratio=ratio, why=why, needs=needs, too_few=too_few)


def _unsettled(pair: Comparison, within: float, base: ResultRow, other: ResultRow) -> PointDecision:
    """Return an open point: noise hides the answer until the interval excludes 1 or lies in what counts as equal."""
    count = min(pair.n_base, pair.n_other)
    if pair.has_too_few or pair.simultaneous_low is None or pair.simultaneous_high is None:
        return _open(pair, "too few repeats", max(MIN_BEFORE_LOOK, count + 1), too_few=True)
    low, high = math.log(pair.simultaneous_low), math.log(pair.simultaneous_high)
    centre, reach = abs(low + high) / 2, (high - low) / 2
    room = max(centre, -math.log1p(-within) - centre)
    # So few repeats do not show how much they correlate; more of them will.
    allowed = variance_inflation(GREATEST, count) if (pair.autocorrelation or 0.0) >= GREATEST else 1.0
    needs = math.ceil(count * (reach / room) ** 2 / allowed)
    point = _open(pair, "the repeats do not show which one is faster", max(needs, count + 1))
    if any(_named(row, LOWER_BOUND | DOUBTFUL) for row in (base, other)):
        return point
    return point.model_copy(update={"low": pair.simultaneous_low, "high": pair.simultaneous_high})


def undecided_cases(decisions: Iterable[TargetDecision], cases: Iterable[Case]) -> dict[str, int]:
    """Return the cases with a point that more repeats may settle, and about how many repeats that takes.

    Args:
        decisions: Decisions of the run.
        cases: Cases of the run.

    Returns:
        Case id -> the fewest repeats expected to settle one of its points.
    """
    known = {(case.workload, case.target, tuple(sorted(case.axes.items()))): case.id for case in cases}
    found: dict[str, int] = {}
    for decision in decisions:
        for point in decision.points:
            if point.needs is not None:
                for target in (decision.base, decision.other):
                    case = known[decision.workload, target, tuple(sorted(point.axes.items()))]
                    found[case] = min(point.needs, found.get(case, point.needs))
    return found


def _named(row: ResultRow, kinds: frozenset[Verdict]) -> str:
    return " and ".join(str(verdict) for verdict in row.verdicts if verdict in kinds)
