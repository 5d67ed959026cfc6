"""Which signs separate decimals and thousands in the numbers of a table, and what follows them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from assay.rooms.importers.work.guess.words import EMPTY

_MARK = re.compile(r"(.*[0-9a-zA-Z/%.])\s*([*†‡§¹²³⁴⁵⁶⁷⁸⁹⁰ᵃᵇᶜ]+|\[\^?\w{1,3}\])")
_WITH_UNIT = re.compile(r"([-+]?[0-9.][0-9.,' \u00a0\u2009\u202f]*+(?:[eE][-+]?[0-9]+)?)[ \u00a0]*[a-zA-Zµμ/%]{0,8}")
_BLANK_GROUPS = re.compile(r"[0-9]{1,3}([ \u00a0\u2009\u202f][0-9]{3})+([.,][0-9]*)?")


class Separators(NamedTuple):
    """How numbers are written; the fields are those of `Roles`."""

    decimal: str = "."
    thousands: str = ""
    empty: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    def plain(self, text: str) -> str:
        """Return a number without marks."""
        return _without_mark(text)[0]


def is_numeric(cell: str) -> bool:
    """Whether a cell is a number, perhaps with a unit and a footnote mark."""
    return _WITH_UNIT.fullmatch(_without_mark(cell)[0]) is not None


def _without_mark(cell: str) -> tuple[str, str]:
    match = _MARK.fullmatch(cell)
    return (match[1], match[2]) if match else (cell, "")


def find_separators(cells: Sequence[str], separator: str) -> tuple[Separators, str]:
    """Return how numbers are written, and what is unsure of that.

    Args:
        cells: Cells of columns of numbers.
        separator: What separates columns.
    """
    empty = tuple(dict.fromkeys(cell for cell in cells if cell.lower() in EMPTY))
    parts = [_without_mark(cell) for cell in cells if cell.lower() not in EMPTY and is_numeric(cell)]
    marks = [sign for _, mark in parts for sign in ([mark] if mark.startswith("[") else mark)]
    numbers = [match[1].strip() for text, _ in parts if (match := _WITH_UNIT.fullmatch(text))]
    decimal, thousands, doubt = _signs(numbers, separator)
    return Separators(decimal, thousands, empty, tuple(dict.fromkeys(marks))), doubt


def _signs(numbers: Sequence[str], separator: str) -> tuple[str, str, str]:
    """Return the sign of decimals, that of thousands, and what is unsure."""
    both = [one for one in numbers if "," in one and "." in one]
    commas, points = ([one for one in numbers if sign in one] for sign in ",.")
    blank = next((" " for one in numbers if _BLANK_GROUPS.fullmatch(one)), "")
    quote = "'" if any("'" in one for one in numbers) else ""
    if both:
        last = "," if both[0].rfind(",") > both[0].rfind(".") else "."
        return last, "." if last == "," else ",", ""
    if commas and points:
        if all(_is_grouped(one, ",") for one in commas):
            return ".", ",", ""
        return (",", ".", "") if all(_is_grouped(one, ".") for one in points) else (".", blank or quote, "")
    if commas and all(_is_grouped(one, ",") for one in commas):
        if any(one.count(",") > 1 for one in commas):
            return ".", ",", ""
        doubt = f"`{commas[0]}`: the comma may stand between thousands or be the decimal sign"
        return (",", blank or quote, doubt) if separator == ";" else (".", ",", doubt)
    if commas:
        return ",", blank or quote, ""
    if points and all(one.count(".") > 1 and _is_grouped(one, ".") for one in points):
        return ",", ".", ""
    return ".", blank or quote, ""


def _is_grouped(number: str, sign: str) -> bool:
    return re.fullmatch(rf"-?[0-9]{{1,3}}({re.escape(sign)}[0-9]{{3}})+", number) is not None
