"""Sizes, durations and rates as people write them.

No other spellings are accepted, so that a figure means the same to every reader: `MB` is 10^6 bytes and `MiB` is 2^20;
`KB`, `kb`, `64k` are refused because they mean 1000 to some and 1024 to others.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from assay.model.base import AssayError

SIZE_UNITS = {
    "B": 1,
    "kB": 10**3,
    "KiB": 2**10,
    "MB": 10**6,
    "MiB": 2**20,
    "GB": 10**9,
    "GiB": 2**30,
    "TB": 10**12,
    "TiB": 2**40,
    "PB": 10**15,
    "PiB": 2**50,
}
"""Unit of size -> bytes."""

DURATION_UNITS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 24 * 3600 * 10**9,
}
"""Unit of time -> nanoseconds."""
_PRINTED_DURATIONS = ("h", "m", "s", "ms", "us")
"""Units that durations are printed with, the largest first."""

BIT_UNITS = {"kb": 10**3, "Mb": 10**6, "Gb": 10**9, "Tb": 10**12}
"""Unit of data on a wire -> bits."""

LINK_UNITS = {"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, **BIT_UNITS}
"""Unit of data on a link -> bits; the second spelling of each is that of throughputs."""

LOSS_UNITS = {"ppm": 1, "%": 10**4}
"""Unit of a share of lost frames -> frames per million."""

RATE_UNIT = "/s"

Hint = Callable[[str, str], str]
"""Takes number and unit, and returns how to write them correctly."""

_NUMBER = r"[0-9]{1,30}(?:\.[0-9]{1,30})?"
SIZE_PATTERN = rf"^{_NUMBER} ?({'|'.join(SIZE_UNITS)})$"
"""Texts that `parse_size` accepts."""
DURATION_PATTERN = rf"^{_NUMBER} ?({'|'.join(DURATION_UNITS)})$"
"""Texts that `parse_duration` accepts."""
THROUGHPUT_PATTERN = rf"^{_NUMBER} ?({'|'.join([*SIZE_UNITS, *BIT_UNITS])}) ?/ ?s$"
"""Texts that `parse_throughput` accepts."""
RATE_PATTERN = rf"^{_NUMBER} ?/ ?s$"
"""Texts that `parse_rate` accepts."""
LINK_PATTERN = rf"^{_NUMBER} ?({'|'.join(LINK_UNITS)}) ?/ ?s$"
"""Texts that `parse_link` accepts."""
LOSS_PATTERN = rf"^{_NUMBER} ?({'|'.join(LOSS_UNITS)})$"
"""Texts that `parse_loss` accepts."""

_QUANTITY = re.compile(rf"(?P<sign>-?)(?P<number>{_NUMBER}) ?(?P<unit>[A-Za-zµ]*)")
_PER_SECOND = re.compile(r"(?P<amount>.*?) ?/ ?s")
_RATE = re.compile(rf"(?P<sign>-?)(?P<number>{_NUMBER}) ?/ ?s")


class UnitError(AssayError, ValueError):
    """A quantity that cannot be read; the hint says how to write it."""


def parse_size(written: object) -> int:
    """Read `64KiB`, `1.5 GB` or a whole number as bytes.

    Raises:
        UnitError: Unknown unit, negative, or not a whole number of bytes.
    """
    example = "write sizes as 64KiB, 1MB, 2GiB or a whole number of bytes"
    if isinstance(written, bool) or not isinstance(written, int | str):
        raise UnitError(f"{display_value(written)} is not a size", example)
    if isinstance(written, int):
        return _not_negative(written, written, "a size")
    return _parse(written, "a size", SIZE_UNITS, example, _size_hint)


def parse_duration(written: object) -> int:
    """Read `100ms`, `5s`, `2m` or `2min`, `1h` or `3d` as nanoseconds.

    Raises:
        UnitError: No unit, unknown unit, negative, or finer than a nanosecond.
    """
    example = "write durations with their unit: 500us, 100ms, 5s, 2min, 1h or 3d"
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        raise UnitError(f"{display_value(written)} is not a duration", example)
    if not isinstance(written, str):
        raise UnitError(f"the duration {written} has no unit", f"write {written}s for seconds, {written}ms for ms")
    return _parse(written, "a duration", DURATION_UNITS, example, lambda _number, _unit: example)


def parse_rate(written: object) -> float:
    """Read `1000/s` as operations per second.

    Raises:
        UnitError: It has another form, or is negative.
    """
    example = "write rates as operations per second: 1000/s"
    if not isinstance(written, str):
        plain = isinstance(written, int | float) and not isinstance(written, bool)
        raise UnitError(f"{display_value(written)} is not a rate", f"write {written}/s" if plain else example)
    found = _RATE.fullmatch(written.strip())
    if not found:
        raise UnitError(f"{display_value(written)} is not a rate", example)
    if found["sign"]:
        raise UnitError(f"{written} is negative", "a rate is above 0")
    return float(found["number"])


def parse_throughput(written: object) -> float:
    """Read `500MB/s`, `1.2 GiB/s` or, as for links, `10Gb/s` (bits) as bytes per second.

    Raises:
        UnitError: It has another form, or is negative.
    """
    example = "write throughputs as 500MB/s or, in bits, 10Gb/s"
    per_second = _PER_SECOND.fullmatch(written.strip()) if isinstance(written, str) else None
    if not per_second:
        raise UnitError(f"{display_value(written)} is not a throughput", example)
    amount = per_second["amount"]
    found = _QUANTITY.fullmatch(amount)
    if found and found["sign"]:
        raise UnitError(f"{written} is negative", "a throughput is above 0")
    if found and found["unit"] in BIT_UNITS:
        return float(Fraction(found["number"]) * BIT_UNITS[found["unit"]] / 8)
    return float(_parse(amount, "a throughput", SIZE_UNITS, example, _throughput_hint))


def parse_link(written: object) -> int:
    """Read the speed of a link, `1 Gbit/s` or `100Mb/s`, as bits per second.

    Raises:
        UnitError: It has another form, is in bytes, or is not a whole number of bits.
    """
    example = "write the speed of a link in bits: 1 Gbit/s or 100 Mbit/s"
    per_second = _PER_SECOND.fullmatch(written.strip()) if isinstance(written, str) else None
    if not per_second:
        raise UnitError(f"{display_value(written)} is not the speed of a link", example)
    return _parse(per_second["amount"], "the speed of a link", LINK_UNITS, example, lambda _number, _unit: example)


def format_link(speed: int) -> str:
    """Format `speed` bits per second so that `parse_link` reads it back."""
    unit = next(unit for unit in ("Gbit", "Mbit", "kbit", "bit") if speed % LINK_UNITS[unit] == 0)
    return f"{speed // LINK_UNITS[unit]} {unit}/s"


def parse_loss(written: object) -> int:
    """Read a share of lost frames, `0.01%`, `100ppm` or 0, as frames per million.

    Raises:
        UnitError: It has another form, is more than 100 %, or is finer than one per million.
    """
    example = "write losses as 0.01% or 100ppm"
    if written == 0 and not isinstance(written, bool):
        return 0
    found = (
        re.fullmatch(rf"(?P<number>{_NUMBER}) ?(?P<unit>ppm|%)", written.strip()) if isinstance(written, str) else None
    )
    if not found:
        raise UnitError(f"{display_value(written)} is not a share of lost frames", example)
    exact = Fraction(found["number"]) * LOSS_UNITS[found["unit"]]
    if exact.denominator != 1:
        raise UnitError(f"{written} is finer than 1 ppm", example)
    return exact.numerator


def format_loss(loss: int) -> str:
    """Format `loss` frames per million so that `parse_loss` reads it back."""
    return f"{loss / 10**4:g}%" if loss % 100 == 0 else f"{loss}ppm"


def format_throughput(rate: float) -> str:
    """Format `rate` bytes per second so that `parse_throughput` reads it back, rounded to whole bytes."""
    return f"{format_size(round(rate))}{RATE_UNIT}"


def format_size(size: int) -> str:
    """Return the shortest exact spelling of `size` bytes; `parse_size` inverts it."""
    return _shortest_size(size)


@lru_cache(maxsize=4096)
def _shortest_size(size: int) -> str:
    best = f"{size}B"
    for unit, factor in SIZE_UNITS.items():
        if size and size % factor == 0:
            text = f"{size // factor}{unit}"
            # At equal length the later, larger or binary, unit reads better: 1MiB, not 1024KiB.
            if len(text) - len(unit) <= len(best) - len(_unit_of(best)):
                best = text
    return best


def format_duration(time: int) -> str:
    """Return the exact spelling of `time` nanoseconds in the largest unit that fits; `parse_duration` inverts it."""
    for unit in _PRINTED_DURATIONS:
        if time and time % DURATION_UNITS[unit] == 0:
            return f"{time // DURATION_UNITS[unit]}{unit}"
    return f"{time}ns"


def format_rate(rate: float) -> str:
    """Return the exact spelling of `rate` operations per second; `parse_rate` inverts it for 0.0001/s to 1e15/s."""
    return f"{int(rate) if rate == int(rate) else repr(rate)}{RATE_UNIT}"


def about_size(size: float) -> str:
    """Round `size` bytes to three digits in decimal units, for display: `1.23 GB`."""
    return _about(size)


@lru_cache(maxsize=4096)
def _about(size: float) -> str:
    for unit in ("PB", "TB", "GB", "MB", "kB"):
        if size >= SIZE_UNITS[unit] * 0.9995:
            return f"{about_number(size / SIZE_UNITS[unit])} {unit}"
    return f"{about_number(size)} B"


def about_number(value: float | Decimal, digits: int = 3) -> str:
    """Round `value` to `digits` digits, for display: `1,230`, `100`, `0.012`; no exponent, no trailing zeros."""
    number = float(value)
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    rounded = float(f"{number:.{digits - 1}e}")
    text = f"{rounded:,.{max(0, digits - 1 - math.floor(math.log10(abs(rounded))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def about_count(number: float) -> str:
    """Round a count for display: `12,345`; below a hundred to three digits: `0.5`, `12.3`."""
    # 99.95 and more would be rounded to 100 with three digits.
    return about_number(number) if abs(number) < 99.95 else f"{number:,.0f}"


def about_rate(per_second: float | None, counted: bool) -> str:
    """Format a rate: bytes per second or, if `counted`, operations per second; empty for None."""
    if per_second is None:
        return ""
    return f"{about_count(per_second)} ops/s" if counted else f"{about_size(per_second)}/s"


def about_latency(nanoseconds: float) -> str:
    """Format a latency with the unit that fits, for display: `10 ms`, `1.23 µs`."""
    unit, size = next((pair for pair in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)) if nanoseconds >= pair[1]), ("ns", 1.0))
    return f"{about_number(nanoseconds / size)} {unit}"


def about_duration(seconds: float) -> str:
    """Round `seconds` for display: `0.4 s`, `12 s`, `3 min 20 s`, `5 h 10 min`, `3 d 4 h`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return _two_units(whole, 60, "min", 1, "s")
    if whole < 86400:
        return _two_units(whole, 3600, "h", 60, "min")
    return _two_units(whole, 86400, "d", 3600, "h")


