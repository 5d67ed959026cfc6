"""Ceilings: the limits that results are compared with."""

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

MAX_SMALL_RECORD = 64 << 10
"""Up to this record size, in bytes, the operations per second of a device are a ceiling, too."""

COPY_BLOCK = 32 << 20
"""More bytes than a core's own caches hold: copies in blocks of this size go through memory."""

HOST_WIDE = ""
"""The `target` of a ceiling that applies to the whole host."""


When = Literal["before", "between", "after", "again"]
"""Before the cases, between two repeats, after the last repeat; again: at the end, because a result exceeded the
ceiling."""


class CeilingPass(Frozen):
    """One measurement of a ceiling.

    Attributes:
        at: Its start, in seconds since 1970.
        value: The best value of all attempts, in the ceiling's unit.
        how: The method that gave the best value.
    """

    at: float
    when: When
    value: float
    how: str


class ExceedingRepeat(Frozen):
    """The repeat that exceeds all passes of a ceiling by most, though only the device can have served it.

    Attributes:
        case: Id of the case.
        label: The case in words.
        at: Its start, in seconds since 1970.
        value: Its rate, in the ceiling's unit.
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
    """The highest rate of a device, link, memory or engine, measured or stated.

    Attributes:
        name: What the ceiling limits.
        target: Target that it belongs to; empty for a ceiling of the host.
        unit: Unit of `value`.
        value: The best of all passes, or of the run's own results if one exceeded them; None if it could not be
            determined.
        lowest: The worst pass; None with a single pass or if stated.
        how: How it was measured, or where it is stated.
        reason: Why there is no value; empty if there is one.
        kind: For `engine` and `client`: the kind of jobs it applies to, see `assay.model.study.case.job_kind`; else
            empty.
        passes: In order of time; empty if stated, or measured by a version that did not store them.
        low, high: Ends of the 95 % interval of the median over the passes; None with fewer than three.
        exceeded: The repeat that exceeds all passes; None if none does.
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
    exceeded: ExceedingRepeat | None = None


class CeilingShare(Frozen):
    """How close a result is to one ceiling.

    Attributes:
        share: Measured / ceiling; above 1 if the ceiling was exceeded.
    """

    name: CeilingName
    unit: Literal["bytes/s", "operations/s"]
    value: float
    measured: float
    share: float
    how: str
