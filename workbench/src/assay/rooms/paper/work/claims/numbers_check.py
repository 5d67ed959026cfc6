"""Whether the rates and latencies in a sentence are those that the runs have."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from assay.model.units import about_latency
from assay.report import numbers
from assay.report.numbers import median
from assay.rooms.paper.work.claims.facts import Cell, FactIndex, Measured
from assay.rooms.paper.work.claims.mentions import OPERATION, TARGET, WORKLOAD, Mention, by_dimension, narrowed
from assay.rooms.paper.work.claims.quantities import BoundWord, Kind, Quantity, relative_distance
from assay.rooms.paper.work.claims.reading import Reading, RemarkKind, SentenceFault, cells_of, is_about_results

_MEAN = re.compile(r"\b(?:means?|average[sd]?|averaging|on average)\b", re.IGNORECASE)
_TOP = re.compile(
    r"\b(?:highest|maximum|max|maxim\w+|peak(?:s|ed|ing)?|best|fastest|top(?:s|ped)?|never (?:more|above|exceeds?))\b",
    re.I,
)
_BOTTOM = re.compile(r"\b(?:lowest|minimum|min|slowest|worst|never (?:less|below))\b", re.IGNORECASE)
_TOGETHER = re.compile(r"\b(?:together|in total|combined|sum|altogether|add up)\b", re.IGNORECASE)
_INTERVAL = re.compile(r"\b(?:intervals?|confidence|uncertainty)\b|±", re.IGNORECASE)
_LATENCY = re.compile(
    r"\b(?:latenc(?:y|ies)|response times?|delays?|p[0-9]{2}(?:\.[0-9]+)?|percentiles?|round[ -]trips?|ping)\b", re.I
)
_SHARE_WITHIN = re.compile(r"\b([0-9]{2}(?:\.[0-9]+)?) (?:%|percent|of 100|in 100)(?= )", re.IGNORECASE)
_ALL_TARGETS = re.compile(
    r"\b(?:all|every|each|none|no|any)(?: of the)? (?:\w+ ){0,2}?(?:servers?|options?|types?|targets?|"
    r"systems?|instances?)\b",
    re.I,
)
_RANGE_SLACK = 1.25
"""The ends of a range may be so much beyond those of the numbers."""
_WHAT = (TARGET, OPERATION, WORKLOAD)
_TAKES = re.compile(
    r"\b(?:takes?|took|needs?|needed|lasts?|lasted|answers?|answered|finished|completed|within [0-9.]+)\b",
    re.IGNORECASE,
)
_EVERY = re.compile(r"\b(?:all|every|each|any|always|throughout|everywhere)\b", re.IGNORECASE)
_PERCENTILE = re.compile(
    r"\bp(?P<short>[0-9]{2}(?:\.[0-9]+)?)\b|\b(?P<long>[0-9]{2}(?:\.[0-9]+)?)(?:st|nd|rd|th)?[ -]percentile", re.I
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
_GAP = re.compile(r"\b(?:gaps?|differences?|advantage|lead|margin|differ|apart)\b", re.IGNORECASE)
_CHANGES = re.compile(
    r"\b(?:grow|grew|ris|rose|rais|increas|climb|lift|improv|gain|jump|fall|fell|drop|sink|sank|shrink|declin|"
    r"lower|halv|doubl|"
    r"tripl|goes|went|go|brings?|scal)",
    re.IGNORECASE,
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
Group = list[tuple[Cell, Measured]]
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
        if reading.is_open(clause) or reading.is_elsewhere(clause) or _DIFFERENCE.match(reading.sentence, item.end):
            continue
        finding = _check(reading, item, clause, facts)
        if finding is not None:
            found.append(finding)
    return found


def _check(reading: Reading, item: Quantity, clause: tuple[int, int], facts: FactIndex) -> SentenceFault | None:
    words = reading.words_of(clause)
    mentions = _bound_mentions(reading, item, clause)
    if not is_about_results(mentions) and not _is_of_all(reading, mentions):
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
    values = _values(cells, item, words)
    if not values:
        return _other_unit(item, cells)
    if item.until is None and item.bound in (BoundWord.EXACT, BoundWord.ABOUT):
        values = _values(cells_of(facts, narrowed(mentions)), item, words) or values
    groups = _groups(values, mentions, facts, item, words)
    is_every = item.bound in (BoundWord.MORE, BoundWord.LESS) and _EVERY.search(words) is not None
    if item.bound in (BoundWord.MIN, BoundWord.MAX) or is_every:
        plain = _values(cells_of(facts, narrowed(mentions)), item, words)
        groups = [group for group in (values, plain) if group]
    if len(values) > 1 and _MEAN.search(words):
        groups = [group for group in groups if len(group) > 1]
    has_all = item.until is not None and _has_all(item, item.until, values)
    if has_all or any(_agree(item, words, group) for group in groups):
        return _swapped(item, values, facts) or _unsound(item, values, reading)
    if (
        item.until is None
        and item.bound in (BoundWord.EXACT, BoundWord.ABOUT)
        and _is_start(reading, item)
        and any(item.agrees_with(value) for value in _elsewhere(mentions, item, words, facts))
    ):
        return None
    if _agrees_at_other_points(reading, item, clause, facts, words):
        return None
    return _wrong(item, values, words, facts)


def _agrees_at_other_points(
    reading: Reading, item: Quantity, clause: tuple[int, int], facts: FactIndex, words: str
) -> bool:
    """Return whether a number is one of several in a clause, and agrees at a point that the sentence names elsewhere.

    Where a clause has more numbers than points, the one point beside another number may not be this number's.
    """
    alike = [other for other in reading.quantities if other.kind is item.kind and clause[0] <= other.start < clause[1]]
    mentions = _bound_mentions(reading, item, clause)
    groups = by_dimension(reading.within(*clause))
    free = {name for name, group in groups.items() if name not in _WHAT and len(group) < len(alike)}
    if len(alike) < 2 or not free:
        return False
    wider = [mention for mention in mentions if mention.dimension not in free]
    wider += [mention for mention in reading.mentions if mention.dimension in free]
    return any(item.agrees_with(value.median) for _, value in _values(cells_of(facts, wider), item, words))


def _is_of_all(reading: Reading, mentions: Sequence[Mention]) -> bool:
    """Return whether a sentence speaks of all targets: `all eight servers read ...`."""
    has_operation = any(mention.dimension == OPERATION for mention in mentions)
    return has_operation and _ALL_TARGETS.search(reading.sentence) is not None


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


def _is_start(reading: Reading, item: Quantity) -> bool:
    """Return whether a number is where something comes from: `from 231 to 126 µs`."""
    return re.search(r"\b(?:from|instead of|against|than|not) (?:\w+ )?$", reading.sentence[: item.start]) is not None


def _elsewhere(mentions: Sequence[Mention], item: Quantity, words: str, facts: FactIndex) -> list[float]:
    """Return the numbers of other targets at the same point."""
    rest = [mention for mention in mentions if mention.dimension != TARGET]
    return [value.median for _, value in _values(cells_of(facts, rest), item, words)]


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


def _values(cells: Iterable[Cell], item: Quantity, words: str) -> list[tuple[Cell, Measured]]:
    """Return the numbers of results that a quantity may be one of."""
    found = [(cell, value) for cell in cells for value in cell.values(item.kind)]
    if item.kind is not Kind.TIME:
        return found
    wanted = {f"p{match['short'] or match['long']}" for match in _PERCENTILE.finditer(words)}
    wanted |= {f"p{match[1]}" for match in _SHARE_WITHIN.finditer(words)}
    if re.search(r"\bmedian\b|\bhalf of (?:its|the|all)\b", words, re.I):
        wanted.add("p50")
    if _MEAN.search(words):
        wanted.add("mean")
    return [pair for pair in found if not wanted or pair[1].name in wanted]


def _groups(values: Group, mentions: Sequence[Mention], facts: FactIndex, item: Quantity, words: str) -> list[Group]:
    """Return the sets of numbers of which a mean, extreme or range may be: all, those of a target, an operation, a run.

    A superlative may also be among the other values of each dimension that the sentence names.
    """
    keys: tuple[Callable[[Cell], object], ...] = (
        lambda cell: (cell.run,),
        lambda cell: (cell.run, cell.target),
        lambda cell: (cell.run, cell.target, cell.operation),
        lambda cell: (cell.run, cell.operation),
        lambda cell: (cell.run, cell.row.case.workload, cell.operation),
        lambda cell: (cell.run, cell.target, cell.row.case.workload, cell.operation),
    )
    found = [values]
    for key in keys:
        ordered = sorted(values, key=lambda pair: str(key(pair[0])))
        found += [list(group) for _, group in groupby(ordered, key=lambda pair: str(key(pair[0])))]
    if _TOP.search(words) or _BOTTOM.search(words):
        for dimension in by_dimension(mentions):
            if dimension != TARGET:
                rest = [mention for mention in mentions if mention.dimension != dimension]
                found.append(_values(cells_of(facts, rest), item, words))
    return [group for group in found if group]


def _agree(item: Quantity, words: str, group: Group) -> bool:
    """Return whether a quantity is what a set of numbers says, by the words of its clause."""
    medians = [value.median for _, value in group]
    if item.until is not None:
        return _range_agrees(item, item.until, group, _CHANGES.search(words) is not None)
    if item.bound is BoundWord.UP_TO:
        return item.low <= max(medians) <= item.high
    if item.bound is BoundWord.MIN:
        least = min((value for _, value in group), key=lambda value: value.median)
        return item.agrees_with(least.median) or (least.low is not None and item.low <= least.low <= item.high)
    if item.bound is BoundWord.MAX:
        return max(medians) <= item.high
    if item.bound in (BoundWord.MORE, BoundWord.LESS) and _EVERY.search(words):
        return all(map(item.agrees_with, medians))
    if _MEAN.search(words) and item.kind is not Kind.TIME:
        return item.agrees_with(sum(medians) / len(medians)) or item.agrees_with(median(medians))
    if _TOP.search(words) and not _BOTTOM.search(words) and item.kind is not Kind.TIME:
        return item.agrees_with(max(medians))
    if _BOTTOM.search(words) and not _TOP.search(words) and item.kind is not Kind.TIME:
        return item.agrees_with(min(medians))
    derived = list(medians)
    if _GAP.search(words):
        derived += [abs(one - other) for one in medians for other in medians]
    if _TOGETHER.search(words):
        derived.append(sum(medians))
    if _INTERVAL.search(words):
        derived += [end for _, value in group for end in (value.low, value.high) if end is not None]
    if re.search(r"\bmedian\b", words, re.I):
        derived.append(median(medians))
    return any(item.agrees_with(value) for value in derived)


def _has_all(low: Quantity, high: Quantity, group: Group) -> bool:
    """Return whether a range has all of a set of numbers inside, and is not much wider."""
    medians = [value.median for _, value in group]
    is_near = min(medians) <= _RANGE_SLACK * low.value and high.value <= _RANGE_SLACK * max(medians)
    return is_near and low.low <= min(medians) and max(medians) <= high.high


def _range_agrees(low: Quantity, high: Quantity, group: Group, is_change: bool) -> bool:
    """Return whether a range is that of a set of numbers, or an interval of one of them.

    The ends of a change, `grows from 92 to 334 MB/s`, may be any of the numbers.
    """
    medians = [value.median for _, value in group]
    if len(medians) > 1 and low.low <= min(medians) <= low.high and high.low <= max(medians) <= high.high:
        return True
    for _, value in group:
        if (
            value.low is not None
            and value.high is not None
            and low.agrees_with(value.low)
            and high.agrees_with(value.high)
        ):
            return True
    return is_change and any(map(low.agrees_with, medians)) and any(map(high.agrees_with, medians))


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
            if same and _is_unit_swap(item, factor):
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
    if _MEAN.search(words) and len(values) > 1:
        mean = sum(value.median for _, value in values) / len(values)
        what += f"; their mean is {_amount(mean, item.kind, near)}"
    return SentenceFault(RemarkKind.NUMBER, ends, f"{what}{_mend(near, item, facts)}")


def _is_unit_swap(item: Quantity, factor: float) -> bool:
    """Return whether another unit explains a difference: small factors only for numbers that are written exactly."""
    return factor not in (1.024, 1 / 1.024) or item.high / item.low < 1.02


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


def _other_unit(item: Quantity, cells: Sequence[Cell]) -> SentenceFault | None:
    """Return a finding if the results have no number in this unit, but the same number in another one."""
    for kind, scale in ((Kind.THROUGHPUT, 1e6), (Kind.OPERATIONS, 1.0), (Kind.TIME, 1e6), (Kind.TIME, 1e3)):
        if kind is item.kind:
            continue
        for cell in cells:
            for value in cell.values(kind):
                if item.low / item.scale * scale <= value.median <= item.high / item.scale * scale:
                    text = f"the unit is wrong: {cell.text()} is {_text(cell, value, kind)} (run {cell.run})"
                    return SentenceFault(RemarkKind.UNIT, item.text, text)
    return None


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
