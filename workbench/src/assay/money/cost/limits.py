"""The limits of a design: usable capacity, and the rates of each layer that data passes.

Rates are bytes per second, sizes bytes, times seconds. A layer whose rate is unknown does not limit the design; it is
listed as unknown.
"""

import functools
from collections.abc import Iterator
from typing import Literal, get_args

from pydantic import Field

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.money.catalog import Instance, ObjectClass
from assay.model.money.design import (
    S3,
    Design,
    DynamoDb,
    Efs,
    FsxLustre,
    Hardware,
    Layout,
    LocalDisks,
    Managed,
    Servers,
    ServerVolumes,
    StatedLimit,
)
from assay.model.money.filesystems import filesystem_limits
from assay.model.money.volumes import ProvisionedVolume, VolumeType, volume_limits
from assay.model.units import format_size
from assay.money.cost.bill import volume_count, volume_size
from assay.money.cost.catalog import catalog
from assay.money.cost.network_traffic import NetworkTraffic, network_traffic

Metric = Literal["read", "write", "read_iops", "write_iops"]
METRICS: tuple[Metric, ...] = ("read", "write", "read_iops", "write_iops")

_SENDING, _RECEIVING = " sending", " receiving"
"""End the name of the layer that is one way of a link."""
_MIN_DISKS: dict[Layout, int] = {"raid1": 2, "raid10": 2, "raid5": 3, "raid6": 4}


class Limit(Frozen):
    """The rates that one layer of a design allows.

    Attributes:
        read, write: Sustained bytes per second; None: unknown.
        read_iops, write_iops: Sustained operations per second; None: unknown or without limit.
        burst: Metric -> the highest rate for a while, where that is above the sustained one.
        burst_seconds: How long bytes burst, from full credits; None: not published.
        iops_burst_seconds: The same for operations.
        shared: Reads and writes count against one sum: each can have all of it only without the other.
        provisioned: The provider sells or promises these rates, with the volume or the service; else they are what a
            link or a disk can carry at most.
        raised: How more than these rates is had, in words: they are a first quota; empty: they are a limit.
        how: The formula with its numbers.
        formulas: Metric -> its own formula, for each rate that is known; empty: `how` is of all rates.
    """

    layer: str
    read: float | None = None
    write: float | None = None
    read_iops: float | None = None
    write_iops: float | None = None
    burst: dict[Metric, float] = Field(default_factory=dict)
    burst_seconds: float | None = None
    iops_burst_seconds: float | None = None
    shared: bool = False
    provisioned: bool = False
    raised: str = ""
    how: str = ""
    formulas: dict[Metric, str] = Field(default_factory=dict)
    source: str = ""

    def sustained(self, metric: Metric) -> float | None:
        """Return the sustained rate; None: unknown."""
        value: float | None = getattr(self, metric)
        return value

    def burst_rate(self, metric: Metric) -> float | None:
        """Return the highest rate for a while: the burst rate, or the sustained one without a burst; None: unknown."""
        return self.burst.get(metric, self.sustained(metric))

    def seconds(self, metric: Metric) -> float | None:
        """Return how long the burst lasts; None: not published."""
        return self.iops_burst_seconds if metric.endswith("iops") else self.burst_seconds


class Limits(Frozen):
    """Usable capacity and all layers of a design.

    Attributes:
        usable: Bytes for data.
        how_usable: The formula with its numbers.
    """

    usable: int
    how_usable: str
    layers: tuple[Limit, ...]

    def binding_layer(self, metric: Metric) -> Limit | None:
        """Return the layer with the lowest sustained rate; None if no layer's rate is known."""
        known = [layer for layer in self.layers if layer.sustained(metric) is not None]
        return min(known, key=lambda layer: layer.sustained(metric) or 0.0, default=None)

    def sustained(self, metric: Metric) -> float | None:
        """Return the highest rate that the design can sustain; None if unknown."""
        layer = self.binding_layer(metric)
        return layer.sustained(metric) if layer is not None else None

    def burst(self, metric: Metric) -> tuple[float, float | None] | None:
        """Return the burst rate and its seconds, if it is above the sustained rate; seconds None: not published."""
        known = [value for layer in self.layers if (value := layer.burst_rate(metric)) is not None]
        sustained = self.sustained(metric)
        if sustained is None or min(known) <= sustained * (1 + 1e-9):
            return None
        # The burst ends when the first layer that cannot sustain this rate has used up its credits.
        ending = [layer for layer in self.layers if (layer.sustained(metric) or min(known)) < min(known)]
        seconds = [layer.seconds(metric) for layer in ending]
        published = [value for value in seconds if value is not None]
        return min(known), min(published) if len(published) == len(seconds) and published else None


