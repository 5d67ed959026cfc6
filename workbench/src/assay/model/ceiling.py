"""Limits that a result is held against."""

from typing import Literal

from assay.model.base import Frozen
from assay.model.case import Parameters
from assay.model.names import MIXES, READS, is_metadata

CeilingName = Literal[
    "memory copy",
    "cache copy",
    "page cache read",
    "device read",
    "device write",
    "device random read",
    "device random write",
    "engine",
    "stated read",
    "stated write",
    "stated read IOPS",
    "stated write IOPS",
    "link",
    "client link",
    "server link",
    "shared link",
]

HOST_WIDE = ""
"""Target of a ceiling that holds for the whole host."""


class Ceiling(Frozen):
    """The most that something can do.

    Attributes:
        name: Which.
        target: Whose; empty for the host's own.
        unit: Of `value`.
        value: The best of several passes; None if it could not be measured or found out.
        lowest: The worst pass; None where there was one only, or it is stated.
        how: How it was measured, or where it was stated.
        reason: Why there is no value; empty if there is one.
        kind: Of `engine`: which jobs it holds for, see `job_kind`; else empty.
    """

    name: CeilingName
    target: str
    unit: Literal["bytes/s", "operations/s"]
    value: float | None
    lowest: float | None = None
    how: str
    reason: str = ""
    kind: str = ""


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


def job_kind(parameters: Parameters, operation: str) -> str | None:
    """What decides the engine's own cost of an operation; None where it cannot be measured without storage.

    What is read is not looked at, so that its size does not matter; what is checked must have been written.
    """
    shape = f"lanes={parameters.lanes} depth={parameters.queue_depth}"
    if is_metadata(operation):
        contents = f" bytes={parameters.file_size}" if operation == "create" else ""
        return f"{operation} {shape}{contents}"
    if operation in READS and parameters.verify:
        return None
    if operation in READS and operation not in MIXES:
        return f"{'random_read' if operation == 'random_read' else 'read'} {shape}"
    made = f"record={parameters.record_size} compressible={parameters.compressible} duplicate={parameters.duplicate}"
    if operation in MIXES:
        return f"{operation} {shape} read_percent={parameters.read_percent} {made}"
    return f"{'random_write' if operation == 'random_write' else 'write'} {shape} {made}"
