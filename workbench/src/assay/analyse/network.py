"""Derives findings and ceilings from the measurements between clients and servers."""

from collections.abc import Iterator
from itertools import groupby
from statistics import median_low

from assay.analyse.links import (
    DIRECTIONS,
    SLOW_SHARE,
    best_alone,
    bits_text,
    is_same_machine,
    link_ceilings,
    stated_rate,
)
from assay.model.result.network import Direction, NetworkFinding, NetworkFindings, NetworkHost, NetworkMeasurements
from assay.model.units import about_number

ASYMMETRY = 0.8
"""Directions whose rates differ by more than 20 % are reported."""
ONE_STREAM = 0.7
"""Below this share of the rate of several connections, one connection does not fill the link."""
FAR = 2.0
"""A round trip is reported if it is this many times the usual one and `FAR_SECONDS` longer."""
FAR_SECONDS = 100e-6


def network_findings(network: NetworkMeasurements) -> NetworkFindings:
    """Return all findings and ceilings that follow from the measurements."""
    findings = [
        *_unmeasured(network),
        *_same_machines(network),
        *_slow_links(network),
        *_asymmetric(network),
        *_packet_sizes(network),
        *_round_trips(network),
        *_one_connection(network),
    ]
    ceilings = link_ceilings(network)
    findings += [
        NetworkFinding(
            kind="shared link",
            about="all clients and servers",
            text=f"all pairs at once reach {_rate(item.value)} in {_way(item.direction)}, less than the links of either"
            " side carry",
            remedy="Look for what they share: an uplink between switches, a router, a host's CPU.",
        )
        for item in ceilings
        if item.place == "shared" and item.value is not None
    ]
    return NetworkFindings(findings=tuple(findings), ceilings=ceilings)


def _unmeasured(network: NetworkMeasurements) -> Iterator[NetworkFinding]:
    for host in network.hosts:
        if host.error:
            mend = "Fix that, or leave the host out."
            serve = "Allow ssh to it, or run `iperf3 -s` there and name it as HOST:PORT."
            text = f"{host.side} {host.name} cannot be used: {host.error}"
            yield NetworkFinding(
                kind="not measured", about=host.name, text=text, remedy=mend if host.side == "client" else serve
            )
    for (client, server, error), _ in groupby(network.paths, lambda path: (path.client, path.server, path.error)):
        if error:
            yield _missing("bandwidth", client, server, error, _iperf_remedy(error))
    remedy = "Let ICMP through, or install iputils (ping) on the client."
    for rtt in network.rtts:
        if rtt.median is None:
            yield _missing("round trip", rtt.client, rtt.server, rtt.error, remedy)
    silent = {(rtt.client, rtt.server) for rtt in network.rtts if rtt.median is None}
    for size in network.mtus:
        if size.mtu is None and (size.client, size.server) not in silent:
            yield _missing("packet size", size.client, size.server, size.error, remedy)


def _missing(what: str, client: str, server: str, error: str, remedy: str) -> NetworkFinding:
    return NetworkFinding(
        kind="not measured",
        about=f"{client}, {server}",
        text=f"{what} of {client} and {server}: {error}",
        remedy=remedy,
    )


def _iperf_remedy(error: str) -> str:
    if "not found" in error:
        return "Install iperf3 there: apt-get install iperf3."
    if "refused" in error or "unable to connect" in error or "timed out" in error:
        return (
            "Open ports 5201 to 5712 in the firewall, or run `iperf3 -s -p PORT` on the server and name it HOST:PORT."
        )
    if "entered" in error:
        return "Run `iperf3 -s -p PORT` on the server and name it HOST:PORT."
    return "Try iperf3 between the two by hand."


def _same_machines(network: NetworkMeasurements) -> Iterator[NetworkFinding]:
    known_hosts: dict[str, NetworkHost] = {}
    for host in network.hosts:
        keys = [host.identity, *(host.addresses if host.side == "server" else ())]
        other = next((known_hosts[key] for key in keys if key and key in known_hosts), None)
        if other is not None:
            both = other.side == host.side
            yield NetworkFinding(
                kind="same machine",
                about=f"{other.name}, {host.name}",
                text=f"{other.side} {other.name} and {host.side} {host.name} are the same machine",
                remedy="Name it once: its link and CPUs are counted twice."
                if both
                else "Use a client that is not the server: no link is measured between the two.",
            )
        for key in keys:
            if key:
                known_hosts.setdefault(key, host)


def _slow_links(network: NetworkMeasurements) -> Iterator[NetworkFinding]:
    for client in network.host_names("client"):
        for server in network.host_names("server"):
            rates = stated_rate(network, "client", client), stated_rate(network, "server", server)
            lines = [line for line in network.lines if (line.client, line.server) == (client, server)]
            known = [rate for rate in (*rates, *(line.bits_per_s for line in lines)) if rate]
            bottleneck = "line between their sites" if lines and lines[0].bits_per_s == min(known) else "slower link"
            for direction in DIRECTIONS:
                best = _pair_rate(network, client, server, direction)
                if known and best and best < SLOW_SHARE * min(known):
                    yield NetworkFinding(
                        kind="slow link",
                        about=f"{client}, {server}",
                        text=f"{client} and {server} reach {bits_text(best)} in {_way(direction)}, "
                        f"{100 * best / min(known):.0f} % of the {bits_text(min(known))} of the {bottleneck}",
                        remedy="Look at duplex, TCP buffers on long paths, cables, and what else uses the link."
                        if not lines
                        else "Look at TCP buffers, which must be larger on so long a path, and at what else uses the"
                        " line.",
                    )


