"""Where a job with `cache: remount` is cut, what a study may ask of it, and what is planned for it."""

from typing import Any

import pytest
from plan_tools import load, study, written

from assay.model.study.study import Study
from assay.plan.estimate import REMOUNT_SECONDS, estimate_study
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.layout.legs import legs_of
from assay.plan.phases import leg_starts, plan_phases

MOUNTS = [{"source": "nas:/x", "at": "/m", "type": "nfs4"}]
TARGET = {"disk": {"kind": "file", "path": "/m/assay", "mounts": MOUNTS}}
USUAL: dict[str, Any] = {"targets": TARGET, "hosts": "h1", "w_cache": "remount"}


def starts(*operations: str, reused: bool = False, **changes: Any) -> tuple[int, ...]:
    names = "stat" in operations or "create" in operations
    usual = {"w_files": 10, "w_file_size": "1KiB", "w_record_size": None} if names else {}
    changes = {**USUAL, "w_operations": list(operations), **usual, **changes}
    data = written(**changes)
    data["workloads"]["w"] = {key: value for key, value in data["workloads"]["w"].items() if value is not None}
    loaded = load(data)
    assert loaded.study is not None, loaded.problems
    (case,) = expand(loaded.study).cases
    return leg_starts(plan_phases(case), reused)


@pytest.mark.parametrize(
    ("operations", "first"),
    [
        (("write", "read"), (0, 1)),
        (("read",), (0, 1)),
        (("write", "rewrite", "read", "fwrite", "fread"), (0, 1, 2, 4)),
        (("create", "stat", "unlink", "create", "open", "readdir"), (0, 1, 4, 5)),
        (("stat",), (0, 1)),
    ],
)
def test_it_is_cut_before_each_measured_phase_that_finds_something(
    operations: tuple[str, ...], first: tuple[int, ...]
) -> None:
    assert starts(*operations) == first


def test_what_only_makes_files_that_are_there_is_no_leg() -> None:
    assert starts("read", "reread", reused=True) == (0, 2)
    assert starts("write", "read", w_runtime="1s") == (0, 2), "all is written before anything is unmounted"


def test_each_leg_finds_the_files_and_only_the_last_removes_them() -> None:
    plan = study(**USUAL, w_operations=["write", "rewrite", "random_read"])
    (case,) = expand(plan).cases
    whole = plan_job(plan, case, 1).job
    legs = legs_of(whole)
    names = [[(str(phase.operation), phase.measured) for phase in leg.job.phases] for leg in legs]
    nothing = ("prepare", False)
    assert names == [
        [("write", True)],
        [nothing, ("rewrite", True)],
        [nothing, nothing, ("random_read", True)],
    ], "a phase keeps its number, from which follows what it writes, and in which order"
    assert [(leg.job.keep_files, leg.job.reuse_files) for leg in legs] == [(True, False), (True, True), (False, True)]
    assert {leg.job.seed for leg in legs} == {whole.seed}
    assert all(leg.job.phases[leg.first] == whole.phases[leg.first] for leg in legs)
    kept = legs_of(whole.model_copy(update={"keep_files": True, "reuse_files": True}))
    assert [(leg.job.keep_files, leg.job.reuse_files) for leg in kept] == [(True, True)] * 3


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"hosts": None}, "the study names no hosts, and Assay mounts on hosts only"),
        ({"targets": {"disk": {"kind": "file", "path": "/m/assay"}}}, "is in no file system that Assay mounts"),
        (
            {"targets": {"disk": {**TARGET["disk"], "path": "/other/assay"}}},
            "/other/assay of target disk is in no file system",
        ),
        (
            {"targets": {"disk": {**TARGET["disk"], "shares": ["/other/assay"]}}},
            "/other/assay of target disk is in no file system",
        ),
        ({"targets": {"disk": {"kind": "nfs", "servers": "s", "export": "/x"}}}, "which no host has mounted"),
        ({"w_wear_out": True, "w_time_limit": "1s"}, "how far a wear_out operation got"),
        ({"w_operations": ["create", "rename"], "w_files": 10}, "do not know which names rename has left"),
    ],
)
def test_what_cannot_be_mounted_anew_is_refused(changes: dict[str, Any], why: str) -> None:
    data = {key: value for key, value in written(**{**USUAL, **changes}).items() if value is not None}
    if "create" in data["workloads"]["w"]["operations"]:
        del data["workloads"]["w"]["record_size"]
    loaded = load(data)
    problems = [problem.message for problem in loaded.problems]
    if loaded.study is not None:
        problems += [fault.message for fault in expand(loaded.study).faults]
    assert any(why in problem for problem in problems), problems


def test_the_plan_has_the_mounts_and_the_engines_of_each_leg() -> None:
    def seconds(plan: Study) -> float:
        return estimate_study(plan, expand(plan).cases).cases[0].seconds

    kept, anew = (seconds(study(**{**USUAL, "w_cache": cache})) for cache in ("keep", "remount"))
    assert anew > kept + 2 * REMOUNT_SECONDS
