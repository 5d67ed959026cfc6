"""Operations on objects: what a workload of them must obey, and which phases it takes.

The engine's side is `engine/crates/spec/src/validate/objects.rs`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.model.study.contents import Sizes, sizes_of
from assay.model.study.names import BATCHES, DELETES, NEED_OBJECTS, SEES, TAKES_ANY
from assay.model.study.parameters import Parameters
from assay.model.units import format_size
from assay.plan.broken import Broken
from assay.plan.tree import PhasePlan

PARTS_OF: dict[str, frozenset[str]] = {
    "range": frozenset({"get"}),
    "mix": frozenset({"object_mix"}),
    "batch": BATCHES,
    "access": TAKES_ANY,
}
"""Parameter -> the operations that it is for, where these are not all of those on objects."""
BATCH = 25
"""Objects of a batch, unless the study says."""
PIECE_BYTES = 1 << 20
"""Larger objects and parts are made, sent and checked in pieces of this size."""


def batch_of(parameters: Parameters) -> int:
    """Objects of each request of a batch."""
    return parameters.batch or BATCH


def piece_bytes(sizes: Sizes, part_size: int | None) -> int:
    """Bytes of the buffer of an operation: it need not be longer than what is sent at once."""
    return min(sizes.largest, part_size or PIECE_BYTES, PIECE_BYTES)


def object_phases(operations: tuple[str, ...], partial: bool, existing: bool = False) -> tuple[PhasePlan, ...]:
    """The operations, each after an unmeasured one that puts what it needs, where that may not be there.

    Args:
        operations: Operations on objects.
        partial: A `put` may end early and leave objects out.
        existing: The objects were there before.
    """
    phases: list[PhasePlan] = []
    complete = False
    for operation in operations:
        if operation in NEED_OBJECTS and not complete and not existing:
            phases.append(PhasePlan("prepare", measured=False))
            complete = True
        phases.append(PhasePlan(operation))
        if operation in SEES | {"put", "batch_put"}:
            complete = complete or not partial
        elif operation in DELETES or operation == "object_mix":
            complete = False
    return tuple(phases)


def object_rules(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[Broken]:
    """The rules that a combination of parameters of operations on objects breaks."""
    yield from _manner(values)
    yield from _duration(values, operations)
    looking = [operation for operation in operations if operation in SEES]
    if looking and values["part_size"] is not None:
        message = f"{looking[0]} puts objects whole, so part_size is not possible"
        yield Broken("part_size", "objects seen in parts", message, "leave part_size out")
    asked, size = values["range"], values["object_size"]
    if asked is not None and size is not None and asked > sizes_of(size).largest:
        message = f"range {format_size(asked)} is larger than every object"
        yield Broken("range", "range over object", message, "ask for less, or add `where: range <= object_size`")


def _manner(values: Mapping[str, Any]) -> Iterator[Broken]:
    possible = (
        ("layout", "separate", "each lane has objects of its own"),
        ("method", "auto", "the engine speaks to the store itself"),
        ("cache", "keep", "objects are in no page cache of the host that generates the load"),
        ("sync", "none", "a put ends when the service has the object, and there is nothing else to flush"),
        ("preallocate", False, "nothing is preallocated for objects"),
    )
    for field, only, why in possible:
        if values[field] != only:
            asked, kept = (str(value).lower() for value in (values[field], only))
            message = f"{why}, so {field}: {asked} is not possible"
            yield Broken(field, f"objects {field} {asked}", message, f"remove it, or write {field}: {kept}")


def _duration(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[Broken]:
    """A time that none of the operations takes; where some take it, the others are done as without it."""
    shown = ", ".join(dict.fromkeys(operations))
    if not DELETES.issuperset(operations):
        return
    for field in ("runtime", "time_limit"):
        if values[field] is not None:
            message = f"{field} has no effect on {shown}: each object is deleted, and only once"
            yield Broken(field, f"objects {field}", message, "remove it, and choose the time by the number of objects")
