"""Computes what links carry at most, from measurements of bandwidth between pairs of client and server."""

from collections.abc import Iterable, Iterator, Sequence

from assay.model.result.network import (
    Direction,
    HostLink,
    LimitPlace,
    LinkCeiling,
    LinkLimit,
    LinkPlace,
    NetworkMeasurements,
    PathMeasurement,
)
from assay.model.units import about_number, about_size

DIRECTIONS: tuple[Direction, ...] = ("write", "read")
PLACES: tuple[LinkPlace, ...] = ("client", "server", "path", "shared")
SLOW_SHARE = 0.9
"""A link should carry at least this share of its rate as payload: TCP over Ethernet has 94 % with packets of 1500."""
FULL_SHARE = 0.8
"""At or above this share of its known rate, a link counts as full."""
SELF_LIMITED_SHARE = 0.95
"""Clients that together reach this share of the sum of what each does alone are limited only by themselves."""
EQUAL_RATIO = 1.05
"""Limits whose ratio is below this are considered equal."""


def link_ceilings(network: NetworkMeasurements) -> tuple[LinkCeiling, ...]:
    """Return what each client's link, each server's link and a link shared by all carry in each direction.

    A client's ceiling is the best rate it reached alone, with one server or all; a server's is the rate of all clients
    with it at once, if that is less than they could do; a shared link's is the rate of all with all, if that is less
    than both the clients' and the servers' links together. A path has a ceiling if its pair alone reaches less than
    both its links: something between them is narrower. Directions are never added: links carry both at once.
    """
    paths = [path for path in network.paths if path.bits_per_s is not None and not _loops(network, path)]
    found: list[LinkCeiling] = []
    for direction in DIRECTIONS:
        towards = [path for path in paths if path.direction == direction]
        clients = [_client(network, towards, name, direction) for name in network.host_names("client")]
        servers = [_server(network, towards, name, direction) for name in network.host_names("server")]
        between = _between(network, towards, clients, servers, direction)
        found += [*clients, *servers, *between, *_shared(towards, clients, servers, direction)]
    return tuple(sorted(found, key=lambda item: PLACES.index(item.place)))


def link_limits(
    ceilings: Sequence[LinkCeiling], clients: Sequence[str], servers: Sequence[str], direction: Direction
) -> tuple[LinkLimit, ...]:
    """Return what limits these clients when they use these servers in one direction, the tightest first.

    Among nearly equal limits the clients' comes first, then the servers': where one client fills its own link, the
    measurement cannot show that the server's is narrower.

    Args:
        ceilings: Ceilings as measured.
        clients: Names of clients.
        servers: Names of servers.
        direction: `write` or `read`.
    """
    limits = [
        *_total("client", ceilings, clients, direction),
        *_total("server", ceilings, servers, direction),
        *_paths_total(ceilings, clients, servers, direction),
        *_total("shared", ceilings, [""], direction),
    ]
    least = min((limit.value for limit in limits), default=0.0)
    close = [limit for limit in limits if limit.value <= EQUAL_RATIO * least]
    return (*close, *sorted((limit for limit in limits if limit not in close), key=lambda limit: limit.value))


def _total(
    place: LimitPlace,
    ceilings: Sequence[LinkCeiling],
    names: Sequence[str],
    direction: Direction,
) -> Iterator[LinkLimit]:
    """Yield the sum of the links of one side, if all are known."""
    key = place, direction
    chosen = [item for item in ceilings if (item.place, item.direction) == key and item.host in names]
    values = [item.value for item in chosen if item.value is not None]
    if values and len(values) == len(names):
        hosts = tuple(item.host for item in chosen if item.host)
        how = chosen[0].how if len(chosen) == 1 else f"sum of {len(chosen)}: {chosen[0].how}"
        yield LinkLimit(place=place, hosts=hosts, direction=direction, value=sum(values), how=how)


def _paths_total(
    ceilings: Sequence[LinkCeiling], clients: Sequence[str], servers: Sequence[str], direction: Direction
) -> Iterator[LinkLimit]:
    """Yield the sum of the paths, if one is narrow; a path without a ceiling of its own counts as its client's link."""
    known = {(item.place, item.host): item for item in ceilings if item.direction == direction and item.value}
    total, narrow = 0.0, []
    for client in clients:
        for server in servers:
            path = known.get(("path", f"{client} {server}"))
            item = path or known.get(("client", client))
            if item is None or item.value is None:
                return
            total += item.value
            narrow += [path] if path is not None else []
    if narrow:
        hosts = tuple(dict.fromkeys(name for item in narrow for name in item.host.split()))
        yield LinkLimit(place="shared", hosts=hosts, direction=direction, value=total, how=narrow[0].how)


def _client(
    network: NetworkMeasurements, paths: Sequence[PathMeasurement], name: str, direction: Direction
) -> LinkCeiling:
    mine = [path for path in paths if path.client == name]
    best = max((path.bits_per_s or 0.0 for path in mine if path.scope == "alone"), default=0.0)
    together = _sum(path for path in mine if path.scope == "client")
    top = max(best, together)
    how = f"{name} with {'all servers' if together > best else 'one server'}, {_tool(network)}"
    reason = "" if top else "not measured"
    stated = stated_rate(network, "client", name)
    if top and stated and top < FULL_SHARE * stated and _servers_limit(network, paths, name, top):
        reason = f"its link of {bits_text(stated)} was not filled: no server did more than {bits_text(top)}"
    return _ceiling("client", name, direction, top, how, reason)


