"""The rules about caches that the kernel's count of fetched bytes does not show."""

from dataclasses import replace
from typing import Any

import pytest
from builders import MEMORY_PLACE, MIB, make_place
from judge_tools import (
    LOOP_PLACE,
    NFS_PLACE,
    NULL_PLACE,
    Rule,
    about_names,
    below,
    bind,
    evidence,
    fires,
    make_course,
    odd_repeats,
    rule_tests,
    stacked,
)

from assay.judge import cache
from assay.judge.answer import NotEvaluated
from assay.judge.rules import cached_read
from assay.model.result.evidence import Evidence
from assay.model.result.observations import BlockDeviceUse
from assay.model.result.run import TargetPlace
from assay.model.result.verdict import Finding, Verdict


def uncounted(share: float, operation: str = "read", **changes: Any) -> Evidence:
    """Reads over a network, at this share of what its device was found to do."""
    fields = {"place": NFS_PLACE, "device_read_bytes": 0, "ceilings": (bind("device read", share),)}
    return evidence(operation, **{**fields, **changes})


def passes(gain: float | None, operation: str = "read", **changes: Any) -> Evidence:
    """From the second pass on, so many times as fast as in the first."""
    course = make_course(first_pass=100e6, later_passes=gain and gain * 100e6)
    return evidence(operation, **{"course": course, "cpu_wait_ns": 0, **changes})


def again(device: int, operation: str = "write", times: int = 4, sync: str = "fsync", **changes: Any) -> Evidence:
    """16 MiB were written over and over before a flush; the device got so many MiB."""
    parameters = {"cache": "keep", "sync": sync, **changes.pop("parameters", {})}
    fields = {"bytes": times * 16 * MIB, "block": {"write_bytes": device * MIB}}
    return evidence(operation, parameters=parameters, **{**fields, **changes})


def flushed(share: float, operation: str = "write", sync: str = "fsync", **changes: Any) -> Evidence:
    """Of the 16 MiB that were written, this share reached the device."""
    parameters = {"cache": "keep", "sync": sync, **changes.pop("parameters", {})}
    block = {"write_bytes": int(share * 16 * MIB)}
    return evidence(operation, parameters=parameters, **{"block": block, **changes})


def scattered(share: float, operation: str = "stride_read", **changes: Any) -> Evidence:
    """16 MiB in records of 64 KiB through the page cache; so many requests at the device for each."""
    block = {"reads": int(share * 256), "read_ns": int(share * 256) * 50_000}
    fields = {"parameters": {"cache": "evict"}, "block": block}
    return evidence(operation, **{**fields, **changes})


FASTER_RANDOM = (bind("device read", 0.2), bind("device random read", 1.26))
CREATED = about_names("create", write_bytes=64 * MIB, block={"write_bytes": 0})
KEPT: dict[str, Any] = {"parameters": {"cache": "keep"}}
ONE_RECORD = {"record_size": 2 * MIB}
BTRFS = make_place("disk", filesystem="btrfs")

LOOPED = {"read_bytes": 16 * MIB, "write_bytes": 16 * MIB, "reads": 256, "writes": 256, "flushes": 256}
AT_LOOP = BlockDeviceUse(**LOOPED, read_ns=10**8, write_ns=10**8, busy_ns=10**8)
_MAY = stacked("direct", "btrfs")
BTRFS_ON_LOOP = _MAY.model_copy(
    update={"layers": (_MAY.layers[0].model_copy(update={"compresses": "may"}), *_MAY.layers[1:])}
)
DIRECT, BUFFERED = stacked("direct"), stacked("buffered")
MORE = AT_LOOP.model_copy(update={"write_bytes": 64 * MIB})
UNTOLD = AT_LOOP.model_copy(update={"flushes": 0})
UNCOUNTED = AT_LOOP.model_copy(update={"flushes": None})