def _two_units(seconds: int, big: int, big_name: str, small: int, small_name: str) -> str:
    rest = seconds % big // small
    return f"{seconds // big} {big_name} {rest} {small_name}" if rest else f"{seconds // big} {big_name}"


def _parse(written: str, what: str, units: dict[str, int], example: str, hint_for: Hint) -> int:
    found = _QUANTITY.fullmatch(written.strip())
    if not found:
        raise UnitError(f"{display_value(written)} is not {what}", example)
    unit = found["unit"]
    if unit not in units:
        fault = f"unknown unit `{unit}`" if unit else "no unit"
        raise UnitError(f"{fault} in {display_value(written)}", hint_for(found["number"], unit))
    exact = _exact(found["number"], units[unit])
    if exact.denominator != 1:
        least = next(iter(units))
        raise UnitError(f"{written} is not a whole number of {least}", f"{example}; {least} is the smallest unit")
    return _not_negative(-exact.numerator if found["sign"] else exact.numerator, written, what)


@lru_cache(maxsize=4096)
def _exact(number: str, factor: int) -> Fraction:
    """Return number times factor, cached: advice parses the same few sizes thousands of times."""
    return Fraction(number) * factor


def _size_hint(number: str, unit: str) -> str:
    letter = unit[:1].upper()
    if letter in ("K", "M", "G", "T", "P") and unit.lower() in (letter.lower(), f"{letter.lower()}b"):
        decimal = "kB" if letter == "K" else f"{letter}B"
        power = "KMGTP".index(letter) + 1
        return f"write {number}{letter}iB (x 2^{10 * power}) or {number}{decimal} (x 10^{3 * power})"
    return f"units of size are {', '.join(SIZE_UNITS)}; case matters"