def design_limits(design: Design) -> Limits:
    """Return the usable capacity and the limits of each layer.

    Raises:
        AssayError: The catalogue does not have a part, or not in that size.
    """
    computed = [
        *(limit for group in design.servers if group.role == "storage" for limit in _servers(group, design)),
        *_service(design),
        *_hardware(design),
        *_link(design),
    ]
    with_rates = [item for item in design.limits if any(getattr(item, metric) is not None for metric in METRICS)]
    stated = {item.layer: _stated(item) for item in with_rates}
    stated_layers = frozenset(stated)
    layers = [
        stated.pop(limit.layer, limit).model_copy(update={"shared": limit.shared}) if limit.layer in stated else limit
        for limit in computed
        if not (limit.layer.endswith((_SENDING, _RECEIVING)) and limit.layer.rpartition(" ")[0] in stated_layers)
    ]
    usable, how = _usable(design)
    return Limits(usable=usable, how_usable=how, layers=(*layers, *stated.values()))


def _stated(item: StatedLimit) -> Limit:
    return Limit(
        layer=item.layer,
        read=item.read,
        write=item.write,
        read_iops=item.read_iops,
        write_iops=item.write_iops,
        how="stated by the design",
        source=item.source,
    )


def _servers(group: Servers, design: Design) -> Iterator[Limit]:
    factor = design.storage_factor
    if group.count < design.copies:
        problem = f"{group.count} servers cannot hold {design.copies} copies"
        raise AssayError(problem, f"take at least {design.copies} servers")
    if design.served:
        yield from _network(group.instance, group.count, network_traffic(design, group.count))
    if group.volumes is not None:
        path = _volume_path(group.instance, group.count, factor, group.volumes.layout, volume_count(group.volumes))
        if path is not None:
            yield path
        yield _volumes(group, factor)
    if group.local is not None:
        yield _local_disks(group.instance, group.count, factor, group.local)


def _local_disks(instance: str, servers: int, factor: float, local: LocalDisks) -> Limit:
    """Return the limit of the disks inside instances, which write mirrors and parity, too."""
    disks = sum(item.count for item in catalog().instance(instance).disks)
    reads, writes, write_iops = _layout_rates(local.layout, disks) if disks else (1, 1, 1)
    times = reads / writes if writes else 1.0
    return Limit(
        layer=f"local disks of {instance}",
        read=_times(local.read, servers),
        write=_times(local.write, servers / factor / times),
        read_iops=_times(local.read_iops, servers),
        write_iops=_times(local.write_iops, servers / factor / (reads / write_iops)),
        shared=True,
        how=(f"{servers} servers, as stated" if local.source else "unknown; measure them")
        + _extra_writes(local.layout, times),
        source=local.source,
    )


def _extra_writes(layout: Layout, times: float) -> str:
    return f"; {layout} writes {times:.4g} bytes for each byte" if times > 1 else ""


@functools.lru_cache(maxsize=4096)
def _network(name: str, count: int, traffic: NetworkTraffic) -> tuple[Limit, ...]:
    instance: Instance = catalog().instance(name)
    baseline, burst = instance.network_baseline, instance.network_burst
    burst_rates: dict[Metric, float] = {}
    if baseline is not None and burst is not None and burst > baseline:
        burst_rates = {"read": burst * count, "write": burst * count}
    links = Limit(
        layer=f"network of {name}",
        read=_times(baseline, count),
        write=_times(baseline, count),
        burst=burst_rates,
        how=_counted(count, baseline, 1) if baseline is not None else f"not stated: {instance.network_words}",
        source=instance.source,
    )
    return tuple(_ways(links, traffic))


