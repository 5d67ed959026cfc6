"""Whether claims such as `grows with the record size` and `does not scale` are what the runs say."""

import re
from collections.abc import Iterable

from assay.report import numbers
from assay.rooms.paper.work.claims.facts import Cell, FactIndex
from assay.rooms.paper.work.claims.pairs import RATE, Gauge
from assay.rooms.paper.work.claims.reading import Reading, RemarkKind, SentenceFault, cells_of

_AXES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"record sizes?|block sizes?|records?|transfer sizes?|request sizes?", ("record_size",)),
    (r"file sizes?|files?", ("file_size",)),
    (r"object sizes?|objects?", ("object_size",)),
    (r"queue depths?|depths?|queues?|requests in flight|outstanding (?:requests|operations)", ("queue_depth",)),
    (r"clients?|hosts?|machines?|nodes?", ("hosts", "streams", "lanes")),
    (r"threads?|lanes?|jobs?|workers?", ("lanes", "streams")),
    (r"process(?:es)?|streams?|tasks?", ("streams", "lanes")),
    (r"servers?", ("servers",)),
)
_UP = (
    r"grows?|grew|increas(?:es?|ed|ing)|rises?|rose|improv(?:es?|ed|ing)|rais(?:es?|ed|ing)|lifts?|boosts?|"
    r"speeds? up|helps?|climbs?|scales?|scaled|gains?|benefits?|"
    r"(?:is|are|gets?|becomes?|makes? (?:\w+ ){1,5}?) ?(?:\w+ )?(?:faster|higher|better)|more than doubles"
)
_DOWN = (
    r"falls?|fell|drops?|dropped|decreas(?:es?|ed|ing)|declin(?:es?|ed|ing)|lowers?|lowered|reduc(?:es?|ed|"
    r"ing)|slows? down|degrad(?:es?|ed|ing)|shrinks?|suffers?|"
    r"worsens?|sinks?|(?:is|are|gets?|becomes?|makes? (?:\w+ ){1,5}?) ?(?:\w+ )?(?:slower|lower|worse)"
)
_FLAT = (
    r"(?:does|do|did) not (?:\w+ )?(?:depend|change|vary|scale|grow|increase|improve|matter)|"
    r"hardly (?:\w+ )?(?:depends?|changes?|varies|grows?|scales?|matters?)|independent of|(?:stays?|remains?|is|"
    r"are) (?:\w+ )?(?:flat|constant|stable|the same)|unaffected|regardless of|no (?:effect|influence|gain)"
)
_DIRECTION = re.compile(rf"\b(?:(?P<flat>{_FLAT})|(?P<up>{_UP})|(?P<down>{_DOWN}))\b", re.IGNORECASE)
_SIZE_WORDS = (
    "growing |increasing |rising |larger |bigger |greater |higher |more |deeper |additional |"
    "smaller |fewer |less |shallower "
)
_AXIS_WORDS = r"(?P<number>number of )?(?P<axis>[a-z]+(?: sizes?| depths?| in flight)?)"
AXIS = re.compile(
    rf"\b(?:(?:with|as|when|of|on|by|for|adding|if) (?P<more>(?:the |an? |every |each |{_SIZE_WORDS})+)"
    rf"|(?P<bare>(?:{_SIZE_WORDS})+)){_AXIS_WORDS}",
    re.IGNORECASE,
)
"""Words such as `with the record size`, or `larger records`."""
_SMALLER = re.compile(r"\b(?:smaller|fewer|less|shallower)\b", re.IGNORECASE)
_LATENCY = re.compile(r"\b(?:latenc|response time)", re.IGNORECASE)
_COUNTS = re.compile(
    r"\biops\b|\b\w+s (?:per|a|each) second\b|\bnumber of (?:puts|gets|operations|requests)\b", re.IGNORECASE
)
_NEGATED = re.compile(r"\b(?:not|no|never|hardly|neither)\b[^,;]{0,20}$", re.IGNORECASE)
_SAME, _CLEAR = 0.1, 0.8
"""Ends of a series that differ by less are flat; so many of the series must agree with a claim."""


