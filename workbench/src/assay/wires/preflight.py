"""Measures the network between clients and servers, before storage is measured over it."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from assay.launch.shell import Shell
from assay.model.base import AssayError
from assay.model.result.network import (
    HostLink,
    MtuMeasurement,
    NetworkHost,
    NetworkMeasurements,
    PathMeasurement,
    RttMeasurement,
    SiteLine,
)
from assay.wires import facts, iperf, rtt
from assay.wires.remote_command import RemoteCommands, StoppedError
from assay.wires.rounds import Flow, Rounds

MAX_THREADS = 64
"""Hosts that are measured at the same time."""
OVERHEAD_SECONDS = 0.4
"""Seconds that one bandwidth test takes in addition to sending: start, connect, exchange of results."""

Item = TypeVar("Item")
Found = TypeVar("Found")


@dataclass(frozen=True)
class ServerEndpoint:
    """A host that serves storage.

    Attributes:
        name: Name of the host in results.
        address: A name or an IP address, as clients use it.
        shell: Starts an iperf3 server there; None if the host cannot be entered.
        iperf_port: Port of an iperf3 server that already runs there; None to start our own.
        tcp_port: Port to connect to where ICMP is closed; None for that of iperf3.
        link: Bytes per second of its network link, as stated; None if not stated.
        is_latency_only: Measure only round trip and packet size: iperf3 cannot run there.
    """

    name: str
    address: str
    shell: Shell | None = None
    iperf_port: int | None = None
    tcp_port: int | None = None
    link: float | None = None
    is_latency_only: bool = False


@dataclass(frozen=True)
class PreflightOptions:
    """What is measured, and for how long.

    Attributes:
        seconds: Length of each bandwidth test, in whole seconds.
        streams: Numbers of TCP connections to try between one client and one server; the last is used where several
            pairs send at once.
        pings: Number of round trips to measure.
        bandwidth: Whether to measure bandwidth.
        first_port: First port for our own iperf3 servers.
        report: Called with a progress line before each step.
    """

    seconds: int = 2
    streams: tuple[int, ...] = (1, 4)
    pings: int = 10
    bandwidth: bool = True
    first_port: int = iperf.FIRST_PORT
    report: Callable[[str], None] = lambda _: None


def estimate_seconds(clients: int, servers: int, options: PreflightOptions, latency_only_count: int = 0) -> float:
    """Estimate the seconds of a preflight; `latency_only_count` of the servers are measured without bandwidth."""
    quiet = 1.0 + servers * ((options.pings + 1) * rtt.PING_INTERVAL_SECONDS + 0.5)
    servers -= latency_only_count
    alone = clients * servers * 2 * len(options.streams) * (options.seconds + OVERHEAD_SECONDS)
    rounds = (clients if servers > 1 else 0) + (servers if clients > 1 else 0) + (min(clients, servers) > 1)
    together = rounds * 2 * (options.seconds + 1 + OVERHEAD_SECONDS)
    return quiet + (alone + together if options.bandwidth else 0.0)


def run_preflight(
    clients: Sequence[Shell], servers: Sequence[ServerEndpoint], options: PreflightOptions | None = None
) -> NetworkMeasurements:
    """Measure bandwidth, round trips, packet sizes and links between each client and each server.

    A host that cannot be reached, or lacks a tool, is named in the result, and the others are measured. No process that
    was started outlives the call.

    Args:
        clients: Hosts that will generate load.
        servers: Hosts that will serve it.
        options: What to measure; defaults if None.

    Raises:
        KeyboardInterrupt: The user stopped it; everything that was started is ended.
    """
    work = _Preflight(clients, servers, options or PreflightOptions())
    try:
        return work.run()
    except BaseException:
        work.leashes.end_all()
        raise
    finally:
        work.pool.shutdown(wait=True, cancel_futures=True)


class _Preflight:
    """One preflight and its results so far."""

    def __init__(self, clients: Sequence[Shell], servers: Sequence[ServerEndpoint], options: PreflightOptions) -> None:
        self.clients = list(clients)
        self.servers = list(servers)
        self.options = options
        self.leashes = RemoteCommands()
        self.pool = ThreadPoolExecutor(MAX_THREADS)
        self.machines: dict[str, facts.Machine] = {}
        self.ways: dict[tuple[str, str], facts.Route] = {}
        self.faults: dict[tuple[str, str], str] = {}
        self.server_machines: dict[str, facts.Machine] = {}
        self.rtts: list[RttMeasurement] = []
        self.mtus: list[MtuMeasurement] = []
        self.paths: list[PathMeasurement] = []

    def run(self) -> NetworkMeasurements:
        started_at, clock = time.time(), time.monotonic()
        self.options.report("checking the hosts")
        self._look()
        self.options.report("round trips and packet sizes")
        for pairs in self._each(self._latency_and_mtu, self.able_clients()):
            for round_trip, size in pairs:
                self.rtts.append(round_trip)
                self.mtus.append(size)
        if self.options.bandwidth:
            self._bandwidth()
        return NetworkMeasurements(
            started_at=started_at,
            seconds=time.monotonic() - clock,
            time=float(self.options.seconds),
            streams=self.options.streams,
            hosts=tuple(self._hosts()),
            links=tuple(self._links()),
            paths=tuple(self.paths),
            rtts=tuple(self.rtts),
            mtus=tuple(self.mtus),
            lines=tuple(self._lines()),
        )

    def _lines(self) -> Iterator[SiteLine]:
        """Yield the slower of the two stated site links, for each client and server at different sites."""
        for shell in self.clients:
            for server in self.servers:
                there = server.shell.host if server.shell is not None else None
                if there is not None and shell.host.site != there.site:
                    stated = [line for line in (shell.host.line, there.line) if line is not None]
                    if stated:
                        yield SiteLine(client=shell.host.name, server=server.name, bits_per_s=8 * min(stated))

    def able_clients(self) -> list[Shell]:
        """Return the clients that answered."""
        return [shell for shell in self.clients if shell.host.name in self.machines]

    def _each(self, do: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
        """Call `do` for all items at the same time, and return the results in order."""
        futures = [self.pool.submit(do, item) for item in items]
        return [future.result() for future in futures]

    def _look(self) -> None:
        shells = [("client", shell) for shell in self.clients]
        shells += [("server", server.shell) for server in self.servers if server.shell is not None]
        names = [shell.host.name for _, shell in shells[: len(self.clients)]]
        names += [server.name for server in self.servers if server.shell is not None]
        for name, (side, _), found in zip(names, shells, self._each(self._machine, shells), strict=True):
            if isinstance(found, str):
                self.faults[side, name] = found
            else:
                (self.machines if side == "client" else self.server_machines)[name] = found
        pairs = [(shell, server) for shell in self.able_clients() for server in self.servers]
        for (shell, server), way in zip(pairs, self._each(self._way, pairs), strict=True):
            self.ways[shell.host.name, server.name] = way

    def _machine(self, item: tuple[str, Shell]) -> facts.Machine | str:
        try:
            return facts.read_machine(self.leashes, item[1])
        except AssayError as error:
            return error.message + (f"; {error.hint}" if error.hint else "")

    def _way(self, pair: tuple[Shell, ServerEndpoint]) -> facts.Route:
        try:
            return facts.find_route(self.leashes, pair[0], pair[1].address)
        except AssayError as error:
            return facts.Route("", why_unknown=error.message)

    def _latency_and_mtu(self, shell: Shell) -> list[tuple[RttMeasurement, MtuMeasurement]]:
        """Measure round trips and packet sizes from one client; this hardly loads the network."""
        found = []
        for server in self.servers:
            way = self.ways[shell.host.name, server.name]
            address = way.address or server.address
            round_trip = rtt.ping(self.leashes, shell, server.name, address, self.options.pings)
            if round_trip.median is None:
                port = server.tcp_port or server.iperf_port or self.options.first_port
                over_tcp = rtt.connect(self.leashes, shell, server.name, address, port, self.options.pings)
                icmp = round_trip.error
                error = f"ping: {icmp}; TCP: {over_tcp.error}" if over_tcp.median is None else ""
                round_trip = over_tcp.model_copy(update={"error": error})
            if round_trip.median is None:
                size = rtt.unknown_mtu(shell, server.name, way.mtu, "no packet comes back")
            else:
                size = rtt.path_mtu(self.leashes, shell, server.name, address, way.mtu)
            found.append((round_trip, size))
        return found

    def _bandwidth(self) -> None:
        flows = []
        for shell in self.able_clients():
            for server in (server for server in self.servers if not server.is_latency_only):
                error = self._bandwidth_fault(shell, server)
                if error:
                    self.paths += [_unmeasured(shell, server, direction, error) for direction in ("write", "read")]
                else:
                    flows.append(self._flow(shell, server))
        self.paths += Rounds(self.leashes, self.pool, self.options.report).measure(
            flows, self.options.seconds, self.options.streams
        )

    def _flow(self, shell: Shell, server: ServerEndpoint) -> Flow:
        way = self.ways[shell.host.name, server.name]
        entered = server.shell if server.iperf_port is None else None
        port = server.iperf_port or self.options.first_port
        return Flow(shell, server.name, way.address or server.address, entered, port)

    def _bandwidth_fault(self, shell: Shell, server: ServerEndpoint) -> str:
        """Return why bandwidth cannot be measured between the two; empty if it can."""
        if "iperf3" not in self.machines[shell.host.name].tools:
            return f"iperf3 was not found on {shell.host.name}"
        way = self.ways[shell.host.name, server.name]
        if not way.address and way.why_unknown:
            return f"{server.address} cannot be resolved on {shell.host.name}"
        if server.iperf_port is not None:
            return ""
        if server.shell is None:
            return f"{server.name} cannot be reached by ssh, and no iperf3 server is named for it"
        if server.name not in self.server_machines:
            return self.faults["server", server.name]
        return "" if "iperf3" in self.server_machines[server.name].tools else f"iperf3 was not found on {server.name}"

    def _hosts(self) -> Iterable[NetworkHost]:
        for shell in self.clients:
            name = shell.host.name
            found = self.machines.get(name)
            identity, error = found.identity if found else "", self.faults.get(("client", name), "")
            yield NetworkHost(side="client", name=name, identity=identity, error=error)
        for server in self.servers:
            ways = [self.ways[shell.host.name, server.name] for shell in self.able_clients()]
            machine = self.server_machines.get(server.name)
            yield NetworkHost(
                side="server",
                name=server.name,
                identity=machine.identity if machine else "",
                addresses=tuple(dict.fromkeys(way.address for way in ways if way.address)),
                error=self.faults.get(("server", server.name), ""),
            )

    def _links(self) -> Iterable[HostLink]:
        """Yield the link of each client and server, by its interface towards the other side."""
        for shell in self.able_clients():
            ways = [self.ways[shell.host.name, server.name] for server in self.servers]
            outward = [way for way in ways if not way.is_own_address] or ways
            if outward:
                yield _link("client", shell.host.name, outward[0], shell.host.link)
        for server in self.servers:
            stated = server.link or (server.shell.host.link if server.shell is not None else None)
            yield _link("server", server.name, self._way_back(server), stated)

    def _way_back(self, server: ServerEndpoint) -> facts.Route:
        """Find the route from the server to the first client that has another address."""
        sources = [
            way.source
            for (_, name), way in self.ways.items()
            if name == server.name and way.source and not way.is_own_address
        ]
        if server.shell is None or server.name not in self.server_machines or not sources:
            return facts.Route(
                "", why_unknown="the host cannot be entered" if sources else "the route to it is unknown"
            )
        try:
            return facts.find_route(self.leashes, server.shell, sources[0])
        except (AssayError, StoppedError) as error:
            return facts.Route("", why_unknown=str(error))


def _link(side: str, name: str, way: facts.Route, stated: float | None) -> HostLink:
    rate, how = way.bits_per_s, way.why_unknown or "reported by the interface"
    if stated is not None:
        rate, how = stated * 8, "stated"
    return HostLink(
        side="client" if side == "client" else "server",
        host=name,
        interface=way.interface,
        bits_per_s=rate,
        how=how,
        mtu=way.mtu,
    )


def _unmeasured(shell: Shell, server: ServerEndpoint, direction: str, error: str) -> PathMeasurement:
    return PathMeasurement(
        client=shell.host.name,
        server=server.name,
        direction="write" if direction == "write" else "read",
        scope="alone",
        streams=0,
        concurrent=1,
        bits_per_s=None,
        error=error,
    )
