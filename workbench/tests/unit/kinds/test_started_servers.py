"""Buckets and tables in a server that Assay starts: what a study may say, and what is known before it runs."""

from typing import Any

import pytest
from plan_tools import load, object_study, object_written

from assay.kinds.handler import handler_of
from assay.kinds.http import LOCAL_SERVER_SPEED
from assay.model.study.target import Target

BUCKET = {"kind": "s3", "server": "moto", "bucket": "assay-demo"}
TABLE = {"kind": "dynamodb", "server": "moto", "table": "assay-demo"}


def target(written: dict[str, Any]) -> Target:
    return object_study(targets={"cloud": written}).targets["cloud"]


def refused(written: dict[str, Any], **changes: Any) -> str:
    """Message and hint of the one thing that is wrong."""
    (problem,) = load(object_written(targets={"cloud": written}, **changes)).problems
    return f"{problem.message} | {problem.hint}"


class Claims:
    """Counts what is claimed."""

    def __init__(self) -> None:
        self.made = list[str]()

    def directory(self, path: str) -> None:
        self.made.append(path)

    def by_engines(self, path: str) -> None:
        self.made.append(path)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        (BUCKET, "moto on this machine/assay-demo/assay"),
        (TABLE, "moto on this machine/us-east-1/table/assay-demo/assay"),
    ],
)
def test_a_place_is_the_same_before_and_while_its_server_runs(written: dict[str, Any], path: str) -> None:
    before = target(written)
    running = before.at_port(12345)
    assert (before.started_server, before.path, running.path) == ("moto", path, path)
    assert before.job_target().model_dump()["endpoints"] == ["http://moto.invalid"]
    assert running.job_target().model_dump()["endpoints"] == ["http://127.0.0.1:12345"]
    assert running.services == () and running.server_names == ()
    assert before.speed() == running.speed() == LOCAL_SERVER_SPEED


def test_a_bucket_there_is_addressed_by_path() -> None:
    assert target(BUCKET).at_port(1).job_target().model_dump(mode="json")["addressing"] == "path"


def test_what_is_in_it_goes_with_it_so_that_nothing_is_claimed() -> None:
    claims = Claims()
    handler_of(target(BUCKET)).claim(claims)
    assert claims.made == []
    handler_of(target({**BUCKET, "server": None, "endpoint": "http://door:9000"})).claim(claims)
    assert claims.made == ["http://door:9000/assay-demo/assay"]


@pytest.mark.parametrize(("server", "kind"), [("moto", "memory"), ("versitygw", "program")])
def test_what_lies_below_is_memory_or_a_program(server: str, kind: str) -> None:
    (layer,) = handler_of(target({**BUCKET, "server": server})).layers("s3", None, None)  # type: ignore[arg-type]
    assert (layer.kind, layer.label) == (kind, f"{server} (a server that Assay started on this machine)")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({**BUCKET, "endpoint": "http://door"}, "server and endpoints exclude each other | leave one out"),
        ({**BUCKET, "endpoints": ["http://door"]}, "server and endpoints exclude each other | leave one out"),
        ({**TABLE, "profile": "mine"}, "server and profile exclude each other | leave profile out"),
        ({**BUCKET, "server": "motto"}, "no kind of server is called `motto` | did you mean `moto`?"),
        ({**BUCKET, "server": "shelf"}, "no kind of server is called `shelf` | one of: moto, versitygw"),
        ({**BUCKET, "server": "../moto"}, "is not a kind of server | write a name such as moto"),
        ({**TABLE, "server": "versitygw"}, "versitygw offers no tables | write server: moto"),
        ({**BUCKET, "server": "nfs-ganesha"}, "nfs-ganesha offers no buckets | write server: moto or versitygw"),
        (
            {**TABLE, "server": "dynamodb-local"},
            "dynamodb-local runs in a box only: it listens on every address of the machine",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_started_gets_one_clear_line(written: dict[str, Any], said: str) -> None:
    told = refused(written)
    assert told.startswith("targets.cloud.server: ") and said in told


@pytest.mark.parametrize("changes", [{"hosts": "client[1-2]"}, {"testbed": "office"}])
def test_other_hosts_do_not_reach_it(changes: dict[str, Any]) -> None:
    assert "Assay starts servers on this machine only" in refused(BUCKET, **changes)


def test_this_machine_by_its_name_is_this_machine() -> None:
    assert not load(object_written(targets={"cloud": BUCKET}, hosts="localhost")).problems
