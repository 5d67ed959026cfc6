"""Whether claims such as `faster`, `twice as much` and `no difference` are what the runs decide."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from assay.report import numbers
from assay.report.numbers import median
from assay.rooms.paper.work.claims.facts import FactIndex, StatedFigure
from assay.rooms.paper.work.claims.mentions import OPERATION, TARGET, Mention, by_dimension, narrowed
from assay.rooms.paper.work.claims.pairs import (
    PairOutcome,
    Quantify,
    Winner,
    compared,
    iops_of,
    joined,
    latency_named,
    rate_of,
)
from assay.rooms.paper.work.claims.quantities import BoundWord, Kind, Quantity
from assay.rooms.paper.work.claims.reading import Reading, RemarkKind, SentenceFault, cells_of
from assay.rooms.paper.work.claims.trends import AXIS, trend_keys

_RATE_NOUN = (
    r"(?:(?:[a-z-]+ ){0,2}(?:throughput|bandwidth|rates?|iops|operations|performance|speeds?|data|bytes|requests))"
)
_LATENCY_NOUN = r"(?:(?:[a-z0-9.-]+ ){0,2}(?:latenc(?:y|ies)|response times?|delays?|p[0-9]{2}(?:\.[0-9]+)?))"
_COST_NOUN = r"(?:(?:[a-z-]+ ){0,2}(?:costs?|prices?|bill))"
_HIGH, _LOW = r"(?:higher|greater|more|larger|better|bigger)", r"(?:lower|less|smaller|fewer|worse)"
_CUES: tuple[tuple[str, str, int], ...] = (
    ("cost", r"cheaper|less expensive|costs? (?:\w+ ){0,3}?less|less costly|less (?:money|to run)", -1),
    ("cost", r"more expensive|costs? (?:\w+ ){0,3}?more|dearer|costlier|pricier|more costly", 1),
    ("cost", rf"{_LOW} {_COST_NOUN}", -1),
    ("cost", rf"{_HIGH} {_COST_NOUN}", 1),
    ("latency", rf"(?:{_HIGH}|longer) {_LATENCY_NOUN}", 1),
    ("latency", rf"(?:{_LOW}|shorter|lower) {_LATENCY_NOUN}", -1),
    ("latency", r"answers? (?:sooner|quicker|faster)|responds? (?:sooner|quicker|faster)", -1),
    ("rate", r"faster|quicker|speedier|speeds? up", 1),
    ("rate", r"slower|more slowly|slows? down", -1),
    (
        "rate",
        (
            r"outperform(?:s|ed|ing)?|beats?|beaten|outpac(?:es?|ed)|(?:is|are|was|were|comes?) (?:well |far |"
            r"clearly )?ahead of|surpass(?:es|ed)?|leads? (?:over )?(?=the|over)"
        ),
        1,
    ),
    (
        "rate",
        (
            r"lags?(?: far| well)? behind|lagged behind|trails?|falls? (?:far |well )?behind|(?:is|are|was|"
            r"were) (?:far |well )?behind|loses? to"
        ),
        -1,
    ),
    ("rate", rf"{_HIGH} {_RATE_NOUN}", 1),
    ("rate", rf"{_LOW} {_RATE_NOUN}", -1),
    ("rate", r"(?:performs?|performed|does|did) better|better than", 1),
    ("rate", r"(?:performs?|performed|does|did) worse|worse than", -1),
    ("rate", r"(?:higher|more|greater)(?= than)", 1),
    ("rate", r"(?:lower|less|fewer)(?= than)", -1),
)
_CUE = [(measure, re.compile(rf"(?<![\w-])(?:{words})(?!\w)", re.I), sign) for measure, words, sign in _CUES]
_EQUALITY = re.compile(
    r"(?<![\w-])(?:(?:the )?same (?:\w+ )?(?:speed|rate|throughput|bandwidth|performance|iops|latency)|"
    r"(?:just |exactly |equally |about |roughly )?as (?:fast|quick|slow|much|many)(?= as)|equally (?:fast|slow|quick)|"
    r"no (?:\w+ )?differences?|(?:does|do|did) not differ|identical|on (?:a )?par|indistinguishable|"
    r"makes? no difference|match(?:es|ed)? (?=the)|equals?|as (?:fast|quick|much) as)(?!\w)",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"\b(?:not decided|undecided|cannot be (?:separated|told apart|distinguished)|"
    r"not (?:statistically )?significant(?:ly)?|"
    r"no (?:statistically )?significant|do(?:es)? not decide|overlap\w*|inconclusive|remains? open|no evidence)\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    (
        r"\b(?:not|no|never|neither|nor|hardly|cannot|can't|isn't|wasn't|aren't|doesn't|didn't|nowhere|"
        r"nothing)\b[^,;]{0,24}$"
    ),
    re.I,
)
_OBJECT = re.compile(
    (
        r"\b(?:than|compared (?:with|to)|in comparison (?:with|to)|versus|vs\.?|relative to|against|over|"
        r"as opposed to|unlike|that of|those of)\b"
    ),
    re.IGNORECASE,
)
_SOME = re.compile(
    r"\b(?:some(?:times)?|in (?:some|most|many|a few|all but) (?:\w+ )?(?:cases|points|sizes)|mostly|usually|typically|"
    r"often|(?:nearly|almost) (?:every|all|each)|on average|average|mean|median|generally|most|nearly always|"
    r"almost always|at best|up to|occasionally|"
    r"not always|not everywhere|overall|at one|in one|at least one)\b",
    re.IGNORECASE,
)
_PASSIVE = re.compile(r"\b(?:is|are|was|were) (?:\w+ )?$")
_RATIO_NOUN = re.compile(
    (
        r"\s?(?:times )?(?:of )?(?:as (?:fast|much|many|quick|high|low|slow|long|expensive|cheap)|"
        r"the (?:\w+ ){0,3}?(?:rate|throughput|bandwidth|speed|"
        r"iops|performance|latency|response time|time|cost|price)|of the (?:\w+ ){0,3}?(?:rate|throughput|"
        r"bandwidth|speed|iops|performance|latency|cost|price|time)|that of|those of|of what|what)"
    ),
    re.IGNORECASE,
)
_EVERY = re.compile(r"\b(?:every|each|all|always|any|everywhere|without exception|throughout)\b", re.IGNORECASE)
_RAISE = (
    r"rais(?:es?|ed|ing)|increas(?:es?|ed|ing)|grows?|grew|gains?|gained|improv(?:es?|ed|ing)|rises?|rose|climbs?|"
    r"adds?|added|speeds? up"
)
_LOWER = (
    r"lowers?|lowered|reduc(?:es?|ed|ing)|drops?|dropped|falls?|fell|cuts?|loses?|lost|shrinks?|decreas(?:es?|ed|"
    r"ing)|declin(?:es?|ed|ing)"
)
_NO_CHANGE = (
    r"no (?:\w+ )?(?:gain|effect|benefit|improvement|difference)|(?:does|do|did) not (?:\w+ )?(?:gain|grow|"
    r"increase|improve|help|scale|change|pay|matter|rise)|hardly (?:\w+ )?(?:gains?|grows?|changes?|helps?|"
    r"matters?)"
)
_CHANGE = re.compile(rf"(?<![\w-])(?:(?P<none>{_NO_CHANGE})|(?P<up>{_RAISE})|(?P<down>{_LOWER}))(?!\w)", re.IGNORECASE)
_GROUP_SHARE = 0.6
"""The same where both sides are groups of targets."""
_AGREE_SHARE = 0.9
"""Share of decided pairs that must agree with a claim that is made without a limit."""


_FACTORS = (Kind.RATIO, Kind.PERCENT, Kind.THROUGHPUT, Kind.OPERATIONS, Kind.TIME, Kind.MONEY)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that compares.

    Attributes:
        measure: `rate`, `latency` or `cost`.
        sign: 1: the subject has more, -1: less, 0: as much.
        start, end: Its words in the sentence.
        factor: The factor or share that it states; None if it states none.
        is_negated: It is denied.
        is_of_groups: Both sides are groups of targets.
    """

    measure: str
    sign: int
    start: int
    end: int
    factor: Quantity | None = None
    is_negated: bool = False
    is_of_groups: bool = False


