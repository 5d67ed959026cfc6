"""Rules for workloads on existing objects."""

from collections.abc import Iterator

from assay.model.source import FieldFault
from assay.model.study.contents import parse_mix
from assay.model.study.names import OBJECTS
from assay.model.study.parameters import default_value
from assay.model.study.study import Workload

READ_OPERATIONS = ("get", "head", "list", "object_mix")
"""Operations that change nothing; `object_mix` only as a mix of gets and heads."""
MAX_OBJECTS = 10_000_000
"""Most objects of all lanes together, since each engine keeps their names in memory."""
_UNKNOWN = {
    "object_size": "their sizes come from listing them",
    "part_size": "nothing is put",
    "verify": "their expected contents are not known",
    "compressible": "their contents are not known",
    "duplicate": "their contents are not known",
}
"""Parameter -> why it has no meaning for existing objects."""


def existing_object_rules(path: tuple[str, str], name: str, work: Workload) -> Iterator[FieldFault]:
    """Refuse what is possible only with objects that the workload makes itself, for a target with `existing`.

    Args:
        path: Path of the workload in the study.
        name: Name of the target.
        work: The workload.
    """
    statement = f"target {name} has `existing`: its objects exist already"
    hint_end = "or give the target a workload of its own with `targets`"
    writing = [one for one in dict.fromkeys(work.operations) if one in OBJECTS and one not in READ_OPERATIONS]
    if writing:
        message = f"{statement} and are only read, not {', '.join(writing)}"
        yield FieldFault(
            path=(*path, "operations"), message=message, hint=f"use {', '.join(READ_OPERATIONS)}, {hint_end}"
        )
    mixes = [parse_mix(mix) for mix in work.axis("mix").values() if isinstance(mix, str)]
    if "object_mix" in work.operations and any(not mix.keys() <= {"get", "head"} for mix in mixes):
        message = f"{statement}, and a mix of them has only get and head"
        yield FieldFault(
            path=(*path, "mix"), message=message, hint=f"write for example mix: {{get: 80, head: 20}}, {hint_end}"
        )
    for field, why in _UNKNOWN.items():
        if work.axis(field).values() != (default_value(field, "objects"),):
            yield FieldFault(path=(*path, field), message=f"{statement}, and {why}", hint=f"remove {field}, {hint_end}")
    yield from _too_many(path, work)


def _too_many(path: tuple[str, str], work: Workload) -> Iterator[FieldFault]:
    """Refuse more objects than an engine keeps in memory, with the largest values of all axes combined."""

    def most(field: str) -> int:
        return max((value for value in work.axis(field).values() if isinstance(value, int)), default=0)

    lanes = max(most("lanes") * most("tasks_per_host") * most("hosts"), most("streams"))
    if most("objects") * lanes > MAX_OBJECTS:
        message = f"{lanes:,} lanes with {most('objects'):,} objects each are more than {MAX_OBJECTS:,} in all"
        yield FieldFault(
            path=(*path, "objects"), message=message, hint="lower objects: it is how many each lane has at most"
        )