def _ways(links: Limit, traffic: NetworkTraffic) -> Iterator[Limit]:
    """Yield the limits of full-duplex links: what clients read and write, and each way that copies use, too.

    Args:
        links: What all links send (`read`) and receive (`write`) together.
        traffic: What they carry for each byte of clients.
    """
    reads, writes = 1 / traffic.sent_for_read, 1 / traffic.received_for_write
    how = links.how
    how += f"; for each byte written servers receive {traffic.received_for_write:.4g}" if writes < 1 else ""
    how += f"; for each byte read they send {traffic.sent_for_read:.4g}" if reads < 1 else ""
    yield _scaled(links, links.layer, reads, writes, how)
    if traffic.sent_for_write:
        how = f"{links.how}; for each byte written servers send {traffic.sent_for_write:.4g} to each other"
        way = _received_as_sent(links, "read")
        yield _scaled(way, f"{links.layer}{_SENDING}", reads, 1 / traffic.sent_for_write, how, shared=True)
    if traffic.received_for_read:
        how = f"{links.how}; for each byte read servers fetch {traffic.received_for_read:.4g} from each other"
        way = _received_as_sent(links, "write")
        yield _scaled(way, f"{links.layer}{_RECEIVING}", 1 / traffic.received_for_read, writes, how, shared=True)


def _received_as_sent(links: Limit, side: Literal["read", "write"]) -> Limit:
    """Return links with the rate of one way for both reads and writes."""
    rate, burst = links.sustained(side), links.burst.get(side)
    bursts: dict[Metric, float] = {} if burst is None else {"read": burst, "write": burst}
    return links.model_copy(update={"read": rate, "write": rate, "burst": bursts})


def _scaled(links: Limit, layer: str, reads: float, writes: float, how: str, shared: bool = False) -> Limit:
    """Return links with their rates of reads and writes times these shares."""
    shares = {"read": reads, "write": writes}
    rates = {side: _times(getattr(links, side), share) for side, share in shares.items()}
    bursts = {side: rate * shares[side] for side, rate in links.burst.items()}
    return links.model_copy(update={"layer": layer, "burst": bursts, "how": how, "shared": shared, **rates})


@functools.lru_cache(maxsize=4096)
def _volume_path(name: str, count: int, copies: float, layout: Layout, volumes: int) -> Limit | None:
    """Return the limit from an instance to its volumes, which mirrors and parity also pass; None if none is stated."""
    instance: Instance = catalog().instance(name)
    if instance.ebs_baseline is None and instance.ebs_iops_baseline is None:
        return None
    reads, writes, write_iops = _layout_rates(layout, volumes)
    times = reads / writes if writes else 1.0
    share, share_iops = count / copies / times, count / copies / (reads / write_iops)
    baseline, burst = instance.ebs_baseline, instance.ebs_burst
    iops, iops_burst = instance.ebs_iops_baseline, instance.ebs_iops_burst
    burst_rates: dict[Metric, float] = {}
    if baseline is not None and burst is not None and burst > baseline:
        burst_rates |= {"read": burst * count, "write": burst * share}
    if iops is not None and iops_burst is not None and iops_burst > iops:
        burst_rates |= {"read_iops": iops_burst * count, "write_iops": iops_burst * share_iops}
    return Limit(
        layer=f"volume bandwidth of {name}",
        read=_times(baseline, count),
        write=_times(baseline, share),
        read_iops=_times(iops, count),
        write_iops=_times(iops, share_iops),
        burst=burst_rates,
        burst_seconds=instance.ebs_burst_seconds,
        iops_burst_seconds=instance.ebs_burst_seconds,
        shared=True,
        how=(_counted(count, baseline, copies) if baseline is not None else "bandwidth not stated")
        + _extra_writes(layout, times),
        source=instance.source,
    )


def _volumes(group: Servers, copies: float) -> Limit:
    volumes = group.volumes
    assert volumes is not None
    size, count = volumes.capacity, volumes.count
    return _all_volumes(
        group.count, copies, volumes.type, size, count, volumes.layout, volumes.iops, volumes.throughput
    )


