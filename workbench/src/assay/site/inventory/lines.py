"""Plain host files with hosts or node sets on each line: those of MPI, of schedulers, of iozone, and /etc/hosts.

Numbers of tasks are ignored: the study says how many lanes each host has.
"""

import ipaddress
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.model.base import AssayError, LineError
from assay.model.site.host import MAX_HOSTS, Host
from assay.model.site.login import MIN_PORT, Login, parse_logins
from assay.site.inventory.names import NODE_SET_HINT, duplicate_error, login_hosts, node_names, shown, too_many_error

_SLOTS = re.compile(r"((max[-_])?slots|cpus?|count|sockets|cores)=\d+|(ifhn|binding|user)=\S+")
"""Options of Open MPI (slots and what it also calls them), LAM (`cpu`), and MPICH (`ifhn`, the interface that ranks use
among themselves, `binding`, `user`)."""
_USER = "user="
_ADAPTER = re.compile(r"([^:\[\]]+):\d+:\S+")
"""HOST:PROCESSES:ADAPTER of MVAPICH2."""
_COMMENT = re.compile(r"#.*|^\s*[!*].*")
"""IBM Parallel Environment begins comments with `!` or `*`, all others with `#`."""
_SPACED = re.compile(r"\s*=\s*")
_STARS = re.compile(r"(.+)\*(\d+)")
_TASKS = "slots are ignored; `lanes` in the study sets the load of each host"
_FOLDERS = "directories and programs of iozone are ignored; the target's `path` is the same on all hosts"


def read_lines(path: Path, text: str, report: Callable[[str], None]) -> dict[str, Host]:
    """Return the hosts of a plain file.

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
                if hosts.setdefault(host.name, host) is not host:
                    # Schedulers write a host once for each task.
                    notes.add(_TASKS)
                if hosts[host.name] != host:
                    raise duplicate_error(host.name)
        except AssayError as error:
            raise LineError(path, number, error.what, error.hint) from None
        if len(hosts) > MAX_HOSTS:
            raise too_many_error(f"{path}:{number}: all up to here")
    for note in sorted(notes):
        report(f"note: {path}: {note}")
    if not hosts:
        raise AssayError("names no host", NODE_SET_HINT)
    return hosts


def _hosts_of(words: Sequence[str], notes: set[str]) -> list[Host]:
    """Return the hosts of a line that is split into words."""
    if _is_address(words[0]) and len(words) > 1 and not words[1].isdigit():
        return _of_hosts_file(words, notes)
    notes |= _ignored(words[1:])
    first = words[0]
    if tasks := _STARS.fullmatch(first) or _ADAPTER.fullmatch(first):
        first = tasks[1]
        notes.add(_TASKS)
    logins = parse_logins(first)
    if any(login.number is not None and login.user is None for login in logins):
        notes.add(_TASKS)
        return [host for login in logins for host in login_hosts(_without_tasks(login))]
    hosts = login_hosts(first)
    user = next((word.removeprefix(_USER) for word in words[1:] if word.startswith(_USER)), None)
    return hosts if user is None else [Host(name=host.name, user=user, port=host.port) for host in hosts]


def _is_address(word: str) -> bool:
    try:
        ipaddress.ip_address(word)
    except ValueError:
        return False
    return True


def _of_hosts_file(words: Sequence[str], notes: set[str]) -> list[Host]:
    """Return the host of `ADDRESS NAME ALIAS ...` in the format of /etc/hosts (hosts(5)); none for this machine."""
    address = ipaddress.ip_address(words[0])
    if address.is_loopback or address.is_multicast or address.is_unspecified:
        notes.add("names of this machine and of multicast addresses are ignored")
        return []
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
        return set() if all(word.startswith(_USER) for word in rest) else {_TASKS}
    # LSF and LAM: HOST N; SGE: HOST N QUEUE@HOST PROCESSORS.
    if rest[0].isdigit() and (len(rest) == 1 or (len(rest) == 3 and not rest[2].isdigit())):
        return {_TASKS}
    # iozone -+m: HOST DIRECTORY PROGRAM [SHELL].
    if len(rest) in (2, 3) and rest[0][:1] == rest[1][:1] == "/":
        return {_FOLDERS}
    wrong = next((word for word in rest if not _SLOTS.fullmatch(word)), rest[0])
    raise AssayError(f"`{shown(wrong).strip('`')}` after the node set", "write one node set on each line")
