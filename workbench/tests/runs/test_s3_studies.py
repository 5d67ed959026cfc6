"""Whole runs at an S3 service: what is left of them, buckets of others, secrets, first bytes."""

import json
import os
from pathlib import Path
from typing import Any

from run_tools import assay, check_whole, needs_engine, only_run
from s3_harm import refuses
from s3_proxy import Request, harmful
from s3_servers import ACCESS_KEY, SECRET_KEY, S3Server
from s3_tools import BUCKET, client

from assay.store import RunStore

STUDY = """
study: buckets
question: Does it work?
targets:
  cloud: {{kind: s3, endpoint: "{endpoint}", bucket: {bucket}}}
workloads:
  all:
    operations: [put, get, head, list, copy, list_after_put, delete]
    object_size: 4KiB
    objects: 30
    lanes: 2
    verify: true
  mix: {{operations: [object_mix], object_size: 1KiB..8KiB, objects: 20}}
repeats: 2
ceilings: none
network: none
"""

pytestmark = needs_engine


def place(folder: Path, server: S3Server) -> Path:
    """A folder with a study of the service."""
    made = folder / "place"
    made.mkdir()
    (made / "study.yaml").write_text(STUDY.format(endpoint=server.endpoint, bucket=BUCKET))
    return made


def keys(s3: Any) -> set[str]:
    return {item["Key"] for item in s3.list_objects_v2(Bucket=BUCKET).get("Contents", ())}


def test_a_bucket_is_made_and_nothing_of_it_stays(tmp_path: Path, server: S3Server) -> None:
    folder = place(tmp_path, server)
    done = assay(folder, "run", "study.yaml")
    assert client(server).list_buckets()["Buckets"] == []
    with RunStore.open(only_run(folder)) as store:
        assert store.outcome_counts() == {"ok": 4} and store.entries() == []
        gets = [sample for sample in store.samples() if sample.operation == "get"]
    assert all(kind.first_byte for sample in gets for kind in sample.kinds if kind.kind == "get")
    shown = assay(folder, "show", "last", "c0001").stdout
    assert "first byte p50" in shown
    report = Path(assay(folder, "report", "last").stdout.strip()).read_text()
    assert (
        "What other clients see" in report
        and "First byte p50" in report
        and "a put ends when the service has answered" in report
    )
    kept = b"".join(Path(at, name).read_bytes() for at, _, names in os.walk(folder) for name in names)
    told = (done.stdout + done.stderr + shown + report).encode()
    assert ACCESS_KEY.encode() not in kept + told and SECRET_KEY.encode() not in kept + told


def test_what_an_engine_could_not_remove_is_removed_by_the_run(tmp_path: Path, server: S3Server) -> None:
    """Otherwise it stays for ever: the bucket is not empty, so that it is left alone at the end."""

    def removes(request: Request) -> bool:
        return request.method == "POST" and "delete" in request.path

    folder = place(tmp_path, server)
    study = folder / "study.yaml"
    with harmful(server.port, refuses("503 Slow Down", "SlowDown"), removes) as proxy:
        study.write_text(study.read_text().replace(server.endpoint, proxy.endpoint))
        assay(folder, "run", "study.yaml", expect=1)
    with RunStore.open(only_run(folder)) as store:
        assert store.outcome_counts() == {"ok": 3, "errors": 1}, "what happened is told nonetheless"
    assert client(server).list_buckets()["Buckets"] == []


def test_a_result_is_held_against_what_the_client_can_ask_for(tmp_path: Path, server: S3Server) -> None:
    folder = place(tmp_path, server)
    study = folder / "study.yaml"
    study.write_text(study.read_text().replace("ceilings: none\n", "").replace("verify: true", "verify: false"))
    assay(folder, "run", "study.yaml")
    with RunStore.open(only_run(folder)) as store:
        client = [item for item in store.info().ceilings if item.name == "client"]
    operations = {item.kind.split()[0]: item for item in client}
    assert set(operations) == {"put", "get", "head", "list", "copy", "delete", "object_mix"}
    assert all(item.value and item.target == "cloud" for item in client), client
    assert "a service in the engine" in Path(assay(folder, "report", "last").stdout.strip()).read_text()


def test_a_bucket_of_others_is_written_to_only_if_that_is_confirmed(tmp_path: Path, server: S3Server) -> None:
    folder, s3 = place(tmp_path, server), client(server)
    s3.create_bucket(Bucket=BUCKET)
    for key in ("theirs", "assay/theirs"):
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"precious")
    refused = assay(folder, "run", "study.yaml", expect=3)
    assert "--destroy" in refused.stderr and keys(s3) == {"theirs", "assay/theirs"}
    assay(folder, "run", "study.yaml", "--destroy")
    assert keys(s3) == {"theirs", "assay/theirs"}
    runs = json.loads(assay(folder, "list", "--json").stdout)
    assert "complete" in str(runs)


def test_all_that_was_planned_is_there(tmp_path: Path, server: S3Server) -> None:
    folder = place(tmp_path, server)
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text[: text.index("  mix:")] + text[text.index("repeats:") :])
    assay(folder, "run", "study.yaml")
    check_whole(folder, phases=7)


def test_a_service_that_is_not_there_is_one_clear_line(tmp_path: Path, server: S3Server) -> None:
    folder = place(tmp_path, server)
    server.kill()
    told = assay(folder, "run", "study.yaml", expect=3).stderr
    assert "error: target cloud: " in told and server.endpoint in told
