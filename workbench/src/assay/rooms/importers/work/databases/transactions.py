"""What outputs of database benchmarks have in common: numbers, names, and transactions per second."""

import re
from collections.abc import Mapping
from decimal import Decimal

from assay.model.escape import escape_line
from assay.model.result.sample import ErrorTally
from assay.rooms.importers.work.results import Measurement, OutputError

MAX_SECONDS = 10**9
"""Longest time of a result: 31 years, since nanoseconds are stored in 63 bits."""
_AMOUNT = re.compile(r"[0-9]{1,19}(?:\.[0-9]{1,25})?(?:[eE][-+]?[0-9]{1,2})?")
_MAX_AMOUNT = Decimal(10) ** 18


def is_amount(text: str) -> bool:
    """Whether a text is a number that a benchmark counts or measures: not negative, finite, and below 10^18."""
    return bool(_AMOUNT.fullmatch(text)) and Decimal(text) < _MAX_AMOUNT


def checked_amount(text: str, what: str, line: int, hint: str) -> str:
    """Return a printed number.

    Raises:
        OutputError: It is none.
    """
    if not is_amount(text):
        raise OutputError(line, f"{what} is no number: {escape_line(text, 40)}", hint)
    return text


def transactions(
    per_s: Decimal,
    *,
    ops: int | None = None,
    seconds: Decimal | None = None,
    latency: Mapping[str, Decimal] | None = None,
    errors: tuple[ErrorTally, ...] = (),
) -> Measurement:
    """Return what a benchmark of a database measured.

    Args:
        per_s: Transactions per second.
        ops: Number of transactions; None if the output does not say.
        seconds: How long they took; None likewise.
        latency: Name -> nanoseconds.
        errors: Failed transactions.
    """
    elapsed = None if seconds is None or seconds > MAX_SECONDS else int(seconds * 10**9)
    return Measurement(
        status="done",
        has_counts=ops is not None,
        ops=ops or 0,
        bytes=0,
        read_bytes=0,
        write_bytes=0,
        throughput=0.0,
        iops=float(per_s),
        elapsed_ns=elapsed or None,
        latency={name: float(value) for name, value in (latency or {}).items()},
        errors=errors,
    )


def failures(count: int, words: str) -> tuple[ErrorTally, ...]:
    """Return the failed transactions of a result; none if there were none."""
    return (ErrorTally(kind="fault", name=None, count=count, example=words),) if count else ()