def _servers_limit(network: NetworkMeasurements, paths: Sequence[PathMeasurement], client: str, top: float) -> bool:
    """Whether the only server of a client fills its link, or does little more with all clients than with this one."""
    servers = {path.server for path in paths if path.client == client}
    if len(servers) != 1:
        return False
    server = servers.pop()
    stated = stated_rate(network, "server", server)
    at_once = _sum(path for path in paths if path.scope == "server" and path.server == server)
    return bool(stated and top >= FULL_SHARE * stated) or 0 < at_once < 1.1 * top


def _server(
    network: NetworkMeasurements, paths: Sequence[PathMeasurement], name: str, direction: Direction
) -> LinkCeiling:
    group = [path for path in paths if path.server == name and path.scope == "server"]
    senders = {path.client for path in paths if path.server == name}
    alone = [best_alone(paths, client, name) for client in senders]
    top = _sum(group) or max(alone, default=0.0)
    how = f"{len(senders)} client{'s at once' if group else ''} with {name}, {_tool(network)}"
    stated = stated_rate(network, "server", name)
    reason = ""
    if not top:
        reason = "not measured"
    elif stated and top >= FULL_SHARE * stated:
        pass
    elif not group:
        reason = "one client alone cannot separate the server's link from its own"
    elif top >= SELF_LIMITED_SHARE * sum(alone):
        reason = f"not filled: the clients at once reach {bits_text(top)}, which is what each does alone, added"
    return _ceiling("server", name, direction, top, how, reason)


def best_alone(paths: Sequence[PathMeasurement], client: str, server: str) -> float:
    """Return the bits per second of a pair alone with the best number of connections; 0 if unknown."""
    pairs = [path for path in paths if (path.client, path.server, path.scope) == (client, server, "alone")]
    return max((path.bits_per_s or 0.0 for path in pairs), default=0.0)


def _between(
    network: NetworkMeasurements,
    paths: Sequence[PathMeasurement],
    clients: Sequence[LinkCeiling],
    servers: Sequence[LinkCeiling],
    direction: Direction,
) -> Iterator[LinkCeiling]:
    for client in clients:
        for server in servers:
            best = best_alone(paths, client.host, server.host)
            # If the server's own link is unknown, that link may be the narrow part.
            if best and client.value and server.value and best / 8 < SLOW_SHARE * min(client.value, server.value):
                how = f"{client.host} and {server.host} alone, {_tool(network)}"
                yield _ceiling("path", f"{client.host} {server.host}", direction, best, how, "")


def _shared(
    paths: Sequence[PathMeasurement],
    clients: Sequence[LinkCeiling],
    servers: Sequence[LinkCeiling],
    direction: Direction,
) -> Iterator[LinkCeiling]:
    group = [path for path in paths if path.scope == "all"]
    if not group:
        return
    total = _sum(group)
    how = f"{len(group)} pairs of client and server at once, iperf3"
    sums = []
    for side, names in ((clients, {path.client for path in group}), (servers, {path.server for path in group})):
        values = [item.value for item in side if item.host in names]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            sums.append(sum(known))
    if not sums or total / 8 >= SLOW_SHARE * min(sums):
        return
    yield _ceiling("shared", "", direction, total, how, "")


def _ceiling(place: str, host: str, direction: Direction, bits: float, how: str, reason: str) -> LinkCeiling:
    value = bits / 8 if bits and not reason else None
    return LinkCeiling.model_validate(
        {"place": place, "host": host, "direction": direction, "value": value, "how": how, "reason": reason}
    )


def is_same_machine(network: NetworkMeasurements, client: str, server: str) -> bool:
    """Whether client and server are the same machine."""
    identities = [
        host.identity for host in network.hosts if (host.side, host.name) in (("client", client), ("server", server))
    ]
    return len(identities) == 2 and identities[0] == identities[1] != ""


def _loops(network: NetworkMeasurements, path: PathMeasurement) -> bool:
    return is_same_machine(network, path.client, path.server)


def stated_rate(network: NetworkMeasurements, side: str, name: str) -> float | None:
    """Return the bits per second of a host's link, as stated or as its interface reports; None if unknown."""
    return next((link.bits_per_s for link in network.links if _is(link, side, name)), None)


def _is(link: HostLink, side: str, name: str) -> bool:
    return (link.side, link.host) == (side, name)


def _sum(paths: Iterable[PathMeasurement]) -> float:
    return sum(path.bits_per_s or 0.0 for path in paths)


def _tool(network: NetworkMeasurements) -> str:
    return f"iperf3, {network.time:g} s"


def bits_text(bits: float) -> str:
    """Return a link's rate in the units of links and of storage: `10 Gb/s (1.25 GB/s)`."""
    unit, factor = ("Gb/s", 1e9) if bits >= 1e9 else ("Mb/s", 1e6)
    return f"{about_number(bits / factor)} {unit} ({about_size(bits / 8)}/s)"
