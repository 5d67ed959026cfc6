"""What a study needs: how it is written, and what is refused with a hint."""

import pytest
from pydantic import TypeAdapter, ValidationError

from assay.model.study.needs import Needs, TargetNeed

READ = TypeAdapter(Needs)


@pytest.mark.parametrize(
    ("written", "need"),
    [
        ({"read": "500MB/s"}, TargetNeed(operation="read", measure="throughput", limit=5e8)),
        ({"read": "10Gb/s"}, TargetNeed(operation="read", measure="throughput", limit=1.25e9)),
        ({"random read": "20k IOPS"}, TargetNeed(operation="random_read", measure="iops", limit=20e3)),
        ({"random_read iops": 20000}, TargetNeed(operation="random_read", measure="iops", limit=20e3)),
        ({"stat": "1.5M"}, TargetNeed(operation="stat", measure="iops", limit=1.5e6)),
        ({"get": "900/s"}, TargetNeed(operation="get", measure="iops", limit=900)),
        ({"fsync p99": "10ms"}, TargetNeed(operation="fsync", measure="p99", limit=10e6)),
        ({"oltp write p99.9": "2ms"}, TargetNeed(operation="write", measure="p99.9", limit=2e6, workload="oltp")),
        ({"align time": "1min"}, TargetNeed(operation="", measure="time", limit=60e9, workload="align")),
        ({"time": "90 s"}, TargetNeed(operation="", measure="time", limit=90e9)),
        ({"write P50": "900us"}, TargetNeed(operation="write", measure="p50", limit=9e5)),
    ],
)
def test_a_need_is_read(written: object, need: TargetNeed) -> None:
    assert READ.validate_python(written) == (need,)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({}, "empty"),
        ([], "empty"),
        (["read"], "not a list of needs"),
        ({5: "1MB/s"}, "does not name an operation"),
        ({"raed": "1MB/s"}, "does not name an operation"),
        ({"": "1MB/s"}, "does not name an operation"),
        ({"p99": "1ms"}, "does not name an operation"),
        ({"a b read": "1MB/s"}, "does not name an operation"),
        ({"read": "10ms"}, "a latency needs a percentile"),
        ({"read": "fast"}, "not a throughput"),
        ({"read": 20000}, "not a throughput"),
        ({"read": "0MB/s"}, "not above 0"),
        ({"read p99": "0s"}, "not above 0"),
        ({"read p99": 5}, "no unit"),
        ({"read iops": "5MB/s"}, "not a number of operations per second"),
        ({"stat": "5MB/s"}, "not a number of operations per second"),
        ({"align time": 60}, "no unit"),
        ({"align time": "0s"}, "not above 0"),
        ({"align run time": "60s"}, "does not name an operation"),
        ({"align": "60s"}, "does not name an operation"),
        ({"align time": "60MB/s"}, "not a duration"),
        ({"fsync": "10MB/s"}, "fsync needs a latency"),
    ],
)
def test_what_is_no_need_is_refused(written: object, message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        READ.validate_python(written)
    assert message in str(refused.value)


def test_a_time_is_of_what_commands_do() -> None:
    need = TargetNeed(operation="", measure="time", limit=1e9, workload="a")
    assert need.covers("a", "run", "") and need.covers("a", "replay", "") and not need.covers("b", "run", "")
    assert not need.model_copy(update={"workload": ""}).covers("a", "read", "none")


def test_fsync_covers_writes_that_are_flushed_each() -> None:
    need = TargetNeed(operation="fsync", measure="p99", limit=1e6)
    assert need.covers("w", "random_write", "o_dsync") and need.covers("w", "write 2", "o_sync")
    assert not need.covers("w", "random_write", "fsync") and not need.covers("w", "read", "o_dsync")
    named = need.model_copy(update={"operation": "read", "workload": "w"})
    assert named.covers("w", "read", "none") and not named.covers("v", "read", "none")
