"""What a claim compares with what: two targets, two operations, two values of an axis."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from assay.rooms.paper.work.claims.claim_words import Claim
from assay.rooms.paper.work.claims.facts import FactIndex
from assay.rooms.paper.work.claims.mentions import OPERATION, TARGET, Mention, by_dimension
from assay.rooms.paper.work.claims.quantities import Quantity
from assay.rooms.paper.work.claims.reading import Reading, cells_of
from assay.rooms.paper.work.claims.trends import AXIS, trend_keys

_OBJECT_SOON = re.compile(
    r"(?:\s(?:of|by(?! (?:about|at|an? |more|less|roughly|nearly|almost|up|only|some|[0-9]|one|two)))|"
    r"(?:\s[\w-]+){0,4}? as) (?=\S)"
)
_OBJECT = re.compile(
    (
        r"\b(?:than|compared (?:with|to)|in comparison (?:with|to)|versus|vs\.?|relative to|against|over|"
        r"as opposed to|unlike|that of|those of)\b"
    ),
    re.IGNORECASE,
)


_OTHERS = re.compile(r"\b(?:the|all|any|both) (?:\w+ )?(?:others?|rest|remaining)\b", re.IGNORECASE)
NEXT_BEST = re.compile(
    r"\b(?:next|second)[ -](?:best|fastest|highest)|\brunner-up\b|\bclosest (?:rival|competitor)", re.I
)
"""Words for the best of all others."""
Sides = tuple[list[Mention], list[Mention], frozenset[str]]


def sides_of(reading: Reading, clause: tuple[int, int], claim: Claim, facts: FactIndex) -> Sides | None:
    """Return what is compared with what, each with all that applies to it, and in which properties they differ.

    None if the sentence does not say what is compared.
    """
    own = reading.within(*clause)
    marker = _object_at(reading.sentence, clause, claim)
    if marker is None or NEXT_BEST.search(reading.sentence, claim.start, clause[1]):
        return _implied_sides(reading, clause, claim, own, facts)
    start, end = marker
    if start < claim.start:
        stop = reading.sentence.find(",", end, clause[1])
        stop = stop if stop >= 0 else claim.start
        second = [item for item in own if end <= item.start < stop]
        first = [item for item in own if item not in second]
    else:
        first = [item for item in own if item.start < start]
        second = [item for item in own if item.start >= end]
    return _completed(reading, clause, first, second, facts)


def _object_at(text: str, clause: tuple[int, int], claim: Claim) -> tuple[int, int] | None:
    """Return the place of the word before what something is compared with; None without one."""
    after = text[claim.end : clause[1]]
    if re.search(r"(?:advantage|lead|margin|superiority)$", text[claim.start : claim.end], re.IGNORECASE):
        over = re.compile(r"\bover\b").search(text, claim.end, clause[1])
        return (over.start(), over.end()) if over else None
    if re.search(r"\b(?:that|those) of$|\bwhat$", text[claim.start : claim.end]):
        return claim.end, claim.end
    if match := _OBJECT_SOON.match(after):
        return claim.end + match.end() - 3, claim.end + match.end()
    if re.search(
        r"(?:outperform|beat|outpac|surpass|ahead of|behind|trail|lose|match|outrun|overt|top|exceed|below|above|"
        r"under)\w*(?: to)?\s?$",
        text[claim.start : claim.end],
    ):
        return claim.end, claim.end
    if match := _OBJECT.search(text, claim.end, clause[1]):
        return match.start(), match.end()
    if match := _OBJECT.search(text, clause[0], claim.start):
        return match.start(), match.end()
    return None


def _completed(
    reading: Reading, clause: tuple[int, int], first: Sequence[Mention], second: Sequence[Mention], facts: FactIndex
) -> Sides | None:
    """Return both sides with what only one of them, or the rest of the sentence, says."""
    ones, others = by_dimension(first), by_dimension(second)
    differing = {
        dimension for dimension in ones.keys() & others.keys() if _pairs(ones[dimension]) != _pairs(others[dimension])
    }
    if not differing and not any(item.dimension == TARGET for item in second):
        end = max((item.end for item in first), default=clause[0])
        if _OTHERS.search(reading.sentence, end, clause[1]):
            return _against_others(reading, clause, first, facts)
    if not differing:
        alone = [dimension for dimension in (TARGET, OPERATION) if dimension in others and dimension not in ones]
        known = _subject_before(reading, clause, second) if TARGET in alone else []
        if not known:
            return None
        first, differing = [*first, *known], {TARGET}
        ones = by_dimension(first)
    if any(len(side[TARGET]) > 1 for side in (ones, others) if TARGET in differing and TARGET in side):
        return None
    shared = [item for item in reading.context(clause) if item.dimension not in differing]
    sides = [[*(item for item in side if item.dimension in differing), *shared] for side in (first, second)]
    is_general = differing == {OPERATION} and all(item.dimension == OPERATION for item in reading.mentions)
    if is_general and len(facts.values_of.get(TARGET, [])) > 1:
        return None
    keys = frozenset(key for dimension in differing for key in dimension.split("|"))
    return sides[0], sides[1], keys


def _subject_before(reading: Reading, clause: tuple[int, int], second: Sequence[Mention]) -> list[Mention]:
    """Return the target that a pronoun of a clause stands for: the only one before it, else of the sentence before."""
    before = [item for item in reading.mentions if item.dimension == TARGET and item.end <= clause[0]]
    known = before or [item for item in reading.carried if item.dimension == TARGET]
    others = _pairs([item for item in second if item.dimension == TARGET])
    known = [item for item in known if not others & item.pairs]
    return known if len(_pairs(known)) == 1 else []


def _pairs(mentions: Sequence[Mention]) -> frozenset[object]:
    return frozenset(pair for mention in mentions for pair in mention.pairs)


def _implied_sides(
    reading: Reading, clause: tuple[int, int], claim: Claim, own: Sequence[Mention], facts: FactIndex
) -> Sides | None:
    """Return the sides of `memory is faster for random reads`: a target against the others of the same results."""
    groups = by_dimension([*own, *reading.carried] if not any(item.dimension == TARGET for item in own) else own)
    targets = [item for item in groups.get(TARGET, []) if item.end <= claim.start or item in reading.carried]
    if not targets and reading.sentence.startswith(" of ", claim.end):
        targets = groups.get(TARGET, [])[:1]
    if claim.sign == 0 and len(groups.get(TARGET, [])) == 2 and claim.factor is None:
        one, other = groups[TARGET]
        rest = [item for item in reading.context(clause) if item.dimension != TARGET]
        return [one, *rest], [other, *rest], frozenset({TARGET})
    both = by_dimension(reading.mentions).get(TARGET, [])
    if claim.sign == 0 and claim.factor is not None and len(both) == 2 and both[1].end <= claim.start:
        rest = [item for item in reading.context(clause) if item.dimension != TARGET]
        return [both[0], *rest], [both[1], *rest], frozenset({TARGET})
    if len(targets) != 1 or len(targets[0].pairs) != 1 or (claim.sign == 0 and claim.factor is None):
        return None
    if claim.sign == 0 and not NEXT_BEST.search(reading.sentence, claim.start, clause[1]):
        return None
    if any(trend_keys(match["axis"], facts) for match in AXIS.finditer(reading.words_of(clause))):
        return None
    return _against_others(reading, clause, targets, facts)


def _against_others(
    reading: Reading, clause: tuple[int, int], first: Sequence[Mention], facts: FactIndex
) -> Sides | None:
    """Return the sides of a target against those that the sentence names as well, else against all others."""
    targets = [item for item in first if item.dimension == TARGET]
    if len(_pairs(targets)) != 1:
        return None
    rest = [item for item in reading.context(clause) if item.dimension != TARGET]
    mine = {cell.target for cell in cells_of(facts, targets)}
    mentioned = {str(value) for item in reading.mentions if item.dimension == TARGET for _, value in item.pairs} - mine
    names = mentioned or {str(value) for value in facts.values_of[TARGET]} - mine
    other = Mention(TARGET, frozenset((TARGET, name) for name in names), clause[1], clause[1], True)
    return [targets[0], *rest], [other, *rest], frozenset({TARGET})


def change_ends(reading: Reading, clause: tuple[int, int]) -> tuple[Mention, Mention] | None:
    """Return the ends of a change, the last one first: `from 4 to 8 clients`; None if a clause has none."""
    for mention, item in reading.axis_values:
        if (
            clause[0] <= item.start < clause[1]
            and item.until is not None
            and _FROM.search(reading.sentence, 0, item.start)
        ):
            ends = [_of_value(mention, each) for each in (item.until, item)]
            if all(end.pairs for end in ends):
                return ends[0], ends[1]
    own = [item for item in reading.within(*clause) if len(item.pairs) == 1]
    for first, second in pairwise(own):
        between = reading.sentence[first.end : second.start]
        if (
            first.dimension == second.dimension
            and re.fullmatch(r" (?:[a-z]+ )?to (?:one of |that of |the |a |an )?(?:queue )?(?:depth of )?", between)
            and _FROM.search(reading.sentence, 0, first.start)
        ):
            return second, first
    return None


_FROM = re.compile(r"\bfrom (?:[a-z]+ ){0,4}$", re.IGNORECASE)


def _of_value(mention: Mention, item: Quantity) -> Mention:
    pairs = frozenset(
        pair
        for pair in mention.pairs
        if isinstance(pair[1], int | float) and abs(pair[1] - item.value) <= 1e-6 * item.value
    )
    return replace(mention, pairs=pairs, is_group=False, is_limit=False)
