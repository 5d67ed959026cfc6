"""The bill of a design and its use: lines with quantities, which a price book turns into money."""

import functools
import re
from collections.abc import Iterator, Mapping
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
    ServerVolumes,
)
from assay.model.money.filesystems import EfsType
from assay.model.money.price import NETWORK_DIMENSIONS, Bill, BillItem, Per
from assay.model.money.use import Use
from assay.model.units import format_size
from assay.money.cost.catalog import catalog
from assay.money.cost.network_traffic import bought_switches, switch_piece

ONE = Decimal(1)
BACKUPS = {"snapshot-capacity": "snapshots", "filesystem-backup": "backups"}
"""Labels of bill lines for snapshots and backups, by the price-book dimension they are paid in."""
EFS_MOVED = "efs-ia-write"
"""Item of `filesystem-access` that charges for moving bytes to infrequent access."""
SUSPICIOUS_BYTES = 10**6
"""Capacities below this many bytes probably lack their unit."""
_YEAR = re.compile(r"-(19|20)[0-9]{2}$")
_RATE = re.compile(r"-[0-9]+[mg]$")


def make_bill(design: Design, use: Use = Use()) -> Bill:  # noqa: B008
    """Return the bill of a design: its parts, and what its use adds.

    Provisioned capacity is counted, in bytes for a month. Servers are counted by the hour; they are the only lines that
    cost nothing while the design is off, unless the use deletes everything then.

    Raises:
        AssayError: The catalogue does not have a part, or the capacity cannot be split evenly into volumes.
    """
    lines = [
        *(_stopped_when_deleted(line, use) for group in design.servers for line in _servers(group, use)),
        *(_stopped_when_deleted(line, use) for line in _service(design, use)),
        *(line for piece in design.hardware for line in _hardware(*_purchase(piece, design, use))),
        *_link(design),
        *_use(design, use),
    ]
    return Bill(lines=tuple(line for line in lines if line.pieces and line.each))


def hosts_bill(hosts: Mapping[str, int], network: Mapping[str, int] | None = None) -> Bill:
    """Return the bill of rented hosts that belong to no design, and of the network of a stack.

    Args:
        hosts: Instance type -> how many.
        network: Part of the network, one of `NETWORK_DIMENSIONS` -> how many; None: no part.
    """
    parts = [(f"{name}, hosts", "instance", name, count) for name, count in hosts.items()]
    parts += [(f"{name}, network", NETWORK_DIMENSIONS[name], name, count) for name, count in (network or {}).items()]
    return Bill(lines=tuple(_line(what, of, name, 1, "hour", count, stops=True) for what, of, name, count in parts))


def first_upload(design: Design, size: int, requests: Decimal) -> tuple[BillItem, ...]:
    """Return what storing so much once costs, at the beginning: what the design charges for writing, and nothing else.

    What goes to a class for cold data is moved there once, too. Provisioned tables have no requests: the write units
    of the upload are rented for the time that it takes. Few for long cost as much as many for a short time.

    Args:
        design: The design.
        size: Bytes.
        requests: Requests for them; of tables, write units.
    """
    lines = [*_access(design, _upload(size, requests))]
    if isinstance(design.service, DynamoDb) and design.service.mode == "provisioned":
        lines = [_line("write units", "table-write", "dynamodb", requests / 3600, "month")]
    if "standard" in _volume_types(design):
        lines += _nonzero("requests to volumes", "volume-requests", "standard", requests, "month")
    return tuple(
        _line(f"first upload: {line.what}", line.dimension, line.item, line.each, "once") for line in lines if line.each
    )


@functools.lru_cache(maxsize=64)
def _upload(size: int, requests: Decimal) -> Use:
    return Use(puts=requests, written=size, table_writes=requests)


def one_reading(design: Design, size: int, requests: Decimal, cold: Decimal) -> tuple[BillItem, ...]:
    """Return what reading so much costs: what the design charges for reading, and nothing else.

    Args:
        design: The design.
        size: Bytes.
        requests: Requests for them; of tables, read units.
        cold: Share of them in a class for cold data.
    """
    return tuple(_access(design, Use(gets=requests, retrieved=size, table_reads=requests, cold_reads=cold)))


def egress_way(design: Design) -> str:
    """Return the item of `transfer-out` rows by which data leaves: the leased line without its rate, or `internet`."""
    return _RATE.sub("", design.link.item) if design.link is not None else "internet"


