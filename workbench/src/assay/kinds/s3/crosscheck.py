"""What a workload must not ask of buckets."""

from collections.abc import Iterator

from assay.kinds.s3.study import S3Target
from assay.model.source import Fault
from assay.model.study.contents import sizes_of
from assay.model.study.names import DELETES
from assay.model.study.study import Workload
from assay.model.units import format_size

LEAST_PART, MOST_PART, MOST_PARTS = 5 << 20, 5 << 30, 10_000
"""Of a multipart upload; what is put whole is a part at most (Amazon S3 User Guide, multipart upload limits)."""


def crosscheck(target: S3Target, name: str, workload: str, work: Workload) -> Iterator[Fault]:
    """As `Target.crosscheck`."""
    path = ("workloads", workload)
    most = max((int(count) for count in work.axis("servers").values() if count is not None), default=0)
    if most > len(target.doors):
        message = f"{most} servers, but target {name} has {len(target.doors)}"
        yield Fault(path=(*path, "servers"), message=message, hint="name more endpoints there, or use fewer")
    if work.group == "objects":
        yield from _parts(path, work)
        if target.if_none_match:
            yield from _put_again(path, name, work)


def _parts(path: tuple[str, str], work: Workload) -> Iterator[Fault]:
    sizes = [size for size in work.axis("object_size").values() if isinstance(size, int | str)]
    largest = max((sizes_of(size).largest for size in sizes), default=0)
    for part in work.axis("part_size").values():
        if not isinstance(part, int):
            if largest > MOST_PART:
                message = f"an object of {format_size(largest)} is too large to be put whole"
                hint = "add for example part_size: 64MiB, or make objects at most 5GiB"
                yield Fault(path=(*path, "object_size"), message=message, hint=hint)
        elif not LEAST_PART <= part <= MOST_PART:
            message = f"S3 takes no parts of {format_size(part)}"
            yield Fault(path=(*path, "part_size"), message=message, hint="use 5MiB to 5GiB")
        elif largest > part * MOST_PARTS:
            message = f"an object of {format_size(largest)} has more than {MOST_PARTS:,} parts of {format_size(part)}"
            yield Fault(path=(*path, "part_size"), message=message, hint="make parts larger, or objects smaller")


def _put_again(path: tuple[str, str], name: str, work: Workload) -> Iterator[Fault]:
    """A put of what is there, which is refused by the service each time."""
    there = False
    for operation in work.operations:
        again = there or any(value is not None for value in work.axis("runtime").values())
        if operation == "put" and again:
            message = f"target {name} has if_none_match, so that no object can be put twice"
            hint = "put objects once: first in the operations or after a delete, and without a runtime"
            yield Fault(path=(*path, "operations"), message=message, hint=hint)
            return
        there = operation not in DELETES
