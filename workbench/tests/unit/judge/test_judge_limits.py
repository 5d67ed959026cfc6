"""The rules that hold a result against ceilings, and those about the client's own limits."""

from dataclasses import replace
from typing import Any

import pytest
from builders import MEMORY_PLACE, MS, make_place
from judge_tools import (
    NFS_PLACE,
    NULL_PLACE,
    Rule,
    about_names,
    bind,
    evidence,
    fires,
    odd_repeats,
    rule_tests,
)

from assay.judge import limits
from assay.judge.judge import judge
from assay.model.result.ceiling import CeilingName
from assay.model.result.evidence import Evidence
from assay.model.result.verdict import Verdict
from assay.model.result.watch import Watch

S = 10**9


def at(name: CeilingName, share: float, **changes: Any) -> Evidence:
    """One ceiling is known, and the result is at this share of it."""
    return evidence(ceilings=(bind(name, share),), **changes)


def used(user: float, system: float, elapsed_ns: int = S, **changes: Any) -> Evidence:
    """The engine used so many seconds of CPU time in each second."""
    times = {"cpu_user_ns": int(user * elapsed_ns), "cpu_system_ns": int(system * elapsed_ns)}
    return evidence(elapsed_ns=elapsed_ns, **times, **changes)


def waited(share: float, lanes: int = 1, stolen: float | None = 0.0, elapsed_ns: int = S, **changes: Any) -> Evidence:
    """Lanes waited for this share of their time; so much of the host's time was taken."""
    host = {"host_busy_ns": S, "host_idle_ns": S, "host_stolen_ns": None}
    if stolen is not None:
        host["host_stolen_ns"] = int(2 * S * stolen / (1 - stolen))
    wait = {"cpu_wait_ns": int(share * lanes * elapsed_ns)}
    parameters = {"cache": "direct", "lanes": lanes, **changes.pop("parameters", {})}
    return evidence(parameters=parameters, elapsed_ns=elapsed_ns, **{**host, **wait, **changes})


def stalled(away_ms: int | None, longest_ms: int, elapsed_ns: int = S, **changes: Any) -> Evidence:
    """The engine was not run for so long, in stalls of at most `longest_ms`."""
    away = None if away_ms is None else away_ms * MS
    watch = {"stalls": 1, "stalled_ns": longest_ms * MS, "longest_ns": longest_ms * MS, "away_ns": away}
    return evidence(watch=Watch(interval_ns=5 * MS, elapsed_ns=elapsed_ns, **watch), elapsed_ns=elapsed_ns, **changes)


def flying(requests: float, asked: int = 8, ops: int = 1000, **changes: Any) -> Evidence:
    """So many requests were in flight on average, by the rate and by how long one took."""
    parameters = {"objects": 100, "object_size": 4096, "queue_depth": asked, **changes.pop("parameters", {})}
    latency = {"min": 1e6, "mean": 2e6, "p50": 2e6, "p99": 4e6, "max": 5e6}
    fields = {"ops": ops, "steady_iops": requests * 500, "latency": latency, **changes}
    return evidence("get", place=NFS_PLACE, parameters=parameters, **fields)


BOTH_STATED = (bind("stated read", 1.2), bind("link", 3.0))
PINNED = {"cache": "direct", "lanes": 2, "cpus": "0"}
POLLED = {"cache": "direct", "method": "io_uring", "iopoll": True}
OPEN = {"rate": 100.0}
QUIET_HOST = {"host_busy_ns": 1 * MS, "host_idle_ns": 1 * MS, "host_stolen_ns": 1 * MS}