@functools.lru_cache(maxsize=16384)
def _all_volumes(
    servers: int,
    copies: float,
    name: str,
    capacity: int,
    written: int | Literal["auto"],
    layout: Layout,
    iops: int | None,
    throughput: float | None,
) -> Limit:
    """Return the limit of the volumes of so many servers; variants that differ only in their instance share it."""
    volumes = ServerVolumes.model_construct(
        type=name, capacity=capacity, count=written, layout=layout, iops=iops, throughput=throughput
    )
    kind, count = catalog().volume(volumes.type), volume_count(volumes)
    if not _fits(volumes.layout, count):
        raise AssayError(_misfit(volumes.layout, count), _fitting_counts(volumes, kind, count))
    one = volume_limits(kind, volume_size(volumes), volumes.iops, volumes.throughput)
    reads, writes, write_iops = _layout_rates(volumes.layout, count)
    read_all, write_all = reads * servers, writes * servers / copies
    iops_all = write_iops * servers / copies
    all_values: dict[Metric, tuple[float, float]] = {
        "read": (one.read_baseline * read_all, one.read_burst * read_all),
        "write": (one.write_baseline * write_all, one.write_burst * write_all),
        "read_iops": (one.iops_baseline * read_all, one.iops_burst * read_all),
        "write_iops": (one.iops_baseline * iops_all, one.iops_burst * iops_all),
    }
    how = f"{servers} x {count} volumes in {volumes.layout}; each: {one.how}"
    return Limit(
        layer=f"{volumes.type} volumes",
        burst={metric: burst for metric, (keeps, burst) in all_values.items() if burst > keeps},
        burst_seconds=one.rate_burst_seconds,
        iops_burst_seconds=one.burst_seconds,
        shared=True,
        provisioned=isinstance(kind, ProvisionedVolume),
        how=how,
        source=kind.source,
        **{metric: keeps for metric, (keeps, _) in all_values.items()},
    )


def _layout_rates(layout: Layout, count: int) -> tuple[float, float, float]:
    """Return how many volumes' worth a layout gives of reads, of writes, and of small random writes.

    lvm: a stream is on one volume. A small write costs 2 operations in a mirror, 4 with one parity and 6 with two.
    Source: P. M. Chen and others, RAID: high-performance, reliable secondary storage, ACM Computing Surveys 26 (1994).
    """
    if layout in ("single", "lvm"):
        return 1, 1, 1
    if layout == "raid0":
        return count, count, count
    if layout == "raid1":
        return count, 1, 1
    if layout == "raid10":
        return count, count / 2, count / 2
    parity, cost = (1, 4) if layout == "raid5" else (2, 6)
    return count, max(0, count - parity), count / cost


def _layout_share(layout: Layout, count: int) -> float:
    """Return the share of the disks' bytes that holds data.

    Raises:
        AssayError: The layout does not allow this number of disks.
    """
    if not _fits(layout, count):
        fitting = [each for each in get_args(Layout) if each != "single" and _fits(each, count)]
        hint = f"use layout {' or '.join(fitting)}; or take an instance with another number of disks"
        raise AssayError(_misfit(layout, count), hint)
    if layout == "raid1":
        return 1 / count
    if layout == "raid10":
        return 0.5
    parity = {"raid5": 1, "raid6": 2}.get(layout, 0)
    return max(0, count - parity) / count


def _fits(layout: Layout, count: int) -> bool:
    return count >= _MIN_DISKS.get(layout, 1) and not (layout == "raid10" and count % 2)


def _misfit(layout: Layout, count: int) -> str:
    return f"{count} disks cannot form {layout}"


def _fitting_counts(volumes: ServerVolumes, kind: VolumeType, count: int) -> str:
    """Return a hint with the nearest numbers of volumes that the layout, the capacity and the type allow."""
    allowed = [
        each
        for each in range(2, 2 * count + 8)
        if _fits(volumes.layout, each)
        and volumes.capacity % each == 0
        and kind.min_size <= volumes.capacity // each <= kind.max_size
    ]
    nearest = sorted(sorted(allowed, key=lambda each: abs(each - count))[:2])
    if not nearest:
        return "take layout raid0"
    return f"take {' or '.join(map(str, nearest))} volumes"


