"""Preflight between network namespaces with shaped links, and what is left of it when it is stopped."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from net_tools import INTERFACE, NET, Wires, wires
from run_tools import ASSAY
from testbed_tools import GUARD, assert_soon

from assay.analyse.links import link_limits
from assay.analyse.network import network_findings
from assay.launch.shell import close_shells, make_shell
from assay.model.result.network import NetworkMeasurements
from assay.model.site.host import Host
from assay.wires.preflight import PreflightOptions, ServerEndpoint, run_preflight
from assay.wires.remote_command import RemoteCommands

FAST = PreflightOptions(seconds=1, streams=(2,), pings=3)
MB = 1e6


@pytest.fixture
def pair() -> Iterator[Wires]:
    with wires(2) as found:
        yield found
        close_shells()


@pytest.fixture
def trio() -> Iterator[Wires]:
    with wires(3) as found:
        yield found
        close_shells()


def server(host: Host) -> ServerEndpoint:
    return ServerEndpoint(host.name, host.address, make_shell(host), link=host.link)


def kinds(network: NetworkMeasurements) -> set[str]:
    return {finding.kind for finding in network_findings(network).findings}


def running(pair: Wires) -> str:
    """Programs on the hosts."""
    return " ".join([*pair.processes(1), *pair.processes(2)])


def test_an_asymmetric_link_is_flagged_and_its_ceilings_are_right(pair: Wires) -> None:
    pair.shape(1, "200mbit", "60mbit")
    network = run_preflight([make_shell(pair.host(1))], [server(pair.host(2))], FAST)
    found = network_findings(network)
    assert "asymmetric" in kinds(network)
    assert "not measured" not in kinds(network)
    limits = {way: link_limits(found.ceilings, ["h1"], ["h2"], way)[0] for way in ("write", "read")}
    assert {limit.place for limit in limits.values()} == {"client"}
    # Payload of TCP is some 95 % of what the shaper counts; a noisy machine may get less, but never more.
    assert 0.75 * 25 * MB < limits["write"].value < 25 * MB
    assert 0.75 * 7.5 * MB < limits["read"].value < 7.5 * MB
    (round_trip,) = network.rtts
    assert round_trip.method == "icmp"
    assert round_trip.received == 3
    assert round_trip.min is not None
    assert round_trip.median is not None
    assert 0 < round_trip.min <= round_trip.median < 1
    assert [item.mtu for item in network.mtus] == [1500]
    assert [(link.host, link.interface, link.mtu) for link in network.links] == [
        ("h1", INTERFACE, 1500),
        ("h2", INTERFACE, 1500),
    ]
    # What was killed may still be on its way out.
    assert_soon(
        lambda: pair.processes(1) == pair.processes(2) == [], lambda: str([pair.processes(1), pair.processes(2)])
    )


def test_a_link_slower_than_stated_and_small_packets_on_the_way_are_flagged(pair: Wires) -> None:
    pair.shape(1, "40mbit", "40mbit")
    pair.run(2, "ip", "link", "set", INTERFACE, "mtu", "1400")
    hosts = [pair.host(number, link=12.5 * MB) for number in (1, 2)]
    network = run_preflight([make_shell(hosts[0])], [server(hosts[1])], FAST)
    assert {"slow link", "packet size"} <= kinds(network)
    # Where a VLAN tag would fit in, a virtual interface lets four bytes more pass.
    assert [item.mtu for item in network.mtus] in ([1400], [1404])
    assert {(link.bits_per_s, link.how) for link in network.links} == {(100 * MB, "stated")}


def test_the_link_that_binds_is_named(trio: Wires) -> None:
    for number in (1, 2, 3):
        trio.shape(number, "60mbit", "60mbit")
    clients = [make_shell(trio.host(number)) for number in (1, 2)]
    network = run_preflight(clients, [server(trio.host(3))], FAST)
    ceilings = network_findings(network).ceilings
    for way in ("write", "read"):
        assert link_limits(ceilings, ["h1"], ["h3"], way)[0].place == "client"
        assert link_limits(ceilings, ["h1", "h2"], ["h3"], way)[0].place == "server"


def test_two_names_of_one_machine_are_flagged(pair: Wires) -> None:
    first = pair.host(2)
    second = first.model_copy(update={"name": "other"})
    options = PreflightOptions(seconds=1, streams=(1,), pings=2, bandwidth=False)
    network = run_preflight([make_shell(pair.host(1))], [server(first), server(second)], options)
    found = [item for item in network_findings(network).findings if item.kind == "same machine"]
    assert [item.about for item in found] == ["h2, other"]


def test_hosts_that_fail_are_named_and_the_others_go_on(pair: Wires) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead = Host(name="dead", kind="box", enter=("nsenter", "-t", str(gone.pid), "-n", "--"))
    nobody = ServerEndpoint("nobody", f"{NET}.99", None)
    network = run_preflight(
        [make_shell(pair.host(1)), make_shell(dead)], [server(pair.host(2)), nobody], PreflightOptions(1, (1,), 2)
    )
    texts = [item.text for item in network_findings(network).findings if item.kind == "not measured"]
    assert any("client dead cannot be used" in text for text in texts)
    assert any("nobody cannot be reached by ssh, and no iperf3 server is named for it" in text for text in texts)
    assert any(text.startswith("round trip of h1 and nobody: ping: ") and "TCP: " in text for text in texts)
    measured = {(path.client, path.server) for path in network.paths if path.bits_per_s}
    assert measured == {("h1", "h2")}


def test_where_icmp_is_closed_connecting_tells_the_round_trip(pair: Wires) -> None:
    pair.run(2, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all")
    pair.shape(1, "1gbit", "1gbit")
    options = PreflightOptions(bandwidth=False, pings=2)
    network = run_preflight([make_shell(pair.host(1))], [server(pair.host(2))], options)
    (round_trip,) = network.rtts
    assert (round_trip.method, round_trip.received, round_trip.error) == ("tcp", 2, "")
    assert round_trip.median is not None
    assert 0 < round_trip.median < 1


def test_a_server_that_somebody_keeps_running_is_used(pair: Wires) -> None:
    with iperf_server(pair, 5333) as address:
        somebody = ServerEndpoint("store", address, None, iperf_port=5333)
        network = run_preflight([make_shell(pair.host(1))], [somebody], PreflightOptions(1, (1,), 2))
    assert [path.direction for path in network.paths if path.bits_per_s] == ["write", "read"]
    assert "store" in network.host_names("server")


PROGRAM = """
import sys
from assay.wires.preflight import PreflightOptions, ServerEndpoint, run_preflight
from assay.launch.shell import make_shell
from assay.model.site.host import Host
hosts = [Host.model_validate_json(text) for text in sys.argv[1:]]
run_preflight([make_shell(hosts[0])], [ServerEndpoint("h2", hosts[1].address, make_shell(hosts[1]))],
              PreflightOptions(seconds=30, pings=1, report=lambda line: print(line, flush=True)))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_it_is_stopped(pair: Wires, how: signal.Signals) -> None:
    words = [pair.host(number).model_dump_json() for number in (1, 2)]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert_soon(
            lambda: "iperf3" in pair.processes(1) and "iperf3" in pair.processes(2),
            lambda: str([pair.processes(1), pair.processes(2)]),
        )
        os.kill(process.pid, how)
        process.wait(timeout=GUARD)
    finally:
        process.kill()
        process.communicate()
    assert_soon(
        lambda: pair.processes(1) == pair.processes(2) == [], lambda: str([pair.processes(1), pair.processes(2)])
    )


