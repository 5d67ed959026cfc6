"""Counts by kind of operation, added up over what several told: lanes, hosts, intervals."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from assay.contract._generated import OpKind


class Counted(Protocol):
    """What all that is counted by kind of operation has."""

    operation: OpKind
    ops: int
    bytes: int
    errors: int


C = TypeVar("C", bound=Counted)


def by_kind(parts: Iterable[C]) -> list[list[C]]:
    """Those of the same kind together, in the order in which kinds come first."""
    found: dict[OpKind, list[C]] = {}
    for part in parts:
        found.setdefault(part.operation, []).append(part)
    return list(found.values())


def added_up(parts: Iterable[Counted]) -> dict[str, Any]:
    """The fields that all classes of counts have, of parts of one kind: its name, and the sums."""
    listed = list(parts)
    return {
        "operation": listed[0].operation,
        "ops": sum(part.ops for part in listed),
        "bytes": sum(part.bytes for part in listed),
        "errors": sum(part.errors for part in listed),
    }


_MOVING = (OpKind.read, OpKind.write)


def progress(parts: Iterable[C], data: bool) -> list[C]:
    """Those that count as progress of a phase: of one on data only what moves it.

    That files of a set are opened, flushed and closed is counted and timed beside it. The engine's windows are of the
    same (`is_progress` of `engine/crates/drive/src/interval.rs`).

    Args:
        parts: By kind of operation.
        data: The phase is on the data of files.
    """
    return [part for part in parts if not data or part.operation in _MOVING]


def operations(parts: Iterable[Counted]) -> int:
    """Operations of all kinds that succeeded."""
    return sum(part.ops for part in parts)


def moved(parts: Iterable[Counted]) -> int:
    """Bytes that those of all kinds moved."""
    return sum(part.bytes for part in parts)
