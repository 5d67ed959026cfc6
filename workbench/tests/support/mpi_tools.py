"""Jobs of several ranks under Open MPI's mpirun or MPICH's mpiexec, and what they wrote, read without MPI."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from assay.launch.binary import find_engine, find_shipped

ENGINE = find_shipped("assay-engine-mpi")
RANKS = 4
COMPONENTS = ("ompio", "romio321")
"""Of Open MPI, each of which does the I/O by itself."""
MPICH = "mpich"
# UCX opens each interface that it has listed, and fails where another test has removed one since.
WITHIN_THIS_HOST = "UCX_TLS=self,sm"
"""Stands where a component of Open MPI may: another MPI, whose engine is another program."""
PATIENCE = 120.0
"""Seconds after which ranks count as hung: a deadlock is for ever, and nothing here takes a tenth of it."""
needs_mpi = pytest.mark.skipif(
    ENGINE is None or shutil.which("mpirun") is None,
    reason="no MPI: apt-get install openmpi-bin libopenmpi-dev, then make engine",
)


def _mpich_engine() -> Path | None:
    """The engine that `tools/mpi_engine.sh mpich` builds, if there is one and something that starts it."""
    engine = ENGINE.with_name("assay-engine-mpich") if ENGINE is not None else None
    return engine if engine is not None and engine.exists() and shutil.which("mpiexec.mpich") else None


MPICH_ENGINE = _mpich_engine()
needs_mpich = pytest.mark.skipif(
    MPICH_ENGINE is None, reason="no MPICH: apt-get install mpich libmpich-dev, then sh tools/mpi_engine.sh mpich"
)
with_mpich = pytest.param(MPICH, marks=needs_mpich)


class Told(NamedTuple):
    """What came of a job.

    Attributes:
        code: mpirun's exit code.
        ranks: Events of each rank.
        said: Standard error of all.
    """

    code: int
    ranks: list[list[dict[str, Any]]]
    said: str

    def ends(self, operation: str) -> list[dict[str, Any]]:
        """The event `phase_end` of an operation, of each rank that has it."""
        return [
            event
            for events in self.ranks
            for event in events
            if event["event"] == "phase_end" and event["operation"] == operation
        ]

    def operations(self, operation: str) -> list[int]:
        """How many each rank has done."""
        return [sum(one["ops"] for one in end["operations"]) for end in self.ends(operation)]

    def byes(self) -> list[str]:
        """How each rank says that the job ended."""
        return [event["status"] for events in self.ranks for event in events if event["event"] == "bye"]


def place(folder: Path) -> Path:
    """A directory that is marked by hand."""
    root = folder / "root"
    root.mkdir(exist_ok=True)
    (root / ".assay-target").touch()
    return root


def job_for(root: Path, target: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A job on one file of all ranks, all of which is checked when it is read."""
    return {
        "spec_version": 2,
        "id": "mpi",
        "target": {"kind": "mpiio", "root": str(root), "directory": "c0001-r1", **(target or {})},
        "layout": "shared",
        "file_size_bytes": 8 << 20,
        "record_size_bytes": 64 << 10,
        "data": {"verify": True},
        "ranks": RANKS,
        "phases": [{"operation": "write"}, {"operation": "read"}],
        **fields,
    }


def command(job: dict[str, Any], folder: Path, io: str, ranks: int = RANKS) -> list[str]:
    """What starts a job's ranks; each writes its events into a file. `io`: a component of Open MPI, or `MPICH`."""
    for rank in range(ranks):
        (folder / f"job.{rank}").write_text(json.dumps({**job, "rank": rank}))
    if io == MPICH:
        shell = f"exec {MPICH_ENGINE} run {folder}/job.$PMI_RANK >{folder}/out.$PMI_RANK"
        return ["env", WITHIN_THIS_HOST, "mpiexec.mpich", "-n", str(ranks), "sh", "-c", shell]
    words = ["mpirun", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "--oversubscribe", "--mca", "io", io]
    shell = f"exec {ENGINE} run {folder}/job.$OMPI_COMM_WORLD_RANK >{folder}/out.$OMPI_COMM_WORLD_RANK"
    return [*words, "-n", str(ranks), "sh", "-c", shell]


def told(folder: Path, code: int, said: str, ranks: int = RANKS) -> Told:
    """What ranks that have ended have written."""
    texts = [path.read_text() if (path := folder / f"out.{rank}").exists() else "" for rank in range(ranks)]
    return Told(code, [[json.loads(line) for line in text.splitlines()] for text in texts], said)


def run(job: dict[str, Any], folder: Path, io: str = "ompio", ranks: int = RANKS) -> Told:
    """Run a job to its end.

    Raises:
        subprocess.TimeoutExpired: Its ranks hang.
    """
    words = command(job, folder, io, ranks)
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    return told(folder, done.returncode, done.stderr, ranks)


def read_without_mpi(job: dict[str, Any], phases: Sequence[str] = ("read",)) -> dict[str, Any]:
    """An engine without MPI reads and checks, as one lane for each rank, what a job has left; its last phase's end."""
    target = {key: job["target"][key] for key in ("root", "directory")}
    changed = {"ranks": 1, "lanes": job["ranks"], "reuse_files": True, "keep_files": True}
    plain = {**job, **changed, "target": {"kind": "file", **target}, "phases": [{"operation": name} for name in phases]}
    file = Path(target["root"]).parent / "plain.json"
    file.write_text(json.dumps(plain))
    done = subprocess.run([find_engine(), "run", file], capture_output=True, text=True, timeout=PATIENCE)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    return [event for event in events if event["event"] == "phase_end"][-1]
