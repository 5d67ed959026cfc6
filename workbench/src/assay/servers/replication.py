"""Checks that the servers of a box can keep copies on different hosts, as their options require."""

from collections.abc import Mapping, Sequence

from assay.model.base import AssayError
from assay.model.site.box_servers import BoxServer
from assay.model.site.mirrors import grouping_fault
from assay.servers.kinds import ServerKind, load_kind

Servers = Mapping[str, Sequence[BoxServer]]
"""Host -> its servers, in the order of the box."""


def check_replication(servers: Servers, where: str) -> None:
    """Check that replicated data can be spread over enough hosts.

    Args:
        servers: Servers of the box.
        where: Name of the box, for the message.

    Raises:
        AssayError: It cannot, for a server.
    """
    for host, found in servers.items():
        for server in found:
            kind = load_kind(server.kind)
            _check(servers, f"{where}: {host}: {server.kind}", kind, server)


def _check(servers: Servers, where: str, kind: ServerKind, server: BoxServer) -> None:
    others = {host: one for host, found in servers.items() for one in found if one.kind == kind.kind}
    if kind.same_names and (other := next((host for host, one in others.items() if one.offers != server.offers), None)):
        raise AssayError(f"{where} offers other names than on {other}", "give the same names to all hosts that run it")
    for option, values in kind.options.items():
        value = server.options.get(option, values[0])
        if (least := kind.min_hosts.get(value, 1)) > len(others):
            raise AssayError(
                f"{where}: {option}: {value} needs {least} hosts, not {len(others)}", "add hosts that run it"
            )
        if value in kind.copies and (why := grouping_fault(_holders(servers, server), kind.copies[value])):
            raise AssayError(f"{where}: {option}: {value} cannot keep its copies on different hosts: {why[0]}", why[1])


def _holders(servers: Servers, server: BoxServer) -> list[str]:
    """Return the host of each thing that a server keeps data on: things of its own kind, or those it passes on."""
    kind = server.kind
    if server.source is not None:
        upstream = (
            one for one in servers.get(server.upstream, ()) if server.upstream_name in [o.name for o in one.offers]
        )
        kind = next((one.kind for one in upstream), kind)
    return [host for host, found in servers.items() for one in found if one.kind == kind for _ in one.offers]