HALF = {"read_bytes": int(0.49 * 16 * MIB), "write_bytes": int(0.49 * 16 * MIB)}
EACH = {"sync": "o_dsync"}


COMPRESSED: dict[str, Any] = {"parameters": {"compressible": 60}, "disk": HALF}


def looped(operation: str, loop: BlockDeviceUse = AT_LOOP, place: TargetPlace = BUFFERED, **changes: Any) -> Evidence:
    """16 MiB read or written in records of 64 KiB at a stacked place; the disk's counts are changed by `disk`."""
    disk = changes.pop("disk", {})
    parameters = {"cache": "direct", "sync": "fsync", **changes.pop("parameters", {})}
    return evidence(operation, parameters=parameters, place=place, **{**below(loop, **disk), **changes})


FIRING: list[tuple[Rule, str, Evidence]] = [
    # 64 MiB over the same 16 MiB, of which the device got each once.
    (cache.absorbed_writes, "the same 16.8 MB were written again and again", flushed(1.0, bytes=64 * MIB)),
    (cache.absorbed_writes, "got 89 % of the bytes", flushed(0.89 * 4, bytes=64 * MIB)),
    (cache.absorbed_writes, "got 0.39 % of", flushed(1 / 16 / 16, "record_rewrite", bytes=16 * MIB)),
    (cache.absorbed_writes, "got 0 % of", again(0, "record_rewrite", bytes=MIB)),
    (cache.absorbed_writes, "got 50 % of", flushed(1 / 32, "record_rewrite", bytes=MIB)),
    (cache.absorbed_writes, "the same 131 kB", again(16, "record_rewrite", parameters={"lanes": 2})),
    (cache.absorbed_writes, "the same 67.1 MB", again(16, times=5, parameters={"lanes": 4}, sync="fdatasync")),
    (cache.above_device, "1.26 times the measured rate of the device (`device read`: made up)", uncounted(1.26)),
    (cache.above_device, "(`device random read`", uncounted(1, "random_read", ceilings=FASTER_RANDOM)),
    (cache.above_device, "1.3 times", uncounted(1.3, place=LOOP_PLACE, device_read_bytes=16 * MIB)),
    (cache.read_ahead, "at least 51 % of the operations found their data in memory", scattered(0.49)),
    # Large records, of which some are several requests.
    (cache.read_ahead, "at least 32 % of", scattered(0.68, latency={"mean": 1e5, "p50": 9e3}, elapsed_ns=10**9)),
    (cache.read_ahead, "the device had 0.24 requests for each operation", scattered(0.24, "random_read")),
    (cache.read_ahead, "and fetched 3 times the bytes read", scattered(0.4, device_read_bytes=48 * MIB)),
    (cache.read_ahead, "60 %", scattered(0.4, "backward_read", device_read_bytes=None)),
    (cache.read_ahead, "60 %", scattered(0.4, place=LOOP_PLACE)),
    (cache.later_passes, "reads were 1.51 times as fast as in the first", passes(1.51)),
    (cache.later_passes, "reads were 20 times", passes(20, "random_read")),
    (cache.flush_without_effect, "only 49 % of the data had reached the device after the flush (fsync", flushed(0.49)),
    (cache.flush_without_effect, "49 %", replace(flushed(0.49), place=None)),
    (cache.flush_without_effect, "only 0 % of the data had", flushed(0, sync="o_dsync")),
    (cache.flush_without_effect, "49 %", flushed(0.49, "random_mix", write_bytes=16 * MIB)),
    # Of 64 MiB, the data was written four times before the flush; 8 of its 16 MiB are half.
    (cache.flush_without_effect, "49 %", flushed(0.49, bytes=64 * MIB)),
    (cache.flush_without_effect, "49 %", flushed(0.49, parameters={"lanes": 4, "layout": "shared"}, bytes=64 * MIB)),
    (cache.flush_without_effect, "12 %", flushed(0.49, parameters={"lanes": 4}, bytes=64 * MIB)),
    # One record of 2 MiB, written again and again, reaches the device once.
    (cache.flush_without_effect, "49 %", flushed(0.98 / 16, "record_rewrite", parameters=ONE_RECORD)),
    (cache.flush_without_effect, "49 %", flushed(0.98 / 8, "record_rewrite", parameters=ONE_RECORD | {"lanes": 2})),
    # Where the file of a loop device is in memory, the disk below got it, or gave it, only in part.
    (
        cache.absorbed_writes,
        "and again in memory; /dev/vda got 25 %",
        looped("write", MORE, bytes=64 * MIB, disk={"write_bytes": 16 * MIB}),
    ),
    (cache.flush_without_effect, "only 49 % of the data had reached /dev/vda", looped("write", disk=HALF)),
    (cache.flush_without_effect, "asks for a flush at the end, but /dev/loop7", looped("write", UNTOLD)),
    (cache.flush_without_effect, "asks for a flush for each write", looped("write", UNTOLD, parameters=EACH)),
    (cache.answered_below, "only 49 % of the bytes read came from /dev/vda", looped("read", disk=HALF)),
    (cache.answered_below, "only 0 % of", looped("random_read", place=DIRECT, disk={"read_bytes": 0})),
    (cache.flush_without_effect, "only 6.2 %", flushed(1 / 16, "record_rewrite", parameters={"cache": "direct"})),
]

