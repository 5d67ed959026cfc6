"""Settings that a study wants otherwise, and those that differ between hosts."""

from typing import Any

from plan_tools import load, study, written

from assay.analyse.environments.diff import environment_diff
from assay.analyse.environments.settings import SETTINGS, WANTED, setting_lines

HERE = {
    "kernel": {"clock_source": "tsc"},
    "cpu": {"governor": "none: the kernel has no cpufreq", "smt": "notsupported"},
    "memory": {"transparent_huge_pages": "madvise"},
    "target disk": {"scheduler": "mq-deadline"},
    "network eth0": {"mtu": "1400"},
    "network lo": {"mtu": "65536"},
}
HOST = {
    "clock source": "tsc",
    "frequency policy": "performance",
    "smt": "off",
    "transparent huge pages": "always madvise [never]",
    "interface eth0": "mtu 9001, up",
    "interface eth1": "mtu 1500, down",
    "disks /data": "sda: scheduler none, rotational 0, read-ahead 128 KiB",
}
PAPER = {
    "transparent_huge_pages": "never",
    "clock": "tsc",
    "smt": "off",
    "governor": "performance",
    "scheduler": "none",
    "mtu": "9001",
}


def test_what_is_as_wanted_is_not_said() -> None:
    assert setting_lines({"hosts client[1-8]": HOST, **HERE, WANTED: PAPER}) == (), "this machine does not measure"
    assert setting_lines(HERE) == () and set(PAPER) == set(SETTINGS)


def test_each_that_is_not_is_one_line() -> None:
    assert setting_lines({**HERE, WANTED: {**PAPER, "governor": "performance"}}) == (
        "this machine: transparent huge pages: madvise; the study requires never",
        "this machine: frequency policy: none: the kernel has no cpufreq; the study requires performance",
        "this machine: I/O scheduler of disk: mq-deadline; the study requires none",
        "this machine: MTU of eth0: 1400; the study requires 9001",
    )
    other = {
        **HOST,
        "smt": "on",
        "interface eth0": "mtu 1500, up",
        "disks /data": "sda: scheduler bfq, x; sdb: scheduler none",
    }
    assert setting_lines({"host a": HOST, "host b": other, WANTED: {"smt": "off"}}) == (
        "host b: SMT: on; the study requires off",
        "SMT differs between hosts: off on host a, on on host b",
        "I/O scheduler of /data differs between hosts: none on host a, bfq and none on host b",
        "MTU of eth0 differs between hosts: 9001 on host a, 1500 on host b",
    )


def test_what_a_host_does_not_say_differs_from_nothing() -> None:
    assert setting_lines({"host a": HOST, "host b": {**HOST, "smt": "unknown: the host does not report it"}}) == ()


def test_a_study_says_what_it_wants() -> None:
    def wanted(settings: dict[str, Any]) -> dict[str, str]:
        return study(settings=settings).settings.required_values

    assert study().settings.required_values == {}
    assert wanted({"smt": False, "mtu": 9001, "clock": "tsc"}) == {"smt": "off", "mtu": "9001", "clock": "tsc"}
    for wrong in ({"smt": "maybe"}, {"mtu": 9}, {"clock": "a b"}, {"colour": "red"}, {"transparent_huge_pages": "no"}):
        assert load(written(settings=wrong)).problems, wrong


def test_a_setting_of_a_server_commonly_changes_results() -> None:
    before = {"host nas": {"mount /data": "xfs /dev/sda rw,noatime", "interface eth0": "mtu 1500, up"}}
    after = {"host nas": {"mount /data": "xfs /dev/sda rw,relatime", "interface eth0": "mtu 1500, down"}}
    assert [(one.name, one.matters) for one in environment_diff(before, after)] == [
        ("mount /data", True),
        ("interface eth0", False),
    ]
