"""What iperf3, ping, ip and tracepath print, understood; and what follows from made-up measurements."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_network import GB, Rates, network, path
from paths import GOLDEN

from assay.analyse.links import link_ceilings, link_limits
from assay.analyse.network import network_findings
from assay.launch.shell import CommandResult, LocalShell
from assay.model.result.network import (
    MtuMeasurement,
    NetworkMeasurements,
    RttMeasurement,
    Scope,
)
from assay.model.site.host import Host
from assay.wires.facts import parse_route
from assay.wires.iperf import LinkRate, parse
from assay.wires.preflight import PreflightOptions, estimate_seconds
from assay.wires.rounds import Flow, rounds
from assay.wires.rtt import connect_times, echo_times

RECORDED = GOLDEN / "iperf3"
"""By iperf3 3.12 on one machine: two streams of 200 Mbit/s, one of 300 Mbit/s backwards, no server."""


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.json").read_text()


def test_a_recorded_test_forwards_is_what_the_receiver_got() -> None:
    rate = parse(CommandResult(0, recorded("forward"), ""), (0.5, 0.0))
    # 395591, 401349 and 396446 kbit/s in half a second each, as its server told.
    assert rate.bits_per_s == pytest.approx((395_591 + 401_349 + 396_446) * 1000 / 3)
    assert rate.seconds == pytest.approx(1.5)
    assert rate.retransmits == 0


def test_both_ends_are_trimmed() -> None:
    rate = parse(CommandResult(0, recorded("forward"), ""), (0.5, 0.5))
    assert rate.bits_per_s == pytest.approx((395_591 + 401_349) * 1000 / 2)
    assert rate.seconds == pytest.approx(1.0)


def test_without_the_servers_word_the_clients_counts() -> None:
    document = json.loads(recorded("forward"))
    del document["server_output_text"]
    rate = parse(CommandResult(0, json.dumps(document), ""), (0.5, 0.0))
    rates = [item["sum"]["bits_per_second"] for item in document["intervals"]][1:]
    assert rate.bits_per_s == pytest.approx(sum(rates) / 3, rel=1e-3)


def test_a_recorded_test_backwards() -> None:
    document = json.loads(recorded("reverse"))
    rates = [item["sum"]["bits_per_second"] for item in document["intervals"]][1:]
    rate = parse(CommandResult(0, recorded("reverse"), ""), (0.5, 0.0))
    assert rate.bits_per_s == pytest.approx(sum(rates) / 3, rel=1e-3)


def test_too_short_to_trim_is_taken_whole() -> None:
    document = json.loads(recorded("reverse"))
    rate = parse(CommandResult(0, recorded("reverse"), ""), (2.0, 2.0))
    assert rate.bits_per_s == pytest.approx(document["end"]["sum_received"]["bits_per_second"])


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (CommandResult(1, recorded("refused"), ""), "iperf3: unable to connect to server: Connection refused"),
        (CommandResult(127, "", "iperf3: command not found"), "iperf3 was not found"),
        (CommandResult(1, "", "iperf3: parameter error"), "iperf3: parameter error"),
        (CommandResult(143, "", ""), "iperf3: exit code 143"),
        (CommandResult(0, "[]", ""), "iperf3: exit code 0"),
        (CommandResult(0, "{}", ""), "iperf3: its result has no `end` section"),
        (CommandResult(0, '{"end": {}}', ""), "iperf3: no data arrived"),
        (
            CommandResult(0, '{"end": {"sum_received": {"bits_per_second": 0, "seconds": 2}}}', ""),
            "iperf3: no data arrived",
        ),
    ],
)
def test_a_failed_test_says_why(answer: CommandResult, error: str) -> None:
    assert parse(answer) == LinkRate(None, error=error)


@given(st.recursive(st.none() | st.floats() | st.text(max_size=5), lambda deep: st.lists(deep, max_size=3)), st.data())
def test_no_output_of_iperf3_breaks_it(value: object, data: st.DataObject) -> None:
    document = json.loads(recorded("forward"))
    part = data.draw(st.sampled_from(["intervals", "end", "server_output_text", "error"]))
    rate = parse(CommandResult(0, json.dumps({**document, part: value}), ""), (0.5, 0.0))
    assert (rate.bits_per_s is None) == bool(rate.error)


IPUTILS = """PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=1.90 ms
64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.058 ms
64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.070 ms (DUP!)
From 10.0.0.1 icmp_seq=3 Destination Host Unreachable
64 bytes from 10.0.0.2: icmp_seq=4 ttl=64 time=12 ms

