"""What is known to limit a total: links, rates that a study states, a design's limits."""

import pytest
from builders import make_case, make_estimate, make_place, rated_row
from made_network import GB, network

from assay.analyse.growth.known_limits import KnownLimit, known_limits
from assay.model.money.priced_designs import DesignCeiling
from assay.model.result.ceiling import CeilingShare
from assay.model.result.network import NetworkMeasurements
from assay.model.result.result import ResultRow

PLACE = make_place("store", servers=("s1",))
STATED = {"c1": GB, "c2": GB, "s1": 10 * GB}


def row(hosts: int, rate: float, operation: str = "write", ceilings: tuple[CeilingShare, ...] = ()) -> ResultRow:
    case = make_case(f"c{hosts:04}", "store", (operation,), axes={"hosts": hosts}, record_size=4096)
    return rated_row(case, make_estimate(rate), ceilings=ceilings)


def clients(at_once: float) -> NetworkMeasurements:
    """Two clients of 1 Gbit/s, each with so many bits per second if both transfer at once."""
    pairs = [("c1", "s1"), ("c2", "s1")]
    return network(dict.fromkeys(pairs, GB), [("server", *pair, at_once) for pair in pairs], STATED)


def found(rows: list[ResultRow], measured: NetworkMeasurements | None) -> dict[str, tuple[float, bool]]:
    return {limit.name: (limit.value, limit.grows) for limit in known_limits(rows, PLACE, measured)}


def test_links_of_clients_grow_and_those_of_servers_do_not() -> None:
    narrow = network(
        {("c1", "s1"): GB, ("c2", "s1"): GB}, [("server", "c1", "s1", 0.6 * GB), ("server", "c2", "s1", 0.6 * GB)]
    )
    limits = found([row(1, 50e6), row(2, 100e6)], narrow)
    assert limits["client link"] == (pytest.approx(125e6), True)
    assert limits["server link"] == (pytest.approx(150e6), False)


def test_a_servers_link_that_was_not_filled_counts_as_stated() -> None:
    assert found([row(1, 50e6)], clients(GB))["server link"] == (pytest.approx(1250e6), False)
    measured = clients(GB)
    links = tuple(link.model_copy(update={"mtu": 1500}) for link in measured.links)
    payload = found([row(1, 50e6)], measured.model_copy(update={"links": links}))["server link"]
    assert payload == (pytest.approx(1250e6 * 1448 / 1538), False)
    assert found([row(1, 50e6, "stat")], clients(GB)) == {}
    assert found([row(1, 50e6)], None) == {}


def test_what_a_total_exceeds_is_no_limit() -> None:
    assert "client link" not in found([row(1, 140e6)], clients(GB))
    assert "client link" in found([row(1, 130e6)], clients(GB))


def test_ceilings_that_all_hosts_share_count_and_those_of_one_host_do_not() -> None:
    def ceiling(name: str) -> CeilingShare:
        return CeilingShare.model_validate(
            {"name": name, "unit": "bytes/s", "value": 400e6, "measured": 100e6, "share": 0.25, "how": "stated"}
        )

    rows = [row(2, 100e6, ceilings=tuple(map(ceiling, ("stated write", "device write", "memory copy", "engine"))))]
    assert found(rows, None) == {"stated write": (400e6, False), "device write": (400e6, False)}


def test_a_designs_limit_is_of_the_operation_and_in_its_unit() -> None:
    design = [
        DesignCeiling(metric="write", layer="volumes", value=100e6, burst=200e6),
        DesignCeiling(metric="read", layer="volumes", value=90e6),
        DesignCeiling(metric="write_iops", layer="instance", value=10_000),
    ]
    limits = known_limits([row(1, 20e6)], PLACE, None, design)
    assert {limit.name: limit.value for limit in limits} == {"design: volumes": 200e6, "design: instance": 40.96e6}
    assert known_limits([row(1, 20e6)], PLACE, None, stated=[KnownLimit("--limit", 1e9, False, "")])[0].at(8) == 1e9
