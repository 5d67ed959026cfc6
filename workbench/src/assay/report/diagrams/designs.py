"""The diagram of a design: what clients reach, over which network, on which disks or in which service.

Whatever is not in the design or its catalogue is not drawn: the clients are dashed, since no design has their number.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from assay.model.money.catalog import Instance
from assay.model.money.design import (
    S3,
    Design,
    DynamoDb,
    Efs,
    FsxLustre,
    Hardware,
    Layout,
    Managed,
    Servers,
    ServerVolumes,
    Service,
)
from assay.model.units import format_size
from assay.money.cost.bill import volume_count, volume_size
from assay.money.cost.catalog import catalog
from assay.report import numbers
from assay.report.diagrams.network import (
    NETWORK,
    DrawnHost,
    DrawnLine,
    Network,
    NetworkBar,
    SwitchLink,
    network_diagram,
)
from assay.report.diagrams.pieces import DiskSet, diagram_chart
from assay.report.document import Chart

LAYOUT_WORDS: dict[Layout, str] = {
    "single": "",
    "lvm": "concatenated (LVM)",
    "raid0": "RAID 0",
    "raid1": "RAID 1",
    "raid10": "RAID 10",
    "raid5": "RAID 5",
    "raid6": "RAID 6",
}
_LINK_UNITS = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_LEASED = "leased line"
_OWN = "Own hardware"
_CLIENTS = "clients"


def design_chart(design: Design, values: Mapping[str, object] | None = None) -> Chart:
    """Return a design as a figure.

    Args:
        design: The design.
        values: Values of its parameters that its title names.

    Raises:
        AssayError: As `design_network`.
    """
    network = design_network(design)
    named = ", ".join(f"{key} {value}" for key, value in (values or {}).items())
    title = f"Design {design.design}{f' ({named})' if named else ''}"
    return diagram_chart(title, network_diagram(network), " ".join(network.remarks))


def design_network(design: Design) -> Network:
    """Return what is drawn of a design.

    Raises:
        AssayError: An instance type, or another part, is not in the catalogue.
    """
    bars = _bars(design) if design.served else []
    hosts = [server_host(group) for group in design.servers]
    hosts += [service_host(design.service)] if design.service is not None else []
    own, remarks = _own_hardware(design.hardware)
    remarks = [*_remarks(design), *remarks]
    # Which own parts are at the network is known only if the design has switches, or if there is one part.
    is_framed = bool(bars) and len(own) > 1 and not any(piece.switch for piece in design.hardware)
    inner, site = bars[-1].name if bars else "", _OWN if is_framed else ""
    hosts = [replace(host, links=_to(inner, host.links or (DrawnLine(""),))) for host in hosts]
    own = [replace(host, links=_to("" if is_framed else inner, host.links), site=site) for host in own]
    if bars and not any(host.is_client for host in hosts):
        clients = DrawnHost(_CLIENTS, lines=("not part of the design",), is_client=True, is_outside=True)
        hosts.insert(0, replace(clients, links=(DrawnLine(bars[0].name),)))
    return Network(
        (*hosts, *own),
        tuple(bars),
        joins=(SwitchLink(bars[0].name, inner),) if len(bars) > 1 else (),
        site_titles=((site, site),) if is_framed else (),
        site_links=((site, (DrawnLine(inner),)),) if is_framed else (),
        remarks=tuple(remarks),
    )


def _to(bar: str, links: Iterable[DrawnLine]) -> tuple[DrawnLine, ...]:
    """Return lines that lead to another bar; none without a name."""
    return tuple(DrawnLine(bar, link.labels) for link in links) if bar else ()


def _bars(design: Design) -> list[NetworkBar]:
    """Return what joins clients and storage, from the clients on: a leased line, switches, or just a network."""
    bars = []
    if design.link is not None:
        rate = link_rate(8 * design.link.rate)
        each = " each" if design.link.count > 1 else ""
        words = f"{_LEASED}: {_times(design.link.count)}{design.link.item}, {rate}{each}"
        bars.append(NetworkBar(_LEASED, words, is_cable=True))
    for piece in design.hardware:
        if piece.switch is not None:
            count = f"at least {piece.count} × " if piece.count > 1 else ""
            ports = f"{piece.switch.ports} ports of {link_rate(8 * piece.switch.rate)}"
            bars.append(NetworkBar(piece.item, f"{count}{piece.item}, {ports}{' each' if count else ''}"))
            break
    return bars or [NetworkBar(NETWORK, NETWORK, has_article=True)]


def server_host(group: Servers) -> DrawnHost:
    """Return rented machines with what the catalogue states of them.

    Raises:
        AssayError: The instance type is not in the catalogue.
    """
    found = catalog().instance(group.instance)
    disks = []
    if group.volumes is not None:
        disks.append(volume_disks(group.volumes))
    if group.local is not None:
        disks += local_disks(found, group.local.layout)
    return DrawnHost(
        f"{group.role} {'hosts' if group.count > 1 else 'host'}",
        group.count,
        instance_lines(found),
        tuple(disks),
        is_client=group.role == "client",
        links=(DrawnLine("", network_labels(found)),),
    )


def instance_lines(instance: Instance) -> tuple[str, ...]:
    """Return type, processors and memory of an instance."""
    return instance.name, f"{instance.vcpus} vCPU, {numbers.size(instance.memory)} memory"


def network_labels(instance: Instance) -> tuple[str, ...]:
    """Return the rates of an instance's network; what its provider says if no number is known; none for nothing."""
    low, high = instance.network_baseline, instance.network_burst
    if low is None:
        return (instance.network_words,) if instance.network_words else ()
    return (
        (link_rate(8 * low),)
        if high in (None, low)
        else (link_rate(8 * low), f"bursts: {link_rate(8 * (high or low))}")
    )


