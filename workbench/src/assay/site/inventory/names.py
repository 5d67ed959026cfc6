"""Host names written as node sets, with `@GROUP` where groups are known."""

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assay.model.base import AssayError
from assay.model.site.host import LOCALHOST, MAX_HOSTS, THIS_HOST, Host, is_host_name
from assay.model.site.login import Login, parse_logins
from assay.model.site.nodes import SET_OPERATORS, TooManyNodesError, read_nodes
from assay.model.units import UnitError, choices_hint
from assay.model.units import display_value as shown_as_written

MAX_MEMBERS = 16 * MAX_HOSTS
"""Most members of all groups of an inventory together, and of all groups that one node set names."""
NODE_SET_HINT = "write node sets as client1, client[1-8] or rack[1-2]n[01-04]"
_NO_ADDRESS = re.compile(r"[\d.]*\.[\d.-]*")
"""Text that is an IPv4 address or a damaged one: the last part of a host name is no number (RFC 3696)."""
_GROUP = re.compile(r"(?<![^\s,!&^])@([^\s,!&^]*)")
Groups = Mapping[str, str]
"""Name of a group -> node set."""


class HostInventory(NamedTuple):
    """What a file or a tool says of hosts.

    Attributes:
        hosts: By their names.
        groups: Name of a group -> node set.
        clients: Names of those that generate the load if a study names none; None for all, empty if that is unknown.
    """

    hosts: Mapping[str, Host]
    groups: Groups
    clients: Sequence[str] | None = None


def node_names(written: object, groups: Groups | None = None) -> list[str]:
    """Return the host names in a node set or a list of node sets.

    Args:
        written: Text, or a list of texts.
        groups: Group name -> node set, for `@NAME`.

    Raises:
        AssayError: As `resolve_hosts`.
    """
    items = written if isinstance(written, list | tuple) else [written]
    names: list[str] = []
    for item in items:
        names += _expanded(item, groups or {})
        if len(names) > MAX_HOSTS:
            raise too_many_error(shown(written))
    if not names:
        raise AssayError(f"{shown(written)} names no host", NODE_SET_HINT).at("hosts")
    refuse_duplicates(names)
    return names


def login_hosts(written: object) -> list[Host]:
    """Return the hosts of a node set or a list of node sets, each perhaps as `USER@NODES:PORT`.

    Raises:
        AssayError: As `resolve_hosts`.
    """
    hosts: list[Host] = []
    for item in written if isinstance(written, list | tuple) else [written]:
        if not isinstance(item, str):
            raise _not_a_node_set(item)
        for login in parse_logins(item):
            hosts += _of_login(login)
            if len(hosts) > MAX_HOSTS:
                raise too_many_error(shown(written))
    if not hosts:
        raise AssayError(f"{shown(written)} names no host", NODE_SET_HINT).at("hosts")
    refuse_duplicates(host.name for host in hosts)
    return hosts


def _of_login(login: Login) -> list[Host]:
    try:
        port = login.port
    except UnitError as error:
        raise error.at("hosts") from None
    names = _expanded(login.nodes, {})
    return [THIS_HOST if name == LOCALHOST else Host(name=name, user=login.user, port=port) for name in names]


def _expanded(written: object, groups: Groups) -> list[str]:
    """Return the names in one node set, in its order."""
    if not isinstance(written, str):
        raise _not_a_node_set(written)
    written = " ".join(written.split())
    if not written:
        raise AssayError("hosts: the node set is empty", NODE_SET_HINT)
    if not written.isprintable():
        raise AssayError(f"{written!a} has unprintable characters", NODE_SET_HINT).at("hosts")
    if written == LOCALHOST:
        return [LOCALHOST]
    _refuse_unknown_groups(written, groups)
    member_count = sum(groups[name].count(" ") + 1 for name in re.findall(_GROUP, written))
    if member_count > MAX_MEMBERS:
        raise too_many_error(shown(written))
    try:
        names = read_nodes(written, MAX_HOSTS, {name: groups[name].split() for name in re.findall(_GROUP, written)})
    except TooManyNodesError:
        raise too_many_error(shown(written)) from None
    except ValueError as error:
        raise AssayError(f"{shown(written)} is not a node set: {error}", NODE_SET_HINT).at("hosts") from None
    if set(written) & set(f"{SET_OPERATORS}@"):
        names = list(dict.fromkeys(names))
    refuse_duplicates(names)
    wrong = next((name for name in names if not is_host_name(name)), None)
    if wrong is not None:
        hint = "names have letters, digits, `.`, `_` and `-`; with user and port: bench@node1:2222"
        raise AssayError(f"{shown(wrong)} is not a host name", hint).at("hosts")
    damaged = next((name for name in names if _NO_ADDRESS.fullmatch(name) and not is_ip(name)), None)
    if damaged is not None:
        hint = "write four numbers up to 255, and several addresses as 10.0.0.[1-4]"
        raise AssayError(f"{shown(damaged)} is not an IP address", hint).at("hosts")
    return names


def _not_a_node_set(written: object) -> AssayError:
    return AssayError(f"{shown(written)} is not a node set", NODE_SET_HINT).at("hosts")


def _refuse_unknown_groups(text: str, groups: Groups) -> None:
    for name in re.findall(_GROUP, text):
        if name not in groups:
            hint = choices_hint(name, groups, none="groups are defined in an inventory: write hosts: {inventory: FILE}")
            raise AssayError(f"there is no group `@{name}`", hint).at("hosts")


def is_ip(text: str) -> bool:
    """Whether a text is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def ipv6_name(address: str) -> str:
    """Return a name for a host that has only an IPv6 address: names of hosts have no colons."""
    return re.sub(r"[^A-Za-z0-9.]", "-", address).lstrip("-")


def refuse_duplicates(names: Iterable[str]) -> None:
    """Refuse a name that comes twice; case makes no difference in names of hosts (RFC 4343).

    Raises:
        AssayError: A name comes twice.
    """
    earlier: set[str] = set()
    for name in names:
        if name.lower() in earlier:
            raise duplicate_error(name)
        earlier.add(name.lower())


def duplicate_error(name: str) -> AssayError:
    """Return the error for a host that is named twice."""
    return AssayError(f"{name} is named twice", "name each host once; `lanes` sets the load of each host").at("hosts")


def shown(written: object) -> str:
    """Return what was written, shortened and on one line, for messages."""
    text = " ".join(shown_as_written(written).split())
    return text if text.isprintable() else ascii(text)


def too_many_error(what: str) -> AssayError:
    """Return the error for more than `MAX_HOSTS` hosts."""
    return AssayError(f"{what} is more than {MAX_HOSTS} hosts", "use fewer hosts and more lanes").at("hosts")
