"""Buckets as studies name them: what may be written, where credentials belong, what S3 does not allow."""

from functools import partial
from typing import Any

import pytest
from plan_tools import (
    load,
    object_problem,
    object_problems,
    object_study,
    object_target,
    object_written,
    study,
    written,
)

from assay.kinds.handler import handler_of
from assay.kinds.http_uri import parse_http_uri
from assay.model.base import AssayError

LOCAL = {"kind": "s3", "endpoints": ["http://127.0.0.1:9000"], "bucket": "assay-demo"}
target = partial(object_target, LOCAL)
refused = partial(object_problem, LOCAL)
work_refused = partial(object_problems, LOCAL)


def test_without_an_endpoint_it_is_aws_in_the_region() -> None:
    written = {"kind": "s3", "bucket": "my-bench", "region": "eu-central-1"}
    told = object_study(targets={"cloud": written}).targets["cloud"].job_target("c0001-r1").model_dump(mode="json")
    assert told["endpoints"] == ["https://s3.eu-central-1.amazonaws.com"]
    assert (told["addressing"], told["region"], told["root"], told["directory"]) == (
        ("virtual_host", "eu-central-1", "assay", "c0001-r1")
    )
    for changes, endpoint, addressing in (
        ({"region": "cn-north-1"}, "https://s3.cn-north-1.amazonaws.com.cn", "virtual_host"),
        ({"bucket": "my.bench"}, "https://s3.eu-central-1.amazonaws.com", "path"),
        ({"addressing": "path"}, "https://s3.eu-central-1.amazonaws.com", "path"),
    ):
        told = object_study(targets={"cloud": {**written, **changes}}).targets["cloud"].job_target().model_dump()
        assert (told["endpoints"], told["addressing"]) == ([endpoint], addressing)


def test_a_service_elsewhere_is_addressed_by_path() -> None:
    found = target()
    assert found.job_target().model_dump(mode="json")["addressing"] == "path"
    assert found.path == "http://127.0.0.1:9000/assay-demo/assay"
    assert tuple(service[:2] for service in found.services) == (("127.0.0.1", 9000),)


@pytest.mark.parametrize("field", ["endpoint", "endpoints"])
@pytest.mark.parametrize("endpoints", ["http://door1:9000/", ["http://door1:9000"]])
def test_one_endpoint_may_be_no_list(field: str, endpoints: Any) -> None:
    whole = {"kind": "s3", "bucket": "assay-demo", field: endpoints}
    found = object_study(targets={"cloud": whole}).targets["cloud"]
    assert found.job_target().model_dump()["endpoints"] == ["http://door1:9000"]


def test_doors_to_one_host_are_one_server() -> None:
    found = target(endpoints=["http://door1:9000", "http://door1:9001", "https://door2"])
    assert tuple(service[:2] for service in found.services) == (("door1", 9000), ("door2", 443))
    assert found.path == "http://door1:9000 and 2 more/assay-demo/assay"
    assert found.job_target(servers=2).model_dump()["endpoints"] == ["http://door1:9000", "http://door1:9001"]


@pytest.mark.parametrize(
    ("endpoints", "why"),
    [
        ("127.0.0.1:9000", "does not begin with http:// or https://"),
        ("ftp://127.0.0.1", "does not begin with http:// or https://"),
        ("s3://bucket", "does not begin with http:// or https://"),
        ("http://127.0.0.1:9000/bucket", "has a path"),
        ("http://127.0.0.1?x=1", "has a path"),
        ("http://", "is not an endpoint"),
        ("http://door 1", "is not an endpoint"),
        ("http://door:70000", "is not an endpoint"),
        ([], "no endpoint is named"),
        (["http://door", 5], "no endpoint is named"),
        (5, "no endpoint is named"),
        (["http://door", "http://door/"], "http://door comes twice"),
    ],
)
def test_doubtful_endpoints_are_refused(endpoints: Any, why: str) -> None:
    assert why in refused(endpoints=endpoints)


