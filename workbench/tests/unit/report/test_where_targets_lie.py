"""Caveats of where targets lie, and the limits of control groups on page one."""

from typing import Any

import made_network
import pytest
from builders import answered, make_analysis, make_case, make_ceiling, make_place, row_of

from assay.analyse.estimate import estimate
from assay.model.result.layers import Layer
from assay.model.result.network import NetworkMeasurements, RttMeasurement
from assay.model.result.result import ResultRow
from assay.model.result.verdict import Finding, Verdict
from assay.report.summary import caveats, location_caveats
from assay.report.summary.page import first_page
from assay.report.summary.uncompared import uncompared_lines
from assay.report.view import RunView

ROOT = {"source": "/dev/vda", "mount_point": "/", "options": "rw,relatime"}
DATA = {"source": "/dev/vdb", "mount_point": "/data", "options": "rw,relatime"}
PLACES = (make_place("old"), make_place("new"))


def row(target: str, operation: str = "write", rate: float = 100e6) -> ResultRow:
    return row_of(make_case(f"{target}-{operation}", target, (operation,)), [rate] * 5, operation=operation)


def view(*rows: ResultRow, **run: Any) -> RunView:
    """A run with these results."""
    found = make_analysis(**{"places": PLACES, **run})
    update = {"rows": rows, "cases": tuple(one.case for one in rows)}
    return RunView(answered(found.model_copy(update=update)))


def mounted(old: dict[str, str], new: dict[str, str]) -> RunView:
    return view(row("old"), row("new"), environment={"target old": old, "target new": new})


@pytest.mark.parametrize("option", ["nobarrier", "barrier=0"])
def test_a_target_that_loses_synced_data_is_named(option: str) -> None:
    fast = {**DATA, "options": f"rw,{option}"}
    (caveat,) = location_caveats.without_barriers(mounted(ROOT, fast))
    assert caveat.text.startswith("new is mounted without barriers: ")
    assert location_caveats.without_barriers(mounted(ROOT, DATA)) == []
    reads = view(row("new", "read"), environment={"target new": fast})
    assert location_caveats.without_barriers(reads) == [], "nothing is written"


def test_mount_options_that_differ_are_named() -> None:
    old, new = ({**mount, "filesystem": "ext4"} for mount in (ROOT, {**DATA, "options": "rw,sync,relatime"}))
    (caveat,) = location_caveats.different_mounts(mounted(old, new))
    assert caveat.text.startswith("Mount options differ: new with sync. ")
    assert location_caveats.different_mounts(mounted(old, {**old, "options": "rw,relatime,nobarrier"})) == [], (
        "has its own caveat"
    )
    assert location_caveats.different_mounts(mounted(old, {**new, "filesystem": "xfs"})) == []
    assert (
        location_caveats.different_mounts(mounted(old, old))
        == location_caveats.different_mounts(mounted(old, {}))
        == []
    )


def test_a_rate_that_the_study_sets_is_the_limit() -> None:
    case = make_case("c1", "old", ("read",), rate=300.0)
    found = view(row_of(case, [300 * 65536.0] * 5), places=PLACES[:1])
    assert [line.limit for line in uncompared_lines(found).lines] == ["the rate set in the study"]


def test_two_targets_on_one_file_system_are_named() -> None:
    (caveat,) = location_caveats.same_storage(mounted(ROOT, ROOT))
    assert caveat.text.startswith("old and new are on the same file system")
    assert location_caveats.same_storage(mounted(ROOT, DATA)) == location_caveats.same_storage(mounted({}, {})) == []


def test_a_link_that_was_not_measured_is_named() -> None:
    away = make_place("nas", servers=("10.0.0.2",))
    (caveat,) = location_caveats.unknown_link(view(row("nas"), places=(away,)))
    assert "The link to the servers of nas was not measured" in caveat.text
    link = make_ceiling("link", 125e6, "nas")
    assert location_caveats.unknown_link(view(row("nas"), places=(away,), ceilings=(link,))) == []
    assert location_caveats.unknown_link(view(row("old"))) == []
    both = make_place("nas", servers=("s1", "s2"))
    for rates, said in (({("c1", "s1"): 1e8, ("c1", "s2"): 1e8}, False), ({("c1", "s1"): 1e8}, True)):
        seen = view(row("nas"), places=(both,), network=made_network.network(rates))
        assert bool(location_caveats.unknown_link(seen)) is said


