"""Rules for workloads on SMB shares."""

from collections.abc import Iterator

from assay.kinds.servers import max_servers, refuse_several_places, refuse_too_many_servers
from assay.kinds.smb.study import SmbTarget
from assay.model.source import FieldFault
from assay.model.study.study import Workload


def crosscheck(target: SmbTarget, name: str, workload: str, work: Workload) -> Iterator[FieldFault]:
    """See `Target.crosscheck`."""
    yield from refuse_too_many_servers(name, target.servers, "servers", workload, work)
    used, shares = max_servers(work) or len(target.servers), len(target.shares)
    if used > 1:
        yield from refuse_several_places(
            used, f"on the {used} servers of target {name}", workload, work, "`servers: 1`"
        )
    else:
        yield from refuse_several_places(
            shares, f"in the {shares} shares of target {name}", workload, work, "name one share"
        )