def volume_disks(volumes: ServerVolumes) -> DiskSet:
    """Return the network volumes of a server.

    Raises:
        AssayError: The type is not in the catalogue, or the capacity cannot be split evenly.
    """
    count = volume_count(volumes)
    each = " each" if count > 1 else ""
    parts = [f"{_times(count)}{volumes.type}, {exact_size(volume_size(volumes))}{each}"]
    parts += [LAYOUT_WORDS[volumes.layout]] if LAYOUT_WORDS[volumes.layout] and count > 1 else []
    parts += [f"{volumes.iops:,} IOPS"] if volumes.iops else []
    parts += [f"{exact_size(round(volumes.throughput))}/s"] if volumes.throughput else []
    return DiskSet(count, ", ".join(parts))


def local_disks(instance: Instance, layout: Layout) -> list[DiskSet]:
    """Return the disks inside an instance."""
    several = sum(disks.count for disks in instance.disks) > 1
    ending = f", {LAYOUT_WORDS[layout]}" if several and LAYOUT_WORDS[layout] else ""
    return [
        DiskSet(disks.count, f"{_times(disks.count)}{disks.kind}, {exact_size(disks.size)}{ending}")
        for disks in instance.disks
    ]


def service_host(service: Service) -> DrawnHost:
    """Return a provider's service as one box.

    Raises:
        AssayError: Its type is not in the catalogue.
    """
    name, lines = _service(service)
    return DrawnHost(name, lines=tuple(filter(None, lines)), links=(DrawnLine(""),))


def _service(service: Service) -> tuple[str, list[str]]:
    match service:
        case Efs():
            zones = _zones(catalog().filesystem(service.type).zones)
            rate = f"{exact_size(round(service.provisioned))}/s provisioned" if service.provisioned else ""
            return "EFS", [service.type, f"{exact_size(service.stored)} stored", zones, rate]
        case FsxLustre():
            return "FSx for Lustre", [service.type, exact_size(service.capacity)]
        case DynamoDb():
            lines = [service.mode, f"{exact_size(service.stored)} stored"]
            lines += [f"{service.read_units:,} read units"] if service.read_units is not None else []
            lines += [f"{service.write_units:,} write units"] if service.write_units is not None else []
            return "DynamoDB table", lines
        case Managed():
            found = catalog().managed(service.type)
            rate = f"{exact_size(round(service.throughput))}/s" if service.throughput else ""
            iops = f"{service.iops:,} IOPS" if service.iops else ""
            return found.label, [service.type, exact_size(service.capacity), _zones(found.zones), rate, iops]
        case S3():
            return _bucket(service)


