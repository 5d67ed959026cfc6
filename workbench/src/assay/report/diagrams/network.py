"""Hosts at switches, in sites: what is drawn of a network, how it is laid out, and the same in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from assay.model.base import AssayError
from assay.report import numbers
from assay.report.diagrams.comb import Attachment, Bar, BarJoin, Comb, Hung
from assay.report.diagrams.pieces import (
    MAX_CARD,
    MIN_CARD,
    PADDING,
    PAGE_WIDTH,
    Card,
    DiskSet,
    Piece,
    diagram_of,
    words,
)
from assay.report.draw.diagram import NAME_SIZE, BoxShape, Diagram
from assay.report.draw.letters import text_width

MAX_BOXES = 40
"""Most boxes of hosts that a page has room for."""
NETWORK = "network"
"""Name of what joins hosts where no switch is named."""
_CARD_WIDTHS = (MAX_CARD, 150.0, 122.0, MIN_CARD)
_SITE_GAP = 16.0
_SITE_TITLE = 17.0


class DrawnLine(NamedTuple):
    """A line of a host or site to a switch or cable, by its name; `labels` say what is known of the line."""

    to: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DrawnHost:
    """One host, or several equal ones.

    Attributes:
        lines: What is said of it: role, instance type, processor, memory, servers, exports, mounts.
        is_client: It is drawn above the switches, as what uses the storage.
        site: Its site; empty: none.
        links: Its lines to switches and cables of its site.
        is_outside: It is not part of what is described.
    """

    name: str
    count: int = 1
    lines: tuple[str, ...] = ()
    disks: tuple[DiskSet, ...] = ()
    is_client: bool = False
    site: str = ""
    links: tuple[DrawnLine, ...] = ()
    is_outside: bool = False

    def labels(self, link: DrawnLine) -> tuple[str, ...]:
        """Return what is written beside a line: of several hosts, each has such a one."""
        if self.count > 1 and link.labels:
            return (f"{link.labels[0]} each", *link.labels[1:])
        return link.labels

    @property
    def words(self) -> str:
        """All that is said of it."""
        facts = [f"{self.count:,} of them"] if self.count > 1 else []
        facts += [*self.lines, *(disks.text for disks in self.disks)]
        facts += [", ".join(labels) for labels in dict.fromkeys(map(self.labels, self.links)) if labels]
        return f"{self.name} ({'; '.join(facts)})" if facts else self.name


@dataclass(frozen=True, slots=True)
class NetworkBar:
    """A switch, or a cable that joins two hosts directly.

    Attributes:
        site: Its site; empty for what joins sites, or if there are none.
        has_article: Its text needs an article in a sentence.
    """

    name: str
    text: str
    site: str = ""
    is_cable: bool = False
    has_article: bool = False

    @property
    def words(self) -> str:
        """Its text within a sentence."""
        return f"a {self.text}" if self.has_article else self.text


class SwitchLink(NamedTuple):
    """A link between two switches of the same site."""

    first: str
    second: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Network:
    """What is drawn.

    Attributes:
        bars: Switches and cables.
        joins: Links between switches.
        site_titles: Site -> its title, in order.
        site_links: Site -> its lines to what joins sites.
        remarks: Further sentences on what is drawn.
    """

    hosts: tuple[DrawnHost, ...]
    bars: tuple[NetworkBar, ...] = ()
    joins: tuple[SwitchLink, ...] = ()
    site_titles: tuple[tuple[str, str], ...] = ()
    site_links: tuple[tuple[str, tuple[DrawnLine, ...]], ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """All that is drawn, in sentences."""
        titles = dict(self.site_titles)
        sentences = []
        for site in dict.fromkeys(host.site for host in self.hosts):
            hosts = numbers.listing([host.words for host in self.hosts if host.site == site])
            bars = [bar.words for bar in self.bars if bar.site == site and not (site == "" and titles)]
            where = f"{titles.get(site, site)}: " if site else "Shown: "
            joined = f", joined by {numbers.listing(bars)}" if bars else ""
            sentences.append(f"{where}{hosts}{joined}.")
        sentences += [f"{join.first} – {join.second}: {join.label or 'linked'}." for join in self.joins]
        if between := [bar.words for bar in self.bars if titles and bar.site == ""]:
            sentences.append(f"All of these are joined by {numbers.listing(between)}.")
        return " ".join([*sentences, *self.remarks])


class _Site:
    """A frame with the hosts of a site in it."""

    def __init__(self, title: str, comb: Comb, max_width: float) -> None:
        self._title, self._comb, self._max_width = title, comb, max_width

    @property
    def natural_width(self) -> float:
        titled = text_width(self._title, NAME_SIZE, True) + 2 * PADDING
        return min(self._max_width, max(titled, self._comb.natural_width + 2 * PADDING))

    def piece(self, width: float) -> Piece:
        inner = self._comb.piece(width - 2 * PADDING)
        height = inner.height + _SITE_TITLE + 2 * PADDING
        title = words(PADDING, PADDING + 5, self._title, width - 2 * PADDING, "name")
        left = (width - inner.width) / 2
        return Piece(
            width,
            height,
            (BoxShape(0, 0, width, height, "frame"), title, *inner.at(left, PADDING + _SITE_TITLE)),
        )


def network_diagram(network: Network) -> Diagram:
    """Return the diagram of a network.

    Raises:
        AssayError: It has no host, or too many boxes for a page.
    """
    if not network.hosts:
        raise AssayError("there is no host to draw", "name at least one")
    if len(network.hosts) > MAX_BOXES:
        message = f"the diagram would have {len(network.hosts)} boxes of hosts, and a page has room for {MAX_BOXES}"
        raise AssayError(message, "draw a part of it, or write equal hosts as one with a `count`")
    piece = None
    for width in _CARD_WIDTHS:
        # Narrower cards leave room for more of them in a row.
        piece = min(_pieces(network, width), key=lambda one: one.height)
        if piece.fits_page:
            break
    assert piece is not None
    return diagram_of(piece, network.words)


def _pieces(network: Network, card: float) -> Iterator[Piece]:
    """Yield the network as laid out, with each number of sites side by side."""
    titles = dict(network.site_titles)
    if not titles:
        yield _comb(network, "", card).piece(PAGE_WIDTH)
        return
    combs = {site: _comb(network, site, card) for site in titles if any(host.site == site for host in network.hosts)}
    least = max(comb.min_width for comb in combs.values()) + 2 * PADDING
    count = max(len(combs), sum(host.site == "" for host in network.hosts))
    for columns in range(count, 0, -1):
        room = (PAGE_WIDTH - columns * _SITE_GAP) / columns
        if columns == 1 or room >= least:
            yield _sites_comb(network, combs, columns, room).piece(PAGE_WIDTH)


def _comb(network: Network, site: str, card: float) -> Comb:
    """Return the hosts of a site with its switches; no card is wider than `card`."""
    bars = [bar for bar in network.bars if bar.site == site]
    place = {bar.name: number for number, bar in enumerate(bars)}
    joins = [
        BarJoin(place[join.first], place[join.second], join.label)
        for join in network.joins
        if join.first in place and join.second in place
    ]
    hung = [(host.is_client, _hung(host, place)) for host in network.hosts if host.site == site]
    clients = tuple(one for is_client, one in hung if is_client)
    servers = tuple(one for is_client, one in hung if not is_client)
    return Comb(clients, tuple(_bar(bar) for bar in bars), servers, tuple(joins), card)


def _bar(bar: NetworkBar) -> Bar:
    return Bar(bar.text, "cable" if bar.is_cable else "switch")


def _hung(host: DrawnHost, place: dict[str, int]) -> Hung:
    card = Card(host.name, host.count, host.lines, host.disks, host.is_outside)
    return Hung(card, tuple(Attachment(place[link.to], host.labels(link)) for link in host.links if link.to in place))


def _sites_comb(network: Network, combs: Mapping[str, Comb], columns: int, room: float) -> Comb:
    """Return the sites, so many beside each other, with what joins them."""
    titles, lines = dict(network.site_titles), dict(network.site_links)
    bars = [bar for bar in network.bars if bar.site == ""]
    place = {bar.name: number for number, bar in enumerate(bars)}
    blocks = [
        Hung(
            _Site(titles[site], comb, room),
            tuple(Attachment(place[line.to], line.labels) for line in lines.get(site, ()) if line.to in place),
        )
        for site, comb in combs.items()
    ]
    loose = [(host.is_client, _hung(host, place)) for host in network.hosts if host.site == ""]
    clients = [one for is_client, one in loose if is_client]
    # Clients outside of all sites stand above what joins them; else the sites do, as far as there is room.
    upper = 0 if clients else len(blocks) if len(blocks) <= columns else (len(blocks) + 1) // 2
    servers = [one for is_client, one in loose if not is_client]
    return Comb((*clients, *blocks[:upper]), tuple(_bar(bar) for bar in bars), (*blocks[upper:], *servers))


def folded(hosts: Iterable[DrawnHost]) -> tuple[DrawnHost, ...]:
    """Return the hosts with those that differ by their names alone as one, in the order of the first of each."""
    groups: dict[DrawnHost, list[DrawnHost]] = {}
    for host in hosts:
        groups.setdefault(replace(host, name="", count=1), []).append(host)
    return tuple(
        replace(same[0], name=names_in_one([host.name for host in same]), count=sum(host.count for host in same))
        for same in groups.values()
    )


def names_in_one(names: Sequence[str]) -> str:
    """Return names of hosts as a node set: `client[1-8]`."""
    from ClusterShell.NodeSet import NodeSet

    return str(NodeSet.fromlist(list(names), resolver=None)) if len(names) > 1 else "".join(names)
