"""Sets of measured numbers, and whether a number of a sentence is what such a set says."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from assay.report.numbers import median
from assay.rooms.paper.work.claims.facts import Cell, FactIndex, Measured
from assay.rooms.paper.work.claims.mentions import TARGET, Mention, by_dimension
from assay.rooms.paper.work.claims.quantities import BoundWord, Kind, Quantity
from assay.rooms.paper.work.claims.reading import cells_of

MEAN = re.compile(r"\b(?:means?|average[sd]?|averaging|on average)\b", re.IGNORECASE)
_TOP = re.compile(
    r"\b(?:highest|maximum|max|maxim\w+|peak(?:s|ed|ing)?|best|fastest|top(?:s|ped)?|never (?:more|above|exceeds?))\b",
    re.I,
)
_BOTTOM = re.compile(r"\b(?:lowest|minimum|min|slowest|worst|never (?:less|below))\b", re.IGNORECASE)
_TOGETHER = re.compile(r"\b(?:together|in total|combined|sum|altogether|add up)\b", re.IGNORECASE)
_INTERVAL = re.compile(r"\b(?:intervals?|confidence|uncertainty)\b|±", re.IGNORECASE)
_SHARE_WITHIN = re.compile(r"\b([0-9]{2}(?:\.[0-9]+)?) (?:%|percent|of 100|in 100)(?= )", re.IGNORECASE)
_RANGE_SLACK = 1.25
"""The ends of a range may be so much beyond those of the numbers."""
EVERY = re.compile(r"\b(?:all|every|each|any|always|throughout|everywhere)\b", re.IGNORECASE)
_PERCENTILE = re.compile(
    r"\bp(?P<short>[0-9]{2}(?:\.[0-9]+)?)\b|\b(?P<long>[0-9]{2}(?:\.[0-9]+)?)(?:st|nd|rd|th)?[ -]percentile", re.I
)
_GAP = re.compile(r"\b(?:gaps?|differences?|advantage|lead|margin|differ|apart)\b", re.IGNORECASE)
_CHANGES = re.compile(
    r"\b(?:grow|grew|ris|rose|rais|increas|climb|lift|improv|gain|jump|fall|fell|drop|sink|sank|shrink|declin|"
    r"lower|halv|doubl|"
    r"tripl|goes|went|go|brings?|scal)",
    re.IGNORECASE,
)
Group = list[tuple[Cell, Measured]]


def values_of(cells: Iterable[Cell], item: Quantity, words: str) -> list[tuple[Cell, Measured]]:
    """Return the numbers of results that a quantity may be one of."""
    found = [(cell, value) for cell in cells for value in cell.values(item.kind)]
    if item.kind is not Kind.TIME:
        return found
    wanted = {f"p{match['short'] or match['long']}" for match in _PERCENTILE.finditer(words)}
    wanted |= {f"p{match[1]}" for match in _SHARE_WITHIN.finditer(words)}
    if re.search(r"\bmedian\b|\bhalf of (?:its|the|all)\b", words, re.I):
        wanted.add("p50")
    if MEAN.search(words):
        wanted.add("mean")
    return [pair for pair in found if not wanted or pair[1].name in wanted]


def groups_of(values: Group, mentions: Sequence[Mention], facts: FactIndex, item: Quantity, words: str) -> list[Group]:
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
                found.append(values_of(cells_of(facts, rest), item, words))
    return [group for group in found if group]


def agrees(item: Quantity, words: str, group: Group) -> bool:
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
    if item.bound in (BoundWord.MORE, BoundWord.LESS) and EVERY.search(words):
        return all(map(item.agrees_with, medians))
    if MEAN.search(words) and item.kind is not Kind.TIME:
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


def has_all(low: Quantity, high: Quantity, group: Group) -> bool:
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


def is_one_of(item: Quantity, values: Group, words: str) -> bool:
    """Return whether a number is one of others, or a sum, difference or mean of them where words say so."""
    medians = [value.median for _, value in values]
    if item.until is not None:
        return all(any(end.low <= value <= end.high for value in medians) for end in (item, item.until))
    derived = list(medians)
    if len(medians) <= 60:
        if _TOGETHER.search(words):
            derived += [sum(medians), *(one + other for one in medians for other in medians)]
        if _GAP.search(words):
            derived += [abs(one - other) for one in medians for other in medians]
    if MEAN.search(words):
        for name in {key for cell, _ in values for key in cell.properties}:
            parts: dict[object, list[float]] = {}
            for cell, value in values:
                parts.setdefault(cell.properties.get(name), []).append(value.median)
            derived += [sum(part) / len(part) for part in parts.values()]
    return any(item.low <= value <= item.high for value in derived)
