"""Rules for targets with several servers."""

from collections.abc import Iterator, Sequence

from assay.model.source import FieldFault
from assay.model.study.study import Workload


def max_servers(work: Workload) -> int:
    """Return the largest number of servers that a workload requests; 0 if it requests none."""
    return max((int(count) for count in work.axis("servers").values() if count is not None), default=0)


def refuse_several_places(count: int, where: str, workload: str, work: Workload, hint: str) -> Iterator[FieldFault]:
    """Refuse a shared file and `reorder` if lanes work in several places, since each lane sees only one of them.

    Args:
        count: Number of places.
        where: The places in words, such as `on the 2 servers of target nas`.
        workload: Name of the workload.
        work: The workload.
        hint: How to use only one place.
    """
    if count > 1 and "shared" in work.axis("layout").values():
        message = f"one file shared by all lanes cannot be {where}"
        yield FieldFault(
            path=("workloads", workload, "layout"), message=message, hint=f"write `layout: separate`, or {hint}"
        )
    if count > 1 and set(work.axis("reorder").values()) != {"none"}:
        message = f"lanes {where} each use only one of these, and cannot access files that lanes on others have made"
        yield FieldFault(
            path=("workloads", workload, "reorder"), message=message, hint=f"write `reorder: none`, or {hint}"
        )


def refuse_too_many_servers(
    name: str, servers: Sequence[str], noun: str, workload: str, work: Workload
) -> Iterator[FieldFault]:
    """Refuse more servers than the target has, since cases would be labelled with a wrong number of servers.

    Args:
        name: Name of the target.
        servers: Its servers.
        noun: What the target calls them.
        workload: Name of the workload.
        work: The workload.
    """
    most = max_servers(work)
    if most > len(servers):
        message = f"{most} servers, but target {name} has {len(servers)}"
        yield FieldFault(
            path=("workloads", workload, "servers"), message=message, hint=f"name more {noun} there, or use fewer"
        )
