"""Rules for workloads on buckets."""

from collections.abc import Iterator

from assay.kinds.s3.existing import existing_object_rules
from assay.kinds.s3.study import S3Target
from assay.kinds.servers import refuse_too_many_servers
from assay.model.source import FieldFault
from assay.model.study.contents import parse_mix, parse_sizes
from assay.model.study.names import DELETES, VISIBILITY
from assay.model.study.study import Workload
from assay.model.units import format_size
from assay.plan.objects import PIECE_BYTES
from assay.plan.rules import MAX_BUFFER_BYTES, MAX_LANES

MIN_PART_BYTES, MAX_PART_BYTES, MAX_PARTS = 5 << 20, 5 << 30, 10_000
"""Limits of multipart uploads; `MAX_PART_BYTES` also limits a single put (Amazon S3 User Guide)."""

LANE_BYTES, REQUEST_BYTES, PART_BYTES = 16 << 20, 528 << 10, 128
"""Most memory of an engine for each lane, each request in flight, and each part of an object."""


def crosscheck(target: S3Target, name: str, workload: str, work: Workload) -> Iterator[FieldFault]:
    """See `Target.crosscheck`."""
    path = ("workloads", workload)
    yield from refuse_too_many_servers(name, target.endpoint_urls, "endpoints", workload, work)
    if target.is_read_only:
        yield from existing_object_rules(path, name, work)
        yield from _memory(path, work)
    elif work.group == "objects":
        yield from _parts(path, work)
        yield from _memory(path, work)
        mixes = [value for value in work.axis("mix").values() if isinstance(value, str)]
        if "object_mix" in work.operations and any("update" in parse_mix(mix) for mix in mixes):
            message, hint = "buckets do not support update, which is in the mix", "use put: it replaces the object"
            yield FieldFault(path=(*path, "mix"), message=message, hint=hint)
        if target.if_none_match:
            yield from _put_again(path, name, work)


def _memory(path: tuple[str, str], work: Workload) -> Iterator[FieldFault]:
    """Refuse more requests in flight than an engine has memory for, with the largest values of all axes combined."""

    def most(field: str) -> int:
        return max((value for value in work.axis(field).values() if isinstance(value, int)), default=0)

    sizes = [parse_sizes(size).largest for size in work.axis("object_size").values() if isinstance(size, int | str)]
    parts = [part for part in work.axis("part_size").values() if isinstance(part, int)]
    parts_bytes = PART_BYTES * -(-max(sizes, default=0) // min(parts)) if parts else 0
    lanes, depth = max(most("lanes") * most("tasks_per_host"), min(most("streams"), MAX_LANES)), most("queue_depth")
    needed = lanes * (LANE_BYTES + depth * (REQUEST_BYTES + parts_bytes + min(max(sizes, default=0), PIECE_BYTES)))
    if needed > MAX_BUFFER_BYTES:
        message = f"{lanes} lanes with {depth} requests in flight each need {format_size(needed >> 30 << 30)} of memory"
        hint = f"at most {format_size(MAX_BUFFER_BYTES)}: lower lanes or queue_depth"
        yield FieldFault(path=(*path, "queue_depth"), message=message, hint=hint)


def _parts(path: tuple[str, str], work: Workload) -> Iterator[FieldFault]:
    sizes = [size for size in work.axis("object_size").values() if isinstance(size, int | str)]
    largest = max((parse_sizes(size).largest for size in sizes), default=0)
    for part in work.axis("part_size").values():
        if not isinstance(part, int):
            if largest > MAX_PART_BYTES:
                message = f"an object of {format_size(largest)} is too large to be put whole"
                hint = "add for example part_size: 64MiB, or make objects at most 5GiB"
                yield FieldFault(path=(*path, "object_size"), message=message, hint=hint)
        elif not MIN_PART_BYTES <= part <= MAX_PART_BYTES:
            message = f"S3 takes no parts of {format_size(part)}"
            yield FieldFault(path=(*path, "part_size"), message=message, hint="use 5MiB to 5GiB")
        elif largest > part * MAX_PARTS:
            message = f"an object of {format_size(largest)} has more than {MAX_PARTS:,} parts of {format_size(part)}"
            yield FieldFault(path=(*path, "part_size"), message=message, hint="make parts larger, or objects smaller")


def _put_again(path: tuple[str, str], name: str, work: Workload) -> Iterator[FieldFault]:
    """Refuse puts of existing objects, which the service would reject each time."""
    may_exist = False
    for operation in work.operations:
        puts_again = may_exist or any(value is not None for value in work.axis("runtime").values())
        if operation in VISIBILITY | {"put"} and puts_again:
            message = f"target {name} has if_none_match, so that no object can be put twice"
            hint = "put objects once: first in the operations or after a delete, and without a runtime"
            yield FieldFault(path=(*path, "operations"), message=message, hint=hint)
            return
        may_exist = operation not in DELETES