def _bucket(service: S3) -> tuple[str, list[str]]:
    found = catalog().object_class(service.storage_class)
    zones = f"at least {found.zones} zones" if found.zones > 1 else _zones(found.zones)
    lines = [service.storage_class, f"{exact_size(service.stored)} stored", zones]
    lines += ["copied to another region"] if found.has_second_region else []
    if service.cold_class and service.cold_share:
        lines.append(f"{service.cold_share:.0%} of it in {service.cold_class}")
    lines += [f"copied to {service.copy_class} in another region"] if service.copy_class else []
    return found.label, lines


def _zones(count: int) -> str:
    return numbers.plural(count, "zone")


def _own_hardware(pieces: Iterable[Hardware]) -> tuple[list[DrawnHost], list[str]]:
    """Return own hardware other than switches, and a sentence on disks that are drawn in other parts.

    A part that stores data is drawn in the one part that carries data each way, such as a server, if there are several
    for each of them.
    """
    parts = [piece for piece in pieces if piece.switch is None]
    carriers = [piece for piece in parts if not piece.usable and (piece.read or piece.write) and not piece.is_shared]
    carrier = carriers[0] if len(carriers) == 1 else None
    disks = [
        piece
        for piece in parts
        if carrier is not None and piece.usable and piece.count > carrier.count and piece.count % carrier.count == 0
    ]
    hosts = []
    for piece in (piece for piece in parts if piece not in disks):
        inside = [] if piece is not carrier else [_own_disks(each, each.count // piece.count) for each in disks]
        lines = [exact_size(piece.usable)] if piece.usable else []
        lines += [_protection(piece)] if piece.parity else []
        lines += [f"{float(piece.rack_units):g} U of a rack"] if piece.rack_units else []
        is_joined = piece.ports or not any(each.ports for each in parts)
        ports = (numbers.plural(piece.ports, "port"),) if piece.ports else ()
        links = (DrawnLine("", ports),) if is_joined else ()
        hosts.append(DrawnHost(piece.item, piece.count, tuple(lines), tuple(inside), links=links))
    if carrier is None or not disks:
        return hosts, []
    shares = numbers.listing([f"{each.count // carrier.count} of {each.item}" for each in disks])
    return hosts, [f"Disks are drawn where their data passes: {shares} for each {carrier.item}."]


def _own_disks(piece: Hardware, count: int) -> DiskSet:
    words = [f"{count} × {piece.item}, {exact_size(piece.usable)} each"]
    return DiskSet(count, ", ".join([*words, *([_protection(piece)] if piece.parity else [])]))


def _protection(piece: Hardware) -> str:
    return f"groups of {piece.group}, {piece.parity} of them redundant"


def _remarks(design: Design) -> Iterator[str]:
    if not design.served:
        yield "Its data is used on the instance itself."
    if design.part_count > 1:
        yield f"The data is stored as {design.redundancy}."


def exact_size(size_bytes: int) -> str:
    """Return a size in its own unit: `1250 GB`."""
    return re.sub(r"(?<=[0-9])(?=[A-Za-z])", " ", format_size(size_bytes), count=1)


def _times(count: int) -> str:
    return f"{count} × " if count > 1 else ""


def link_rate(bits_per_s: float) -> str:
    """Return the rate of a link in the unit in which it is sold: `12.5 Gbit/s`."""
    factor, unit = next((pair for pair in _LINK_UNITS if bits_per_s >= pair[0]), _LINK_UNITS[-1])
    return f"{bits_per_s / factor:.4g} {unit}"
