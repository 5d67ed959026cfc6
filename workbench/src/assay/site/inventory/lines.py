"""Plain host files with hosts or node sets on each line: those of MPI, of schedulers, of iozone, and /etc/hosts.

Numbers of tasks are ignored: the study says how many lanes each host has.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from assay.model.base import AssayError, LineError
from assay.model.site.host import MAX_HOSTS, Host, is_host_name
from assay.model.site.login import MIN_PORT, Login, ipv6_login, parse_logins
from assay.site.inventory.names import (
    NODE_SET_HINT,
    duplicate_error,
    ipv6_name,
    is_ip,
    login_hosts,
    node_names,
    shown,
    too_many_error,
)

_USER = r"user(?:[-_]?name)?=(?P<user>[A-Za-z0-9_][\w.\\-]*)"
_SLOTS = re.compile(
    rf"((max[-_])?slots([-_]max)?|cpus?([-_]max)?|count|boards|(cores[-_]per[-_])?sockets?|cores)=\d+"
    rf"|(ifhn|ifname|binding)=\S+|{_USER}"
)
"""Options of Open MPI (slots under all its words, `username`), LAM (`cpu`, `user`), and MPICH (`ifhn`, `ifname`:
the interface that ranks use among themselves, `binding`)."""
_ADAPTER = re.compile(r"([^:\[\]]+):\d+:\S+")
"""HOST:PROCESSES:ADAPTER of MVAPICH2."""
_COMMENT = re.compile(r"#.*|^\s*[!*].*")
"""IBM Parallel Environment begins comments with `!` or `*`, all others with `#`."""
_SPACED = re.compile(r"\s*=\s*")
_STARS = re.compile(r"(.+)\*(\d+)")
_HEADINGS = re.compile(r"(host|node)[-_]?(name|list)?s?|(name|ip|address|fqdn|ipaddress)(s|es)?", re.I)
"""Words above a column of hosts."""
_OTHER_NETWORK = re.compile(
    r"(.+?)[-_.]?(ib\d*|opa\d*|hsn\d*|eth\d+|bond\d+|bmc|ipmi|ilom?|i?drac|imm|xcc|oob|mgmt|mgt|console)", re.I
)
"""Name of a machine in another network: `node1-ib`, `node1-bmc`."""
_TASKS = "slots are ignored; `lanes` in the study sets the load of each host"
_FOLDERS = "directories and programs of iozone are ignored; the target's `path` is the same on all hosts"


def read_lines(path: Path, text: str, report: Callable[[str], None]) -> dict[str, Host]:
    """Return the hosts of a plain file, by their names.

    Args:
        path: Path of the file, for messages.
        text: Its text.
        report: Called with a line about what was ignored.

    Raises:
        AssayError: A line does not name a host; the message has its number.
    """
    hosts: dict[str, Host] = {}
    notes: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        words = _SPACED.sub("=", _COMMENT.sub("", line)).split()
        if not words:
            continue
        try:
            for host in _hosts_of(words, notes):
                first = hosts.setdefault(host.name.lower(), host)
                if first is not host:
                    notes.add(_repetition(first, host))
            if len(hosts) > 1 and _HEADINGS.fullmatch(next(iter(hosts))):
                message = f"`{next(iter(hosts))}` above it looks like the heading of a column"
                raise AssayError(message, "remove that line, or begin it with `#`")
        except AssayError as error:
            raise LineError(path, number, error.what, error.hint) from None
        if len(hosts) > MAX_HOSTS:
            raise too_many_error(f"{path}:{number}: all up to here")
    for note in sorted(notes):
        report(f"note: {path}: {note}")
    if not hosts:
        raise AssayError("names no host", NODE_SET_HINT)
    return {host.name: host for host in hosts.values()}


def own_networks(hosts: Mapping[str, Host], report: Callable[[str], None]) -> list[str] | None:
    """Return the names that are not those of a listed machine in another network; None for all.

    Only a file as /etc/hosts, which has addresses, names machines once for each network.
    """
    short = {host.name.split(".")[0] for host in hosts.values() if host.address != host.name}
    others = [
        name
        for name, host in hosts.items()
        if host.address != name
        and (match := _OTHER_NETWORK.fullmatch(name.split(".")[0])) is not None
        and match[1] in short
    ]
    if not others:
        return None
    report(f"note: {', '.join(others[:8])}: other networks of listed hosts; no load unless the study names them")
    return [name for name in hosts if name not in set(others)]


def _repetition(first: Host, again: Host) -> str:
    """Return a note on a host that is named again: schedulers write it once for each task.

    Raises:
        AssayError: It is described in another way.
    """
    if is_ip(first.address) and is_ip(again.address) and (":" in first.address) != (":" in again.address):
        return "of an IPv4 and an IPv6 address of one name the first is taken"
    if (first.address.lower(), first.user, first.port) != (again.address.lower(), again.user, again.port):
        raise duplicate_error(again.name)
    return _TASKS


def _hosts_of(words: Sequence[str], notes: set[str]) -> list[Host]:
    """Return the hosts of a line that is split into words."""
    if is_ip(words[0]) and len(words) > 1 and not words[1].isdigit() and all(map(is_host_name, words[1:])):
        return _of_hosts_file(words, notes)
    notes |= _ignored(words[1:])
    first = words[0]
    if tasks := _STARS.fullmatch(first) or _ADAPTER.fullmatch(first):
        first = tasks[1]
        notes.add(_TASKS)
    hosts = _of_first_word(first, notes)
    if len({is_ip(host.name) for host in hosts}) > 1:
        message = f"{shown(first)} has a name and an address, which may be one machine"
        raise AssayError(message, "write `ADDRESS NAME`, or one host on each line")
    user = next((match["user"] for word in words[1:] if (match := _SLOTS.fullmatch(word)) and match["user"]), None)
    return hosts if user is None else [host.model_copy(update={"user": user, "kind": "ssh"}) for host in hosts]


def _of_first_word(word: str, notes: set[str]) -> list[Host]:
    if (login := ipv6_login(word)) is not None:
        return [Host(name=ipv6_name(login.nodes), address=login.nodes, user=login.user, port=login.port)]
    logins = parse_logins(word)
    if any(login.number is not None and login.user is None for login in logins):
        notes.add(_TASKS)
        return [host for login in logins for host in login_hosts(_without_tasks(login))]
    return login_hosts(word)


def _of_hosts_file(words: Sequence[str], notes: set[str]) -> list[Host]:
    """Return the host of `ADDRESS NAME ALIAS ...` in the format of /etc/hosts (hosts(5)); none for this machine."""
    address = ipaddress.ip_address(words[0])
    if address.is_loopback or address.is_multicast or address.is_unspecified or address.is_reserved:
        notes.add("names of this machine and of addresses for many machines are ignored")
        return []
    if any(map(is_ip, words[1:])):
        raise AssayError(f"{shown(words[1])} is no name for {words[0]}", "write ADDRESS NAME, or one host on each line")
    (name,) = node_names(words[1])
    return [Host(name=name, address=words[0])]


def _without_tasks(login: Login) -> str:
    """Return the node set of `node01:16`, where the number counts tasks.

    Raises:
        AssayError: The number may be a port.
    """
    if login.user is not None or (login.number is not None and login.number >= MIN_PORT):
        message = f"`{login.nodes}:{login.number}`: whether {login.number} is a port of sshd is ambiguous"
        raise AssayError(message, f"write USER@{login.nodes}:{login.number} for a port, or {login.nodes} alone")
    return login.nodes


def _ignored(rest: Sequence[str]) -> set[str]:
    """Return notes on the ignored words behind a host.

    Raises:
        AssayError: The words have no known form.
    """
    if not rest:
        return set()
    if all(_SLOTS.fullmatch(word) for word in rest):
        return set() if all(re.fullmatch(_USER, word) for word in rest) else {_TASKS}
    # LSF and LAM: HOST N; SGE: HOST N QUEUE@HOST PROCESSORS.
    if rest[0].isdigit() and (len(rest) == 1 or (len(rest) == 3 and not rest[2].isdigit())):
        return {_TASKS}
    # iozone -+m: HOST DIRECTORY PROGRAM [SHELL].
    if len(rest) in (2, 3) and rest[0][:1] == rest[1][:1] == "/":
        return {_FOLDERS}
    wrong = next((word for word in rest if not _SLOTS.fullmatch(word)), rest[0])
    raise AssayError(f"`{shown(wrong).strip('`')}` after the node set", "write one node set on each line")
