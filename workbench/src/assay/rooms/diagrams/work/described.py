"""Hosts, switches, sites and links as an author describes them in a file or in a paper."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from assay.model.frozen import Frozen
from assay.model.site.box import Link, Loss, Time
from assay.model.site.nodes import expand_nodes
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.units import UnitError, choices_hint, display_value, format_loss
from assay.report import numbers
from assay.report.diagrams.designs import exact_size, link_rate
from assay.report.diagrams.network import NETWORK, DrawnHost, DrawnLine, Network, NetworkBar, SwitchLink
from assay.report.diagrams.pieces import DiskSet

GUIDE = "docs/guides/diagrams.md"
LABEL = "description of a network"
_MIN_RAID_DISKS = {0: 2, 1: 2, 5: 3, 6: 4, 10: 4}
_CLIENT_ROLE = re.compile(r"client|login|compute|worker|workstation|application", re.I)
_SERVER_ROLE = re.compile(r"server|storage|metadata|management|array|gateway", re.I)
_NODE_SET = re.compile(r".*\[.*\].*")

Name = Annotated[str, Field(min_length=1, max_length=300)]
Remark = Annotated[str, Field(max_length=300)]
RaidLevel = Literal[0, 1, 5, 6, 10]


def check_raid(level: int, disks: int, *path: str) -> None:
    """Raise a fault if a RAID level needs more disks."""
    if disks < _MIN_RAID_DISKS[level]:
        least = _MIN_RAID_DISKS[level]
        raise fault(f"RAID {level} needs {least} disks at least, not {disks}", f"write {least} disks or more", *path)


def _listed(written: Any) -> Any:
    return (written,) if isinstance(written, str) else written


Texts = Annotated[tuple[Remark, ...], BeforeValidator(_listed)]


class DescribedDisks(Frozen):
    """Equal disks of a host.

    Attributes:
        kind: Such as `SATA disk`, `NVMe`, `gp3`.
        size: Bytes of each.
        raid: RAID level that combines them.
        at: Where they are mounted, or the name of their device.
    """

    kind: Remark = "disk"
    size: Annotated[int | None, SingleField(axis.size(1, 2**63, optional=True))] = None
    count: Annotated[int, SingleField(axis.whole(1, 100_000))] = 1
    raid: RaidLevel | None = None
    at: Remark = ""

    @model_validator(mode="after")
    def _enough(self) -> "DescribedDisks":
        if self.raid is not None:
            check_raid(self.raid, self.count, "raid")
        return self

    def drawn(self) -> DiskSet:
        """Return what is drawn of them."""
        parts = [f"{self.count} × {self.kind}" if self.count > 1 else self.kind]
        parts += [f"{exact_size(self.size)}{' each' if self.count > 1 else ''}"] if self.size else []
        parts += [f"RAID {self.raid}"] if self.raid is not None else []
        return DiskSet(self.count, ", ".join([*parts, *([self.at] if self.at else [])]))


class DescribedMount(Frozen):
    """A mount: `of` is HOST:EXPORT."""

    of: Remark
    at: Remark = ""
    type: Remark = ""


class DescribedHost(Frozen):
    """One host, or several equal ones.

    Attributes:
        count: How many there are; a set such as client[1-8] has its own number.
        cpu: Number of CPUs, or their kind in words.
        link, delay, loss: Of its line to the switch or network of its site, if no entry of `links` has it.
    """

    role: Remark = ""
    site: Remark = ""
    count: Annotated[int | None, SingleField(axis.whole(1, 100_000, optional=True))] = None
    instance: Remark = ""
    cpu: int | Remark = ""
    memory: Annotated[int | None, SingleField(axis.size(1, 2**63, optional=True))] = None
    disks: tuple[DescribedDisks, ...] = ()
    exports: Texts = ()
    mounts: tuple[DescribedMount, ...] = ()
    about: Texts = ()
    link: Link = None
    delay: Time = 0
    loss: Loss = 0

    @property
    def is_client(self) -> bool:
        """Whether it is drawn above the switches: by its role, else if it neither exports nor has disks."""
        if _CLIENT_ROLE.search(self.role):
            return True
        return not (_SERVER_ROLE.search(self.role) or self.exports or (self.disks and not self.mounts))

    def lines(self) -> Iterator[str]:
        """Yield what is said of it."""
        yield from filter(None, (self.role, self.instance))
        cpu = numbers.plural(self.cpu, "CPU") if isinstance(self.cpu, int) else self.cpu
        memory = f"{exact_size(self.memory)} memory" if self.memory else ""
        if cpu or memory:
            yield ", ".join(filter(None, (cpu, memory)))
        yield from self.about
        if self.exports:
            yield f"exports {', '.join(self.exports)}"
        for mount in self.mounts:
            yield f"mounts {mount.of}{f' ({mount.type})' * bool(mount.type)}{f' at {mount.at}' * bool(mount.at)}"


class DescribedSwitch(Frozen):
    """A switch; `rate` is that of each port."""

    site: Remark = ""
    ports: Annotated[int | None, SingleField(axis.whole(1, 100_000, optional=True))] = None
    rate: Link = None
    about: Remark = ""

    def text(self, name: str) -> str:
        """Return what stands in its bar."""
        ports = numbers.plural(self.ports, "port") if self.ports else ""
        rate = link_rate(self.rate) if self.rate else ""
        return ", ".join(filter(None, (name, " of ".join(filter(None, (ports, rate))), self.about)))


class DescribedSite(Frozen):
    """A site."""

    about: Remark = ""


class DescribedLink(Frozen):
    """A link between two hosts, switches or sites."""

    start: Name = Field(alias="from")
    end: Name = Field(alias="to")
    rate: Link = None
    delay: Time = 0
    loss: Loss = 0
    about: Remark = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """What is known of it."""
        return link_labels(self.rate, self.delay, self.loss, self.about)


def link_labels(rate: int | None, delay_ns: int, loss: int, about: str = "") -> tuple[str, ...]:
    """Return what is written beside a line."""
    parts = (
        link_rate(rate) if rate else "",
        f"delay {numbers.latency(delay_ns)}" if delay_ns else "",
        f"{format_loss(loss)} lost" if loss else "",
        about,
    )
    return tuple(filter(None, parts))


class DescribedNetwork(Frozen):
    """What an author describes."""

    sites: dict[Name, DescribedSite | None] = Field({})
    hosts: dict[Name, DescribedHost | None] = Field(min_length=1)
    switches: dict[Name, DescribedSwitch | None] = Field({})
    links: tuple[DescribedLink, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> "DescribedNetwork":
        self._check_names()
        for name, host in self._hosts.items():
            if host.site and host.site not in self.sites:
                raise _unknown("site", host.site, self.sites, "hosts", name, "site")
            for place, mount in enumerate(host.mounts):
                self._check_mount(mount, "hosts", name, "mounts", place, "of")
        for name, switch in self._switches.items():
            if switch.site and switch.site not in self.sites:
                raise _unknown("site", switch.site, self.sites, "switches", name, "site")
        for site in self.sites:
            if not any(host.site == site for host in self._hosts.values()):
                raise fault(f"no host is at the site {site}", f"write `site: {site}` at its hosts", "sites", site)
        for place, link in enumerate(self.links):
            self._check_link(link, place)
        self._check_switches()
        return self

    def _check_names(self) -> None:
        """Check that a name means one thing, and that counts agree with sets."""
        for key, other in (("switches", "hosts"), ("sites", "hosts"), ("sites", "switches")):
            if twice := next((name for name in getattr(self, key) if name in getattr(self, other)), None):
                raise fault(f"{twice} is also one of `{other}`", "give each its own name", key, twice)
        for name, host in self._hosts.items():
            members = _members(name)
            if host.count is not None and len(members) > 1 and host.count != len(members):
                hint = "leave `count` out"
                raise fault(f"{name} has {len(members)} hosts, not {host.count}", hint, "hosts", name, "count")

    def _check_mount(self, mount: DescribedMount, *path: str | int) -> None:
        server, _, export = mount.of.partition(":")
        found = next((host for name, host in self._hosts.items() if server in (name, *_members(name))), None)
        if found is None:
            names = [name for name, host in self._hosts.items() if host.exports] or [*self.hosts]
            raise _unknown("host", server, names, *path)
        if export and found.exports and export not in found.exports:
            raise fault(f"{server} does not export {export}", choices_hint(export, found.exports), *path)

    def _check_link(self, link: DescribedLink, place: int) -> None:
        for key, end in (("from", link.start), ("to", link.end)):
            if end in self.hosts or end in self.switches or end in self.sites:
                continue
            if whole := next((name for name in self.hosts if end in _members(name)), None):
                hint = f"write {end} as a host of its own, or link {whole}"
                raise fault(f"{end} is drawn together with the others of {whole}", hint, "links", place, key)
            known = [*self.hosts, *self.switches, *self.sites]
            raise _unknown("host, switch or site", end, known, "links", place, key)
        if link.start == link.end:
            raise fault(f"a link from {link.start} to itself", "name what it leads to", "links", place, "to")
        for first, second in ((link.start, link.end), (link.end, link.start)):
            if second in self.sites and self._site_of(first) == second and first not in self.sites:
                raise fault(f"{first} is itself at the site {second}", "link it to a host or switch", "links", place)

    def _check_switches(self) -> None:
        """Check that each host without a link has at most one switch to be at."""
        linked = {end for link in self.links for end in (link.start, link.end)}
        for name, host in self._hosts.items():
            if name not in linked and len(self._local_switches(host.site)) > 1:
                names = numbers.listing(self._local_switches(host.site))
                raise fault(f"{name} is linked to none of {names}", "add its link to `links`", "hosts", name)

    @property
    def _hosts(self) -> dict[str, DescribedHost]:
        return {name: host or DescribedHost() for name, host in self.hosts.items()}

    @property
    def _switches(self) -> dict[str, DescribedSwitch]:
        return {name: switch or DescribedSwitch() for name, switch in self.switches.items()}

    def _local_switches(self, site: str) -> list[str]:
        return [name for name, switch in self._switches.items() if switch.site == site]

    def _site_of(self, name: str) -> str:
        """Return the site that a host or switch is at, or the site of this name."""
        if name in self.sites:
            return name
        found = self._hosts.get(name) or self._switches.get(name)
        return found.site if found else ""

    def network(self) -> Network:
        """Return what is drawn."""
        return _Drawn(self).network()


def _unknown(kind: str, name: str, known: Any, *path: str | int) -> Any:
    hint = choices_hint(name, known, none="add it")
    return fault(f"there is no {kind} {display_value(name)}", hint, *path)


def _members(name: str) -> tuple[str, ...]:
    """Return the hosts that a name such as client[1-8] stands for."""
    if not _NODE_SET.fullmatch(name):
        return (name,)
    try:
        return expand_nodes(name)
    except UnitError:
        return (name,)


class _Drawn:
    """What is drawn of a description."""

    def __init__(self, described: DescribedNetwork) -> None:
        self._it = described
        self._bars = [NetworkBar(name, switch.text(name), switch.site) for name, switch in described._switches.items()]
        self._joins: list[SwitchLink] = []
        self._lines: dict[str, list[DrawnLine]] = {name: [] for name in described.hosts}
        self._site_lines: dict[str, list[DrawnLine]] = {name: [] for name in described.sites}

    def network(self) -> Network:
        """Return it."""
        for link in self._it.links:
            self._add_link(link)
        hosts = [self._host(name, host) for name, host in self._it._hosts.items()]
        titles = [
            (name, f"{name}: {site.about}" if site and site.about else name) for name, site in self._it.sites.items()
        ]
        lines = tuple((site, tuple(lines)) for site, lines in self._site_lines.items())
        return Network(tuple(hosts), tuple(self._bars), tuple(self._joins), tuple(titles), lines)

    def _host(self, name: str, host: DescribedHost) -> DrawnHost:
        lines = self._lines[name]
        if not lines:
            lines = self._usual_line(host)
        return DrawnHost(
            name,
            host.count or len(_members(name)),
            tuple(host.lines()),
            tuple(disks.drawn() for disks in host.disks),
            host.is_client,
            host.site,
            tuple(lines),
        )

    def _usual_line(self, host: DescribedHost) -> list[DrawnLine]:
        """Return the line of a host that no link names: to the only switch of its site, or to a network there."""
        switches = self._it._local_switches(host.site)
        name = switches[0] if switches else f"{NETWORK} {host.site}".strip()
        if not any(bar.name == name for bar in self._bars):
            if len(self._it.hosts) == 1:
                return []
            self._bars.append(NetworkBar(name, NETWORK, host.site, has_article=True))
        return [DrawnLine(name, link_labels(host.link, host.delay, host.loss))]

    def _add_link(self, link: DescribedLink) -> None:
        ends = (link.start, link.end)
        sites = [self._it._site_of(end) for end in ends]
        is_inside = sites[0] == sites[1] and not any(end in self._it.sites for end in ends)
        switches = [end for end in ends if end in self._it.switches]
        if is_inside and len(switches) == 2:
            self._joins.append(SwitchLink(*ends, ", ".join(link.labels)))
            return
        middle = next((end for end in switches if is_inside or self._it._site_of(end) == ""), None)
        labels = link.labels
        if middle is None:
            text = ": ".join(filter(None, (" – ".join(ends), ", ".join(labels))))
            middle = f"link {len(self._bars)}"
            self._bars.append(NetworkBar(middle, text, sites[0] if is_inside else "", is_cable=True))
            labels = ()
        for end, site in zip(ends, sites, strict=True):
            if end == middle:
                continue
            if site and not is_inside:
                named = (f"{end}:", *labels) if labels and end != site else labels
                self._site_lines[site].append(DrawnLine(middle, named))
            elif end in self._lines:
                self._lines[end].append(DrawnLine(middle, labels))
