"""Whether claims such as `the fastest`, `the highest rate` and `the cheapest` are what the runs say."""

import re

from assay.report import numbers
from assay.rooms.paper.work.claims.facts import Cell, FactIndex
from assay.rooms.paper.work.claims.mentions import OPERATION, RUN, TARGET, Mention, by_dimension, narrowed
from assay.rooms.paper.work.claims.pairs import RATE, Gauge, Winner, compared, joined
from assay.rooms.paper.work.claims.quantities import Kind
from assay.rooms.paper.work.claims.reading import Reading, RemarkKind, SentenceFault, cells_of

_HIGH = (
    r"fastest|quickest|(?:highest|greatest|best|most)(?: [a-z-]+){0,2} (?:throughput|bandwidth|rates?|iops|"
    r"performance|speeds?|figures?|numbers?|results?|values?)|best|top performer|"
    r"lead(?:s|ing)? (?:the (?:field|table|list)|all others)|"
    r"tops? the (?:list|table|field)|(?:comes?|came|ranks?) first|unbeaten"
)
_LOW = (
    r"slowest|(?:lowest|least|worst|smallest)(?: [a-z-]+){0,2} (?:throughput|bandwidth|rates?|iops|performance|"
    r"speeds?)|worst"
)
_LATENCY = (
    r"(?P<latency>(?P<longest>highest|longest|worst)|lowest|shortest|best) (?:[a-z0-9.]+ ){0,2}(?:latenc(?:y|ies)|"
    r"response times?)"
)
_COST = (
    r"(?P<cheap>cheapest|least expensive|lowest (?:\w+ )?(?:costs?|prices?)|costs? (?:the )?least)|"
    r"(?P<dear>most expensive|dearest|costliest|highest (?:\w+ )?(?:costs?|prices?)|costs? (?:the )?most)"
)
_CUE = re.compile(rf"\b(?:(?P<cost>{_COST})|{_LATENCY}|(?P<high>{_HIGH})|(?P<low>{_LOW}))\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|never|no longer|hardly)\b[^,;]{0,16}$", re.IGNORECASE)
_RANK = re.compile(r"\b(?:second|third|next)[ -]$", re.IGNORECASE)
_OF_WORK = re.compile(r"\b(?:operations?|kind of work|work|test|workload|access pattern)\b", re.IGNORECASE)
_OF_ALL = re.compile(r"^(?:lead|top|come|came|rank|unbeaten)", re.IGNORECASE)
"""Superlatives that always choose among targets."""
_FOUND_AT = re.compile(
    r"\b(?:found|seen|measured|obtained|reached|observed|achieved|recorded|printed|had|has|"
    r"comes? from|came from|that of|those of)\b",
    re.I,
)
"""Words after which stands what has the extreme."""
_SHARE = 0.8


def check_superlatives(reading: Reading, facts: FactIndex) -> list[SentenceFault]:
    """Return what is wrong with the superlatives of a sentence."""
    found = []
    for clause in reading.clauses:
        if reading.is_open(clause):
            continue
        for match in _CUE.finditer(reading.sentence, *clause):
            before = reading.sentence[clause[0] : match.start()]
            if _NOT.search(before) or _RANK.search(before) or re.search(r"\bat $", before):
                continue
            finding = (
                _check_cost(reading, clause, match, facts) if match["cost"] else _check(reading, clause, match, facts)
            )
            if finding is not None:
                found.append(finding)
    return found


def _check(reading: Reading, clause: tuple[int, int], match: re.Match[str], facts: FactIndex) -> SentenceFault | None:
    mentions = [item for item in reading.context(clause) if item.dimension not in (RUN,)]
    finding = _check_mentions(reading, mentions, match, facts)
    if finding is None or narrowed(mentions) == mentions or not cells_of(facts, narrowed(mentions)):
        return finding
    return _check_mentions(reading, narrowed(mentions), match, facts)


def _check_mentions(
    reading: Reading, mentions: list[Mention], match: re.Match[str], facts: FactIndex
) -> SentenceFault | None:
    is_latency = bool(match["latency"])
    is_high = bool(match["longest"]) if is_latency else bool(match["high"])
    groups = by_dimension(mentions)
    subjects = [
        dimension for dimension, group in groups.items()
        if len({pair for item in group for pair in item.pairs}) == 1 or (dimension == OPERATION and len(group) == 1)
    ]  # fmt: skip
    if not subjects or (set(subjects) == {OPERATION} and not _OF_WORK.search(reading.sentence)):
        return None
    clause = reading.clause_at(match.start())
    at = [item for item in mentions if item.dimension == TARGET and clause[0] <= item.start < clause[1]]
    is_scope = all(item.start > match.end() for item in at) and _has_rate(reading, clause)
    if is_scope and not (at and _FOUND_AT.search(reading.sentence, match.end(), at[0].start)):
        # The number of such a clause is checked by itself: the target says where it was measured.
        return None
    before = {item.dimension for item in mentions if clause[0] <= item.start and item.end <= match.start()}
    if before & set(subjects) and TARGET not in before:
        subjects = [name for name in subjects if name in before]
    if TARGET in subjects and _OF_ALL.search(match[0]):
        subjects = [TARGET]
    if (
        TARGET in subjects
        and re.search(r"\bthe (?:\w+ )?$", reading.sentence[: match.start()], re.I)
        and not _OF_WORK.search(reading.sentence)
    ):
        subjects = [TARGET]
    verdicts = [_rank(dimension, groups, facts, is_high, is_latency) for dimension in _order(subjects, groups, match)]
    known = [verdict for verdict in verdicts if verdict is not None]
    if not known or any(verdict[0] is None for verdict in known):
        return None
    kind, text = known[0]
    assert kind is not None
    return SentenceFault(kind, match[0], text)


