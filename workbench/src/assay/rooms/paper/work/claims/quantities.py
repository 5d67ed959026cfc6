"""Numbers with units in a sentence, as people write them: `about 2.3 GB/s`, `twice`, `$536 a month`, `76 to 98 ms`.

Unlike a study, a text may use any unit of the field: bits or bytes, powers of 1,000 or 1,024, words for small numbers.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class Kind(StrEnum):
    """What a quantity measures; its values are in the unit behind each."""

    THROUGHPUT = "throughput"  # bytes per second
    OPERATIONS = "operations"  # operations per second
    TIME = "time"  # nanoseconds
    SIZE = "size"  # bytes
    MONEY = "money"  # units of a currency
    RATIO = "ratio"
    PERCENT = "percent"  # 1 is 100 %
    COUNT = "count"


class BoundWord(StrEnum):
    """How a quantity limits the values that it speaks of."""

    EXACT = "exact"
    ABOUT = "about"
    MIN = "at least"
    MORE = "more than"
    MAX = "at most"
    LESS = "less than"
    UP_TO = "up to"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit in a sentence.

    Attributes:
        value: In the unit of its kind.
        low, high: The values that are rounded to the written digits lie between them.
        start, end: Its place in the sentence.
        text: As it is written, without a word such as `about`.
        scale: Measured of one written unit, in the unit of its kind.
        unit: The unit as it is written.
        is_reference: It was put in by a reference to a result.
        until: The other end if it is the lower end of a range.
    """

    kind: Kind
    value: float
    low: float
    high: float
    start: int
    end: int
    text: str
    scale: float = 1.0
    unit: str = ""
    bound: BoundWord = BoundWord.EXACT
    is_reference: bool = False
    until: "Quantity | None" = None

    def agrees_with(self, value: float) -> bool:
        """Return whether a value rounds to this number, or satisfies its bound."""
        if self.bound in (BoundWord.MIN, BoundWord.MORE):
            return value >= max(self.low, self.value * (1 - _BOUND_SLACK))
        if self.bound in (BoundWord.MAX, BoundWord.LESS):
            return value <= min(self.high, self.value * (1 + _BOUND_SLACK))
        return self.low <= value <= self.high

    def times(self, factor: float) -> "Quantity":
        """Return the quantity with another unit, `factor` times as large."""
        return replace(self, value=self.value * factor, low=self.low * factor, high=self.high * factor)


_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "hundred": 100,
}  # fmt: skip
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_WORDS |= _TENS
_WORDS |= {
    f"{ten}-{one}": 10 * (place + 2) + _WORDS[one] for place, ten in enumerate(_TENS) for one in tuple(_WORDS)[:9]
}
"""Numbers that are written as words."""
_FRACTIONS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
_FACTORS = {"twice": 2.0, "double": 2.0, "doubles": 2.0, "doubled": 2.0, "doubling": 2.0, "thrice": 3.0}
_FACTORS |= {"triple": 3.0, "triples": 3.0, "tripled": 3.0, "quadruple": 4.0, "quadruples": 4.0, "quadrupled": 4.0}
_FACTORS |= {"halves": 0.5, "halved": 0.5}
_FACTORS |= {f"{word}fold": float(value) for word, value in _WORDS.items() if value > 1}
_FACTORS |= {"twofold": 2.0}
_FACTOR_VERB = re.compile(r"\w+(?:es|ed)\b|(?:double|triple|quadruple)(?! (?:the|that|of|as)\b)", re.IGNORECASE)
FACTOR_VERB = "(verb)"
"""Unit of a factor that a verb states: `doubles`."""
_PREFIXES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "kilo": 1, "mega": 2, "giga": 3, "tera": 4, "peta": 5}
_PREFIXES |= {"kibi": 1, "mebi": 2, "gibi": 3, "tebi": 4}
_TIMES = {
    "ns": 1.0, "nanosecond": 1.0, "µs": 1e3, "μs": 1e3, "us": 1e3, "usec": 1e3, "microsecond": 1e3, "ms": 1e6,
    "msec": 1e6, "millisecond": 1e6, "s": 1e9, "sec": 1e9, "second": 1e9, "min": 60e9, "minute": 60e9,
    "h": 3600e9, "hour": 3600e9, "day": 86400e9,
}  # fmt: skip
_LARGE = {"k": 1e3, "thousand": 1e3, "million": 1e6, "billion": 1e9}

