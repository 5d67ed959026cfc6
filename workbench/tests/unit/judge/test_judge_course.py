"""The rules about how the rate went while a phase lasted."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from builders import MEMORY_PLACE
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_tools import (
    NULL_PLACE,
    Rule,
    about_names,
    evidence,
    fires,
    make_change,
    make_course,
    odd_repeats,
    rule_tests,
    stacked,
)
from soak import times

from assay.analyse.course import IntervalRate
from assay.analyse.course import course as course_of_intervals
from assay.judge import course
from assay.model.result.evidence import Evidence
from assay.model.result.verdict import Finding, Verdict

S = 10**9
HELD: dict[str, Any] = {
    "elapsed_ns": S,
    "course": make_course(variation=0.01),
    "latency": {"mean": 800_000.0},
    "block": {"busy_ns": S // 10, "read_ns": 256 * 200_000},
    "cpu_user_ns": S // 10,
    "cpu_system_ns": S // 10,
    "cpu_wait_ns": 0,
}
"""256 operations of 0.8 ms that take 0.2 ms in a device that is idle most of the time."""
HALF_AND_HALF = {
    "reads": 128,
    "writes": 128,
    "read_ns": 128 * 200_000,
    "write_ns": 128 * 200_000,
    "read_bytes": 8 << 20,
    "write_bytes": 8 << 20,
}
BUFFERED: dict[str, Any] = {
    "parameters": {"cache": "keep"},
    "latency": {"mean": 1000.0},
    "flush_ns": 256 * 799_000,
    "block": {"write_ns": 256 * 200_000, "read_ns": 0},
}
FEW_REQUESTS = {"reads": 16, "read_ns": 16 * 500_000}
APART = (100e6, 110e6, 120e6)
SHORT = int(0.09 * S)
STARVED = int(0.11 * S)
ALL_BUSY = {"host_busy_ns": 2 * S, "host_idle_ns": 0}
BARELY = {"range_share": 0.21, "slope_share": 0.11}
WILDLY = {"range_share": 2.0, "slope_share": 0.5}
TENANT = {"write_bytes": 64 << 20}
FLUSHED = {"cache": "direct", "sync": "o_dsync"}
PACED = {"cache": "direct", "rate": 100.0}


def went(operation: str = "read", **changes: Any) -> Evidence:
    """The course of each repeat, with these changes."""
    own = ("place", "parameters", "status", "speeds", "cpu_wait_ns", "block", "ops", *ALL_BUSY, "cpu_user_ns")
    fields = {name: changes.pop(name) for name in own if name in changes}
    ordinary = {"elapsed_ns": S, "cpu_wait_ns": 0}
    return evidence(operation, course=make_course(**changes), **{**ordinary, **fields})


def dropped(*plateaus: float, p: float = 0.001, **changes: Any) -> Evidence:
    """The rate went from plateau to plateau, in MB/s."""
    pairs = enumerate(pairwise(plateaus), start=1)
    return went(changes=tuple(make_change(a * 1e6, b * 1e6, at / 4, p) for at, (a, b) in pairs), **changes)


def strewn(before: float, after: float, **fields: Any) -> Evidence:
    """The rate fell in each repeat at another time."""
    falls = [make_course(changes=(make_change(before * 1e6, after * 1e6, at),)) for at in (0.3, 0.6, 0.8)]
    return evidence(changes=[{"course": fall, "elapsed_ns": S, **fields} for fall in falls])


def held(operation: str = "read", **changes: Any) -> Evidence:
    """Something holds the rate, apart from what is changed; `block` changes are put beside the others."""
    if isinstance(changes.get("block"), dict):
        changes["block"] = HELD["block"] | changes["block"]
    return evidence(operation, **{**HELD, **changes})


def held_below(**loop: Any) -> Evidence:
    """What `held` says of a device is so of the disk below a loop device, which is full, apart from what is changed."""
    good = held()
    samples = []
    for sample in good.usable:
        disk = sample.block
        assert disk is not None
        full = {"busy_ns": sample.elapsed_ns, "read_ns": sample.ops * 790_000, **loop}
        uses = {"7:7": disk.model_copy(update=full), "254:0": disk}
        samples.append(sample.model_copy(update={"block": None, "devices": uses}))
    # As rows are made.
    made = tuple(sample.model_copy(update={"block": sample.devices["7:7"]}) for sample in samples)
    return replace(good, samples=made, usable=made, place=stacked("direct"))


FIRING: list[tuple[Rule, Verdict, str, Evidence]] = [
    (
        course.no_steady_state,
        Verdict.UNSUSTAINED,
        "the rate ranges over 21 % of its mean",
        went(range_share=0.21, slope_share=0.11),
    ),
    (course.no_steady_state, Verdict.UNSUSTAINED, "21 %", went(ops=125, **BARELY)),
    (course.no_steady_state, Verdict.UNSUSTAINED, "its trend gains 11 % from", went(slope_share=0.11)),
    (course.no_steady_state, Verdict.UNSUSTAINED, "its trend loses 11 % from", went(slope_share=-0.11)),
    (
        course.no_steady_state,
        Verdict.UNSUSTAINED,
        "21 %",
        went(intervals=5, place=NULL_PLACE, **BARELY),
    ),
    (
        course.bursting,
        Verdict.BURSTING,
        "after 0.25 s the rate fell from 100 MB/s to 80 MB/s: the first is a burst",
        dropped(100, 80),
    ),
    (course.bursting, Verdict.BURSTING, "after 0.5 s the rate fell from 100 MB/s to 50 MB/s", dropped(60, 100, 50)),
    (course.bursting, Verdict.BURSTING, "from 100 MB/s to 50 MB/s", dropped(100, 50, 70)),
    (
        course.bursting,
        Verdict.BURSTING,
        "after 0.05 s the rate fell from 342 MB/s to 9.6 MB/s: the first is a burst",
        went(opening=make_change(342e6, 9.6e6, 0.05, p=0.05)),
    ),
    (course.bursting, Verdict.BURSTING, "fell from 150 MB/s to 100 MB/s", dropped(100, 150, 100, 90)),
    # More than all the time without a CPU can have done; or alike in all repeats, as a machine's other work is not.
    (course.no_steady_state, Verdict.UNSUSTAINED, "loses 30 %", went(slope_share=-0.3, block=TENANT)),
    (course.no_steady_state, Verdict.UNSUSTAINED, "90 %", went(range_share=0.9, slope_share=0.5, cpu_wait_ns=SHORT)),
    (course.no_steady_state, Verdict.UNSUSTAINED, "loses 30 %", went(slope_share=-0.3, cpu_wait_ns=SHORT)),
    # The engine itself may keep them busy.
    (
        course.no_steady_state,
        Verdict.UNSUSTAINED,
        "200 %",
        went(**WILDLY, cpu_user_ns=2 * S, **ALL_BUSY),
    ),
    (course.bursting, Verdict.BURSTING, "from 100 MB/s to 50 MB/s", strewn(100, 50, cpu_wait_ns=SHORT // 2)),
    (course.bursting, Verdict.BURSTING, "from 100 MB/s to 79 MB/s", dropped(100, 79, cpu_wait_ns=SHORT)),
    (course.bursting, Verdict.BURSTING, "from 100 MB/s to 50 MB/s", dropped(100, 50, block=TENANT)),
    (course.bursting, Verdict.BURSTING, "79 MB/s", dropped(100, 79, p=0.05, intervals=5)),
    (
        course.bursting,
        Verdict.BURSTING,
        "fell from 5e+04 operations/s to 2e+04 operations/s",
        about_names(course=make_course(changes=(make_change(50e3, 20e3),))),
    ),
    (
        course.throttled,
        Verdict.THROTTLED,
        "(intervals vary by 1 %) while the device is busy only 10 % of",
        held(),
    ),
    # Records may be too large for intervals, or phases too short: then the repeats tell.
    (course.throttled, Verdict.THROTTLED, "(repeats vary by 0.99 %)", held(course=None)),
    (course.throttled, Verdict.THROTTLED, "(repeats vary", held(course=make_course(variation=0.9))),
    (course.throttled, Verdict.THROTTLED, "(repeats vary", held(course=make_course(intervals=4))),
    (course.throttled, Verdict.THROTTLED, "(repeats vary", held(course=None, speeds=(96e6, 100e6, 105e6))),
    # Through the page cache the flush is where data waits, and reads wait as often as the device has requests.
    (course.throttled, Verdict.THROTTLED, "take 4 times", held("write", **BUFFERED)),
    (course.throttled, Verdict.THROTTLED, "busy", held(latency={"mean": 50_000.0}, block=FEW_REQUESTS, ops=2560)),
    (course.throttled, Verdict.THROTTLED, "operations take 4 times as long as the device needs", held()),
    (course.throttled, Verdict.THROTTLED, "while the device below (/dev/vda) is busy only", held_below()),
    (course.throttled, Verdict.THROTTLED, "while the device is busy only", held_below(busy_ns=0, read_ns=0)),
    (course.throttled, Verdict.THROTTLED, "vary by 5 %", held(course=make_course(variation=0.05))),
    # A few odd intervals leave the others as they are.
    (course.throttled, Verdict.THROTTLED, "vary by 5 %", held(course=make_course(variation=0.5, middle_range=0.05))),
    (course.throttled, Verdict.THROTTLED, "busy only 49 %", held(block={"busy_ns": int(0.49 * S)})),
    (course.throttled, Verdict.THROTTLED, "2 times as long", held(latency={"mean": 400_000.0})),
    (course.throttled, Verdict.THROTTLED, "busy", held(cpu_user_ns=int(0.3 * S), cpu_system_ns=int(0.19 * S))),
    (course.throttled, Verdict.THROTTLED, "busy", held(block={"read_bytes": int(0.91 * (16 << 20))})),
    (course.throttled, Verdict.THROTTLED, "busy", held("write", block={"write_ns": 256 * 200_000, "read_ns": 0})),
    (course.throttled, Verdict.THROTTLED, "4 times", held("random_mix", block=HALF_AND_HALF, read_bytes=8 << 20)),
    (course.throttled, Verdict.THROTTLED, "busy", held(cpus=0)),
    (course.throttled, Verdict.THROTTLED, "busy", held(course=make_course(variation=0.01, intervals=5))),
    # Reads do not wait for flushes.
    (course.throttled, Verdict.THROTTLED, "busy", held(parameters=FLUSHED)),
    # On two lanes with two CPUs there is twice as much CPU time.
    (
        course.throttled,
        Verdict.THROTTLED,
        "busy",
        held(cpu_user_ns=int(0.9 * S), cpu_system_ns=0, parameters={"lanes": 2}),
    ),
    # What the device did too fast to be counted took no time.
    (course.throttled, Verdict.THROTTLED, "take 800 times as long", held(block={"read_ns": 0})),
]

SILENT: list[tuple[Rule, Evidence]] = [
    (course.no_steady_state, went(range_share=0.2, slope_share=0.1)),
    (course.no_steady_state, went(range_share=0.2, slope_share=-0.1)),
    (course.no_steady_state, went(range_share=0.9, status="failed")),
    (course.bursting, dropped(100, 80.1)),
    (course.bursting, dropped(100, 200)),
    (course.bursting, dropped(100, 50, p=0.051)),
    # It came back, so the first plateau was no burst.
    (course.bursting, dropped(100, 50, 100)),
    (course.bursting, dropped(100, 50, 81)),
    # Step by step, each to more than 80 % of the one before, is a drift.
    (course.bursting, dropped(100, 85, 73, 62)),
    (course.bursting, dropped(100, 50, status="failed")),
    (course.throttled, held(course=make_course(variation=0.051), speeds=APART)),
    (course.throttled, held(course=make_course(variation=0.01, middle_range=0.051), speeds=APART)),
    (course.throttled, held(course=None, speeds=APART)),
    (course.throttled, evidence(changes=[HELD | {"course": None}, {"course": None}, {"course": None}])),
    # Lanes that wait for a CPU, or a machine that takes its time to wake them up.
    (course.throttled, held(cpu_wait_ns=int(0.31 * S))),
    (course.throttled, held(host_stolen_ns=S, host_busy_ns=S, host_idle_ns=S)),
    (course.throttled, held(latency={"mean": 140_000.0}, block={"read_ns": 256 * 50_000})),
    # The flush of what went past the page cache is the device's own; at random places it may be its cache's.
    (course.throttled, held("write", **(BUFFERED | {"parameters": {"cache": "direct"}}))),
    (course.throttled, held("random_write", **BUFFERED)),
    (course.throttled, held(block={"busy_ns": int(0.5 * S)})),
    (course.throttled, held(latency={"mean": 398_000.0})),
    (course.throttled, held(cpu_user_ns=int(0.3 * S), cpu_system_ns=int(0.2 * S))),
    (course.throttled, held(cpu_user_ns=int(0.9 * S), parameters={"lanes": 2, "cpus": "1"})),
    (course.throttled, held(block={"read_bytes": int(0.89 * (16 << 20))})),
    (course.throttled, held(block={"reads": 0, "read_ns": 0, "read_bytes": 0})),
    (course.throttled, held(place=NULL_PLACE)),
    (course.throttled, held(status="failed")),
    (course.throttled, about_names(**HELD)),
]

FEW = "needs phases of at least 5 whole intervals"
UNANSWERED: list[tuple[Rule, str, Evidence]] = [
    (course.no_steady_state, FEW, went(range_share=0.9, intervals=4)),
    (course.no_steady_state, "each repeat behaves differently", went(range_share=0.9)),
    (course.no_steady_state, FEW, went(range_share=None)),
    (course.no_steady_state, FEW, evidence(course=None)),
    (course.no_steady_state, "not applicable: the study itself sets the rate", went(range_share=0.9, parameters=PACED)),
    (course.no_steady_state, "at least 125 operations", evidence(course=make_course(range_share=0.9), ops=124)),
    (course.bursting, FEW, dropped(100, 50, intervals=4)),
    (course.bursting, FEW, evidence(course=None)),
    (course.throttled, "not applicable: the study itself sets the rate", held(parameters={"rate": 100.0})),
    (course.throttled, "waits for a flush", held("write", parameters=FLUSHED)),
    (course.throttled, "waits for a flush", held("random_mix", parameters={"cache": "direct", "sync": "o_sync"})),
    (course.throttled, "no block device below", held(block=None)),
    (course.throttled, "no block device below", held(latency={})),
    (course.throttled, "no block device below", held(elapsed_ns=0)),
    (course.throttled, "needs 3 repeats, or phases", held(course=make_course(intervals=4), speeds=(1e8, 1e8))),
    (course.throttled, "needs 3 repeats, or phases", held(course=None, speeds=(1e8, 1e8))),
    (course.throttled, "storage under test is memory", held(place=MEMORY_PLACE)),
    (course.no_steady_state, "threads lacked a CPU 9 % of the time", went(range_share=0.6, cpu_wait_ns=SHORT)),
    (course.no_steady_state, "threads lacked a CPU", went(slope_share=-0.45, cpu_wait_ns=SHORT, speeds=(1e8, 1e8))),
    (course.no_steady_state, "other users were active on the device", went(range_share=0.9, block=TENANT)),
    (course.bursting, "threads lacked a CPU 9 % of the time", strewn(100, 80, cpu_wait_ns=SHORT)),
    (course.no_steady_state, "threads had too little CPU", went(range_share=2.0, cpu_wait_ns=STARVED)),
    (course.no_steady_state, "other processes kept the CPUs busy", went(range_share=2.0, **ALL_BUSY)),
    (course.bursting, "threads had too little CPU", strewn(100, 10, cpu_wait_ns=STARVED)),
    (course.bursting, "other users were active on the device", strewn(100, 50, block=TENANT)),
]


test_fires, test_keeps_silent, test_says_what_it_lacks, test_every_rule_here_is_tested = rule_tests(
    course, FIRING, SILENT, UNANSWERED
)


UNSTEADY = {"course": make_course(range_share=0.9, slope_share=-0.6)}
BURST = {"course": make_course(changes=(make_change(100e6, 10e6),))}


@pytest.mark.parametrize(
    ("rule", "bad"), [(course.no_steady_state, UNSTEADY), (course.bursting, BURST), (course.throttled, HELD)]
)
def test_more_than_half_of_the_repeats_must_agree(rule: Rule, bad: dict[str, Any]) -> None:
    assert [odd_repeats(rule, bad, odd, of) for odd, of in ((1, 1), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4))] == [
        True,
        False,
        False,
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("rule", "bad"), [(course.no_steady_state, UNSTEADY), (course.bursting, BURST), (course.throttled, HELD)]
)
def test_repeats_without_a_course_do_not_count_as_steady(rule: Rule, bad: dict[str, Any]) -> None:
    assert odd_repeats(rule, bad, 1, 5, course=None)
    assert odd_repeats(rule, bad, 1, 5, course=make_course(intervals=4))


def test_the_median_number_of_operations_decides_whether_there_are_enough() -> None:
    few = {"ops": 10}
    assert odd_repeats(course.no_steady_state, few, 2, 5, **UNSTEADY)
    assert not odd_repeats(course.no_steady_state, few, 3, 5, **UNSTEADY)


def test_the_numbers_are_those_of_the_repeats_that_show_it() -> None:
    shares = ((0.5, -0.19), (0.3, -0.2), (0.7, -0.25), (0.01, 0.01))
    each = [{"course": make_course(range_share=spread, slope_share=slope)} for spread, slope in shares]
    found = fires(course.no_steady_state, Verdict.UNSUSTAINED, "loses 20 %", evidence(changes=each))
    assert found.numbers == {"range_share": 0.5, "slope_share": -0.2}
    falls = ((0.1, 90e6, 30e6), (0.2, 100e6, 40e6), (0.3, 110e6, 50e6))
    each = [{"course": make_course(changes=(make_change(before, after, at),))} for at, before, after in falls]
    found = fires(course.bursting, Verdict.BURSTING, "after 0.2 s", evidence(changes=[*each, {}]))
    assert found.numbers == {"at_s": 0.2, "before_per_s": 100e6, "after_per_s": 40e6}
    each = [
        HELD
        | {"course": make_course(variation=flat), "latency": {"mean": 200_000.0 * waited}}
        | {"block": HELD["block"] | {"busy_ns": int(busy * S)}}
        for flat, busy, waited in ((0.01, 0.4, 8), (0.03, 0.2, 4), (0.02, 0.1, 2.5))
    ]
    found = fires(course.throttled, Verdict.THROTTLED, "", evidence(changes=[*each, {}]))
    assert found.numbers == {"rate_variation": 0.02, "device_busy_share": 0.2, "latency_to_device_time": 4.0}


@settings(max_examples=times(150, 3000))
@given(
    waits=st.lists(
        st.lists(st.just(0.0) | st.just(0.0) | st.floats(0, 1), min_size=20, max_size=20), min_size=1, max_size=2
    )
)
def test_what_lanes_without_a_cpu_do_to_a_steady_store_is_not_the_store_s(waits: list[list[float]]) -> None:
    """A store that always does the same; in each interval lanes have no CPU for some share of the time."""
    changes = []
    for repeat in waits:
        rates = [100e6 * (1 - wait) for wait in repeat]
        intervals = [IntervalRate(n * S // 20, (n + 1) * S // 20, rate) for n, rate in enumerate(rates)]
        changes.append({"course": course_of_intervals(intervals), "cpu_wait_ns": int(sum(repeat) / 20 * S) + 1})
    found = evidence(changes=changes, elapsed_ns=S, host_busy_ns=S, host_idle_ns=S)
    for rule in (course.no_steady_state, course.bursting):
        assert not isinstance(rule(found), Finding)
