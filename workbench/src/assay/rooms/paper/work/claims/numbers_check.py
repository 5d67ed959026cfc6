"""Whether the rates and latencies in a sentence are those that the runs have."""

import re
from collections.abc import Sequence

from assay.model.units import about_latency
from assay.report import numbers
from assay.rooms.paper.work.claims.facts import Cell, FactIndex, Measured
from assay.rooms.paper.work.claims.mentions import OPERATION, TARGET, WORKLOAD, Mention, by_dimension, narrowed
from assay.rooms.paper.work.claims.number_sets import (
    EVERY,
    MEAN,
    Group,
    agrees,
    groups_of,
    has_all,
    is_one_of,
    values_of,
)
from assay.rooms.paper.work.claims.quantities import BoundWord, Kind, Quantity, relative_distance
from assay.rooms.paper.work.claims.reading import (
    Reading,
    RemarkKind,
    SentenceFault,
    cells_of,
    is_about_results,
    shares_axis,
)

_LATENCY = re.compile(
    r"\b(?:latenc(?:y|ies)|response times?|delays?|p[0-9]{2}(?:\.[0-9]+)?|percentiles?|round[ -]trips?|ping)\b", re.I
)
_WHAT = (TARGET, OPERATION, WORKLOAD)
_TAKES = re.compile(
    r"\b(?:takes?|took|needs?|needed|lasts?|lasted|answers?|answered|finished|completed?|within [0-9.]+)\b",
    re.IGNORECASE,
)
_CACHE = re.compile(r"\b(?:cach\w+|memory|page cache|ram|impossible)\b", re.IGNORECASE)
_DIFFERENCE = re.compile(
    r"\s(?:faster|slower|more|less|higher|lower|greater|ahead|better|worse|fewer|longer|shorter|apart)\b"
)
_NETWORK = re.compile(
    r"\s(?:[a-z-]+ )?(?:networks?|links?|ethernet|nics?|ports?|connections?|uplinks?|adapters?|bus|switch)\b", re.I
)
_EACH = re.compile(
    r",?\s(?:each|apiece|per (?:process|client|thread|server|host|node|lane|stream|task|disk|core|TB|dollar))\b", re.I
)
"""Behind a share of a rate, which no result has."""
_EACH_OF = re.compile(
    r"\beach of (?:the|its|these|those|them)\b|\bper[- ](?:process|client|server|host|node|dollar|core)\b", re.I
)
_UNCACHED = re.compile(
    r"\b(?:(?:without|past|bypass\w*|no|not from) (?:the |a |any )?(?:page )?cache|"
    r"cache (?:was |is |being )?(?:kept )?(?:out|empt|drop|off|disabled|bypassed)|o_direct|direct i/o|uncached|cold)",
    re.IGNORECASE,
)
_UNIT_FACTORS = tuple(
    sorted(
        {base**power for base in (8.0, 1000.0, 1e6, 1.024, 1.024**2, 1.024**3, 8.388608, 8.192) for power in (1, -1)}
    )
)
_WHOLE = re.compile(r"\b(?:all|across|every|throughout|rang(?:e|es|ed|ing)|band)\b", re.IGNORECASE)
"""Words for a range of all results; else it may be that of some of them."""
_FOR = re.compile(r" (?:for|in|on|of|from|with|at) (?:the )?", re.IGNORECASE)
_RATE_KINDS = (Kind.THROUGHPUT, Kind.OPERATIONS)


def check_numbers(reading: Reading, facts: FactIndex) -> list[SentenceFault]:
    """Return what is wrong with the rates and latencies of a sentence."""
    found = []
    for item in reading.quantities:
        if item.kind not in (*_RATE_KINDS, Kind.TIME) or item.is_reference:
            continue
        clause = reading.clause_at(item.start)
        if _NETWORK.match(reading.sentence, item.end) or _EACH.match(reading.sentence, (item.until or item).end):
            continue
        if _EACH_OF.search(reading.words_of(clause)) or reading.is_elsewhere(item):
            continue
        if reading.is_open(clause) or _DIFFERENCE.match(reading.sentence, item.end):
            continue
        finding = _check(reading, item, clause, facts)
        if finding is not None:
            found.append(finding)
    return found


