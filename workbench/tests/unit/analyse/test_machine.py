"""The verdict on the machine: when there is one, what it says, and what it stands for."""

import math
from typing import Any

import pytest
from builders import MS, make_analysis, make_case, make_place, make_run, make_sample
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.machine import (
    CONSEQUENCES,
    NOT_RUN,
    MachineSample,
    machine_finding,
    machine_notes,
    machine_sample,
    set_aside,
    summarise_controls,
)
from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.machine import ControlReading, Controls, ExplainedVariance, MachineFinding
from assay.model.result.result import RunAnalysis
from assay.model.result.verdict import Finding, Verdict
from assay.model.result.watch import Watch

S = 1000 * MS
SURE = ExplainedVariance(share=0.5, low=0.3, p=0.002, slopes={"waits": 0.0, "works": 3.0})


def control(at: float = 0.0, works: float = 20e3, wait: float = 0.0, away: float = 0.0) -> ControlReading:
    """One that waited for a CPU, and was not run, for these shares of its time."""
    times = {
        "lane_ns": 120 * MS,
        "wait_ns": int(wait * 120 * MS),
        "watched_ns": 120 * MS,
        "away_ns": int(away * 120 * MS),
    }
    return ControlReading(at=at, rates={"waits": 4900.0, "works": works}, **times)


def controls(**fields: Any) -> Controls:
    ordinary = {
        "readings": (control(),) * 9,
        "control_deviation": {"waits": 0.01, "works": 0.12},
        "result_deviation": 0.1,
    }
    return Controls(**{**ordinary, **fields})


def measured(row: str, repeat: int, rate: float = 1e9, **fields: Any) -> MachineSample:
    return MachineSample((row, 0), repeat, 10.0 * repeat, rate, **fields)


def test_a_machine_that_stands_still_has_no_verdict() -> None:
    quiet = summarise_controls([control(number) for number in range(9)], [measured("c1", n) for n in range(1, 9)])
    assert quiet is not None
    assert (quiet.wait_share, quiet.away_share, quiet.result_deviation) == (0.0, 0.0, 0.0)
    assert quiet.control_deviation == {"waits": 0.0, "works": 0.0}
    assert machine_finding(quiet) is None and machine_finding(None) is None
    assert machine_notes(None) == ()


def test_two_controls_say_nothing() -> None:
    assert summarise_controls([control(wait=0.9)] * 2, []) is None
    three = summarise_controls([control(wait=0.9)] * 3, [])
    assert three is not None and three.result_deviation is None
    found = machine_finding(three)
    assert found is not None and found.explained is None
    assert "is not known: it needs 5 repeats" in found.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"wait_share": 0.11}, "Its threads, no more than there are CPUs, waited for one 11 % of the time."),
        (
            {"stolen_share": 0.2, "stolen_error": 0.05},
            "The hypervisor took 20 % of the CPU time (± 5 % of the CPU time).",
        ),
        ({"away_share": 0.3}, "The engine did not run 30 % of the time though no other process used its CPU."),
        ({"wait_share": 0.2, "away_share": 0.3}, "20 % of the time, and the engine did not run 30 %"),
        ({"explained": SURE}, "explains 50 % of a typical result's variance between repeats, at least 30 %."),
        ({"explained": SURE.model_copy(update={"low": 0.0})}, "variance between repeats."),
        (
            {"wait_share": 0.2, "unexplained_reason": "there were 2 controls in 8 rounds"},
            "is not known: there were 2 controls in",
        ),
        (
            {"wait_share": 0.2, "explained": SURE.model_copy(update={"p": 0.2})},
            "do not show that the results vary with the machine",
        ),
    ],
)
def test_what_the_machine_did_is_said_with_its_numbers(fields: dict[str, Any], words: str) -> None:
    found = machine_finding(controls(**fields))
    assert found is not None and words in found.text
    assert "run 9 times between the repeats, varied by 1 % while it waits and 12 % while it copies memory" in found.text
    assert "a typical result varied by 10 %" in found.text
    assert (found.explained is not None) == ("explains" in found.text and "is not known" not in found.text)


@pytest.mark.parametrize(
    "fields",
    [
        {"wait_share": 0.1, "stolen_share": 0.1, "away_share": 0.1},
        {"stolen_share": 0.2, "stolen_error": 0.1},
        {"explained": SURE.model_copy(update={"p": 0.02})},
        {"explained": SURE.model_copy(update={"share": 0.2})},
        # Nothing needs an explanation.
        {"explained": SURE, "result_deviation": 0.01},
    ],
)
def test_little_is_no_verdict(fields: dict[str, Any]) -> None:
    assert machine_finding(controls(**fields)) is None