def check_trends(reading: Reading, facts: FactIndex) -> list[SentenceFault]:
    """Return what is wrong with what a sentence says of a course along an axis."""
    found = []
    for clause in reading.clauses:
        words = reading.words_of(clause)
        direction = _DIRECTION.search(words)
        axis = next((match for match in AXIS.finditer(words) if trend_keys(match["axis"], facts)), None)
        if direction is None or axis is None or reading.is_open(clause):
            continue
        keys = trend_keys(axis["axis"], facts)
        mentions = [item for item in reading.context(clause) if not set(item.dimension.split("|")) & set(keys)]
        if not keys or not mentions:
            continue
        gauge = Gauge("") if _LATENCY.search(words) else Gauge("iops") if _COUNTS.search(words) else RATE
        series = list(_series(cells_of(facts, mentions), keys, gauge))
        finding = _judge(direction, words, series, keys, _SMALLER.search(axis["more"] or axis["bare"]) is not None)
        if finding is not None:
            found.append(finding)
    return found


def trend_keys(word: str, facts: FactIndex) -> tuple[str, ...]:
    """Return the axis that a word stands for; none if no run varies it."""
    for pattern, keys in _AXES:
        if re.fullmatch(pattern, word, re.IGNORECASE):
            swept = [key for key in keys if len(facts.values_of.get(key, [])) > 1]
            return tuple(swept[:1])
    return ()


Series = list[tuple[float, float, Cell]]


def _series(cells: Iterable[Cell], keys: tuple[str, ...], gauge: Gauge) -> Iterable[Series]:
    """Yield what was measured along an axis with all else the same: value of the axis, number, result."""
    groups: dict[tuple[object, ...], Series] = {}
    for cell in cells:
        value, at = gauge.of(cell), cell.properties.get(keys[0])
        if value is None or cell.is_false or not isinstance(at, int | float):
            continue
        rest = tuple(sorted((key, str(one)) for key, one in cell.row.case.axes.items() if key not in keys))
        key = (cell.run, cell.target, cell.row.case.workload, cell.row.operation, rest)
        groups.setdefault(key, []).append((float(at), value.median, cell))
    for group in groups.values():
        if len({at for at, _, _ in group}) > 1:
            yield sorted(group, key=lambda item: item[0])


def _judge(
    direction: re.Match[str], words: str, series: list[Series], keys: tuple[str, ...], is_turned: bool
) -> SentenceFault | None:
    if not series:
        return None
    negated = _NEGATED.search(words[: direction.start()]) is not None
    changes = [(one[-1][1] / one[0][1], one) for one in series if one[0][1] > 0]
    is_flat = bool(direction["flat"]) or negated
    if is_flat:
        fits = [
            ratio for ratio, one in changes if max(v for _, v, _ in one) <= (1 + 2 * _SAME) * min(v for _, v, _ in one)
        ]
        if negated or re.search(r"not (?:\w+ )?(?:scale|grow|increase|improve)|no gain", direction[0]):
            fits = [ratio for ratio, _ in changes if ratio <= 1 + 2 * _SAME]
    elif bool(direction["up"]) is not is_turned:
        fits = [ratio for ratio, one in changes if ratio > 1 + _SAME / 2]
    else:
        fits = [ratio for ratio, one in changes if ratio < 1 - _SAME / 2]
    share = len(fits) / len(changes)
    is_up = bool(direction["up"]) is not is_turned
    worst = min if is_up and not is_flat else max
    ratio, example = worst(changes, key=lambda item: item[0])
    text = _text(example, ratio, keys)
    if share >= _CLEAR:
        return None
    if share > 0.5:
        return None
    kind = RemarkKind.DIRECTION if share <= 1 - _CLEAR else RemarkKind.UNDECIDED
    count = "" if len(changes) == 1 else f"it is so in {len(fits)} of {len(changes)} series: "
    return SentenceFault(kind, direction[0], f"{count}{text}")


def _text(series: Series, ratio: float, keys: tuple[str, ...]) -> str:
    (first, _, cell), (last, _, _) = series[0], series[-1]
    ends = " to ".join(numbers.axis_value(keys[0], int(at) if at == int(at) else at) for at in (first, last))
    case = cell.row.case
    what = f"{numbers.operation_title(cell.operation).lower()} of {case.target}"
    return (
        f"{what} changes by {numbers.ratio(ratio)} from {numbers.axis_title(keys[0]).lower()} {ends} (run {cell.run})"
    )
