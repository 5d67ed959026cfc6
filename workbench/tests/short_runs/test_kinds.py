"""A short run of each kind of target that needs no server, and of the parts around it that tests elsewhere rely on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import faulty_mount, why_not
from loop_devices import loop_device, small_ext4
from mpi_tools import needs_mpi
from nfs_tools import boxes_below
from run_tools import assay, check_whole, needs_engine, only_run, study
from testbed_tools import assert_nothing_left, brought_up, said

from assay.model.study.kinds import kinds
from assay.store import RunStore, list_runs

pytestmark = needs_engine

FILES = ["null", "file", pytest.param("mpiio", marks=needs_mpi)]
NEED_A_SERVER = ("aoe", "nfs", "smb")
"""Kinds that `make test-all` runs, with servers that it installs."""
SERVICES = """
study: services
question: Do both answer?
targets:
  bucket: {kind: s3, server: moto, bucket: assay-demo}
  table: {kind: dynamodb, server: moto, table: assay-demo}
workloads:
  objects: {operations: [put, get], object_size: 2KiB, objects: 10, verify: true}
repeats: 2
ceilings: none
"""


@pytest.mark.parametrize("kind", FILES)
def test_files(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    more = "" if kind == "null" else f", path: {tmp_path}/target"
    file = study(tmp_path, kind=f'"{kind}"', more=more, repeats=2, record="64KiB")
    if kind == "mpiio":
        file.write_text(f"{file.read_text()}launcher: mpirun\n")
        # Open MPI refuses root without both.
        for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
            monkeypatch.setenv(name, "1")
    assay(tmp_path, "run", file)
    check_whole(tmp_path, phases=2)


def test_buckets_and_tables_at_a_simulator(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(SERVICES)
    assay(tmp_path, "run", "study.yaml")
    check_whole(tmp_path, phases=2)


def test_a_device_needs_destroy_and_is_refused_while_mounted(tmp_path: Path) -> None:
    size = {"size": "4MiB", "extra": "layout: shared", "cache": "direct"}
    with loop_device(tmp_path, 16 << 20) as device:
        file = str(study(tmp_path, kind="device", more=f", path: {device}", **size))
        done = assay(tmp_path, "run", file, expect=3)
        assert "--destroy" in done.stderr
        assert Path(device).read_bytes() == bytes(16 << 20)
        assay(tmp_path, "run", file, "--destroy")
        assert Path(device).read_bytes() != bytes(16 << 20)
    with small_ext4(tmp_path, 16 << 20) as (device, point):
        file = str(study(tmp_path, kind="device", more=f", path: {device}", **size))
        done = assay(tmp_path, "run", file, "--destroy", expect=3)
        assert f"mounted at {point}" in done.stderr
    assert len(list_runs(tmp_path / "assay-runs")) == 1


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "assay-faultfs runs here")
def test_a_file_system_that_fails_makes_one_repeat_incomplete(tmp_path: Path) -> None:
    with faulty_mount(tmp_path) as mount:
        file = study(tmp_path, more=f", path: {mount.path}/t", record="64KiB", repeats=2)
        mount.set("eio on write path t/c0001-r1/*")
        assay(tmp_path, "run", file, expect=1)
        assert mount.injected()
    with RunStore.open(only_run(tmp_path)) as store:
        failed = {(job.case, job.repeat) for job in store.jobs() if job.status != "ok"}
        written = {(one.case, one.repeat): one.errors for one in store.samples() if one.operation == "write"}
    assert failed | {key for key, errors in written.items() if errors} == {("c0001", 1)}


@pytest.fixture
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with boxes_below(tmp_path_factory.mktemp("box")) as folder:
        yield folder
        assert_nothing_left(folder)


def test_a_cluster_in_a_box_comes_up_and_goes(root: Path, tmp_path: Path) -> None:
    text = "name: short\nhosts:\n  a: {disks: [{size: 32MiB, mount: /data}]}\n  b: {}\n"
    with brought_up(tmp_path, text) as box:
        said(box, "a", "sh", "-c", "echo kept > /data/x && sync")
        assert said(box, "a", "cat", "/data/x") == "kept\n"
        assert not Path("/data/x").exists()
        said(box, "b", "ping", "-c", "1", "-i", "0.2", "a")


def test_each_kind_is_run_here_or_needs_a_server() -> None:
    here = {"null", "file", "mpiio", "s3", "dynamodb", "device"}
    assert {*kinds()} == here | {*NEED_A_SERVER}


@pytest.mark.parametrize("kind", NEED_A_SERVER)
def test_a_kind_that_needs_a_server(kind: str) -> None:
    pytest.skip(
        f"{kind} needs a server: `make test-all` installs one and runs it; its protocol is in the engine's tests"
    )
