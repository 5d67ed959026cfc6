"""Whole runs at tables: what is left of them, tables of others, secrets, what was spent, and where that ends."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from run_tools import assay, check_whole, needs_engine, only_run
from s3_servers import ACCESS_KEY, SECRET_KEY, S3Server
from table_tools import client

from assay.store import RunStore

TABLE = "assay-demo"
STUDY = """
study: tables
question: Does it work?
targets:
  cloud: {{kind: dynamodb, endpoint: "{endpoint}", table: {table}, sort_key: sk, partition_items: 5{more}}}
defaults: {{object_size: 1KiB, objects: 10, verify: true}}
workloads:
  all: {{operations: [put, get, update, batch_put, batch_get, query, scan, delete], lanes: 2, batch: 5}}
  mix: {{operations: [object_mix], object_size: 512B..2KiB, mix: {{get: 70, put: 20, delete: 10}}, runtime: 200ms}}
repeats: 2
ceilings: none
network: none
"""
PHASES = 8
EACH = 2 * (4 * 10 + 2 + 2 + 2) + 2
"""Requests of a repeat of `all`: put, get, update and delete by item, batches and queries by five, one scan a lane."""

pytestmark = needs_engine


def place(folder: Path, server: S3Server, more: str = "", mix: bool = False, repeats: int = 2) -> Path:
    """A folder with a study of the service."""
    made = folder / "place"
    made.mkdir()
    text = STUDY.format(endpoint=server.endpoint, table=TABLE, more=more).replace("repeats: 2", f"repeats: {repeats}")
    if not mix:
        text = text[: text.index("  mix:")] + text[text.index("repeats:") :]
    (made / "study.yaml").write_text(text)
    return made


def tables(server: S3Server) -> list[str]:
    found: list[str] = client(server).list_tables()["TableNames"]
    return found


def items(server: S3Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client(server).scan(TableName=TABLE, ConsistentRead=True)["Items"]
    return sorted(found, key=str)


def make_foreign(server: S3Server) -> None:
    """A table of somebody else, with the same keys."""
    names = [("pk", "HASH"), ("sk", "RANGE")]
    client(server).create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name, _ in names],
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in names],
    )
    for key in ("theirs", "assay/theirs"):
        client(server).put_item(TableName=TABLE, Item={"pk": {"S": key}, "sk": {"S": "1"}})


def test_a_table_is_made_and_nothing_of_it_stays(tmp_path: Path, server: S3Server) -> None:
    folder = place(tmp_path, server, mix=True)
    done = assay(folder, "run", "study.yaml")
    assert tables(server) == []
    with RunStore.open(only_run(folder)) as store:
        assert store.outcome_counts() == {"ok": 4} and store.entries() == []
        samples = list(store.samples())
    by_operation = {sample.operation: sample for sample in samples}
    assert by_operation["put"].service and by_operation["put"].service.write_units > 0
    assert by_operation["query"].service and by_operation["query"].service.objects == 20
    assert by_operation["batch_get"].service and by_operation["batch_get"].service.objects == 20
    assert all(kind.first_byte for sample in samples if sample.operation == "get" for kind in sample.kinds)
    shown = assay(folder, "show", "last", "c0001").stdout
    assert "first byte p50" in shown
    report = Path(assay(folder, "report", "last").stdout.strip()).read_text()
    assert "Service counters" in report and "services-table" in report
    for column in ("Read units", "Write units", "Throttled", "Unprocessed"):
        assert column in report
    exported = assay(folder, "export", "last", "--format", "csv", "--output", "-").stdout
    assert "dynamodb" in exported or "cloud" in exported
    kept = b"".join(Path(at, name).read_bytes() for at, _, names in os.walk(folder) for name in names)
    told = (done.stdout + done.stderr + shown + report + exported).encode()
    assert ACCESS_KEY.encode() not in kept + told and SECRET_KEY.encode() not in kept + told


def test_all_that_was_planned_is_there(tmp_path: Path, server: S3Server) -> None:
    folder = place(tmp_path, server)
    plan = assay(folder, "plan", "study.yaml").stdout
    assert "cloud" in plan or "all" in plan
    assert tables(server) == [], "a plan touches nothing"
    assay(folder, "run", "study.yaml")
    check_whole(folder, phases=PHASES)


def test_a_table_of_others_is_written_to_only_if_that_is_confirmed(tmp_path: Path, server: S3Server) -> None:
    folder = place(tmp_path, server)
    make_foreign(server)
    before = items(server)
    refused = assay(folder, "run", "study.yaml", expect=3)
    assert "--destroy" in refused.stderr and items(server) == before
    assay(folder, "run", "study.yaml", "--destroy")
    assert items(server) == before
    assert "complete" in str(json.loads(assay(folder, "list", "--json").stdout))


def requests_of(folder: Path) -> int:
    """Requests that the engines of a run have counted."""
    total = 0
    with RunStore.open(only_run(folder)) as store:
        for job in store.jobs():
            for line in store.events(job.case, job.repeat).splitlines():
                event = json.loads(line)
                if event.get("event") == "phase_end":
                    total += sum(host["requests"] for host in event.get("connections", ()))
    return total


@pytest.mark.parametrize("limit", [EACH + EACH // 2, 30])
def test_a_run_ends_before_it_sends_more_requests(tmp_path: Path, server: S3Server, limit: int) -> None:
    """In the first repeat, or in a later one; what was measured before stands."""
    folder = place(tmp_path, server, more=f", max_requests: {limit}", repeats=4)
    done = assay(folder, "run", "study.yaml", expect=1)
    said = done.stdout + done.stderr
    assert "max_requests" in said and str(limit) in said and "cloud" in said, said
    assert requests_of(folder) <= limit
    assert tables(server) == [], "the table is removed all the same"
    with RunStore.open(only_run(folder)) as store:
        counts = store.outcome_counts()
        assert counts.get("ok", 0) == limit // EACH and store.entries() == []
        assert len(list(store.jobs())) <= limit // EACH + 1, "no further repeat is begun"
    report = Path(assay(folder, "report", "last").stdout.strip()).read_text()
    assert "Service counters" in report or limit < EACH


def test_a_run_ends_before_it_consumes_more_units(tmp_path: Path, server: S3Server) -> None:
    folder = place(tmp_path, server, more=", max_capacity_units: 25", repeats=4)
    done = assay(folder, "run", "study.yaml", expect=1)
    said = done.stdout + done.stderr
    assert "max_capacity_units" in said and "25" in said, said
    assert tables(server) == []
    with RunStore.open(only_run(folder)) as store:
        assert "ok" not in store.outcome_counts() and store.entries() == []


def test_a_run_that_has_spent_its_limit_is_not_resumed_beyond_it(tmp_path: Path, server: S3Server) -> None:
    limit = EACH + 5
    folder = place(tmp_path, server, more=f", max_requests: {limit}", repeats=4)
    assay(folder, "run", "study.yaml", expect=1)
    spent = requests_of(folder)
    again = assay(folder, "run", "--resume", only_run(folder), expect=1)
    assert "max_requests" in again.stdout + again.stderr
    assert spent <= requests_of(folder) <= limit
    assert tables(server) == []


def test_limits_that_are_not_reached_are_not_felt(tmp_path: Path, server: S3Server) -> None:
    folder = place(tmp_path, server, more=f", max_requests: {2 * EACH}, max_capacity_units: 100000")
    assay(folder, "run", "study.yaml")
    check_whole(folder, phases=PHASES)
    assert requests_of(folder) == 2 * EACH


WRONG = {
    "object_size: 1KiB": ("object_size: 401KiB", "400KiB"),
    "object_size: 1KiB, objects": ("object_size: 60B, objects", "room for its keys"),
    "batch: 5": ("batch: 26", "25"),
    "sort_key: sk, ": ("", "sort_key"),
    "table: assay-demo": ("table: ab", "table"),
    "scan, delete": ("scan, head", "head"),
    "sk, partition": ("d, partition", "d"),
    "partition_items: 5": ("partition_items: 5, access_key: AKIA", "access_key"),
    "repeats: 2": ("repeats: 2\nxyz: 1", "xyz"),
}


@pytest.mark.parametrize(("old", "new", "word"), [(old, *rest) for old, rest in WRONG.items()], ids=lambda text: text)
def test_what_tables_cannot_do_is_said_before(tmp_path: Path, old: str, new: str, word: str) -> None:
    text = STUDY.format(endpoint="http://127.0.0.1:1", table=TABLE, more="")
    assert old in text
    (tmp_path / "study.yaml").write_text(text.replace(old, new))
    told = assay(tmp_path, "check", "study.yaml", expect=2)
    assert word in told.stdout + told.stderr, told.stderr


def test_a_service_that_is_not_there_is_one_clear_line(tmp_path: Path, server: S3Server) -> None:
    folder = place(tmp_path, server)
    server.kill()
    told = assay(folder, "run", "study.yaml", expect=3).stderr
    assert "error: target cloud: " in told and server.endpoint in told