def _service(design: Design) -> Iterator[Limit]:
    service = design.service
    if isinstance(service, Efs | FsxLustre):
        kind = catalog().filesystem(service.type)
        efs = isinstance(service, Efs)
        size = service.frequent if isinstance(service, Efs) else service.capacity
        limits = filesystem_limits(kind, size, service.provisioned if isinstance(service, Efs) else None)
        burst_rates: dict[Metric, float] = {"read": limits.read_burst, "write": limits.write_burst}
        yield Limit(
            layer="EFS" if efs else "FSx for Lustre",
            read=limits.read_baseline,
            write=limits.write_baseline,
            read_iops=limits.read_iops,
            write_iops=limits.write_iops,
            burst=burst_rates if limits.read_baseline is not None else {},
            burst_seconds=limits.burst_seconds,
            # EFS meters reads and writes together, and so do Lustre's disks; elastic EFS limits each on its own.
            shared=not (efs and service.type == "efs-elastic"),
            provisioned=True,
            how=limits.how,
            source=kind.source,
        )
    elif isinstance(service, S3):
        object_class = catalog().object_class(service.storage_class)
        if service.cold_class is not None:
            _check_colder(object_class, catalog().object_class(service.cold_class))
        reads, writes = object_class.reads_per_prefix, object_class.writes_per_prefix
        yield Limit(
            layer=f"{object_class.label} requests",
            read_iops=float(reads * service.prefixes),
            write_iops=float(writes * service.prefixes),
            provisioned=True,
            raised=object_class.raised,
            how=f"{service.prefixes} prefixes x {reads} GET and {writes} PUT a second; no throughput limit is stated",
            source=object_class.source,
        )
    elif isinstance(service, DynamoDb):
        yield _table(service)
    elif isinstance(service, Managed):
        yield from _managed(service)


def _check_colder(first: ObjectClass, then: ObjectClass) -> None:
    """Refuse a lifecycle rule to a warmer class, or to the same one.

    Source: docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html: only
    downwards. Classes are in the order of their least days, then of how long reading has to wait.

    Raises:
        AssayError: The class is not colder.
    """
    order = [(each.min_days, each.retrieval_seconds or 0) for each in (first, then)]
    if first.name == then.name or order[1] < order[0]:
        raise AssayError(f"no rule moves objects from {first.name} to {then.name}", "take a colder class")


def _managed(service: Managed) -> Iterator[Limit]:
    kind = catalog().managed(service.type)
    kind.check(service.capacity, service.throughput, service.iops)
    size = kind.frequent_bytes(service.capacity, service.infrequent)
    kind.check_fast(size)
    throughput = service.throughput
    if throughput is None:
        throughput = kind.throughput.included(size) if kind.throughput is not None else 0.0
    iops = float(service.iops) if service.iops is not None else kind.iops.included(size) if kind.iops else 0.0
    names = {"read": "reading", "write": "writing", "read_iops": "read IOPS", "write_iops": "write IOPS"}
    laws = {metric: getattr(kind, metric) for metric in METRICS}
    formulas = {metric: f"{names[metric]} {law.formula()}" for metric, law in laws.items() if law is not None}
    burst_rates: dict[Metric, float] = {}
    for metric, law in (("read", kind.read_burst), ("write", kind.write_burst)):
        if law is not None:
            burst_rates["read" if metric == "read" else "write"] = law.value(size, throughput)
    limit = Limit(
        layer=kind.label,
        read=kind.read.value(size, throughput) if kind.read is not None else None,
        write=kind.write.value(size, throughput) if kind.write is not None else None,
        read_iops=kind.read_iops.value(size, iops, throughput) if kind.read_iops is not None else None,
        write_iops=kind.write_iops.value(size, iops, throughput) if kind.write_iops is not None else None,
        burst=burst_rates,
        burst_seconds=kind.burst_seconds,
        shared=kind.shared,
        provisioned=not kind.pooled,
        how="; ".join(formulas.values()) or "no rate is stated",
        formulas=formulas,
        source=kind.source,
    )
    yield from (limit,) if kind.max_request is None else _by_requests(limit, kind.max_request)


def _by_requests(limit: Limit, most: int) -> Iterator[Limit]:
    """Yield the bytes of a service apart from its requests, which reads and writes share.

    Args:
        limit: Of both; its operations are known.
        most: Bytes of the largest request.
    """
    yield limit.model_copy(update={"read_iops": None, "write_iops": None})
    assert limit.read_iops is not None and limit.write_iops is not None
    yield limit.model_copy(
        update={
            "layer": f"{limit.layer}: requests",
            "read": limit.read_iops * most,
            "write": limit.write_iops * most,
            "shared": True,
            "how": f"{limit.read_iops:,.0f} requests a second of at most {format_size(most)}",
            "formulas": {},
        }
    )


