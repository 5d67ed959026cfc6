"""What a workload must not ask of NFS exports."""

from collections.abc import Iterator

from assay.kinds.nfs.study import NfsTarget
from assay.kinds.servers import most_servers, too_many
from assay.model.source import Fault
from assay.model.study.study import Workload


def crosscheck(target: NfsTarget, name: str, workload: str, work: Workload) -> Iterator[Fault]:
    """As `Target.crosscheck`."""
    path = ("workloads", workload)
    yield from too_many(name, target.servers, "servers", workload, work)
    used = most_servers(work) or len(target.servers)
    if used > 1 and "shared" in work.axis("layout").values():
        message = f"one file shared by all lanes cannot lie on the {used} servers of target {name}"
        hint = "write `layout: separate`, or `servers: 1`"
        yield Fault(path=(*path, "layout"), message=message, hint=hint)