def check_comparisons(reading: Reading, facts: FactIndex) -> list[SentenceFault]:
    """Return what is wrong with the comparing claims of a sentence."""
    found = []
    for clause in reading.clauses:
        if reading.is_open(clause):
            continue
        change = _change(reading, clause)
        if change is not None:
            finding = _check_change(reading, clause, change, facts)
            found += [finding] if finding is not None else []
            continue
        for claim in _claims(reading, clause):
            finding = _check(reading, clause, claim, facts)
            if finding is not None:
                found.append(finding)
    return found


def _change(reading: Reading, clause: tuple[int, int]) -> tuple[Mention, Mention] | None:
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
            and re.fullmatch(r" (?:[a-z]+ )?to ", between)
            and _FROM.search(reading.sentence, 0, first.start)
        ):
            return second, first
    return None


_FROM = re.compile(r"\bfrom\s$", re.IGNORECASE)


def _of_value(mention: Mention, item: Quantity) -> Mention:
    pairs = frozenset(
        pair
        for pair in mention.pairs
        if isinstance(pair[1], int | float) and abs(pair[1] - item.value) <= 1e-6 * item.value
    )
    return replace(mention, pairs=pairs, is_group=False, is_limit=False)


def _check_change(
    reading: Reading, clause: tuple[int, int], change: tuple[Mention, Mention], facts: FactIndex
) -> SentenceFault | None:
    """Return what is wrong with what a clause says of a change from one value of an axis, or target, to another."""
    claim = _change_claim(reading, clause, max(end.end for end in change))
    if claim is None:
        return None
    last, first = change
    keys = frozenset(last.dimension.split("|"))
    rest = [item for item in reading.context(clause) if not keys & set(item.dimension.split("|"))]
    if not rest and not any(mention.dimension == TARGET for mention in change):
        return None
    return _compare_both(reading, clause, claim, [last, *rest], [first, *rest], keys, facts)