FIRING: list[tuple[Rule, Verdict, str, Evidence]] = [
    (
        limits.impossible,
        Verdict.IMPOSSIBLE,
        "1.06 GB/s is 1.06 times the ceiling `stated read`",
        at("stated read", 1.06),
    ),
    (limits.impossible, Verdict.IMPOSSIBLE, "`stated write` (1 GB/s; made up)", at("stated write", 1.06)),
    (limits.impossible, Verdict.IMPOSSIBLE, "`stated read IOPS` (5e+04 op", at("stated read IOPS", 1.06)),
    (limits.impossible, Verdict.IMPOSSIBLE, "`link`", at("link", 1.06)),
    (limits.impossible, Verdict.IMPOSSIBLE, "1.26 times the ceiling `client link`", at("client link", 1.26)),
    (
        limits.impossible,
        Verdict.IMPOSSIBLE,
        "1.6 TB for each second of CPU time: no CPU copies more than 397 GB",
        at("cache copy", 0.1, bytes=16 * 10**9, cpu_user_ns=10**7, cpu_system_ns=0, elapsed_ns=10**9),
    ),
    (
        limits.impossible,
        Verdict.IMPOSSIBLE,
        "1.6 TB for each second of CPU time",
        at("cache copy", 0.1, bytes=16 * 10**9, elapsed_ns=10**7, cpu_user_ns=0, cpu_system_ns=0, cpus=2),
    ),
    (limits.impossible, Verdict.IMPOSSIBLE, "3 times the ceiling `link`", evidence(ceilings=BOTH_STATED)),
    (limits.engine_bound, Verdict.CLIENT_BOUND, "is 80 % of what the engine does without", at("engine", 0.8)),
    (limits.engine_bound, Verdict.CLIENT_BOUND, "85 % of what the engine does at a service that", at("client", 0.85)),
    (limits.engine_bound, Verdict.CLIENT_BOUND, "is 110 % of", at("engine", 1.1, place=MEMORY_PLACE)),
    (limits.few_in_flight, Verdict.CLIENT_BOUND, "6.3 of 8 requests were in flight", flying(6.3)),
    (limits.busy_client, Verdict.CLIENT_BOUND, "used 90 % of the CPU time its 1 lane can", used(0.5, 0.4)),
    (
        limits.busy_client,
        Verdict.CLIENT_BOUND,
        "90 % of the CPU time its 4 lanes can",
        used(1.0, 0.8, parameters={"cache": "direct", "lanes": 4}),
    ),
    # Pinned to one CPU, two lanes have one, whatever the machine has.
    (limits.busy_client, Verdict.CLIENT_BOUND, "its 2 lanes can", used(0.5, 0.4, parameters=PINNED)),
    (limits.busy_client, Verdict.CLIENT_BOUND, "used 100 %", used(1.0, 0.0, elapsed_ns=10 * MS)),
    (limits.starved_client, Verdict.CLIENT_BOUND, "waited for a CPU 11 % of the time", waited(0.11)),
    (limits.starved_client, Verdict.CLIENT_BOUND, "waited for a CPU 11 % of the time", waited(0.11, lanes=4)),
    (limits.starved_client, Verdict.CLIENT_BOUND, "waited for a CPU 11 %", waited(0.11, stolen=None, place=NULL_PLACE)),
    (limits.starved_client, Verdict.CLIENT_BOUND, "waited for a CPU 50 %", waited(0.5, elapsed_ns=10 * MS)),
    (limits.starved_client, Verdict.CLIENT_BOUND, "hypervisor took 11 %", waited(0.5, stolen=0.11, parameters=OPEN)),
    (limits.starved_client, Verdict.CLIENT_BOUND, "the hypervisor took 11 % of", waited(0.05, stolen=0.11)),
    (limits.starved_client, Verdict.CLIENT_BOUND, "hypervisor took 11 %", waited(0.0, stolen=0.11, cpu_wait_ns=None)),
    (
        limits.starved_client,
        Verdict.CLIENT_BOUND,
        "50 % of the time; the hypervisor took 50 %",
        waited(0.5, stolen=0.5),
    ),
    (limits.stopped_engine, Verdict.CLIENT_BOUND, "30 % of the time, for at most 300 ms in a row", stalled(300, 300)),
    (limits.stopped_engine, Verdict.CLIENT_BOUND, "in 3 of 3 repeats", stalled(100, 100, elapsed_ns=60 * S)),
    (limits.stopped_engine, Verdict.CLIENT_BOUND, "11 % of the time", stalled(110, 12)),
    (limits.network_bound, Verdict.NETWORK_BOUND, "is 90 % of the link's bandwidth (1 GB/s; made up)", at("link", 0.9)),
]

