"""Objects that are there already: they are read at real services, and nothing else happens to them."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from run_tools import ENGINE, assay, check_whole, needs_engine, only_run
from s3_tools import ROOT_KEYS, At, Engine, Json, clean, done_well, environment, run_job

from assay.store import RunStore

pytestmark = needs_engine
SIZES = [0, 1, 1000, 4096, 65_537, 300_000, 5, 20_000, 70_000, 12]
"""Of the objects below `logs/`."""
READER = ("ASSAYREADER000000001", "assay-reader-secret-0")
STUDY = """
study: reads
question: How fast are reads of what is there?
targets:
  data: {{kind: s3, endpoint: "{endpoint}", bucket: {bucket}, existing: logs/}}
workloads:
  whole: {{operations: [get, head, list], objects: 3, lanes: 2}}
  parts: {{operations: [get], range: 1KiB, objects: 50, lanes: 2}}
  mix: {{operations: [object_mix], mix: {{get: 60, head: 40}}, objects: 50, lanes: 2}}
repeats: 2
network: none
"""


def name(number: int) -> str:
    """Letters that stand in no address as they are, and several prefixes."""
    return f"logs/day {number % 3}/ü+%~&={number}.txt"


def fill(at: At) -> None:
    """A bucket of somebody else, with more than what is measured."""
    at.s3.create_bucket(Bucket=at.bucket)
    for number, size in enumerate(SIZES):
        at.s3.put_object(Bucket=at.bucket, Key=name(number), Body=bytes([number]) * size)
    for key in ("other", "assay/theirs", "logs-of-others"):
        at.s3.put_object(Bucket=at.bucket, Key=key, Body=b"precious")


def everything(at: At) -> dict[str, tuple[str, str]]:
    """Key -> hash of the contents, and when it was written; and what is in the bucket besides."""
    found = {"uploads": (json.dumps(at.uploads()), ""), "versions": (json.dumps(sorted(at.versions())), "")}
    for key in at.sizes():
        answer = at.s3.get_object(Bucket=at.bucket, Key=key)
        found[f"/{key}"] = (hashlib.sha256(answer["Body"].read()).hexdigest(), str(answer["LastModified"]))
    return found


def job(at: At, *words: str | Json, **more: Any) -> Json:
    """A job that reads what is below `logs/`."""
    usual: Json = {"target": {"existing": "logs/"}, "file_size_bytes": 0, "data": {}, "lanes": 2, "sync": "none"}
    return at.job(*words, **{**usual, **more})


def place(at: At) -> Path:
    """A folder with a study of the bucket."""
    folder = at.folder / "place"
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY.format(endpoint=at.server.endpoint, bucket=at.bucket))
    return folder


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines that the workbench starts are root at the service."""
    for key, text in ROOT_KEYS.items():
        monkeypatch.setenv(key, text)


def test_each_is_read_whole_in_parts_and_by_its_head_and_nothing_changes(at: At) -> None:
    fill(at)
    before = everything(at)
    ranged = {"operation": "get", "range_bytes": 4096}
    mix = {"operation": "object_mix", "mix": {"get": 50, "head": 50}}
    told = job(at, "get", ranged, "head", "list", mix)
    ended = done_well(told, at.folder)
    counts = [(end["operations"][0]["ops"], end["operations"][0]["bytes"]) for end in ended.ends()[:4]]
    assert counts == [(10, sum(SIZES)), (10, sum(min(size, 4096) for size in SIZES)), (10, 0), (2, 0)]
    (ready,) = [event["existing"] for event in ended.events if event["event"] == "ready"]
    assert (ready["listed"], ready["objects"], ready["bytes"]) == (10, 10, sum(SIZES))
    assert (ready["smallest_bytes"], ready["median_bytes"], ready["largest_bytes"]) == (0, 1000, 300_000)
    assert everything(at) == before
    for words in ([], ["--root"]):
        assert clean(told["target"], *words).returncode == 0
        assert everything(at) == before, "nor does clean touch it, whatever it is asked"


