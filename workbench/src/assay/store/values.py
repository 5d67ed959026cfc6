"""Checks values from a run's database, since SQLite stores any value in any column."""

import zlib

from assay.model.units import display_value

LAST_MOMENT = 253_402_300_799.0
"""The last second of the year 9999."""
MAX_COUNT = 1 << 40
MAX_EVENT_BYTES = 1 << 30
"""Most bytes of events of one repeat (`assay.contract.bounds`)."""
MAX_COMPRESSION_RATIO = 200
"""Largest compression ratio of stored events; idle intervals reach about twenty."""
MIN_EVENT_BYTES = 1 << 24
MAX_AMOUNT = 1e30
"""Largest measured amount, in bytes, operations or seconds; products of a few of them are still finite."""


def moment_of(value: object) -> float:
    """Return a stored time in seconds since 1970, after a check that it is a valid date.

    Raises:
        ValueError: It is not a time.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LAST_MOMENT:
        raise ValueError(f"{display_value(value)} is not a time")
    return float(value)


def count_of(value: object) -> int:
    """Return a stored count after a check.

    Raises:
        ValueError: It is not a count.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
        raise ValueError(f"{display_value(value)} is not a count")
    return value


def amount_of(value: object) -> float:
    """Return a stored rate, duration or share after a check that it can be computed with.

    Raises:
        ValueError: It is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_AMOUNT:
        raise ValueError(f"{display_value(value)} is not a rate, duration or share")
    return float(value)


def text_of(value: object) -> str:
    """Return a stored text after a check.

    Raises:
        ValueError: It is not a text.
    """
    if not isinstance(value, str):
        raise ValueError(f"{display_value(value)} is not a text")
    return value


def decompressed_events(packed: bytes) -> str:
    """Decompress the stored events of an engine.

    Raises:
        ValueError: They are far larger than events can be.
        zlib.error: They cannot be decompressed.
    """
    most = min(MAX_EVENT_BYTES, MIN_EVENT_BYTES + MAX_COMPRESSION_RATIO * len(packed))
    decompressor = zlib.decompressobj()
    data = decompressor.decompress(packed, most)
    if decompressor.unconsumed_tail:
        raise ValueError(f"its events are more than {most} bytes")
    return (data + decompressor.flush()).decode()