def _has_rate(reading: Reading, clause: tuple[int, int]) -> bool:
    kinds = (Kind.THROUGHPUT, Kind.OPERATIONS, Kind.TIME)
    return any(item.kind in kinds and clause[0] <= item.start < clause[1] for item in reading.quantities)


def _order(subjects: list[str], groups: dict[str, list[Mention]], match: re.Match[str]) -> list[str]:
    """Return the dimensions in which the superlative may choose, the likeliest first."""
    near = sorted(subjects, key=lambda name: min(abs(item.start - match.start()) for item in groups[name]))
    return sorted(near, key=lambda name: name != TARGET)


def _rank(
    dimension: str, groups: dict[str, list[Mention]], facts: FactIndex, is_high: bool, is_latency: bool
) -> tuple[RemarkKind | None, str] | None:
    """Return what is wrong if a value of a dimension lacks the extreme; no kind: nothing. None: nothing to compare."""
    rest = [item for name, group in groups.items() if name != dimension for item in group]
    mine = {cell.number for cell in cells_of(facts, [*rest, *groups[dimension]])}
    all_cells = cells_of(facts, rest)
    subject = [cell for cell in all_cells if cell.number in mine]
    others = [cell for cell in all_cells if cell.number not in mine]
    keys = frozenset(dimension.split("|"))
    gauge = Gauge("") if is_latency else RATE
    outcomes = compared(joined(subject, others, keys), gauge, keys, facts)
    if not outcomes:
        return None
    for_it = Winner.FIRST if is_high else Winner.SECOND
    contrary = [one for one in outcomes if one.winner not in (for_it, Winner.OPEN, Winner.EQUAL)]
    agree = [one for one in outcomes if one.winner is for_it]
    points: dict[int, bool] = {}
    for one in outcomes:
        points[one.first.number] = points.get(one.first.number, True) and one not in contrary
    best = sum(points.values())
    if agree and (best >= _SHARE * len(points) or _has_extreme(subject, others, is_high, is_latency)):
        return None, ""
    if not contrary:
        worst = next(one for one in outcomes if one not in agree) if len(agree) < len(outcomes) else outcomes[0]
        if agree:
            return None, ""
        return RemarkKind.UNDECIDED, f"{worst.text()}; say which are not separated"
    worst = max(contrary, key=lambda one: abs(one.ratio - 1))
    kind = RemarkKind.DIRECTION if best <= len(points) / 2 else RemarkKind.UNDECIDED
    return kind, f"it is so at {best} of {numbers.plural(len(points), 'point')}: {worst.text()}"


def _has_extreme(subject: list[Cell], others: list[Cell], is_high: bool, is_latency: bool) -> bool:
    """Return whether the one highest, or lowest, number of all is the subject's."""
    gauge = Gauge("") if is_latency else RATE
    one = [value.median for cell in subject if not cell.is_false and (value := gauge.of(cell))]
    other = [value.median for cell in others if not cell.is_false and (value := gauge.of(cell))]
    if not one or not other:
        return False
    return max(one) > max(other) if is_high else min(one) < min(other)


def _check_cost(
    reading: Reading, clause: tuple[int, int], match: re.Match[str], facts: FactIndex
) -> SentenceFault | None:
    targets = [item for item in reading.context(clause) if item.dimension == TARGET and len(item.pairs) == 1]
    measured = {str(value).casefold() for value in facts.values_of.get(TARGET, [])}
    money = [figure for figure in facts.figures if figure.kind is Kind.MONEY and measured & figure.subjects]
    if len(targets) != 1 or not money:
        return None
    (name,) = (str(value).casefold() for _, value in targets[0].pairs)
    own = [figure for figure in money if name in figure.subjects]
    texts = [
        f"{sorted(other.subjects)[0]}: {other.text}"
        for figure in own
        for other in money
        if (other.name, other.run, other.source) == (figure.name, figure.run, figure.source)
        and name not in other.subjects
        and (other.value < figure.value if match["cheap"] else other.value > figure.value)
    ]  # fmt: skip
    return SentenceFault(RemarkKind.DIRECTION, match[0], f"the data say otherwise: {texts[0]}") if texts else None