def volume_count(volumes: ServerVolumes) -> int:
    """Return the number of volumes per server: as stated, or the fewest of equal size that the type's sizes allow."""
    if volumes.count != "auto":
        return volumes.count
    least = -(-volumes.capacity // catalog().volume(volumes.type).max_size)
    return next((count for count in range(least, 2 * least + 8) if volumes.capacity % count == 0), least)


def volume_size(volumes: ServerVolumes) -> int:
    """Return the bytes of each volume.

    Raises:
        AssayError: The capacity cannot be split evenly into the number of volumes.
    """
    count = volume_count(volumes)
    if volumes.capacity % count:
        hint = f"take a multiple of their number, such as {_multiples(volumes.capacity, count)}"
        if volumes.capacity < SUSPICIOUS_BYTES:
            hint = "is the unit missing? Write the capacity such as 10TB"
        raise AssayError(f"{format_size(volumes.capacity)} cannot be split evenly into {count} volumes", hint)
    return volumes.capacity // count


def _multiples(size: int, count: int) -> str:
    """Return the next smaller and larger size, in the same unit, that can be split evenly: `9TB or 12TB`."""
    text = format_size(size)
    unit = text.lstrip("0123456789")
    below = int(text.removesuffix(unit)) // count * count
    return " or ".join(f"{each}{unit}" for each in (below, below + count) if each)


def book_item(name: str) -> str:
    """Return the price-book item of a catalogue type: its name without the year its limits were published in."""
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
) -> BillItem:
    """Return a bill line; cached, because thousands of variants share most of their lines."""
    return BillItem(
        what=what,
        dimension=dimension,
        item=item,
        pieces=Decimal(str(pieces)),
        each=Decimal(str(each)),
        per=per,
        stops_when_off=stops,
    )


def _stopped_when_deleted(line: BillItem, use: Use) -> BillItem:
    """Mark a line rented by the month as stopping while the design is off, if the use deletes everything then."""
    if not use.deleted_when_off or line.per != "month":
        return line
    return _line(line.what, line.dimension, line.item, line.each, line.per, line.pieces, stops=True)


def _servers(group: Servers, use: Use) -> Iterator[BillItem]:
    what = f"{group.instance}, {group.role}"
    yield _line(what, "instance", group.instance, 1, "hour", group.count, stops=True)
    if group.volumes is None:
        return
    volumes = group.volumes
    pieces = group.count * volume_count(volumes)
    item = book_item(volumes.type)
    size = volume_size(volumes) * use.filled
    yield _line(f"{item} volumes", "volume-capacity", item, size, "month", pieces)
    if volumes.iops is not None:
        yield _line(f"IOPS of {item} volumes", "volume-iops", item, volumes.iops, "month", pieces)
    if volumes.throughput is not None:
        yield _line(f"throughput of {item} volumes", "volume-throughput", item, volumes.throughput, "month", pieces)


def _service(design: Design, use: Use) -> Iterator[BillItem]:
    service = design.service
    if isinstance(service, Efs):
        item = "efs-standard" if service.zones == "regional" else "efs-one-zone"
        stored = service.stored * use.filled
        rare = stored * service.infrequent
        yield _line("EFS storage", "filesystem-capacity", item, stored - rare, "month")
        yield _line("EFS storage, infrequent access", "filesystem-capacity", _rare_item(service), rare, "month")
        if service.provisioned is not None:
            kind = catalog().filesystem(service.type)
            included = kind.included(float(stored - rare)) if isinstance(kind, EfsType) else 0.0
            paid = max(0.0, service.provisioned - included)
            yield _line("EFS provisioned throughput", "filesystem-throughput", "efs-provisioned", paid, "month")
    elif isinstance(service, FsxLustre):
        item = book_item(service.type)
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


def _rare_item(service: Efs) -> str:
    """Return the item of EFS's class for infrequent access, which has a price of its own with elastic throughput."""
    if service.zones == "one-zone":
        return "efs-one-zone-ia"
    return "efs-elastic-ia" if service.type == "efs-elastic" else "efs-ia"


