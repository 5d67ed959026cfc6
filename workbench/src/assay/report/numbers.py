"""Formats numbers: one way to write each unit, everywhere in the report.

MB and GB are powers of ten, MiB and GiB powers of two.
"""

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assay.model.units import about_number

if TYPE_CHECKING:
    from assay.model.study.axis import AxisValue

NONE = "–"
"""Printed where there is no value."""

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
OPERATION_TITLES = {
    "run": "Command",
    "write": "Write",
    "rewrite": "Rewrite",
    "read": "Read",
    "reread": "Reread",
    "random_read": "Random read",
    "random_write": "Random write",
    "backward_read": "Backward read",
    "record_rewrite": "Record rewrite",
    "stride_read": "Stride read",
    "fwrite": "Write (C stdio)",
    "re_fwrite": "Rewrite (C stdio)",
    "fread": "Read (C stdio)",
    "re_fread": "Reread (C stdio)",
    "random_mix": "Random mix",
    "sequential_mix": "Sequential mix",
    "file_mix": "Mix of operations on files",
}


def significant(value: float, digits: int = 3) -> str:
    """Return `value` with that many significant digits, thousands separated, without an exponent."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else NONE
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(0, decimals)}f}"


def mb_per_s(bytes_per_s: float | None) -> str:
    """Return bytes per second as MB/s (10^6 bytes), without the unit."""
    return NONE if bytes_per_s is None else significant(bytes_per_s / 1e6)


def microseconds(nanoseconds: float | None) -> str:
    """Return nanoseconds as µs, without the unit."""
    return NONE if nanoseconds is None else significant(nanoseconds / 1e3)


def latency(nanoseconds: float) -> str:
    """Return nanoseconds in the unit that fits: `4.08 ms`."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{significant(nanoseconds / size)} {unit}"
    return f"{significant(nanoseconds)} ns"


def p_value(p: float | None) -> str:
    """Return a p-value with three decimals, as benchstat prints it; `<0.001` below that."""
    return NONE if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def signed(value: float | None, decimals: int = 2) -> str:
    """Return a number with its sign: `+0.56`, `−1.00`."""
    if value is None:
        return NONE
    text = f"{abs(value):.{decimals}f}"
    return text if not float(text) else f"{'+' if value > 0 else '−'}{text}"


FACTOR_FROM = 2.0
"""From this ratio on, a difference is given as a factor instead of percent: `59.4×`, not `+5835.8 %`."""


def difference_text(ratio: float) -> str:
    """Return a ratio of two rates or times as a difference: `+12.3 %`, `−50.0 %`, or `59.4×` from a factor of 2 on."""
    # A ratio that would be rounded to +100.0 % is written as a factor.
    if ratio >= FACTOR_FROM - 0.0005:
        return f"{ratio:,.0f}×" if ratio >= 1000 else f"{about_number(ratio)}×"
    return f"{signed(100 * (ratio - 1), 1)} %"


def repeats(before: int, after: int) -> str:
    """Return the number of repeats of two sides: `10`, or `10+9` where they differ."""
    return f"{before}" if before == after else f"{before}+{after}"


def count(value: float) -> str:
    """Return a whole number, thousands separated."""
    return f"{value:,.0f}"


def size(amount: float) -> str:
    """Return bytes in the largest binary unit that fits: `64 KiB`."""
    value = float(amount)
    for unit in _BINARY:
        if abs(value) < 1024 or unit == _BINARY[-1]:
            break
        value /= 1024
    return f"{value:.0f} {unit}" if value == int(value) else f"{significant(value)} {unit}"


def ratio(value: float) -> str:
    """Return a ratio as a factor: `8.3×`."""
    return f"{significant(value, 2 if value >= 2 else 3)}×"


def share(value: float | None) -> str:
    """Return a share of a ceiling: `93 %`, `0.4 %`, `130 %`; from twice the ceiling on `5.6×`."""
    if value is None:
        return NONE
    if value >= 2:
        return ratio(value)
    return f"{100 * value:.0f} %" if value >= 0.0995 else f"{significant(100 * value, 2)} %"


def seconds(value: float) -> str:
    """Return a duration: `2 min 5 s`."""
    if value < 60:
        return f"{about_number(value)} s" if value >= 1 or value == 0 else f"{about_number(value * 1e3)} ms"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def utc_time(since_1970: float) -> str:
    """Return a point in time, in UTC."""
    return datetime.fromtimestamp(since_1970, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def axis_title(name: str) -> str:
    """Return the title of an axis, for people."""
    from assay.model.study.parameters import DEFINITIONS

    known = DEFINITIONS.get(name)
    return (known.title if known else "") or name.replace("_", " ").capitalize()


def axis_value(name: str, value: "AxisValue") -> str:
    """Return a value of the axis `name` with its unit."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    from assay.model.study.parameters import DEFINITIONS

    known = DEFINITIONS.get(name)
    if known and known.kind.unit:
        return size(value) if known.kind.unit == "bytes" else seconds(value / 1e9)
    return f"{value:,.12g}"


def operation_title(name: str) -> str:
    """Return the title of an operation, for people."""
    return OPERATION_TITLES.get(name, name.replace("_", " ").capitalize())


def capitalized(words: str) -> str:
    """Return a text with a capital at the beginning, the rest unchanged."""
    return words[:1].upper() + words[1:]


def part_of_total(count: int, total: int, noun: str = "result") -> str:
    """Return a part of a total: `3 of 5 results`, `all 5 results`, `both results`, `the only result`."""
    if count < total:
        return f"{count:,} of {plural(total, noun)}"
    return f"the only {noun}" if total == 1 else f"both {noun}s" if total == 2 else f"all {total:,} {noun}s"


def plural(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 case`, `3 cases`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listing(words: list[str]) -> str:
    """Return a list in words: `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def median(values: list[float]) -> float:
    """Return the median of `values`, which must not be empty."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
