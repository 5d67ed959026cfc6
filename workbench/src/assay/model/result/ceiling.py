"""Limits that a result is held against."""

from typing import Literal

from assay.model.frozen import Frozen

CeilingName = Literal[
    "memory copy",
    "cache copy",
    "page cache read",
    "device read",
    "device write",
    "device rewrite",
    "device random read",
    "device random write",
    "engine",
    "client",
    "stated read",
    "stated write",
    "stated read IOPS",
    "stated write IOPS",
    "link",
    "client link",
    "server link",
    "shared link",
]

SMALL_RECORD = 64 << 10
"""Up to this record size, in bytes, the operations per second of a device limit, too."""

COPY_BLOCK = 32 << 20
"""More bytes than a core's own caches hold: what is copied in blocks of so many comes from memory and goes there."""

HOST_WIDE = ""
"""Target of a ceiling that holds for the whole host."""


When = Literal["before", "between", "after", "again"]
"""Before the cases, between two repeats, after the last one; and once more at the end, since a result exceeded it."""


class CeilingPass(Frozen):
    """One measurement of a ceiling.

    Attributes:
        at: When it began, in seconds since 1970.
        value: The best of what was tried, in the ceiling's unit.
        how: The way to make requests that was best.
    """

    at: float
    when: When
    value: float
    how: str


class Exceeding(Frozen):
    """The repeat that is furthest above all passes of a ceiling, though nothing but the device can have served it.

    Attributes:
        case: Id of its case.
        label: The case in words.
        at: When it was executed, in seconds since 1970.
        value: What it reached, in the ceiling's unit.
        measured: The best of all passes.
    """

    case: str
    label: str
    operation: str
    repeat: int
    at: float
    value: float
    measured: float


class Ceiling(Frozen):
    """The most that something can do.

    Attributes:
        name: Which.
        target: Whose; empty for the host's own.
        unit: Of `value`.
        value: The best of all that was seen: of the passes, and of the run's own results if one exceeded them; None if
            it could not be measured or found out.
        lowest: The worst pass; None where there was one only, or it is stated.
        how: How it was measured, or where it was stated.
        reason: Why there is no value; empty if there is one.
        kind: Of `engine` and `client`: which jobs it holds for, see `assay.model.study.case.job_kind`; else empty.
        passes: In order of time; empty if it is stated, or measured by a version that kept none.
        low: Lower end of the 95 % interval of the median over the passes; None with fewer than three; likewise
            `high`.
        exceeded: What was above all passes; None if nothing was.
    """

    name: CeilingName
    target: str
    unit: Literal["bytes/s", "operations/s"]
    value: float | None
    lowest: float | None = None
    how: str
    reason: str = ""
    kind: str = ""
    passes: tuple[CeilingPass, ...] = ()
    low: float | None = None
    high: float | None = None
    exceeded: Exceeding | None = None


class Binding(Frozen):
    """How close a result is to one ceiling.

    Attributes:
        share: Measured / ceiling; above 1 means that the ceiling was exceeded.
    """

    name: CeilingName
    unit: Literal["bytes/s", "operations/s"]
    value: float
    measured: float
    share: float
    how: str
