"""Operations on objects: rules for their parameters, and the phases of a case.

The engine's side is `engine/crates/spec/src/validate/objects.rs`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.model.study.contents import Sizes, parse_sizes
from assay.model.study.names import ANY_ORDER, BATCHES, DELETES, NEED_OBJECTS, VISIBILITY
from assay.model.study.parameters import Parameters
from assay.model.units import format_size
from assay.plan.broken_rule import BrokenRule
from assay.plan.tree import PhasePlan

OPERATIONS_USING: dict[str, frozenset[str]] = {
    "range": frozenset({"get"}),
    "mix": frozenset({"object_mix"}),
    "batch": BATCHES,
    "access": ANY_ORDER,
}
"""Parameter -> operations that use it, for parameters that not all operations on objects use."""
DEFAULT_BATCH = 25
"""Objects of a batch if the study states no number."""
PIECE_BYTES = 1 << 20
"""Size of the pieces in which larger objects and parts are made, sent and checked."""


def batch_size(parameters: Parameters) -> int:
    """Return the number of objects in each batch request."""
    return parameters.batch or DEFAULT_BATCH


def piece_bytes(sizes: Sizes, part_size: int | None) -> int:
    """Return the buffer size of an operation in bytes: no more than is sent at once."""
    return min(sizes.largest, part_size or PIECE_BYTES, PIECE_BYTES)


def object_phases(operations: tuple[str, ...], partial: bool, existing: bool = False) -> tuple[PhasePlan, ...]:
    """Return the phases for operations: an unmeasured `prepare` comes before those that may lack objects.

    Args:
        operations: Operations on objects.
        partial: A `put` may end early and leave objects out.
        existing: The case only reads objects that exist already.
    """
    phases: list[PhasePlan] = []
    complete = False
    for operation in operations:
        if operation in NEED_OBJECTS and not complete and not existing:
            phases.append(PhasePlan("prepare", measured=False))
            complete = True
        phases.append(PhasePlan(operation))
        if operation in VISIBILITY | {"put", "batch_put"}:
            complete = complete or not partial
        elif operation in DELETES or operation == "object_mix":
            complete = False
    return tuple(phases)


def object_rules(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    """Yield the rules for operations on objects that a combination of parameters breaks."""
    yield from _other_parameters(values)
    yield from _duration(values, operations)
    visibility_checks = [operation for operation in operations if operation in VISIBILITY]
    if visibility_checks and values["part_size"] is not None:
        message = f"{visibility_checks[0]} puts objects whole, so part_size is not possible"
        yield BrokenRule("part_size", "objects seen in parts", message, "leave part_size out")
    range_bytes, size = values["range"], values["object_size"]
    if range_bytes is not None and size is not None and range_bytes > parse_sizes(size).largest:
        message = f"range {format_size(range_bytes)} is larger than every object"
        yield BrokenRule("range", "range over object", message, "lower range, or add `where: range <= object_size`")


def _other_parameters(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    possible = (
        ("layout", "separate", "each lane has objects of its own"),
        ("method", "auto", "the engine speaks to the store itself"),
        ("cache", "keep", "objects are in no page cache of the host that generates the load"),
        ("sync", "none", "a put ends when the service has the object, and there is nothing else to flush"),
        ("preallocate", False, "nothing is preallocated for objects"),
    )
    for field, only, why in possible:
        if values[field] != only:
            value, allowed = (str(item).lower() for item in (values[field], only))
            message = f"{why}, so {field}: {value} is not possible"
            yield BrokenRule(field, f"objects {field} {value}", message, f"remove it, or write {field}: {allowed}")


def _duration(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    """Yield a broken rule for a runtime or time_limit that no operation uses. One that some use is accepted."""
    shown = ", ".join(dict.fromkeys(operations))
    if not DELETES.issuperset(operations):
        return
    for field in ("runtime", "time_limit"):
        if values[field] is not None:
            message = f"{field} has no effect on {shown}: each object is deleted, and only once"
            yield BrokenRule(
                field, f"objects {field}", message, "remove it, and choose the time by the number of objects"
            )