SILENT: list[tuple[Rule, Evidence]] = [
    (limits.impossible, at("stated read", 1.05)),
    (limits.impossible, at("stated write IOPS", 1.04)),
    (limits.impossible, at("link", 1.04)),
    # What was measured slower elsewhere is no reason: it may have been a bad moment.
    (limits.impossible, at("cache copy", 9.0)),
    (limits.impossible, at("cache copy", 9.0, bytes=3 * 10**9, cpu_user_ns=10**7, elapsed_ns=10**9)),
    (limits.impossible, at("client link", 1.25)),
    # What caches can exceed is not for this rule.
    (limits.impossible, evidence(ceilings=(bind("device read", 9.0), bind("memory copy", 2.0), bind("link", 0.1)))),
    (limits.engine_bound, at("engine", 0.79)),
    (limits.engine_bound, at("client", 0.79)),
    (limits.few_in_flight, flying(6.5)),
    (limits.few_in_flight, flying(8.4)),
    (limits.few_in_flight, evidence()),
    (limits.busy_client, used(0.5, 0.38)),
    (limits.busy_client, used(1.0, 0.76, parameters={"cache": "direct", "lanes": 4})),
    (limits.busy_client, used(0.9, 0.9, cpus=8, parameters={"cache": "direct", "lanes": 8})),
    (limits.busy_client, evidence(status="failed")),
    (limits.starved_client, waited(0.1)),
    # At a rate lanes watch the clock; whether they came late is for `late_engine`.
    (limits.starved_client, waited(0.9, parameters=OPEN)),
    (limits.starved_client, waited(0.1, lanes=4)),
    (limits.starved_client, waited(0.0, stolen=0.1)),
    (limits.starved_client, evidence(status="failed")),
    # A host that hardly ran was hardly seen.
    (limits.starved_client, waited(0.0, **QUIET_HOST)),
    (limits.stopped_engine, stalled(99, 99)),
    # It waited for a CPU that ran something else.
    (limits.stopped_engine, stalled(20, 300)),
    (limits.stopped_engine, stalled(100, 60)),
    (limits.stopped_engine, evidence(status="failed")),
    (limits.network_bound, at("link", 0.89)),
    # There is no network on the way to these.
    *(
        (limits.network_bound, at("device read", 0.9, place=place))
        for place in (make_place(), MEMORY_PLACE, NULL_PLACE)
    ),
]

UNANSWERED: list[tuple[Rule, str, Evidence]] = [
    (limits.impossible, "no applicable ceiling is known", evidence(ceilings=())),
    (limits.impossible, "no applicable ceiling is known", at("device read", 9.0)),
    (limits.impossible, "no applicable ceiling is known", at("memory copy", 9.0)),
    (limits.impossible, "no applicable ceiling is known", at("engine", 9.0)),
    (limits.engine_bound, "no applicable ceiling is known", at("device read", 0.9)),
    (limits.impossible, "no applicable ceiling is known", at("client", 3.0)),
    # A ceiling that repeats were far above was found on a bad moment.
    (limits.engine_bound, "faster with storage than measured without", at("engine", 0.9, iops=1e6)),
    (limits.engine_bound, "not applicable: the target is the engine's own", at("engine", 0.9, place=NULL_PLACE)),
    (limits.busy_client, "not applicable: the target is the engine's own", used(1.0, 0.0, place=NULL_PLACE)),
    (limits.busy_client, "not applicable: the storage under test is memory", used(1.0, 0.0, place=MEMORY_PLACE)),
    (limits.busy_client, "not applicable: polling", used(1.0, 0.0, parameters=POLLED)),
    (limits.busy_client, "not applicable: polling", used(1.0, 0.0, parameters={"cache": "direct", "sqpoll": True})),
    (limits.busy_client, "shorter than 10 ms", used(1.0, 0.0, elapsed_ns=9 * MS)),
    (limits.few_in_flight, "needs phases of at least 400 requests", flying(1.0, ops=399)),
    (limits.few_in_flight, "open loop", flying(1.0, parameters=OPEN)),
    (limits.busy_client, "how many CPUs", used(1.0, 0.0, cpus=0)),
    (limits.starved_client, "shorter than 10 ms", waited(0.5, elapsed_ns=9 * MS)),
    (limits.starved_client, "does not report", waited(0.0, stolen=None, cpu_wait_ns=None)),
    (limits.starved_client, "does not report", waited(0.0, cpu_wait_ns=None, **QUIET_HOST)),
    (limits.starved_client, "open loop", waited(0.9, stolen=None, parameters=OPEN)),
    (limits.stopped_engine, "does not report stalls", evidence(watch=None)),
    (limits.stopped_engine, "does not report stalls", stalled(None, 300)),
    (limits.network_bound, "no network link", replace(at("device read", 0.9), place=None)),
    (limits.network_bound, "no network link", at("device read", 0.9, place=NFS_PLACE)),
]


