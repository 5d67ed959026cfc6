"""Reads values of options as fio does. Source: fio 3.42, parse.c."""

import re
from fractions import Fraction

_SIZE = re.compile(r"\s*(0[xX][0-9a-fA-F]{1,15}|[0-9]{1,19})\s*([kmgtpKMGTP]?)([iI]?)([bB]?)\s*")
_TIME = re.compile(r"\s*([0-9]{1,15})\s*([A-Za-z]*)\s*")
_POWERS = " kmgtp"
_NS = {"us": 10**3, "usec": 10**3, "ms": 10**6, "msec": 10**6, "s": 10**9, "m": 60 * 10**9}
_NS |= {"h": 3600 * 10**9, "d": 86400 * 10**9}
_MAX = 1 << 63


def size_of(text: str, kb_base: int = 1024) -> int | None:
    """Return a size in bytes; None if it is none that fio reads, a percentage, or has a unit that fio ignores.

    With `kb_base` 1024 `k` and `kb` are 1024, and `kib` is 1000; with 1000 it is the other way round
    (`__get_mult_bytes`).
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        return None
    is_opposite = bool(found[2] and found[3] and found[4])
    base = 2024 - kb_base if is_opposite else kb_base
    value = int(found[1], 0) if found[1][:2].lower() == "0x" else int(found[1])
    size = value * base ** _POWERS.index(found[2].lower() or " ")
    return size if size < _MAX else None


def percent_of(text: str) -> int | None:
    """Return a percentage; None if it is none."""
    found = re.fullmatch(r"\s*([0-9]{1,3})\s*%\s*", text)
    return int(found[1]) if found else None


def time_of(text: str, default: str = "s") -> int | None:
    """Return a time in nanoseconds, in the unit `default` if it has none; None if it is no time."""
    found = _TIME.fullmatch(text)
    unit = found[2].lower() or default if found else ""
    time = int(found[1]) * _NS[unit] if found and unit in _NS else None
    return time if time is not None and time < _MAX else None


def whole_of(text: str) -> int | None:
    """Return a whole number of 18 digits at most; None if it is none."""
    found = re.fullmatch(r"\s*([0-9]{1,18})\s*", text)
    return int(found[1]) if found else None


def rate_text(rate: Fraction) -> tuple[str, bool]:
    """Return a rate in operations per second as a study has it, and whether it was rounded, to a thousandth."""
    thousandths = round(rate * 1000)
    whole, rest = divmod(thousandths, 1000)
    text = f"{whole}.{rest:03d}".rstrip("0").rstrip(".")
    return f"{text}/s", Fraction(thousandths, 1000) != rate
