"""Hosts in the notation of ssh: `bench@node1`, `bench@node[1-4]:2222`."""

import ipaddress
import re
from dataclasses import dataclass

from assay.model.units import UnitError

SSH_PORT = 22
MIN_PORT = 1024
"""Below it, a number after a host name is read as a number of tasks, as MPICH and Open MPI write it; except port 22."""
_PARTS = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\]?)+")
_NO_USER = r"(?!(?:\d+(?:\.\d+){3}|slot\d+(?:_\d+)?)@)"
"""Text before an @ that is an address of Lustre (`10.0.0.1@tcp`) or a slot of HTCondor (`slot1@node1`), and no user."""
_LOGIN = re.compile(
    rf"{_NO_USER}(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9._\\-]*)@)?(?P<nodes>[^@:\s!&^]+)(?::(?P<number>\d{{1,5}}))?",
    re.ASCII,
)
_IPV6 = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9._\\-]*)@)?"
    r"(?:\[(?P<inner>[^\[\]]+)\](?::(?P<number>\d{1,5}))?|(?P<plain>[^\[\]@]+))",
    re.ASCII,
)


@dataclass(frozen=True)
class Login:
    """A node set, and how to log in on its hosts.

    Attributes:
        nodes: The node set.
        user: User to log in as; None: the default of ssh.
        number: Number after the colon; None without one.
    """

    nodes: str
    user: str | None = None
    number: int | None = None

    @property
    def port(self) -> int | None:
        """The number as a port of sshd; None without a number.

        Raises:
            UnitError: It may be a number of tasks, or is no valid port.
        """
        if self.number is None:
            return None
        if self.user is None and self.number < MIN_PORT and self.number != SSH_PORT:
            message = f"`{self.nodes}:{self.number}`: {self.number} may be tasks, and not a port"
            raise UnitError(message, f"write {self.nodes}; tasks are `lanes` or `tasks_per_host` in the study")
        if not 0 < self.number < 1 << 16:
            raise UnitError(f"`{self.nodes}:{self.number}`: there is no such port", "write a port of 1 to 65535")
        return self.number


def parse_logins(written: str) -> list[Login]:
    """Split a node set into logins if a part has a user or a port; else return the whole as a single login."""
    parts = [part.strip() for part in _PARTS.findall(written)]
    candidates = [_LOGIN.fullmatch(part) for part in parts]
    matches = [match for match in candidates if match]
    if len(matches) < len(parts) or not any(match["user"] or match["number"] for match in matches):
        return [Login(written)]
    return [
        Login(match["nodes"], match["user"], int(match["number"]) if match["number"] else None) for match in matches
    ]


def ipv6_login(written: str) -> Login | None:
    """Return the login at `2001:db8::1`, `[2001:db8::1]:2222` or `bench@[2001:db8::1]`, with the address as its nodes.

    None if there is no IPv6 address.
    """
    match = _IPV6.fullmatch(written)
    if match is None:
        return None
    address = match["inner"] or match["plain"]
    try:
        plain = str(ipaddress.IPv6Address(address))
    except ValueError:
        return None
    return Login(plain, match["user"], int(match["number"]) if match["number"] else None)