--- 10.0.0.2 ping statistics ---
4 packets transmitted, 3 received, +1 duplicates, +1 errors, 25% packet loss, time 414ms
rtt min/avg/max/mdev = 0.058/0.9/1.9/0.1 ms
"""
OLD_IPUTILS = IPUTILS.replace("icmp_seq=", "icmp_req=").replace("time=12 ms", "time=12.0 ms")
BUSYBOX = """PING 10.0.0.2 (10.0.0.2): 56 data bytes
64 bytes from 10.0.0.2: seq=0 ttl=64 time=0.105 ms
64 bytes from 10.0.0.2: seq=1 ttl=64 time=0.066 ms

--- 10.0.0.2 ping statistics ---
2 packets transmitted, 2 packets received, 0% packet loss
round-trip min/avg/max = 0.066/0.085/0.105 ms
"""


def test_ping_of_iputils_old_and_new_and_of_busybox() -> None:
    assert echo_times(IPUTILS) == pytest.approx({1: 0.0019, 2: 0.000058, 4: 0.012})
    assert echo_times(OLD_IPUTILS) == pytest.approx({1: 0.0019, 2: 0.000058, 4: 0.012})
    assert echo_times(BUSYBOX) == pytest.approx({0: 0.000105, 1: 0.000066})
    assert echo_times("ping: unknown host") == {}


def test_times_of_connecting_as_durations_and_as_two_times() -> None:
    assert connect_times("0.0012\nnonsense\n100.5 100.75\n7,25 7,5\n") == pytest.approx([0.0012, 0.25, 0.25])


def test_ways_as_iproute2_prints_them() -> None:
    link = "2: eth0: <UP> mtu 9000 qdisc mq state UP mode DEFAULT qlen 1000\\ link/ether aa:bb:cc:00:11:22 brd ff"
    said = {
        "address": "10.0.0.2",
        "route": "10.0.0.2 via 10.0.0.254 dev eth0 src 10.0.0.1 uid 0 \\ cache",
        "link": link,
        "mac": "aa:bb:cc:00:11:22",
        "speed": "25000",
        "real": "1",
    }
    way = parse_route(said)
    assert (way.interface, way.source, way.mtu, way.bits_per_s, way.is_own_address) == (
        "eth0",
        "10.0.0.1",
        9000,
        25 * GB,
        False,
    )
    bond = {key: value for key, value in said.items() if key != "real"} | {"type": "DEVTYPE=bond INTERFACE=bond0"}
    assert parse_route(bond).bits_per_s == 25 * GB
    veth = parse_route({key: value for key, value in said.items() if key != "real"})
    assert (veth.bits_per_s, veth.why_unknown) == (None, "the interface is virtual")
    assert parse_route(said | {"speed": "-1"}).why_unknown == "the driver does not report a speed"
    assert parse_route(said | {"mac": "00:00:00:00:00:01"}).why_unknown == "the interface is not visible in /sys"
    assert parse_route({"address": "10.0.0.1", "route": "local 10.0.0.1 dev lo src 10.0.0.1"}).is_own_address
    assert parse_route({"address": "10.0.0.1"}).why_unknown == "the route is unknown"


def kinds(measured: NetworkMeasurements) -> list[str]:
    return [finding.kind for finding in network_findings(measured).findings]


def limits(measured: NetworkMeasurements, clients: list[str], servers: list[str]) -> list[tuple[str, float]]:
    found = link_limits(link_ceilings(measured), clients, servers, "write")
    return [(limit.place, limit.value * 8) for limit in found]


def test_one_client_is_limited_by_its_link_and_four_by_the_servers() -> None:
    clients = ["c1", "c2", "c3", "c4"]
    measured = network(
        {(client, "s1"): 0.95 * GB for client in clients}, [("server", client, "s1", 0.24 * GB) for client in clients]
    )
    assert limits(measured, ["c1"], ["s1"])[0] == ("client", pytest.approx(0.95 * GB))
    assert limits(measured, clients, ["s1"]) == [
        ("server", pytest.approx(0.96 * GB)),
        ("client", pytest.approx(3.8 * GB)),
    ]


def test_a_server_that_its_clients_cannot_fill_has_no_ceiling() -> None:
    measured = network(
        {("c1", "s1"): GB, ("c2", "s1"): GB}, [("server", "c1", "s1", GB), ("server", "c2", "s1", 0.99 * GB)]
    )
    ceilings = [item for item in link_ceilings(measured) if item.place == "server"]
    assert {item.value for item in ceilings} == {None}
    assert all("not filled" in item.reason for item in ceilings)
    assert [place for place, _ in limits(measured, ["c1", "c2"], ["s1"])] == ["client"]


def test_one_client_cannot_tell_the_servers_link_from_its_own_unless_rates_are_stated() -> None:
    assert [place for place, _ in limits(network({("c1", "s1"): 0.95 * GB}), ["c1"], ["s1"])] == ["client"]
    narrow = network({("c1", "s1"): 0.95 * GB}, stated={"c1": 10 * GB, "s1": GB})
    assert limits(narrow, ["c1"], ["s1"]) == [("server", pytest.approx(0.95 * GB))]
    equal = network({("c1", "s1"): 0.95 * GB}, stated={"c1": GB, "s1": GB})
    assert [place for place, _ in limits(equal, ["c1"], ["s1"])] == ["client", "server"]


def test_a_client_with_several_servers_has_what_it_reached_with_all() -> None:
    measured = network({("c1", "s1"): GB, ("c1", "s2"): GB}, [("client", "c1", server, GB) for server in ("s1", "s2")])
    assert limits(measured, ["c1"], ["s1", "s2"]) == [("client", pytest.approx(2 * GB))]


def test_a_narrow_way_between_two_wide_links_is_neither_sides() -> None:
    alone = {("c1", "s1"): GB, ("c1", "s2"): 0.1 * GB, ("c2", "s1"): 0.1 * GB, ("c2", "s2"): GB}
    at_once: list[tuple[Scope, str, str, float]] = []
    for pair, rate in alone.items():
        at_once += [("client", *pair, 0.9 * rate), ("server", *pair, 0.9 * rate), ("all", *pair, 0.9 * rate)]
    measured = network(alone, at_once, stated={"c1": GB, "c2": GB, "s1": GB, "s2": GB})
    assert limits(measured, ["c1"], ["s2"])[0] == ("shared", pytest.approx(0.1 * GB))
    assert limits(measured, ["c1"], ["s1"])[0][0] == "client"
    assert limits(measured, ["c1"], ["s1", "s2"])[0][0] == "client"
    hosts = [item.host for item in link_ceilings(measured) if (item.place, item.direction) == ("path", "read")]
    assert hosts == ["c1 s2", "c2 s1"]


def test_what_all_share_is_found_where_all_at_once_reach_less_than_either_side() -> None:
    pairs = [(client, server) for client in ("c1", "c2") for server in ("s1", "s2")]
    alone = dict.fromkeys(pairs, GB)
    each: list[tuple[Scope, str, str, float]] = [("client", *pair, GB / 2) for pair in pairs]
    each += [("server", *pair, GB / 2) for pair in pairs]
    shared = network(alone, [*each, *(("all", *pair, 0.3 * GB) for pair in pairs)])
    assert limits(shared, ["c1", "c2"], ["s1", "s2"])[0] == ("shared", pytest.approx(1.2 * GB))
    assert kinds(shared).count("shared link") == 2
    wide = network(alone, [*each, *(("all", *pair, 0.5 * GB) for pair in pairs)])
    assert [item.place for item in link_ceilings(wide) if item.place == "shared"] == []
    assert "shared link" not in kinds(wide)


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["c1", "c2", "c3"]), st.sampled_from(["s1", "s2"])),
        st.floats(1e6, 1e11),
        min_size=1,
    ),
    st.floats(0.1, 10),
)
def test_directions_never_mix_and_no_ceiling_exceeds_what_was_measured(alone: Rates, reverse: float) -> None:
    measured = network(alone, reverse=reverse)
    ceilings = link_ceilings(measured)
    for item in ceilings:
        if item.value is not None:
            seen = [
                path.bits_per_s or 0.0
                for path in measured.paths
                if path.direction == item.direction and {*item.host.split()} <= {path.client, path.server}
            ]
            assert item.value * 8 <= max(seen) * (1 + 1e-9)
        assert (item.value is None) == bool(item.reason)
    one_way = [item.model_dump(exclude={"direction", "value"}) for item in ceilings if item.direction == "write"]
    other_way = [item.model_dump(exclude={"direction", "value"}) for item in ceilings if item.direction == "read"]
    assert one_way == other_way


@pytest.mark.parametrize(("reverse", "flagged"), [(1.0, False), (0.85, False), (0.75, True), (1.4, True)])
def test_asymmetric_from_20_percent_on(reverse: float, flagged: bool) -> None:
    assert ("asymmetric" in kinds(network({("c1", "s1"): GB}, reverse=reverse))) == flagged


@pytest.mark.parametrize(("stated", "flagged"), [(1.0, False), (1.08, False), (1.2, True)])
def test_slower_than_stated_below_90_percent_of_the_slower_link(stated: float, flagged: bool) -> None:
    measured = network({("c1", "s1"): GB}, stated={"c1": stated * GB, "s1": 10 * GB})
    assert ("slow link" in kinds(measured)) == flagged


def test_a_client_that_is_the_server_has_no_link() -> None:
    measured = network({("c1", "s1"): 20 * GB, ("c2", "s1"): GB}, identities={"c1": "x", "s1": "x"}, stated={"c1": GB})
    assert kinds(measured) == ["same machine"]
    by_host = {item.host: item.value for item in link_ceilings(measured) if item.direction == "write"}
    assert by_host["c1"] is None
    assert by_host["c2"] == pytest.approx(GB / 8)


def rtt(client: str, seconds: float, received: int = 10) -> RttMeasurement:
    return RttMeasurement(
        client=client, server="s1", method="icmp", min=seconds, median=seconds, max=seconds, sent=10,
        received=received,
    )  # fmt: skip


def test_round_trips_and_packets_that_stand_out() -> None:
    clients = ["c1", "c2", "c3"]
    plain = network({(client, "s1"): GB for client in clients})
    usual = plain.model_copy(update={"rtts": tuple(rtt(client, 0.0002) for client in clients)})
    assert kinds(usual) == []
    far = usual.model_copy(update={"rtts": (*usual.rtts[:2], rtt("c3", 0.0009, received=8))})
    assert kinds(far) == ["round trip", "lost packets"]
    sizes = tuple(
        MtuMeasurement(client=client, server="s1", mtu=mtu, interface_mtu=9000)
        for client, mtu in zip(clients, (9000, 9000, 1500), strict=True)
    )
    assert kinds(plain.model_copy(update={"mtus": sizes})) == ["packet size", "packet size"]
    assert kinds(plain.model_copy(update={"mtus": sizes[:2]})) == []


def test_what_was_not_measured_is_told_once_and_has_no_ceiling() -> None:
    failed = tuple(path("alone", "c1", "s1", None, direction) for direction in ("write", "read"))  # type: ignore[arg-type]
    measured = network({("c1", "s1"): GB}).model_copy(update={"paths": failed})
    assert kinds(measured) == ["not measured"]
    assert {item.value for item in link_ceilings(measured)} == {None}


@given(st.sets(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1))
def test_rounds_have_every_pair_of_theirs_and_no_pair_twice(pairs: set[tuple[int, int]]) -> None:
    shells = {number: LocalShell(Host(name=f"c{number}", kind="local")) for number in range(1, 5)}
    entered = LocalShell(Host(name="s", kind="local"))
    flows = [Flow(shells[client], f"s{server}", "x", entered, 5201) for client, server in sorted(pairs)]
    for scope, group in rounds(flows):
        members = {(flow.client, flow.server) for flow in group}
        assert len(members) == len(group)
        if scope != "all":
            mine = {getattr(flow, scope) for flow in group}
            assert len(mine) == 1
            assert members == {(f.client, f.server) for f in flows if getattr(f, scope) in mine}
        else:
            assert len(group) == len(flows)


def test_servers_of_others_serve_one_client_at_a_time() -> None:
    shells = [LocalShell(Host(name=f"c{number}", kind="local")) for number in (1, 2)]
    flows = [Flow(shell, "s1", "x", None, 5201) for shell in shells]
    assert [*rounds(flows)] == []


def test_the_estimate_grows_with_what_is_asked_for() -> None:
    small = estimate_seconds(1, 1, PreflightOptions())
    assert small < estimate_seconds(2, 1, PreflightOptions()) < estimate_seconds(2, 2, PreflightOptions())
    assert estimate_seconds(8, 4, PreflightOptions(bandwidth=False)) < small
