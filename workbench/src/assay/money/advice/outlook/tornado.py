"""What each assumption of an answer weighs: the cost of the choice, and its distance to the next one, at both ends."""

from decimal import Decimal

from assay.model.money.advice_picture import Assumption, End
from assay.model.money.need import Need
from assay.money.advice.outlook.again import Again, Answer
from assay.money.advice.outlook.ranges import Other, Range, ranges

LEAST = Decimal("0.005")
"""Less than half a cent is no change."""


def tornado(again: Again) -> tuple[tuple[Assumption, ...], tuple[str, ...]]:
    """Assumptions that change something, the largest first, and the names of those that change nothing."""
    base = _answer("", again, again.here, again.need)
    found = [_weighed(each, again, base) for each in ranges(again)]
    moving = [each for each in found if each.size >= LEAST or each.turns]
    ordered = sorted(moving, key=lambda each: (-each.size, each.name))
    return tuple(ordered), tuple(each.name for each in found if each not in moving)


def _answer(value: str, again: Again, found: Answer, need: Need) -> End:
    """What would be answered; what is above the budget is not chosen."""
    best = again.designs[0].name
    costs = {name: again.measure(item, need) for name, item in found.items()}
    others = [cost for name, cost in costs.items() if name != best and cost is not None]
    month = costs[best]
    within = {name: item for name, item in found.items() if again.affords(item, need)}
    gap = min(others) - month if others and month is not None else None
    return End(value=value, month=month, gap=gap, choice=again.first(within, need))


def _end(other: Other | None, again: Again) -> End | None:
    return None if other is None else _answer(other.words, again, other.answer(), other.need)


def _weighed(each: Range, again: Again, base: End) -> Assumption:
    low, high = _end(each.low, again), _end(each.high, again)
    there = [end for end in (low, high) if end is not None]
    changes = [
        abs(now - before)
        for end in there
        for now, before in ((end.month, base.month), (end.gap, base.gap))
        if now is not None and before is not None
    ]
    if base.month is not None and any(end.month is None for end in there):
        # What does not meet the need at all weighs at least as much as all that is paid.
        changes.append(base.month)
    return Assumption(
        name=each.name,
        value=each.value,
        low=low,
        high=high,
        size=max(changes, default=Decimal(0)),
        turns=any(end.choice != base.choice for end in there),
    )