_NUMBER = r"(?:[0-9]{1,3}(?:[,\u202f\u00a0][0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?"
_START = r"(?<![\w.,/+-])(?<![0-9][-–])"
_BYTES = (
    r"(?P<prefix>kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi|[kKMGTP])?(?P<binary>i)?(?P<base>[Bb]its?|[Bb]ytes?|B|b)"
)
_SECOND = r"(?:\s?/\s?s(?:ec(?:ond)?)?\b|ps\b|\s(?:per|a|each|every) second)"
_DATA_RATE = re.compile(rf"\s?-?{_BYTES}{_SECOND}")
_SIZE = re.compile(rf"[\s-]?{_BYTES}(?![\w/])(?!\s(?:per|a) second)")
_SHORT_SIZE = re.compile(r"(?P<prefix>[kKMG])(?![\w/])")
_COUNT_RATE = re.compile(
    r"\s?(?P<large>[kKM]|thousand|"
    r"million)?\s?(?P<unit>(?:[a-z]+ ){0,2}[a-z]+s(?= of [0-9.]+ ?[kKMG]i?B (?:[a-z]+ )?(?:per|a|"
    r"each) second\b)|(?:[a-z-]+\s){0,2}[kKM]?(?:IOPS|iops)|"
    r"(?:(?:[0-9]+ ?[kKMG]i?B )?(?:(?!(?:with|in|at|to|for|from|and|of|per|a|each|on|seconds?|are|is|or|than|by)\b)"
    r"[A-Za-z-]+(?:\s|(?=/))){0,4}?)?(?:/\s?s(?:ec)?\b|(?:per|a|each|every) second\b))"
)
_TIME = re.compile(rf"[\s-]?(?P<unit>{'|'.join(sorted(map(re.escape, _TIMES), key=len, reverse=True))})s?(?![\w/])")
_CURRENCY = r"USD|EUR|GBP|US dollars|dollars|euros|\$|€|£"
_MONEY = re.compile(rf"\s?(?P<unit>{_CURRENCY})(?!\w)")
_MONEY_BEFORE = re.compile(rf"(?P<unit>{_CURRENCY})\s?$")
_PERCENT = re.compile(r"\s?(?P<unit>%|percent|per cent)(?!\w)(?! (?:confidence|interval|level|quantile))")
_COMPARED = (
    r"(?:as |faster|slower|more|less|higher|lower|greater|larger|cheaper|longer|shorter|the |that |those |its |"
    r"what |better|worse|of )"
)
_TIMES_WORD = re.compile(rf"\s?(?P<unit>×|x(?=[,.;:)]|\s{_COMPARED}|$)|-?fold\b|[ -]times\b)(?P<rest>\s{_COMPARED})?")
_NUMBER_AT = re.compile(rf"{_START}(?P<number>{_NUMBER})(?!\.[0-9])")
_WORD_AT = re.compile(rf"\b(?<!-)(?P<word>{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b", re.IGNORECASE)
_FRACTION_AT = re.compile(
    (
        rf"\b(?:(?P<count>a|one|two|three)[ -])?(?P<word>{'|'.join(_FRACTIONS)})(?P<many>s)?\b(?! (?:run|repeat|"
        rf"time|party))"
    ),
    re.IGNORECASE,
)
_FACTOR_AT = re.compile(
    rf"\b(?P<word>{'|'.join(_FACTORS)})\b|\b(?P<orders>an|one|two|three) orders? of magnitude\b", re.I
)
_BETWEEN = re.compile(r"\s?(?:to|and|–|—|-|\.\.\.|up to|through)\s?")
_LISTED = re.compile(r"\s?(?:,|,? ?(?:and|or|to|versus|vs\.?|against|but|then)|–|-|/)\s?(?:about |roughly |only )?")

