"""A block device in a study file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from assay.model.study.names import Group
from assay.model.study.target import Path, StatedCeilings, Target, TargetService, Text

if TYPE_CHECKING:
    from assay.model.source import FieldFault
    from assay.model.study.study import Workload


class DeviceTarget(Target):
    """A whole block device, whose data is overwritten."""

    noun: ClassVar[str] = "a block device"
    groups: ClassVar[tuple[Group, ...]] = ("data",)
    rank: ClassVar[int] = 2
    keeps_data: ClassVar[bool] = True
    through_kernel: ClassVar[bool] = True
    through_mpi: ClassVar[bool] = False
    is_directory: ClassVar[bool] = False
    whole_device: ClassVar[bool] = True
    has_files: ClassVar[bool] = False
    is_made_by_engines: ClassVar[bool] = False
    times_out_when_lost: ClassVar[bool] = False
    examples: ClassVar[dict[str, str]] = {"path": "/var/tmp/assay-test"}

    kind: Literal["device"]
    path: Path = Field(description="The device, for example /dev/sdx. All data on it is overwritten.")
    ceilings: StatedCeilings = Field(StatedCeilings(), description="Limits that it cannot exceed, from a data sheet.")
    description: Text = Field("", description="Description of the target, for the report.")

    @property
    def services(self) -> tuple[TargetService, ...]:
        """None: the kernel does not tell which servers a device needs."""
        return ()

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[FieldFault]":
        """See `Target.crosscheck`: there are no rules for devices."""
        yield from ()
