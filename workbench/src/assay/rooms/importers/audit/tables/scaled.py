"""Columns with the numbers of another one in another unit, or for another time: GB/s and MB/s, prices of a month."""

import re
from collections.abc import Iterator

from assay.rooms.importers.audit.tables.cells import AuditedTable, TableColumn
from assay.rooms.importers.work.table_formula import FormulaNumber, Name, Node, Operation

_UNIT = re.compile(r"(?<![A-Za-z])([kKMGTP])(i?)(B(?:yte)?s?|b(?:it)?s?)(?=\s*/|ps|[^A-Za-z]|$)")
_POWERS = "KMGTP"
_HOURS: dict[str, tuple[float, ...]] = {
    "hour": (1,),
    "day": (24,),
    "month": (730, 720, 744, 730.5, 729.6),
    "year": (8760, 8766, 8640, 8784),
}
"""Time -> hours in it, as price lists and papers count them."""
_MULTIPLES: dict[tuple[str, str], tuple[float, ...]] = {
    ("day", "month"): (30, 365 / 12, 31),
    ("day", "year"): (365, 360),
    ("month", "year"): (12,),
}
_PERIODS = {
    **dict.fromkeys(("h", "hr", "hour", "hours", "hourly"), "hour"),
    **dict.fromkeys(("day", "daily"), "day"),
    **dict.fromkeys(("mo", "month", "monthly"), "month"),
    **dict.fromkeys(("yr", "year", "yearly", "annual", "annually"), "year"),
}
_PERIOD = re.compile(rf"(?<![0-9A-Za-z-])(?:{'|'.join(sorted(_PERIODS, key=len, reverse=True))})(?![A-Za-z])", re.I)


def scaled_columns(table: AuditedTable, column: TableColumn) -> Iterator[Node]:
    """Yield formulas of a column as a multiple of one to the left, whose heading says the same in another unit."""
    for other in table.numeric:
        if other is column:
            return
        for factor in (*_factors_of_units(other.heading, column.heading), *_factors_of_time(other, column)):
            yield Operation("*", Name(other.heading), FormulaNumber(factor))


def _plain(heading: str, pattern: re.Pattern[str]) -> str:
    """Return a heading without its unit, in lower case."""
    return re.sub(r"[^a-z0-9]+", " ", pattern.sub(" ", heading).casefold()).strip()


def _factors_of_units(one: str, two: str) -> tuple[float, ...]:
    """Return what a number in the unit of one heading is in that of another, with powers of 1000 and of 1024."""
    found = [_UNIT.search(heading) for heading in (one, two)]
    if found[0] is None or found[1] is None or _plain(one, _UNIT) != _plain(two, _UNIT):
        return ()
    powers = [_POWERS.index(each[1].upper()) for each in found if each is not None]
    bits = [8.0 if each[3].startswith("b") else 1.0 for each in found if each is not None]
    step, ratio = powers[0] - powers[1], bits[1] / bits[0]
    factors = (1000.0**step * ratio, 1024.0**step * ratio)
    return tuple(dict.fromkeys(factor for factor in factors if factor != 1))


def _factors_of_time(one: TableColumn, two: TableColumn) -> tuple[float, ...]:
    found = [_PERIOD.findall(column.heading) for column in (one, two)]
    if any(len(words) != 1 for words in found) or _plain(one.heading, _PERIOD) != _plain(two.heading, _PERIOD):
        return ()
    first, second = (_PERIODS[words[0].lower()] for words in found)
    if first == "hour":
        return _HOURS[second] if second != first else ()
    if second == "hour":
        return tuple(1 / hours for hours in _HOURS[first])
    longer = _MULTIPLES.get((first, second), ())
    return longer or tuple(1 / factor for factor in _MULTIPLES.get((second, first), ()))