_NEVER_OVER = (
    r"never (?:rises?|rose|goes|went|was|were) (?:above|over)|(?:never|not|hardly|rarely|"
    r"cannot) (?:ever )?exceed(?:s|ed)?"
)
_NEVER_UNDER = (
    r"never (?:below|under)|never (?:f[ea]lls?|drops?|dropped|goes|went|sinks?|sank|was|were) (?:below|under)"
)
_BOUNDS: tuple[tuple[BoundWord, str], ...] = (
    (BoundWord.MAX, rf"(?:at (?:the )?most|(?:no|not|never) more than|never above|{_NEVER_OVER}|a maximum of)"),
    (BoundWord.MIN, rf"(?:at (?:the very |the )?least|(?:no|not|never) less than|a minimum of|{_NEVER_UNDER})"),
    (BoundWord.UP_TO, r"(?:up to|as much as|as high as|as many as)"),
    (
        BoundWord.ABOUT,
        r"(?:about|around|roughly|approximately|approx\.?|nearly|almost|close to|some|circa|ca\.|~|≈|just over|"
        r"just under|"
        r"slightly (?:more|less) than|slightly (?:over|under|above|below)|little (?:more|less) than|more or less|"
        r"a little (?:more|less|over|under)(?: than)?|in the order of|on the order of)",
    ),
    (
        BoundWord.MORE,
        r"(?:more than|over|above|exceed(?:s|ed|ing)?|beyond|greater than|higher than|upwards? of|better than|"
        r"faster than|"
        r"well over)",
    ),
    (
        BoundWord.LESS,
        r"(?:less than|fewer than|under|below|lower than|short of|smaller than|not even|slower than|well under|within)",
    ),
)
_BOUND_BEFORE = [
    (bound, re.compile(rf"(?<!\w){words}\s?(?:a |an |only |by |a factor of |factor of )?$", re.I))
    for bound, words in _BOUNDS
]
_DENIED = re.compile(r"\b(?:no|not|never|none|nowhere|neither|nor)\b[^,;:.]{0,60}$", re.IGNORECASE)
_DENIED_BOUNDS = {BoundWord.MORE: BoundWord.MAX, BoundWord.LESS: BoundWord.MIN}
_SPEED = re.compile(r"faster|slower", re.IGNORECASE)
"""Words that bound rates only: `faster than 1 MiB reads` bounds no size."""
_BOUND_SLACK = 0.005
"""A bound may be missed by this share: it is a rounded number, too."""
_ABOUT_SHARE = 0.1
"""`about` allows for so much of the number, if its digits do not allow for more."""
_MAX_ROUNDING = 0.05
"""Zeros at the end of a whole number are taken for rounding up to this share."""


def find_quantities(text: str, blocked: Sequence[tuple[int, int]] = ()) -> list[Quantity]:
    """Return the quantities of a sentence in their order.

    Args:
        text: The sentence.
        blocked: Places of names, whose digits are no numbers.
    """
    found = [*_numbers(text), *_worded(text)]
    found = [item for item in found if not any(start < item.end and item.start < end for start, end in blocked)]
    found.sort(key=lambda item: (item.start, -item.end))
    found = [item for place, item in enumerate(found) if not place or item.start >= found[place - 1].end]
    return _with_ranges(text, _with_units_of_lists(text, found))


def _numbers(text: str) -> Iterator[Quantity]:
    for match in _NUMBER_AT.finditer(text):
        yield _with_unit(text, match.start(), match.end(), match["number"], None)
    for match in _WORD_AT.finditer(text):
        yield _with_unit(text, match.start(), match.end(), "", float(_WORDS[match["word"].lower()]))


def _with_unit(text: str, start: int, end: int, number: str, word: float | None) -> Quantity:
    value = word if word is not None else float(re.sub(r"[,\u202f\u00a0]", "", number))
    low, high = (value - 0.5, value + 0.5) if word is not None else _rounded(number)
    unit = _unit(text, start, end, word is not None)
    kind, scale, unit_text, begin, stop = unit
    if kind is Kind.RATIO and value == int(value) and value < 10 and "." not in number:
        low, high = _factor_range(value)
    found = Quantity(kind, value * scale, low * scale, high * scale, begin, stop, text[begin:stop], scale, unit_text)
    return _bounded(text, found)