def _change_claim(reading: Reading, clause: tuple[int, int], end: int) -> Claim | None:
    """Return what a clause says of a change whose last end stands before a place; None if it says nothing."""
    measure = _measure_of(reading.words_of(clause))
    factors = [
        item
        for item in reading.quantities
        if clause[0] <= item.start < clause[1]
        and (item.kind in (Kind.RATIO, Kind.PERCENT) or _is_factor(reading, item))
    ]
    match = _CHANGE.search(reading.sentence, end, clause[1]) or _CHANGE.search(reading.sentence, *clause)
    for item in factors:
        if not item.text.lower().endswith("ing") and re.match(
            r"doubl|tripl|quadrupl|halv|twofold|threefold", item.text, re.I
        ):
            return Claim(measure, 0, item.start, item.end, item)
    if match is None:
        return None
    if match["none"]:
        return Claim(measure, 0, match.start(), match.end())
    sign = 1 if match["up"] else -1
    after = [item for item in factors if item.start >= match.end()]
    return Claim(
        measure, sign, match.start(), match.end(), replace(after[0], kind=_factor_kind(after[0])) if after else None
    )


def _is_factor(reading: Reading, item: Quantity) -> bool:
    return item.kind is Kind.COUNT and reading.sentence[: item.start].endswith("factor of ")


def _factor_kind(item: Quantity) -> Kind:
    return Kind.RATIO if item.kind is Kind.COUNT else item.kind


def _claims(reading: Reading, clause: tuple[int, int]) -> list[Claim]:
    """Return the claims of a clause; words that belong to a longer claim are no claim of their own."""
    text, found = reading.sentence, list[Claim]()
    for measure, pattern, sign in _CUE:
        for match in pattern.finditer(text, *clause):
            if not any(match.start() < other.end and other.start < match.end() for other in found):
                negated = _NOT.search(text[clause[0] : match.start()]) is not None
                factor = _factor_before(reading, match.start())
                turned = _is_passive(text, match)
                found.append(Claim(measure, -sign if turned else sign, match.start(), match.end(), factor, negated))
    for item in reading.quantities:
        is_free = clause[0] <= item.start < clause[1] and not any(item is one.factor for one in found)
        match = _RATIO_NOUN.match(text, item.end) if is_free and item.kind in (Kind.RATIO, Kind.PERCENT) else None
        if match is not None:
            words = text[item.start : match.end() + 16]
            found.append(Claim(_measure_of(words), 0, item.start, match.end(), item))
    for match in _EQUALITY.finditer(text, *clause):
        if not any(match.start() < other.end and other.start < match.end() for other in found):
            found.append(
                Claim(
                    _measure_of(text[slice(*clause)]),
                    0,
                    match.start(),
                    match.end(),
                    None,
                    _is_denied(text, clause, match),
                )
            )
    return found


