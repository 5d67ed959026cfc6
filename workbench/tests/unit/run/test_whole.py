"""How long a whole run is expected to take: by assumed speeds, and as the last run of the study took."""

import os
from pathlib import Path

import pytest
from plan_tools import load, written
from stored_runs import store_run

from assay.model.study.case import Case
from assay.plan.estimate import estimate_study, work_key
from assay.plan.expand import expand
from assay.run.run_time import PastRun, find_past_run, predict_run_time
from assay.run.study_plan import Plan


def study(**changes: object) -> tuple[Plan, tuple[Case, ...]]:
    loaded = load(written(**changes))
    assert loaded.study is not None, loaded.problems
    cases = expand(loaded.study).cases
    return Plan(loaded.study, "", loaded.source, Path("study.yaml"), cases, ()), cases


def idle(monkeypatch: pytest.MonkeyPatch, load_average: float = 0.0) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (2 * load_average, load_average, 3 * load_average))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def past(cases: tuple[Case, ...], seconds: float, load: float | None = 0.0) -> PastRun:
    return PastRun("r1", {work_key(case): seconds for case in cases}, before=20.0, between=1.0, after=5.0, load=load)


def test_the_last_run_goes_before_assumed_speeds(monkeypatch: pytest.MonkeyPatch) -> None:
    idle(monkeypatch)
    plan, cases = study(repeats=4, ceilings="none")
    estimate = estimate_study(plan.study, cases)
    found = predict_run_time(plan, estimate, past(cases, seconds=10.0))
    assert found.expected == pytest.approx(20 + 4 * len(cases) * 11 + 5)
    assert found.low < found.expected < found.high
    assert "as run r1 took" in found.basis
    first = predict_run_time(plan, estimate, None)
    assert "by assumed speeds" in first.basis
    assert first.high / first.low > found.high / found.low, "what was never measured has the wider range"


def test_a_run_of_other_cases_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    idle(monkeypatch)
    plan, cases = study(repeats=4)
    _, others = study(repeats=4, w_file_size="77MiB")
    estimate = estimate_study(plan.study, cases)
    assert predict_run_time(plan, estimate, past(others, 10.0)) == predict_run_time(plan, estimate, None)


@pytest.mark.parametrize(("load", "factor"), [(0.0, 1.0), (2.0, 2.0), (6.0, 4.0)])
def test_a_busier_machine_takes_longer(monkeypatch: pytest.MonkeyPatch, load: float, factor: float) -> None:
    plan, cases = study(repeats=4)
    estimate = estimate_study(plan.study, cases)
    idle(monkeypatch)
    quiet = predict_run_time(plan, estimate, past(cases, 10.0))
    idle(monkeypatch, load)
    busy = predict_run_time(plan, estimate, past(cases, 10.0))
    assert busy.high == pytest.approx(quiet.high * factor)
    assert busy.low == pytest.approx(quiet.low), "others may end at any moment"
    assert predict_run_time(plan, estimate, past(cases, 10.0, load / 2)).high == pytest.approx(quiet.high)


def test_the_newest_whole_run_on_this_machine_is_found(tmp_path: Path) -> None:
    here = {"host": {"name": os.uname().nodename}, "cpu": {"load_before": "3.00 2.00 1.00"}}
    for number, environment in enumerate([here, here, {"host": {"name": "elsewhere"}}], start=1):
        store_run(tmp_path, f"2026010{number}-000000-nightly", {("a", "read"): [1e6] * 3}, environment=environment)
    store_run(tmp_path, "20260109-000000-nightly", {("a", "read"): [1e6] * 3}, environment=here, planned=5)
    found = find_past_run(tmp_path, "nightly")
    assert found is not None
    assert found.run == "20260102-000000-nightly", "not the one of another machine, nor one that is not complete"
    assert found.load == pytest.approx(3.0 / (os.cpu_count() or 1))
    assert find_past_run(tmp_path, "other") is None
    assert find_past_run(tmp_path / "none", "nightly") is None
