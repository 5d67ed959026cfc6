"""A directory in a study file."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from assay.kinds.families import DirectoryTarget, MountServers, OnRoot
from assay.model.site.storage import SiteStorage
from assay.model.source import FieldFault
from assay.model.study.axis import fault
from assay.model.study.mounts import StudyMount
from assay.model.study.names import Group
from assay.model.study.target import Path, StatedCeilings, Text
from assay.model.units import display_value

if TYPE_CHECKING:
    from assay.model.study.study import Workload


def _shares(written: object) -> object:
    if isinstance(written, list) and written:
        return written
    raise fault(f"{display_value(written)} is not a list of directories", "write a list: [/mnt/b/assay, /mnt/c/assay]")


Shares = Annotated[tuple[Path, ...], BeforeValidator(_shares)]


class FileTarget(DirectoryTarget):
    """A directory that Assay makes and marks, and in which only Assay writes."""

    noun: ClassVar[str] = "a directory"
    groups: ClassVar[tuple[Group, ...]] = ("data", "names", "programs")
    rank: ClassVar[int] = 1
    through_mpi: ClassVar[bool] = False
    examples: ClassVar[dict[str, str]] = {"path": "/var/tmp/assay-test"}

    kind: Literal["file"]
    path: Path = Field(
        description="The directory. Its parent must exist; the directory itself must be new, empty or Assay's."
    )
    shares: Shares = Field(
        (),
        description="Further directories like it, as of other mounts of a server: lane i works in the i-th modulo n of "
        "all of them. With layout: shared each has a tree of its own for all lanes that work there.",
    )
    on_root: OnRoot = False
    servers: MountServers = ()
    mounts: tuple[StudyMount, ...] = Field(
        (),
        description="Mounts that Assay makes on each host before the run and removes after it; the directory and its"
        " shares are in these. Needs hosts or a box, and root there.",
    )
    ceilings: StatedCeilings = Field(StatedCeilings(), description="Limits that it cannot exceed, from a data sheet.")
    description: Text = Field("", description="Description of the target, for the report.")

    @classmethod
    def fields_at(cls, storage: SiteStorage) -> Mapping[str, object] | None:
        """See `Target.fields_at`: the hosts have it mounted already."""
        if not storage.mount_point:
            return None
        servers = list(storage.servers) or None
        return {"path": f"{storage.mount_point.rstrip('/')}/assay", "servers": servers, "mounts": None, "shares": None}

    @property
    def study_mounts(self) -> tuple[StudyMount, ...]:
        """See `Target.mounts`."""
        return self.mounts

    @property
    def paths(self) -> tuple[str, ...]:
        """The directory and its shares, in the order in which lanes are spread over them."""
        return (self.path, *self.shares)

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[FieldFault]":
        """See `Target.crosscheck`: the directory must be on its mounts; shares rule out a shared file and `reorder`."""
        for place, mount in enumerate(self.mounts):
            if not any(path.startswith(f"{mount.at.rstrip('/')}/") for path in self.paths):
                message = f"target {name} has no directory below {mount.at}, which is mounted for it"
                hint = f"write a path such as {mount.at}/assay"
                yield FieldFault(path=("targets", name, "mounts", place, "at"), message=message, hint=hint)
        hint = "limit the workload to other targets with `targets`"
        if self.shares and work.group == "data" and "shared" in work.axis("layout").values():
            on_sets = any(None not in work.axis(field).values() for field in ("files", "total_files"))
            if not on_sets:
                message = f"target {name} has shares, and a shared file cannot be in several directories"
                yield FieldFault(
                    path=("workloads", workload, "layout"), message=message, hint=f"set layout: separate, or {hint}"
                )
        if self.shares and set(work.axis("reorder").values()) != {"none"}:
            message = f"each lane uses one share of target {name}, and cannot access files of lanes on other shares"
            yield FieldFault(
                path=("workloads", workload, "reorder"), message=message, hint=f"set reorder: none, or {hint}"
            )