def _check(reading: Reading, item: Quantity, clause: tuple[int, int], facts: FactIndex) -> SentenceFault | None:
    words = reading.words_of(clause)
    mentions = _bound_mentions(reading, item, clause)
    if not is_about_results(mentions):
        return None
    if item.kind is Kind.TIME and not _is_latency(reading, mentions):
        return None
    cells = cells_of(facts, mentions)
    if not cells:
        mentions = _without_absent(mentions, facts)
        cells = cells_of(facts, mentions)
    if _UNCACHED.search(reading.sentence):
        cells = [cell for cell in cells if not cell.is_false] or cells
    if not cells:
        return _nothing_measured(item, mentions, facts, reading)
    values = values_of(cells, item, words)
    if not values:
        return None
    if item.until is None and item.bound in (BoundWord.EXACT, BoundWord.ABOUT):
        values = values_of(cells_of(facts, narrowed(mentions)), item, words) or values
    groups = groups_of(values, mentions, facts, item, words)
    is_every = item.bound in (BoundWord.MORE, BoundWord.LESS) and EVERY.search(words) is not None
    if item.bound in (BoundWord.MIN, BoundWord.MAX) or is_every:
        plain = values_of(cells_of(facts, narrowed(mentions)), item, words)
        groups = [group for group in (values, plain) if group]
    if len(values) > 1 and MEAN.search(words):
        groups = [group for group in groups if len(group) > 1]
    is_whole = item.until is not None and has_all(item, item.until, values)
    if is_whole or any(agrees(item, words, group) for group in groups):
        return _swapped(item, values, facts) or _unsound(item, values, reading)
    if _agrees_more_widely(reading, item, facts, words):
        return None
    return _wrong(item, values, words, facts)


def _agrees_more_widely(reading: Reading, item: Quantity, facts: FactIndex, words: str) -> bool:
    """Return whether a number is one of results that the sentence, or the one before it, may mean as well.

    These are all that its words name, in any order. Where a sentence has more numbers than names of a property, it may
    name another value of that property in words that are not understood.
    """
    own, alike = _named(reading, item)
    groups = by_dimension(own)
    before = [one for one in reading.before if not any(shares_axis(one.dimension, name) for name in groups)]
    sets = [cells_of(facts, chosen) for chosen in (own, [*own, *before])]
    if item.bound in (BoundWord.MIN, BoundWord.MAX):
        values = values_of(sets[-1], item, words)
        return any(agrees(item, words, group) for group in groups_of(values, [], facts, item, words))
    if item.until is not None and _WHOLE.search(words):
        return False
    for name in [name for name, group in groups.items() if len(group) < alike]:
        cells = cells_of(facts, [one for one in own if one.dimension != name])
        sets.append([cell for cell in cells if name in _WHAT or cell.row.case.axes.keys() & set(name.split("|"))])
    return any(is_one_of(item, values_of(cells, item, words), words) for cells in sets)


def _named(reading: Reading, item: Quantity) -> tuple[list[Mention], int]:
    """Return all mentions that may bind a number, and how many numbers of its kind share them.

    Where each number has a clause with one target, or stands directly before what it is for, only this binds it.
    """
    alike = [other for other in reading.quantities if other.kind is item.kind]
    pieces = [reading.clause_at(other.start) for other in alike]
    own = list(reading.mentions)
    if not any(one.dimension == TARGET for one in own):
        own = reading.context(reading.clause_at(item.start))
    targets = [[one for one in reading.within(*piece) if one.dimension == TARGET] for piece in pieces]
    behind = [[one] if (one := _named_behind(reading, other)) is not None else [] for other in alike]
    for groups in (targets if len(set(pieces)) == len(pieces) else [], behind):
        names = {one.dimension for group in groups for one in group}
        if len(groups) > 1 and len(names) == 1 and all(len(group) == 1 for group in groups):
            return [one for one in own if one.dimension not in names] + groups[alike.index(item)], 1
    return own, len(alike) + sum(other.until is not None for other in alike)


def _named_behind(reading: Reading, item: Quantity) -> Mention | None:
    """Return what a number is said to be for directly behind it: `74 MB/s for reads`."""
    for mention in reading.mentions:
        if mention.start > item.end and _FOR.fullmatch(reading.sentence, item.end, mention.start):
            return mention
    return None


def _is_latency(reading: Reading, mentions: Sequence[Mention]) -> bool:
    """Return whether a time is that of single operations."""
    has_operation = any(mention.dimension == OPERATION for mention in mentions)
    return _LATENCY.search(reading.sentence) is not None or (
        has_operation and _TAKES.search(reading.sentence) is not None
    )


def _without_absent(mentions: Sequence[Mention], facts: FactIndex) -> list[Mention]:
    """Return mentions without values of axes that the other results do not vary: `two machines`, but one target."""
    known = [mention for mention in mentions if mention.pairs]
    cells = cells_of(facts, known)
    kept = []
    for mention in mentions:
        values = {cell.properties.get(key) for cell in cells for key in mention.dimension.split("|")} - {None}
        if mention.pairs or len(values) > 1:
            kept.append(mention)
    return kept


def _swapped(item: Quantity, values: Group, facts: FactIndex) -> SentenceFault | None:
    """Return a fault if a bound holds only because its unit is another one: `at least 114 KB/s` for 114 MB/s."""
    if item.bound not in (BoundWord.MIN, BoundWord.MORE, BoundWord.MAX, BoundWord.LESS) or item.until is not None:
        return None
    if any(relative_distance(value.median, item.value) < 1 for _, value in values):
        return None
    for factor in (1e3, 1e6, 1e-3, 1e-6, 8.0, 1 / 8):
        other = item.times(factor)
        same = [pair for pair in values if other.low <= pair[1].median <= other.high]
        if same:
            text = f"the unit is wrong: {same[0][0].text()} is {_text(*same[0], item.kind)}"
            return SentenceFault(RemarkKind.UNIT, item.text, f"{text}{_mend(same[0][0], item, facts)}")
    return None


