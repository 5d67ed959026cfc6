"""Objects that are there already as the data set of a study: what may be asked of them, and what the engine is told."""

from typing import Any

import pytest
from plan_tools import load, object_study, object_written

from assay.kinds.handler import Claimer, Cleaner, handler_of
from assay.plan.estimate import StudyEstimate, estimate_study
from assay.plan.expand import expand
from assay.plan.jobs import plan_job

DATA = {"kind": "s3", "endpoint": "http://door", "bucket": "our-data", "existing": "logs/"}
READS = {"w_operations": ["get", "head", "list"], "w_objects": 50}


def written(target: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    data = object_written(targets={"data": {**DATA, **(target or {})}}, **{**READS, **changes})
    if "w_object_size" not in changes:
        del data["workloads"]["w"]["object_size"]
    return data


def job(**changes: Any) -> dict[str, Any]:
    study = load(written(**changes)).study
    assert study is not None
    told: dict[str, Any] = plan_job(study, expand(study).cases[0], 1).job.model_dump(mode="json", exclude_none=True)
    return told


def refused(target: dict[str, Any] | None = None, **changes: Any) -> str:
    (problem,) = load(written(target, **changes)).problems
    assert problem.hint
    return f"{problem.message} | {problem.hint}"


def estimate(**changes: Any) -> StudyEstimate:
    study = load(written(repeats=1, **changes)).study
    assert study is not None
    return estimate_study(study, expand(study).cases)


def test_nothing_is_put_first_and_no_size_is_told() -> None:
    told = job(w_range="1MiB")
    assert [(phase["operation"], phase.get("range_bytes")) for phase in told["phases"]] == [
        ("get", 1 << 20), ("head", None), ("list", None),
    ]  # fmt: skip
    assert (told["file_size_bytes"], told["objects"]["count"], told["target"]["existing"]) == (0, 50, "logs/")
    assert "sizes" not in told and "part_size_bytes" not in told["objects"] and not told["data"]["verify"]


@pytest.mark.parametrize(("existing", "path"), [("", "http://door/our-data/"), ("a b/ü", "http://door/our-data/a b/ü")])
def test_it_is_where_its_keys_begin(existing: str, path: str) -> None:
    study = load(written({"existing": existing})).study
    assert study is not None and study.targets["data"].path == path
    assert study.targets["data"].job_target().model_dump()["existing"] == existing


@pytest.mark.parametrize("operation", ["put", "delete", "copy", "multi_delete"])
def test_what_would_change_something_is_refused(operation: str) -> None:
    told = refused(w_operations=["get", operation])
    assert f"its objects exist already and are only read, not {operation}" in told
    assert "use get, head, list, object_mix" in told


def test_a_mix_has_only_gets_and_heads() -> None:
    assert "has only get and head" in refused(w_operations=["object_mix"])
    assert "has only get and head" in refused(w_operations=["object_mix"], w_mix={"get": 80, "put": 20})
    mixed = job(w_operations=["object_mix"], w_mix={"get": 80, "head": 20})
    assert [phase["operation"] for phase in mixed["phases"]] == ["object_mix"]


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("object_size", "64KiB", "their sizes come from listing them"),
        ("part_size", "8MiB", "nothing is put"),
        ("verify", True, "their expected contents are not known"),
        ("compressible", 50, "their contents are not known"),
        ("duplicate", 50, "their contents are not known"),
    ],
)
def test_what_nobody_knows_of_them_is_not_asked(field: str, value: object, why: str) -> None:
    told = refused(**{f"w_{field}": value})
    assert why in told and f"remove {field}" in told


@pytest.mark.parametrize(
    "target",
    [{"prefix": "x"}, {"keys": "random"}, {"storage_class": "COLD"}, {"versioned": True}, {"if_none_match": True}],
)
def test_fields_of_objects_that_are_put_are_refused(target: dict[str, Any]) -> None:
    (field,) = target
    assert f"with `existing` nothing is put, so {field} has no effect" in refused(target)


@pytest.mark.parametrize("existing", [None, 5, ["a"], "a\nb", "x" * 1025])
def test_a_doubtful_beginning_is_refused(existing: object) -> None:
    assert '"" for the whole bucket' in refused({"existing": existing})


def test_an_engine_keeps_only_so_many_names() -> None:
    told = refused(w_objects=1_000_000, w_lanes=11)
    assert "11 lanes with 1,000,000 objects each are more than 10,000,000 in all" in told
    assert not load(written(w_objects=1_000_000, w_lanes=10)).problems


def test_a_size_is_missed_only_where_objects_are_made() -> None:
    data = written()
    data["targets"]["other"] = {**{key: DATA[key] for key in ("kind", "endpoint")}, "bucket": "my-bench"}
    (problem,) = load(data).problems
    assert "`object_size` is missing" in problem.message
    data["workloads"]["w"]["targets"] = ["data"]
    assert not load(data).problems


def test_an_estimate_invents_no_sizes() -> None:
    found = estimate(w_lanes=4)
    assert (found.requests, found.written, found.read, found.has_known_sizes) == (50 * 4 * 2 + 4, 0, 0, False)
    assert found.read_summary("up to ") == "of unknown size" and found.peak_space == {"data": 0}
    assert any("without the bytes of the objects" in line for line in found.assumptions)
    assert not any("to put, copy or delete" in line for line in found.assumptions)
    known = estimate(w_operations=["head", "list"])
    assert known.has_known_sizes and known.read_summary() == "0 B"


def test_nothing_is_claimed_and_nothing_is_cleaned() -> None:
    class Nothing:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(name)

    study = load(written()).study
    assert study is not None
    keeper = handler_of(study.targets["data"])
    hands: Any = Nothing()
    claiming: Claimer = hands
    cleaning: Cleaner = hands
    keeper.claim(claiming)
    assert keeper.clean("c0001-r1", cleaning) == []
    made = object_study(targets={"cloud": {**{key: DATA[key] for key in ("kind", "endpoint")}, "bucket": "my-bench"}})
    with pytest.raises(AssertionError, match="by_engines"):
        handler_of(made.targets["cloud"]).claim(claiming)
