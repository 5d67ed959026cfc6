"""What a design and its use make one pay for: lines for a price book, without the prices."""

import functools
import re
from collections.abc import Iterator
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.design import (
    S3,
    Design,
    DynamoDb,
    Efs,
    FsxLustre,
    Hardware,
    Managed,
    Servers,
    Volumes,
)
from assay.model.money.price import Bill, Line, Per
from assay.model.money.use import Use
from assay.model.units import format_size
from assay.money.cost.catalog import catalog

ONE = Decimal(1)
BACKUPS = {"snapshot-capacity": "snapshots", "filesystem-backup": "backups"}
"""What is kept besides the data, by the dimension that it is paid in."""
EFS_MOVED = "efs-ia-write"
"""The item of `filesystem-access` as which moving bytes to infrequent access is paid for."""
SMALL = 10**6
"""Bytes below which the unit of a capacity was probably forgotten."""
_YEAR = re.compile(r"-(19|20)[0-9]{2}$")


def make_bill(design: Design, use: Use = Use()) -> Bill:  # noqa: B008
    """The bill of materials and of use.

    Capacity is counted as it is provisioned, in bytes for a month; servers by the hour, and only those are not paid
    for while the design is off.

    Raises:
        AssayError: The catalogue has no such thing, or a volume cannot be that large.
    """
    lines = [
        *(_gone(line, use) for group in design.servers for line in _servers(group, use)),
        *(_gone(line, use) for line in _service(design, use)),
        *(line for piece in design.hardware for line in _hardware(piece)),
        *_link(design),
        *_use(design, use),
    ]
    return Bill(lines=tuple(line for line in lines if line.pieces and line.each))


