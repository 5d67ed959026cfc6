"""Counts for each kind of operation, added up over lanes, hosts or intervals."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from assay.contract._generated import OpKind


class OperationCounts(Protocol):
    """The fields of every class that counts operations of one kind."""

    operation: OpKind
    ops: int
    bytes: int
    errors: int


C = TypeVar("C", bound=OperationCounts)


def group_by_kind(parts: Iterable[C]) -> list[list[C]]:
    """Group counts by kind of operation, in the order in which the kinds first occur."""
    groups: dict[OpKind, list[C]] = {}
    for part in parts:
        groups.setdefault(part.operation, []).append(part)
    return list(groups.values())


def summed_fields(parts: Iterable[OperationCounts]) -> dict[str, Any]:
    """Return the fields that all classes of counts share, for counts of one kind: the kind, and the sums."""
    counts = list(parts)
    return {
        "operation": counts[0].operation,
        "ops": sum(part.ops for part in counts),
        "bytes": sum(part.bytes for part in counts),
        "errors": sum(part.errors for part in counts),
    }


_MOVING = (OpKind.read, OpKind.write)


def progress_counts(parts: Iterable[C], data: bool) -> list[C]:
    """Return the counts that are progress of a phase: in a phase on file data, only those of reads and writes.

    Opening, flushing and closing the files of a set is counted and timed separately. The engine's windows use the same
    rule (`is_progress` in `engine/crates/drive/src/interval.rs`).

    Args:
        parts: One for each kind of operation.
        data: The phase works on the data of files.
    """
    return [part for part in parts if not data or part.operation in _MOVING]


def operation_count(parts: Iterable[OperationCounts]) -> int:
    """Return how many operations of all kinds succeeded."""
    return sum(part.ops for part in parts)


def moved_bytes(parts: Iterable[OperationCounts]) -> int:
    """Return the bytes that operations of all kinds moved."""
    return sum(part.bytes for part in parts)
