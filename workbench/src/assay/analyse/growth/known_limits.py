"""Lists what is known to limit a total at any number of hosts: links, disks, rates that a study or a design states."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.analyse.links import bits_text, link_ceilings, link_limits
from assay.model.money.priced_designs import DesignCeiling
from assay.model.result.network import Direction, HostLink, NetworkMeasurements
from assay.model.result.result import ResultRow
from assay.model.result.run import TargetPlace
from assay.model.study.mixes import read_share
from assay.model.study.names import is_counted

EXCEEDED = 1.05
"""What a measured total exceeds by more than this factor does not limit all hosts together."""
IP_AND_TCP_BYTES, FRAME_BYTES = 52, 38
"""Bytes of headers within each packet, and of Ethernet around it: IEEE 802.3, RFC 9293 with time stamps."""
OF_ALL_HOSTS = ("device", "stated", "link")
"""First words of the names of ceilings that all hosts share; others, such as those of memory, belong to one host."""


class KnownLimit(NamedTuple):
    """A limit of the total.

    Attributes:
        name: Name of the ceiling, such as `server link`, or the part of a design.
        value: In the unit of the rates: for each host if `grows`, else for all together.
        grows: Each host adds as much: the links of the clients.
        how: How it was measured, or where it is stated.
    """

    name: str
    value: float
    grows: bool
    how: str

    def at(self, hosts: float) -> float:
        """Return the limit of the total of so many hosts."""
        return self.value * hosts if self.grows else self.value


def known_limits(
    rows: Sequence[ResultRow],
    place: TargetPlace | None,
    network: NetworkMeasurements | None,
    design: Sequence[DesignCeiling] = (),
    stated: Sequence[KnownLimit] = (),
) -> tuple[KnownLimit, ...]:
    """Return the limits of a total; those that a measured total exceeds are left out.

    Args:
        rows: Results of one operation with each number of hosts, each with a rate.
        place: Where the target is.
        network: Measurements between the run's clients and servers; None if there are none.
        design: Limits of the target's design.
        stated: Limits that the user states.
    """
    found = [*stated, *_measured(rows), *_designed(rows[0], design)]
    if place is not None and network is not None:
        found += _links(rows[0], place, network)
    totals = [(row.case.parameters.hosts, row.rate.median) for row in rows if row.rate is not None]
    return tuple(limit for limit in found if all(total <= EXCEEDED * limit.at(hosts) for hosts, total in totals))


def _measured(rows: Sequence[ResultRow]) -> Iterator[KnownLimit]:
    """Yield ceilings of results that all hosts share, from the result with the most hosts that has them."""
    found: dict[str, KnownLimit] = {}
    for row in rows:
        for ceiling in row.ceilings:
            # Of links, only the tightest is there; `_links` knows all.
            shared = ceiling.name.split()[0] in OF_ALL_HOSTS
            if shared and row.rate is not None and ceiling.share > 0:
                found[ceiling.name] = KnownLimit(ceiling.name, row.rate.median / ceiling.share, False, ceiling.how)
    yield from found.values()


def _designed(row: ResultRow, design: Sequence[DesignCeiling]) -> Iterator[KnownLimit]:
    size = row.case.parameters.get_value("record_size")
    for ceiling in design:
        share = dict(_shares(row))["read" if ceiling.metric.startswith("read") else "write"]
        counted = ceiling.metric.endswith("iops")
        each = 1.0 if counted == row.is_counted else float(size) if counted and isinstance(size, int) else 0.0
        if share and each:
            value = max(ceiling.value, ceiling.burst or 0.0) * each / share
            yield KnownLimit(f"design: {ceiling.layer}", value, False, ceiling.how)


def _links(row: ResultRow, place: TargetPlace, network: NetworkMeasurements) -> Iterator[KnownLimit]:
    if not place.servers or is_counted(row.operation) or not row.case.parameters.has("servers"):
        return
    ceilings = link_ceilings(network)
    servers = place.servers[: row.case.parameters.servers]
    for direction, share in _shares(row):
        if not share:
            continue
        limits = link_limits(ceilings, (), servers, direction)
        for limit in limits:
            yield KnownLimit(f"{limit.place} link", limit.value / share, False, f"{direction}: {limit.how}")
        if not any(limit.place == "server" for limit in limits):
            yield from _stated_links(network, servers, share)
        clients = [item for item in ceilings if (item.place, item.direction) == ("client", direction)]
        values = [item.value for item in clients if item.value is not None]
        if values and len(values) == len(clients):
            how = f"{direction}: mean of {len(values)} clients, each {clients[0].how.split(' with ')[-1]}"
            yield KnownLimit("client link", math.fsum(values) / len(values) / share, True, how)


def _stated_links(network: NetworkMeasurements, servers: Sequence[str], share: float) -> Iterator[KnownLimit]:
    """Yield the links of servers that no measurement has filled, if the rate of each is stated."""
    known = {link.host: link for link in network.links if link.side == "server" and link.bits_per_s}
    links = [known[name] for name in servers if name in known]
    if links and len(links) == len(servers):
        payload = math.fsum(_payload_bits(link) for link in links)
        stated = math.fsum(link.bits_per_s or 0.0 for link in links)
        how = f"payload of {bits_text(stated)}, {links[0].how}; no measurement filled it"
        yield KnownLimit("server link", payload / 8 / share, False, how)


def _payload_bits(link: HostLink) -> float:
    """Return the bits per second of payload that TCP over Ethernet can carry; all bits if the MTU is unknown."""
    part = 1.0 if link.mtu is None else (link.mtu - IP_AND_TCP_BYTES) / (link.mtu + FRAME_BYTES)
    return part * (link.bits_per_s or 0.0)


def _shares(row: ResultRow) -> tuple[tuple[Direction, float], ...]:
    """Return the shares of an operation's bytes, or of its operations, that are written and that are read."""
    reads = read_share(row.operation, row.case.parameters)
    return ("write", 1 - reads), ("read", reads)
