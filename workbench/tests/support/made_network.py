"""Made-up measurements of a network."""

from collections.abc import Sequence

from assay.model.result.network import (
    Direction,
    HostLink,
    NetworkHost,
    NetworkMeasurements,
    PathMeasurement,
    Scope,
)

GB = 1e9
Rates = dict[tuple[str, str], float]


def network(
    alone: Rates,
    rates: Sequence[tuple[Scope, str, str, float]] = (),
    stated: dict[str, float] | None = None,
    reverse: float = 1.0,
    identities: dict[str, str] | None = None,
) -> NetworkMeasurements:
    """Bits per second alone of (client, server) and in rounds; clients' names begin with c, all others are servers."""
    paths = []
    for way, factor in (("write", 1.0), ("read", reverse)):
        flows: list[tuple[Scope, str, str, float]] = [("alone", *pair, rate) for pair, rate in alone.items()]
        for scope, client, server, rate in (*flows, *rates):
            paths.append(path(scope, client, server, rate * factor, "write" if way == "write" else "read"))
    names = list(dict.fromkeys(name for pair in alone for name in pair))
    names.sort(key=lambda name: not name.startswith("c"))
    hosts = [
        NetworkHost(
            side="client" if name[0] == "c" else "server", name=name, identity=(identities or {}).get(name, name)
        )
        for name in names
    ]
    links = [
        HostLink(side="client" if name[0] == "c" else "server", host=name, interface="e", bits_per_s=rate, how="stated")
        for name, rate in (stated or {}).items()
    ]
    return NetworkMeasurements(
        started_at=0, seconds=1, time=2, streams=(4,), hosts=tuple(hosts), links=tuple(links), paths=tuple(paths),
        rtts=(), mtus=(),
    )  # fmt: skip


def path(scope: Scope, client: str, server: str, rate: float | None, direction: Direction) -> PathMeasurement:
    error = "" if rate is not None else "iperf3: failed"
    return PathMeasurement(
        client=client, server=server, direction=direction, scope=scope, streams=4, concurrent=1, bits_per_s=rate,
        error=error,
    )  # fmt: skip
