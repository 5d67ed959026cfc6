"""A directory behind MPI-IO in a study file."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from assay.kinds.families import DirectoryTarget, MountServers, OnRoot
from assay.model.source import FieldFault
from assay.model.study.axis import fault
from assay.model.study.names import MIXES, Group
from assay.model.study.target import ANY_JOB, Path, StatedCeilings, Text
from assay.model.units import display_value

if TYPE_CHECKING:
    from assay.model.study.study import Workload

MAX_HINTS = 32
_KEY = r"[A-Za-z0-9_:.-]{1,35}"
"""Names that every MPI accepts (MPI_MAX_INFO_KEY of Open MPI is 36, with the terminating zero)."""
MAX_VALUE = 255


def _prefix(written: object) -> str | None:
    if written is None or (isinstance(written, str) and re.fullmatch(r"[A-Za-z0-9]{1,16}", written)):
        return written
    raise fault(f"{display_value(written)} is not the name of a file system", "write it without a colon, such as ufs")


def _hints(written: object) -> tuple[tuple[str, str], ...]:
    """Return name and value of each hint, both as text, which is what MPI expects."""
    if isinstance(written, tuple):
        return written
    if not isinstance(written, dict) or len(written) > MAX_HINTS:
        raise fault(
            f"{display_value(written)} is not a mapping of hints", "write a mapping such as {romio_no_indep_rw: true}"
        )
    found = []
    for key, value in written.items():
        if not isinstance(key, str) or not re.fullmatch(_KEY, key):
            raise fault(
                f"{display_value(key)} is not the name of a hint", "write letters, digits and `_`, 35 at most", key
            )
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if not isinstance(value, str | int | float) or not (text.isprintable() and 0 < len(text) <= MAX_VALUE):
            raise fault(f"{display_value(value)} is not the value of a hint", "write a number or a word", key)
        found.append((key, text))
    return tuple(found)


Prefix = Annotated[str | None, BeforeValidator(_prefix), WithJsonSchema({"type": ["string", "null"]})]
Hints = Annotated[
    tuple[tuple[str, str], ...],
    BeforeValidator(_hints),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}),
]
FLUSHES = {
    "fsync": "MPI_File_sync at the end of each phase, inside the measured time",
    "none": "data may still be in memory when the clock stops; it is flushed between phases",
}
"""Policy -> what it means (MPI-3.1 section 13.6.1)."""


class MpiioTarget(DirectoryTarget):
    """A directory that Assay makes and marks, and in which only Assay writes, reached through MPI-IO."""

    noun: ClassVar[str] = "a directory behind MPI-IO"
    groups: ClassVar[tuple[Group, ...]] = ("data",)
    rank: ClassVar[int] = 8
    through_mpi: ClassVar[bool] = True
    examples: ClassVar[dict[str, str]] = {"path": "/scratch/assay-test"}

    kind: Literal["mpiio"]
    path: Path = Field(
        description="The directory, which all hosts must see. Its parent must exist; the directory itself must be new, "
        "empty or Assay's."
    )
    prefix: Prefix = Field(
        None,
        description="File system type for the MPI-IO library, such as ufs or lustre (ROMIO). Left out: the library"
        " finds out.",
    )
    hints: Hints = Field(
        (),
        description="Further hints for the library (MPI_Info), name and value. Those that are axes of workloads are "
        "written there: cb_nodes, cb_buffer_size, romio_cb_read, striping_factor ...",
    )
    on_root: OnRoot = False
    servers: MountServers = ()
    ceilings: StatedCeilings = Field(StatedCeilings(), description="Limits that it cannot exceed, from a data sheet.")
    description: Text = Field("", description="Description of the target, for the report.")

    @classmethod
    def protocol(cls) -> str:
        """See `Target.protocol`."""
        return ""

    @classmethod
    def flushes(cls) -> Mapping[str, str]:
        """See `Target.flushes`."""
        return FLUSHES

    def plain_target(self, directory: str = ANY_JOB, destroy: bool = False) -> BaseModel:
        """See `Target.plain_target`: the directory itself."""
        found: BaseModel = self.kind_module("job").directory_target(self, directory, None)
        return found

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[FieldFault]":
        """See `Target.crosscheck`: a rank has one lane, and collective operations rule out mixes and rates."""
        path = ("workloads", workload)
        if set(work.axis("lanes").values()) - {1}:
            message = f"a rank of MPI has one lane, and target {name} is reached through MPI"
            hint = "leave lanes out, and set the ranks of each host with tasks_per_host"
            yield FieldFault(path=(*path, "lanes"), message=message, hint=hint)
        together = True in work.axis("collective").values() and "shared" in work.axis("layout").values()
        mixes = [operation for operation in work.operations if operation in MIXES]
        if together and mixes:
            message = f"in collective operations on one file all ranks do the same, and {mixes[0]} is a mix"
            yield FieldFault(path=(*path, "operations"), message=message, hint="write collective: false")
        if together and set(work.axis("rate").values()) - {None}:
            message = "collective operations on one file start when all ranks are there, not at a rate"
            yield FieldFault(path=(*path, "rate"), message=message, hint="leave rate out, or write collective: false")
