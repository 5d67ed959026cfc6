"""Adaptive repeats: when a case is known well enough, and what follows for plan, store and analysis."""

import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from builders import make_case, make_meta, make_names, make_run, make_sample
from hypothesis import assume, given
from hypothesis import strategies as st
from plan_tools import load, study, written
from sample_run import sample_run
from scipy import stats

from assay.analyse.estimate import estimate
from assay.analyse.repeats.adaptive import case_reach, is_case_precise, is_precise
from assay.analyse.rows import analyse
from assay.cli.progress import LineProgress
from assay.model.result.evidence import Evidence
from assay.model.result.sample import JobRecord, Sample
from assay.model.result.verdict import Verdict
from assay.model.study.case import Case
from assay.model.study.repeats import DEFAULT_REPEATS, Repeats, repeats_words
from assay.model.study.study import study_schema
from assay.model.units import about_duration
from assay.plan.estimate import estimate_study
from assay.plan.expand import expand
from assay.report.build import build_document
from assay.run.listener import TimeLeft
from assay.run.settle import settle, settle_all
from assay.run.study_plan import estimate_text
from assay.store import RunStore, list_runs

RATES = st.floats(1e-3, 1e12)
ABOUT = st.lists(st.floats(0.8, 1.25), min_size=2, max_size=40)
"""Values that differ by so much that both answers come."""
SHARES = st.floats(0.001, 0.5)
TWO = {"n": {"kind": "null"}, "m": {"kind": "null"}}
ADAPTIVE = {"within": "5%", "max": 30}


def far_from_the_edge(values: list[float], within: float) -> bool:
    reach = estimate(values).relative_reach
    return reach is None or abs(reach - within) > 1e-9


# One operation.


@given(st.lists(RATES, max_size=12), SHARES, st.integers(2, 15))
def test_never_enough_with_fewer_than_the_least(values: list[float], within: float, least: int) -> None:
    assume(len(values) < least)
    assert not is_precise(values, within, least)
    assert not is_precise([5.0] * len(values), within, least)


@given(RATES, st.integers(8, 30), SHARES)
def test_equal_values_are_enough_as_soon_as_there_are_eight(value: float, count: int, within: float) -> None:
    assert is_precise([value] * count, within)
    assert not is_precise([value] * 7, within)


@given(ABOUT, SHARES)
def test_both_ends_count_as_scipy_computes_them(values: list[float], within: float) -> None:
    assume(len(values) >= 8)
    logarithms = [math.log(value) for value in values]
    error = stats.sem(logarithms)
    assume(error > 0)
    low, high = (math.exp(end) for end in stats.t.interval(0.95, len(values) - 1, stats.tmean(logarithms), error))
    middle = estimate(values).median
    reach = max(middle - low, high - middle, 0.0) / middle
    assume(abs(reach - within) > 1e-5)
    assert is_precise(values, within) == (reach <= within)


@given(ABOUT, SHARES, SHARES)
def test_what_is_enough_stays_enough_for_who_wants_less(values: list[float], one: float, other: float) -> None:
    narrow, wide = sorted((one, other))
    assert is_precise(values, wide) or not is_precise(values, narrow)


@given(ABOUT, SHARES, st.floats(1e-6, 1e6))
def test_the_unit_does_not_matter(values: list[float], within: float, factor: float) -> None:
    assume(far_from_the_edge(values, within))
    assert is_precise([factor * value for value in values], within) == is_precise(values, within)


@given(ABOUT, SHARES, st.randoms())
def test_the_order_does_not_matter(values: list[float], within: float, chance: Any) -> None:
    assume(far_from_the_edge(values, within))
    shuffled = list(values)
    chance.shuffle(shuffled)
    assert is_precise(shuffled, within) == is_precise(values, within)


def test_a_rate_of_zero_is_never_known() -> None:
    assert not is_precise([0.0] * 30, 0.5)
    assert not is_precise([1e6] * 29 + [0.0], 0.5)


# A case.

CASE = make_case("c0001", "disk", ("write", "read"))


def repeats_of(rates: list[tuple[float, float]], **fields: Any) -> list[Sample]:
    return [
        make_sample("c0001", repeat, rate, operation, phase=phase, **fields)
        for repeat, pair in enumerate(rates, 1)
        for phase, (operation, rate) in enumerate(zip(("write", "read"), pair, strict=True))
    ]


