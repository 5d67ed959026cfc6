"""A testbed while something is measured in it, and its hosts."""

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.model.base import AssayError
from assay.model.site.host import Host
from assay.model.study.hosts import Hosts, expanded
from assay.run.listener import Say

if TYPE_CHECKING:
    from assay.model.site.box import Box
    from assay.site.box.running import RunningBox

CLIENT, SERVER = "client", "server"
"""Roles of the hosts of a box. Its clients generate the load, unless a study names others."""


@contextlib.contextmanager
def brought_up(box: "Box", say: Say) -> Iterator["RunningBox"]:
    """The box, up for the length of the `with` block; if this process is killed, the next look at boxes removes it.

    Raises:
        AssayError: It cannot be brought up.
    """
    from assay.site.box.up import bring_up

    say(f"testbed {box.name}: {box.description}" if box.description else f"testbed {box.name}")
    # The same description may be used several times at once: each has a box of its own.
    running = bring_up(box, f"{box.name[:16].rstrip('-')}-run-{os.getpid()}", owned=True)
    try:
        yield running
    finally:
        if left := running.down():
            say(f"testbed {box.name}: {left}")


def box_hosts(box: "RunningBox") -> tuple[Host, ...]:
    """The living hosts of a box that is up, with their links as its file states them."""
    return tuple(
        Host(
            name=host.name,
            address=host.address,
            kind="box",
            enter=tuple(box.enter(host.name)),
            link=host.link / 8 if host.link else None,
        )
        for host in box.hosts
        if box.alive(host.name)
    )


def clients_of(box: "Box", written: Hosts) -> tuple[str, ...]:
    """Names of the hosts that generate the load of a study in a box that need not be up; see `chosen_hosts`."""
    if written.nodes:
        return tuple(expanded(written.nodes, "host"))
    return tuple(member.name for member in box.members() if CLIENT in member.spec.all_roles)


def chosen_hosts(box: "RunningBox", written: Hosts) -> tuple[Host, ...]:
    """The hosts of a box that generate the load of a study: its clients, or those that the study names.

    Raises:
        AssayError: There is no such host, or the study has an inventory beside the testbed.
    """
    if written.inventory is not None:
        raise AssayError("a study has a testbed or an inventory, not both", "remove one of the two")
    by_name = {host.name: host for host in box_hosts(box)}
    if not written.nodes:
        return tuple(by_name[host.name] for host in box.hosts if CLIENT in host.roles and host.name in by_name)
    names = expanded(written.nodes, "host")
    missing = [name for name in names if name not in by_name]
    if missing:
        raise AssayError(f"the testbed has no host {missing[0]}", f"it has {', '.join(by_name)}")
    return tuple(by_name[name] for name in names)
