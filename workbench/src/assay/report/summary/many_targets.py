"""The answer in words for many targets: which are the fastest in each kind of work, instead of each pair."""

from collections.abc import Iterator, Sequence

from assay.model.result.decision import PointOutcome
from assay.report import numbers
from assay.report.claims import ComparisonClaim
from assay.report.document import Span, Strong

MAX_PAIRS = 10
"""Most pairs of targets with a sentence of their own: those of five targets."""
_MAX_NAMED = 4


def has_many_pairs(found: Sequence[ComparisonClaim]) -> bool:
    """Return whether there are more pairs of targets than a reader wants sentences on."""
    return len({frozenset((claim.base, claim.other)) for claim in found}) > MAX_PAIRS


def fastest_targets(found: Sequence[ComparisonClaim]) -> Iterator[Span]:
    """Yield sentences on the targets that no other one is faster than at any point, for kinds of work alike at once."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for kind in dict.fromkeys(claim.kind for claim in found):
        claims = [claim for claim in found if claim.kind == kind and claim.counted_points]
        if claims:
            alike.setdefault(_unbeaten(claims), []).append(kind)
    for names, kinds in alike.items():
        yield from _sentence(names, kinds, [claim for claim in found if claim.kind in kinds])
    points = [point for claim in found for point in claim.points if point.outcome is not PointOutcome.BARRED]
    decided = sum(point.outcome is not PointOutcome.OPEN for point in points)
    yield f"{decided:,} of {numbers.plural(len(points), 'comparison')} of two targets are decided. "


def _unbeaten(claims: Sequence[ComparisonClaim]) -> tuple[str, ...]:
    """Return the targets than which no other one is faster at any point."""
    names = dict.fromkeys(name for claim in claims for name in (claim.base, claim.other))
    beaten = {
        name for claim in claims for name in (claim.base, claim.other) if claim.points_won_by(claim.opponent_of(name))
    }
    return tuple(name for name in names if name not in beaten)


def _sentence(names: Sequence[str], kinds: Sequence[str], claims: Sequence[ComparisonClaim]) -> Iterator[Span]:
    where = f"For {numbers.listing(list(kinds))} "
    if not names:
        yield f"{where}each target is slower than another one somewhere. "
        return
    if len(names) > _MAX_NAMED:
        shown = numbers.listing(list(names[:_MAX_NAMED]))
        yield f"{where}no target is faster than any of {len(names)}, such as {shown}. "
        return
    yield f"{where}no target is faster than "
    for place, name in enumerate(names):
        yield " or " if place and place == len(names) - 1 else ", " if place else ""
        yield Strong(name)
    if len(names) == 1:
        won = {claim.opponent_of(names[0]) for claim in claims if claim.winner == names[0]}
        every = {claim.opponent_of(names[0]) for claim in claims if names[0] in (claim.base, claim.other)}
        won -= {
            claim.opponent_of(names[0])
            for claim in claims
            if names[0] in (claim.base, claim.other) and claim.winner != names[0]
        }
        yield f", which is faster than {len(won)} of {len(every)} others throughout"
    yield ". "
