"""The rule about others who use the device."""

from dataclasses import replace
from typing import Any

import pytest
from builders import MEMORY_PLACE, MIB, make_place
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_tools import NULL_PLACE, Rule, about_names, below, evidence, fires, lacks, odd_repeats, stacked
from soak import times

from assay.judge import tenant
from assay.judge.rules import RULES
from assay.model.result.evidence import Evidence
from assay.model.result.observations import BlockDeviceUse
from assay.model.result.verdict import Finding, Verdict

RULE = tenant.contended
BTRFS = make_place("disk", filesystem="btrfs")
BUFFERED = {"cache": "keep"}
STABLE = {"cache": "direct", "sync": "o_dsync", "record_size": 4096}


def beside(operation: str = "read", read: float = 0, written: float = 0, **changes: Any) -> Evidence:
    """The engine moved 16 MiB in 256 operations, and the device moved so many MiB in all."""
    block = {"read_bytes": int(read * MIB), "write_bytes": int(written * MIB)}
    return evidence(operation, **{"block": block, **changes})


USED = {"read_bytes": 16 * MIB, "write_bytes": 0, "reads": 256, "writes": 0}
LOOP = BlockDeviceUse(**USED, read_ns=10**8, write_ns=0, busy_ns=10**8)
WRITTEN = LOOP.model_copy(update={"read_bytes": 0, "write_bytes": 16 * MIB, "reads": 0, "writes": 256})


FIRING: list[tuple[str, Evidence]] = [
    ("in addition to the 16.8 MB of this measurement it moved 65.4 MB", beside(read=80)),
    ("it moved 62.8 MB", beside(read=16, written=60)),
    ("in addition to the ", beside("write", written=80)),
    ("in addition to the ", beside("write", written=17, read=5)),
    ("in addition to the ", beside("write", written=80, parameters=BUFFERED)),
    ("in addition to the ", beside("random_mix", read=80, read_bytes=8 * MIB)),
    # Copies on write: 2.5 times the data, and half a mebibyte for each operation.
    ("in addition to the ", beside("write", written=200, place=BTRFS)),
    ("in addition to the ", beside("random_write", written=400, place=BTRFS)),
    # A journal takes 64 KiB for each write that is flushed.
    ("in addition to the ", beside("write", written=50, parameters=STABLE)),
    # Of a name that is changed likewise.
    ("in addition to the ", about_names("create", block={"write_bytes": 3200 * MIB})),
    # Of the disk below a loop device.
    (
        "the device below (/dev/vda) also served other users: in addition to the 16.8 MB of this measurement it moved"
        " 65.4 MB",
        evidence(place=stacked("direct"), **below(LOOP, read_bytes=80 * MIB)),
    ),
    # Small requests.
    ("at least 710 requests more than this measurement can have sent", beside(read=16, block={"reads": 1000})),
    # No counts of its own: then what it read.
    ("in addition to the ", beside(read=80, device_read_bytes=None)),
]

SILENT: list[Evidence] = [
    evidence(place=stacked("direct"), **below(LOOP)),
    # What a loop device keeps in memory it writes back at some time.
    evidence("write", place=stacked("buffered"), **below(WRITTEN, write_bytes=80 * MIB)),
    beside(read=16),
    beside(read=17, written=4),
    beside("write", written=18),
    beside("write", written=20),
    beside("write", written=40, place=BTRFS),
    beside("write", written=30, parameters=STABLE),
    beside("stride_read", read=64, parameters=BUFFERED, device_read_bytes=64 * MIB),
    # In small pieces, as a fragmented file is read.
    beside(read=16, block={"reads": 500}),
    beside(read=16, block={"reads": 4096}, parameters=BUFFERED),
    # Read-modify-write of pages is counted for the engine.
    beside("random_write", read=64, written=17, device_read_bytes=64 * MIB),
    about_names("create", block={"write_bytes": 60 * MIB, "writes": 9000}),
    beside(read=80, place=NULL_PLACE),
    beside(read=80, status="failed"),
]


@pytest.mark.parametrize(("words", "bad"), FIRING)
def test_fires(words: str, bad: Evidence) -> None:
    fires(RULE, Verdict.CONTENDED, words, bad)


