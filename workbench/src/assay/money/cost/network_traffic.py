"""What the links of storage servers carry for each byte that clients read or write, and the switches they need."""

from dataclasses import dataclass

from assay.model.base import AssayError
from assay.model.money.design import Design, Hardware, Switch


@dataclass(frozen=True)
class NetworkTraffic:
    """Bytes that all storage servers together send and receive for each byte that clients read or write.

    A full-duplex link carries each way apart: what is sent for reads and for copies shares one way, what is received
    the other.
    """

    sent_for_read: float = 1.0
    received_for_read: float = 0.0
    sent_for_write: float = 0.0
    received_for_write: float = 1.0


def network_traffic(design: Design, servers: int) -> NetworkTraffic:
    """Return the traffic of so many servers of a design.

    n copies: one server receives a write and sends it to n - 1 others. A code of k + m parts: one server receives a
    write, keeps its own parts and sends the others; for a read it receives the data parts that others hold. If clients
    write the copies themselves, servers send each other nothing.
    Sources: https://docs.ceph.com/en/latest/architecture/ (the primary OSD copies, encodes and decodes);
    https://doc.beegfs.io/latest/advanced_topics/mirroring.html (the primary forwards to the secondary).
    """
    if design.copied_by == "clients":
        return NetworkTraffic(received_for_write=design.storage_factor)
    if design.erasure is None:
        return NetworkTraffic(sent_for_write=design.copies - 1.0, received_for_write=float(design.copies))
    data, parts = design.erasure[0], design.part_count
    own = max(1.0, parts / servers)
    sent, fetched = (parts - own) / data, max(0.0, data - own) / data
    return NetworkTraffic(1 + fetched, fetched, sent, 1 + sent)


def switch_piece(design: Design) -> Hardware | None:
    """Return the switches of a design; None: there are none in it."""
    return next((piece for piece in design.hardware if piece.switch is not None), None)


def bought_switches(design: Design, client_ports: int) -> tuple[Hardware, int] | None:
    """Return the switches that are bought and their number; None: the design has none.

    Of the smaller switches, those with the fewest ports in all that connect every piece and client without links
    between switches; if none do, the design's own.

    Raises:
        AssayError: As `switch_count`.
    """
    piece = switch_piece(design)
    if piece is None or piece.switch is None:
        return None
    ports, enough = used_ports(design) + client_ports, []
    for small in piece.switch.smaller:
        count = max(piece.count, -(-ports // small.ports))
        if count <= max(piece.count, _ports_apart(design)):
            switch = Switch(ports=small.ports, rate=piece.switch.rate)
            changes = {"item": small.item, "switch": switch, "watts": small.watts}
            enough.append((count * small.ports, count, piece.model_copy(update=changes)))
    if enough:
        _, count, found = min(enough, key=lambda each: each[:2])
        return found, count
    return piece, switch_count(design, client_ports)


def used_ports(design: Design) -> int:
    """Return the ports that the pieces of a design connect to its switches, without those of clients."""
    return sum(piece.ports * piece.count for piece in design.hardware)


def switch_count(design: Design, client_ports: int) -> int:
    """Return how many switches connect all pieces and clients, at least those of the design.

    Links between switches carry as much as the ports of the pieces, or of the clients if these are fewer. So clients
    have switches of their own where that takes fewer, each with a link at least.

    Raises:
        AssayError: A tree of three levels does not have so many ports.
    """
    piece = switch_piece(design)
    if piece is None or piece.switch is None:
        return 0
    each, ports = piece.switch.ports, used_ports(design)
    apart = _ports_apart(design)
    links = max(min(ports, client_ports), -(-client_ports // (each - 1)))
    counts = [_tree_size(ports + client_ports, each, apart)]
    core = _tree_size(ports + links, each, apart)
    counts += [None if core is None else core - (-(links + client_ports) // each)]
    least = min((count for count in counts if count is not None), default=None)
    if least is None:
        problem = f"{ports + client_ports} ports are more than three levels of {piece.item} have: {each**3 // 4}"
        raise AssayError(problem, "take switches with more ports, or fewer servers")
    return max(piece.count, least)


def _ports_apart(design: Design) -> int:
    """Return to how many switches each piece has a port of its own."""
    return min((piece.ports for piece in design.hardware if piece.ports), default=1)


def _tree_size(ports: int, each: int, apart: int) -> int | None:
    """Return how many switches of `each` ports connect so many ports at full rate; None: three levels are too few.

    Up to `apart` switches need no links, because each piece has a port at all of them. More form a tree: half of the
    ports of each switch below the top lead upwards. Two levels have k^2/2 ports for hosts, and three have k^3/4.
    Source: Al-Fares, Loukissas, Vahdat, A scalable, commodity data center network architecture, SIGCOMM 2008.
    """
    for levels, most in ((1, each * apart), (2, each**2 // 2), (3, each**3 // 4)):
        if ports <= most:
            below_top = (levels - 1) * -(-2 * ports // each)
            return below_top - (-ports // each)
    return None
