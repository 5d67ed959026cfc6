"""Bandwidth tests in rounds: each pair alone, then the pairs that share a client or a server, then all at once."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from assay.launch.shell import Shell
from assay.model.base import AssayError
from assay.model.result.network import Direction, PathMeasurement, Scope
from assay.wires import iperf
from assay.wires.remote_command import RemoteCommands

SETTLE = 0.5
"""Seconds at the beginning that do not count, while TCP finds its speed."""
OVERLAP = 1.0
"""Extra seconds of simultaneous tests, half at each end, so that all send during the part that counts."""
DIRECTIONS: tuple[Direction, ...] = ("write", "read")


@dataclass(frozen=True)
class Flow:
    """A client and a server that can measure bandwidth.

    Attributes:
        shell: Shell of the client.
        server: Name of the server.
        address: Address of the server, as the client sees it.
        server_shell: Shell to start our own iperf3 server with; None to use one that already runs.
        port: Port of the running server, or the first to try for ours.
    """

    shell: Shell
    server: str
    address: str
    server_shell: Shell | None
    port: int

    @property
    def client(self) -> str:
        """Name of the client."""
        return self.shell.host.name


class Rounds:
    """Runs the bandwidth tests of all rounds."""

    def __init__(self, commands: RemoteCommands, pool: ThreadPoolExecutor, report: Callable[[str], None]) -> None:
        """Start nothing yet; `report` is called with a progress line before each round."""
        self._leashes = commands
        self._pool = pool
        self._report = report

    def measure(self, flows: Sequence[Flow], seconds: int, streams: Sequence[int]) -> list[PathMeasurement]:
        """Run all rounds.

        An iperf3 server serves one client at a time: pairs that share a server which is not ours are left out of the
        rounds in which they would send at once.

        Args:
            flows: Pairs of client and server.
            seconds: Length of each test.
            streams: Numbers of TCP connections to try; the last is used in rounds of several pairs.
        """
        found: list[PathMeasurement] = []
        for flow in flows:
            self._report(f"bandwidth: {flow.client} and {flow.server}, alone")
            # If the first test cannot even connect, seven more would only cost time.
            for direction, count in ((direction, count) for direction in DIRECTIONS for count in streams):
                found.append(self._test(flow, direction, "alone", count, 1, seconds))
                if found[-1].bits_per_s is None:
                    break
        broken = {(item.client, item.server) for item in found if item.bits_per_s is None}
        working = [flow for flow in flows if (flow.client, flow.server) not in broken]
        for scope, group in rounds(working):
            self._report(f"bandwidth: {_round_label(scope, group)}")
            for direction in DIRECTIONS:
                found += self._together(group, direction, scope, streams[-1], seconds)
        return found

    def _together(
        self, group: Sequence[Flow], direction: Direction, scope: Scope, streams: int, seconds: int
    ) -> list[PathMeasurement]:
        futures = [
            self._pool.submit(self._test, flow, direction, scope, streams, len(group), seconds) for flow in group
        ]
        return [future.result() for future in futures]

    def _test(
        self, flow: Flow, direction: Direction, scope: Scope, streams: int, concurrent: int, seconds: int
    ) -> PathMeasurement:
        length = seconds + (round(OVERLAP) if concurrent > 1 else 0)
        trim = (SETTLE, OVERLAP - SETTLE if concurrent > 1 else 0.0)
        rate = self._rate(flow, direction, streams, length, trim)
        return PathMeasurement(
            client=flow.client,
            server=flow.server,
            direction=direction,
            scope=scope,
            streams=streams,
            concurrent=concurrent,
            bits_per_s=rate.bits_per_s,
            retransmits=rate.retransmits,
            seconds=rate.seconds,
            error=rate.error,
        )

    def _rate(
        self, flow: Flow, direction: Direction, streams: int, seconds: int, trim: tuple[float, float]
    ) -> iperf.LinkRate:
        path = flow.shell, flow.address
        if flow.server_shell is None:
            return iperf.measure(self._leashes, *path, flow.port, direction, streams, seconds, trim)
        limit = seconds + iperf.SPARE_SECONDS + iperf.READY_SECONDS
        try:
            with iperf.run_server(self._leashes, flow.server_shell, flow.address, flow.port, limit) as port:
                return iperf.measure(self._leashes, *path, port, direction, streams, seconds, trim)
        except AssayError as error:
            return iperf.LinkRate(None, error=error.message)


def rounds(flows: Sequence[Flow]) -> Iterable[tuple[Scope, list[Flow]]]:
    """Yield the groups of pairs that send at once: those of each client, those of each server, and all."""
    clients = list(dict.fromkeys(flow.client for flow in flows))
    servers = list(dict.fromkeys(flow.server for flow in flows))
    if len(servers) > 1:
        for client in clients:
            yield "client", [flow for flow in flows if flow.client == client]
    shared = [flow for flow in flows if flow.server_shell is not None]
    if len(clients) > 1:
        for server in servers:
            group = [flow for flow in shared if flow.server == server]
            if len(group) > 1:
                yield "server", group
    if len(clients) > 1 and len(servers) > 1 and shared:
        yield "all", shared


def _round_label(scope: Scope, group: Sequence[Flow]) -> str:
    if scope == "client":
        return f"{group[0].client} and all servers at once"
    if scope == "server":
        return f"all clients and {group[0].server} at once"
    return "all clients and all servers at once"