def _unit(text: str, start: int, end: int, is_word: bool) -> tuple[Kind, float, str, int, int]:
    """Return kind, scale and text of a number's unit, and where both begin and end."""
    if before := _MONEY_BEFORE.search(text, max(0, start - 12), start):
        large = re.compile(r"\s?(?P<large>k|million|billion)\b").match(text, end)
        scale = _LARGE[large["large"]] if large else 1.0
        return Kind.MONEY, scale, _currency(before["unit"]), before.start(), large.end() if large else end
    if match := _DATA_RATE.match(text, end):
        return Kind.THROUGHPUT, _bytes(match), match[0].strip(" -"), start, match.end()
    if match := _SIZE.match(text, end):
        return Kind.SIZE, _bytes(match), match[0].strip(" -"), start, match.end()
    if match := _MONEY.match(text, end):
        return Kind.MONEY, 1.0, _currency(match["unit"]), start, match.end()
    if match := _PERCENT.match(text, end):
        return Kind.PERCENT, 0.01, "%", start, match.end()
    if (match := _TIMES_WORD.match(text, end)) and (
        match["unit"] in ("×", "x") or "fold" in match["unit"] or match["rest"]
    ):
        return Kind.RATIO, 1.0, match["unit"].strip(), start, match.end("unit")
    if match := _COUNT_RATE.match(text, end):
        prefix = (match["large"] or (match["unit"][0] if match["unit"].lower() in ("kiops", "miops") else "")).lower()
        return Kind.OPERATIONS, 1e6 if prefix == "m" else _LARGE.get(prefix, 1.0), match["unit"], start, match.end()
    if not is_word and (match := _SHORT_SIZE.match(text, end)):
        return Kind.SIZE, 1024.0 ** _PREFIXES[match["prefix"].lower()], match[0], start, match.end()
    if match := _TIME.match(text, end):
        return Kind.TIME, _TIMES[match["unit"]], match["unit"], start, match.end()
    return Kind.COUNT, 1.0, "", start, end


def _currency(written: str) -> str:
    return {"$": "USD", "€": "EUR", "£": "GBP", "dollars": "USD", "US dollars": "USD", "euros": "EUR"}.get(
        written, written
    )


def _bytes(match: re.Match[str]) -> float:
    prefix, base = (match["prefix"] or "").lower(), match["base"]
    binary = bool(match["binary"]) or prefix.endswith("bi")
    bits = base == "b" or base.lower().startswith("bit")
    return float((1024 if binary else 1000) ** _PREFIXES[prefix]) / (8 if bits else 1)


def _rounded(number: str) -> tuple[float, float]:
    """Return the ends of what rounds to the digits of a number.

    Zeros at the end of a whole number may be rounding or exact: what differs by up to half of the last digit before
    them agrees, but by no more than `_MAX_ROUNDING`.
    """
    plain = re.sub(r"[,\u202f\u00a0]", "", number)
    value = float(plain)
    if "." in plain:
        half = 0.5 * 10.0 ** -len(plain.split(".")[1])
    else:
        zeros = len(plain) - len(plain.rstrip("0")) if value else 0
        half = max(0.5, min(0.5 * 10.0**zeros, _MAX_ROUNDING * value))
    slack = 1e-9 * value
    return value - half - slack, value + half + slack


def _factor_range(value: float) -> tuple[float, float]:
    """Return what `twice` or `3 times` may mean: an eighth to either side, at most half of one."""
    reach = min(0.5, value / 8)
    return value - reach, value + reach


