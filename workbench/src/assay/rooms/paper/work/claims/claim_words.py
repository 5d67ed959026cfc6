"""Finds claims that compare in a sentence: `faster`, `twice the rate`, `no difference`, `raises it by 40 %`."""

import re
from dataclasses import dataclass, replace

from assay.rooms.paper.work.claims.quantities import FACTOR_VERB, Kind, Quantity
from assay.rooms.paper.work.claims.reading import Reading

_RATE_NOUN = (
    r"(?:(?:[a-z-]+ ){0,2}(?:throughput|bandwidth|rates?|iops|operations|performance|speeds?|data|bytes|requests))"
)

_LATENCY_NOUN = r"(?:(?:[a-z0-9.-]+ ){0,2}(?:latenc(?:y|ies)|response times?|delays?|p[0-9]{2}(?:\.[0-9]+)?))"

_COST_NOUN = r"(?:(?:[a-z-]+ ){0,2}(?:costs?|prices?|bill))"

_HIGH = r"(?:higher|greater|more|larger|better|bigger)"

_LOW = r"(?:lower|less|smaller|fewer|worse)"

_CUES: tuple[tuple[str, str, int], ...] = (
    ("cost", r"cheaper|less expensive|costs? (?:\w+ ){0,3}?less|less costly|less (?:money|to run)", -1),
    ("cost", r"more expensive|costs? (?:\w+ ){0,3}?more|dearer|costlier|pricier|more costly", 1),
    ("cost", rf"{_LOW} {_COST_NOUN}", -1),
    ("cost", rf"{_HIGH} {_COST_NOUN}", 1),
    ("latency", rf"(?:{_HIGH}|longer) {_LATENCY_NOUN}", 1),
    ("latency", rf"(?:{_LOW}|shorter|lower) {_LATENCY_NOUN}", -1),
    ("latency", r"(?:answer|respond|complete|finish)(?:s|es|ed)? (?:\w+ )?(?:sooner|quicker|faster|earlier)", -1),
    ("latency", r"(?:answer|respond|complete|finish)(?:s|es|ed)? (?:\w+ )?(?:later|slower|more slowly)", 1),
    ("rate", r"faster|quicker|speedier|speeds? up", 1),
    ("rate", r"slower|more slowly|slows? down", -1),
    (
        "rate",
        (
            r"outperform(?:s|ed|ing)?|outr[ua]ns?|outd(?:oes|id)|overtakes?|overtook|"
            r"topp?(?:s|ed)(?= the| [a-z]+[0-9.])|(?:has|have|"
            r"had) the (?:edge|upper hand)|beats?|beaten|outpac(?:es?|ed)|exceed(?:s|ed)?|(?:is|are|was|were|"
            r"comes?) (?:well |far |"
            r"clearly )?ahead(?: of)?|ahead of|surpass(?:es|ed)?|leads? (?:over )?(?=the|over)"
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
    ("", r"(?<=% )above|(?<=percent )above", 1),
    ("", r"(?<=% )(?:below|under)|(?<=percent )below", -1),
    ("", r"(?:higher|more|greater|longer|larger)(?= (?:[a-z]+ ){0,5}than\b)", 1),
    ("", r"(?:lower|less|fewer|shorter|smaller)(?= (?:[a-z]+ ){0,5}than\b)", -1),
)

_CUE = [(measure, re.compile(rf"(?<![\w-])(?:{words})(?!\w)", re.I), sign) for measure, words, sign in _CUES]

_EQUALITY = re.compile(
    r"(?<![\w-])(?:(?:the )?same (?:\w+ )?(?:speed|rate|throughput|bandwidth|performance|iops|latency)|"
    r"(?:just |exactly |equally |about |roughly )?as (?:fast|quick|slow|much|many)(?= as)|equally (?:fast|slow|quick)|"
    r"no (?:\w+ )?differences?|alike|(?:does|do|did) not differ|identical|on (?:a )?par|indistinguishable|"
    r"makes? no difference|match(?:es|ed)? (?=the)|equals?|as (?:fast|quick|much) as)(?!\w)",
    re.IGNORECASE,
)

_NOT = re.compile(
    (
        r"\b(?:not|no|never|neither|nor|cannot|can't|isn't|wasn't|aren't|doesn't|didn't|nowhere|"
        r"nothing)\b[^,;]{0,24}$"
    ),
    re.I,
)

_IN_NO_CASE = re.compile(
    r"\b(?:none of|nowhere|neither|in no (?:case|way)|at no (?:point|size)|not once|under no)\b", re.IGNORECASE
)
_THINGS = re.compile(
    r" (?:records?|files?|objects?|blocks?|clients?|servers?|threads?|sizes?|hosts?|processes)\b", re.IGNORECASE
)
_SLIGHTLY = re.compile(
    r"\b(?:slightly|a little|marginally|somewhat|a bit|hardly|barely|just|scarcely|minimally)\s(?:\w+ )?$",
    re.IGNORECASE,
)
_OF_RATE = re.compile(r"\b(?:fast|quick|slow|rate|throughput|bandwidth|speed|iops)\b", re.IGNORECASE)
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

_RAISE = (
    r"rais(?:es?|ed|ing)|increas(?:es?|ed|ing)|grows?|grew|gain(?:s|ed|ing)?|improv(?:es?|ed|ing)|rises?|rose|climbs?|"
    r"adds?|added|speeds? up|lift(?:s|ed|ing)?|boost(?:s|ed)?|"
    r"(?:yields?|gives?|gave|brings?|brought)(?= [0-9.]+ (?:%|percent|times) (?:more|higher))"
)

_LOWER = (
    r"lowers?|lowered|reduc(?:es?|ed|ing)|drops?|dropped|falls?|fell|cuts?|loses?|lost|shrinks?|decreas(?:es?|ed|"
    r"ing)|declin(?:es?|ed|ing)"
)

_NO_CHANGE = (
    r"no (?:\w+ )?(?:gain|effect|benefit|improvement|difference)|(?:does|do|did) not (?:\w+ )?(?:gain|grow|"
    r"increase|improve|help|scale|change|pay|matter|rise|raise|lift|add)|(?:no longer|ceases? to|"
    r"stops?) (?:\w+ )?(?:gain|grow|increas|improv|ris|scal)\w*|hardly (?:\w+ )?(?:gains?|grows?|changes?|helps?|"
    r"matters?)"
)

_CHANGE = re.compile(rf"(?<![\w-])(?:(?P<none>{_NO_CHANGE})|(?P<up>{_RAISE})|(?P<down>{_LOWER}))(?!\w)", re.IGNORECASE)

_SAME = re.compile(r"\b(?:effect|influence|difference|change|matter)", re.IGNORECASE)
"""Words for no change in either direction."""
_FACTOR_OF = re.compile(r"\bfactor of (?:\w+ ){0,3}$", re.IGNORECASE)
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
        is_slight: Only a small difference is claimed.
        is_of_groups: Both sides are groups of targets.
    """

    measure: str
    sign: int
    start: int
    end: int
    factor: Quantity | None = None
    is_negated: bool = False
    is_slight: bool = False
    is_of_groups: bool = False


def claims_of(reading: Reading, clause: tuple[int, int]) -> list[Claim]:
    """Return the claims of a clause; words that belong to a longer claim are no claim of their own."""
    text, found = reading.sentence, list[Claim]()
    for measure, pattern, sign in _CUE:
        for match in pattern.finditer(text, *clause):
            if not any(match.start() < other.end and other.start < match.end() for other in found):
                negated = _is_negated(text[clause[0] : match.start()])
                factor = _factor_before(reading, match.start()) or _factor_after(reading, match.end(), clause[1])
                turned = _is_passive(text, match)
                if not measure and (_THINGS.match(text, match.end()) or _is_bound(reading, match.end())):
                    continue
                what = measure or _measure_of(text[slice(*clause)])
                slight = _SLIGHTLY.search(text, 0, match.start()) is not None
                found.append(
                    Claim(what, -sign if turned else sign, match.start(), match.end(), factor, negated, slight)
                )
    for item in reading.quantities:
        is_free = clause[0] <= item.start < clause[1] and not any(item is one.factor for one in found)
        noun = _RATIO_NOUN.match(text, item.end) if is_free and item.kind in (Kind.RATIO, Kind.PERCENT) else None
        if noun is not None:
            own = text[item.start : noun.end()]
            measure = "rate" if _OF_RATE.search(own) else _measure_of(text[slice(*clause)])
            found.append(Claim(measure, 0, item.start, noun.end(), item))
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


def _is_bound(reading: Reading, end: int) -> bool:
    """Return whether a comparing word only bounds a number: `less than twice the rate`."""
    return any(reading.sentence[end : item.start].strip() in ("than", "than the") for item in reading.quantities)


def _is_negated(before: str) -> bool:
    """Return whether the words before a claim deny it."""
    return _NOT.search(before) is not None or _IN_NO_CASE.search(before) is not None


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
    return (
        "latency"
        if re.search(r"\blatenc|\bresponse time|as long\b|\bp[0-9]{2}\b|\bthe time\b", words, re.I)
        else "rate"
    )


def _factor_after(reading: Reading, start: int, end: int) -> Quantity | None:
    """Return the factor or share by which something is more: `exceeds it by 61 %`, `is faster by a factor of 3`."""
    for item in reading.quantities:
        is_after = item.kind in _FACTORS and start <= item.start < end
        if is_after and re.search(r"\bby (?:\w+ )?$", reading.sentence[start : item.start]):
            return item
    for item in reading.quantities:
        if start <= item.start < end and _is_factor(reading, item):
            return replace(item, kind=Kind.RATIO)
    return None


def _factor_before(reading: Reading, place: int) -> Quantity | None:
    """Return the factor or share directly before a comparing word: `3 times faster`, `40 % less`."""
    for item in reading.quantities:
        last = item.until or item
        is_near = item.kind in _FACTORS and 0 <= place - last.end <= 12
        if is_near and re.fullmatch(r"\s?(?:or more )?(?:the |a )?", reading.sentence[last.end : place]):
            return item
    return None


def change_claim(reading: Reading, clause: tuple[int, int], end: int) -> Claim | None:
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
        if item.unit == FACTOR_VERB:
            return Claim(measure, 0, item.start, item.end, item)
    if match is None:
        return None
    if match["none"]:
        is_same = _SAME.search(match["none"]) is not None
        return Claim(measure, 0 if is_same else 1, match.start(), match.end(), None, not is_same)
    sign = 1 if match["up"] else -1
    after = [item for item in factors if item.start >= match.end()]
    return Claim(
        measure, sign, match.start(), match.end(), replace(after[0], kind=_factor_kind(after[0])) if after else None
    )


def _is_factor(reading: Reading, item: Quantity) -> bool:
    return item.kind is Kind.COUNT and _FACTOR_OF.search(reading.sentence, 0, item.start) is not None


def _factor_kind(item: Quantity) -> Kind:
    return Kind.RATIO if item.kind is Kind.COUNT else item.kind