@pytest.mark.parametrize("endpoint", ["http://AKIAXX:hunter2hunter2@door:9000", "hunter2hunter2@door"])
def test_a_password_in_an_endpoint_is_refused_and_not_repeated(endpoint: str) -> None:
    told = refused(endpoints=endpoint)
    assert "credentials" in told and "AWS_ACCESS_KEY_ID" in told and "hunter2" not in told


@pytest.mark.parametrize(
    "key",
    [
        *("access_key", "secret_key", "access_key_id", "secret_access_key", "session_token", "aws_access_key_id"),
        *("aws_secret_access_key", "accessKey", "secretKey", "AWS_SESSION_TOKEN", "password", "credentials", "secret"),
    ],
)
def test_credentials_are_refused_with_the_place_where_they_belong(key: str) -> None:
    told = refused(**{key: "hunter2hunter2"})
    assert f"targets.cloud.{key}: a study must not contain credentials" in told
    assert "~/.aws/credentials" in told and "role" in told and "hunter2" not in told


@pytest.mark.parametrize(
    "changes",
    [
        *({"bucket": "ab"}, {"bucket": "a..b"}, {"bucket": "-ab"}, {"bucket": "a/b"}, {"bucket": 5}),
        *(
            {"region": ""},
            {"region": "eu central"},
            {"prefix": "a//b"},
            {"prefix": "a/../b"},
            {"prefix": "/a"},
            {"prefix": ".x"},
            {"prefix": ""},
        ),
        *({"keys": "deep"}, {"keys": {"prefixes": 0}}, {"keys": {"prefixes": 10**7}}, {"keys": {"prefixes": True}}),
        *({"checksum": "sha1"}, {"balance": "random"}, {"addressing": "host"}, {"storage_class": "a b"}),
        *({"anonymous": "yes"}, {"anonymous": True, "profile": "p"}, {"profile": "a b"}, {"timeout": "1ms"}),
        *({"ca_file": "~/ca.pem"}, {"versioned": 1}, {"root": "x"}, {"endpoint": "http://other"}),
    ],
)
def test_doubtful_fields_are_refused(changes: dict[str, Any]) -> None:
    assert refused(**changes)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("flat", {"layout": "flat"}),
        ("random", {"layout": "random"}),
        ({"prefixes": 16}, {"layout": "prefixes", "count": 16}),
        ("prefixes 16", {"layout": "prefixes", "count": 16}),
    ],
)
def test_layouts_of_keys(keys: Any, told: dict[str, Any]) -> None:
    assert target(keys=keys).job_target().model_dump(mode="json")["keys"] == told


def test_only_a_confirmed_run_may_write_to_a_bucket_of_others() -> None:
    found = target()
    assert [found.job_target(destroy=yes).model_dump()["destroy"] for yes in (False, True)] == [False, True]

    class Probing:
        run = "0" * 32
        asked: Any = None

        def __init__(self, destroy: bool) -> None:
            self.destroy = destroy

        def probe_target(self, job_target: Any, may_hang: bool = False, everywhere: bool = False) -> None:
            self.asked = job_target

    for destroy in (False, True):
        probing = Probing(destroy)
        handler_of(found).probe(probing)  # type: ignore[arg-type]
        assert probing.asked.destroy is destroy


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"w_part_size": "1MiB"}, "S3 takes no parts of 1MiB"),
        ({"w_part_size": [None, "6GiB"]}, "S3 takes no parts of 6GiB"),
        ({"w_part_size": "5MiB", "w_object_size": "1TiB"}, "an object of 1TiB has more than 10,000 parts of 5MiB"),
        ({"w_object_size": "1KiB..6GiB"}, "an object of 6GiB is too large to be put whole"),
        ({"w_servers": 2}, "2 servers, but target cloud has 1"),
        (
            {"w_lanes": 1024, "w_queue_depth": [1, 128]},
            "1024 lanes with 128 requests in flight each need 90GiB of memory",
        ),
    ],
)
def test_what_s3_does_not_take_is_refused(changes: dict[str, Any], why: str) -> None:
    (message,) = work_refused(changes)
    assert message.partition(" | ")[0].endswith(why)


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({"w_operations": ["put", "get"]}, True),
        ({"w_operations": ["put", "delete", "put"]}, True),
        ({"w_operations": ["object_mix"], "w_runtime": "1s"}, True),
        ({"w_operations": ["get", "put"]}, False),
        ({"w_operations": ["put", "put"]}, False),
        ({"w_operations": ["put"], "w_runtime": "1s"}, False),
    ],
)
def test_a_conditional_put_is_done_once(changes: dict[str, Any], right: bool) -> None:
    found = work_refused(changes, if_none_match=True)
    assert found == [] if right else "no object can be put twice" in found[0]