def _is_passive(text: str, match: re.Match[str]) -> bool:
    return text[match.end() :].startswith(" by ") and _PASSIVE.search(text[: match.start()]) is not None


def _is_denied(text: str, clause: tuple[int, int], match: re.Match[str]) -> bool:
    return (
        re.search(r"\b(?:not|never|hardly|isn't|aren't|wasn't)\b[^,;]{0,16}$", text[clause[0] : match.start()], re.I)
        is not None
    )


def _measure_of(words: str) -> str:
    if re.search(r"\b(?:costs?|prices?|cheap|expensive)\b", words, re.I):
        return "cost"
    return "latency" if re.search(r"\blatenc|\bresponse time|as long\b|\bp[0-9]{2}\b", words, re.I) else "rate"


def _factor_before(reading: Reading, place: int) -> Quantity | None:
    """Return the factor or share directly before a comparing word: `3 times faster`, `40 % less`."""
    for item in reading.quantities:
        last = item.until or item
        is_near = item.kind in _FACTORS and 0 <= place - last.end <= 12
        if is_near and re.fullmatch(r"\s?(?:or more )?(?:the |a )?", reading.sentence[last.end : place]):
            return item
    return None


def _check(reading: Reading, clause: tuple[int, int], claim: Claim, facts: FactIndex) -> SentenceFault | None:
    sides = _sides(reading, clause, claim, facts)
    if sides is None:
        return None
    first, second, differing = sides
    groups = [any(item.dimension == TARGET and item.is_group for item in side) for side in (first, second)]
    claim = replace(
        claim, is_of_groups=all(groups) and differing == {TARGET} and bool(sides[1][0].end > sides[1][0].start)
    )
    if claim.measure == "cost":
        return _check_cost(reading, claim, first, second, facts)
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
    if plain == (list(first), list(second)):
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
    quantify = _quantify(claim, words)
    firsts, seconds = cells_of(facts, first), cells_of(facts, second)
    pairs = joined(firsts, seconds, differing)
    outcomes = compared(pairs, quantify, differing, facts)
    text = (
        reading.sentence[claim.start : claim.end]
        if claim.factor is None
        else reading.sentence[min(claim.start, claim.factor.start) : claim.end]
    )
    if not outcomes:
        if not firsts or not seconds or (quantify is not rate_of):
            return None
        return SentenceFault(
            RemarkKind.UNSUPPORTED,
            text,
            "the runs have no two results that differ in this alone; name what was compared",
        )
    return _judge(claim, text, outcomes, reading.sentence)


def _quantify(claim: Claim, words: str) -> Quantify:
    if claim.measure == "latency":
        match = re.search(
            r"\bp([0-9]{2}(?:\.[0-9]+)?)\b|\b([0-9]{2}(?:\.[0-9]+)?)(?:th|st|nd|rd)? percentile", words, re.I
        )
        return latency_named(f"p{match[1] or match[2]}" if match else "p50" if "median" in words else "")
    return iops_of if re.search(r"\biops|operations per second|requests per second\b", words, re.I) else rate_of


Sides = tuple[list[Mention], list[Mention], frozenset[str]]