SILENT: list[tuple[Rule, Evidence]] = [
    (cache.absorbed_writes, flushed(0.1)),
    (cache.absorbed_writes, again(72, times=5)),
    (cache.absorbed_writes, again(16, parameters={"lanes": 4})),
    (cache.absorbed_writes, again(16, sync="none")),
    (cache.absorbed_writes, again(16, place=NULL_PLACE)),
    (cache.absorbed_writes, again(16, status="failed")),
    (cache.absorbed_writes, flushed(0.1, bytes=64 * MIB, sync="o_dsync")),
    (cache.absorbed_writes, flushed(0.1, bytes=64 * MIB, parameters={"cache": "direct"})),
    (cache.absorbed_writes, flushed(0.1, "read", bytes=64 * MIB)),
    (cache.above_device, uncounted(1.25)),
    (cache.above_device, uncounted(9.0, "write")),
    (cache.above_device, uncounted(9.0, "random_mix")),
    (cache.above_device, uncounted(9.0, place=NULL_PLACE)),
    (cache.above_device, uncounted(9.0, status="failed")),
    # Where the kernel counts what the device delivered, that decides.
    (cache.above_device, uncounted(9.0, place=make_place(), device_read_bytes=16 * MIB)),
    (cache.read_ahead, scattered(0.51)),
    (cache.read_ahead, scattered(0.68, latency={"mean": 1e5, "p50": 11e3}, elapsed_ns=10**9)),
    (cache.read_ahead, scattered(0.95, latency={"mean": 1e5, "p50": 1e3}, elapsed_ns=10**9)),
    (cache.read_ahead, scattered(0.68, latency={"mean": 1e5, "p50": 1e3}, cpu_wait_ns=2 * 10**8, elapsed_ns=10**9)),
    (cache.read_ahead, scattered(0.1, "read")),
    (cache.read_ahead, scattered(0.1, "sequential_mix")),
    (cache.read_ahead, scattered(0.1, "random_write")),
    (cache.read_ahead, scattered(0.1, place=NULL_PLACE)),
    # Each has a request of its own; fewer are for `direct_read` to find.
    (cache.read_ahead, scattered(0.1, parameters={"cache": "direct"})),
    # It was in memory before, which `cached_read` says.
    (cache.read_ahead, scattered(0.1, device_read_bytes=8 * MIB)),
    (cache.read_ahead, scattered(0.1, status="failed")),
    # Large records are several requests each.
    (cache.read_ahead, scattered(4.0)),
    (cache.later_passes, passes(1.5)),
    (cache.later_passes, passes(9.0, "write")),
    (cache.later_passes, passes(9.0, "sequential_mix")),
    (cache.later_passes, passes(9.0, place=NULL_PLACE)),
    (cache.later_passes, about_names(course=make_course(later_passes=9e9))),
    (cache.flush_without_effect, flushed(0.5)),
    (cache.flush_without_effect, replace(flushed(0.5), place=None)),
    (cache.flush_without_effect, flushed(0.0, sync="none")),
    (cache.flush_without_effect, flushed(0.0, "read")),
    (cache.flush_without_effect, flushed(0.0, place=NULL_PLACE)),
    (cache.flush_without_effect, flushed(0.0, status="failed")),
    (cache.flush_without_effect, flushed(0.51, bytes=64 * MIB)),
    (cache.flush_without_effect, flushed(1.02 / 16, "record_rewrite", parameters=ONE_RECORD)),
    (cache.flush_without_effect, looped("write")),
    (cache.flush_without_effect, looped("write", UNCOUNTED)),
    (cache.flush_without_effect, looped("write", parameters=EACH)),
    (cache.flush_without_effect, looped("write", UNTOLD, DIRECT)),
    (cache.answered_below, looped("read")),
    (cache.answered_below, looped("write", disk=HALF)),
    (cache.answered_below, looped("random_mix", disk=HALF)),
    (cache.answered_below, evidence("read")),
    (cache.answered_below, looped("read", bytes=MIB - 1, disk={"read_bytes": 0})),
    # Data that a file system below compresses.
    (cache.answered_below, looped("read", place=BTRFS_ON_LOOP, **COMPRESSED)),
    (cache.flush_without_effect, CREATED),
    (cache.absorbed_writes, CREATED),
]

