"""A site: where the hosts of a run, its servers and its targets come from.

A run does the same three things with every site: check that it has enough hosts, bring it up, and take it down again.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from assay.model.base import EXIT_REFUSED, AssayError, PrintLine
from assay.model.site.host import Host, HostMount
from assay.model.study.target import Target


@dataclass(frozen=True)
class SiteState:
    """What a site provides while it is up.

    Attributes:
        clients: Hosts that may generate the load, in order.
        servers: Hosts that serve storage, if the site knows them.
        created_hosts: Hosts that the site creates and removes; empty if the hosts existed before.
        other_hosts: Hosts other than the clients that the site can reach.
        targets: Name -> target whose address is known only now; it replaces the study's target of that name.
        server_facts: `server NAME` -> facts about a started server, for the result.
        engine_variables: Target -> environment variables that its engines get in addition; they override existing ones.
        mounts: Host -> mounts made with it, which can be mounted again.
        is_local: Only this machine generates the load, so that no host has to be entered.
    """

    clients: tuple[Host, ...]
    servers: tuple[Host, ...] = ()
    created_hosts: tuple[Host, ...] = ()
    other_hosts: tuple[Host, ...] = ()
    targets: Mapping[str, Target] = field(default_factory=dict)
    server_facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    engine_variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mounts: Mapping[str, Sequence[HostMount]] = field(default_factory=dict)
    is_local: bool = False


REACH_SECONDS, PARALLEL_HOSTS = 1.5, 8
"""Seconds to reach a host by ssh and copy the engine to it, and how many hosts are reached in parallel."""
SERVER_SECONDS = 1.0
"""Time until a started server answers. Measured: 0.2 to 3 s; moto, DynamoDB and GlusterFS take longest."""


class Site(Protocol):
    """Where hosts, servers and targets come from."""

    @property
    def more_hosts_hint(self) -> str:
        """How to get more hosts, as a hint in a message."""
        ...

    @property
    def files(self) -> Mapping[str, Callable[[], bytes]]:
        """Files that a run must store to find this site again: name in the run's folder -> function that reads it.

        None unless a site has some.
        """
        return {}

    @property
    def mount_points(self) -> Sequence[str]:
        """Mount points of the site on the hosts that may generate the load; none unless a site has some."""
        return ()

    def filesystem_at(self, _host: str, _path: str) -> str:
        """Return the type of the file system that a path of a host is on, as far as it is known before the site is up.

        Args:
            _host: Name of the host.
            _path: Absolute path.

        Returns:
            The type, such as ext4; empty if it is not known.
        """
        return ""

    def check(self, needed: int) -> None:
        """Check that the site can satisfy the study in principle, now or later, here or on another machine.

        Args:
            needed: Clients that are needed.

        Raises:
            AssayError: It cannot, or has too few hosts.
        """
        ...

    def check_ready(self, needed: int) -> None:
        """Check that the site could come up now: its files, programs and rights. No other host is contacted.

        Args:
            needed: Clients that are needed.

        Raises:
            AssayError: It could not.
        """
        ...

    def startup_seconds(self, needed: int) -> float:
        """Estimate the seconds that coming up takes on an idle machine.

        Args:
            needed: Clients that are needed.
        """
        ...

    def up(self, print_line: PrintLine) -> SiteState:
        """Bring the site up. Everything is recorded before it is made, and removed if this fails.

        Raises:
            AssayError: The site cannot come up.
        """
        ...

    def down(self, print_line: PrintLine) -> None:
        """Remove everything that `up` made, and print what could not be removed."""
        ...


@contextlib.contextmanager
def running_site(site: Site, needed: int, print_line: PrintLine) -> Iterator[SiteState]:
    """Bring a site up, yield its state, and take it down at the end of the `with` block.

    Args:
        site: The site.
        needed: Clients that are needed.
        print_line: Prints a line for the user.

    Raises:
        AssayError: The site cannot come up, or has too few clients.
    """
    site.check(needed)
    site.check_ready(needed)
    state = site.up(print_line)
    try:
        refuse_too_few(needed, [host.name for host in state.clients], site.more_hosts_hint)
        yield state
    finally:
        site.down(print_line)


def refuse_too_few(needed: int, names: list[str], hint: str) -> None:
    """Refuse a site with fewer clients than are needed.

    Raises:
        AssayError: There are fewer.
    """
    if len(names) < needed:
        message = f"the study needs {needed} hosts, and has {len(names)}: {', '.join(names)}"
        raise AssayError(message, hint, EXIT_REFUSED)
