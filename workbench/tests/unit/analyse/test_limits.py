"""Limits of control groups, as the environment of a run tells them, in words."""

import pytest
from builders import make_place

from assay.analyse.environments.limits import changed, limited
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
    assert limited(environment, (DISK,)).words == words
    assert limited({}, (DISK,)).words == ""


def test_only_limits_that_hold_rates_down_count_as_changed() -> None:
    before = {"cpu_quota": "no limit", "io_limits": "no limit", "memory": "no limit"}
    assert not changed(before, {**before, "memory": "1 bytes (/)"})
    assert changed(before, {**before, "io_limits": "254:0 rbps=1 (/)"})
