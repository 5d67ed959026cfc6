"""What the network between clients and servers can carry: measurements, and what follows from them."""

from typing import Literal

from assay.model.frozen import Frozen

Direction = Literal["write", "read"]
"""`write`: from client to server; `read`: from server to client. They are never added up."""
Scope = Literal["alone", "client", "server", "all"]
"""Concurrent transfers: one client to one server, one client to all servers, all clients to one server, or all to
all."""


class PathMeasurement(Frozen):
    """The measured rate between one client and one server, in one direction.

    Attributes:
        scope: Which other pairs transferred at the same time.
        streams: TCP connections of this pair.
        concurrent: Pairs that transferred at the same time, including this one.
        bits_per_s: TCP payload, without headers; None if it could not be measured.
        retransmits: Segments sent again; None if unknown.
        seconds: Length of the part that was evaluated.
        error: Why there is no rate; empty if there is one.
    """

    client: str
    server: str
    direction: Direction
    scope: Scope
    streams: int
    concurrent: int
    bits_per_s: float | None
    retransmits: int | None = None
    seconds: float = 0.0
    error: str = ""


class RttMeasurement(Frozen):
    """Measured round-trip times between one client and one server.

    Attributes:
        method: `icmp`: echo; `tcp`: until a connection is established or refused.
        min, median, max: In seconds; None if there was no reply.
        sent, received: Packets or connections.
        error: Why there is no time; empty if there is one.
    """

    client: str
    server: str
    method: Literal["icmp", "tcp"]
    min: float | None
    median: float | None
    max: float | None
    sent: int
    received: int
    error: str = ""


class MtuMeasurement(Frozen):
    """The largest packet that passes from client to server unfragmented.

    Attributes:
        mtu: Bytes, including the IP header; None if unknown.
        interface_mtu: MTU of the client's interface on that path; None if unknown.
        error: Why it is unknown; else empty.
    """

    client: str
    server: str
    mtu: int | None
    interface_mtu: int | None
    error: str = ""


class HostLink(Frozen):
    """A host's network interface towards the other hosts.

    Attributes:
        side: Whether the host is a client or a server.
        interface: Name of the interface; empty if unknown.
        bits_per_s: Rate as stated, or as the interface reports it; None if neither.
        how: `stated`, `reported by the interface`, or why it is unknown.
        mtu: Bytes; None if unknown.
    """

    side: Literal["client", "server"]
    host: str
    interface: str
    bits_per_s: float | None
    how: str
    mtu: int | None = None


class SiteLine(Frozen):
    """The line between a client and a server at different sites, as stated.

    Attributes:
        bits_per_s: Rate in each direction.
    """

    client: str
    server: str
    bits_per_s: float


class NetworkHost(Frozen):
    """A client or server that was inspected.

    Attributes:
        identity: Equal for two names of one machine (its boot and network namespace); empty if unknown.
        addresses: Addresses at which clients reach this server; empty for clients.
        error: Why it could not be inspected or used; else empty.
    """

    side: Literal["client", "server"]
    name: str
    identity: str = ""
    addresses: tuple[str, ...] = ()
    error: str = ""


class NetworkMeasurements(Frozen):
    """All network measurements between clients and servers.

    Attributes:
        started_at: Seconds since 1970.
        seconds: Duration of all measurements.
        time: Requested length of one bandwidth measurement, in seconds.
        streams: Tried numbers of TCP connections.
        lines: Lines between sites whose rate is stated.
    """

    started_at: float
    seconds: float
    time: float
    streams: tuple[int, ...]
    hosts: tuple[NetworkHost, ...]
    links: tuple[HostLink, ...]
    paths: tuple[PathMeasurement, ...]
    rtts: tuple[RttMeasurement, ...]
    mtus: tuple[MtuMeasurement, ...]
    lines: tuple[SiteLine, ...] = ()

    def host_names(self, side: Literal["client", "server"]) -> tuple[str, ...]:
        """Return the names of the clients or of the servers, in order."""
        return tuple(host.name for host in self.hosts if host.side == side)


FindingKind = Literal[
    "not measured",
    "same machine",
    "asymmetric",
    "slow link",
    "packet size",
    "round trip",
    "lost packets",
    "one connection",
    "shared link",
]


class NetworkFinding(Frozen):
    """A fact about the network that users should know before they measure storage over it.

    Attributes:
        kind: Kind of the fact.
        about: The hosts, or the client and server.
        text: One sentence with numbers.
        remedy: What to do about it.
    """

    kind: FindingKind
    about: str
    text: str
    remedy: str


LinkPlace = Literal["client", "server", "path", "shared"]
LimitPlace = Literal["client", "server", "shared"]


class LinkCeiling(Frozen):
    """The highest rate of one link in one direction.

    Attributes:
        place: The link: of one client, of one server, `path`: between two hosts, or `shared`: common to all.
        host: Name of the client or server; for a path `CLIENT SERVER`; empty for the shared link.
        direction: `write` from clients to servers, `read` from servers to clients.
        value: Payload in bytes per second; None if it could not be measured or separated from another link.
        how: How it was measured.
        reason: Why there is no value; empty if there is one.
    """

    place: LinkPlace
    host: str
    direction: Direction
    value: float | None
    how: str
    reason: str = ""


class LinkLimit(Frozen):
    """The combined rate of the links of one place, for given clients and servers.

    Attributes:
        place: The clients' links, the servers', or `shared`: a link between them.
        hosts: Clients or servers that own the links; for a narrow path both its ends; empty if all share the link.
        value: Payload in bytes per second.
    """

    place: LimitPlace
    hosts: tuple[str, ...]
    direction: Direction
    value: float
    how: str


class NetworkFindings(Frozen):
    """Conclusions from the measurements.

    Attributes:
        findings: The most urgent first.
        ceilings: In the order clients, servers, paths, shared; write before read.
    """

    findings: tuple[NetworkFinding, ...]
    ceilings: tuple[LinkCeiling, ...]
