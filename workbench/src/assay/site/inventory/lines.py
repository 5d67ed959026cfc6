"""Plain host files, a host or a node set on each line: those of MPI, of schedulers, and of iozone.

How many tasks a file gives to a host is of no use here: a study says what each host does.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.model.base import AssayError, LineError
from assay.model.site.host import MOST_HOSTS, Host
from assay.model.site.login import LEAST_PORT, Login, logins_of
from assay.site.inventory.names import NODE_SET_HINT, logged_in, shown, too_many, twice

_SLOTS = re.compile(r"(max[-_])?slots=\d+|ifhn=\S+")
"""Of Open MPI, and of MPICH, where it is the interface that ranks use among themselves."""
_SPACED = re.compile(r"\s*=\s*")
_STARS = re.compile(r"(.+)\*(\d+)")
_TASKS = "slots are ignored; `lanes` in the study says how much each host does"
_FOLDERS = "directories and programs of iozone are ignored; the target's `path` is the same on all hosts"


def read_lines(path: Path, text: str, tell: Callable[[str], None]) -> dict[str, Host]:
    """The hosts of a plain file.

    Args:
        path: Its name.
        text: What it says.
        tell: Called with a line on what was ignored.

    Raises:
        AssayError: A line is none of a host; the message has its number.
    """
    hosts: dict[str, Host] = {}
    notes: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        words = _SPACED.sub("=", line.split("#")[0]).split()
        if not words:
            continue
        try:
            for host in _hosts_of(words, notes):
                if hosts.setdefault(host.name, host) is not host:
                    # A line for each task, as schedulers write them.
                    notes.add(_TASKS)
                if hosts[host.name] != host:
                    raise twice(host.name)
        except AssayError as error:
            raise LineError(path, number, error.what, error.hint) from None
        if len(hosts) > MOST_HOSTS:
            raise too_many(f"{path}:{number}: all up to here")
    for note in sorted(notes):
        tell(f"note: {path}: {note}")
    if not hosts:
        raise AssayError("names no host", NODE_SET_HINT)
    return hosts


def _hosts_of(words: Sequence[str], notes: set[str]) -> list[Host]:
    """The hosts of a line, whose words are separated."""
    notes |= _ignored(words[1:])
    first, stars = words[0], _STARS.fullmatch(words[0])
    if stars:
        first = stars[1]
        notes.add(_TASKS)
    logins = logins_of(first)
    if any(login.number is not None and login.user is None for login in logins):
        notes.add(_TASKS)
        return [host for login in logins for host in logged_in(_without_tasks(login))]
    return logged_in(first)


def _without_tasks(login: Login) -> str:
    """A part of a line whose number is one of tasks, `node01:16`."""
    if login.user is not None or (login.number is not None and login.number >= LEAST_PORT):
        message = f"`{login.nodes}:{login.number}`: whether {login.number} is a port of sshd is not clear"
        raise AssayError(message, f"write USER@{login.nodes}:{login.number} for a port, or {login.nodes} alone")
    return login.nodes


def _ignored(rest: Sequence[str]) -> set[str]:
    """What there is to say of what stands behind the host.

    Raises:
        AssayError: It is of no known form.
    """
    if not rest:
        return set()
    if all(_SLOTS.fullmatch(word) for word in rest):
        return {_TASKS}
    # LSF and LAM: HOST N; SGE: HOST N QUEUE@HOST PROCESSORS.
    if rest[0].isdigit() and (len(rest) == 1 or (len(rest) == 3 and not rest[2].isdigit())):
        return {_TASKS}
    # iozone -+m: HOST DIRECTORY PROGRAM [SHELL].
    if len(rest) in (2, 3) and rest[0][:1] == rest[1][:1] == "/":
        return {_FOLDERS}
    wrong = next((word for word in rest if not _SLOTS.fullmatch(word)), rest[0])
    raise AssayError(f"`{shown(wrong).strip('`')}` after the node set", "write one node set on each line")