def _sides(reading: Reading, clause: tuple[int, int], claim: Claim, facts: FactIndex) -> Sides | None:
    """Return what is compared with what, each with all that applies to it, and in which properties they differ.

    None if the sentence does not say what is compared.
    """
    own = reading.within(*clause)
    marker = _object_at(reading.sentence, clause, claim)
    if marker is None:
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
    if match := re.compile(r"\s?(?:\w+ )?as (?=\S)|\s(?:of|as) (?=\S)|\sby (?=\S)").match(after):
        return claim.end + match.start(), claim.end + match.end()
    if match := _OBJECT.search(text, claim.end, clause[1]):
        return match.start(), match.end()
    if re.search(
        r"(?:outperform|beat|outpac|surpass|ahead of|behind|trail|lose|match)\w*(?: to)?\s?$",
        text[claim.start : claim.end],
    ):
        return claim.end, claim.end
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
    if not differing:
        alone = [dimension for dimension in (TARGET, OPERATION) if dimension in others and dimension not in ones]
        if TARGET in alone and reading.carried:
            first = [*first, *reading.carried]
            differing = {TARGET}
        else:
            return None
    if any(len(side[TARGET]) > 1 for side in (ones, others) if TARGET in differing and TARGET in side):
        return None
    shared = [item for item in reading.context(clause) if item.dimension not in differing]
    sides = [[*(item for item in side if item.dimension in differing), *shared] for side in (first, second)]
    is_general = differing == {OPERATION} and all(item.dimension == OPERATION for item in reading.mentions)
    if is_general and len(facts.values_of.get(TARGET, [])) > 1:
        return None
    keys = frozenset(key for dimension in differing for key in dimension.split("|"))
    return sides[0], sides[1], keys


def _pairs(mentions: Sequence[Mention]) -> frozenset[object]:
    return frozenset(pair for mention in mentions for pair in mention.pairs)


def _implied_sides(
    reading: Reading, clause: tuple[int, int], claim: Claim, own: Sequence[Mention], facts: FactIndex
) -> Sides | None:
    """Return the sides of `memory is faster for random reads`: a target against the others of the same results."""
    groups = by_dimension([*own, *reading.carried] if not any(item.dimension == TARGET for item in own) else own)
    targets = [item for item in groups.get(TARGET, []) if item.end <= claim.start or item in reading.carried]
    if claim.sign == 0 and len(groups.get(TARGET, [])) == 2 and claim.factor is None:
        one, other = groups[TARGET]
        rest = [item for item in reading.context(clause) if item.dimension != TARGET]
        return [one, *rest], [other, *rest], frozenset({TARGET})
    if len(targets) != 1 or len(targets[0].pairs) != 1 or (claim.sign == 0 and claim.factor is None):
        return None
    if any(trend_keys(match["axis"], facts) for match in AXIS.finditer(reading.words_of(clause))):
        return None
    rest = [item for item in reading.context(clause) if item.dimension != TARGET]
    mine = {cell.target for cell in cells_of(facts, targets)}
    mentioned = {str(value) for item in reading.mentions if item.dimension == TARGET for _, value in item.pairs} - mine
    names = mentioned or {str(value) for value in facts.values_of[TARGET]} - mine
    other = Mention(TARGET, frozenset((TARGET, name) for name in names), claim.end, claim.end, True)
    return [targets[0], *rest], [other, *rest], frozenset({TARGET})


def _judge(claim: Claim, words: str, outcomes: list[PairOutcome], sentence: str) -> SentenceFault | None:
    if claim.factor is not None:
        return _judge_factor(claim, words, outcomes)
    if _UNDECIDED.search(sentence):
        return _judge_undecided(words, outcomes)
    if claim.sign == 0:
        return _judge_equal(claim, words, outcomes)
    for_it = Winner.FIRST if claim.sign > 0 else Winner.SECOND
    return _judge_direction(claim, words, outcomes, for_it, sentence)


