"""Which clients and servers `assay preflight` looks at: of a study, of a box that is up, or as named."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.launch.shell import make_shell
from assay.model.base import AssayError
from assay.model.site.host import LOCALHOST, THIS_HOST, Host
from assay.model.study.study import Study
from assay.model.units import one_of, shown
from assay.run.boxes import CLIENT, SERVER, box_hosts, brought_up, chosen_hosts
from assay.run.listener import Say
from assay.site.inventory.hosts import node_names, resolve_hosts
from assay.wires.iperf import FIRST_PORT
from assay.wires.preflight import Server

_PLACE = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.%a-z]+)\]|(?P<name>[^:\[\]]+))(?::(?P<port>[0-9]{1,5}))?")


_PART = re.compile(r"(?:\[[^\[\]]*\]|[^\s,\[\]])+")


@dataclass(frozen=True)
class Places:
    """Who measures, and to whom."""

    clients: tuple[Host, ...]
    servers: tuple[Server, ...]


def from_box(name: str, hosts: str, servers: str, say: Say) -> Places:
    """Clients and servers of a box that is up, by their roles where none are named.

    Raises:
        AssayError: It is not up, or has no such hosts.
    """
    from assay.site.box.find import running_boxes

    boxes = {box.name: box for box in running_boxes()}
    if name not in boxes:
        hint = one_of(name, boxes) if boxes else f"`assay testbed up {name}` brings it up"
        raise AssayError(f"no box {name} is up", hint)
    box = boxes[name]
    dead = [host.name for host in box.hosts if not box.alive(host.name)]
    if dead:
        say(f"box {name}: left out, because dead: {', '.join(dead)}")
    known = {host.name: host for host in box_hosts(box)}

    def chosen(words: str, role: str) -> list[Host]:
        listed = [host.name for host in box.hosts if role in host.roles and host.name in known]
        names = node_names(words) if words else listed
        missing = [item for item in names if item not in known]
        if missing or not names:
            state = "living host" if dead else "host"
            fault = f"no {state} {missing[0]}" if missing else f"no {state} with the role {role}"
            raise AssayError(f"box {name} has {fault}", f"it has {', '.join(known)}")
        return [known[item] for item in names]

    return Places(tuple(chosen(hosts, CLIENT)), tuple(_entered(host) for host in chosen(servers, SERVER)))


def from_words(hosts: str, servers: str, inventory: str, base: Path, say: Say) -> Places:
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
    known = {host.name: host for host in resolve_hosts({"inventory": inventory}, base, say)} if inventory else {}
    found = tuple(_servers(servers, inventory, base, known, say))
    seen: set[str] = set()
    for server in found:
        if server.name in seen:
            raise AssayError(f"server {server.name} is named twice", "name each server once")
        seen.add(server.name)
    if hosts:
        clients = resolve_hosts({"inventory": inventory, "hosts": hosts} if inventory else hosts, base, say)
    else:
        names = {server.name for server in found}
        clients = tuple(host for host in known.values() if host.name not in names) or (THIS_HOST,)
    return Places(clients, found)


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
        hosts: All that is known: those of the testbed or of the inventory. A server that is one of them is entered to
            start iperf3 there; of others it is tried whether somebody runs one at its usual port.
    """
    known = {host.name: host for host in hosts} | {host.address: host for host in hosts}
    found: dict[str, Server] = {}
    for target in study.targets.values():
        for name, port in target.services:
            host = known.get(name)
            link = target.ceilings.link or (host.link if host is not None else None)
            if host is None:
                found.setdefault(name, Server(name, name, None, FIRST_PORT, port, link))
            else:
                found.setdefault(host.name, Server(host.name, host.address, make_shell(host), None, port, link))
    return tuple(found.values())


@contextlib.contextmanager
def study_places(study: Study, base: Path, say: Say) -> Iterator[Places]:
    """Clients and servers of a study; its testbed is up for the length of the `with` block.

    Raises:
        AssayError: It has no network target, or its hosts cannot be found.
    """
    if not any(target.services for target in study.targets.values()):
        raise AssayError("no target of the study is reached over a network", "name servers: --servers LIST")
    with _hosts(study, base, say) as (clients, others):
        yield Places(clients, from_study(study, [*clients, *others]))


@contextlib.contextmanager
def _hosts(study: Study, base: Path, say: Say) -> Iterator[tuple[tuple[Host, ...], tuple[Host, ...]]]:
    """The study's clients, and all other hosts that are known."""
    if study.testbed is None:
        inventory = study.hosts.inventory
        others = resolve_hosts({"inventory": inventory}, base) if inventory else ()
        yield resolve_hosts(study.hosts.written, base, say), others
        return
    from assay.site.box.box import load_box

    with brought_up(load_box(study.testbed, base), say) as box:
        yield chosen_hosts(box, study.hosts), box_hosts(box)
