"""Repeats that are spread over hours, to sample the storage at different times of day."""

from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from assay.model.frozen import Frozen
from assay.model.study import axis, names
from assay.model.study.axis import SingleField, fault
from assay.model.units import choices_hint, display_value

MONTH_NS = 31 * 86400 * 10**9


def _operations(written: object) -> tuple[str, ...]:
    hint = "write a list of at least two, such as [read, write]"
    if not isinstance(written, list) or len(written) < 2:
        raise fault(f"{display_value(written)} is not a list of operations", hint)
    for place, operation in enumerate(written):
        if operation not in names.OPERATIONS:
            raise fault(
                f"{display_value(operation)} is not an operation", choices_hint(operation, names.OPERATIONS), place
            )
        if operation in written[:place]:
            raise fault(f"{operation} comes twice", "name each operation once", place)
    return tuple(written)


Operations = Annotated[
    tuple[str, ...],
    BeforeValidator(_operations),
    WithJsonSchema({"type": "array", "items": {"enum": list(names.OPERATIONS)}, "minItems": 2}),
]


class Schedule(Frozen):
    """When the repeats take place."""

    over: Annotated[int, SingleField(axis.duration(10**9, MONTH_NS))] = Field(
        description="Time from the beginning of the run in which the repeats take place, such as 24h. Each repeat has"
        " its part of it; in random order each case starts at a random moment of that part."
    )
    alternate: Operations = Field(
        (), description="Cases that begin with these operations take turns, in this order.", validate_default=False
    )
