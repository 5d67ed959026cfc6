"""Whether costs, and figures of imported tables, are those that the runs have."""

import re

from assay.report import numbers
from assay.rooms.paper.work.claims.facts import FactIndex, StatedFigure
from assay.rooms.paper.work.claims.mentions import TARGET
from assay.rooms.paper.work.claims.quantities import BoundWord, Kind, Quantity, relative_distance
from assay.rooms.paper.work.claims.reading import Reading, RemarkKind, SentenceFault

_PERIODS: tuple[tuple[str, str], ...] = (
    ("three years", r"(?:three|3)[ -]years?|36 months"),
    ("day", r"(?:per|a|each|every|/) ?day\b|daily"),
    ("week", r"(?:per|a|each|every|/) ?week\b|weekly"),
    ("hour", r"(?:per|an|each|every|/) ?(?:hour|h)\b|hourly|/h\b|/hr\b"),
    ("month", r"(?:per|a|each|every|/) ?month|monthly|/mo\b"),
    ("year", r"(?:per|a|each|every|one|/|1) ?-?year|yearly|annual(?:ly)?|twelve months|12 months"),
)
_HOURS = {"day": 24, "week": 168, "month": 730, "year": 8760}
"""Hours of a period; a month is a twelfth of a year."""
_MONTH_SLACK = 0.04
_OTHER_UNIT = re.compile(
    r"\b(?:per|for each|for every|each) (?:TB|GB|TiB|GiB|GB/s|MB/s|IOPS|request|node|server|job|operation|"
    r"million)|/(?:TB|GB|GiB|TiB)\b",
    re.I,
)
_PER_TERABYTE = re.compile(r"\bper (?:usable )?(?:TB|terabyte)|/TB\b", re.IGNORECASE)
_DIFFERENCE = re.compile(r"\s(?:more|less|cheaper|saved|below|above|higher|lower)\b")


def check_figures(reading: Reading, facts: FactIndex) -> list[SentenceFault]:
    """Return what is wrong with amounts of money, and with sizes and times that imported tables have."""
    found = []
    for item in reading.quantities:
        if (
            item.kind not in (Kind.MONEY, Kind.SIZE, Kind.TIME)
            or item.is_reference
            or _DIFFERENCE.match(reading.sentence, item.end)
        ):
            continue
        clause = reading.clause_at(item.start)
        if reading.is_open(clause):
            continue
        if item.kind is Kind.MONEY:
            finding = _check_money(reading, item, clause, facts)
            if finding is not None:
                found.append(finding)
    return found


def _names(reading: Reading, clause: tuple[int, int], facts: FactIndex) -> frozenset[str]:
    """Return the names of measured targets, and of rows of tables, that a clause is about."""
    mentions = [item for item in reading.context(clause) if item.dimension == TARGET]
    names = {str(value).casefold() for item in mentions for _, value in item.pairs}
    words = reading.words_of(clause).casefold()
    own = _rows_named(words, facts) or _rows_named(reading.sentence.casefold(), facts)
    return frozenset(names | own)


def _rows_named(words: str, facts: FactIndex) -> set[str]:
    subjects = {
        subject for figure in facts.figures for subject in figure.subjects if len(subject) > 2 and not subject.isdigit()
    }
    return {name for name in subjects if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", words)}


def _period(reading: Reading, item: Quantity, clause: tuple[int, int]) -> str:
    """Return the period of an amount: the words behind it, else before it, else of the clause."""
    after = reading.sentence[item.end : min(clause[1], item.end + 24)]
    before = reading.sentence[clause[0] : item.start][-40:]
    for words in (after, before, reading.words_of(clause), reading.sentence):
        places = [(match.start(), name) for name, pattern in _PERIODS if (match := re.search(pattern, words, re.I))]
        if places:
            return min(places)[1] if words is not before else max(places)[1]
    return ""


def _check_money(reading: Reading, item: Quantity, clause: tuple[int, int], facts: FactIndex) -> SentenceFault | None:
    names = _names(reading, clause, facts)
    money = [figure for figure in facts.figures if figure.kind is Kind.MONEY]
    own = [figure for figure in money if names & figure.subjects]
    if not own:
        if names and any(cell.target.casefold() in names for cell in facts.cells):
            return SentenceFault(
                RemarkKind.UNSUPPORTED,
                item.text,
                "the runs have no cost of it; add `prices:` to the study, or name the source",
            )
        return None
    currencies = {figure.currency for figure in own} - {""}
    if currencies and item.unit not in currencies:
        text = f"the currency is wrong: the data have costs in {' and '.join(sorted(currencies))}"
        return SentenceFault(RemarkKind.PRICE, item.text, text)
    period = _period(reading, item, clause)
    after = reading.sentence[item.end : item.end + 30]
    if _PER_TERABYTE.search(after):
        period = "TB-month" if any(figure.period == "TB-month" for figure in own) else "-"
    if period == "-" or (period != "TB-month" and _OTHER_UNIT.search(after)):
        return None
    fitting = [figure for figure in own if figure.period == period] if period else own
    is_derived = not fitting and period in _HOURS and re.search(r"\bhour", reading.sentence) is not None
    if is_derived:
        fitting = [_over(figure, period) for figure in own if figure.period == "hour"]
    other = next((figure for figure in own if item.agrees_with(figure.value)), None)
    if not fitting and other is not None and item.bound in (BoundWord.EXACT, BoundWord.ABOUT):
        text = f"that is the cost of a {other.period}, not of a {period}: {other.text} (run {other.run})"
        return SentenceFault(RemarkKind.PRICE, item.text, text)
    if not fitting or any(item.agrees_with(figure.value) or _in_range(item, figure) for figure in fitting):
        return None
    near = min(fitting, key=lambda figure: relative_distance(figure.value, item.value))
    is_near = is_derived and relative_distance(near.value, item.value) < _MONTH_SLACK
    if is_near or _is_derived(item, fitting):
        return None
    text = f"the data have {near.text}{f' a {near.period}' if near.period else ''} (run {near.run})"
    if other is not None:
        text = f"that is the cost of a {other.period}, not of a {period}; {text}"
    return SentenceFault(RemarkKind.PRICE, item.text, f"{text}{f'; write {near.reference}' if near.reference else ''}")


def _over(figure: StatedFigure, period: str) -> StatedFigure:
    """Return a cost of an hour as that of a longer period, for a sentence that derives one from the other."""
    value = figure.value * _HOURS[period]
    return figure._replace(value=value, period=period, text=f"{figure.text}, {numbers.significant(value)}")


def _in_range(item: Quantity, figure: StatedFigure) -> bool:
    return item.until is not None and item.low <= figure.value <= item.until.high


def _is_derived(item: Quantity, figures: list[StatedFigure]) -> bool:
    """Return whether an amount is the sum or a difference of costs."""
    values = [figure.value for figure in figures]
    if item.agrees_with(sum(values)):
        return True
    return len(values) <= 20 and any(
        item.agrees_with(abs(one - other)) for one in values for other in values if one != other
    )
