"""Rules for workloads on NFS exports."""

from collections.abc import Iterator

from assay.kinds.nfs.study import NfsTarget
from assay.kinds.servers import max_servers, refuse_several_places, refuse_too_many_servers
from assay.model.source import FieldFault
from assay.model.study.study import Workload


def crosscheck(target: NfsTarget, name: str, workload: str, work: Workload) -> Iterator[FieldFault]:
    """See `Target.crosscheck`."""
    yield from refuse_too_many_servers(name, target.servers, "servers", workload, work)
    used = max_servers(work) or len(target.servers)
    yield from refuse_several_places(used, f"on the {used} servers of target {name}", workload, work, "`servers: 1`")