def _judge_direction(
    claim: Claim, words: str, outcomes: list[PairOutcome], for_it: Winner, sentence: str
) -> SentenceFault | None:
    against_it = Winner.SECOND if for_it is Winner.FIRST else Winner.FIRST
    agree = [one for one in outcomes if one.winner is for_it]
    contrary = [one for one in outcomes if one.winner is against_it]
    equal = [one for one in outcomes if one.winner is Winner.EQUAL]
    if claim.is_negated:
        if agree and not contrary and not equal and len(agree) >= _AGREE_SHARE * len(outcomes):
            return SentenceFault(
                RemarkKind.DIRECTION, words, f"the data say that it is so: {_examples(agree, len(outcomes))}"
            )
        return None
    decided = len(agree) + len(contrary) + len(equal)
    if not decided:
        return SentenceFault(
            RemarkKind.UNDECIDED,
            words,
            f"{_examples(outcomes, len(outcomes))}; say that it is undecided, or measure more repeats",
        )
    if not agree:
        kind = RemarkKind.DIRECTION
        return SentenceFault(kind, words, f"the data say otherwise: {_examples(contrary or equal, len(outcomes))}")
    is_every = _EVERY.search(sentence) is not None and not _SOME.search(sentence)
    share = 1.0 if is_every else _GROUP_SHARE if claim.is_of_groups else _AGREE_SHARE
    if len(agree) >= share * decided or _SOME.search(sentence):
        if len(agree) < len(outcomes) / 2 and not contrary and not _SOME.search(sentence):
            rest = [one for one in outcomes if one.winner is not for_it]
            return SentenceFault(
                RemarkKind.UNDECIDED,
                words,
                f"it is so at {len(agree)} of {len(outcomes)} points only: {_examples(rest, len(rest))}; name the points",
            )
        if (
            not _SOME.search(sentence)
            or len(agree) >= len(contrary)
            or re.search(r"\b(?:some|up to|at best|one|occasion|not always)", sentence)
        ):
            return None
    rest = [*contrary, *equal]
    kind = RemarkKind.DIRECTION if len(agree) <= (1 - _AGREE_SHARE) * decided else RemarkKind.UNDECIDED
    return SentenceFault(
        kind,
        words,
        f"it is so at {len(agree)} of {decided} decided points, but not at others: {_examples(rest, len(rest))}; name the points at which it holds",
    )


def _judge_equal(claim: Claim, words: str, outcomes: list[PairOutcome]) -> SentenceFault | None:
    differ = [one for one in outcomes if one.winner in (Winner.FIRST, Winner.SECOND)]
    if claim.is_negated:
        equal = [one for one in outcomes if one.winner is Winner.EQUAL]
        if equal and not differ:
            return SentenceFault(
                RemarkKind.DIRECTION, words, f"the data say otherwise: {_examples(equal, len(outcomes))}"
            )
        return None
    clear = [one for one in differ if abs(one.ratio - 1) > (0.1 if one.is_decided else 0.12)]
    if len(clear) > 0.2 * len(outcomes):
        return SentenceFault(RemarkKind.DIRECTION, words, f"the data say otherwise: {_examples(clear, len(outcomes))}")
    wide = [one for one in outcomes if one.winner is Winner.OPEN and abs(one.ratio - 1) > 0.1]
    if len(wide) > len(outcomes) / 2:
        return SentenceFault(
            RemarkKind.UNDECIDED,
            words,
            f"{_examples(wide, len(outcomes))}; that no difference was found does not show that there is none",
        )
    return None


def _judge_undecided(words: str, outcomes: list[PairOutcome]) -> SentenceFault | None:
    decided = [one for one in outcomes if one.winner in (Winner.FIRST, Winner.SECOND) and one.is_decided]
    if len(decided) > _AGREE_SHARE * len(outcomes):
        return SentenceFault(RemarkKind.DIRECTION, words, f"the data decide it: {_examples(decided, len(outcomes))}")
    return None


def _judge_factor(claim: Claim, words: str, outcomes: list[PairOutcome]) -> SentenceFault | None:
    assert claim.factor is not None
    for_it = Winner.SECOND if claim.sign < 0 else Winner.FIRST
    fits = claim.factor.is_reference or _states_factor(claim, claim.factor, outcomes)
    if fits and not all(one.winner is Winner.OPEN for one in outcomes):
        return None
    if claim.sign and not any(one.winner is for_it for one in outcomes):
        contrary = [one for one in outcomes if one.winner not in (for_it, Winner.OPEN)]
        kind = RemarkKind.DIRECTION if contrary else RemarkKind.UNDECIDED
        return SentenceFault(kind, words, f"{_examples(contrary or outcomes, len(outcomes))}{_mend_ratio(outcomes)}")
    if fits:
        return None
    if claim.factor.kind not in (Kind.RATIO, Kind.PERCENT):
        text = f"{_differences_text(outcomes, claim.factor)}{_mend_ratio(outcomes)}"
        return SentenceFault(RemarkKind.NUMBER, words, text)
    return SentenceFault(RemarkKind.NUMBER, words, f"{_ratios_text(outcomes)}{_mend_ratio(outcomes)}")