def _worded(text: str) -> Iterator[Quantity]:
    for match in _FACTOR_AT.finditer(text):
        if match["orders"]:
            value = 10.0 ** {"an": 1, "one": 1, "two": 2, "three": 3}[match["orders"].lower()]
            low, high = value / 2, value * 2
        else:
            value = _FACTORS[match["word"].lower()]
            low, high = (0.45, 0.55) if value == 0.5 else _factor_range(value)
        is_verb = match["word"] and _FACTOR_VERB.match(text, match.start()) is not None
        unit = FACTOR_VERB if is_verb else ""
        yield _bounded(text, Quantity(Kind.RATIO, value, low, high, match.start(), match.end(), match[0], 1.0, unit))
    for match in _FRACTION_AT.finditer(text):
        count = {"two": 2, "three": 3}.get((match["count"] or "").lower(), 1)
        if match["word"].lower() != "half" and not match["count"]:
            continue
        value = count * _FRACTIONS[match["word"].lower()]
        reach = max(0.1 * value, 0.02)
        found = Quantity(Kind.RATIO, value, value - reach, value + reach, match.start(), match.end(), match[0])
        yield _bounded(text, found)


def _bounded(text: str, item: Quantity) -> Quantity:
    before = text[max(0, item.start - 32) : item.start]
    for bound, pattern in _BOUND_BEFORE:
        match = pattern.search(before)
        if match and (item.kind in (Kind.THROUGHPUT, Kind.OPERATIONS) or not _SPEED.match(match[0])):
            if bound is not BoundWord.ABOUT:
                is_denied = _DENIED.search(text, 0, item.start - len(match[0])) is not None
                return replace(item, bound=_DENIED_BOUNDS.get(bound, bound) if is_denied else bound)
            reach = _ABOUT_SHARE if item.kind is not Kind.RATIO else 0.2
            if "order" in match[0].lower():
                reach = 0.5
            low, high = item.value * (1 - reach), item.value * (1 + reach)
            return replace(item, bound=bound, low=min(low, item.low), high=max(high, item.high))
    if re.match(r"\s?(?:or so|or thereabouts)\b", text[item.end :]):
        low, high = item.value * (1 - _ABOUT_SHARE), item.value * (1 + _ABOUT_SHARE)
        return replace(item, bound=BoundWord.ABOUT, low=min(low, item.low), high=max(high, item.high))
    if re.match(r"\s?(?:or more|or better|and more|and above)\b", text[item.end :]):
        return replace(item, bound=BoundWord.MIN)
    if re.match(r"\s?(?:or less|or fewer|at most)\b", text[item.end :]):
        return replace(item, bound=BoundWord.MAX)
    return item


def _with_units_of_lists(text: str, found: list[Quantity]) -> list[Quantity]:
    """Give numbers without a unit the unit of the number that they are listed with: `90 and 2,310 MB/s`."""
    shared: set[int] = set()
    for at in range(len(found) - 2, -1, -1):
        first, second = found[at], found[at + 1]
        has_unit = second.kind not in (Kind.COUNT, Kind.RATIO) or second.unit == "×"
        between = _LISTED.fullmatch(text, first.end, second.start)
        is_list = between is not None and (between[0].strip() != "," or second.start in shared)
        if first.kind is Kind.COUNT and has_unit and is_list:
            shared.add(first.start)
            scale = second.scale
            found[at] = replace(
                first, kind=second.kind, scale=scale, unit=second.unit,
                value=first.value * scale, low=first.low * scale, high=first.high * scale,
            )  # fmt: skip
    return found


def _with_ranges(text: str, found: list[Quantity]) -> list[Quantity]:
    """Join both ends of ranges: `76 to 98 MB/s`, `between 76 and 98 MB/s`."""
    joined: list[Quantity] = []
    for item in found:
        last = joined[-1] if joined else None
        if last is not None and last.until is None and last.kind is item.kind and _is_range(text, last, item):
            joined[-1] = replace(last, until=item)
        else:
            joined.append(item)
    return joined


def _is_range(text: str, first: Quantity, second: Quantity) -> bool:
    between = text[first.end : second.start]
    if not _BETWEEN.fullmatch(between) or first.value >= second.value:
        return False
    before = text[max(0, first.start - 24) : first.start].lower()
    return "and" not in between or re.search(r"\bbetween\s+(?:about |roughly )?$", before) is not None


def relative_distance(first: float, second: float) -> float:
    """Return how far two values are apart, as the absolute logarithm of their ratio; infinite if one is not above 0."""
    return abs(math.log(first / second)) if first > 0 and second > 0 else math.inf
