"""Rules for workloads on SMB shares."""

from collections.abc import Iterator

from assay.kinds.servers import most_servers, not_on_several, too_many
from assay.kinds.smb.study import SmbTarget
from assay.model.source import Fault
from assay.model.study.study import Workload


def crosscheck(target: SmbTarget, name: str, workload: str, work: Workload) -> Iterator[Fault]:
    """See `Target.crosscheck`."""
    yield from too_many(name, target.servers, "servers", workload, work)
    used, shares = most_servers(work) or len(target.servers), len(target.shares)
    if used > 1:
        yield from not_on_several(used, f"on the {used} servers of target {name}", workload, work, "`servers: 1`")
    else:
        yield from not_on_several(shares, f"in the {shares} shares of target {name}", workload, work, "name one share")
