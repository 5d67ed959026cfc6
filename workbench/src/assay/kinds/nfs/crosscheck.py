"""What a workload must not ask of NFS exports."""

from collections.abc import Iterator

from assay.kinds.nfs.study import NfsTarget
from assay.model.source import Fault
from assay.model.study.study import Workload


def crosscheck(target: NfsTarget, name: str, workload: str, work: Workload) -> Iterator[Fault]:
    """As `Target.crosscheck`: no more servers than there are, or a case would be sold as what it is not."""
    path = ("workloads", workload)
    most = max((int(count) for count in work.axis("servers").values() if count is not None), default=0)
    if most > len(target.servers):
        message = f"{most} servers, but target {name} has {len(target.servers)}"
        yield Fault(path=(*path, "servers"), message=message, hint="name more servers there, or use fewer")
    used = most or len(target.servers)
    if used > 1 and "shared" in work.axis("layout").values():
        message = f"one file shared by all lanes cannot lie on the {used} servers of target {name}"
        hint = "write `layout: separate`, or `servers: 1`"
        yield Fault(path=(*path, "layout"), message=message, hint=hint)