def _asymmetric(network: NetworkMeasurements) -> Iterator[NetworkFinding]:
    for client in network.host_names("client"):
        for server in network.host_names("server"):
            write, read = (_pair_rate(network, client, server, direction) for direction in DIRECTIONS)
            if write and read and min(write, read) < ASYMMETRY * max(write, read):
                yield NetworkFinding(
                    kind="asymmetric",
                    about=f"{client}, {server}",
                    text=f"{client} sends {bits_text(write)} to {server}, and gets {bits_text(read)} from it",
                    remedy="If the link has the same speed both ways: look at duplex, offloads, and traffic in one"
                    " direction.",
                )


def _packet_sizes(network: NetworkMeasurements) -> Iterator[NetworkFinding]:
    for item in network.mtus:
        if item.mtu is not None and item.interface_mtu is not None and item.mtu < item.interface_mtu:
            yield NetworkFinding(
                kind="packet size",
                about=f"{item.client}, {item.server}",
                text=f"{item.client}'s interface takes packets of {item.interface_mtu} bytes, "
                f"but those above {item.mtu} do not get to {item.server}",
                remedy="Set the same MTU on all interfaces and switches: large packets may be dropped silently.",
            )
    sizes = {
        item.mtu
        for item in network.mtus
        if item.mtu is not None and not is_same_machine(network, item.client, item.server)
    }
    far = {(link.mtu, link.host) for link in network.links if link.mtu is not None and link.interface != "lo"}
    if len(sizes) > 1 or len({mtu for mtu, _ in far}) > 1:
        hosts = "; ".join(f"{host} {mtu}" for mtu, host in sorted(far)) or ", ".join(map(str, sorted(sizes)))
        yield NetworkFinding(
            kind="packet size",
            about="all hosts",
            text=f"not all paths and interfaces have the same MTU: {hosts}",
            remedy="Set the same MTU everywhere, or compare only hosts with the same MTU.",
        )


def _round_trips(network: NetworkMeasurements) -> Iterator[NetworkFinding]:
    known = [
        item
        for item in network.rtts
        if item.median is not None and not is_same_machine(network, item.client, item.server)
    ]
    usual = median_low(item.median or 0.0 for item in known) if known else 0.0
    for item in known:
        far = (item.median or 0.0) - usual > FAR_SECONDS and (item.median or 0.0) > FAR * usual
        if len(known) > 2 and far:
            yield NetworkFinding(
                kind="round trip",
                about=f"{item.client}, {item.server}",
                text=f"a round trip from {item.client} to {item.server} takes {_milli(item.median)}, "
                f"the usual one {_milli(usual)}",
                remedy="Check whether the host is at another site, or behind a busy link.",
            )
        if item.received < item.sent and item.method == "icmp":
            yield NetworkFinding(
                kind="lost packets",
                about=f"{item.client}, {item.server}",
                text=f"{item.sent - item.received} of {item.sent} pings from {item.client} to {item.server} were lost",
                remedy="Look for errors of the interfaces (ip -s link): a lost packet costs TCP up to 200 ms and more.",
            )


def _one_connection(network: NetworkMeasurements) -> Iterator[NetworkFinding]:
    if len(network.streams) < 2:
        return
    few, many = min(network.streams), max(network.streams)
    slow = []
    for path in network.paths:
        if path.scope == "alone" and path.streams == few and path.bits_per_s:
            best = _pair_rate(network, path.client, path.server, path.direction)
            if path.bits_per_s < ONE_STREAM * best:
                slow.append((path.bits_per_s / best, path, best))
    if slow:
        _, path, best = min(slow, key=lambda item: item[0])
        yield NetworkFinding(
            kind="one connection",
            about=f"{path.client}, {path.server}",
            text=f"{few} TCP connection{'s' * (few > 1)} of {path.client} and {path.server} "
            f"carr{'y' if few > 1 else 'ies'} {bits_text(path.bits_per_s or 0.0)} in {_way(path.direction)}, "
            f"{many} carry {bits_text(best)}; the same holds for {len(slow)} of the pairs and directions",
            remedy="Use several connections (nconnect), or larger TCP buffers.",
        )


def _pair_rate(network: NetworkMeasurements, client: str, server: str, direction: Direction) -> float:
    """Return the bits per second of a pair alone; 0 if unknown, or if there is no link between the two."""
    if is_same_machine(network, client, server):
        return 0.0
    return best_alone([path for path in network.paths if path.direction == direction], client, server)


def _way(direction: Direction) -> str:
    return "writes (to the server)" if direction == "write" else "reads (from the server)"


def _rate(value: float | None) -> str:
    return bits_text((value or 0.0) * 8)


def _milli(seconds: float | None) -> str:
    return f"{about_number(1000 * (seconds or 0.0))} ms"
