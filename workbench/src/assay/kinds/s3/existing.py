"""What a workload must not ask of objects that are there already."""

from collections.abc import Iterator

from assay.model.source import Fault
from assay.model.study.contents import shares_of
from assay.model.study.names import OBJECTS
from assay.model.study.parameters import default_of
from assay.model.study.study import Workload

READING = ("get", "head", "list", "object_mix")
"""Operations that change nothing; a mix of gets and heads."""
MOST_OBJECTS = 10_000_000
"""Of all lanes together: each engine keeps their names."""
_UNKNOWN = {
    "object_size": "their list tells how large they are",
    "part_size": "nothing is put",
    "verify": "what they should hold is not known",
    "compressible": "what they hold is not known",
    "duplicate": "what they hold is not known",
}
"""Parameter -> why it means nothing for objects that somebody else has put."""


def only_read(path: tuple[str, str], name: str, work: Workload) -> Iterator[Fault]:
    """What a workload asks of a target with `existing` that only objects which it makes could do.

    Args:
        path: Of the workload.
        name: Of the target.
        work: The workload.
    """
    there = f"target {name} has `existing`: its objects are there already"
    alone = "or give the target a workload of its own with `targets`"
    changing = [one for one in dict.fromkeys(work.operations) if one in OBJECTS and one not in READING]
    if changing:
        message = f"{there} and are only read, not {', '.join(changing)}"
        yield Fault(path=(*path, "operations"), message=message, hint=f"use {', '.join(READING)}, {alone}")
    mixes = [shares_of(mix) for mix in work.axis("mix").values() if isinstance(mix, str)]
    if "object_mix" in work.operations and any(not mix.keys() <= {"get", "head"} for mix in mixes):
        message = f"{there}, and a mix of them has only get and head"
        yield Fault(path=(*path, "mix"), message=message, hint=f"write for example mix: {{get: 80, head: 20}}, {alone}")
    for field, why in _UNKNOWN.items():
        if work.axis(field).values() != (default_of(field, "objects"),):
            yield Fault(path=(*path, field), message=f"{there}, and {why}", hint=f"remove {field}, {alone}")
    yield from _too_many(path, work)


def _too_many(path: tuple[str, str], work: Workload) -> Iterator[Fault]:
    """More than an engine keeps, if the largest values of all axes come together."""

    def most(field: str) -> int:
        return max((value for value in work.axis(field).values() if isinstance(value, int)), default=0)

    lanes = max(most("lanes") * most("tasks_per_host") * most("hosts"), most("streams"))
    if most("objects") * lanes > MOST_OBJECTS:
        message = f"{lanes:,} lanes with {most('objects'):,} objects each are more than {MOST_OBJECTS:,} in all"
        yield Fault(
            path=(*path, "objects"), message=message, hint="lower objects: it is how many each lane has at most"
        )
