"""Sets of files that cases only read: which cases share one, what their jobs say, and what is planned for it."""

from typing import Any

import pytest
from plan_tools import load, written

from assay.model.study.case import Case
from assay.model.study.study import Study
from assay.plan.estimate import estimate_study
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.layout.shared_files import SharedFiles

GIB = 1 << 30


def study(**changes: Any) -> tuple[Study, tuple[Case, ...]]:
    changes = {"w_total_files": 100, "w_cache": "keep", "w_operations": ["read"], **changes}
    loaded = load(written(**changes))
    assert loaded.study is not None, loaded.problems
    return loaded.study, expand(loaded.study).cases


def groups(**changes: Any) -> list[str | None]:
    plan, cases = study(**changes)
    shared = SharedFiles(plan, cases)
    return [shared.directory(case) for case in cases]


@pytest.mark.parametrize(
    "axis",
    [
        {"w_record_size": ["64KiB", "256KiB"]},
        {"w_file_order": ["sequential", "random"]},
        {"w_verify": [False, True]},
        {"w_cache": ["keep", "drop"]},
    ],
)
def test_ways_of_reading_share_a_set(axis: dict[str, Any]) -> None:
    assert groups(**axis) == ["c0001-r0", "c0001-r0"]


@pytest.mark.parametrize(
    "axis",
    [
        {"w_total_files": [100, 200]},
        {"w_lanes": [1, 2]},
        {"w_file_size": ["1MiB", "2MiB"]},
        {"w_layout": ["shared", "separate"]},
        {"w_compressible": [0, 50]},
    ],
)
def test_other_files_are_another_set(axis: dict[str, Any]) -> None:
    assert groups(**axis) == ["c0001-r0", "c0002-r0"]


@pytest.mark.parametrize(
    "changes",
    [
        {"w_operations": ["write", "read"]},
        {"w_operations": ["random_mix"]},
        {"output": {"keep_files": True}},
        {"w_total_files": None},
    ],
)
def test_who_writes_or_keeps_files_has_a_set_of_its_own(changes: dict[str, Any]) -> None:
    assert set(groups(**changes)) == {None}


def test_jobs_have_the_same_data_and_orders_of_their_own() -> None:
    plan, cases = study(w_record_size=["64KiB", "256KiB"])
    shared = SharedFiles(plan, cases)
    jobs = [shared.job(plan_job(plan, case, repeat), repeat > 1).job for case in cases for repeat in (1, 2)]
    assert len({job.seed for job in jobs}) == 1
    assert len({job.order_seed for job in jobs}) == len(jobs)
    assert [job.reuse_files for job in jobs] == [False, True, False, True]
    assert all(job.keep_files for job in jobs)
    assert len({tuple(phase.operation for phase in job.phases) for job in jobs}) == 1, "phases keep their numbers"


def test_what_is_made_once_is_planned_once() -> None:
    changes = {"w_total_files": 4000, "w_file_size": "1GiB", "w_runtime": "60s", "w_record_size": ["64KiB", "1MiB"]}
    plan, cases = study(repeats=5, **changes)
    estimate = estimate_study(plan, cases)
    assert estimate.written == pytest.approx(4000 * GIB, rel=1e-6)
    assert estimate.peak_space == {name: pytest.approx(4000 * GIB, rel=0.01) for name in estimate.peak_space}
    plan, cases = study(repeats=5, **{**changes, "w_lanes": [1, 2]})
    assert estimate_study(plan, cases).written == pytest.approx(8000 * GIB, rel=1e-6), "two sets, side by side"
