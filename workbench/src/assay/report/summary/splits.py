"""Splits a claim into parts in each of which at most one target is ahead."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from assay.model.result.decision import PointDecision, PointOutcome, TargetDecision
from assay.report import numbers
from assay.report.claims import ComparisonClaim

_FIRST = ("record_size", "object_size", "file_size", "queue_depth")
"""Axes that are tried first, since they explain most differences."""

DecidedPoint = tuple[TargetDecision, PointDecision]
NamePart = Callable[[DecidedPoint], str]


def split_claim(claim: ComparisonClaim) -> tuple[ComparisonClaim, ...]:
    """Split a claim into named parts; return it whole if one side is ahead everywhere or nothing splits it.

    A numeric axis splits it if one target is ahead up to a value and the other one from a greater value on. Operations,
    workloads and other axes split it if at each value at most one target is ahead.
    """
    if not (claim.points_won_by(claim.base) and claim.points_won_by(claim.other)):
        return (claim,)
    spots = [(decision, point) for decision in claim.decisions for point in decision.points]
    axes = [name for name in spots[0][1].axes if all(name in point.axes for _, point in spots)]
    for axis in sorted(axes, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST)):
        found = _by_number(claim, spots, axis)
        if found:
            return found
    named: list[NamePart] = [lambda spot: f"operation {numbers.operation_title(spot[0].operation).lower()}"]
    named.append(lambda spot: f"workload {spot[0].workload}")
    named += [_of_axis(axis) for axis in axes]
    return next((found for name in named if (found := _by_name(claim, spots, name))), (claim,))


def _of_axis(axis: str) -> NamePart:
    title = numbers.axis_title(axis).lower()
    return lambda spot: f"{title} {numbers.axis_value(axis, spot[1].axes[axis])}"


def _number(spot: DecidedPoint, axis: str) -> float | None:
    value = spot[1].axes[axis]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _by_number(claim: ComparisonClaim, spots: Sequence[DecidedPoint], axis: str) -> tuple[ComparisonClaim, ...]:
    """Split at values up to which one target is ahead and from which the other one is; between them is a third part."""
    values = [_number(spot, axis) for spot in spots]
    if any(value is None for value in values):
        return ()
    known = [(value, spot) for value, spot in zip(values, spots, strict=True) if value is not None]
    ahead = {
        target: [value for value, (_, point) in known if point.winner == target] for target in (claim.base, claim.other)
    }
    (first, second) = sorted(ahead.values(), key=min)
    low, high = max(first), min(second)
    if low >= high:
        return ()
    bands = (
        ([(value, spot) for value, spot in known if value <= low], "up to {}", low),
        ([(value, spot) for value, spot in known if low < value < high], "between", 0.0),
        ([(value, spot) for value, spot in known if value >= high], "from {} on", high),
    )
    return tuple(
        _part(claim, [spot for _, spot in found], _band(axis, found, how, end)) for found, how, end in bands if found
    )


def _band(axis: str, found: Sequence[tuple[float, DecidedPoint]], how: str, end: float) -> str:
    """Name a range of an axis: `record size up to 64 KiB`, or `record size 4 KiB` for a single value."""
    title = numbers.axis_title(axis).lower()
    texts = list(
        dict.fromkeys(numbers.axis_value(axis, spot[1].axes[axis]) for _, spot in sorted(found, key=lambda one: one[0]))
    )
    if len(texts) == 1 or how == "between":
        return f"{title} {numbers.listing(texts)}"
    text = next(numbers.axis_value(axis, spot[1].axes[axis]) for value, spot in found if value == end)
    return f"{title} {how.format(text)}"


def _by_name(claim: ComparisonClaim, spots: Sequence[DecidedPoint], name: NamePart) -> tuple[ComparisonClaim, ...]:
    """Split into one part for each name if in each at most one target is ahead; otherwise return nothing."""
    groups: dict[str, list[DecidedPoint]] = {}
    for spot in spots:
        groups.setdefault(name(spot), []).append(spot)
    winners = [
        {point.winner for _, point in found if point.outcome is PointOutcome.FASTER} for found in groups.values()
    ]
    if len(groups) < 2 or any(len(found) > 1 for found in winners):
        return ()
    return tuple(_part(claim, found, where) for where, found in groups.items())


def _part(claim: ComparisonClaim, spots: Sequence[DecidedPoint], where: str) -> ComparisonClaim:
    return replace(claim, decisions=tuple(_decisions_at(claim, spots)), part=where)


def _decisions_at(claim: ComparisonClaim, spots: Sequence[DecidedPoint]) -> Iterator[TargetDecision]:
    """Yield the decisions of a claim, reduced to these points."""
    wanted = {id(point) for _, point in spots}
    for decision in claim.decisions:
        points = tuple(point for point in decision.points if id(point) in wanted)
        if points:
            yield decision.model_copy(update={"points": points})
