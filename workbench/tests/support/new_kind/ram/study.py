"""Memory of the engine, as a study file names it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from assay.model.study import axis
from assay.model.study.axis import SingleField
from assay.model.study.names import Group
from assay.model.study.target import StatedCeilings, Target, TargetService, Text

if TYPE_CHECKING:
    from assay.model.source import FieldFault
    from assay.model.study.study import Workload


class RamTarget(Target):
    """Memory of the engine."""

    noun: ClassVar[str] = "memory of the engine"
    groups: ClassVar[tuple[Group, ...]] = ("data",)
    rank: ClassVar[int] = 6
    keeps_data: ClassVar[bool] = True
    through_kernel: ClassVar[bool] = False
    through_mpi: ClassVar[bool] = False
    is_directory: ClassVar[bool] = False
    whole_device: ClassVar[bool] = False
    has_files: ClassVar[bool] = True
    is_made_by_engines: ClassVar[bool] = False
    times_out_when_lost: ClassVar[bool] = False
    examples: ClassVar[dict[str, str]] = {"block": "1MiB"}

    kind: Literal["ram"]
    block: Annotated[int, SingleField(axis.size(4096, 2**30))] = Field(description="Bytes that each lane copies.")
    ceilings: StatedCeilings = Field(StatedCeilings(), description="Limits that it cannot exceed, from a data sheet.")
    description: Text = Field("", description="Description of the target, for the report.")

    @property
    def path(self) -> str:
        """Where it is, for people."""
        return f"memory, blocks of {self.block} bytes"

    @property
    def services(self) -> tuple[TargetService, ...]:
        """None."""
        return ()

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[FieldFault]":
        """Nothing."""
        yield from ()