@given(st.integers(1, 200), st.integers(1, 64), st.integers(1, 10))
def test_the_error_of_stolen_time_is_a_tick_of_each_cpu(n: int, cpus: int, seconds: int) -> None:
    host = {"host_ns": seconds * cpus * S, "stolen_ns": seconds * cpus * S // 5, "cpus": cpus}
    found = summarise_controls([control()] * 3, [measured("c1", repeat, **host) for repeat in range(1, n + 1)])
    assert found is not None
    assert found.stolen_share == pytest.approx(0.2)
    assert found.stolen_error == pytest.approx(0.01 / seconds / math.sqrt(n))


def test_what_is_not_told_is_unknown() -> None:
    blind = ControlReading(at=0, rates={"works": 1.0})
    found = summarise_controls([blind] * 3, [measured("c1", 1)])
    assert found is not None and (found.wait_share, found.stolen_share, found.away_share) == (None, None, None)
    assert machine_finding(found) is None


def test_a_sample_is_seen_with_its_watch() -> None:
    watch = Watch(interval_ns=5 * MS, elapsed_ns=S, stalls=1, stalled_ns=9 * MS, longest_ns=9 * MS, away_ns=8 * MS)
    seen = machine_sample(make_sample(throughput=1e6, bytes=10**6, watch=watch, host_busy_ns=1, host_idle_ns=2, cpus=4))
    assert (seen.watched_ns, seen.away_ns, seen.longest_ns, seen.host_ns, seen.stolen_ns) == (S, 8 * MS, 9 * MS, 3, 0)
    assert seen.at == pytest.approx(1_795_288_503.75)
    assert machine_sample(make_sample()).away_ns is None


def test_what_repeats_got_counts_only_where_the_control_was_kept_from_the_cpus() -> None:
    rates = [1.0, 2.0, 1.2, 1.9, 1.1, 2.2, 0.9, 1.8]
    kept = [
        measured(f"c{row}", n + 1, rate * 1e9, cpu_share=rate / 4) for row in range(3) for n, rate in enumerate(rates)
    ]
    at = [control(10.0 * n, wait=0.3) for n in range(9)]
    busy, quiet = (
        summarise_controls(at, kept),
        summarise_controls([one.model_copy(update={"wait_ns": 0}) for one in at], kept),
    )
    assert busy is not None and busy.explained is not None and busy.explained.share > 0.8
    assert quiet is not None and quiet.explained is not None and quiet.explained.share == 0.0
    seen = machine_sample(make_sample(cpu_user_ns=2, cpu_system_ns=1, cpu_wait_ns=1))
    assert seen.cpu_share == 0.75
    assert machine_sample(make_sample(cpu_wait_ns=1)).cpu_share is None


def finding(rule: str, verdict: Verdict = Verdict.CLIENT_BOUND) -> Finding:
    return Finding(verdict=verdict, rule=rule, text=rule, remedy="", numbers={})


def aside(rules: list[str], lanes: int = 2, wait: float = 0.2, told: Controls | None = None, **more: Any) -> set[str]:
    """Rules whose findings are the machine's, of a result on two CPUs whose lanes waited for this share."""
    waits = {"cpus": 2, "elapsed_ns": S, "cpu_wait_ns": int(wait * lanes * S)}
    samples = [make_sample(repeat=repeat, **waits) for repeat in range(1, 6)]
    found = [finding(rule) for rule in rules]
    kept, theirs = set_aside(told or controls(), make_case(lanes=lanes, **more), samples, found)
    assert sorted([*kept, *theirs], key=str) == sorted(found, key=str)
    return {one.rule for one in theirs}


ALL = [*NOT_RUN, *CONSEQUENCES, "unsustained", "unstable", "cached_read", "impossible", "busy_client", "throttled"]


def test_what_follows_from_lanes_that_were_not_run_is_the_machines() -> None:
    assert aside(ALL) == {*NOT_RUN, *CONSEQUENCES, "unsustained"}
    assert aside(["unsustained", "starved_client"]) == {"starved_client"}
    assert aside(["unsustained", "late_engine"]) == {"late_engine", "unsustained"}
    assert aside(["no_steady_state", "cached_read"]) == {"no_steady_state"}


def test_what_does_not_is_not() -> None:
    # Nobody kept these lanes from a CPU, or they kept each other from it.
    assert aside(["unstable", "no_steady_state"], wait=0.04) == set()
    assert aside([*NOT_RUN, *CONSEQUENCES], lanes=3) == set()
    assert aside([*NOT_RUN, *CONSEQUENCES], cpus="0") == set()
    assert aside(["cached_read", "impossible", "busy_client", "engine_bound"]) == set()


def test_without_a_verdict_on_the_machine_all_stays() -> None:
    found = (finding("starved_client"),)
    assert set_aside(None, make_case(), [], found) == (found, ())


def busy(machine: bool) -> RunAnalysis:
    """A run whose lanes waited a fifth of their time, and failed in one case besides."""
    cases = [make_case(f"c{number}", lanes=1, cache="direct") for number in (1, 2)]
    waits = {"cpus": 2, "cpu_wait_ns": S // 5, "elapsed_ns": S}
    samples = [make_sample(case.id, repeat, **waits) for case in cases for repeat in range(1, 5)]
    samples[-1] = samples[-1].model_copy(update={"status": "failed"})
    told = controls(wait_share=0.3)
    verdict = {"controls": told, "machine": machine_finding(told)} if machine else {}
    run = make_run(repeats=4, places=(make_place(),), **verdict)
    return analyse(run, cases, (), samples, (), judge)


def test_the_verdict_comes_once_and_the_rows_keep_what_was_found() -> None:
    before, after = busy(machine=False), busy(machine=True)
    assert [row.verdict for row in before.rows] == [Verdict.CLIENT_BOUND, Verdict.INCOMPLETE]
    assert [row.verdict for row in after.rows] == [Verdict.OK, Verdict.INCOMPLETE]
    assert all("starved_client" in {one.rule for one in row.findings} for row in before.rows)
    assert all([one.rule for one in row.machine] == ["starved_client"] for row in after.rows)
    assert before.machine is None and after.machine is not None and after.machine.rows == 2
    assert sum("without storage" in note for note in after.notes) == 1
    assert "2 results had findings that the machine caused, not the storage" in after.notes[0]
    one = after.machine.model_copy(update={"rows": 1})
    assert "1 result had a finding that the machine caused, not the storage" in machine_notes(one)[0]


def test_runs_of_earlier_versions_have_no_verdict_on_the_machine() -> None:
    assert make_analysis().machine is None
    assert make_run().controls is None
    assert MachineFinding(text="x", remedy="y").rows == 0
