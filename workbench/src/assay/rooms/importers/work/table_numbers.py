"""Numbers in the cells of tables, with their separators, footnote marks and units."""

import re
from decimal import Decimal
from typing import NamedTuple

from assay.model.escape import escape_line
from assay.model.units import choices_hint
from assay.rooms.importers.work.figure_units import UNITS as ALL_UNITS
from assay.rooms.importers.work.table_roles import DEFAULT_UNITS, UNITS, Roles, quantity_of

_BLANKS = " \u00a0\u2007\u2009\u202f"
_MAX_CHARS = 40
_PLAIN = re.compile(r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,2})?")
_SPLIT = re.compile(r"([-+]?[0-9.][0-9.,' \u00a0\u2007\u2009\u202f]*+(?:[eE][-+]?[0-9]+)?)[ \u00a0]*(.*)")
_MAX_VALUE = Decimal(2**62)
_CELL_UNITS = {
    "B": "bytes",
    "µs": "us",
    "μs": "us",
    **dict.fromkeys(("IOPS", "ops/s", "ops/sec", "req/s", "IO/s"), "1/s"),
}
"""Other names of units in cells -> their names in `UNITS`."""


class CellError(Exception):
    """A cell that cannot be read.

    Attributes:
        message: What is wrong with it.
        hint: How to mend it.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class CellNumber(NamedTuple):
    """A number of a cell.

    Attributes:
        text: The number digit by digit, with a decimal point and without separators.
        unit: Its unit; empty for a count.
        mark: What follows it and points to a footnote.
    """

    text: str
    unit: str
    mark: str


def number_of(cell: str, role: str, unit: str, roles: Roles) -> CellNumber:
    """Return the number in a cell.

    Args:
        cell: The text of the cell, not empty.
        role: What the column is.
        unit: Unit of the column; empty if each cell has its own.
        roles: How numbers are written.

    Raises:
        CellError: It is no number, is negative or too large, or has no unit that is known.
    """
    shown = escape_line(cell, _MAX_CHARS)
    text, mark = _without_marks(cell, roles.marks)
    own = ""
    if not unit and (found := _SPLIT.fullmatch(text)):
        text, own = found[1].strip(_BLANKS), found[2].strip()
    digits = _digits(text, roles)
    if digits is None:
        raise CellError(f"`{shown}` is not a number", _number_hint(text, roles))
    unit = unit or _cell_unit(own, role, shown)
    value = Decimal(digits)
    if value < 0 or value * (ALL_UNITS[unit].factor if unit else 1) > _MAX_VALUE:
        raise CellError(f"it cannot be `{shown}`", "mend the number, or its unit in the roles file")
    return CellNumber(digits, unit, mark)


def digits_of(cell: str, roles: Roles) -> str:
    """Return the number that a cell is, or begins with before a unit, digit by digit; empty if it is none."""
    text, _ = _without_marks(cell, roles.marks)
    if (digits := _digits(text, roles)) is not None:
        return digits
    found = _SPLIT.fullmatch(text)
    own = found[2].strip() if found else ""
    if not found or not (own == "%" or _CELL_UNITS.get(own, own) in ALL_UNITS):
        return ""
    return _digits(found[1].strip(_BLANKS), roles) or ""


def _without_marks(cell: str, marks: tuple[str, ...]) -> tuple[str, str]:
    end = len(cell)
    while mark := next((one for one in marks if one and cell[:end].endswith(one)), ""):
        end -= len(mark)
        end = len(cell[:end].rstrip())
    return cell[:end], cell[end:].strip()


def _digits(text: str, roles: Roles) -> str | None:
    """Return a number with a decimal point and without separators of thousands; None if it is none."""
    if len(text) > _MAX_CHARS:
        return None
    if roles.thousands:
        signs = _BLANKS if roles.thousands == " " else roles.thousands
        whole, point, fraction = text.partition(roles.decimal)
        groups = re.split(f"[{re.escape(signs)}]", whole)
        if len(groups) > 1:
            if not re.fullmatch("-?[0-9]{1,3}", groups[0]) or any(
                not re.fullmatch("[0-9]{3}", one) for one in groups[1:]
            ):
                return None
            text = "".join(groups) + point + fraction
    if roles.decimal == ",":
        if "." in text:
            return None
        text = text.replace(",", ".", 1)
    return text if _PLAIN.fullmatch(text) else None


def _number_hint(text: str, roles: Roles) -> str:
    """Return how other separators in the roles file would make it a number."""
    signs = {"decimal": (",", "."), "thousands": (",", ".", " ", "'")}
    words = {"decimal": "is the decimal sign", "thousands": "stands between thousands"}
    found = [
        f'if `{sign}` {words[key]}, write `{key}: "{sign}"` in the roles file'
        for key, allowed in signs.items()
        for sign in allowed
        if getattr(roles, key) != sign and _digits(text, roles.model_copy(update={key: sign})) is not None
    ]
    other = "mend it; or name it in `empty` of the roles file, or a sign after the number in `marks`"
    return "; ".join(found) or other


def _cell_unit(own: str, role: str, shown: str) -> str:
    quantity = quantity_of(role)
    units = UNITS[quantity] if quantity else ()
    if not own:
        if role in DEFAULT_UNITS:
            return DEFAULT_UNITS[role]
        raise CellError(f"`{shown}` has no unit", f"name it in the roles file: unit: one of {', '.join(units)}")
    unit = _CELL_UNITS.get(own, own)
    if unit not in units:
        raise CellError(f"`{escape_line(own, _MAX_CHARS)}` is no unit of {role}", choices_hint(own, units))
    return unit