UNANSWERED: list[tuple[Rule, str, Evidence]] = [
    (cache.absorbed_writes, "compressible", flushed(0.1, bytes=64 * MIB, place=BTRFS)),
    (cache.absorbed_writes, "no block device below counts", flushed(0.0, bytes=64 * MIB, block=None)),
    (
        cache.absorbed_writes,
        "not applicable: the storage under test is memory",
        flushed(0.0, bytes=64 * MIB, place=MEMORY_PLACE),
    ),
    (cache.above_device, "not applicable: the storage under test is memory", uncounted(9.0, place=MEMORY_PLACE)),
    (cache.above_device, "the device's own rate is not known", uncounted(9.0, ceilings=(bind("link", 0.5),))),
    (cache.later_passes, "read its data twice", passes(None, read_bytes=64 * MIB)),
    (cache.later_passes, "read its data twice", passes(9.0, course=None, read_bytes=64 * MIB)),
    (
        cache.later_passes,
        "read its data twice",
        passes(9.0, course=make_course(first_pass=None), read_bytes=64 * MIB),
    ),
    (cache.later_passes, "may have lacked CPU", passes(1.9, elapsed_ns=10**9, cpu_wait_ns=50_000_000)),
    (cache.later_passes, "the machine was busy at that time", passes(9.0, elapsed_ns=10**9, cpu_wait_ns=110_000_000)),
    (cache.later_passes, "the machine was busy at that time", passes(9.0, block={"write_bytes": 64 * MIB})),
    (cache.later_passes, "not applicable: no byte was read twice", passes(None)),
    (cache.read_ahead, "no block device below", scattered(0.5, block=None)),
    (cache.read_ahead, "not applicable: the storage under test is memory", scattered(0.5, place=MEMORY_PLACE)),
    (cache.later_passes, "not applicable: the storage under test is memory", passes(9.0, place=MEMORY_PLACE)),
    (cache.flush_without_effect, "not applicable: the storage under test is memory", flushed(0.0, place=MEMORY_PLACE)),
    (cache.flush_without_effect, "compressible", flushed(0.0, parameters={"compressible": 50})),
    (cache.flush_without_effect, "compressible", flushed(0.0, parameters={"duplicate": 50})),
    (cache.flush_without_effect, "compressible", flushed(0.0, place=BTRFS)),
    (cache.flush_without_effect, "no block device below", flushed(0.0, block=None)),
    (cache.answered_below, "the requests of the devices further down were not counted", evidence("read", place=DIRECT)),
    (cache.flush_without_effect, "less than 1 MiB", flushed(0.0, bytes=MIB - 1)),
    (cache.flush_without_effect, "less than 1 MiB", flushed(0.0, "record_rewrite")),
]