def _states_factor(claim: Claim, factor: Quantity, outcomes: list[PairOutcome]) -> bool:
    """Return whether a factor, share or difference is that of the pairs, in one way to read it."""
    if factor.kind not in (Kind.RATIO, Kind.PERCENT):
        return any(factor.agrees_with(one.difference) for one in outcomes)
    return any(_factor_agrees(wanted, outcomes) for wanted in _ratios(claim, factor))


def _ratios(claim: Claim, factor: Quantity) -> list[Quantity]:
    """Return what the ratio of the first side to the second would be: one quantity for each way to read the claim."""
    if factor.kind is Kind.RATIO:
        if claim.sign < 0 and factor.value > 1:
            return [_inverse(factor)]
        if claim.sign > 0 and factor.value < 1:
            return [_shifted(factor, 1.0, 1), factor]
        return [factor]
    if claim.sign == 0:
        return [factor]
    if claim.sign > 0:
        return [_shifted(factor, 1.0, 1)]
    return [_shifted(factor, 1.0, -1), _inverse(_shifted(factor, 1.0, 1))]


def _shifted(item: Quantity, base: float, sign: int) -> Quantity:
    ends = sorted((base + sign * item.low, base + sign * item.high))
    until = _shifted(item.until, base, sign) if item.until else None
    low = replace(
        item, value=base + sign * item.value, low=ends[0], high=ends[1], until=until, bound=_turned(item.bound, sign)
    )
    return _ordered(low)


def _inverse(item: Quantity) -> Quantity:
    until = _inverse(item.until) if item.until else None
    low, high = 1 / item.high, 1 / max(item.low, 1e-9)
    return _ordered(replace(item, value=1 / item.value, low=low, high=high, until=until, bound=_turned(item.bound, -1)))


def _ordered(item: Quantity) -> Quantity:
    """Return a range with its lower end first."""
    if item.until is not None and item.until.value < item.value:
        return replace(item.until, until=replace(item, until=None))
    return item


def _turned(bound: BoundWord, sign: int) -> BoundWord:
    if sign > 0:
        return bound
    turned = {
        BoundWord.MIN: BoundWord.MAX,
        BoundWord.MORE: BoundWord.LESS,
        BoundWord.MAX: BoundWord.MIN,
        BoundWord.LESS: BoundWord.MORE,
    }
    return turned.get(bound, bound)


def _factor_agrees(wanted: Quantity, outcomes: list[PairOutcome]) -> bool:
    ratios = [one.ratio for one in outcomes]
    if wanted.until is not None:
        inside = wanted.low <= min(ratios) and max(ratios) <= wanted.until.high
        return inside or (any(map(wanted.agrees_with, ratios)) and any(map(wanted.until.agrees_with, ratios)))
    if wanted.bound is BoundWord.UP_TO:
        ends = (max(ratios), min(ratios))
        return any(wanted.low <= end <= wanted.high for end in ends)
    bounds = [one.at_least for one in outcomes if one.at_least > 1]
    if wanted.bound is BoundWord.MIN:
        return min(ratios) >= wanted.low or any(wanted.low <= bound <= wanted.high for bound in bounds)
    if wanted.bound is BoundWord.MAX:
        return max(ratios) <= wanted.high
    if wanted.bound in (BoundWord.MORE, BoundWord.LESS):
        return all(map(wanted.agrees_with, ratios)) or (len(ratios) > 4 and wanted.agrees_with(median(ratios)))
    derived = [*ratios, fmean(ratios), median(ratios), _ratio_of_means(outcomes)]
    return any(wanted.agrees_with(value) for value in derived)


