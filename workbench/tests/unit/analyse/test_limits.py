"""Limits of control groups, as the environment of a run tells them, in words."""

import pytest
from builders import make_case, make_place, row_of

from assay.analyse.environments.limits import group_limits, limits_changed, near_limits
from assay.analyse.estimate import estimate
from assay.model.result.layers import Layer

DISK = make_place(layers=(Layer(kind="file system", name="ext4"), Layer(kind="disk", name="/dev/vda", number="254:0")))


@pytest.mark.parametrize(
    ("quota", "io", "words"),
    [
        ("no limit", "no limit", ""),
        ("none: no such controller", "none: no such controller", ""),
        ("0.3 CPUs, 30000 of every 100000 us (/pod)", "no limit", "the engine to 0.3 CPUs"),
        ("no limit", "254:0 rbps=25000000 (/pod)", "/dev/vda to reads of 25 MB/s"),
        ("no limit", "254:0 rbps=25000000 wiops=800 (/a b)", "/dev/vda to reads of 25 MB/s, writes of 800 a second"),
        ("no limit", "7:3 rbps=1000 (/pod)", ""),
        (
            "2 CPUs, 200000 of every 100000 us (/)",
            "254:0 rbps=1000 (/x); 254:0 wbps=2000 (/y)",
            "the engine to 2 CPUs and /dev/vda to reads of 1 kB/s, writes of 2 kB/s",
        ),
    ],
)
def test_limits_in_words(quota: str, io: str, words: str) -> None:
    environment = {"control groups": {"cpu_quota": quota, "io_limits": io}}
    assert group_limits(environment, (DISK,)).words == words
    assert group_limits({}, (DISK,)).words == ""


def test_a_quota_of_as_many_cpus_as_there_are_is_no_limit() -> None:
    environment = {"control groups": {"cpu_quota": "2 CPUs, 200000 of every 100000 us (/)"}, "cpu": {"threads": "2"}}
    assert group_limits(environment, ()).words == ""
    assert group_limits({**environment, "cpu": {"threads": "4"}}, ()).words == "the engine to 2 CPUs"


@pytest.mark.parametrize(
    ("limit", "operation", "rate", "held"),
    [
        ("rbps=25000000", "read", 24e6, True),
        ("rbps=10000000000", "read", 1.5e9, False),
        ("wbps=25000000", "read", 24e6, False),
        ("rbps=25000000", "write", 24e6, False),
        # Records of 64 KiB.
        ("riops=500", "read", 500 * 65536, True),
        ("riops=1000000", "read", 500 * 65536, False),
    ],
)
def test_only_limits_that_results_come_close_to_are_reached(
    limit: str, operation: str, rate: float, held: bool
) -> None:
    places = (DISK,)
    found = group_limits({"control groups": {"io_limits": f"254:0 {limit} (/pod)"}}, places)
    row = row_of(make_case("c1", DISK.target, (operation,)), [rate] * 3, operation=operation)
    row = row.model_copy(update={"iops": estimate([rate / 65536] * 3)})
    assert bool(near_limits(found, places, [row]).devices) is held


def test_only_limits_that_hold_rates_down_count_as_changed() -> None:
    before = {"cpu_quota": "no limit", "io_limits": "no limit", "memory": "no limit"}
    assert not limits_changed(before, {**before, "memory": "1 bytes (/)"})
    assert limits_changed(before, {**before, "io_limits": "254:0 rbps=1 (/)"})
