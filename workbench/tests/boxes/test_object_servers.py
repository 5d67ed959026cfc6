"""Servers of objects and tables in a box: they answer, are measured, stop, start again, and leave nothing behind."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import REPOSITORY
from run_tools import assay, needs_engine, only_run
from testbed_tools import assert_nothing_left, need_box, said, written

from assay.model.base import AssayError
from assay.model.site.box import Box
from assay.rooms.testbed.work.running import RunningBox
from assay.rooms.testbed.work.up import bring_up
from assay.servers.kinds import FOLDER
from assay.store import RunStore

BUILT = REPOSITORY / "target" / "servers"
STORE = "disks: [{size: 256MiB, mount: /store}], servers: [{kind: versitygw, buckets: [one], data: /store}]"
S3 = "endpoint: 'http://server1:{}', bucket: {}"
BOXES = {
    "versitygw": f"client1: {{}}\n  server1: {{{STORE}}}",
    "moto": "client1: {}\n  server1: {servers: [{kind: moto, buckets: [one], tables: [tab]}]}",
    "dynamodb-local": "client1: {}\n  server1: {servers: [{kind: dynamodb-local, tables: [tab]}]}",
    "s3fs": (
        "client1: {roles: [client], servers: [{kind: s3fs, source: 'server1:one', mount: /bucket}]}\n"
        f"  server1: {{{STORE}}}"
    ),
}
TARGETS = {
    "versitygw": (
        f"place: {{kind: s3, {S3.format(9000, 'made-by-the-run')}}}\n"
        f"  made-by-the-box: {{kind: s3, {S3.format(9000, 'one')}}}"
    ),
    "moto": f"place: {{kind: s3, {S3.format(5000, 'made-by-the-run')}}}",
    "dynamodb-local": "place: {kind: dynamodb, endpoint: 'http://server1:8000', table: made-by-the-run}",
    "s3fs": "place: {kind: file, path: /bucket/files}",
}
OBJECTS = "operations: [put, get, delete], object_size: 4KiB, objects: 20"
FILES = "operations: [write, read], file_size: 64KiB, record_size: 64KiB"
STUDY = """
study: small
question: Does it work?
testbed: box.yaml
targets:
  {}
workloads:
  w: {{{}, lanes: 2}}
repeats: 2
ceilings: none
network: none
"""
KINDS = sorted(BOXES)


@pytest.fixture(autouse=True)
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the servers lie that `tools/servers.py` gets, and keys that versitygw takes."""
    monkeypatch.setenv("PATH", f"{BUILT}:{os.environ['PATH']}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "assay")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "assay-in-a-box")
    own = describe(tmp_path, "dynamodb-local", "/opt/dynamodb-local", str(BUILT / "dynamodb-local"))
    monkeypatch.setenv("ASSAY_SERVERS", str(own))


def describe(folder: Path, kind: str, before: str, after: str) -> Path:
    """Put a changed description beside those of Assay, before which it goes."""
    own = folder / "own"
    own.mkdir(exist_ok=True)
    text = (FOLDER / f"{kind}.yaml").read_text()
    assert before in text
    (own / f"{kind}.yaml").write_text(text.replace(before, after))
    return own


def need(kind: str) -> None:
    """Skip where the server is not: its jars are looked for only when it starts."""
    if kind == "dynamodb-local" and not next((BUILT / kind).glob("DynamoDBLocal-*.jar"), None):
        pytest.skip(
            f"DynamoDB Local is not in {BUILT / kind}: run `tools/servers.py dynamodb-local`, which needs maven"
        )
    if kind == "s3fs" and not Path("/dev/fuse").exists():
        pytest.skip("there is no /dev/fuse: `modprobe fuse` makes it")


def box(folder: Path, kind: str) -> Box:
    """A box with this kind of server, as `box.yaml` in the folder; where there can be none, the test says why."""
    need(kind)
    found = written(folder, f"name: objects\nhosts:\n  {BOXES[kind]}\n")
    need_box(found)
    return found


@contextlib.contextmanager
def up(described: Box) -> Iterator[RunningBox]:
    """The box while it is needed."""
    running = bring_up(described)
    try:
        yield running
    finally:
        running.down()


@pytest.mark.parametrize("kind", KINDS)
def test_it_answers_until_it_is_stopped_and_again_when_it_is_started(kind: str, root: Path, tmp_path: Path) -> None:
    with up(box(tmp_path, kind)) as running:
        host = "client1" if kind == "s3fs" else "server1"
        (server,) = running.host(host).servers
        assert server.version[:1].isdigit() or kind == "dynamodb-local", server.version
        for signal in ("", "KILL"):
            assert running.server_fault(host, server) == ""
            running.stop_server(host, server, signal)
            assert running.server_fault(host, server) != ""
            running.start_server(host, server)
    assert_nothing_left(root)


@needs_engine
@pytest.mark.parametrize("kind", KINDS)
def test_a_study_makes_its_place_there_and_leaves_nothing(kind: str, root: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    box(work, kind)
    (work / "study.yaml").write_text(STUDY.format(TARGETS[kind], FILES if kind == "s3fs" else OBJECTS))
    done = assay(work, "run", "study.yaml")
    assert "could not be removed" not in done.stderr
    with RunStore.open(only_run(work)) as store:
        assert store.outcome_counts() == {"ok": 4 if kind == "versitygw" else 2}
        assert all(sample.bytes > 0 for sample in store.samples() if sample.operation != "delete")
        assert store.entries() == []
    assert_nothing_left(root)


def test_what_is_written_through_a_mount_is_in_the_bucket(root: Path, tmp_path: Path) -> None:
    with up(box(tmp_path, "s3fs")) as running:
        said(running, "client1", "sh", "-c", "echo words > /bucket/file")
        assert said(running, "server1", "cat", "/store/one/file") == "words\n"
        assert running.host("client1").mounts == ("/bucket",)
        assert not Path("/bucket").exists(), "only the client has it"
        _stopped_by_force(running)
        assert said(running, "client1", "cat", "/bucket/file") == "words\n"


def _stopped_by_force(running: RunningBox) -> None:
    """What a killed program leaves mounted is taken away, or it could not be started again."""
    (server,) = running.host("client1").servers
    running.stop_server("client1", server, "KILL")
    assert said(running, "client1", "findmnt", "--types", "fuse.s3fs") == ""
    running.start_server("client1", server)


def test_a_bucket_that_cannot_be_mounted_is_told_and_nothing_is_left(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(tmp_path, "s3fs", "assay:assay-in-a-box", "assay:another-key")
    monkeypatch.setattr("assay.rooms.testbed.work.up.READY_TIMEOUT_SECONDS", 2)
    with pytest.raises(AssayError, match="s3fs on client1 has mounted nothing at /bucket"):
        bring_up(box(tmp_path, "s3fs"))
    assert_nothing_left(root)