def _bucket(service: S3, use: Use) -> Iterator[BillItem]:
    """Yield the storage of each class, rounded up to the bytes, objects and days it charges at least.

    Snapshots of a bucket are older versions of its objects, and cost as much as the others. A copy in another region is
    taken at this region's price.
    """
    cold = service.stored * service.cold_share
    parts = (
        ("storage", service.storage_class, service.stored - cold, use.snapshots),
        ("storage", service.cold_class, cold, 0),
        ("storage in another region", service.copy_class, service.stored, use.snapshots),
    )
    for what, name, stored, versions in parts:
        if name is None or not stored + versions:
            continue
        kind = catalog().object_class(name)
        billed = Decimal(stored) * use.filled + versions
        if use.object_size:
            each = max(kind.min_object_size, use.object_size) + kind.overhead - kind.index
            if kind.index:
                index = (Decimal(stored) * use.filled + versions) * kind.index / use.object_size
                yield _line(f"{kind.label} index of {name}", "object-capacity", kind.index_class, index, "month")
            billed = billed * each / use.object_size
        if use.kept_days and kind.min_days > use.kept_days:
            billed = billed * kind.min_days / use.kept_days
        yield _line(f"{kind.label} {what}", "object-capacity", name, billed, "month")


def _managed(service: Managed, use: Use) -> Iterator[BillItem]:
    kind, size = catalog().managed(service.type), service.capacity
    sold, what = kind.prices, kind.label
    filled, fast = use.filled, kind.frequent_bytes(size, service.infrequent)
    rare = (size - fast if kind.min_frequent is not None else size * service.infrequent) * filled
    if service.infrequent and sold.infrequent is None:
        raise AssayError(f"{kind.name} has no infrequent-access class", "leave `infrequent` out")
    yield _line(f"{what} storage", "filesystem-capacity", sold.capacity, size * filled - rare, "month")
    if sold.infrequent is not None:
        yield _line(f"{what} storage, infrequent access", "filesystem-capacity", sold.infrequent, rare, "month")
    if sold.monitoring is not None:
        yield _line(f"{what} monitoring", "filesystem-capacity", sold.monitoring, size * filled, "month")
    if sold.throughput is not None and service.throughput is not None:
        paid = service.throughput - (kind.throughput.included(fast) if kind.throughput is not None else 0.0)
        yield _line(f"{what} throughput", "filesystem-throughput", sold.throughput, max(0.0, paid), "month")
    if sold.iops is not None and service.iops is not None:
        extra = service.iops - (kind.iops.included(fast) if kind.iops is not None else 0.0)
        yield _line(f"{what} IOPS", "filesystem-iops", sold.iops, max(0.0, extra), "month")
    if sold.fixed is not None:
        yield _line(f"{what} fee", "service-fee", sold.fixed, 1, "month")


def _purchase(piece: Hardware, design: Design, use: Use) -> tuple[Hardware, int]:
    """Return which piece is bought, and how many: of switches those, and as many, as all ports need."""
    switches = bought_switches(design, use.client_ports) if piece is switch_piece(design) else None
    return switches or (piece, piece.count)


def _hardware(piece: Hardware, count: int) -> Iterator[BillItem]:
    purchase = _line(piece.item, "purchase", piece.item, 1, "once", count)
    yield purchase.model_copy(update={"years": piece.years})
    yield _line(f"power of {piece.item}", "power", "electricity", piece.watts / 1000, "hour", count)
    yield _line(f"rack space of {piece.item}", "rack", "rack", piece.rack_units, "month", count)
    if piece.support is not None:
        yield _line(f"support of {piece.item}", "support", piece.support, 1, "month", count)
    yield _line(f"work on {piece.item}", "administration", "administrator", piece.admin_hours, "month", count)


def _link(design: Design) -> Iterator[BillItem]:
    if design.link is not None:
        yield _line(f"port {design.link.item}", "port", design.link.item, 1, "hour", design.link.count)


def _use(design: Design, use: Use) -> Iterator[BillItem]:
    hours = design.admin_hours + use.admin_hours
    if hours:
        yield _line("administration", "administration", "administrator", hours, "month")
    if use.egress or use.job_egress:
        way = use.egress_way or egress_way(design)
        yield from _nonzero("data transfer out", "transfer-out", way, use.egress, "month")
        yield from _nonzero("data transfer out of a job", "transfer-out", way, use.job_egress, "job")
    if use.zone_traffic:
        yield _line("data transfer between zones", "transfer-zone", "zone", use.zone_traffic, "month")
    yield from _access(design, use)
    backup = backup_item(design)
    if backup is not None:
        yield from _nonzero(BACKUPS[backup[0]], *backup, use.snapshots, "month")
    if "standard" in _volume_types(design):
        yield from _nonzero("requests to volumes", "volume-requests", "standard", use.volume_requests, "month")


def _volume_types(design: Design) -> set[str]:
    return {book_item(group.volumes.type) for group in design.servers if group.volumes}


