"""What a workload must not ask of SMB shares."""

from collections.abc import Iterator

from assay.kinds.servers import most_servers, too_many
from assay.kinds.smb.study import SmbTarget
from assay.model.source import Fault
from assay.model.study.study import Workload


def crosscheck(target: SmbTarget, name: str, workload: str, work: Workload) -> Iterator[Fault]:
    """As `Target.crosscheck`."""
    path = ("workloads", workload, "layout")
    yield from too_many(name, target.servers, "servers", workload, work)
    if "shared" not in work.axis("layout").values():
        return
    used = most_servers(work) or len(target.servers)
    if used > 1:
        message = f"one file shared by all lanes cannot lie on the {used} servers of target {name}"
        yield Fault(path=path, message=message, hint="write `layout: separate`, or `servers: 1`")
    elif len(target.shares) > 1:
        message = f"one file shared by all lanes cannot lie in the {len(target.shares)} shares of target {name}"
        yield Fault(path=path, message=message, hint="write `layout: separate`, or name one share")