def test_it_is_bounded_how_much_slower_the_others_made_it() -> None:
    """By their part of the bytes, or of the requests, whichever is more: 16 MiB in 256 operations are ours."""

    def most(case: Evidence) -> float:
        finding = RULE(case)
        assert isinstance(finding, Finding)
        return finding.numbers["max_slowdown"]

    assert most(beside(read=80)) == pytest.approx(5)
    assert most(beside(read=80, block={"reads": 2560})) == pytest.approx(10)
    # Several in flight may be merged, down to 16 requests of 1 MiB.
    several = {"cache": "direct", "queue_depth": 4}
    assert most(beside(read=80, block={"reads": 2560}, parameters=several)) == pytest.approx(160)


@pytest.mark.parametrize("good", SILENT)
def test_keeps_silent(good: Evidence) -> None:
    assert RULE(good) is None


@pytest.mark.parametrize(
    ("words", "poor"),
    [
        ("no block device below", beside(read=80, block=None)),
        ("no block device below", beside(read=80, elapsed_ns=0)),
        ("not applicable: the storage under test is memory", beside(read=80, place=MEMORY_PLACE)),
    ],
)
def test_says_what_it_lacks(words: str, poor: Evidence) -> None:
    lacks(RULE, words, poor)


def test_every_rule_here_is_tested() -> None:
    here: set[Rule] = {rule for rule in RULES if rule.__module__ == tenant.__name__}
    assert here == {RULE}


def test_more_than_half_of_the_repeats_must_agree() -> None:
    bad = {"block": {"read_bytes": 80 * MIB}}
    assert [odd_repeats(RULE, bad, odd, of) for odd, of in ((1, 1), (1, 2), (2, 3), (2, 4), (3, 4))] == [
        True,
        False,
        True,
        False,
        True,
    ]
    found = RULE(evidence(changes=[bad, bad, bad, {}]))
    assert isinstance(found, Finding) and "in 3 of 4 repeats" in found.text


def test_what_an_earlier_phase_left_to_be_written_back_is_the_case_s_own() -> None:
    parameters = {"cache": "keep", "sync": "none"}
    later = beside("read", read=16, written=16, parameters=parameters, phase=1)
    assert isinstance(RULE(later), Finding)
    case = later.case.model_copy(update={"operations": ("write", "read")})
    assert RULE(replace(later, case=case)) is None


@settings(max_examples=times(200, 5000))
@given(
    operation=st.sampled_from(["read", "random_read", "write", "random_write", "rewrite", "stride_read"]),
    filesystem=st.sampled_from(["ext4", "xfs", "btrfs", "f2fs"]),
    cache=st.sampled_from(["direct", "keep"]),
    sync=st.sampled_from(["fsync", "o_dsync"]),
    record=st.sampled_from([4096, 65536, 1 << 20]),
    ops=st.integers(1, 100_000),
    journal=st.floats(0, 32),
    ahead=st.floats(1, 8),
    stray=st.integers(0, 1 << 20),
)
def test_what_the_engine_causes_itself_is_never_anothers(
    operation: str,
    filesystem: str,
    cache: str,
    sync: str,
    record: int,
    ops: int,
    journal: float,
    ahead: float,
    stray: int,
) -> None:
    """Read-ahead, journals of up to 32 KiB for each flushed write in 8 requests, whole pages, and some stray bytes."""
    size = ops * record
    writes = "write" in operation
    fetched = int(size * ahead) if cache == "keep" else size
    flushed = ops if sync == "o_dsync" else 1
    block = {
        "read_bytes": 0 if writes else fetched,
        "write_bytes": (size + int(journal * 1024 * flushed) if writes else 0) + stray,
        "reads": 0 if writes else ops,
        "writes": (ops + 8 * flushed if writes else 0) + stray // 4096,
    }
    good = evidence(
        operation,
        place=make_place("disk", filesystem=filesystem),
        parameters={"cache": cache, "sync": sync, "record_size": record},
        bytes=size,
        ops=ops,
        device_read_bytes=0 if writes else fetched,
        device_write_bytes=size if writes else 0,
        block=block,
    )
    assert RULE(good) is None
