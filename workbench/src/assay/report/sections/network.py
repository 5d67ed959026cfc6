"""The network between hosts and servers: rates of links, round trips and findings."""

from collections.abc import Sequence

from assay.analyse.links import best_alone
from assay.analyse.network import network_findings
from assay.model.result.network import Direction, LinkCeiling, NetworkMeasurements
from assay.report import numbers
from assay.report.document import Block, Bullets, Cell, Column, Fold, Num, Paragraph, Section, Strong, Table, Text
from assay.report.view import RunView

_RATES = "payload of TCP with iperf3, each direction on its own, since a link carries both at once"
_TRIPS = {"icmp": "round trips with ping", "tcp": "round trips by connecting"}
_TIGHTEST_LINK = (
    "A result is compared with the slowest link on its data path: those of its clients together, those of its "
    "servers together, or one that all share."
)
_WAYS: dict[Direction, str] = {"write": "to servers", "read": "from servers"}
_LINKS = (
    Column("Link of", is_filter=True),
    Column("Name"),
    Column("Direction", is_filter=True),
    Column("Carries", "MB/s", is_numeric=True),
    Column("Gbit/s", is_numeric=True),
    Column("How it was measured, or why not"),
)
_PAIRS = (
    Column("Client", is_filter=True),
    Column("Server", is_filter=True),
    Column("To server", "MB/s", is_numeric=True),
    Column("From server", "MB/s", is_numeric=True),
    Column("Round trip, least", "ms", is_numeric=True),
    Column("median", "ms", is_numeric=True),
    Column("most", "ms", is_numeric=True),
    Column("Packet", "bytes", is_numeric=True),
)


def section(view: RunView) -> Section | None:
    """Return the section: findings, links, and each pair of client and server in a fold; None if none was measured."""
    network = view.run.network
    if network is None:
        return None
    found = network_findings(network)
    blocks: list[Block] = []
    if found.findings:
        remarks: list[Text] = [(Strong(f"{item.about}: "), f"{item.text}. {item.remedy}") for item in found.findings]
        blocks.append(Bullets(tuple(remarks)))
    blocks += [
        Paragraph(_words(network, found.ceilings)),
        Table("links-table", _LINKS, tuple(_link(item) for item in found.ceilings)),
    ]
    pairs = Table("pairs-table", _PAIRS, tuple(_pairs(network)), is_interactive=True)
    blocks.append(Fold("Each client with each server alone", (pairs,)))
    return Section("network", "Network", tuple(blocks))


def _words(network: NetworkMeasurements, links: Sequence[LinkCeiling]) -> str:
    """Return what was measured and how results are compared with it."""
    ways = {trip.method for trip in network.rtts if trip.median is not None}
    measured = [_RATES] if any(path.bits_per_s for path in network.paths) else []
    measured += [words for way, words in _TRIPS.items() if way in ways]
    sentences = [f"Measured before the cases: {'; '.join(measured)}."] if measured else []
    sentences += [_TIGHTEST_LINK] if any(link.value is not None for link in links) else []
    return " ".join(sentences) or "Nothing could be measured."


def _link(item: LinkCeiling) -> tuple[Cell, ...]:
    value = item.value
    return (
        item.place,
        item.host or "all",
        _WAYS[item.direction],
        Num(numbers.mb_per_s(value), value),
        Num(numbers.NONE if value is None else numbers.significant(value * 8 / 1e9), value),
        item.how if value is not None else f"not known: {item.reason}",
    )


def _pairs(network: NetworkMeasurements) -> Sequence[tuple[Cell, ...]]:
    trips = {(item.client, item.server): item for item in network.rtts}
    packets = {(item.client, item.server): item.mtu for item in network.mtus}
    rows: list[tuple[Cell, ...]] = []
    for client in network.host_names("client"):
        for server in network.host_names("server"):
            trip, packet = trips.get((client, server)), packets.get((client, server))
            rates = [_alone(network, client, server, direction) for direction in _WAYS]
            times = (trip.min, trip.median, trip.max) if trip is not None else (None, None, None)
            rows.append(
                (
                    client,
                    server,
                    *(Num(numbers.mb_per_s(rate), rate) for rate in rates),
                    *(Num(numbers.NONE if time is None else numbers.significant(time * 1e3), time) for time in times),
                    Num(str(packet or numbers.NONE), packet),
                )
            )
    return rows


def _alone(network: NetworkMeasurements, client: str, server: str, direction: Direction) -> float | None:
    """Return the bytes per second of one pair alone, with the best number of connections."""
    bits = best_alone([path for path in network.paths if path.direction == direction], client, server)
    return bits / 8 if bits else None
