"""A directory as a study file names it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from assay.model.study.hosts import KnownServers
from assay.model.study.names import Group
from assay.model.study.target import Flag, Path, Service, StatedCeilings, Target, Text

if TYPE_CHECKING:
    from assay.model.source import Fault
    from assay.model.study.study import Workload


class FileTarget(Target):
    """A directory that Assay creates, marks, and alone writes in."""

    noun: ClassVar[str] = "a directory"
    holds: ClassVar[tuple[Group, ...]] = ("data", "names")
    rank: ClassVar[int] = 1
    keeps_data: ClassVar[bool] = True
    through_kernel: ClassVar[bool] = True
    is_directory: ClassVar[bool] = True
    whole_device: ClassVar[bool] = False
    has_files: ClassVar[bool] = True
    made_by_engines: ClassVar[bool] = False
    waits_when_gone: ClassVar[bool] = False
    examples: ClassVar[dict[str, str]] = {"path": "/var/tmp/assay-test"}

    kind: Literal["file"]
    path: Path = Field(
        description="The directory. Its parent must exist; the directory itself must be new, empty or Assay's."
    )
    on_root: Flag = Field(
        False,
        description="It may lie on the root file system, though its path is one where things are mounted (below /mnt, "
        "or a mount point of /etc/fstab).",
    )
    servers: KnownServers = Field(
        (),
        description="Hosts that serve it, if it is on a mount, so that what the links to them carry can be measured.",
    )
    ceilings: StatedCeilings = Field(StatedCeilings(), description="What it cannot exceed, from a catalogue.")
    description: Text = Field("", description="What it is, for the report.")

    @property
    def services(self) -> tuple[Service, ...]:
        """Its servers, as far as the study names them: whatever mounts it is the kernel's business."""
        return tuple(Service(server, None) for server in self.servers)

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[Fault]":
        """Nothing."""
        yield from ()