def _table(service: DynamoDb) -> Limit:
    kind = catalog().table("dynamodb")
    reads, writes = service.read_units or kind.table_reads, service.write_units or kind.table_writes
    read_iops, write_iops = reads / kind.read_units(service.item), writes / kind.write_units(service.item)
    how = f"{reads:,} read and {writes:,} write units of the table"
    on_demand = service.mode == "on-demand"
    return Limit(
        layer="DynamoDB units",
        read=read_iops * service.item,
        write=write_iops * service.item,
        read_iops=read_iops,
        write_iops=write_iops,
        provisioned=True,
        raised=kind.raised if on_demand else "",
        how=f"{how}{', its first quota' * on_demand}; items of {format_size(service.item)}, strongly consistent",
        source=kind.source,
    )


def _hardware(design: Design) -> Iterator[Limit]:
    for piece in design.hardware:
        _check_apart(piece, design)
        if all(getattr(piece, metric) is None for metric in METRICS):
            continue
        # Disks store each byte as often as the redundancy says; a link carries what it makes servers send.
        factor = design.storage_factor if piece.is_shared else 1.0
        limit = Limit(
            layer=piece.item,
            read=_times(piece.read, piece.count),
            write=_times(piece.write, float(piece.count * piece.data_share) / factor),
            read_iops=_times(piece.read_iops, piece.count),
            write_iops=_times(piece.write_iops, piece.count / design.storage_factor),
            shared=piece.is_shared,
            how=f"{piece.count} pieces, as stated{_parity_text(piece)}"
            + f"; writes / {design.redundancy}" * (factor > 1),
            source=piece.source,
        )
        if piece.is_shared:
            yield limit
        else:
            yield from _ways(limit, network_traffic(design, piece.count))


def _parity_text(piece: Hardware) -> str:
    return f"; of each {piece.group} that are written {piece.group - piece.parity} hold data" if piece.parity else ""


def _check_apart(piece: Hardware, design: Design) -> None:
    least = -(-design.part_count // piece.max_parts) if piece.max_parts is not None else 0
    if piece.count < least:
        problem = f"{piece.count} of {piece.item} cannot hold {design.redundancy} so that one of them can fail"
        raise AssayError(problem, f"take at least {least}, or fewer copies or parts")


def _link(design: Design) -> Iterator[Limit]:
    if design.link is not None:
        rate = design.link.rate * design.link.count
        how = f"{design.link.count} lines, in each direction {design.link.rate / 1e6:.6g} MB/s"
        yield Limit(layer="leased link", read=rate, write=rate, how=how)


def _usable(design: Design) -> tuple[int, str]:
    if design.usable is not None:
        return design.usable, "stated by the design"
    raw, words = 0.0, []
    for group in design.servers:
        if group.role != "storage":
            continue
        if group.volumes is not None:
            group_bytes = group.volumes.capacity * _layout_share(group.volumes.layout, volume_count(group.volumes))
            raw += group.count * group_bytes
            words.append(f"{group.count} x volumes in {group.volumes.layout}")
        if group.local is not None:
            instance = catalog().instance(group.instance)
            disks = sum(item.count for item in instance.disks)
            raw += group.count * instance.disk_bytes * (_layout_share(group.local.layout, disks) if disks else 0)
            words.append(f"{group.count} x {disks} local disks in {group.local.layout}")
    service = design.service
    if service is not None:
        by_size = isinstance(service, FsxLustre | Managed)
        raw += service.capacity if isinstance(service, FsxLustre | Managed) else service.stored
        words.append("as provisioned" if by_size else "as stored")
    raw += float(sum(piece.usable * piece.count * piece.data_share for piece in design.hardware))
    words += [_stored_text(piece) for piece in design.hardware if piece.usable]
    how = " + ".join(words)
    how += f" / {design.redundancy}" if design.storage_factor > 1 else ""
    how += f" - {float(design.overhead * 100):.4g} % for parity, formatting or reserve" if design.overhead else ""
    return int(raw / design.storage_factor * (1 - float(design.overhead))), how


def _stored_text(piece: Hardware) -> str:
    parity = f", {piece.parity} of each {piece.group} for parity" if piece.parity else ""
    return f"{piece.count} x {piece.item}{parity}"


def _times(value: float | None, count: float) -> float | None:
    return None if value is None else value * count


def _counted(count: int, rate: float, copies: float) -> str:
    words = f"{count} x {rate / 1e6:.6g} MB/s"
    return f"{words}; each byte is stored {copies:.4g} times" if copies > 1 else words
