"""What targets with several servers have in common."""

from collections.abc import Iterator, Sequence

from assay.model.source import Fault
from assay.model.study.study import Workload


def most_servers(work: Workload) -> int:
    """The most servers that a workload asks for; 0 if it leaves that open."""
    return max((int(count) for count in work.axis("servers").values() if count is not None), default=0)


def too_many(name: str, there: Sequence[str], what: str, workload: str, work: Workload) -> Iterator[Fault]:
    """No more servers than there are, or a case would be sold as what it is not.

    Args:
        name: Of the target.
        there: Its servers.
        what: What the target calls them.
        workload: Name of the workload.
        work: The workload.
    """
    most = most_servers(work)
    if most > len(there):
        message = f"{most} servers, but target {name} has {len(there)}"
        yield Fault(
            path=("workloads", workload, "servers"), message=message, hint=f"name more {what} there, or use fewer"
        )
