"""The answer in words: one sentence for each kind of work and pair of targets, from decisions and nothing else."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from assay.analyse.decide import MOST_NEEDED, TOO_FEW
from assay.model.result.decision import Outcome, PointDecision
from assay.model.units import about_duration
from assay.report import numbers
from assay.report.claims import Claim
from assay.report.document import Span, Strong, Text
from assay.report.first.splits import parts


def ranking(claims: Sequence[Claim]) -> tuple[str, ...]:
    """The targets of one kind of work, the fastest first, if each is faster than the next at every point that counts.

    Args:
        claims: One for each pair of three targets or more.

    Returns:
        Empty if they have no such order.
    """
    names = {name for claim in claims for name in (claim.base, claim.other)}
    if len(names) < 3 or len(claims) < len(names) * (len(names) - 1) // 2 or not all(claim.winner for claim in claims):
        return ()
    wins = Counter(claim.winner for claim in claims)
    order = sorted(names, key=lambda name: -wins[name])
    return tuple(order) if [wins[name] for name in order] == list(range(len(names) - 1, -1, -1)) else ()


def ranked(claims: Sequence[Claim], order: Sequence[str]) -> list[Span]:
    """`memory is the fastest, typically 5×, at least 3.6×, as fast as raid; raid is typically 3×, ...`."""
    spans: list[Span] = []
    for number, (fast, slow) in enumerate(pairwise(order)):
        mine = [claim for claim in claims if {claim.base, claim.other} == {fast, slow}]
        verb = "is the fastest," if number == 0 else "is"
        spans += ["; " if number else "", Strong(fast), f" {verb} ", *times(mine, fast), f", as fast as {slow}"]
    return spans


def headline(found: Sequence[Claim]) -> Text:
    """Who is faster wherever it counts, per pair of targets; what is left is for the sentences to say."""
    kinds: dict[str, list[Claim]] = {}
    for claim in found:
        kinds.setdefault(claim.kind, []).append(claim)
    orders: dict[tuple[str, ...], list[str]] = {}
    for kind, claims in kinds.items():
        if order := ranking(claims):
            orders.setdefault(order, []).append(kind)
    spans: list[Span] = []
    for order, names in orders.items():
        mine = [claim for claim in found if claim.kind in names]
        spans += [f"For {numbers.listing(names)} ", *ranked(mine, order), ". "]
    told = {kind for names in orders.values() for kind in names}
    return (*spans, *_pairs([claim for claim in found if claim.kind not in told]))


def _pairs(found: Sequence[Claim]) -> Text:
    """Pair by pair."""
    spans: list[Span] = []
    for base, other in dict.fromkeys((claim.base, claim.other) for claim in found):
        mine = [claim for claim in found if (claim.base, claim.other) == (base, other)]
        for target in (other, base):
            won = [claim for claim in mine if claim.winner == target]
            spans += _headline(target, won, len(mine)) if won else []
        for target in (other, base):
            spans += _partly(target, [claim for claim in mine if claim.leader == target and not claim.winner])
        spans += _rest(base, other, [claim for claim in mine if not claim.leader])
    return tuple(spans)


def _rest(base: str, other: str, left: Sequence[Claim]) -> list[Span]:
    """Kinds of work in which no one target is ahead, by what is known of them."""
    apart = [claim for claim in left if claim.won(base)]
    split = [claim for claim in apart if len(parts(claim)) > 1]
    mixed = [claim.kind for claim in apart if claim not in split]
    where = [claim.kind for claim in apart]
    equal = [claim.kind for claim in left if claim.counted and len(claim.of(Outcome.EQUAL)) == claim.counted]
    none = [claim.kind for claim in left if not claim.counted]
    unknown = [claim.kind for claim in left if claim.kind not in (*where, *equal, *none)]
    spans: list[Span] = [span for claim in split for span in _depends(claim)]
    if mixed:
        spans.append(f"For {numbers.listing(mixed)} {other} is faster at some points and {base} at others. ")
    if equal:
        spans.append(f"{base} and {other} are equal for {numbers.listing(equal)}. ")
    if unknown:
        spans.append(f"Which of {base} and {other} is faster for {numbers.listing(unknown)} is open. ")
    if none:
        spans.append(f"Of {numbers.listing(none)} nothing can be said. ")
    return spans


def _depends(claim: Claim) -> list[Span]:
    """Who is ahead in which part of it."""
    spans: list[Span] = [f"For {claim.kind} it depends: "]
    ahead = [(part, target) for part in parts(claim) for target in (part.base, part.other) if part.won(target)]
    for number, (part, target) in enumerate(ahead):
        spans += [", " if number else "", Strong(target), f" is faster with {part.where}"]
    return [*spans, ". "]


def _partly(target: str, ahead: Sequence[Claim]) -> list[Span]:
    """Where a target is faster at some points, and at no point slower."""
    if not ahead:
        return []
    won, counted = sum(len(claim.won(target)) for claim in ahead), sum(claim.counted for claim in ahead)
    places = f"{won:,} of {counted:,} points of {numbers.listing([claim.kind for claim in ahead])}"
    return [
        Strong(target),
        f" is faster than {ahead[0].loser(target)} at {places}: ",
        *times(ahead, target),
        "; at none slower. ",
    ]


def _headline(target: str, won: Sequence[Claim], kinds: int) -> list[Span]:
    """`memory is faster than disk for all 6 kinds of work: typically 9×, at least 1.2× (random read)`."""
    names = numbers.listing([claim.kind for claim in won])
    of = f"all {kinds} kinds of work" if len(won) == kinds > 2 else names
    least = min(won, key=lambda claim: claim.least(target))
    where = f" ({least.kind})" if len(won) > 1 else ""
    spans: list[Span] = [Strong(target), f" is faster than {won[0].loser(target)} for {of}: "]
    spans += times(won, target, where)
    left = sum(len(claim.of(Outcome.BARRED)) for claim in won)
    spans.append(f", apart from {numbers.plural(left, 'point')} without a number of both" if left else "")
    return [*spans, f"{_unverified([point for claim in won for point in claim.won(target)])}. "]


def sentences(found: Sequence[Claim]) -> list[Text]:
    """One for each, or for each of its parts; with several pairs of targets each names its own."""
    several = len({(claim.base, claim.other) for claim in found}) > 1
    return [sentence(part, several) for claim in found for part in parts(claim)]


def sentence(claim: Claim, several: bool = False) -> Text:
    """What the run says of it: who is faster, where, by how much at least, and what is left open.

    Args:
        claim: The claim.
        several: There are other pairs of targets.
    """
    of = f" of {claim.base} and {claim.other}" if several else ""
    return (f"{claim.label}{of}: ", *said(claim))


def said(claim: Claim) -> Text:
    """The sentence without its beginning."""
    if not claim.counted:
        return (f"nothing can be said, because {reasons(claim.of(Outcome.BARRED))}.",)
    told = [_won(claim, target) for target in (claim.other, claim.base) if claim.won(target)]
    equal = claim.of(Outcome.EQUAL)
    if equal:
        told.append([f"equal within {equal_within(equal)} at {_points(equal, claim)}{_unverified(equal)}"])
    left = claim.of(Outcome.OPEN)
    if left:
        told.append([f"open at {_points(left, claim)} ({reasons(left)}{_what_would_settle(claim)})"])
    spans: list[Span] = []
    for number, part in enumerate(told):
        spans += [*(["; "] if number else []), *part]
    barred = len(claim.of(Outcome.BARRED))
    return (
        *spans,
        f". {numbers.plural(barred, 'point')} left out ({reasons(claim.of(Outcome.BARRED))})." if barred else ".",
    )


def _won(claim: Claim, target: str) -> list[Span]:
    points = claim.won(target)
    return [
        Strong(target),
        f" is faster than {claim.loser(target)} at {_points(points, claim)}: ",
        *times([claim], target),
        _unverified(points),
    ]


def _unverified(points: Sequence[PointDecision]) -> str:
    """Whose numbers nobody can vouch for, to be said beside them: ` (disk is unverified)`; empty if there are none."""
    names = list(dict.fromkeys(name for point in points for name in point.unverified))
    return f" ({numbers.listing(names)} {'is' if len(names) == 1 else 'are'} unverified)" if names else ""


def times(claims: Sequence[Claim], target: str, where: str = "") -> list[Span]:
    """How many times as fast a target is: typically, and at least, such as `typically 3.1×, at least 1.4×`.

    Args:
        claims: In each of which it is faster somewhere.
        target: The target.
        where: Said of the least.
    """
    points = [point for claim in claims for point in claim.won(target)]
    typical = numbers.ratio(median(point.ratio for point in points))
    least = min(claim.least(target) for claim in claims)
    return [f"{'typically ' if len(points) > 1 else ''}", Strong(typical), ", at least ", Strong(bound(least)), where]


def bound(value: float) -> str:
    """A bound as it is written: `1.36×`, and `1.004×` where fewer digits would be none."""
    near = math.floor(value * 1e4 * (1 + 1e-12)) / 1e4
    return numbers.ratio(floored(value)) if value >= 1.01 else f"{near:g}×" if near > 1 else "more than 1×"


def floored(value: float) -> float:
    """A bound rounded towards less, so that a bound stays one when it is written with few digits."""
    step = 10.0 ** (math.floor(math.log10(value)) - (1 if value >= 2 else 2))
    return math.floor(value / step * (1 + 1e-12)) * step


def equal_within(points: Sequence[PointDecision]) -> str:
    """The greatest share by which points that are equal may differ, rounded towards more: `4.9 %`."""
    share = max(point.within or 0.0 for point in points)
    return f"{math.ceil(share * 1000 * (1 - 1e-12)) / 10:g} %"


def _points(points: Sequence[PointDecision], claim: Claim) -> str:
    """`all 12 points`, `both points`, `the only point`, `3 of 12 points`; of a few, which: `1 of 12 points, 4 KiB`."""
    if claim.counted == 1:
        return "the only point"
    if len(points) == claim.counted:
        return f"all {len(points):,} points" if len(points) > 2 else "both points"
    named = f", {numbers.listing(_names(points, claim))}" if len(points) <= _FEW else ""
    return f"{len(points):,} of {claim.counted:,} points{named}"


_FEW = 2
"""So many points are named, not only counted."""


def _names(points: Sequence[PointDecision], claim: Claim) -> list[str]:
    """Each of the points by what varies within the claim."""
    spots = [(decision, point) for decision in claim.decisions for point in decision.points]
    axes = list(dict.fromkeys(name for _, point in spots for name in point.axes))
    varied = [name for name in axes if len({str(point.axes.get(name)) for _, point in spots}) > 1]
    operations = {decision.operation for decision, _ in spots}
    workloads = {decision.workload for decision, _ in spots}
    wanted = {id(point) for point in points}
    found = []
    for decision, point in spots:
        if id(point) in wanted:
            words = [numbers.operation_title(decision.operation).lower()] if len(operations) > 1 else []
            words += [f"workload {decision.workload}"] if len(workloads) > 1 else []
            words += [
                f"{numbers.axis_title(name).lower()} {numbers.axis_value(name, point.axes[name])}"
                for name in varied
                if name in point.axes
            ]
            found.append(" / ".join(words))
    return found


def _what_would_settle(claim: Claim) -> str:
    """How many repeats, and how much time, more would likely be enough for what is open."""
    counts: list[int] = []
    seconds: dict[object, float] = {}
    for decision in claim.decisions:
        for point in decision.of(Outcome.OPEN):
            if point.needs is not None:
                counts.append(point.needs)
                # A repeat of a case has all of its operations.
                key = decision.workload, tuple(point.axes.items())
                if point.needs <= MOST_NEEDED:
                    seconds[key] = max(seconds.get(key, 0.0), point.seconds or 0.0)
    near = [count for count in counts if count <= MOST_NEEDED]
    if all(point.why == TOO_FEW for point in claim.of(Outcome.OPEN)):
        return f"; {max(near):,} are the least that can show it" if near else ""
    if not near:
        return f"; it would take more than {MOST_NEEDED:,} repeats" if counts else ""
    which = "" if len(near) == len(claim.of(Outcome.OPEN)) else f" for {len(near):,} of them"
    time = f", some {about_duration(sum(seconds.values()))} more," if sum(seconds.values()) else ""
    return f"; about {max(near):,} repeats{time} would likely tell{which}"


def reasons(points: Sequence[PointDecision]) -> str:
    """The commonest reasons."""
    counts = Counter(point.why for point in points if point.why)
    words = [why if len(counts) == 1 else f"{why}: {count:,}" for why, count in counts.most_common(2)]
    rest = len(counts) - len(words)
    return "; ".join([*words, *([f"{rest:,} other reasons"] if rest > 0 else [])])