def test_a_limit_of_a_control_group_that_is_reached_is_the_limit() -> None:
    disk = make_place("old", layers=(Layer(kind="disk", name="/dev/vda", number="254:0"),))
    limits = {"control groups": {"io_limits": "254:0 wbps=20000000 (/pod)"}}
    held = view(row("old", rate=19e6), places=(disk,), environment=limits)
    assert [line.limit for line in uncompared_lines(held).lines] == ["a control group's limit (writes of 20 MB/s)"]
    said = [caveat for caveat in caveats.caveats(held, (), ()) if "control group" in caveat.text]
    assert len(said) == 1 and "io.max or blkio.throttle.*" in said[0].remedy
    free = view(row("old", rate=9e6), places=(disk,), environment=limits)
    assert not [caveat for caveat in caveats.caveats(free, (), ()) if "control group" in caveat.text]
    assert "control group" not in uncompared_lines(free).lines[0].limit


def test_of_a_burst_the_rate_that_lasts_is_in_the_answer() -> None:
    figures = {"before_per_s": 342e6, "after_per_s": 9.6e6, "at_s": 0.3}
    burst = Finding(verdict=Verdict.BURSTING, rule="bursting", text="fell", remedy="Run longer.", numbers=figures)
    falls = row("old").model_copy(update={"verdict": Verdict.BURSTING, "findings": (burst,)})
    lasts = "Write on old falls from 342 to 9.60 MB/s after 0.3 s: the later rate is what lasts."
    for rows in ((falls,), (falls, row("old", "read"))):
        assert lasts in first_page(view(*rows, places=PLACES[:1])).as_stored("How fast?").answer


def test_data_that_goes_through_the_journal_is_named() -> None:
    (caveat,) = location_caveats.journalled_data(mounted(ROOT, {**DATA, "options": "rw,data=journal"}))
    assert caveat.text.startswith("new is mounted with data=journal: ")
    assert location_caveats.journalled_data(mounted(ROOT, DATA)) == []


def test_buffered_reads_of_devices_that_read_ahead_differently_are_named() -> None:
    environment = {
        "target old": {**ROOT, "read_ahead_kib": "128"},
        "target new": {**DATA, "read_ahead_kib": "0"},
    }
    reads = [row_of(make_case(name, name, ("read",), cache="evict"), [1e8] * 5) for name in ("old", "new")]
    (caveat,) = location_caveats.different_read_ahead(view(*reads, environment=environment))
    assert "128 KiB on old, 0 KiB on new" in caveat.text
    alike = {**environment, "target new": environment["target old"]}
    assert location_caveats.different_read_ahead(view(*reads, environment=alike)) == []
    direct = [row_of(make_case(name, name, ("read",), cache="direct"), [1e8] * 5) for name in ("old", "new")]
    assert location_caveats.different_read_ahead(view(*direct, environment=environment)) == []


@pytest.mark.parametrize(
    ("iops", "depth", "far"), [(94.3, 1, True), (33.3, 1, False), (2900.0, 32, True), (900.0, 32, False)]
)
def test_the_round_trip_is_the_limit_where_it_is_most_of_the_latency(iops: float, depth: int, far: bool) -> None:
    rtt = RttMeasurement(
        client="here", server="10.0.0.2", method="icmp", min=0.0102, median=0.0102, max=0.0104, sent=10, received=10
    )
    network = NetworkMeasurements(
        started_at=0.0, seconds=1.0, time=1.0, streams=(1,), hosts=(), links=(), paths=(), rtts=(rtt,), mtus=()
    )
    case = make_case("c1", "nas", ("read",), queue_depth=depth)
    waits = row_of(case, [iops * 65536] * 5).model_copy(update={"iops": estimate([iops] * 5)})
    seen = view(waits, places=(make_place("nas", servers=("10.0.0.2",)),), network=network)
    assert (uncompared_lines(seen).lines[0].limit == "the network's round trip of 10.2 ms") is far
    sentence = "The network's round trip of 10.2 ms is most of the latency of the only result."
    assert (sentence in first_page(seen).as_stored("How fast?").answer) is far


@pytest.mark.parametrize(("cache", "limit", "said"), [("keep", 8, True), ("keep", 64, False), ("direct", 8, False)])
def test_memory_that_does_not_hold_buffered_data_is_named(cache: str, limit: int, said: bool) -> None:
    small = row_of(make_case("c1", "old", ("read",), cache=cache), [1e8] * 5)
    groups = {"control groups": {"memory": f"{limit << 20} bytes (/pod)"}}
    found = caveats.caveats(view(small, places=PLACES[:1], environment=groups), (), ())
    assert any("8.39 MB of memory, less than the 16.8 MB of data" in caveat.text for caveat in found) is said
