"""Whether numbers of results, cases, targets and repeats in a sentence are those of the runs."""

import re
from collections.abc import Iterable

from assay.model.result.verdict import Verdict
from assay.report import numbers
from assay.report.view import RunView
from assay.rooms.paper.work.claims.facts import FactIndex
from assay.rooms.paper.work.claims.mentions import RUN, TARGET, narrowed
from assay.rooms.paper.work.claims.quantities import BoundWord, Kind
from assay.rooms.paper.work.claims.reading import Reading, RemarkKind, SentenceFault, cells_of

_NOUN = re.compile(
    r"(?: of (?:the |all |its |our )?(?P<all>[0-9,]+))?(?: [a-z-]+){0,2}? (?P<noun>results|cases|repeats|"
    r"repetitions)\b"
)
_IN_ALL = re.compile(
    r"\b(?:gave|gives?|yield(?:s|ed)?|produc(?:es?|ed)|compris(?:es?|ed)|consists? of|has|have|had|in total|"
    r"altogether|in all)\b",
    re.I,
)
_OF_RESULTS = re.compile(r" of (?:the |all |all the )?(?:[0-9,]+ )?results\b")
_FAILED = re.compile(r"\b(?:fail(?:ed|s)?|not ok|unsound)\b", re.IGNORECASE)
_REPEATED = re.compile(r"\b(?:repeated|measured|run) (?:\w+ )?$", re.IGNORECASE)
_NOUN_BEFORE = re.compile(r"\bof [a-z ]{0,8}[0-9,]+ (?P<noun>results|cases)\b", re.IGNORECASE)
_PART = re.compile(r"\s(?:are|were|is|was|passed|pass)\b")
_AHEAD = re.compile(r"\b(?:ahead|won|wins?|faster|beats?|beat|beaten|first|better)\b", re.IGNORECASE)
_OF_POINTS = re.compile(r"\s?(?:of (?:them|these|the|all)\b|(?:of [0-9,]+ )?(?:points|comparisons|cases)\b)")
_OF_TARGETS = re.compile(
    r" of (?:the |all )?(?:[a-z0-9]+ )?(?:[a-z]+ )?(?:types?|targets?|servers?|instances?|options?|systems?|"
    r"disks?|places?)\b",
    re.I,
)
_LIMITS = (BoundWord.MIN, BoundWord.MAX, BoundWord.MORE, BoundWord.LESS)
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
        is_total = re.search(r"\b(?:of|all) (?:the |all |its )?$", reading.sentence[: item.start], re.I) is not None
        known = _totals(match["noun"], views) if is_total else _counts(match["noun"], reading.words_of(clause), views)
        if known and not any(item.agrees_with(count) for count in known):
            words = " and ".join(dict.fromkeys(numbers.count(count) for count in known[:3]))
            found.append(SentenceFault(RemarkKind.NUMBER, item.text, f"the runs have {words} such {match['noun']}"))
    return [
        *found,
        *_shares(reading, views),
        *_all_results(reading, views),
        *_wins(reading, facts),
        *_reached(reading, facts),
    ]


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


def _wins(reading: Reading, facts: FactIndex) -> list[SentenceFault]:
    """Return the numbers of points at which a target is said to be ahead, and is not."""
    found = []
    for clause in reading.clauses:
        match = _AHEAD.search(reading.sentence, *clause)
        context = reading.context(clause)
        targets = [item for item in context if item.dimension == TARGET]
        counts = [
            item for item in reading.quantities if item.kind is Kind.COUNT and clause[0] <= item.start < clause[1]
        ]
        if match is None or not counts or not targets or reading.is_open(clause):
            continue
        before = [item for item in targets if item.end <= match.start()] or targets
        names = {str(value) for _, value in before[-1].pairs}
        cells = {cell.number for cell in cells_of(facts, [item for item in context if item.dimension != TARGET])}
        wins, total = _points_won(names, cells, facts)
        for item in counts:
            if (
                item.start >= match.start()
                and _OF_POINTS.match(reading.sentence, item.end)
                and not any(map(item.agrees_with, wins))
            ):
                text = f"the runs find it ahead at {numbers.count(wins[0])} of {numbers.plural(total, 'point')}"
                found.append(SentenceFault(RemarkKind.NUMBER, item.text, text))
    return found


def _shares(reading: Reading, views: Iterable[RunView]) -> list[SentenceFault]:
    """Return the shares of results with a verdict that no run has: `half of the results are ok`."""
    found = []
    listed = list(views)
    for item in reading.quantities:
        clause = reading.clause_at(item.start)
        is_share = item.kind in (Kind.RATIO, Kind.PERCENT) and _OF_RESULTS.match(reading.sentence, item.end) is not None
        if not is_share or item.is_reference or reading.is_open(clause):
            continue
        rows = [row for view in listed for row in view.analysis.rows]
        counts = _counts("results", reading.words_of(clause), listed)
        if _FAILED.search(reading.words_of(clause)):
            counts = [sum(row.verdict is not Verdict.OK for row in rows)]
        shares = [count / len(rows) for count in counts] if rows else []
        if shares and not any(map(item.agrees_with, shares)):
            text = f"the runs have {numbers.count(counts[0])} such results, {numbers.share(shares[0])}"
            found.append(SentenceFault(RemarkKind.NUMBER, item.text, text))
    return found


def _points_won(names: set[str], cells: set[int], facts: FactIndex) -> tuple[list[int], int]:
    """Return at how many points targets are decided to be faster, in all and for each operation, and all points."""
    won: dict[str, int] = {"": 0}
    total = 0
    of_cell = {(cell.run, cell.row.case.workload, cell.row.operation) for cell in facts.cells if cell.number in cells}
    for (run, workload, operation, *_), point in facts.points.items():
        if (run, workload, operation) in of_cell:
            total += 1
            for key in ("", str(operation), str(workload)):
                won[key] = won.get(key, 0) + (point.winner in names)
    return list(won.values()), total


def _reached(reading: Reading, facts: FactIndex) -> list[SentenceFault]:
    """Return the wrong numbers of targets that reach a rate: `seven of the ten types read at more than 150 MB/s`."""
    found = []
    for item in reading.quantities:
        clause = reading.clause_at(item.start)
        limits = [
            other
            for other in reading.quantities
            if other.kind in (Kind.THROUGHPUT, Kind.OPERATIONS)
            and other.bound in _LIMITS
            and other.until is None
            and clause[0] <= other.start < clause[1]
        ]
        is_part = item.kind is Kind.COUNT and _OF_TARGETS.match(reading.sentence, item.end) is not None
        if not is_part or len(limits) != 1 or reading.is_open(clause):
            continue
        context = [mention for mention in reading.context(clause) if mention.dimension != TARGET or mention.is_group]
        best: dict[str, bool] = {}
        cells = cells_of(facts, narrowed(context)) or cells_of(facts, context)
        for cell in cells:
            reaches = any(limits[0].agrees_with(value.median) for value in cell.values(limits[0].kind))
            best[cell.target] = best.get(cell.target, False) or reaches
        count = sum(best.values())
        if best and not item.agrees_with(count):
            names = numbers.listing([name for name, reaches in best.items() if reaches][:8]) or "none"
            found.append(SentenceFault(RemarkKind.NUMBER, item.text, f"it is {count} of {len(best)}: {names}"))
    return found