def _access(design: Design, use: Use) -> Iterator[BillItem]:
    """Yield requests and bytes read and written, where the service charges for them."""
    service = design.service
    if isinstance(service, S3):
        yield from _requests(service, use)
    if isinstance(service, DynamoDb) and service.mode == "on-demand":
        yield from _nonzero("reads", "table-requests", "dynamodb/read", use.table_reads, "month")
        yield from _nonzero("writes", "table-requests", "dynamodb/write", use.table_writes, "month")
    if isinstance(service, Efs):
        if service.type == "efs-elastic":
            yield from _nonzero("bytes read", "filesystem-access", "efs-elastic-read", use.retrieved, "month")
            yield from _nonzero("bytes written", "filesystem-access", "efs-elastic-write", use.written, "month")
        if service.infrequent:
            cold = use.retrieved * use.cold_reads
            yield from _nonzero("bytes read of infrequent access", "filesystem-access", "efs-ia-read", cold, "month")
            moved = use.written * use.distinct_writes * service.infrequent
            yield from _nonzero("bytes moved to infrequent access", "filesystem-access", EFS_MOVED, moved, "month")
    if isinstance(service, Managed):
        kind = catalog().managed(service.type)
        sold = kind.prices
        tiered = service.infrequent and sold.infrequent_read is not None
        rare = use.retrieved * use.cold_reads if tiered else Decimal(0)
        for what, item, amount in (
            ("bytes read", sold.read, use.retrieved - rare),
            ("bytes written", sold.write, Decimal(use.written)),
            ("bytes read of infrequent access", sold.infrequent_read, rare),
        ):
            if item is not None:
                yield from _nonzero(what, "filesystem-access", item, amount, "month")
        if sold.requests is not None:
            reads, writes = kind.requests(use.gets, use.retrieved), kind.requests(use.puts, use.written)
            yield from _nonzero("read requests", "filesystem-requests", f"{sold.requests}/read", reads, "month")
            yield from _nonzero("write requests", "filesystem-requests", f"{sold.requests}/write", writes, "month")


def backup_item(design: Design) -> tuple[str, str] | None:
    """Return the price-book dimension and item of a design's snapshots or backups; None if the provider sells none.

    Snapshots of a bucket count as stored bytes.
    """
    service = design.service
    if any(group.volumes is not None for group in design.servers):
        return "snapshot-capacity", "standard"
    item = None
    if isinstance(service, Efs | FsxLustre):
        item = catalog().filesystem(service.type).backup
    elif isinstance(service, Managed):
        item = catalog().managed(service.type).prices.backup
    return None if item is None else ("filesystem-backup", item)


def _requests(service: S3, use: Use) -> Iterator[BillItem]:
    """Yield requests to a bucket; the share of cold reads goes to the cold class."""
    cold = use.cold_reads if service.cold_class is not None else Decimal(0)
    name = service.storage_class
    yield from _nonzero("PUT, COPY, POST and LIST requests", "object-requests", f"{name}/put", use.puts, "month")
    if service.copy_class is not None:
        yield from _nonzero("PUT requests of copies", "object-requests", f"{service.copy_class}/put", use.puts, "month")
    if service.copy_class is not None or catalog().object_class(name).has_second_region:
        yield from _nonzero("copying to another region", "transfer-region", "region", use.written, "month")
    if service.cold_class is not None:
        moved = use.puts * use.distinct_writes * service.cold_share
        yield from _nonzero(
            "transitions to a colder class", "object-requests", move_item(service.cold_class), moved, "month"
        )
    for each, part in ((name, 1 - cold), (service.cold_class, cold)):
        if each is None or not part:
            continue
        yield from _nonzero("GET requests", "object-requests", f"{each}/get", use.gets * part, "month")
        if catalog().object_class(each).restored:
            yield from _nonzero("requests to restore", "object-requests", f"{each}/restore", use.gets * part, "month")
        if not catalog().object_class(each).retrieval_free:
            yield from _nonzero("retrieval", "object-retrieval", each, use.retrieved * part, "month")


def move_item(name: str) -> str:
    """Return the item of `object-requests` that charges for moving an object into a class."""
    return f"{name}/{catalog().object_class(name).transition_suffix}"


def _nonzero(what: str, dimension: str, item: str, each: Decimal | int, per: Per) -> Iterator[BillItem]:
    """Yield a line if its quantity is not 0: most uses have no quantity in most lines."""
    if each:
        yield _line(what, dimension, item, each, per)
