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


def operations(parts: Iterable[Counted]) -> int:
    """Operations of all kinds that succeeded."""
    return sum(part.ops for part in parts)


def moved(parts: Iterable[Counted]) -> int:
    """Bytes that those of all kinds moved."""
    return sum(part.bytes for part in parts)