def volume_count(volumes: Volumes) -> int:
    """Volumes of each server: as written, or as few of the same size as the type's largest size allows."""
    if volumes.count != "auto":
        return volumes.count
    least = -(-volumes.capacity // catalog().volume(volumes.type).most_size)
    return next((count for count in range(least, 2 * least + 8) if volumes.capacity % count == 0), least)


def volume_size(volumes: Volumes) -> int:
    """Bytes of each volume.

    Raises:
        AssayError: The capacity cannot be split evenly into so many.
    """
    count = volume_count(volumes)
    if volumes.capacity % count:
        hint = f"take a multiple of their number, such as {_multiples(volumes.capacity, count)}"
        if volumes.capacity < SMALL:
            hint = "is the unit missing? Write the capacity such as 10TB"
        raise AssayError(f"{format_size(volumes.capacity)} cannot be split evenly into {count} volumes", hint)
    return volumes.capacity // count


def _multiples(size: int, count: int) -> str:
    """The next sizes, in the same unit, that can be split evenly: `9TB or 12TB`."""
    spelled = format_size(size)
    unit = spelled.lstrip("0123456789")
    below = int(spelled.removesuffix(unit)) // count * count
    return " or ".join(f"{each}{unit}" for each in (below, below + count) if each)


def sold_as(name: str) -> str:
    """The item of a price book for a type of the catalogue: without the year that its limits held in."""
    return _YEAR.sub("", name)


@functools.lru_cache(maxsize=4096)
def _line(
    what: str,
    dimension: str,
    item: str,
    each: Decimal | float,
    per: Per,
    pieces: Decimal | float = 1,
    stops: bool = False,
) -> Line:
    """A line; thousands of variants share most of theirs."""
    return Line(
        what=what,
        dimension=dimension,
        item=item,
        pieces=Decimal(str(pieces)),
        each=Decimal(str(each)),
        per=per,
        stops=stops,
    )


def _gone(line: Line, use: Use) -> Line:
    """What is rented by the month, and is deleted while nothing runs: it stops, too."""
    if not use.deleted_when_off or line.per != "month":
        return line
    return _line(line.what, line.dimension, line.item, line.each, line.per, line.pieces, stops=True)


def _servers(group: Servers, use: Use) -> Iterator[Line]:
    what = f"{group.instance}, {group.role}"
    yield _line(what, "instance", group.instance, 1, "hour", group.count, stops=True)
    if group.volumes is None:
        return
    volumes = group.volumes
    pieces = group.count * volume_count(volumes)
    item = sold_as(volumes.type)
    size = volume_size(volumes) * use.filled
    yield _line(f"{item} volumes", "volume-capacity", item, size, "month", pieces)
    if volumes.iops is not None:
        yield _line(f"IOPS of {item} volumes", "volume-iops", item, volumes.iops, "month", pieces)
    if volumes.throughput is not None:
        yield _line(f"throughput of {item} volumes", "volume-throughput", item, volumes.throughput, "month", pieces)


def _service(design: Design, use: Use) -> Iterator[Line]:
    service = design.service
    if isinstance(service, Efs):
        item = "efs-standard" if service.zones == "regional" else "efs-one-zone"
        stored = service.stored * use.filled
        rare = stored * service.infrequent
        yield _line("EFS storage", "filesystem-capacity", item, stored - rare, "month")
        rarely = "efs-ia" if service.zones == "regional" else "efs-one-zone-ia"
        yield _line("EFS storage, infrequent access", "filesystem-capacity", rarely, rare, "month")
        if service.provisioned is not None:
            what = "EFS provisioned throughput"
            yield _line(what, "filesystem-throughput", "efs-provisioned", service.provisioned, "month")
    elif isinstance(service, FsxLustre):
        item = sold_as(service.type)
        yield _line("FSx for Lustre storage", "filesystem-capacity", item, service.capacity * use.filled, "month")
    elif isinstance(service, S3):
        yield from _bucket(service, use)
    elif isinstance(service, Managed):
        yield from _managed(service, use)
    elif isinstance(service, DynamoDb):
        stored = service.stored * use.filled
        yield _line("DynamoDB storage", "table-capacity", "dynamodb", stored, "month")
        yield _line("DynamoDB read units", "table-read", "dynamodb", ONE, "hour", service.read_units or 0)
        yield _line("DynamoDB write units", "table-write", "dynamodb", ONE, "hour", service.write_units or 0)


def _bucket(service: S3, use: Use) -> Iterator[Line]:
    """What is stored in each class, with the bytes, objects and days that it charges at least.

    Snapshots of a bucket are older versions of its objects, which cost as much as the others.
    """
    cold = service.stored * service.cold_share
    kept = ((service.storage_class, service.stored - cold, use.snapshots), (service.cold_class, cold, 0))
    for name, stored, versions in kept:
        if name is None or not stored + versions:
            continue
        kind = catalog().object_class(name)
        billed = Decimal(stored) * use.filled + versions
        if use.object_size:
            each = max(kind.least_object, use.object_size) + kind.overhead
            billed = billed * each / use.object_size
        if use.kept_days and kind.least_days > use.kept_days:
            billed = billed * kind.least_days / use.kept_days
        yield _line(f"{kind.label} storage", "object-capacity", name, billed, "month")


def _managed(service: Managed, use: Use) -> Iterator[Line]:
    kind, size = catalog().managed(service.type), service.capacity
    sold, what = kind.prices, kind.label
    filled, fast = use.filled, kind.fast(size, service.infrequent)
    rare = (size - fast if kind.least_fast is not None else size * service.infrequent) * filled
    if service.infrequent and sold.infrequent is None:
        raise AssayError(f"{kind.name} has no class for what is seldom read", "leave `infrequent` out")
    yield _line(f"{what} storage", "filesystem-capacity", sold.capacity, size * filled - rare, "month")
    if sold.infrequent is not None:
        yield _line(f"{what} storage, infrequent access", "filesystem-capacity", sold.infrequent, rare, "month")
    if sold.monitoring is not None:
        yield _line(f"{what} watching of what is used", "filesystem-capacity", sold.monitoring, size * filled, "month")
    if sold.throughput is not None and service.throughput is not None:
        paid = service.throughput - (kind.throughput.included(fast) if kind.throughput is not None else 0.0)
        yield _line(f"{what} throughput", "filesystem-throughput", sold.throughput, max(0.0, paid), "month")
    if sold.iops is not None and service.iops is not None:
        extra = service.iops - (kind.iops.included(fast) if kind.iops is not None else 0.0)
        yield _line(f"{what} IOPS", "filesystem-iops", sold.iops, max(0.0, extra), "month")
    if sold.fixed is not None:
        yield _line(f"{what} fee", "service-fee", sold.fixed, 1, "month")


def _hardware(piece: Hardware) -> Iterator[Line]:
    bought = _line(piece.item, "purchase", piece.item, 1, "once", piece.count)
    yield bought.model_copy(update={"years": piece.years})
    yield _line(f"power of {piece.item}", "power", "electricity", piece.watts / 1000, "hour", piece.count)
    yield _line(f"rack space of {piece.item}", "rack", "rack", piece.rack_units, "month", piece.count)
    if piece.support is not None:
        yield _line(f"support of {piece.item}", "support", piece.support, 1, "month", piece.count)
    yield _line(f"work on {piece.item}", "people", "administrator", piece.people, "month", piece.count)


def _link(design: Design) -> Iterator[Line]:
    if design.link is not None:
        yield _line(f"port {design.link.item}", "port", design.link.item, 1, "hour", design.link.count)


def _use(design: Design, use: Use) -> Iterator[Line]:
    yield from _some("administration", "people", "administrator", design.people + use.people, "month")
    yield from _some("data transfer out", "transfer-out", use.egress_way, use.egress, "month")
    yield from _some("data transfer out of a job", "transfer-out", use.egress_way, use.job_egress, "job")
    yield from _some("data transfer between zones", "transfer-zone", "zone", use.zone_traffic, "month")
    yield from _accessed(design, use)
    types = sorted({sold_as(group.volumes.type) for group in design.servers if group.volumes})
    kept = backup_item(design)
    if kept is not None:
        yield from _some(BACKUPS[kept[0]], *kept, use.snapshots, "month")
    if "standard" in types:
        yield from _some("requests to volumes", "volume-requests", "standard", use.volume_requests, "month")


def _accessed(design: Design, use: Use) -> Iterator[Line]:
    """Requests, and bytes read and written, where they are paid for."""
    service = design.service
    if isinstance(service, S3):
        yield from _requested(service, use)
    if isinstance(service, DynamoDb) and service.mode == "on-demand":
        yield from _some("reads", "table-requests", "dynamodb/read", use.table_reads, "month")
        yield from _some("writes", "table-requests", "dynamodb/write", use.table_writes, "month")
    if isinstance(service, Efs):
        if service.type == "efs-elastic":
            yield from _some("bytes read", "filesystem-access", "efs-elastic-read", use.retrieved, "month")
            yield from _some("bytes written", "filesystem-access", "efs-elastic-write", use.written, "month")
        if service.infrequent:
            cold = use.retrieved * use.cold_reads
            yield from _some("bytes read of infrequent access", "filesystem-access", "efs-ia-read", cold, "month")
            moved = use.written * service.infrequent
            yield from _some("bytes moved to infrequent access", "filesystem-access", EFS_MOVED, moved, "month")
    if isinstance(service, Managed):
        sold = catalog().managed(service.type).prices
        tiered = service.infrequent and sold.infrequent_read is not None
        rare = use.retrieved * use.cold_reads if tiered else Decimal(0)
        for what, item, amount in (
            ("bytes read", sold.read, use.retrieved - rare),
            ("bytes written", sold.write, Decimal(use.written)),
            ("bytes read of infrequent access", sold.infrequent_read, rare),
        ):
            if item is not None:
                yield from _some(what, "filesystem-access", item, amount, "month")
        if sold.requests is not None:
            yield from _some("read requests", "filesystem-requests", f"{sold.requests}/read", use.gets, "month")
            yield from _some("write requests", "filesystem-requests", f"{sold.requests}/write", use.puts, "month")


def backup_item(design: Design) -> tuple[str, str] | None:
    """As what snapshots and backups of a design are sold: dimension and item; None if they are not.

    Those of a bucket are in what it stores.
    """
    service = design.service
    if any(group.volumes is not None for group in design.servers):
        return "snapshot-capacity", "standard"
    found = None
    if isinstance(service, Efs | FsxLustre):
        found = catalog().filesystem(service.type).backup
    elif isinstance(service, Managed):
        found = catalog().managed(service.type).prices.backup
    return None if found is None else ("filesystem-backup", found)


def _requested(service: S3, use: Use) -> Iterator[Line]:
    """Requests to a bucket; of reads the share of cold data goes to its class."""
    cold = use.cold_reads if service.cold_class is not None else Decimal(0)
    name = service.storage_class
    yield from _some("PUT, COPY, POST and LIST requests", "object-requests", f"{name}/put", use.puts, "month")
    if service.cold_class is not None:
        moved = use.puts * service.cold_share
        yield from _some("moves to a colder class", "object-requests", moved_item(service.cold_class), moved, "month")
    for each, part in ((name, 1 - cold), (service.cold_class, cold)):
        if each is None or not part:
            continue
        yield from _some("GET requests", "object-requests", f"{each}/get", use.gets * part, "month")
        if not catalog().object_class(each).retrieval_free:
            yield from _some("retrieval", "object-retrieval", each, use.retrieved * part, "month")


def moved_item(name: str) -> str:
    """The item of `object-requests` as which moving an object into a class is paid for."""
    return f"{name}/{catalog().object_class(name).moved_as}"


def _some(what: str, dimension: str, item: str, each: Decimal | int, per: Per) -> Iterator[Line]:
    """A line, if there is anything of it: of most ways of use there is nothing."""
    if each:
        yield _line(what, dimension, item, each, per)
