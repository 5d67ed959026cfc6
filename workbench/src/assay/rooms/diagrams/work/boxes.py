"""The diagram of a cluster in a box: what its file describes."""

from collections.abc import Iterator

from assay.model.site.box import Box, BoxHost, Disk, HostSpec
from assay.model.site.box_servers import BoxServer
from assay.model.units import format_loss
from assay.report import numbers
from assay.report.diagrams.designs import link_rate
from assay.report.diagrams.network import NETWORK, DrawnHost, DrawnLine, Network, NetworkBar, folded
from assay.report.diagrams.pieces import DiskSet

_WAN = "wan"


def box_network(box: Box) -> Network:
    """Return what is drawn of a box."""
    sites = list(dict.fromkeys(spec.site for spec in box.hosts.values() if spec.site))
    lan = f"{NETWORK} {box.network.subnet}, MTU {box.network.mtu}" + _path(box.network.one_way, box.network.loss)
    bars = [NetworkBar(NETWORK, lan, site, has_article=True) for site in (sites or [""])]
    links: list[tuple[str, tuple[DrawnLine, ...]]] = []
    if box.wan is not None:
        bars.append(NetworkBar(_WAN, f"wide area network{_path(box.wan.one_way, box.wan.loss)}", has_article=True))
        rate = (f"{link_rate(box.wan.link)} each way",) if box.wan.link else ()
        links = [(site, (DrawnLine(_WAN, rate),)) for site in sites]
    return Network(
        folded(_host(one, box) for one in box.all_hosts()),
        tuple(bars),
        site_titles=tuple((site, f"Site {site}") for site in sites),
        site_links=tuple(links),
        remarks=(f"All hosts share the directory {box.shared} of this machine, without a network.",) * bool(box.shared),
    )


def _path(one_way_ns: int, loss: int) -> str:
    """Return delay and loss of a way, behind a comma."""
    parts = [f", {numbers.latency(one_way_ns)} one way"] if one_way_ns else []
    return "".join([*parts, *([f", {format_loss(loss)} lost"] if loss else [])])


def _host(one: BoxHost, box: Box) -> DrawnHost:
    spec = one.spec
    lines = [", ".join(spec.all_roles), *map(_server, spec.servers)]
    for mount in spec.mounts:
        source = "" if mount.source == "none" else f"{mount.source} "
        lines.append(f"mounts {source}({mount.type}) at {mount.at}")
    lines += [f"shared directory {box.shared}"] if box.shared else []
    is_client = "client" in spec.all_roles or not (spec.disks or any(server.offers for server in spec.servers))
    labels = tuple(_link(spec))
    return DrawnHost(
        one.name,
        lines=tuple(lines),
        disks=tuple(map(_disk, spec.disks)),
        is_client=is_client,
        site=spec.site,
        links=(DrawnLine(NETWORK, labels),),
    )


def _link(spec: HostSpec) -> Iterator[str]:
    if spec.link:
        cards = f"{spec.interfaces} × " if spec.interfaces > 1 else ""
        yield f"{cards}{link_rate(spec.link)}"
    elif spec.interfaces > 1:
        yield f"{spec.interfaces} network cards"
    if spec.delay:
        yield f"{numbers.latency(spec.delay)} one way"
    if spec.loss:
        yield f"{format_loss(spec.loss)} lost"


def _server(server: BoxServer) -> str:
    offers = [offer.name for offer in server.offers]
    source = f" of {server.source}" if server.source else ""
    return f"{server.kind}{source}: {', '.join(offers)}" if offers else f"{server.kind}{source}"


def _disk(disk: Disk) -> DiskSet:
    several = f"{disk.count} × " if disk.count > 1 else ""
    parts = [f"{several}{numbers.size(disk.size)}"]
    parts += [f"RAID {disk.raid.level}"] if disk.raid is not None else []
    parts += [f"{disk.filesystem_type} at {disk.mount}" if disk.mount is not None else f"device {disk.device}"]
    limits = [
        f"{name} {text}"
        for name, value, text in (
            ("read", disk.read_limit, f"{numbers.mb_per_s(disk.read_limit)} MB/s"),
            ("write", disk.write_limit, f"{numbers.mb_per_s(disk.write_limit)} MB/s"),
            ("read", disk.read_iops, f"{disk.read_iops or 0:,} IOPS"),
            ("write", disk.write_iops, f"{disk.write_iops or 0:,} IOPS"),
        )
        if value
    ]
    return DiskSet(disk.count, ", ".join([*parts, *([f"at most {', '.join(limits)}"] if limits else [])]))
