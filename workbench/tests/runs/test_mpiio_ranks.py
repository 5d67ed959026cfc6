"""Ranks of an MPI on one file: every byte, whichever way it is written, and none waits for another for ever."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from mpi_tools import (
    COMPONENTS,
    ENGINE,
    MPICH,
    PATIENCE,
    RANKS,
    command,
    job_for,
    needs_mpi,
    needs_mpich,
    place,
    read_without_mpi,
    run,
    told,
    with_mpich,
)
from soak import times

from assay.launch.binary import find_engine

pytestmark = needs_mpi
STRIDED = {"block_size_bytes": 64 << 10}
"""Blocks of one record, in which ranks take turns."""


def holds(job: dict[str, Any], folder: Path, io: str) -> None:
    """All ranks write, read and check the file of a job, and what they leave is right for whoever reads it."""
    job = {**job, "keep_files": True}
    done = run(job, folder, io)
    assert (done.code, done.byes()) == (0, ["ok"] * RANKS), done.said
    assert sum(end["verified_bytes"] for end in done.ends("read")) == job["file_size_bytes"]
    assert read_without_mpi(job)["verified_bytes"] == job["file_size_bytes"]
    assert (Path(job["target"]["root"]) / "c0001-r1/f0").stat().st_size == job["file_size_bytes"]


# In one piece and independent: `test_it_conforms`.
@pytest.mark.parametrize("io", [*COMPONENTS, with_mpich])
@pytest.mark.parametrize(
    ("collective", "blocks"), [(True, {}), (False, STRIDED), (True, STRIDED)], ids=["contiguous", "turns", "together"]
)
def test_every_byte_is_where_it_belongs(tmp_path: Path, io: str, collective: bool, blocks: dict[str, int]) -> None:
    target = {"collective": collective, "pointer": "individual" if blocks else "explicit"}
    holds(job_for(place(tmp_path), target, **blocks), tmp_path, io)


@pytest.mark.parametrize(
    ("io", "shape", "piece", "collective"),
    [
        ("ompio", "vector", 64 << 10, False),
        ("romio321", "subarray", 256 << 10, True),
        pytest.param(MPICH, "vector", 256 << 10, True, marks=needs_mpich),
    ],
)
def test_in_a_view_of_its_own_blocks_a_rank_writes_where_it_would_without(
    tmp_path: Path, io: str, shape: str, piece: int, collective: bool
) -> None:
    """Read by an engine without MPI, and so without a view."""
    target = {"collective": collective, "view": shape, "piece_bytes": piece}
    target["pointer"] = "individual" if shape == "vector" else "explicit"
    holds(job_for(place(tmp_path), target, block_size_bytes=piece), tmp_path, io)


@pytest.mark.parametrize("io", ["ompio", *times([], [with_mpich])])
def test_in_a_view_one_operation_is_in_many_places(tmp_path: Path, io: str) -> None:
    """Records of 64 KiB in pieces of 4 KiB between those of the others: all bytes of all ranks are there, in turns."""
    part, piece = (8 << 20) // RANKS, 4 << 10
    target = {"collective": True, "view": "vector", "piece_bytes": piece}
    job = job_for(place(tmp_path), target, block_size_bytes=part, keep_files=True)
    done = run(job, tmp_path, io)
    assert (done.code, done.byes()) == (0, ["ok"] * RANKS), done.said
    assert sum(end["verified_bytes"] for end in done.ends("read")) == 8 << 20
    file = tmp_path / "root/c0001-r1/f0"
    seen = file.read_bytes()
    places = [range(rank * piece, 8 << 20, piece * RANKS) for rank in range(RANKS)]
    file.write_bytes(b"".join(seen[at : at + piece] for own in places for at in own))
    assert read_without_mpi(job)["verified_bytes"] == 8 << 20, "each rank's pieces, put together, are its part"


@pytest.mark.parametrize("io", ["romio321", with_mpich])
def test_by_a_shared_pointer_all_ranks_together_write_and_read_the_file_once(tmp_path: Path, io: str) -> None:
    job = job_for(place(tmp_path), {"pointer": "shared"}, data={"verify": False}, keep_files=True)
    done = run(job, tmp_path, io)
    assert (done.code, done.byes()) == (0, ["ok"] * RANKS), done.said
    (start, *_) = [event for event in done.ranks[0] if event["event"] == "phase_start"]
    assert "MPI_File_write_shared" in start["method_reason"]
    folder = tmp_path / "root/c0001-r1"
    assert [path.name for path in folder.glob("f*")] == ["f0"] and (folder / "f0").stat().st_size == 8 << 20
    records = [(folder / "f0").read_bytes()[at : at + (64 << 10)] for at in range(0, 8 << 20, 64 << 10)]
    assert len(set(records)) == len(records), "each rank's records are there, each once"


@pytest.mark.parametrize("io", ["ompio", with_mpich])
def test_in_collective_operations_by_a_shared_pointer_ranks_take_turns(tmp_path: Path, io: str) -> None:
    """So what each has written and read is known, and checked."""
    holds(job_for(place(tmp_path), {"pointer": "shared", "collective": True}, **STRIDED), tmp_path, io)


@pytest.mark.parametrize(("io", "collective"), [("ompio", False), ("ompio", True), ("romio321", False)])
def test_with_several_operations_in_flight(tmp_path: Path, io: str, collective: bool) -> None:
    holds(job_for(place(tmp_path), {"collective": collective}, queue_depth=4, **STRIDED), tmp_path, io)


def test_what_crashes_in_the_library_is_refused_in_one_line(tmp_path: Path) -> None:
    job = job_for(place(tmp_path), {"collective": True}, queue_depth=4)
    done = run(job, tmp_path, "romio321")
    assert done.code != 0
    assert "romio321 crashes in nonblocking collective operations: set queue_depth to 1" in done.said
    assert not (tmp_path / "root/c0001-r1").exists()


def test_a_file_of_each_rank(tmp_path: Path) -> None:
    root = place(tmp_path)
    done = run(job_for(root, layout="separate", file_size_bytes=2 << 20, keep_files=True), tmp_path)
    assert (done.code, done.byes()) == (0, ["ok"] * RANKS), done.said
    assert sorted(path.name for path in (root / "c0001-r1").glob("f*")) == [f"f{rank}" for rank in range(RANKS)]
    assert [end["verified_bytes"] for end in done.ends("read")] == [2 << 20] * RANKS


def test_a_rank_with_less_to_do_waits_for_nobody(tmp_path: Path) -> None:
    """Eleven records among four ranks: in collective operations those with fewer take part with none."""
    job = job_for(place(tmp_path), {"collective": True}, file_size_bytes=11 * (64 << 10))
    done = run(job, tmp_path)
    assert (done.code, done.byes()) == (0, ["ok"] * RANKS), done.said
    assert sorted(done.operations("write")) == [2, 3, 3, 3]


@pytest.mark.parametrize("limit", [{"runtime_ns": 300_000_000}, {"time_limit_ns": 30_000_000}])
def test_in_collective_operations_time_ends_for_all_at_the_same_call(tmp_path: Path, limit: dict[str, int]) -> None:
    size = {"file_size_bytes": 256 << 20, "data": {"verify": False}}
    job = job_for(place(tmp_path), {"collective": True}, **size, phases=[{"operation": "write", **limit}])
    done = run(job, tmp_path)
    assert (done.code, done.byes()) == (0, ["ok"] * RANKS), done.said
    assert len(set(done.operations("write"))) == 1


def test_the_library_says_what_it_is_and_which_hints_it_has(tmp_path: Path) -> None:
    done = run(job_for(place(tmp_path), {"hints": {"cb_nodes": "2"}}), tmp_path, "romio321")
    (start, *_) = [event for event in done.ranks[0] if event["event"] == "phase_start"]
    assert start["method"] == "mpi_io"
    assert start["mpiio"]["component"] == "romio321"
    assert start["mpiio"]["hints"]["cb_nodes"] == "2"
    assert start["mpiio"]["library"]


def test_ranks_that_are_not_those_of_the_job_are_refused(tmp_path: Path) -> None:
    done = run(job_for(place(tmp_path), ranks=RANKS + 1), tmp_path)
    assert done.code != 0
    assert f"the job has {RANKS + 1} ranks, and MPI has started {RANKS}: start as many" in done.said


def endless(folder: Path, collective: bool) -> subprocess.Popen[str]:
    """A job that writes for longer than anybody waits, once all ranks are at it."""
    phase = {"operation": "write", "runtime_ns": 3600 * 10**9}
    fields = {"file_size_bytes": 1 << 20, "data": {"verify": False}, "interval_ns": 10_000_000, "phases": [phase]}
    words = command(job_for(place(folder), {"collective": collective}, **fields), folder, "ompio")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.monotonic() + PATIENCE
    while not all('"interval"' in out(folder, rank) for rank in range(RANKS)):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)
    return process


def out(folder: Path, rank: int) -> str:
    """What a rank has said so far."""
    path = folder / f"out.{rank}"
    return path.read_text() if path.exists() else ""


def pid_of(folder: Path, rank: int) -> int:
    """Its process."""
    return int(json.loads(out(folder, rank).splitlines()[0])["pid"])


@pytest.mark.parametrize("collective", [False, True])
def test_a_rank_that_dies_takes_the_others_along(tmp_path: Path, collective: bool) -> None:
    process = endless(tmp_path, collective)
    pids = [pid_of(tmp_path, rank) for rank in range(RANKS)]
    os.kill(pids[1], signal.SIGKILL)
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    assert "exited on signal 9" in said
    end = time.monotonic() + PATIENCE
    while alive := [pid for pid in pids if Path(f"/proc/{pid}/exe").exists()]:
        # mpirun does not wait for what it has killed.
        assert time.monotonic() < end, alive
        time.sleep(0.05)


@pytest.mark.parametrize("collective", [False, True])
def test_one_that_is_told_to_stop_ends_all_in_order(tmp_path: Path, collective: bool) -> None:
    """In collective operations the others cannot go on; in independent ones mpirun ends them."""
    process = endless(tmp_path, collective)
    os.kill(pid_of(tmp_path, 1), signal.SIGTERM)
    if not collective:
        process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    done = told(tmp_path, process.returncode, said)
    assert "stopped" in done.byes()


def test_an_engine_without_mpi_says_which_one_it_takes(tmp_path: Path) -> None:
    job = job_for(place(tmp_path), ranks=1)
    done = subprocess.run(
        [find_engine(), "run", "-"], input=json.dumps(job) + "\n", capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "this engine is linked to no MPI: use assay-engine-mpi" in done.stderr


@pytest.mark.parametrize(("io", "collective"), [("ompio", False), ("ompio", True), ("romio321", False)])
def test_it_conforms(tmp_path: Path, io: str, collective: bool) -> None:
    target = {"kind": "mpiio", "root": str(tmp_path / "new"), "collective": collective}
    done = subprocess.run(
        [str(ENGINE), "conform", "-", "--json"],
        input=json.dumps(target),
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
        env={**os.environ, "OMPI_MCA_io": io},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "new").exists()