def _bound_mentions(reading: Reading, item: Quantity, clause: tuple[int, int]) -> list[Mention]:
    """Return the mentions that apply to a quantity.

    Where a clause has as many quantities of a kind as values of a dimension, they belong together in their order.
    """
    alike = [other for other in reading.quantities if other.kind is item.kind and clause[0] <= other.start < clause[1]]
    kept: list[Mention] = []
    for dimension, group in by_dimension(reading.context(clause)).items():
        is_own = all(clause[0] <= mention.start < clause[1] for mention in group)
        if len(alike) > 1 and len(group) == len(alike) and is_own and item.until is None and dimension != "workload":
            kept.append(group[alike.index(item)])
        else:
            kept += group
    return kept


def _unsound(item: Quantity, values: Group, reading: Reading) -> SentenceFault | None:
    """Return a fault if a number agrees only with results that are cached or impossible, and nothing says so."""
    same = [cell for cell, value in values if item.low <= value.median <= item.high]
    if not same or item.until is not None or not all(cell.is_false for cell in same):
        return None
    if _CACHE.search(reading.sentence) and not _UNCACHED.search(reading.sentence):
        return None
    cell = same[0]
    what = f"that is {cell.text()}, but this result is {cell.row.verdict}: the storage did not answer"
    text = f"{what}; say so, or leave it out"
    return SentenceFault(RemarkKind.UNSOUND, item.text, text)


def _wrong(item: Quantity, values: Group, words: str, facts: FactIndex) -> SentenceFault:
    ends = f"{item.text}{f' to {item.until.text}' if item.until else ''}"
    if item.until is None and item.bound in (BoundWord.EXACT, BoundWord.ABOUT):
        for factor in _UNIT_FACTORS:
            other = item.times(factor)
            same = [(cell, value) for cell, value in values if other.low <= value.median <= other.high]
            if same and _is_unit_swap(item, factor, len(values)):
                cell, value = same[0]
                what = f"{_text(cell, value, item.kind)} ({cell.text()}, run {cell.run})"
                return SentenceFault(
                    RemarkKind.UNIT, ends, f"the unit is wrong: the data have {what}{_mend(cell, item, facts)}"
                )
    near, value = min(values, key=lambda pair: relative_distance(pair[1].median, item.value))
    if len(values) == 1:
        what = f"{near.text()} is {_text(near, value, item.kind)} (run {near.run}, {near.row.verdict_words})"
    else:
        ordered = sorted(values, key=lambda pair: pair[1].median)
        low, high = (_text(*pair, item.kind) for pair in (ordered[0], ordered[-1]))
        closest = f"the closest is {near.text()}, {_text(near, value, item.kind)}"
        what = f"{numbers.count(len(values))} results that fit have {low} to {high}; {closest} (run {near.run})"
    if MEAN.search(words) and len(values) > 1:
        mean = sum(value.median for _, value in values) / len(values)
        what += f"; their mean is {_amount(mean, item.kind, near)}"
    return SentenceFault(RemarkKind.NUMBER, ends, f"{what}{_mend(near, item, facts)}")


def _is_unit_swap(item: Quantity, factor: float, count: int) -> bool:
    """Return whether another unit explains a difference; a small one only for an exact number of one result."""
    return not 0.9 < factor < 1.1 or (count == 1 and item.high / item.low < 1.02)


def _mend(cell: Cell, item: Quantity, facts: FactIndex) -> str:
    is_rate = item.kind is (Kind.OPERATIONS if cell.row.is_counted else Kind.THROUGHPUT)
    return f"; write {cell.reference(len(facts.views) > 1)}" if is_rate else ""


def _text(cell: Cell, value: Measured, kind: Kind) -> str:
    name = f" ({value.name})" if kind is Kind.TIME else ""
    return f"{_amount(value.median, kind, cell)}{name}"


def _amount(value: float, kind: Kind, cell: Cell) -> str:
    if kind is Kind.THROUGHPUT:
        return f"{numbers.mb_per_s(value)} MB/s"
    if kind is Kind.TIME:
        return about_latency(value)
    return f"{numbers.significant(value)} {'operations/s' if cell.row.is_counted else 'IOPS'}"


def _nothing_measured(
    item: Quantity, mentions: Sequence[Mention], facts: FactIndex, reading: Reading
) -> SentenceFault | None:
    """Return a finding if no result is at the point that the sentence names, but the target was measured."""
    targets = [mention for mention in mentions if mention.dimension == TARGET]
    if not targets or not cells_of(facts, targets):
        return None
    empty = [mention for mention in mentions if not mention.pairs]
    what = ", ".join(reading.sentence[mention.start : mention.end] for mention in empty or mentions)
    return SentenceFault(
        RemarkKind.UNSUPPORTED, item.text, f"no result of the runs is of {what}; name the point that was measured"
    )