CACHED = [(rule, Verdict.CACHED, words, bad) for rule, words, bad in FIRING]
test_fires, test_keeps_silent, test_says_what_it_lacks, test_every_rule_here_is_tested = rule_tests(
    cache, CACHED, SILENT, UNANSWERED
)


@pytest.mark.parametrize(
    ("rule", "bad", "fields"),
    [
        (cache.later_passes, {"course": make_course(later_passes=900e6)}, {}),
        (cache.flush_without_effect, {"block": {"write_bytes": 0}}, {"operation": "write"}),
        (cache.absorbed_writes, {"block": {"write_bytes": 0}}, {"operation": "write", "bytes": 64 * MIB, **KEPT}),
    ],
)
def test_the_median_repeat_decides(rule: Rule, bad: dict[str, Any], fields: dict[str, Any]) -> None:
    assert not odd_repeats(rule, bad, 2, 5, **fields)
    assert odd_repeats(rule, bad, 3, 5, **fields)


def test_repeats_that_do_not_tell_are_left_out() -> None:
    once = {"course": make_course(first_pass=None, later_passes=None)}
    assert odd_repeats(cache.later_passes, {"course": make_course(later_passes=900e6)}, 1, 5, **once)
    assert odd_repeats(cache.flush_without_effect, {"block": {"write_bytes": 0}}, 1, 5, operation="write", block=None)


def test_what_the_device_got_of_less_than_a_mebibyte_is_judged_from_one_mebibyte_on() -> None:
    found = cache.flush_without_effect(flushed(0.0, bytes=MIB))
    assert isinstance(found, Finding) and "1.05 MB written per repeat" in found.text


def test_the_numbers_are_what_was_compared() -> None:
    assert fires(cache.above_device, Verdict.CACHED, "", uncounted(2.0)).numbers == {"share": 2.0}
    assert fires(cache.later_passes, Verdict.CACHED, "", passes(2.0)).numbers == {"later_to_first": 2.0}
    found = fires(cache.absorbed_writes, Verdict.CACHED, "", again(16)).numbers
    assert found == {"device_share": 0.25, "distinct_bytes": 16 * MIB}
    assert fires(cache.flush_without_effect, Verdict.CACHED, "", flushed(0.25)).numbers == {"device_share": 0.25}


@pytest.mark.parametrize(("size", "told"), [(4096, "819 kB"), ("1KiB:50, 3KiB:50", "410 kB")])
def test_the_data_set_of_objects_is_all_objects_of_all_lanes(size: int | str, told: str) -> None:
    parameters = {"objects": 100, "object_size": size, "file_size": 0, "record_size": None, "lanes": 2, "cache": "keep"}
    found = cached_read(evidence("get", place=NFS_PLACE, parameters=parameters, device_read_bytes=0))
    assert isinstance(found, Finding)
    assert f"the data set ({told}) is less than twice the memory" in found.text
    assert "kept on purpose" not in found.remedy and "objects of at least twice the memory" in found.remedy


def test_of_few_bytes_a_journal_may_hide_that_they_were_absorbed() -> None:
    found = cache.absorbed_writes(flushed(1 / 16, "record_rewrite", bytes=MIB))
    assert isinstance(found, NotEvaluated) and "journal" in found.reason
    assert cache.absorbed_writes(flushed(1.0, "record_rewrite", bytes=16 * MIB)) is None
