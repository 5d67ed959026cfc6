"""Amounts in fio's text, such as `475MiB/s`, `118k` or `64.0KiB`: their digits, unit and precision.

fio writes at most four significant digits (significant_figures), six before 2.17, and rounds the rest. Source: fio,
lib/num2str.c, `num2str`.
"""

import re
from decimal import Decimal
from typing import Literal, NamedTuple

from assay.model.escape import escape_line
from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.results import Figure

Kind = Literal["bytes", "bytes/s", "1/s", "ns", "us", "ms"]

_AMOUNT = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,6})?)((?:[KMGTPE]i|[kKMGTPE])?)(B|bit)?(/s)?")
_OLD_POWERS = {"K": 1, "M": 2, "G": 3, "P": 4, "E": 5}
"""Before 2.17, fio's prefixes lack T: P is 2^40."""
_LETTERS = " KMGTPE"
_SIZES: tuple[Kind, ...] = ("bytes", "bytes/s")
_MAX = Decimal(2**62)
"""Greatest amount in Assay's unit."""


class Amount(NamedTuple):
    """A printed amount.

    Attributes:
        number: Its digits.
        unit: A key of `UNITS`.
        has_prefix: It was rounded to thousands, millions, and so on.
        is_fraction_known: The digits after the point are tenths and hundredths; before 2.20 they are not.
    """

    number: str
    unit: str
    has_prefix: bool = False
    is_fraction_known: bool = True

    @property
    def value(self) -> Decimal:
        """The number in Assay's unit."""
        return convert(self.number, self.unit)

    @property
    def step(self) -> Decimal:
        """By how much its last digit counts, in Assay's unit."""
        places = len(self.number.partition(".")[2]) if self.is_fraction_known else 0
        return UNITS[self.unit].factor / Decimal(10) ** places

    @property
    def precision(self) -> Decimal:
        """`step` as a share of the number; 1 for zero."""
        return self.step / self.value if self.value else Decimal(1)

    @property
    def bounds(self) -> tuple[Decimal, Decimal]:
        """Least and greatest number that fio may print so.

        Between 2.2 and 3.12 the digits after the point may be too small by up to one of the digit before it.
        """
        factor, whole = UNITS[self.unit].factor, int(Decimal(self.number))
        return (whole - Decimal("0.5") * self.has_prefix) * factor, (whole + 1) * factor

    @property
    def in_thousands(self) -> "Amount":
        """The same with its prefix as a power of 1000, as `kb_base=1000` means it; before 2.17 fio does not say so."""
        return self._replace(unit=_THOUSANDS.get(self.unit, self.unit))

    def fits(self, number: Decimal | int) -> bool:
        """Whether fio may print a number so."""
        least, most = self.bounds
        return least <= number <= most

    def figure(self, name: str) -> Figure:
        """Return it as a figure."""
        return Figure(name=name, text=self.number, unit=self.unit)


def amount_of(text: str, kind: Kind, is_old: bool = False, is_fraction_known: bool = True) -> Amount:
    """Return an amount.

    Args:
        text: As printed, such as `475MiB/s`.
        kind: What it is an amount of. With `unified_rw_reporting=both` fio leaves the unit of rates out: `423Mi`.
        is_old: It is from before fio 2.17, where `K` is 1024 for bytes.
        is_fraction_known: As in `Amount`.

    Raises:
        ValueError: It is none.
    """
    match = _AMOUNT.fullmatch(text)
    if match is not None and (kind in _SIZES or not (match[3] or "i" in match[2])):
        unit = _unit(match[2], match[3] or "B", kind, is_old)
        amount = Amount(match[1], unit, bool(match[2]), is_fraction_known)
        if amount.value <= _MAX:
            return amount
    raise ValueError(f"{escape_line(text, 40)} is no amount")


def _unit(prefix: str, of: str, kind: Kind, is_old: bool) -> str:
    """Return the key of `UNITS` for a prefix of a unit."""
    if kind not in _SIZES:
        small = "k" if prefix == "K" else prefix
        if kind == "1/s":
            return f"{small}/s" if small else "1/s"
        return f"{small} {kind}" if small else kind
    per = "/s" if kind == "bytes/s" else ""
    if is_old and prefix in _OLD_POWERS:
        power = _OLD_POWERS[prefix]
        base = "B" if of == "B" else "bit"
        return f"{_LETTERS[power]}{of}{per} (2^{10 * power} {base})"
    return f"kB{per} (1000 B)" if (prefix, of) == ("k", "B") else f"{prefix}{of}{per}"


_THOUSANDS = {
    _unit(prefix, of, kind, is_old=True): _unit("k" if prefix == "K" else _LETTERS[power], of, kind, is_old=False)
    for prefix, power in _OLD_POWERS.items()
    for of in ("B", "bit")
    for kind in _SIZES
}
"""Unit before 2.17 -> the same as a power of 1000."""
