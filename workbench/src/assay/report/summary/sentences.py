"""The answer in words: one sentence for each kind of work and pair of targets, from decisions alone."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from assay.analyse.decide import MAX_NEEDED
from assay.model.result.decision import PointDecision, PointOutcome
from assay.model.units import about_duration
from assay.report import numbers
from assay.report.claims import ComparisonClaim
from assay.report.document import Span, Strong, Text, plain_text
from assay.report.summary.many_targets import fastest_targets, has_many_pairs
from assay.report.summary.splits import split_claim


def target_order(claims: Sequence[ComparisonClaim]) -> tuple[str, ...]:
    """Order the targets of one kind of work, the fastest first, if each is faster than the next at every counted point.

    Args:
        claims: One for each pair of three targets or more.

    Returns:
        The names in order; empty if there is no such order.
    """
    names = {name for claim in claims for name in (claim.base, claim.other)}
    if len(names) < 3 or len(claims) < len(names) * (len(names) - 1) // 2 or not all(claim.winner for claim in claims):
        return ()
    wins = Counter(claim.winner for claim in claims)
    order = sorted(names, key=lambda name: -wins[name])
    return tuple(order) if [wins[name] for name in order] == list(range(len(names) - 1, -1, -1)) else ()


def order_sentence(claims: Sequence[ComparisonClaim], order: Sequence[str]) -> list[Span]:
    """Return the order in words: `memory is the fastest, typically 5×, at least 3.6×, as fast as raid; raid is ...`."""
    spans: list[Span] = []
    for number, (fast, slow) in enumerate(pairwise(order)):
        mine = [claim for claim in claims if {claim.base, claim.other} == {fast, slow}]
        verb = "is the fastest," if number == 0 else "is"
        spans += ["; " if number else "", Strong(fast), f" {verb} ", *ratio_words(mine, fast), f", as fast as {slow}"]
    return spans


def order_cell(claims: Sequence[ComparisonClaim], order: Sequence[str]) -> str:
    """Return the order as a table cell: `memory > raid 4.2× (at least 3.9×) > disk 2.3× (at least 2.1×)`."""
    text = order[0]
    for fast, slow in pairwise(order):
        mine = [claim for claim in claims if {claim.base, claim.other} == {fast, slow}]
        points = [point for claim in mine for point in claim.points_won_by(fast)]
        least = lower_bound_text(min(claim.min_ratio(fast) for claim in mine))
        text += f" > {slow} {numbers.ratio(median(point.ratio for point in points))} (at least {least})"
    return text


def headline(found: Sequence[ComparisonClaim]) -> Text:
    """Return the answer in a few sentences: which target is faster in which kinds of work, by pairs if they are few."""
    if has_many_pairs(found):
        return (*fastest_targets(found), *_not_compared([claim for claim in found if not claim.counted_points]))
    kinds: dict[str, list[ComparisonClaim]] = {}
    for claim in found:
        kinds.setdefault(claim.kind, []).append(claim)
    orders: dict[tuple[str, ...], list[str]] = {}
    for kind, claims in kinds.items():
        if order := target_order(claims):
            orders.setdefault(order, []).append(kind)
    spans: list[Span] = []
    for order, names in orders.items():
        mine = [claim for claim in found if claim.kind in names]
        spans += [f"For {numbers.listing(names)} ", *order_sentence(mine, order), ". "]
    ranked_kinds = {kind for names in orders.values() for kind in names}
    return (*spans, *_pairs([claim for claim in found if claim.kind not in ranked_kinds]))


def _pairs(found: Sequence[ComparisonClaim]) -> Text:
    """Return the sentences of each pair of targets."""
    spans: list[Span] = []
    for base, other in dict.fromkeys((claim.base, claim.other) for claim in found):
        mine = [claim for claim in found if (claim.base, claim.other) == (base, other)]
        for target in (other, base):
            won = [claim for claim in mine if claim.winner == target]
            spans += _headline(target, won, len(mine)) if won else []
        for target in (other, base):
            spans += _partly(target, [claim for claim in mine if claim.leader == target and not claim.winner])
        spans += _rest(base, other, [claim for claim in mine if claim.counted_points and not claim.leader])
    return (*spans, *_not_compared([claim for claim in found if not claim.counted_points]))


def _not_compared(claims: Sequence[ComparisonClaim]) -> list[Span]:
    """Return sentences on pairs of targets that cannot be compared: one for all with the same work and reason."""
    pairs: dict[tuple[str, str], list[ComparisonClaim]] = {}
    for claim in claims:
        pairs.setdefault((claim.base, claim.other), []).append(claim)
    alike: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for pair, mine in pairs.items():
        why = frequent_reasons([point for claim in mine for point in claim.points])
        alike.setdefault((numbers.listing([claim.kind for claim in mine]), why), []).append(pair)
    return [f"{_pairs_named(same)} cannot be compared for {kinds}: {why}. " for (kinds, why), same in alike.items()]


def _pairs_named(pairs: Sequence[tuple[str, str]]) -> str:
    """Return pairs of targets in words: all of them if they are few."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    if len(pairs) == 1 or len({frozenset(pair) for pair in pairs}) == len(names) * (len(names) - 1) // 2:
        return numbers.listing(names)
    return f"{len(pairs)} pairs of targets, such as {numbers.listing(list(pairs[0]))},"


