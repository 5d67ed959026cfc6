"""What all kinds of target must do, each with a target of its own."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml
from plan_tools import object_study, study
from pydantic import TypeAdapter

from assay.contract._generated import Job
from assay.kinds.handler import Inspection, TargetHandler, handler_of
from assay.model.result.layers import Layer
from assay.model.study.kinds import kinds
from assay.model.study.study import Study
from assay.model.study.target import Target

HERE = Path(__file__).parent


def written(kind: str) -> dict[str, Any]:
    """A target as a study file has it: `written.yaml` in the folder of its kind."""
    found: dict[str, Any] = yaml.safe_load((HERE / kind / "written.yaml").read_text())
    return found


def study_of(kind: str) -> Study:
    """A study of a target of this kind, with work that it can do."""
    make = study if "data" in kinds()[kind].groups else object_study
    launched = {"launcher": "mpirun"} if kinds()[kind].through_mpi else {}
    return make(targets={"store": written(kind)}, **launched)


def target_of(kind: str) -> Target:
    return study_of(kind).targets["store"]


@pytest.fixture(params=list(kinds()))
def target(request: pytest.FixtureRequest) -> Target:
    return target_of(request.param)


class Hands:
    """Stands in for all that is handed in; tells what was asked."""

    run = "0" * 32
    destroy = True

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        def ask(*arguments: Any, **more: Any) -> Any:
            self.asked.append((name, *arguments, *more.values()))
            return {"device": Inspection([("in use", "")]), "node": "/dev/dm-7"}.get(name, [])

        return ask


def test_a_target_goes_to_other_processes(target: Target) -> None:
    assert pickle.loads(pickle.dumps(target)) == target


def test_a_target_in_a_study_is_of_its_own_class(target: Target) -> None:
    whole = study_of(target.kind)
    assert isinstance(whole, Study)
    assert type(whole.targets["store"]) is kinds()[target.kind]
    assert json.loads(whole.model_dump_json())["targets"]["store"]["kind"] == target.kind


def test_the_engine_takes_what_it_is_told(target: Target) -> None:
    told = target.job_target("c0001-r1", "0" * 32, destroy=True, servers=1).model_dump(mode="json")
    field = Job.model_fields["target"]
    assert TypeAdapter(field.annotation).validate_python(told).model_dump(mode="json") == told


def test_a_speed_is_assumed(target: Target) -> None:
    speed = target.speed()
    assert min(speed.bandwidth, speed.operation, speed.change, speed.parallel) > 0
    assert bool(speed.words) == target.keeps_data


def test_what_a_kind_says_of_itself_fits_together(target: Target) -> None:
    assert target.has_kernel_path <= bool(target.path.startswith("/"))
    assert not (target.is_directory and target.whole_device)
    assert target.accumulates_data <= target.keeps_data
    assert len(set(target.server_names)) == len(target.services)
    assert all(0 < service.port < 65536 for service in target.services)
    assert target.is_in_memory is False


def test_somebody_looks_after_it(target: Target) -> None:
    keeper = handler_of(target)
    assert isinstance(keeper, TargetHandler)
    hands = Hands()
    keeper.inspect(hands)
    keeper.lock(hands)
    keeper.claim(hands)
    assert keeper.clean("c0001-r1", hands) == []
    keeper.probe(hands)
    assert bool(hands.asked) is (target.keeps_data or target.kind == "null")


def test_of_a_directory_everything_is_asked_where_it_is() -> None:
    hands, keeper = Hands(), handler_of(target_of("file"))
    keeper.inspect(hands)
    keeper.claim(hands)
    keeper.clean("c0001-r1", hands)
    path = "/var/tmp/assay-test"
    assert hands.asked == [("directory", path), ("directory", path), ("directory", path, "c0001-r1")]


def test_a_device_that_is_in_use_by_now_is_left_alone() -> None:
    from assay.model.base import AssayError

    device = target_of("device")
    with pytest.raises(AssayError, match="in use"):
        handler_of(device).recheck_target(device.job_target(destroy=True), Hands())


def test_an_export_is_made_and_cleaned_by_engines() -> None:
    hands, export = Hands(), target_of("nfs")
    handler_of(export).claim(hands)
    handler_of(export).clean("c0001-r1", hands)
    assert hands.asked == [("by_engines", export.path), ("by_engine", export.job_target("c0001-r1"))]
    assert tuple(service[:2] for service in export.services) == (
        ("server1", 20490),
        ("server2", 20490),
        ("fe80::1", 2050),
    )
    assert export.directory_of("c0001-r1", "run", local=True) == "run-c0001-r1"


def test_the_null_target_is_nothing_or_a_script() -> None:
    def layers(target: dict[str, Any]) -> tuple[Layer, ...]:
        return handler_of(study(targets={"store": target}).targets["store"]).layers("null", None, Hands())

    assert [layer.kind for layer in layers({"kind": "null"})] == ["nothing"]
    assert [layer.kind for layer in layers(written("null"))] == ["script"]
    quick = {"kind": "null", "latency": {"distribution": "exponential", "mean": "200ns"}}
    assert [layer.kind for layer in layers(quick)] == ["nothing"]


@pytest.mark.parametrize(
    ("kind", "local", "here"),
    [
        ("file", True, True),
        ("file", False, False),
        ("device", False, True),
        ("nfs", True, False),
        ("null", True, False),
    ],
)
def test_what_can_be_looked_at_from_here(kind: str, local: bool, here: bool) -> None:
    assert target_of(kind).is_inspectable(local) is here
