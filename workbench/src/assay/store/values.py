"""What the columns of a run's database may hold: SQLite itself keeps anything in any of them."""

import zlib

from assay.model.units import shown

LAST_MOMENT = 253_402_300_799.0
"""The last second of the year 9999."""
MOST_COUNTED = 1 << 40
MOST_EVENTS = 1 << 30
"""Bytes that the engines of a repeat may say (`assay.contract.bounds`)."""
MOST_PACKED = 200
"""Bytes of events that one of their packed bytes stands for, at most: of idle intervals it is about twenty."""
LEAST_EVENTS = 1 << 24
MOST_AMOUNT = 1e30
"""Of anything that is measured, in bytes, operations or seconds: products of a few of them are still numbers."""


def moment_of(value: object) -> float:
    """A stored time in seconds since 1970, of which a date can be made.

    Raises:
        ValueError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LAST_MOMENT:
        raise ValueError(f"{shown(value)} is no time")
    return float(value)


def count_of(value: object) -> int:
    """A stored number of things.

    Raises:
        ValueError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_COUNTED:
        raise ValueError(f"{shown(value)} is no number of things")
    return value


def amount_of(value: object) -> float:
    """A stored rate, duration or share, which can be computed with.

    Raises:
        ValueError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_AMOUNT:
        raise ValueError(f"{shown(value)} is no rate, duration or share")
    return float(value)


def text_of(value: object) -> str:
    """A stored text.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is no text")
    return value


def unpacked(packed: bytes) -> str:
    """Stored events of an engine.

    Raises:
        ValueError: They are far more than such events are.
        zlib.error: They are none.
    """
    most = min(MOST_EVENTS, LEAST_EVENTS + MOST_PACKED * len(packed))
    inflating = zlib.decompressobj()
    found = inflating.decompress(packed, most)
    if inflating.unconsumed_tail:
        raise ValueError(f"its events are more than {most} bytes")
    return (found + inflating.flush()).decode()