def _throughput_hint(_number: str, _unit: str) -> str:
    return f"units are {', '.join(SIZE_UNITS)} and, in bits, {', '.join(BIT_UNITS)}, then {RATE_UNIT}; case matters"


def _not_negative(value: int, written: object, what: str) -> int:
    if value < 0:
        raise UnitError(f"{written} is negative", f"{what} is 0 or more")
    return value


def _unit_of(text: str) -> str:
    return text.lstrip("0123456789")


def display_value(written: object) -> str:
    """Return a value that the user wrote, short enough for a message."""
    if isinstance(written, str):
        text = f"`{written}`" if written else "an empty text"
    elif isinstance(written, dict | list):
        text = "a mapping" if isinstance(written, dict) else "a list"
    else:
        text = "nothing" if written is None else str(written).lower()
    return text if len(text) <= 60 else f"{text[:56]}...`"


def with_alternative(hint: str, other: str) -> str:
    """Append an alternative to a hint: `did you mean `a`? Or give a file`, `one of: a, b; or give a file`."""
    return f"{hint} Or {other}" if hint.endswith("?") else f"{hint}; or {other}"


def choices_hint(written: object, words: Iterable[str], none: str = "there are none") -> str:
    """Return a hint with the allowed words, or with the one probably meant; `none` if no word is allowed."""
    allowed = list(words)
    if not allowed:
        return none
    near = difflib.get_close_matches(str(written), allowed, n=1)
    return f"did you mean `{near[0]}`?" if near else f"one of: {', '.join(allowed)}"