@pytest.mark.parametrize(
    ("targets", "make", "message"),
    [
        (
            {"disk": {"kind": "file", "path": "/var/tmp/x"}},
            object_written,
            "target disk is a directory, which has no obj",
        ),
        (
            {"disk": {"kind": "device", "path": "/dev/sdx"}},
            object_written,
            "target disk is a block device, which has no",
        ),
        (
            {"nas": {"kind": "nfs", "servers": "s", "export": "/e"}},
            object_written,
            "target nas is an NFS export, which",
        ),
        ({"cloud": LOCAL}, written, "target cloud is a bucket, which has no data of files"),
    ],
)
def test_work_that_a_target_has_nothing_for_is_refused(targets: Any, make: Any, message: str) -> None:
    (problem,) = load(make(targets=targets)).problems
    assert message in problem.message and problem.hint


def test_a_target_without_storage_takes_all_work() -> None:
    assert study(targets={"none": {"kind": "null"}}) and object_study()


@pytest.mark.parametrize("kind", ["s3", "dynamodb"])
def test_an_endpoint_of_the_environment_is_not_passed_over(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typed in one word it is taken; a study, which says where its data goes, is refused and says what to write."""
    thing = {"s3": "bucket", "dynamodb": "table"}[kind]
    there = object_study(targets={"cloud": {"kind": kind, thing: "my-bench"}}).targets["cloud"]
    own = object_study(targets={"cloud": {"kind": kind, thing: "my-bench", "endpoint": "http://h:1"}}).targets["cloud"]
    name = f"AWS_ENDPOINT_URL_{kind.upper()}"

    class Probing:
        destroy = True

        def probe_target(self, _target: Any, **_more: Any) -> str:
            return "asked"

    for set_to in ({}, {name: "http://own:9000"}, {"AWS_ENDPOINT_URL": "http://any:9000"}):
        for variable in (name, "AWS_ENDPOINT_URL"):
            monkeypatch.delenv(variable, raising=False)
        for variable, text in set_to.items():
            monkeypatch.setenv(variable, text)
        assert handler_of(own).probe(Probing()) == "asked"  # type: ignore[arg-type, comparison-overlap]
        found = (parse_http_uri(f"{kind}://my-bench", kind) or ("", "", {}))[2]
        assert found == ({"endpoint": next(iter(set_to.values()))} if set_to else {})
        assert (parse_http_uri(f"{kind}://my-bench?endpoint=http://h:1", kind) or ("", "", {}))[2] == {
            "endpoint": "http://h:1"
        }
        if not set_to:
            assert handler_of(there).probe(Probing()) == "asked"  # type: ignore[arg-type, comparison-overlap]
            continue
        with pytest.raises(AssayError, match=f"{next(iter(set_to))} is set, and the study names no endpoint"):
            handler_of(there).probe(Probing())  # type: ignore[arg-type]
        monkeypatch.setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
        assert handler_of(there).probe(Probing()) == "asked"  # type: ignore[arg-type, comparison-overlap]
        monkeypatch.delenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