test_fires, test_keeps_silent, test_says_what_it_lacks, test_every_rule_here_is_tested = rule_tests(
    limits, FIRING, SILENT, UNANSWERED
)


@pytest.mark.parametrize(
    ("rule", "bad"),
    [
        (limits.busy_client, {"cpu_user_ns": S}),
        (limits.starved_client, {"cpu_wait_ns": S // 2}),
        (limits.starved_client, {"host_stolen_ns": S}),
    ],
)
def test_the_median_repeat_decides(rule: Rule, bad: dict[str, Any]) -> None:
    assert not odd_repeats(rule, bad, 2, 5, elapsed_ns=S)
    assert odd_repeats(rule, bad, 3, 5, elapsed_ns=S)


def test_one_stop_in_one_repeat_is_told_and_the_worst_is_named() -> None:
    def stop(milliseconds: int) -> dict[str, Any]:
        times = {"stalled_ns": milliseconds * MS, "longest_ns": milliseconds * MS, "away_ns": milliseconds * MS}
        return {"watch": Watch(interval_ns=5 * MS, elapsed_ns=S, stalls=1, **times)}

    words = "in 2 of 4 repeats the engine did not run for a while"
    several = evidence(changes=[stop(10), stop(300), stop(150), stop(0)], elapsed_ns=S)
    found = fires(limits.stopped_engine, Verdict.CLIENT_BOUND, words, several)
    assert found.numbers == {"away_share": 0.3, "longest_stall_ns": 300 * MS, "repeats": 2}


def test_repeats_that_do_not_tell_are_left_out() -> None:
    short = {"elapsed_ns": MS, "cpu_user_ns": 0, "cpu_wait_ns": 0}
    busy = {"elapsed_ns": S, "cpu_user_ns": S, "cpu_wait_ns": S}
    for rule in (limits.busy_client, limits.starved_client):
        assert odd_repeats(rule, busy, 1, 5, **short)
    untold = [{"cpu_wait_ns": None}, {"cpu_wait_ns": None}, {"cpu_wait_ns": S // 2}]
    fires(limits.starved_client, Verdict.CLIENT_BOUND, "50 %", evidence(changes=untold, elapsed_ns=S))


def test_the_numbers_have_the_unit_of_the_ceiling() -> None:
    found = fires(limits.impossible, Verdict.IMPOSSIBLE, "", at("stated read", 2.0)).numbers
    assert found == {"share": 2.0, "measured_bytes_per_s": 2e9, "ceiling_bytes_per_s": 1e9}
    found = fires(limits.engine_bound, Verdict.CLIENT_BOUND, "", at("engine", 0.9)).numbers
    assert found == {"share": 0.9, "measured_per_s": 45_000.0, "ceiling_per_s": 50_000.0}


def test_an_impossible_result_is_worse_than_all_else() -> None:
    bad = at("stated read", 2.0, status="failed", wall_shift_ns=S)
    assert [finding.verdict for finding in judge(bad)[1]][:2] == [Verdict.IMPOSSIBLE, Verdict.INCOMPLETE]


def test_metadata_operations_have_an_engine_ceiling_too() -> None:
    fires(limits.engine_bound, Verdict.CLIENT_BOUND, "85 %", about_names(ceilings=(bind("engine", 0.85),)))
    assert limits.engine_bound(about_names(ceilings=(bind("engine", 0.75),))) is None


@pytest.mark.parametrize("name", limits.LINKS)
def test_a_host_that_fills_its_link_lacks_no_cpu(name: CeilingName) -> None:
    """Whatever else its lanes waited for, the link held the rate."""
    fires(limits.starved_client, Verdict.CLIENT_BOUND, "30 %", waited(0.3, ceilings=(bind(name, 0.85),)))
    assert limits.starved_client(waited(0.3, ceilings=(bind(name, 0.95),))) is None
