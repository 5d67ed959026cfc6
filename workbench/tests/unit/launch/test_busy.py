"""What else a machine does: by counters that are written for the test."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from assay.launch.other_load import LoadCounters, load_causes, load_message, read_counters

CPUS = os.cpu_count() or 1
IDLE = LoadCounters(10.0, 1000, 50, 5000, {"8:0": ("sda", 700), "8:16": ("sdb", 10)})
LATER = replace(IDLE, at_s=11.0, total_ticks=5200)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (LATER, []),
        (replace(LATER, busy_ticks=1010, disks={"8:0": ("sda", 720)}), []),
        (replace(LATER, busy_ticks=1180), [f"other processes use {0.9 * CPUS:.1f} of {CPUS} CPU"]),
        (replace(LATER, stolen_ticks=60), ["the hypervisor takes 5 %"]),
        (replace(LATER, throttle_count=1), ["throttled because of their temperature"]),
        (replace(LATER, disks={"8:0": ("sda", 1150)}), ["other processes keep sda busy 45 %"]),
        (replace(LATER, disks={"8:16": ("sdb", 900)}), []),
        (replace(LATER, disks={"7:0": ("loop0", 90000)}), []),
    ],
)
def test_what_moves_results_is_named_with_what_to_do(tmp_path: Path, after: LoadCounters, said: list[str]) -> None:
    found = load_causes(IDLE, after, ["8:0", "7:0"], tmp_path)
    assert len(found) == len(said)
    for cause, words in zip(found, said, strict=True):
        assert words in cause.text and cause.remedy


def test_all_of_it_is_one_line(tmp_path: Path) -> None:
    after = replace(LATER, busy_ticks=1180, stolen_ticks=60, disks={"8:0": ("sda", 1700)})
    line = load_message(load_causes(IDLE, after, None, tmp_path))
    assert "\n" not in line and "other processes" in line and "sda" in line and "steal" in line
    assert load_message([]) == ""


def test_cpus_that_may_not_run_as_fast_as_they_can_are_named(tmp_path: Path) -> None:
    policy = tmp_path / "sys/devices/system/cpu/cpufreq/policy0"
    policy.mkdir(parents=True)
    (policy / "cpuinfo_max_freq").write_text("3500000\n")
    for now, held in (("3500000\n", False), ("1200000\n", True)):
        (policy / "scaling_max_freq").write_text(now)
        assert bool(load_causes(IDLE, LATER, [], tmp_path)) is held


def test_the_kernels_own_counters_are_read(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_text("cpu  10 1 5 80 3 1 1 9 0 0\ncpu0 1 2 3\n")
    (tmp_path / "proc/diskstats").write_text(" 254 0 vda 1 0 8 1 1 0 8 1 0 77 2 0 0 0 0 0 0\n")
    seen = read_counters(tmp_path)
    assert (seen.busy_ticks, seen.stolen_ticks, seen.total_ticks, seen.disks) == (18, 9, 110, {"254:0": ("vda", 77)})
    assert read_counters(tmp_path / "nothing").total_ticks == 0
