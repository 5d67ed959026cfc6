"""Whether numbers of results, cases, targets and repeats in a sentence are those of the runs."""

import re
from collections.abc import Iterable

from assay.model.result.verdict import Verdict
from assay.report import numbers
from assay.report.view import RunView
from assay.rooms.paper.work.claims.facts import FactIndex
from assay.rooms.paper.work.claims.mentions import RUN
from assay.rooms.paper.work.claims.quantities import BoundWord, Kind, Quantity
from assay.rooms.paper.work.claims.reading import Reading, RemarkKind, SentenceFault

_NOUN = re.compile(
    r"(?: of (?:the |all |its |our )?(?P<all>[0-9,]+))?(?: [a-z-]+){0,2}? (?P<noun>results|cases|repeats|"
    r"repetitions)\b"
)
_IN_ALL = re.compile(
    r"\b(?:gave|gives?|yield(?:s|ed)?|produc(?:es?|ed)|compris(?:es?|ed)|consists? of|has|have|had|in total|"
    r"altogether|in all)\b",
    re.I,
)
_REPEATED = re.compile(r"\b(?:repeated|measured|run) (?:\w+ )?$", re.IGNORECASE)
_NOUN_BEFORE = re.compile(r"\bof [a-z ]{0,8}[0-9,]+ (?P<noun>results|cases)\b", re.IGNORECASE)
_IS_TOTAL = re.compile(r"\b(?:of|all) (?:the |all |its )?$", re.IGNORECASE)
_PART = re.compile(r"\s(?:are|were|is|was|passed|pass)\b")
_ALL = re.compile(
    r"\b(?:all|every|each of the|both|no|none of the|not a single|not one) (?:[0-9,]+ |"
    r"the )?(?:of the )?(?P<noun>results?)\b",
    re.I,
)
_VERDICTS: tuple[tuple[frozenset[Verdict], re.Pattern[str]], ...] = (
    (frozenset({Verdict.OK}), re.compile(r"\b(?:ok|sound|pass(?:ed|es)?|without (?:a )?finding)\b", re.IGNORECASE)),
    (frozenset({Verdict.UNSTABLE}), re.compile(r"\bunstable\b", re.IGNORECASE)),
    (frozenset({Verdict.CACHED}), re.compile(r"\b(?:were|was|are|is|as) cached\b|\bfrom (?:the|a) cache\b", re.I)),
    (frozenset({Verdict.CLIENT_BOUND}), re.compile(r"\bclient-bound\b|\b(?:bound|limited) by the client\b", re.I)),
)  # fmt: skip


def check_counts(reading: Reading, facts: FactIndex) -> list[SentenceFault]:
    """Return the numbers of results, cases and repeats that no run has."""
    found = []
    views = _views(reading, facts)
    for item in reading.quantities:
        if item.kind is not Kind.COUNT or item.bound not in (BoundWord.EXACT, BoundWord.ABOUT) or item.is_reference:
            continue
        clause = reading.clause_at(item.start)
        match = _NOUN.match(reading.sentence, (item.until or item).end)
        if _REPEATED.search(reading.sentence, 0, item.start) and reading.sentence.startswith(" times", item.end):
            known = [len(row.samples) for view in views for row in view.analysis.rows]
            if known and not min(known) <= item.value <= max(known):
                ends = [str(count) for count in sorted({min(known), max(known)})]
                text = f"the results have {numbers.listing(ends)} repeats"
                found.append(SentenceFault(RemarkKind.NUMBER, item.text, text))
            continue
        if match is None and _PART.match(reading.sentence, item.end):
            match = _NOUN_BEFORE.search(reading.sentence, 0, item.start)
        if match is None or reading.is_open(clause):
            continue
        is_total = _IS_TOTAL.search(reading.sentence, 0, item.start) is not None
        known = (
            _totals(match["noun"], views) if is_total else _counts(match["noun"], _after(reading, item, clause), views)
        )
        if known and not any(item.agrees_with(count) for count in known):
            words = " and ".join(dict.fromkeys(numbers.count(count) for count in known[:3]))
            found.append(SentenceFault(RemarkKind.NUMBER, item.text, f"the runs have {words} such {match['noun']}"))
    return [*found, *_all_results(reading, views)]


def _after(reading: Reading, item: Quantity, clause: tuple[int, int]) -> str:
    """Return the words of a clause from one count up to the next, which has a verdict of its own."""
    following = [
        other.start
        for other in reading.quantities
        if other.kind is item.kind
        and other.start > item.start
        and not _IS_TOTAL.search(reading.sentence, 0, other.start)
    ]
    end = min([clause[1], *following])
    return reading.sentence[item.start if end < clause[1] or not following else clause[0] : end]


def _views(reading: Reading, facts: FactIndex) -> list[RunView]:
    """Return the runs that a sentence names, else all."""
    named = {str(value) for item in reading.mentions if item.dimension == RUN for _, value in item.pairs}
    return [view for name, view in facts.views.items() if not named or name in named]


def _counts(noun: str, words: str, views: Iterable[RunView]) -> list[int]:
    """Return the numbers that a run, or all together, have of a thing; none if parts of it may be meant."""
    listed = list(views)
    if noun in ("repeats", "repetitions"):
        finished = [view.run.finished for view in listed]
        of_a_case = {len(row.samples) for view in listed for row in view.analysis.rows}
        return [*sorted(of_a_case), *finished, sum(finished)]
    if noun == "cases":
        return _with_sum(len(view.analysis.cases) for view in listed)
    for verdicts, pattern in _VERDICTS:
        if pattern.search(words):
            first = _with_sum(sum(row.verdict in verdicts for row in view.analysis.rows) for view in listed)
            any_of = _with_sum(
                sum(not verdicts.isdisjoint(row.verdicts) for row in view.analysis.rows) for view in listed
            )
            return [*first, *any_of]
    return _totals(noun, listed) if _IN_ALL.search(words) else []


def _totals(noun: str, views: Iterable[RunView]) -> list[int]:
    """Return the numbers of all results or cases; none of repeats, of which a case has several."""
    if noun == "results":
        return _with_sum(len(view.analysis.rows) for view in views)
    return _with_sum(len(view.analysis.cases) for view in views) if noun == "cases" else []


def _with_sum(counts: Iterable[int]) -> list[int]:
    found = list(counts)
    return list(dict.fromkeys([*found, sum(found)]))


def _all_results(reading: Reading, views: Iterable[RunView]) -> list[SentenceFault]:
    """Return a fault if all results are said to be sound, or none to be unstable or cached, and some are not."""
    found = []
    for clause in reading.clauses:
        match = _ALL.search(reading.sentence, *clause)
        if match is None or reading.is_open(clause):
            continue
        is_none = match[0].lower().startswith("no")
        rows = [row for view in views for row in view.analysis.rows]
        for verdicts, pattern in _VERDICTS:
            if not pattern.search(reading.words_of(clause)):
                continue
            count = sum(not verdicts.isdisjoint(row.verdicts) for row in rows)
            if (is_none and count) or (not is_none and count < len(rows)):
                text = (
                    f"{numbers.part_of_total(count, len(rows))} are {numbers.listing([str(one) for one in verdicts])}"
                )
                found.append(SentenceFault(RemarkKind.NUMBER, match[0], f"the data say otherwise: {text}"))
    return found