def test_a_whole_run_needs_no_confirmation_and_leaves_everything(at: At, as_root: None) -> None:
    fill(at)
    before, folder = everything(at), place(at)
    planned = assay(folder, "plan", "study.yaml").stdout
    assert "of unknown size" in planned and "without the bytes of the objects" in planned
    assay(folder, "run", "study.yaml")
    assert everything(at) == before
    with RunStore.open(only_run(folder)) as store:
        assert store.outcome_counts() == {"ok": 6} and store.entries(only_open=False) == []
        drawn = {sample.case: sample.existing for sample in store.samples()}
    assert drawn["c0001"] is not None and (drawn["c0001"].objects, drawn["c0001"].listed) == (6, 10)
    assert drawn["c0002"] is not None and (drawn["c0002"].objects, drawn["c0002"].bytes) == (10, sum(SIZES))
    report = Path(assay(folder, "report", "last").stdout.strip()).read_text()
    assert "Objects that existed before the run; the run only reads them" in report
    assert "a put ends when the service has" not in report and "incompressible" not in report
    assay(folder, "run", "study.yaml", "--destroy")
    assert everything(at) == before


def test_a_run_is_whole(at: At, as_root: None) -> None:
    fill(at)
    folder = place(at)
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text[: text.index("  parts:")] + text[text.index("repeats:") :])
    assay(folder, "run", "study.yaml")
    check_whole(folder, phases=3)


def test_what_is_gone_or_has_another_size_is_a_failure_with_its_key(at: At) -> None:
    fill(at)
    told = {**job(at, "get", {"operation": "get", "range_bytes": 10}), "wait_for_go": True}
    engine = Engine(told, at.folder)
    engine.wait_for('"barrier"')
    at.s3.delete_object(Bucket=at.bucket, Key=name(3))
    at.s3.put_object(Bucket=at.bucket, Key=name(4), Body=b"x" * 65_536)
    at.s3.put_object(Bucket=at.bucket, Key=name(5), Body=b"x" * 300_001)
    for _ in range(2 * 2 + 1):
        engine.say({"go": True, "at_ns": 0})
    ended = engine.end()
    assert (ended.code, ended.status) == (1, "errors")
    failed = {"fault NoSuchKey": 2, "fault SizeChanged": 4}
    assert ended.failures() == failed
    objects = {event["object"] for event in ended.events if event["event"] == "error_sample"}
    assert objects == {f"{at.server.endpoint}/{at.bucket}/{name(number)}" for number in (3, 4, 5)}


def test_too_few_objects_are_one_clear_line(at: At, as_root: None) -> None:
    fill(at)
    ended = run_job(job(at, "get", lanes=11), at.folder)
    assert (ended.code, ended.status, ended.ends()) == (2, "refused", []) and len(ended.stderr.splitlines()) == 1
    assert "10 objects begin so, fewer than the 11 lanes" in ended.stderr
    folder = place(at)
    (folder / "study.yaml").write_text((folder / "study.yaml").read_text().replace("logs/", "nothing/"))
    refused = assay(folder, "run", "study.yaml", expect=3)
    assert "there are no objects whose keys begin so" in refused.stderr


def test_the_checks_of_conform_write_nothing_there(at: At) -> None:
    fill(at)
    before = everything(at)
    told = json.dumps({**at.target(existing="logs/")})
    done = subprocess.run(
        [ENGINE, "conform"], input=told, capture_output=True, text=True, check=False, env=environment(**ROOT_KEYS)
    )
    assert done.returncode == 2 and "is only read" in done.stderr
    assert everything(at) == before


def test_who_may_only_read_can_measure(at: At) -> None:
    if at.server.flavour.name != "versitygw":
        pytest.skip("users with rights of their own are made at versitygw")
    fill(at)
    program, (key, secret) = str(at.server.flavour.program()), READER
    root = ["--access", ROOT_KEYS["AWS_ACCESS_KEY_ID"], "--secret", ROOT_KEYS["AWS_SECRET_ACCESS_KEY"]]
    words = [program, "admin", *root, "--endpoint-url", at.server.endpoint, "create-user"]
    made = subprocess.run([*words, "-a", key, "-s", secret, "-r", "user"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made
    resources = [f"arn:aws:s3:::{at.bucket}", f"arn:aws:s3:::{at.bucket}/*"]
    allowed = [
        {"Effect": "Allow", "Principal": {"AWS": [key]}, "Action": ["s3:ListBucket"], "Resource": resources[0]},
        {"Effect": "Allow", "Principal": {"AWS": [key]}, "Action": ["s3:GetObject"], "Resource": resources[1]},
    ]
    policy = json.dumps({"Version": "2012-10-17", "Statement": allowed})
    at.s3.put_bucket_policy(Bucket=at.bucket, Policy=policy)
    before, env = everything(at), {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}
    done_well(job(at, "get", "head", "list"), at.folder, env)
    assert at.run("put", target={"destroy": True}, env=env).code, "it really may not write"
    assert everything(at) == before
