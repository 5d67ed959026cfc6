"""Which link holds a result: of one client its own, of several the server's; and the verdicts that follow."""

import pytest
from builders import make_case, make_place
from hypothesis import given
from hypothesis import strategies as st
from judge_tools import evidence
from made_network import GB, network

from assay.analyse.ceilings import Ceilings
from assay.judge import limits
from assay.model.result.ceiling import CeilingShare
from assay.model.result.network import NetworkMeasurements
from assay.model.result.result import Estimate
from assay.model.result.verdict import Finding, Verdict

CLIENTS = ("c1", "c2", "c3", "c4")
MB = 1e6


def office(servers: tuple[str, ...] = ("s1",), reverse: float = 1.0) -> NetworkMeasurements:
    """Four clients of 1 Gbit/s and servers of as much, each measured alone and all clients at once with a server."""
    pairs = [(client, server) for client in CLIENTS for server in servers]
    at_once = [("server", client, server, 0.25 * GB) for client, server in pairs]
    each = [("client", client, server, GB / len(servers)) for client, server in pairs] if len(servers) > 1 else []
    return network(dict.fromkeys(pairs, GB), [*at_once, *each], reverse=reverse)  # type: ignore[list-item]


def known(value: float) -> Estimate:
    return Estimate(median=value, low=None, high=None, n=1, spread=None)


def bindings(
    measured: NetworkMeasurements | None,
    rate: float,
    operation: str = "write",
    servers: tuple[str, ...] = ("s1",),
    **parameters: object,
) -> tuple[CeilingShare, ...]:
    case = make_case("c0001", "store", (operation,), **parameters)
    place = make_place("store", kind="nfs", filesystem="nfs", device=None, servers=servers)
    return Ceilings((), CLIENTS, measured).bindings(case, operation, place, known(rate), known(rate / 65536))


def test_one_client_is_held_by_its_own_link_and_four_by_the_servers() -> None:
    (one,) = bindings(office(), 120 * MB)
    assert (one.name, one.value) == ("client link", pytest.approx(125 * MB))
    assert one.share == pytest.approx(0.96)
    assert one.how.startswith("c1, write: c1 with one server")
    (four,) = bindings(office(), 120 * MB, hosts=4)
    assert (four.name, four.value) == ("server link", pytest.approx(125 * MB))
    assert four.how.startswith("s1, write: ")


def test_servers_that_are_not_used_do_not_count() -> None:
    two = office(("s1", "s2"))
    (both,) = bindings(two, 100 * MB, servers=("s1", "s2"), hosts=4)
    (first,) = bindings(two, 100 * MB, servers=("s1", "s2"), hosts=4, axes={"servers": 1})
    assert (both.name, first.name) == ("server link", "server link")
    assert (both.value, first.value) == (pytest.approx(250 * MB), pytest.approx(125 * MB))


def test_a_long_list_of_links_is_cut_short() -> None:
    wide = network({(client, "s1"): GB for client in CLIENTS}, stated={"s1": 100 * GB})
    (found,) = bindings(wide, 100 * MB, hosts=4)
    assert found.how.startswith("c1, c2, c3 and others, write: sum of 4: ")


@given(st.integers(0, 100), st.floats(1 * MB, 1000 * MB), st.floats(0.1, 10))
def test_directions_of_a_mix_are_each_held_against_their_own(percent: int, rate: float, reverse: float) -> None:
    """Data written and data read are never added against one link: it carries both at once."""
    found = bindings(office(reverse=reverse), rate, "random_mix", read_percent=percent)
    written = [item for item in found if ", write: " in item.how]
    read = [item for item in found if ", read: " in item.how]
    assert len(written) == (percent < 100) and len(read) == (percent > 0)
    assert sum(item.measured for item in found) == pytest.approx(rate)
    for item in written:
        assert item.value == pytest.approx(125 * MB)
    for item in read:
        assert item.value == pytest.approx(125 * MB * reverse)
        assert item.share == pytest.approx(rate * percent / 100 / (125 * MB * reverse))
    assert [item.share for item in found] == sorted((item.share for item in found), reverse=True)


@pytest.mark.parametrize(("operation", "way"), [("write", "write"), ("random_write", "write"), ("reread", "read")])
def test_an_operation_goes_one_way(operation: str, way: str) -> None:
    (found,) = bindings(office(), 100 * MB, operation)
    assert f", {way}: " in found.how


def test_without_a_network_a_server_or_data_there_is_no_link() -> None:
    assert bindings(None, 100 * MB) == ()
    assert bindings(office(), 100 * MB, servers=()) == ()
    case = make_case("c0001", "store", ("stat",))
    place = make_place("store", kind="nfs", device=None, servers=("s1",))
    assert Ceilings((), CLIENTS, office()).bindings(case, "stat", place, None, known(1000)) == ()


@given(st.floats(1 * MB, 500 * MB), st.sampled_from([1, 4]))
def test_the_verdict_follows_from_the_share_of_the_tightest_link(rate: float, hosts: int) -> None:
    found = bindings(office(), rate, hosts=hosts)
    place = make_place("store", kind="nfs", device=None, servers=("s1",))
    held = evidence(ceilings=found, place=place)
    share = rate / (125 * MB)
    bound, impossible = limits.network_bound(held), limits.impossible(held)
    assert isinstance(bound, Finding) == (found[0].share >= limits.LINK_SHARE)
    if isinstance(bound, Finding):
        owner = "client" if hosts == 1 else "server"
        assert bound.verdict is Verdict.NETWORK_BOUND
        assert f"of the bandwidth of the {owner}'s link" in bound.text
        assert bound.numbers["share"] == pytest.approx(share)
    assert isinstance(impossible, Finding) == (found[0].share > 1.25)
    if isinstance(impossible, Finding):
        assert f"the ceiling `{found[0].name}`" in impossible.text


def test_with_ten_times_the_links_the_same_rate_is_not_bound() -> None:
    fast = network({("c1", "s1"): 10 * GB})
    held = evidence(ceilings=bindings(fast, 120 * MB), place=make_place("store", kind="nfs", device=None))
    assert limits.network_bound(held) is None
    assert limits.impossible(held) is None
