"""How a total grows with servers and hosts together: the sum of the parts, the bend, and what is no such series."""

from collections.abc import Mapping

import numpy as np
import pytest
from builders import make_analysis, make_case, make_estimate, make_place, make_sample, rated_row
from soak import times

from assay.analyse.servers import growths
from assay.model.result.result import ResultRow
from assay.model.result.run import TargetPlace
from assay.model.result.sample import HostShare
from assay.model.result.verdict import Verdict
from assay.report.document import Bullets, Table
from assay.report.growth.sentences import growth_sentence
from assay.report.sections.scaling import section
from assay.report.view import RunView

MB = 1e6


def row(target: str, hosts: int, rate: float, verdict: Verdict = Verdict.OK, **axes: object) -> ResultRow:
    case = make_case(f"{target}-{hosts}", target, ("read",), axes={**axes, "hosts": hosts})
    return rated_row(case, make_estimate(rate), [make_sample(case.id, repeat, rate) for repeat in (1, 2, 3)], verdict)


def places(**servers: tuple[str, ...]) -> list[TargetPlace]:
    return [make_place(target, servers=names) for target, names in servers.items()]


def table(rates: Mapping[str, Mapping[int, float]]) -> list[ResultRow]:
    return [row(target, hosts, rate) for target, line in rates.items() for hosts, rate in line.items()]


RATES = {
    "one": {1: 100 * MB, 2: 120 * MB, 4: 121 * MB, 8: 120 * MB},
    "four": {1: 90 * MB, 2: 190 * MB, 4: 360 * MB, 8: 420 * MB},
}
NESTED = places(one=("s1",), four=("s1", "s2", "s3", "s4"))


def test_the_sum_of_the_parts_is_what_servers_would_do_that_share_nothing() -> None:
    (found,) = growths(table(RATES), NESTED)
    parts = {(cell.servers, cell.hosts): cell.parts for cell in found.cells}
    # Each host has a server for itself; then each server has two hosts.
    assert [parts[4, hosts] for hosts in (1, 2, 4, 8)] == [100 * MB, 200 * MB, 400 * MB, 480 * MB]
    assert found.most.hosts == 8 and found.most.efficiency == pytest.approx(420 / 480)
    assert all(cell.efficiency == 1 for cell in found.cells if cell.servers == 1)
    assert found.bends == {1: 2, 4: None}


def test_the_sentence_says_the_share_and_where_it_bends() -> None:
    level = {**RATES, "four": {4: 360 * MB, 8: 365 * MB, 16: 366 * MB}}
    rows = [*table(level), row("one", 16, 120 * MB)]
    (found,) = growths(rows, NESTED)
    head, words = growth_sentence(found)
    assert "Read on 4 servers" in str(head)
    assert words == (
        "366 MB/s at most, with 16 hosts: 76 % of the sum of the parts (484 MB/s). "
        "From 1 host for each server on (1 to 1), more add nothing."
    )


def test_what_was_not_measured_with_one_server_has_no_parts() -> None:
    rates = {"one": {1: 100 * MB, 2: 120 * MB}, "three": {4: 300 * MB, 9: 300 * MB, 2: 150 * MB}}
    (found,) = growths(table(rates), places(one=("s1",), three=("s1", "s2", "s3")))
    assert {cell.hosts: cell.parts for cell in found.cells if cell.servers == 3} == {2: 200 * MB, 4: None, 9: None}


@pytest.mark.parametrize(
    "servers",
    [
        {"one": (), "four": ()},
        {"one": ("s9",), "four": ("s1", "s2", "s3", "s4")},
        {"one": ("s1", "s2"), "four": ("s1", "s2", "s3", "s4")},
        {"one": ("s1",), "four": ("s2",)},
        {"one": ("s1",), "four": ("s1",)},
    ],
)
def test_other_systems_are_no_series(servers: dict[str, tuple[str, ...]]) -> None:
    assert growths(table(RATES), places(**servers)) == []


def test_results_that_say_nothing_of_the_store_are_left_out() -> None:
    rows = [*table({"one": {1: 100 * MB}}), row("four", 4, 900 * MB, Verdict.CACHED)]
    assert growths(rows, NESTED) == []


def test_the_report_has_the_table() -> None:
    share = HostShare(
        host="c1",
        status="done",
        bytes=1,
        elapsed_ns=10**9,
        throughput=1.0,
        iops=1.0,
        latency={"p50": 1.0, "p99": 1.0},
        stonewall_bytes=1,
        cpu_ns=1,
    )
    rows = table(RATES)
    shared = make_sample(rows[1].case.id, 1, 1.0, hosts=(share, share.model_copy(update={"host": "c2"})))
    rows[1] = rows[1].model_copy(update={"samples": (shared,)})
    analysis = make_analysis(places=tuple(NESTED)).model_copy(update={"rows": tuple(rows)})
    found = section(RunView(analysis))
    assert found is not None
    (shown,) = (block for block in found.blocks if isinstance(block, Table) and block.id == "servers-table")
    assert len(shown.rows) == 8
    assert any(isinstance(block, Bullets) and "on 4 servers" in str(block) for block in found.blocks)


def test_the_ratio_of_clients_to_servers_that_was_put_in_is_found() -> None:
    """Two clients fill a server, as in the paper on BeeGFS; of the intervals at least nine of ten hold that."""
    random = np.random.default_rng(2016)
    held = []
    for _ in range(times(15, 100)):
        rows = []
        for target, servers in (("one", 1), ("two", 2), ("four", 4)):
            for hosts in (1, 2, 4, 8, 16, 24):
                rates = 1e9 * min(hosts, 2 * servers) * np.exp(random.normal(0, 0.02, 4))
                one = row(target, hosts, float(np.median(rates)))
                samples = tuple(make_sample(one.case.id, place, rate) for place, rate in enumerate(rates, 1))
                rows.append(one.model_copy(update={"samples": samples}))
        named = places(one=("s1",), two=("s1", "s2"), four=("s1", "s2", "s3", "s4"))
        (found,) = growths(rows, named)
        for ratio in found.ratios.values():
            assert ratio is not None and ratio.is_sharp and ratio.at is not None
            held.append(ratio.at.low <= 2 <= ratio.at.high)
    assert np.mean(held) >= 0.9
    said = "".join(str(part) for part in growth_sentence(found))
    assert "From 2 hosts for each server on (" in said or "From 1.9 hosts" in said or "From 2.1 hosts" in said
