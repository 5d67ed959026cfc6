"""What readers of texts share: lines, numbers that are checked, rates that are as exact as an output allows."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from assay.model.escape import escape_line
from assay.model.result.sample import ErrorTally, KindCounts
from assay.model.study.names import WORK
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.long_text import Text, each_line
from assay.rooms.importers.work.results import Measurement, OutputError

MAX_DIGITS = 18
"""Most digits of a number that a tool can have printed: 10^18 bytes are more than any file has."""
MAX_FIGURES = 50_000
"""Most figures of one result."""
_AMOUNT = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]{1,2})?", re.ASCII)
_NS = 10**9


def lines_in(text: Text) -> Iterator[str]:
    """Yield the lines of a text, whatever ends them, also where several files with byte order marks were joined."""
    return (line.rstrip("\r").lstrip("\ufeff") for line in each_line(text))


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, as `lines_in` yields them."""
    return list(lines_in(text))


def amount(text: str, what: str, line: int, hint: str) -> str:
    """Return a printed number that is not negative, as it is.

    Args:
        text: The number.
        what: What it is, for the message.
        line: Line of the file, from 1.
        hint: How to mend what is no such number.

    Raises:
        OutputError: It is no number, or has more digits than a tool prints.
    """
    if len(text) > 40 or not _AMOUNT.fullmatch(text) or Decimal(text) >= Decimal(10) ** MAX_DIGITS:
        raise OutputError(line, f"{what} cannot be {escape_line(text, 40)}", hint)
    return text


def whole(text: str, what: str, line: int, hint: str) -> int:
    """Return a printed whole number; arguments and errors as of `amount`."""
    if not text.isascii() or not text.isdigit():
        raise OutputError(line, f"{what} cannot be {escape_line(text, 40)}", hint)
    return int(amount(text, what, line, hint))


def nanoseconds(text: str, unit: str) -> int | None:
    """Return a printed time in nanoseconds; None for 0, which says nothing.

    Args:
        text: The time as printed.
        unit: Its unit, a key of `UNITS`.
    """
    return int(convert(text, unit)) or None


def finer(text: str, unit: str, computed: float) -> float:
    """Return a rate in Assay's unit: the computed one where it agrees with the printed one, which has fewer digits.

    Args:
        text: The rate as printed.
        unit: Its unit, a key of `UNITS`.
        computed: The same from amount and time.
    """
    printed = convert(text, unit)
    exponent = Decimal(text).as_tuple().exponent
    digit = convert(f"1e{exponent}", unit) if isinstance(exponent, int) else printed
    slack = float(digit) + 0.001 * float(printed)
    return computed if computed > 0 and abs(computed - float(printed)) <= slack else float(printed)


def exact_time(moved: int, rate: float, seconds: str) -> int | None:
    """Return a time in ns; where its few printed digits agree with a rate, it is the time that gives this rate.

    Args:
        moved: Bytes.
        rate: Bytes per second, as exact as it is known.
        seconds: The time as printed.
    """
    half = 0.5 * 10.0 ** -len(seconds.partition(".")[2])
    if "e" not in seconds and rate and abs(moved / rate - float(seconds)) <= half * 1.001:
        return round(moved / rate * _NS) or None
    return nanoseconds(seconds, "s")


def per_second(count: float, elapsed_ns: int | None) -> float:
    """Return a count by a time; 0 without a time."""
    return count / elapsed_ns * _NS if elapsed_ns else 0.0


def measurement(
    operation: str,
    *,
    throughput: float,
    iops: float | None,
    ops: int | None = None,
    moved: int | None = None,
    elapsed_ns: int | None = None,
    latency: Mapping[str, float] | None = None,
    kinds: tuple[KindCounts, ...] = (),
    errors: tuple[ErrorTally, ...] = (),
    **others: Any,
) -> Measurement:
    """Return what a result contributes to a run.

    Args:
        operation: One of Assay's.
        throughput: Bytes per second.
        iops: Operations per second; None if it is not known.
        ops: Number of operations; None if it is not known.
        moved: Number of bytes; None likewise. Those of mixes count only if `kinds` shares them out.
        elapsed_ns: How long it took; None if it is not known.
        latency: Nanoseconds by name.
        kinds: Counts of reads and writes of a mix.
        errors: What failed.
        others: Further fields of `Measurement`.
    """
    by_kind, work = {one.kind: one.bytes for one in kinds}, WORK[operation]
    is_shared_out = bool(kinds) or not (work.reads and work.writes)
    has_counts = ops is not None and moved is not None and is_shared_out
    size = moved or 0 if has_counts else 0
    return Measurement(
        status="done",
        has_counts=has_counts,
        ops=ops or 0 if has_counts else 0,
        bytes=size,
        read_bytes=by_kind.get("read", 0) if by_kind else size if work.reads else 0,
        write_bytes=by_kind.get("write", 0) if by_kind else size if work.writes else 0,
        throughput=throughput,
        iops=iops,
        elapsed_ns=elapsed_ns,
        latency=dict(latency or {}),
        kinds=kinds,
        errors=errors,
        **others,
    )