def pairs_cell(claims: Sequence[ComparisonClaim]) -> str:
    """Return claims on several pairs of targets as one table cell, each reason against a comparison once."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for claim in claims:
        alike.setdefault(claim_cell(claim), []).append((claim.base, claim.other))
    return "; ".join(
        f"{f'{same[0][0]} or {same[0][1]}' if len(same) == 1 else _pairs_named(same).rstrip(',')}: {cell}"
        for cell, same in alike.items()
    )


def _rest(base: str, other: str, claims: Sequence[ComparisonClaim]) -> list[Span]:
    """Return sentences on kinds of work in which neither target is ahead: split, equal or undecided."""
    contested = [claim for claim in claims if claim.points_won_by(base)]
    split = [claim for claim in contested if len(split_claim(claim)) > 1]
    mixed = [claim.kind for claim in contested if claim not in split]
    where = [claim.kind for claim in contested]
    equal = [
        claim.kind
        for claim in claims
        if claim.counted_points and len(claim.points_with(PointOutcome.EQUAL)) == claim.counted_points
    ]
    unknown = [claim.kind for claim in claims if claim.kind not in (*where, *equal)]
    spans: list[Span] = [span for same in _alike(split) for span in _depends(same)]
    if mixed:
        spans.append(f"For {numbers.listing(mixed)} {other} is faster in some cases and {base} in others. ")
    if equal:
        points = [point for claim in claims if claim.kind in equal for point in claim.points_with(PointOutcome.EQUAL)]
        spans.append(f"{base} and {other} are equal within {equal_within(points)} for {numbers.listing(equal)}. ")
    if unknown:
        spans.append(_undecided(base, other, [claim for claim in claims if claim.kind in unknown]))
    return spans


def _undecided(base: str, other: str, claims: Sequence[ComparisonClaim]) -> str:
    """Return a sentence such as `No clear difference between a and b for sequential read: any difference is ...`."""
    kinds = numbers.listing([claim.kind for claim in claims])
    most = greatest_ratio([point for claim in claims for point in claim.points_with(PointOutcome.OPEN)])
    if most is None:
        return f"Which of {base} and {other} is faster for {kinds} is undecided. "
    if most >= _TWICE:
        return f"Which of {base} and {other} is faster for {kinds} is undecided: {difference_bound(most)}. "
    return f"No clear difference between {base} and {other} for {kinds}: {difference_bound(most)}. "


def greatest_ratio(points: Sequence[PointDecision]) -> float | None:
    """Return the greatest ratio by which either target may be faster at these points; None if unknown."""
    ends = [(point.low, point.high) for point in points]
    if not ends or any(low is None or high is None or low <= 0 for low, high in ends):
        return None
    return max(max(1 / low, high) for low, high in ends if low and high)


_TWICE = 2.0
"""Below this ratio, a bound of a difference is given in percent."""
_NOISE = 10.0
"""Above this ratio, a bound of a difference is of no use and is not printed."""


def difference_bound(most: float) -> str:
    """Return a bound of a difference in words: in percent, or as a ratio from 2 on."""
    if most < _TWICE:
        return f"any difference is smaller than {math.ceil(100 * (most - 1) * (1 - 1e-12)):,} %"
    if most > _NOISE:
        return "the repeats vary too much"
    step = 10.0 ** (math.floor(math.log10(most)) - 1)
    return f"either may be up to {numbers.ratio(math.ceil(most / step * (1 - 1e-12)) * step)} as fast as the other"


def _alike(split: Sequence[ComparisonClaim]) -> list[list[ComparisonClaim]]:
    """Group claims in which the lead changes at the same values."""
    groups: dict[tuple[tuple[str, str], ...], list[ComparisonClaim]] = {}
    for claim in split:
        groups.setdefault(_ahead(claim), []).append(claim)
    return list(groups.values())


def _ahead(claim: ComparisonClaim) -> tuple[tuple[str, str], ...]:
    """Return which target is ahead in which part of the claim."""
    return tuple(
        (target, part.part)
        for part in split_claim(claim)
        for target in (part.base, part.other)
        if part.points_won_by(target)
    )


def _depends(same: Sequence[ComparisonClaim]) -> list[Span]:
    """Return a sentence on which target is ahead in which part; these claims all have the same parts."""
    spans: list[Span] = [f"For {numbers.listing([claim.kind for claim in same])} it depends: "]
    for number, (target, where) in enumerate(_ahead(same[0])):
        spans += [", " if number else "", Strong(target), f" is faster with {where}"]
    return [*spans, ". "]


def _partly(target: str, ahead: Sequence[ComparisonClaim]) -> list[Span]:
    """Return a sentence on kinds of work in which a target is faster at some points and slower at none."""
    if not ahead:
        return []
    won, counted = (
        sum(len(claim.points_won_by(target)) for claim in ahead),
        sum(claim.counted_points for claim in ahead),
    )
    kinds = numbers.listing([claim.kind for claim in ahead])
    places = f"{won:,} of {counted:,} comparisons of {kinds}"
    return [
        Strong(target),
        f" is faster than {ahead[0].opponent_of(target)} in {places}: ",
        *ratio_words(ahead, target),
        f"; the other {counted - won:,} {'is' if counted - won == 1 else 'are'} {_others(ahead)}. ",
    ]


def _others(ahead: Sequence[ComparisonClaim]) -> str:
    """Return in words how the points end at which no target is faster."""
    equal = any(claim.points_with(PointOutcome.EQUAL) for claim in ahead)
    undecided = any(claim.points_with(PointOutcome.OPEN) for claim in ahead)
    return "equal or undecided" if equal and undecided else "equal" if equal else "undecided"


def _headline(target: str, won: Sequence[ComparisonClaim], kinds: int) -> list[Span]:
    """Return `memory is faster than disk for all 6 kinds of work: typically 9×, at least 1.2× (random read)`."""
    names = numbers.listing([claim.kind for claim in won])
    of = f"all {kinds} kinds of work" if len(won) == kinds > 2 else names
    least = min(won, key=lambda claim: claim.min_ratio(target))
    where = f" ({least.kind})" if len(won) > 1 else ""
    spans: list[Span] = [Strong(target), f" is faster than {won[0].opponent_of(target)} for {of}: "]
    spans += [*ratio_words(won, target, where), f"; {by_size}" if (by_size := _by_size(won, target)) else ""]
    barred = sum(len(claim.points_with(PointOutcome.BARRED)) for claim in won)
    every = sum(len(claim.points) for claim in won)
    spans.append(f" ({barred:,} of {every:,} comparisons could not be made)" if barred else "")
    return [*spans, f"{_unverified([point for claim in won for point in claim.points_won_by(target)])}. "]


def claim_sentences(found: Sequence[ComparisonClaim]) -> list[Text]:
    """Return a sentence for each claim or part of one; it names the pair of targets if there are several pairs."""
    several = len({(claim.base, claim.other) for claim in found}) > 1
    return [claim_sentence(part, several) for claim in found for part in split_claim(claim)]


def claim_sentence(claim: ComparisonClaim, several: bool = False) -> Text:
    """Return a claim as a sentence: which target is faster, where, by how much at least, and what is undecided.

    Args:
        claim: The claim.
        several: The run has other pairs of targets, too, so that the sentence names this one.
    """
    pair = f" of {claim.base} and {claim.other}" if several else ""
    return (f"{claim.label}{pair}: ", *claim_predicate(claim))


def claim_predicate(claim: ComparisonClaim) -> Text:
    """Return the sentence on a claim without its beginning."""
    if not claim.counted_points:
        return (f"cannot be compared: {frequent_reasons(claim.points_with(PointOutcome.BARRED))}.",)
    clauses = [_won(claim, target) for target in (claim.other, claim.base) if claim.points_won_by(target)]
    equal = claim.points_with(PointOutcome.EQUAL)
    if equal:
        clauses.append([f"equal within {equal_within(equal)}{_points(equal, claim)}{_unverified(equal)}"])
    undecided = claim.points_with(PointOutcome.OPEN)
    if undecided:
        clauses.append([f"undecided{_points(undecided, claim)} ({_why_open(undecided)}{_what_would_settle(claim)})"])
    spans: list[Span] = []
    for number, clause in enumerate(clauses):
        spans += [*(["; "] if number else []), *clause]
    barred = len(claim.points_with(PointOutcome.BARRED))
    return (
        *spans,
        f". {_not_made(barred)} ({frequent_reasons(claim.points_with(PointOutcome.BARRED))})." if barred else ".",
    )


def _won(claim: ComparisonClaim, target: str) -> list[Span]:
    points = claim.points_won_by(target)
    return [
        Strong(target),
        f" is faster than {claim.opponent_of(target)}{_points(points, claim)}: ",
        *ratio_words([claim], target),
        _unverified(points),
    ]


def _unverified(points: Sequence[PointDecision]) -> str:
    """Return a remark on unverified targets: ` (disk is unverified)`; empty if there are none."""
    names = list(dict.fromkeys(name for point in points for name in point.unverified))
    return f" ({numbers.listing(names)} {'is' if len(names) == 1 else 'are'} unverified)" if names else ""


def ratio_words(claims: Sequence[ComparisonClaim], target: str, where: str = "") -> list[Span]:
    """Return how many times as fast a target is: `typically 3.1×, at least 1.4×`.

    Args:
        claims: Claims in each of which the target is faster at some point.
        target: The target.
        where: A remark after the lower bound.
    """
    points = [point for claim in claims for point in claim.points_won_by(target)]
    typical = numbers.ratio(median(point.ratio for point in points))
    least = min(claim.min_ratio(target) for claim in claims)
    return [
        f"{'typically ' if len(points) > 1 else ''}",
        Strong(typical),
        ", at least ",
        Strong(lower_bound_text(least)),
        where,
    ]


_EXPLAINS = 2.0
"""A ratio that differs by this factor between the ends of an axis is worth a remark."""


def _by_size(claims: Sequence[ComparisonClaim], target: str) -> str:
    """Return how the ratio changes with the size of a transfer: `18× at 4 KiB, 1.6× at 1 MiB`; empty if it does not."""
    points = [point for claim in claims for point in claim.points_won_by(target)]
    for axis in ("record_size", "object_size"):
        sizes: dict[float, list[float]] = {}
        for point in points:
            value = point.axes.get(axis)
            if isinstance(value, int | float):
                sizes.setdefault(value, []).append(point.ratio)
        if len(sizes) > 1:
            ends = [(size, median(sizes[size])) for size in (min(sizes), max(sizes))]
            if max(ends[0][1] / ends[1][1], ends[1][1] / ends[0][1]) >= _EXPLAINS:
                return ", ".join(f"{numbers.ratio(ratio)} at {numbers.axis_value(axis, size)}" for size, ratio in ends)
    return ""


def lower_bound_text(value: float) -> str:
    """Return a lower bound in words: `1.36×`, and `1.004×` where fewer digits would give `1×`."""
    near = math.floor(value * 1e4 * (1 + 1e-12)) / 1e4
    return numbers.ratio(rounded_down(value)) if value >= 1.01 else f"{near:g}×" if near > 1 else "more than 1×"


def rounded_down(value: float) -> float:
    """Return a lower bound rounded down to a few digits, so that it stays a lower bound."""
    step = 10.0 ** (math.floor(math.log10(value)) - (1 if value >= 2 else 2))
    return math.floor(value / step * (1 + 1e-12)) * step


def equal_within(points: Sequence[PointDecision]) -> str:
    """Return the greatest share by which equal points may differ, rounded up: `4.9 %`."""
    share = max(point.within or 0.0 for point in points)
    return f"{math.ceil(share * 1000 * (1 - 1e-12)) / 10:g} %"


def claim_cell(claim: ComparisonClaim) -> str:
    """Return a claim as a table cell: `memory faster: typically 7.4×, at least 1.02×`."""
    if not claim.counted_points:
        return f"not compared: {frequent_reasons(claim.points_with(PointOutcome.BARRED))}"
    found = []
    for target in (claim.other, claim.base):
        if points := claim.points_won_by(target):
            of = "" if len(points) == claim.counted_points else f" in {len(points):,} of {claim.counted_points:,}"
            gain = f" ({by_size})" if (by_size := _by_size([claim], target)) else ""
            found.append(
                f"{target} faster{of}: {plain_text(tuple(ratio_words([claim], target)))}{gain}{_unverified(points)}"
            )
    if equal := claim.points_with(PointOutcome.EQUAL):
        of = "" if len(equal) == claim.counted_points else f" in {len(equal):,}"
        found.append(f"equal{of} within {equal_within(equal)}{_unverified(equal)}")
    if undecided := claim.points_with(PointOutcome.OPEN):
        of = "" if len(undecided) == claim.counted_points else f" in {len(undecided):,}"
        found.append(f"undecided{of}: {_why_open(undecided)}")
    barred = len(claim.points_with(PointOutcome.BARRED))
    return "; ".join([*found, *([f"{barred:,} not compared"] if barred else [])])


def _why_open(points: Sequence[PointDecision]) -> str:
    """Return how great a difference may be at undecided points, or why that is not known."""
    most = greatest_ratio(points)
    return frequent_reasons(points) if most is None else difference_bound(most)


def _not_made(count: int) -> str:
    return f"{numbers.plural(count, 'comparison')} could not be made"


def _points(points: Sequence[PointDecision], claim: ComparisonClaim) -> str:
    """Return where points are: ` at all 12 combinations`, ` at 1 of 12 record sizes, 4 KiB`; empty for one point."""
    if claim.counted_points == 1:
        return ""
    what = _noun(claim)
    if len(points) == claim.counted_points:
        return f" at all {len(points):,} {what}" if len(points) > 2 else f" at both {what}"
    named = f", {numbers.listing(_names(points, claim))}" if len(points) <= _FEW else ""
    return f" at {len(points):,} of {claim.counted_points:,} {what}{named}"


_PLURALS = {"record_size": "record sizes", "object_size": "object sizes", "file_size": "file sizes"}


def _noun(claim: ComparisonClaim) -> str:
    """Return the noun for a claim's points: `record sizes` if only these vary, `size combinations`, `combinations`."""
    varied = set(_varied(claim))
    if len(varied) == 1 and len({(one.workload, one.operation) for one in claim.decisions}) == 1:
        return _PLURALS.get(varied.pop(), "settings")
    return "size combinations" if varied and varied <= set(_PLURALS) else "combinations"


