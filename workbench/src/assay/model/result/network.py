"""What the network between clients and servers can carry: what was measured, and what follows from it."""

from typing import Literal

from assay.model.frozen import Frozen

Direction = Literal["write", "read"]
"""`write`: from client to server; `read`: from server to client. The two never share a sum."""
Scope = Literal["alone", "client", "server", "all"]
"""Who sent at once: one client to one server, one client to all servers, all clients to one server, or all to all."""


class PathMeasurement(Frozen):
    """The rate of one client and one server, in one direction.

    Attributes:
        scope: What went on beside it.
        streams: TCP connections of this pair.
        concurrent: Pairs of client and server that sent at the same time, this one included.
        bits_per_s: Payload of TCP, so without headers; None if it could not be measured.
        retransmits: Segments that were sent again; None if unknown.
        seconds: Length of the part that counts.
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
    """Round-trip times.

    Attributes:
        method: `icmp` echo, or `tcp`: until a connection is established or refused.
        least, median, most: Seconds; None if nothing came back.
        sent, received: Packets or connections.
        error: Why there is no time; empty if there is one.
    """

    client: str
    server: str
    method: Literal["icmp", "tcp"]
    least: float | None
    median: float | None
    most: float | None
    sent: int
    received: int
    error: str = ""


class MtuMeasurement(Frozen):
    """The largest packet that gets from client to server in one piece.

    Attributes:
        mtu: Bytes, IP header included; None if unknown.
        interface_mtu: Of the client's interface on that way; None if unknown.
        error: Why it is unknown; empty if it is known.
    """

    client: str
    server: str
    mtu: int | None
    interface_mtu: int | None
    error: str = ""


class Link(Frozen):
    """A host's interface on the way to the others.

    Attributes:
        side: Whether it is a client's or a server's.
        interface: Its name; empty if unknown.
        bits_per_s: Rate as stated, or as the interface tells; None if neither.
        how: `stated`, `told by the interface`, or why it is unknown.
        mtu: Bytes; None if unknown.
    """

    side: Literal["client", "server"]
    host: str
    interface: str
    bits_per_s: float | None
    how: str
    mtu: int | None = None


class Line(Frozen):
    """What lies between a client and a server at another site, as stated.

    Attributes:
        bits_per_s: What it carries each way.
    """

    client: str
    server: str
    bits_per_s: float


class NetworkHost(Frozen):
    """A client or server that was looked at.

    Attributes:
        identity: The same for two names of one machine (its boot and network namespace); empty if unknown.
        addresses: Under which clients see this server; empty for clients.
        error: Why it could not be looked at, or be used; empty if it could.
    """

    side: Literal["client", "server"]
    name: str
    identity: str = ""
    addresses: tuple[str, ...] = ()
    error: str = ""


class Network(Frozen):
    """All measurements between some clients and some servers.

    Attributes:
        started_at: Seconds since 1970.
        seconds: How long it took.
        time: Length of one measurement of bandwidth in seconds, as asked for.
        streams: Numbers of TCP connections that were tried.
        lines: Between hosts at different sites, where their rate was stated.
    """

    started_at: float
    seconds: float
    time: float
    streams: tuple[int, ...]
    hosts: tuple[NetworkHost, ...]
    links: tuple[Link, ...]
    paths: tuple[PathMeasurement, ...]
    rtts: tuple[RttMeasurement, ...]
    mtus: tuple[MtuMeasurement, ...]
    lines: tuple[Line, ...] = ()

    def names(self, side: Literal["client", "server"]) -> tuple[str, ...]:
        """Names of the clients or of the servers, in order."""
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
    """Something that a user should know before measuring storage over this network.

    Attributes:
        kind: What sort of thing.
        about: Hosts, or client and server.
        text: One sentence with numbers.
        remedy: What to do.
    """

    kind: FindingKind
    about: str
    text: str
    remedy: str


LinkPlace = Literal["client", "server", "path", "shared"]
LimitPlace = Literal["client", "server", "shared"]


class LinkCeiling(Frozen):
    """The most that one link carries in one direction.

    Attributes:
        place: Whose: one client's, one server's, `path`: something between the two, or `shared`: one that all share.
        host: Name of the client or server; of a path `CLIENT SERVER`; empty for the shared one.
        direction: `write` from clients to servers, `read` from servers to clients.
        value: Bytes per second of payload; None if it could not be measured or told apart from another one's.
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
    """What the links of one place carry together for given clients and servers.

    Attributes:
        place: Whose: the clients', the servers', or `shared`: something between the two.
        hosts: Whose links: clients or servers; both of those between whom it is narrow; empty if all share it.
        value: Bytes per second of payload.
    """

    place: LimitPlace
    hosts: tuple[str, ...]
    direction: Direction
    value: float
    how: str


class NetworkFindings(Frozen):
    """What follows from the measurements.

    Attributes:
        findings: Those that need attention first.
        ceilings: Clients' first, then servers', then paths', then the shared one; write before read.
    """

    findings: tuple[NetworkFinding, ...]
    ceilings: tuple[LinkCeiling, ...]
