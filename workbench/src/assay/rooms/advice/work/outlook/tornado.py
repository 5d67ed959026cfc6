"""The weight of each assumption: cost of the choice, and its distance to the next design, at both ends of the range."""

from decimal import Decimal

from assay.rooms.advice.model.need import Need
from assay.rooms.advice.model.sensitivity import Assumption, RangeEnd
from assay.rooms.advice.work.outlook.ranges import AssumptionRange, ChangedNeed, ranges
from assay.rooms.advice.work.outlook.reassess import Answer, Reassessment

MIN_CHANGE = Decimal("0.005")
"""Changes below half a cent do not count."""


def tornado(again: Reassessment) -> tuple[tuple[Assumption, ...], tuple[str, ...]]:
    """Return the assumptions that change something, the largest first, and the names of those that change nothing."""
    base = _end_of("", again, again.base_answer, again.need)
    assumptions = [_weigh(each, again, base) for each in ranges(again)]
    changing = [each for each in assumptions if each.size >= MIN_CHANGE or each.changes_choice]
    ordered = sorted(changing, key=lambda each: (-each.size, each.name))
    return tuple(ordered), tuple(each.name for each in assumptions if each not in changing)


def _end_of(value: str, again: Reassessment, found: Answer, need: Need) -> RangeEnd:
    """Return the costs and the choice of an answer; a variant above the budget is not chosen."""
    best = again.designs[0].name
    costs = {name: again.measure(item, need) for name, item in found.items()}
    others = [cost for name, cost in costs.items() if name != best and cost is not None]
    month = costs[best]
    within = {name: item for name, item in found.items() if again.is_affordable(item, need)}
    gap = min(others) - month if others and month is not None else None
    return RangeEnd(value=value, month=month, gap=gap, choice=again.chosen_design(within))


def _end(other: ChangedNeed | None, again: Reassessment) -> RangeEnd | None:
    return None if other is None else _end_of(other.text, again, other.answer(), other.need)


def _weigh(each: AssumptionRange, again: Reassessment, base: RangeEnd) -> Assumption:
    low, high = _end(each.low, again), _end(each.high, again)
    ends = [end for end in (low, high) if end is not None]
    changes = [
        abs(now - before)
        for end in ends
        for now, before in ((end.month, base.month), (end.gap, base.gap))
        if now is not None and before is not None
    ]
    if base.month is not None and any(end.month is None for end in ends):
        # An end that does not meet the need weighs at least as much as the whole cost.
        changes.append(base.month)
    return Assumption(
        name=each.name,
        value=each.value,
        low=low,
        high=high,
        size=max(changes, default=Decimal(0)),
        changes_choice=any(end.choice != base.choice for end in ends),
    )
