"""The clients and servers that `assay preflight` checks: of a study, of a box that is up, or as named."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.launch.mounter import check_mounts
from assay.launch.shell import make_shell
from assay.model.base import AssayError, PrintLine
from assay.model.room import hook
from assay.model.site.host import LOCALHOST, THIS_HOST, Host
from assay.model.study.hosts import Hosts
from assay.model.study.study import Study
from assay.model.units import display_value
from assay.site.choose import site_of
from assay.site.inventory.hosts import resolve_hosts
from assay.site.inventory.names import node_names
from assay.site.inventory.site import InventorySite
from assay.site.local import LocalSite
from assay.site.site import Site, running_site
from assay.wires.iperf import FIRST_PORT
from assay.wires.preflight import ServerEndpoint

_PLACE = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.%a-z]+)\]|(?P<name>[^:\[\]]+))(?::(?P<port>[0-9]{1,5}))?")


_PART = re.compile(r"(?:\[[^\[\]]*\]|[^\s,\[\]])+")


@dataclass(frozen=True)
class PreflightHosts:
    """The hosts that measure, and the servers that they measure to."""

    clients: tuple[Host, ...]
    servers: tuple[ServerEndpoint, ...]


@contextlib.contextmanager
def box_hosts(name: str, hosts: str, servers: str, print_line: PrintLine) -> Iterator[PreflightHosts]:
    """Yield clients and servers of a box that is up, chosen by their roles if none are named.

    Raises:
        AssayError: The box is not up, or has no such hosts.
    """
    testbed: Site = hook("open_testbed")(name, hosts, servers)
    with running_site(testbed, 1, print_line) as site:
        yield PreflightHosts(site.clients, tuple(_server_on(host) for host in site.servers))


@contextlib.contextmanager
def named_hosts(
    hosts: str, servers: str, inventory: str, base: Path, print_line: PrintLine
) -> Iterator[PreflightHosts]:
    """Yield clients and servers as named on the command line.

    Args:
        hosts: Node set; if empty, all hosts of the inventory that are not servers, or this machine.
        servers: Node sets, and HOST:PORT of iperf3 servers that are running, separated by commas or spaces.
        inventory: File that describes how to reach them; may be empty.
        base: Folder that the file's name is relative to.
        print_line: Prints a line.

    Raises:
        AssayError: They cannot be parsed.
    """
    with running_site(_named_site(hosts, inventory, base), 1, print_line) as site:
        known = {host.name: host for host in (*site.clients, *site.other_hosts)} if inventory else {}
        found = tuple(_servers(servers, inventory, base, known, print_line))
        names: set[str] = set()
        for server in found:
            if server.name in names:
                raise AssayError(f"server {server.name} is named twice", "name each server once")
            names.add(server.name)
        clients = site.clients
        if not hosts:
            clients = tuple(host for host in clients if host.name not in names) or (THIS_HOST,)
        yield PreflightHosts(clients, found)


def _named_site(hosts: str, inventory: str, base: Path) -> Site:
    if not hosts and not inventory:
        return LocalSite()
    return InventorySite(Hosts(nodes=(hosts,) if hosts else (), inventory=inventory or None), base, typed=True)


def _servers(
    server_list: str, inventory: str, base: Path, known: Mapping[str, Host], print_line: PrintLine
) -> Iterator[ServerEndpoint]:
    # Commas in brackets belong to a node set.
    if not re.fullmatch(rf"[\s,]*({_PART.pattern}([\s,]+|$))+", server_list):
        hint = "write node sets or HOST:PORT with commas or spaces between: store[1-2],other:5201"
        raise AssayError(f"--servers: {display_value(server_list)} is not a list of servers", hint)
    for part in _PART.findall(server_list):
        place = _PLACE.fullmatch(part)
        if place is not None and (place["port"] or place["v6"]):
            name = place["v6"] or place["name"]
            host = known.get(name)
            address = host.address if host is not None else name
            port = int(place["port"] or FIRST_PORT)
            yield ServerEndpoint(name, address, iperf_port=port, link=host.link if host is not None else None)
            continue
        hosts: object = (
            {"inventory": inventory, "hosts": part} if inventory and not _is_outside_inventory(part, known) else part
        )
        for host in resolve_hosts(hosts, base, print_line):
            yield _server_on(host)


def _is_outside_inventory(part: str, known: Mapping[str, Host]) -> bool:
    """Whether a server is not in the inventory, and so reached by its own name."""
    return not part.startswith("@") and not any(name in known for name in node_names(part))


def _server_on(host: Host) -> ServerEndpoint:
    address = "127.0.0.1" if host.name == LOCALHOST else host.address
    return ServerEndpoint(host.name, address, make_shell(host), link=host.link)


def servers_of_study(study: Study, hosts: Sequence[Host]) -> tuple[ServerEndpoint, ...]:
    """Return the servers of a study's network targets, each once.

    Args:
        study: The study.
        hosts: All hosts that its site knows. iperf3 is started on servers among them. On others, a running iperf3 is
            tried at its usual port, unless they are services that the user does not run.
    """
    known = {host.name: host for host in hosts} | {host.address: host for host in hosts}
    found: dict[str, ServerEndpoint] = {}
    for target in study.targets.values():
        for name, port, closed in target.services:
            host = known.get(name)
            link = target.ceilings.link or (host.link if host is not None else None)
            if host is None:
                iperf = None if closed else FIRST_PORT
                found.setdefault(name, ServerEndpoint(name, name, None, iperf, port, link, closed))
            else:
                found.setdefault(host.name, ServerEndpoint(host.name, host.address, make_shell(host), None, port, link))
    return tuple(found.values())


@contextlib.contextmanager
def preflight_study_hosts(study: Study, base: Path, print_line: PrintLine) -> Iterator[PreflightHosts]:
    """Yield clients and servers of a study; its site is up during the `with` block.

    Raises:
        AssayError: It has no network target, its hosts cannot be found, or its mounts are not possible.
    """
    if not any(target.services for target in study.targets.values()):
        raise AssayError("no target of the study is reached over a network", "name servers: --servers LIST")
    with running_site(site_of(study, base), 1, print_line) as site:
        resolved = study.with_targets(site.targets)
        check_mounts([make_shell(host) for host in site.clients], resolved.mounts_of(resolved.targets))
        yield PreflightHosts(site.clients, servers_of_study(resolved, [*site.clients, *site.other_hosts]))
