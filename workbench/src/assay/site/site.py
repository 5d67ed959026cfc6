"""A site: where the hosts of a run, its servers and its targets come from.

Whatever the source is, a run asks it the same three things: whether it has enough, to come up, and to be given back.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from assay.model.base import EXIT_REFUSED, AssayError, Say
from assay.model.site.host import Host, HostMount
from assay.model.study.target import Target


@dataclass(frozen=True)
class Standing:
    """What a site gives while it is up.

    Attributes:
        clients: Hosts that may generate the load, in order.
        servers: Hosts that serve storage, as far as the site knows of them.
        made: Hosts that came to be with the site, and go with it; none where they were there before.
        known: Hosts besides the clients to which the site knows the way.
        targets: Name -> a target whose place is known only now; it goes before the study's target of that name.
        environment: `server NAME` -> what is known of what was started, for the result.
        variables: Target -> what the environment of its engines has besides, or in place of what is there.
        mounts: Host -> what was mounted on it when it was made, and can be mounted again.
        here: This machine alone generates the load, and no host has to be entered.
    """

    clients: tuple[Host, ...]
    servers: tuple[Host, ...] = ()
    made: tuple[Host, ...] = ()
    known: tuple[Host, ...] = ()
    targets: Mapping[str, Target] = field(default_factory=dict)
    environment: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mounts: Mapping[str, Sequence[HostMount]] = field(default_factory=dict)
    here: bool = False


REACH_SECONDS, REACHED_AT_ONCE = 1.5, 8
"""To reach a host by ssh and to give it the engine; so many hosts are reached side by side."""
SERVER_SECONDS = 1.0
"""To start a server and to wait until it answers. Measured: 0.2 to 3 s; moto, DynamoDB and GlusterFS take longest."""


class Site(Protocol):
    """Where hosts, servers and targets come from."""

    @property
    def more(self) -> str:
        """How to get more hosts, for a message."""
        ...

    @property
    def files(self) -> Mapping[str, Callable[[], bytes]]:
        """The files that a run must keep to find this site again: the name it keeps each by -> what reads it."""
        ...

    @property
    def mounted(self) -> Sequence[str]:
        """Where the hosts that may generate the load have something mounted, by the site."""
        ...

    def check(self, needed: int) -> None:
        """See whether the site can be as the study needs it, wherever and whenever that is measured.

        Args:
            needed: Clients that are needed.

        Raises:
            AssayError: It is not, or has too few.
        """
        ...

    def ready(self, needed: int) -> None:
        """See whether it could come up now: its files, programs and rights. No other host is asked.

        Args:
            needed: Clients that are needed.

        Raises:
            AssayError: It could not.
        """
        ...

    def takes(self, needed: int) -> float:
        """About how many seconds it takes to come up, on an idle machine.

        Args:
            needed: Clients that are needed.
        """
        ...

    def up(self, say: Say) -> Standing:
        """Let the site come to be; what is made is recorded before, and gone if this fails.

        Raises:
            AssayError: It cannot be.
        """
        ...

    def down(self, say: Say) -> None:
        """Give back all that `up` made; says what is left."""
        ...


@contextlib.contextmanager
def brought_up(site: Site, needed: int, say: Say) -> Iterator[Standing]:
    """What a site gives, which is given back at the end of the `with` block.

    Args:
        site: The site.
        needed: Clients that are needed.
        say: Takes what there is to say.

    Raises:
        AssayError: It cannot come up, or has too few clients.
    """
    site.check(needed)
    site.ready(needed)
    standing = site.up(say)
    try:
        refuse_too_few(needed, [host.name for host in standing.clients], site.more)
        yield standing
    finally:
        site.down(say)


def refuse_too_few(needed: int, names: list[str], hint: str) -> None:
    """Refuse a site with fewer clients than are needed.

    Raises:
        AssayError: It has fewer.
    """
    if len(names) < needed:
        message = f"the study needs {needed} hosts, and has {len(names)}: {', '.join(names)}"
        raise AssayError(message, hint, EXIT_REFUSED)
