"""Whether claims such as `faster`, `twice as much` and `no difference` are what the runs decide."""

import re
from collections.abc import Sequence
from dataclasses import replace

from assay.rooms.paper.work.claims.claim_sides import NEXT_BEST, change_ends, sides_of
from assay.rooms.paper.work.claims.claim_words import Claim, change_claim, claims_of
from assay.rooms.paper.work.claims.cost_claims import check_cost_claim
from assay.rooms.paper.work.claims.facts import FactIndex
from assay.rooms.paper.work.claims.judging import judged
from assay.rooms.paper.work.claims.mentions import TARGET, Mention, narrowed
from assay.rooms.paper.work.claims.pairs import RATE, Gauge, compared, joined
from assay.rooms.paper.work.claims.quantities import BoundWord
from assay.rooms.paper.work.claims.reading import Reading, RemarkKind, SentenceFault, cells_of

_PERCENTILE = re.compile(
    r"\bp([0-9]{2}(?:\.[0-9]+)?)\b|\b([0-9]{2}(?:\.[0-9]+)?)(?:(?:th|st|nd|rd)?[ -]percentile| ?% of (?:the |"
    r"all )?[a-z -]*"
    r"(?:reads?|writes?|requests?|operations?|puts?|gets?) (?:are|were|is|was)\b)",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\bthe only (?:ones?|\w+ (?:that|which|whose|with))\b", re.IGNORECASE)
_MEDIAN = re.compile(r"\bmedian\b", re.IGNORECASE)
_IOPS = re.compile(
    r"\biops\b|\b(?:operations|requests|puts|gets|reads|writes|items|objects) (?:per|a|each) second\b|"
    r"\bnumber of (?:\w+ )?(?:operations|requests|puts|gets|reads|writes)\b",
    re.IGNORECASE,
)


def check_comparisons(reading: Reading, facts: FactIndex) -> list[SentenceFault]:
    """Return what is wrong with the comparing claims of a sentence."""
    found = []
    for clause in reading.clauses:
        if reading.is_open(clause):
            continue
        change = change_ends(reading, clause)
        if change is not None:
            finding = _check_change(reading, clause, change, facts)
            found += [finding] if finding is not None else []
            continue
        for claim in [] if _ONLY.search(reading.sentence, *clause) else claims_of(reading, clause):
            finding = _check(reading, clause, claim, facts)
            if finding is not None:
                found.append(finding)
    return found


def _check_change(
    reading: Reading, clause: tuple[int, int], change: tuple[Mention, Mention], facts: FactIndex
) -> SentenceFault | None:
    """Return what is wrong with what a clause says of a change from one value of an axis, or target, to another."""
    claim = change_claim(reading, clause, max(end.end for end in change))
    if claim is None:
        return None
    last, first = change
    keys = frozenset(last.dimension.split("|"))
    rest = [item for item in reading.context(clause) if not keys & set(item.dimension.split("|"))]
    if not rest and len({(cell.target, cell.operation) for cell in cells_of(facts, change)}) > 1:
        return None
    return _compare_both(reading, clause, claim, [last, *rest], [first, *rest], keys, facts)


def _check(reading: Reading, clause: tuple[int, int], claim: Claim, facts: FactIndex) -> SentenceFault | None:
    sides = sides_of(reading, clause, claim, facts)
    if sides is None:
        return None
    first, second, differing = sides
    groups = [any(item.dimension == TARGET and item.is_group for item in side) for side in (first, second)]
    claim = replace(
        claim, is_of_groups=all(groups) and differing == {TARGET} and bool(sides[1][0].end > sides[1][0].start)
    )
    if claim.measure == "cost":
        return check_cost_claim(reading, claim, first, second, facts)
    return _compare_both(reading, clause, claim, first, second, differing, facts)


def _compare_both(
    reading: Reading,
    clause: tuple[int, int],
    claim: Claim,
    first: Sequence[Mention],
    second: Sequence[Mention],
    differing: frozenset[str],
    facts: FactIndex,
) -> SentenceFault | None:
    """Return a fault that holds for all that `reads` may mean; an exact factor must be that of the plain operation."""
    finding = _compare(reading, clause, claim, first, second, differing, facts)
    plain = narrowed(first), narrowed(second)
    if plain == (list(first), list(second)) or not all(cells_of(facts, side) for side in plain):
        return finding
    is_exact = claim.factor is not None and claim.factor.until is None and claim.factor.bound is BoundWord.EXACT
    if finding is None and not is_exact:
        return None
    strict = _compare(reading, clause, claim, *plain, differing, facts)
    if strict is not None and strict.kind is RemarkKind.UNSUPPORTED:
        return finding
    return strict


def _compare(
    reading: Reading,
    clause: tuple[int, int],
    claim: Claim,
    first: Sequence[Mention],
    second: Sequence[Mention],
    differing: frozenset[str],
    facts: FactIndex,
) -> SentenceFault | None:
    words = reading.words_of(clause)
    gauge = _gauge(claim, words)
    firsts, seconds = cells_of(facts, first), cells_of(facts, second)
    pairs = joined(firsts, seconds, differing)
    outcomes = compared(pairs, gauge, differing, facts)
    text = (
        reading.sentence[claim.start : claim.end]
        if claim.factor is None
        else reading.sentence[min(claim.start, claim.factor.start) : claim.end]
    )
    if not outcomes:
        if not firsts or not seconds or gauge != RATE:
            return None
        return SentenceFault(
            RemarkKind.UNSUPPORTED,
            text,
            "the runs have no two results that differ in this alone; name what was compared",
        )
    if NEXT_BEST.search(reading.sentence, claim.start, clause[1]):
        outcomes = [min(outcomes, key=lambda one: abs(one.ratio - 1))]
    return judged(claim, text, outcomes, reading.sentence)


def _gauge(claim: Claim, words: str) -> Gauge:
    """Return by which number a claim compares."""
    if claim.measure == "latency":
        match = _PERCENTILE.search(words)
        name = f"p{match[1] or match[2]}" if match else "p50" if _MEDIAN.search(words) else ""
        return Gauge(name)
    return Gauge("iops") if _IOPS.search(words) else RATE