def test_every_operation_of_a_case_must_be_known() -> None:
    wild = [1e8 * (1 + repeat % 2) for repeat in range(8)]
    assert is_case_precise(CASE, repeats_of([(1e8, 2e8)] * 8), 0.05)
    assert not is_case_precise(CASE, repeats_of([(1e8, 2e8)] * 7), 0.05)
    assert not is_case_precise(CASE, repeats_of([(1e8, rate) for rate in wild]), 0.05)
    assert not is_case_precise(CASE, repeats_of([(rate, 2e8) for rate in wild]), 0.05)
    assert not is_case_precise(CASE, repeats_of([(1e8, 2e8)] * 8)[::2], 0.05), "read has left nothing"
    assert not is_case_precise(CASE, [], 0.05)


def test_the_same_operation_twice_is_two_phases() -> None:
    case = make_case("c0001", "disk", ("read", "read"))
    first = [make_sample("c0001", repeat, 1e8, "read", phase=0) for repeat in range(1, 9)]
    second = [make_sample("c0001", repeat, 5e8, "read", phase=1) for repeat in range(1, 9)]
    assert not is_case_precise(case, first, 0.05)
    assert is_case_precise(case, first + second, 0.05)


def test_a_failed_repeat_has_no_value_and_bars_nothing() -> None:
    good = repeats_of([(1e8, 2e8)] * 8)
    bad = [sample.model_copy(update={"repeat": 9, "status": "failed"}) for sample in repeats_of([(9e8, 9e8)])]
    assert is_case_precise(CASE, good + bad, 0.05)
    assert not is_case_precise(CASE, good[2:] + bad, 0.05), "only seven values"


def test_metadata_operations_are_known_by_their_number() -> None:
    case = make_case("c0001", "disk", ("stat",))
    steady = [make_names(repeat=repeat) for repeat in range(1, 9)]
    wild = [make_names(repeat=repeat, iops=5e4 * (1 + repeat % 2)) for repeat in range(1, 9)]
    assert case_reach(case, steady) == pytest.approx(0.0, abs=1e-9)
    assert not is_case_precise(case, wild, 0.05)


# Study and estimate.


@pytest.mark.parametrize(
    ("given_so", "meant"),
    [
        (5, Repeats(max=5, min=5)),
        (ADAPTIVE, Repeats(max=30, min=8, within=0.05)),
        ({"within": "2.5 %", "max": 1000, "min": 20}, Repeats(max=1000, min=20, within=0.025)),
        ({"within": "50%", "max": 8}, Repeats(max=8, min=8, within=0.5)),
        ({"within": "5%", "max": 9, "time": "2m"}, Repeats(max=9, min=8, within=0.05, time=120 * 10**9)),
        ({"decide": "5%", "max": 20}, Repeats(max=20, min=5, decide=0.05)),
        ({"decide": "1%", "max": 9, "min": 4, "time": "90s"}, Repeats(max=9, min=4, decide=0.01, time=90 * 10**9)),
    ],
)
def test_all_forms_are_read_and_fit_the_schema(given_so: Any, meant: Repeats) -> None:
    found = study(targets=TWO, repeats=given_so)
    assert (found.repeating, found.repeats) == (meant, meant.max)
    jsonschema.Draft202012Validator(study_schema()).validate(written(repeats=given_so))


def test_what_is_done_if_the_study_does_not_say() -> None:
    assert study(targets=TWO).repeating == DEFAULT_REPEATS
    assert study().repeating == Repeats(max=DEFAULT_REPEATS.min, min=DEFAULT_REPEATS.min)
    (problem,) = load(written(repeats={"decide": "5%", "max": 20})).problems
    assert problem.message == "repeats: with one target there is nothing to decide"


@pytest.mark.parametrize(
    ("given_so", "field"),
    [
        ({"within": "0%", "max": 30}, "repeats.within: "),
        ({"within": "51%", "max": 30}, "repeats.within: "),
        ({"within": "5", "max": 30}, "repeats.within: "),
        ({"within": "5%\n", "max": 30}, "repeats.within: "),
        ({"within": None, "max": 30}, "repeats.within: "),
        ({"within": "5%", "max": 10, "min": 20}, "repeats.max: max 10 is below min, which is 20"),
        ({"within": "5%", "max": True}, "repeats.max: "),
        ({"within": "5%", "max": 30, "min": 7}, "repeats.min: "),
        ({"decide": "5%", "max": 30, "min": 3}, "repeats.min: "),
        ({"decide": "5%", "within": "5%", "max": 30}, "repeats: "),
        ({"decide": "0%", "max": 30}, "repeats.decide: "),
        ({"decide": "5%", "max": 30, "time": 120}, "repeats.time: "),
        ({"decide": "5%", "max": 30, "time": "1ms"}, "repeats.time: "),
        ({}, "repeats: "),
        ([5], "repeats: "),
        ("5%", "repeats: "),
    ],
)
def test_doubtful_repeats_are_refused(given_so: Any, field: str) -> None:
    (problem,) = load(written(repeats=given_so)).problems
    assert problem.message.startswith(field)
    assert problem.hint


