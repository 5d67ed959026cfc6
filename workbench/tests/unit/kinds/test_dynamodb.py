"""Tables as studies name them: what may be written, where credentials belong, what DynamoDB does not allow."""

from functools import partial
from typing import Any

import pytest
from plan_tools import object_problem, object_problems, object_study, object_target

from assay.kinds.dynamodb.crosscheck import key_bytes
from assay.kinds.dynamodb.study import DynamodbTarget

LOCAL = {"kind": "dynamodb", "endpoints": ["http://127.0.0.1:8000"], "table": "assay-demo"}
target = partial(object_target, LOCAL)
refused = partial(object_problem, LOCAL)
work_refused = partial(object_problems, LOCAL)


def test_without_an_endpoint_it_is_aws_in_the_region() -> None:
    for region, endpoint in (
        ("eu-central-1", "https://dynamodb.eu-central-1.amazonaws.com"),
        ("cn-north-1", "https://dynamodb.cn-north-1.amazonaws.com.cn"),
    ):
        written = {"kind": "dynamodb", "table": "my-bench", "region": region}
        told = object_study(targets={"cloud": written}).targets["cloud"].job_target().model_dump(mode="json")
        assert (told["endpoints"], told["region"], told["partition_key"]) == ([endpoint], region, "pk")


def test_where_it_is_for_people_and_for_the_network() -> None:
    found = target(endpoints=["http://one:8000", "http://one:8001", "https://two"])
    assert found.path == "http://one:8000 and 2 more/us-east-1/table/assay-demo/assay"
    assert [(service.name, service.port, service.is_public) for service in found.services] == [
        ("one", 8000, True),
        ("two", 443, True),
    ]


def test_capacity_is_on_demand_or_provisioned() -> None:
    assert target().job_target().model_dump()["capacity"] == {"mode": "on_demand"}
    assert target(capacity="on_demand").job_target().model_dump()["capacity"] == {"mode": "on_demand"}
    told = target(capacity={"read": 1000, "write": 5}).job_target().model_dump()["capacity"]
    assert told == {"mode": "provisioned", "read_units": 1000, "write_units": 5}


@pytest.mark.parametrize(
    "written", [5, "provisioned", {"read": 1}, {"read": 0, "write": 1}, {"read": True, "write": 1}]
)
def test_doubtful_capacity_is_refused(written: Any) -> None:
    assert "on_demand" in refused(capacity=written)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"table": "ab"}, "is not the name of a table"),
        ({"table": "a b c"}, "is not the name of a table"),
        ({"partition_key": "d"}, "is not an attribute for a key"),
        ({"sort_key": "pk"}, "both keys have the same name"),
        ({"partition_items": 5}, "need a sort key | add for example sort_key: sk"),
        ({"partition_items": 0, "sort_key": "sk"}, "out of range"),
        ({"max_requests": 0}, "out of range"),
        ({"max_capacity_units": -1}, "out of range"),
        ({"secret_access_key": "hunter2"}, "a study must not contain credentials"),
        ({"endpoints": ["http://user:hunter2@host"]}, "contains credentials"),
        ({"endpoints": ["http://host/path"]}, "has a path"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_be_gets_one_clear_line(changes: dict[str, Any], said: str) -> None:
    told = refused(**changes)
    assert said in told and "hunter2" not in told


def test_work_that_no_table_does_is_refused_before_anything_is_measured() -> None:
    assert work_refused({"w_object_size": "1MiB"}) == [
        "workloads.w.object_size: DynamoDB takes no items of 1MiB | use at most 400KiB"
    ]
    (small,) = work_refused({"w_object_size": 50})
    assert "no room for its keys" in small
    (batch,) = work_refused({"w_operations": ["batch_put"], "w_batch": 26})
    assert batch == "workloads.w.batch: DynamoDB takes at most 25 items in batch_put | use 1 to 25"
    assert work_refused({"w_operations": ["batch_get"], "w_batch": 100}) == []
    (part,) = work_refused({"w_part_size": "5MiB"})
    assert "items of tables are stored whole" in part
    (mix,) = work_refused({"w_operations": ["object_mix"], "w_mix": {"get": 50, "head": 50}})
    assert "tables do not support head" in mix


def test_an_item_that_is_accepted_has_room_for_its_keys() -> None:
    """The engine counts them exactly, when it knows the name of the job."""
    for changes in ({}, {"sort_key": "sk"}, {"partition_key": "p" * 255, "prefix": "x" * 100}):
        found = target(**changes)
        assert isinstance(found, DynamodbTarget)
        least = key_bytes(found) + 1
        assert work_refused({"w_object_size": least}, **changes) == []
        assert len(work_refused({"w_object_size": least - 1}, **changes)) == 1
