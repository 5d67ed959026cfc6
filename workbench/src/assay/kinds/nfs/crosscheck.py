"""Rules for workloads on NFS exports."""

from collections.abc import Iterator

from assay.kinds.nfs.study import NfsTarget
from assay.kinds.servers import most_servers, not_on_several, too_many
from assay.model.source import Fault
from assay.model.study.study import Workload


def crosscheck(target: NfsTarget, name: str, workload: str, work: Workload) -> Iterator[Fault]:
    """See `Target.crosscheck`."""
    yield from too_many(name, target.servers, "servers", workload, work)
    used = most_servers(work) or len(target.servers)
    yield from not_on_several(used, f"on the {used} servers of target {name}", workload, work, "`servers: 1`")