def test_words_for_repeats() -> None:
    assert [repeats_words(*numbers) for numbers in ((1,), (3, 3), (30, 8), (1000,))] == [
        "1 repeat",
        "3 repeats",
        "8 to 30 repeats",
        "1,000 repeats",
    ]


def test_the_time_is_told_from_the_fewest_repeats_to_the_most() -> None:
    fixed, open_ended = study(repeats=30, w_runtime="10s"), study(repeats=ADAPTIVE, w_runtime="10s")
    one = estimate_study(fixed, expand(fixed).cases)
    two = estimate_study(open_ended, expand(open_ended).cases)
    assert two.min_seconds == pytest.approx(two.seconds * 8 / 30)
    assert (two.seconds, two.written, two.jobs) == (one.seconds, one.written, one.jobs)
    assert one.min_seconds == one.seconds
    least, most = about_duration(two.min_seconds), about_duration(two.seconds)
    assert one.time_text.startswith(f"about {most}")
    assert two.time_text.startswith(f"about {least} to {most}")
    assert estimate_text(two, 1, open_ended.repeating.words).startswith(f"1 case x 8 to 30 repeats: about {least} to")
    assert "writes up to about" in estimate_text(two, 1, open_ended.repeating.words)
    assert "writes about" in estimate_text(one, 1, fixed.repeating.words)


# Store and decisions.

REPEATS = Repeats(max=12, min=8, within=0.05)
CASES = (make_case("c0001", "disk", ("read",)), make_case("c0002", "disk", ("read",)))


def create(root: Path) -> RunStore:
    meta = make_meta(repeats=12, repeats_within=0.05, repeats_min=8)
    order = [(case.id, repeat) for repeat in range(1, 13) for case in CASES]
    return RunStore.create(root, meta, CASES, (), order, "study: s\n")


def execute(store: RunStore, case: Case, repeat: int, rate: float = 1e8, status: str = "ok") -> int:
    attempt = store.begin_attempt(case.id, repeat, {})
    samples = [] if status == "crashed" else [make_sample(case.id, repeat, rate, "read")]
    store.finish_repeat(attempt, status, 0.5, "", "", samples)
    return settle(store, REPEATS, case)


def left(store: RunStore, case: Case) -> list[int]:
    return [repeat for case_id, repeat in store.pending() if case_id == case.id]