def _varied(claim: ComparisonClaim) -> list[str]:
    """Return the axes that have several values within a claim."""
    axes = list(dict.fromkeys(name for point in claim.points for name in point.axes))
    return [name for name in axes if len({str(point.axes.get(name)) for point in claim.points}) > 1]


_FEW = 2
"""Up to this number, points are named, not only counted."""


def _names(points: Sequence[PointDecision], claim: ComparisonClaim) -> list[str]:
    """Name each point by the operation, workload and axes that vary within the claim."""
    spots = [(decision, point) for decision in claim.decisions for point in decision.points]
    varied = _varied(claim)
    operations = {decision.operation for decision, _ in spots}
    workloads = {decision.workload for decision, _ in spots}
    wanted = {id(point) for point in points}
    found = []
    for decision, point in spots:
        if id(point) in wanted:
            names = [numbers.operation_title(decision.operation).lower()] if len(operations) > 1 else []
            names += [f"workload {decision.workload}"] if len(workloads) > 1 else []
            names += [
                f"{numbers.axis_title(name).lower()} {numbers.axis_value(name, point.axes[name])}"
                for name in varied
                if name in point.axes
            ]
            found.append(" / ".join(names))
    return found


def _what_would_settle(claim: ComparisonClaim) -> str:
    """Return how many repeats in all, and how much more time, would likely decide the open points."""
    counts: list[int] = []
    seconds: dict[object, float] = {}
    for decision in claim.decisions:
        for point in decision.points_with(PointOutcome.OPEN):
            if point.needs is not None:
                counts.append(point.needs)
                # A repeat of a case has all of its operations.
                key = decision.workload, tuple(point.axes.items())
                if point.needs <= MAX_NEEDED:
                    seconds[key] = max(seconds.get(key, 0.0), point.seconds or 0.0)
    near = [count for count in counts if count <= MAX_NEEDED]
    if all(point.too_few for point in claim.points_with(PointOutcome.OPEN)):
        return f"; {max(near):,} repeats are the minimum that can show a difference" if near else ""
    if not near:
        return f"; it would take more than {MAX_NEEDED:,} repeats" if counts else ""
    which = "" if len(near) == len(claim.points_with(PointOutcome.OPEN)) else f" for {len(near):,} of them"
    time = f", about {about_duration(sum(seconds.values()))} more," if sum(seconds.values()) else ""
    return f"; about {max(near):,} repeats{time} would likely decide it{which}"


def frequent_reasons(points: Sequence[PointDecision]) -> str:
    """Return the most frequent reasons of these points."""
    counts = Counter(point.why for point in points if point.why)
    shown = [why if len(counts) == 1 else f"{why} ({count:,})" for why, count in counts.most_common(2)]
    rest = len(counts) - len(shown)
    return "; ".join([*shown, *([numbers.plural(rest, "other reason", "other reasons")] if rest > 0 else [])])
