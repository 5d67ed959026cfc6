"""Hosts as one types them for ssh: `bench@node1`, `bench@node[1-4]:2222`."""

import re
from dataclasses import dataclass

from assay.model.units import UnitError

SSH_PORT = 22
LEAST_PORT = 1024
"""Below it a number behind a name is one of tasks, as MPICH and Open MPI write them, except ssh's own."""
_PARTS = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\]?)+")
_LOGIN = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9._\\-]*)@)?(?P<nodes>[^@:\s!&^]+)(?::(?P<number>\d{1,5}))?", re.ASCII
)


@dataclass(frozen=True)
class Login:
    """A node set, and how to log in on its hosts.

    Attributes:
        nodes: The node set.
        user: To log in as; None leaves it to ssh.
        number: What stands behind the colon; None if nothing does.
    """

    nodes: str
    user: str | None = None
    number: int | None = None

    @property
    def port(self) -> int | None:
        """The number as a port of sshd.

        Raises:
            UnitError: It may be one of tasks, or is no port.
        """
        if self.number is None:
            return None
        if self.user is None and self.number < LEAST_PORT and self.number != SSH_PORT:
            message = f"`{self.nodes}:{self.number}`: {self.number} may be tasks, and not a port"
            raise UnitError(message, f"write {self.nodes}; tasks are `lanes` or `tasks_per_host` in the study")
        if not 0 < self.number < 1 << 16:
            raise UnitError(f"`{self.nodes}:{self.number}`: there is no such port", "write a port of 1 to 65535")
        return self.number


def logins_of(written: str) -> list[Login]:
    """The parts of a node set, split where one of them has a user or a port; else the whole as it is written."""
    parts = [part.strip() for part in _PARTS.findall(written)]
    found = [_LOGIN.fullmatch(part) for part in parts]
    matches = [match for match in found if match]
    if len(matches) < len(parts) or not any(match["user"] or match["number"] for match in matches):
        return [Login(written)]
    return [
        Login(match["nodes"], match["user"], int(match["number"]) if match["number"] else None) for match in matches
    ]