def _ratio_of_means(outcomes: list[PairOutcome]) -> float:
    """Return the mean of the first sides divided by that of the second ones."""
    firsts = [cell.rate.median for cell in {one.first.number: one.first for one in outcomes}.values() if cell.rate]
    seconds = [cell.rate.median for cell in {one.second.number: one.second for one in outcomes}.values() if cell.rate]
    return fmean(firsts) / fmean(seconds) if firsts and seconds and fmean(seconds) else 0.0


def _ratios_text(outcomes: list[PairOutcome]) -> str:
    if len(outcomes) == 1:
        return f"the data say {outcomes[0].text()}"
    ratios = sorted(one.ratio for one in outcomes)
    low, high = numbers.ratio(ratios[0]), numbers.ratio(ratios[-1])
    return f"the data say {low} to {high} at {len(ratios)} points, typically {numbers.ratio(median(ratios))}"


def _differences_text(outcomes: list[PairOutcome], wanted: Quantity) -> str:
    near = min(outcomes, key=lambda one: abs(one.difference - wanted.value))
    return f"the difference is {numbers.significant(near.difference / wanted.scale)} {wanted.unit}: {near.text()}"


def _mend_ratio(outcomes: list[PairOutcome]) -> str:
    if len(outcomes) != 1:
        return ""
    first, second = (
        cell.reference(outcomes[0].first.run != outcomes[0].second.run)[3:-3]
        for cell in (outcomes[0].first, outcomes[0].second)
    )
    return f"; write {{{{ ratio({first}, {second}) }}}}"


def _examples(outcomes: Sequence[PairOutcome], total: int) -> str:
    text = outcomes[0].text()
    return text if total == 1 else f"{len(outcomes)} of {total} points, such as {text}"


def _check_cost(
    reading: Reading, claim: Claim, first: Sequence[Mention], second: Sequence[Mention], facts: FactIndex
) -> SentenceFault | None:
    """Return what is wrong with a claim on costs: all common periods must agree."""
    ones, others = (_costs_of(side, facts) for side in (first, second))
    ratios = [
        (one.value / other.value, one, other)
        for one in ones
        for other in others
        if (one.period, one.name, one.run, one.source) == (other.period, other.name, other.run, other.source)
        and other.value
        and one.subjects != other.subjects
    ]
    words = reading.sentence[claim.start : claim.end]
    if not ratios:
        targets = [item for item in (*first, *second) if item.dimension == TARGET]
        if not targets:
            return None
        return SentenceFault(
            RemarkKind.UNSUPPORTED, words, "the runs have no costs of both; add `prices:` to the study, or leave it out"
        )
    example = ratios[0]
    text = f"{example[1].text} against {example[2].text} (run {example[1].run})"
    if claim.factor is not None and claim.factor.kind is Kind.MONEY:
        fits = any(claim.factor.agrees_with(abs(one.value - other.value)) for _, one, other in ratios)
        return None if fits else SentenceFault(RemarkKind.PRICE, words, f"the data have {text}")
    if claim.factor is not None and not claim.factor.is_reference:
        fits = any(wanted.agrees_with(ratio) for wanted in _ratios(claim, claim.factor) for ratio, _, _ in ratios)
        return (
            None
            if fits
            else SentenceFault(RemarkKind.NUMBER, words, f"the data say {numbers.ratio(example[0])}: {text}")
        )
    agree = (
        [ratio for ratio, _, _ in ratios if (ratio > 1) is (claim.sign > 0) and ratio != 1]
        if claim.sign
        else [ratio for ratio, _, _ in ratios if abs(ratio - 1) <= 0.05]
    )
    if claim.is_negated:
        return (
            SentenceFault(RemarkKind.DIRECTION, words, f"the data say that it is so: {text}")
            if len(agree) == len(ratios)
            else None
        )
    return None if agree else SentenceFault(RemarkKind.DIRECTION, words, f"the data say otherwise: {text}")


def _costs_of(side: Sequence[Mention], facts: FactIndex) -> list[StatedFigure]:
    names = {str(value).casefold() for item in side if item.dimension == TARGET for _, value in item.pairs}
    return [figure for figure in facts.figures if figure.kind is Kind.MONEY and names & figure.subjects]