def test_a_case_that_is_known_is_not_asked_for_again(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        for repeat in range(1, 9):
            assert store.info().planned == 24
            assert execute(store, CASES[0], repeat) == (4 if repeat == 8 else 0)
            execute(store, CASES[1], repeat, rate=1e8 * (1 + repeat % 2))
        assert (left(store, CASES[0]), left(store, CASES[1])) == ([], [9, 10, 11, 12])
        assert len(store.order()) == 24, "the plan keeps them"
        assert [repeat for case_id, repeat in store.pending(include_settled=True) if case_id == "c0001"] == [
            9,
            10,
            11,
            12,
        ]
        assert list(store.settled()) == ["c0001"]
        assert store.settled()["c0001"].endswith("after 8 repeats")
        for repeat in range(9, 13):
            execute(store, CASES[1], repeat, rate=1e8 * (1 + repeat % 2))
        info, folder = store.info(), store.folder
        assert (store.pending(), info.planned, info.finished) == ([], 20, 20)
        assert (info.repeats, info.repeats_within, info.repeats_min) == (12, 0.05, 8)
        assert info.repeats_words == "8 to 12 repeats"
    with RunStore.open(folder) as store:
        assert store.info().planned == 20
    assert list_runs(tmp_path)[0].planned == 20


def test_a_decision_lost_with_the_workbench_is_made_up_for(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        for repeat in range(1, 9):
            attempt = store.begin_attempt("c0001", repeat, {})
            store.finish_repeat(attempt, "ok", 0.5, "", "", [make_sample("c0001", repeat, 1e8, "read")])
        assert left(store, CASES[0])
        settle_all(store, REPEATS, CASES)
        assert (left(store, CASES[0]), left(store, CASES[1])) == ([], list(range(1, 13)))
        assert store.info().planned == 20
        settle_all(store, REPEATS, CASES)
        assert store.info().planned == 20, "deciding twice changes nothing"


def test_a_crashed_repeat_of_a_known_case_is_tried_again_and_may_undo_the_decision(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        for repeat in range(1, 10):
            fewer = execute(store, CASES[0], repeat, status="crashed" if repeat == 3 else "ok")
        assert fewer == 3
        assert left(store, CASES[0]) == [3]
        assert store.is_pending("c0001", 3) and not store.is_pending("c0001", 10)
        assert execute(store, CASES[0], 3, rate=3e8) == -3
        assert left(store, CASES[0]) == [10, 11, 12]
        assert store.is_pending("c0001", 10) and not store.is_pending("c0001", 3)
        assert (store.settled(), store.info().planned) == ({}, 24)


def test_a_fixed_number_is_never_cut_short(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        for repeat in range(1, 13):
            attempt = store.begin_attempt("c0001", repeat, {})
            store.finish_repeat(attempt, "ok", 0.5, "", "", [make_sample("c0001", repeat, 1e8, "read")])
            assert settle(store, Repeats(max=12, min=12), CASES[0]) == 0
        settle_all(store, Repeats(max=12, min=12), CASES)
        assert (store.settled(), store.info().planned) == ({}, 24)


# Analysis and words.


def job(case: str, repeat: int) -> JobRecord:
    return JobRecord(case=case, repeat=repeat, status="ok", attempts=1, started_at=0, seconds=1, reason="", job={})


def test_the_judge_is_told_what_was_asked_for() -> None:
    asked: dict[str, Evidence] = {}

    def judge(evidence: Evidence) -> tuple[Verdict, tuple[()], tuple[()]]:
        asked[evidence.case.id] = evidence
        return Verdict.OK, (), ()

    run = make_run(repeats=12, repeats_within=0.05, repeats_min=8)
    jobs = [job(case.id, repeat) for case in CASES for repeat in range(1, 10)]
    samples = [make_sample(job.case, job.repeat, 1e8, "read") for job in jobs]
    analyse(run, CASES, (), samples, jobs, judge, quick=True, settled={"c0001": True})
    assert {case: evidence.planned for case, evidence in asked.items()} == {"c0001": 9, "c0002": 12}
    assert {evidence.within for evidence in asked.values()} == {0.05}
    assert asked["c0001"].estimate is not None
    assert asked["c0001"].estimate.relative_reach == pytest.approx(0.0, abs=1e-9)


def test_the_report_says_how_often_and_until_when() -> None:
    fixed = sample_run()
    told = repr(build_document(fixed))
    assert f"{fixed.run.repeats} repeats each" in told and "is repeated until" not in told
    rule = {"repeats": 30, "repeats_within": 0.025, "repeats_min": 8}
    told = repr(build_document(fixed.model_copy(update={"run": fixed.run.model_copy(update=rule)})))
    assert "8 to 30 repeats each" in told
    assert "reaches at most 2.5 % of the median" in told and "after 8 repeats at the earliest" in told
    assert "each round runs every case that still needs repeats once" in told


def test_progress_counts_what_is_still_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    time_left = TimeLeft(24.0, at_most=True, count=24)
    lines = LineProgress(24, 0, time_left)
    sample = make_sample("c0001", 8, 1e8, "read")
    time_left.end_repeat(1.0, 1.0)
    lines.finish(CASES[0], 8, "ok", "", 1.0, [sample])
    time_left.end_repeat(1.0, 1.0)
    time_left.drop_repeats(4.0, 4)
    lines.drop_repeats(4)
    lines.finish(CASES[0], 8, "ok", "", 1.0, [sample])
    lines.finish(CASES[1], 8, "ok", "", 1.0, [sample])
    assert capsys.readouterr().err.splitlines() == [
        "[1/24] c0001 repeat 8 ok in 1.0 s: read 100 MB/s; at most 23 s left",
        "[2/20] c0001 repeat 8 ok in 1.0 s: read 100 MB/s; precise enough, 4 repeats saved; at most 18 s left",
        "[3/20] c0002 repeat 8 ok in 1.0 s: read 100 MB/s; at most 18 s left",
    ]
