"""What would change a choice of storage: cost over size, crossings, and the weight of each assumption."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from assay.model.money.amount import format_money
from assay.model.money.price import PriceBook
from assay.model.money.priced_designs import DesignEvidence
from assay.rooms.advice.model.advice import Advice
from assay.rooms.advice.model.sensitivity import Assumption, FixedDesign, RangeEnd, Sensitivity
from assay.rooms.advice.work.outlook.curves import capacity_curves, rate_curves, size_text
from assay.rooms.advice.work.outlook.reassess import Reassessment
from assay.rooms.advice.work.outlook.tornado import tornado

MAX_LISTED = 6
"""Most assumptions that are listed in words."""


def picture(
    advice: Advice,
    books: PriceBook | Sequence[PriceBook],
    evidence: Iterable[DesignEvidence] = (),
    base: Path | None = None,
) -> Sensitivity | None:
    """Return what would change the choice of an answer.

    The best designs, at most five, are sized and priced again; their chosen kinds stay fixed.

    Args:
        advice: The answer.
        books: As passed to `advise`.
        evidence: As passed to `advise`.
        base: As passed to `advise`.

    Returns:
        None if no option meets, or may meet, the need.
    """
    if not advice.options and not advice.unproven:
        return None
    again = Reassessment(advice, books, evidence, base)
    base_answer = again.base_answer
    best = again.designs[0].name
    costs = {name: cost for name, item in base_answer.items() if (cost := again.measure(item)) is not None}
    month = costs.pop(best)
    runner_up = min(costs, key=lambda name: costs[name], default=None)
    changing, idle = tornado(again)
    return Sensitivity(
        designs=tuple(
            FixedDesign(design=each.name, about=each.about, values=dict(each.fixed_values)) for each in again.designs
        ),
        measure=again.measure_text,
        month=month,
        gap=costs[runner_up] - month if runner_up is not None else None,
        runner_up=runner_up,
        capacity=capacity_curves(again),
        rate=rate_curves(again),
        tornado=changing,
        without_effect=idle,
    )


def change_texts(outlook: Sensitivity) -> Iterator[str]:
    """Yield what would change the choice: a line for each crossing and for the largest assumptions."""
    for curves in (outlook.capacity, outlook.rate):
        if curves is None:
            continue
        scale = curves.axis.replace("_iops", " operations")
        along = f" (with {' and '.join(curves.scaled_with)} in proportion)" if curves.scaled_with else ""
        for crossing in curves.crossings:
            yield f"{scale}{along}: {crossing.text}"
        if not curves.crossings:
            points = curves.curves[0].points
            ends = " to ".join(size_text(curves.axis, point.at) for point in (points[0], points[-1]))
            yield f"{scale}{along}: from {ends} {outlook.designs[0].design} stays the choice"
    for each in outlook.tornado[:MAX_LISTED]:
        yield assumption_text(each, outlook)


def assumption_text(each: Assumption, outlook: Sensitivity) -> str:
    """Return an assumption in words: `months: at 10 months 1,700.00, at 14 months 1,600.00, against 1,650.00 ...`."""
    ends = [end for end in (each.low, each.high) if end is not None]
    costs = ", ".join(f"at {end.value} {_cost(end)}" for end in ends)
    text = f"{each.name} ({each.value}): {costs}, against {format_money(outlook.month)} {outlook.measure} now"
    best = outlook.designs[0].design
    turned = [end for end in ends if end.choice != best]
    for end in turned if each.changes_choice else ():
        text += (
            f"; at {end.value} {f'{end.choice} would be the choice' if end.choice else 'no design would meet the need'}"
        )
    return text


def _cost(end: RangeEnd) -> str:
    return "it does not meet the need" if end.month is None else format_money(end.month)
