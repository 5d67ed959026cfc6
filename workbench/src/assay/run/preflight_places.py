"""Which clients and servers `assay preflight` looks at: of a study, of a box that is up, or as named."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.launch.mounting import foresee
from assay.launch.shell import make_shell
from assay.model.base import AssayError, Say
from assay.model.site.host import LOCALHOST, THIS_HOST, Host
from assay.model.study.hosts import Hosts
from assay.model.study.study import Study
from assay.model.units import shown
from assay.site.choose import site_of
from assay.site.inventory.hosts import resolve_hosts
from assay.site.inventory.names import node_names
from assay.site.inventory.site import InventorySite
from assay.site.local import LocalSite
from assay.site.site import Site, brought_up
from assay.wires.iperf import FIRST_PORT
from assay.wires.preflight import Server

_PLACE = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.%a-z]+)\]|(?P<name>[^:\[\]]+))(?::(?P<port>[0-9]{1,5}))?")


_PART = re.compile(r"(?:\[[^\[\]]*\]|[^\s,\[\]])+")


@dataclass(frozen=True)
class Places:
    """Who measures, and to whom."""

    clients: tuple[Host, ...]
    servers: tuple[Server, ...]


@contextlib.contextmanager
def box_places(name: str, hosts: str, servers: str, say: Say) -> Iterator[Places]:
    """Clients and servers of a box that is up, by their roles where none are named.

    Raises:
        AssayError: It is not up, or has no such hosts.
    """
    from assay.site.box.site import OpenBox

    with brought_up(OpenBox(name, hosts, servers), 1, say) as standing:
        yield Places(standing.clients, tuple(_entered(host) for host in standing.servers))


@contextlib.contextmanager
def named_places(hosts: str, servers: str, inventory: str, base: Path, say: Say) -> Iterator[Places]:
    """Clients and servers as named on the command line.

    Args:
        hosts: Node set; all hosts of the inventory that are no servers, or this machine, if empty.
        servers: Node sets, and HOST:PORT of iperf3 servers that are running, with commas or spaces between.
        inventory: File that says how to reach them; may be empty.
        base: Folder that the file's name starts from.
        say: Takes what there is to say.

    Raises:
        AssayError: They cannot be understood.
    """
    with brought_up(_named_site(hosts, inventory, base), 1, say) as standing:
        known = {host.name: host for host in (*standing.clients, *standing.known)} if inventory else {}
        found = tuple(_servers(servers, inventory, base, known, say))
        seen: set[str] = set()
        for server in found:
            if server.name in seen:
                raise AssayError(f"server {server.name} is named twice", "name each server once")
            seen.add(server.name)
        clients = standing.clients
        if not hosts:
            clients = tuple(host for host in clients if host.name not in seen) or (THIS_HOST,)
        yield Places(clients, found)


def _named_site(hosts: str, inventory: str, base: Path) -> Site:
    if not hosts and not inventory:
        return LocalSite()
    return InventorySite(Hosts(nodes=(hosts,) if hosts else (), inventory=inventory or None), base, typed=True)


def _servers(words: str, inventory: str, base: Path, known: Mapping[str, Host], say: Say) -> Iterator[Server]:
    # Commas within brackets belong to a node set.
    if not re.fullmatch(rf"[\s,]*({_PART.pattern}([\s,]+|$))+", words):
        hint = "write node sets or HOST:PORT with commas or spaces between: store[1-2],other:5201"
        raise AssayError(f"--servers: {shown(words)} is not a list of servers", hint)
    for part in _PART.findall(words):
        place = _PLACE.fullmatch(part)
        if place is not None and (place["port"] or place["v6"]):
            name = place["v6"] or place["name"]
            host = known.get(name)
            address = host.address if host is not None else name
            port = int(place["port"] or FIRST_PORT)
            yield Server(name, address, iperf_port=port, link=host.link if host is not None else None)
            continue
        written: object = {"inventory": inventory, "hosts": part} if inventory and not _own(part, known) else part
        for host in resolve_hosts(written, base, say):
            yield _entered(host)


def _own(part: str, known: Mapping[str, Host]) -> bool:
    """A server that the inventory does not have is reached by its own name."""
    return not part.startswith("@") and not any(name in known for name in node_names(part))


def _entered(host: Host) -> Server:
    address = "127.0.0.1" if host.name == LOCALHOST else host.address
    return Server(host.name, address, make_shell(host), link=host.link)


def from_study(study: Study, hosts: Sequence[Host]) -> tuple[Server, ...]:
    """The servers of a study's network targets, each once.

    Args:
        study: The study.
        hosts: All that its site knows. A server that is one of them is entered to start iperf3 there; of others it is
            tried whether somebody runs one at its usual port, unless they are services of somebody else.
    """
    known = {host.name: host for host in hosts} | {host.address: host for host in hosts}
    found: dict[str, Server] = {}
    for target in study.targets.values():
        for name, port, closed in target.services:
            host = known.get(name)
            link = target.ceilings.link or (host.link if host is not None else None)
            if host is None:
                iperf = None if closed else FIRST_PORT
                found.setdefault(name, Server(name, name, None, iperf, port, link, closed))
            else:
                found.setdefault(host.name, Server(host.name, host.address, make_shell(host), None, port, link))
    return tuple(found.values())


@contextlib.contextmanager
def study_places(study: Study, base: Path, say: Say) -> Iterator[Places]:
    """Clients and servers of a study; its site is up for the length of the `with` block.

    Raises:
        AssayError: It has no network target, its hosts cannot be found, or what it has mounted on them cannot be.
    """
    if not any(target.services for target in study.targets.values()):
        raise AssayError("no target of the study is reached over a network", "name servers: --servers LIST")
    with brought_up(site_of(study, base), 1, say) as standing:
        resolved = study.with_targets(standing.targets)
        foresee([make_shell(host) for host in standing.clients], resolved.mounts_of(resolved.targets))
        yield Places(standing.clients, from_study(resolved, [*standing.clients, *standing.known]))
