"""Jobs, phases, rules and estimates of work on objects."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_tools import load, object_study, object_written

from assay.model.study.names import DELETES, NEED_OBJECTS, OBJECTS, VISIBILITY
from assay.plan.estimate import StudyEstimate, estimate_study
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.object_estimate import requests_of_pass
from assay.plan.objects import object_phases

BUCKET = {"cloud": {"kind": "s3", "endpoint": "http://door", "bucket": "assay-demo"}}


def job(**changes: Any) -> dict[str, Any]:
    found = object_study(**changes)
    (case, *_) = expand(found).cases
    told: dict[str, Any] = plan_job(found, case, 1).job.model_dump(mode="json", exclude_none=True)
    return told


def phases(**changes: Any) -> list[str]:
    return [f"{'' if phase['measured'] else '-'}{phase['operation']}" for phase in job(**changes)["phases"]]


def estimate(**changes: Any) -> StudyEstimate:
    found = object_study(targets=BUCKET, repeats=1, **changes)
    return estimate_study(found, expand(found).cases)


def test_an_object_is_no_larger_a_piece_than_needed() -> None:
    for size, part, piece in (
        ("64KiB", None, 65536),
        ("1GiB", None, 2**20),
        ("1GiB", "5MiB", 2**20),
        ("4KiB..1MiB", None, 2**20),
        ("1GiB", "64KiB", 65536),
    ):
        assert job(w_object_size=size, w_part_size=part)["record_size_bytes"] == piece
    assert job(w_objects=7, w_part_size="5MiB")["objects"] == {"count": 7, "part_size_bytes": 5 << 20, "batch": 25}


def test_sizes_reach_the_engine() -> None:
    fixed = job(w_object_size="64KiB")
    assert fixed["file_size_bytes"] == 65536 and "sizes" not in fixed
    spread = job(w_object_size="4KiB..1MiB")["sizes"]
    assert spread == {"distribution": "log2", "min_bytes": 4096, "max_bytes": 2**20}
    listed = job(w_object_size={"4KiB": 70, "1MiB": 30})["sizes"]
    assert listed == {
        "distribution": "listed",
        "sizes": [{"bytes": 4096, "weight": 70}, {"bytes": 2**20, "weight": 30}],
    }


def test_what_files_have_is_not_asked_of_objects() -> None:
    told = job()
    assert (told["direct"], told["sync"], told["layout"], told["method"]) == (False, "none", "separate", "auto")
    assert "tree" not in told and all(phase["cache_before"] == "keep" for phase in told["phases"])


def test_a_mix_and_a_range_are_told_where_they_belong() -> None:
    told = job(w_operations=["put", "get", "object_mix"], w_range="4KiB", w_mix={"get": 80, "put": 20})["phases"]
    ranged = [(phase["operation"], phase.get("range_bytes"), phase.get("mix")) for phase in told]
    assert ranged == [("put", None, None), ("get", 4096, None), ("object_mix", None, {"get": 80, "put": 20})]
    (usual,) = [one["mix"] for one in job(w_operations=["object_mix"])["phases"] if one["measured"]]
    assert usual == {"get": 45, "put": 15, "head": 30, "delete": 10}


@pytest.mark.parametrize(
    ("operations", "changes", "found"),
    [
        (["put", "get", "head"], {}, ["put", "get", "head"]),
        (["get"], {}, ["-prepare", "get"]),
        (["put", "get"], {"w_runtime": "1s"}, ["put", "-prepare", "get"]),
        (["put", "delete", "get"], {}, ["put", "delete", "-prepare", "get"]),
        (["object_mix", "list"], {}, ["-prepare", "object_mix", "-prepare", "list"]),
        (["copy", "multi_delete"], {}, ["-prepare", "copy", "multi_delete"]),
    ],
)
def test_what_is_needed_is_put_before(operations: list[str], changes: dict[str, Any], found: list[str]) -> None:
    assert phases(w_operations=operations, **changes) == found


@given(st.lists(st.sampled_from(OBJECTS), min_size=1, max_size=8), st.booleans())
def test_no_phase_goes_without_its_objects(operations: list[str], partial: bool) -> None:
    there = False
    for operation, measured in object_phases(tuple(operations), partial):
        assert there or operation not in NEED_OBJECTS
        there = operation not in DELETES and (there or operation == "prepare" or not partial or operation == "get")
        assert measured == (operation != "prepare")


def test_deletes_take_no_time_from_a_workload() -> None:
    put, _prepare, delete = job(w_operations=["put", "delete"], w_time_limit="1s")["phases"]
    assert put["time_limit_ns"] == 10**9 and "time_limit_ns" not in delete
    assert "runtime_ns" not in job(w_operations=["put", "multi_delete"], w_runtime="1s")["phases"][-1]


def test_bytes_and_requests_are_foreseen() -> None:
    found = estimate(w_operations=["put", "get", "head", "list", "delete"], w_lanes=2, w_objects=1500)
    assert (found.written, found.read, found.requests) == (3000 * 65536, 3000 * 65536, 4 * 3000 + 4)
    assert found.peak_space == {"cloud": 3000 * 65536}
    parts = estimate(w_operations=["put"], w_objects=10, w_object_size="20MiB", w_part_size="8MiB")
    assert (parts.requests, parts.written) == (10 * 5, 10 * 20 * 2**20)
    ranged = estimate(w_operations=["get"], w_objects=10, w_range="1KiB")
    assert (ranged.written, ranged.read, ranged.requests) == (10 * 65536, 10 * 1024, 20)
    mixed = estimate(w_operations=["object_mix"], w_objects=100, w_mix={"get": 30, "put": 20, "head": 50})
    assert (mixed.read, mixed.written) == (30 * 65536, (100 + 20) * 65536)
    assert ", in about 200 requests" in mixed.requests_text and "20 ms to store" in mixed.assumptions[1]
    spread = estimate(w_operations=["put"], w_objects=100, w_object_size={"1KiB": 50, "3KiB": 50})
    assert spread.written == 100 * 2048


@given(
    st.lists(st.sampled_from(OBJECTS), min_size=1, max_size=5),
    st.sampled_from(["4KiB", "1KiB..64MiB", {"4KiB": 70, "1MiB": 30}]),
    st.sampled_from([None, "5MiB"]),
    st.sampled_from([None, "1s"]),
)
def test_every_right_study_has_an_estimate(operations: list[str], size: Any, part: Any, limit: Any) -> None:
    data = object_written(
        targets=BUCKET, w_operations=operations, w_object_size=size, w_part_size=part, w_time_limit=limit
    )
    loaded = load(data)
    assert loaded.study is not None, loaded.problems
    expansion = expand(loaded.study)
    if expansion.faults:
        whole = part and not VISIBILITY.isdisjoint(operations)
        assert whole or (limit and DELETES.issuperset(operations))
        return
    found = estimate_study(loaded.study, expansion.cases)
    assert found.seconds > 0 and found.requests > 0 and found.written >= 0


@pytest.mark.parametrize("operation", sorted(VISIBILITY))
def test_what_is_looked_for_is_put_whole_and_before(operation: str) -> None:
    """It needs nothing that is there, takes two requests for each object, and leaves them for what comes after."""
    phases = object_phases((operation, "get", operation), partial=False)
    assert [phase.operation for phase in phases] == [operation, "get", operation]
    (case,) = expand(object_study(w_operations=[operation], w_objects=30, w_lanes=2)).cases
    assert requests_of_pass(operation, case.parameters) == (120.0, case.parameters.object_sizes.mean / 2)
    loaded = load(object_written(targets=BUCKET, w_operations=[operation], w_part_size="5MiB"))
    assert loaded.study is None or expand(loaded.study).faults, "in parts it is refused"


def test_sizes_are_an_axis() -> None:
    found = object_study(w_object_size=["4KiB", "4KiB..1MiB", {"4KiB": 70, "1MiB": 30}], w_where="object_size != 4KiB")
    cases = expand(found).cases
    assert [case.axes["object_size"] for case in cases] == ["4KiB..1MiB", "4KiB:70,1MiB:30"]
    assert cases[1].label == "none / w / object_size=4KiB:70,1MiB:30"
    mixes = object_study(w_operations=["object_mix"], w_mix=[{"get": 90, "put": 10}, {"get": 10, "put": 90}])
    assert [case.axes["mix"] for case in expand(mixes).cases] == ["get:90,put:10", "get:10,put:90"]
    ranged = object_study(w_object_size={"from": "4KiB", "to": "64KiB", "factor": 4})
    assert [case.parameters.object_size for case in expand(ranged).cases] == [4096, 16384, 65536]


def test_defaults_of_data_are_left_out_of_objects() -> None:
    data = object_written(defaults={"record_size": "4KiB", "file_size": "1MiB", "files": 3, "lanes": 2})
    found = load(data)
    assert found.study is not None and found.study.workloads["w"].lanes.values() == (2,)
    assert found.study.workloads["w"].cache.values() == ("keep",)