def test_the_command_prints_stores_and_tells_by_its_exit_code(pair: Wires, tmp_path: Path) -> None:
    """From inside one namespace, as a user on that host would: the other one runs an iperf3 server."""
    out = tmp_path / "network.json"
    program = [*pair.host(1).enter, ASSAY, "preflight"]
    words = ["--servers", f"{NET}.2:5334", "--time", "1s", "--parallel", "1", "--json", "--output", str(out)]
    with iperf_server(pair, 5334):
        done = subprocess.run([*program, *words], capture_output=True, text=True, timeout=GUARD, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document == json.loads(out.read_text())
    assert [item["place"] for item in document["ceilings"]] == ["client", "client", "server", "server"]
    words = ["--servers", f"{NET}.2:5335", "--time", "1s"]
    done = subprocess.run([*program, *words], capture_output=True, text=True, timeout=GUARD, check=False)
    assert done.returncode == 1
    assert "Connection refused" in done.stdout


@contextlib.contextmanager
def iperf_server(pair: Wires, port: int) -> Iterator[str]:
    """One that somebody keeps running on the second host; gives its address."""
    command = ["iperf3", "-s", "-p", str(port), "--forceflush"]
    with RemoteCommands().start(make_shell(pair.host(2)), command, 120) as leash:
        assert leash.wait_for(b"listening", 20)
        yield pair.host(2).address
