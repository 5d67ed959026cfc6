"""Facts that several kinds of target share."""

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from assay.model.study.hosts import KnownServers
from assay.model.study.target import Flag, Target, TargetService

OnRoot = Annotated[
    Flag,
    Field(
        description="It may be on the root file system although its path suggests a mount (below /mnt, or a mount "
        "point of /etc/fstab)."
    ),
]
MountServers = Annotated[
    KnownServers,
    Field(description="Hosts that serve it, if it is on a mount, so that the links to them can be measured."),
]


class DirectoryTarget(Target):
    """A directory that Assay makes and marks, and in which only Assay writes."""

    keeps_data: ClassVar[bool] = True
    through_kernel: ClassVar[bool] = True
    is_directory: ClassVar[bool] = True
    whole_device: ClassVar[bool] = False
    has_files: ClassVar[bool] = True
    is_made_by_engines: ClassVar[bool] = False
    times_out_when_lost: ClassVar[bool] = False

    if TYPE_CHECKING:
        # Each kind declares this as a field, in its own order.
        @property
        def servers(self) -> tuple[str, ...]:
            """Hosts that serve it, as far as they are named."""

    @property
    def services(self) -> tuple[TargetService, ...]:
        """Servers that the study names; the port is unknown, since the kernel mounts the file system."""
        return tuple(TargetService(server, None) for server in self.servers)


class EngineSideTarget(Target):
    """A target that only engines reach, by a protocol of their own; they make what is in it."""

    keeps_data: ClassVar[bool] = True
    through_kernel: ClassVar[bool] = False
    through_mpi: ClassVar[bool] = False
    is_directory: ClassVar[bool] = False
    whole_device: ClassVar[bool] = False
    has_files: ClassVar[bool] = True
    is_made_by_engines: ClassVar[bool] = True
