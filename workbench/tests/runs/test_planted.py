"""Code that lies where somebody works is never executed: modules beside a study, in its run's folder and in TMPDIR."""

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from run_tools import needs_engine

from assay.store import RunStore
from assay.store.entries import BATCH_SCRIPT

pytestmark = needs_engine

STUDY = """
study: planted
question: Does it work?
targets:
  bucket: {kind: s3, server: moto, bucket: assay-demo}
  here: {kind: file, path: PLACE}
workloads:
  objects: {operations: [put, get], object_size: 2KiB, objects: 10, targets: [bucket]}
  files: {operations: [write], file_size: 64KiB, record_size: 64KiB, targets: [here]}
repeats: 1
ceilings: none
"""
PROGRAMS = (
    "ssh",
    "sh",
    "env",
    "python3",
    "python",
    "mpirun",
    "srun",
    "fio",
    "findmnt",
    "mount",
    "git",
    "dmsetup",
    "ip",
)
"""Started by name here or there."""
TELL = "open({log!r}, 'a').write(__file__ + chr(10))\n"
MODULES = sorted({*sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize"})


def plant(folder: Path, log: Path) -> None:
    """Put a module of each name into a folder, and a program of each."""
    first = folder / "assay_first.py"
    first.write_text(TELL.format(log=str(log)))
    for name in MODULES:
        if name.isidentifier():
            os.link(first, folder / f"{name}.py")
    for name in PROGRAMS:
        (folder / name).write_text(f"#!/bin/sh\necho {folder}/{name} >>{log}\n")
        (folder / name).chmod(0o755)


def _submitted(work: Path, assay: str, variables: dict[str, str]) -> Path:
    """The script of a run that was submitted, which nobody follows any more."""
    with subprocess.Popen(
        [assay, "run", "study.yaml", "--slurm", "-N 1"], cwd=work, env=variables, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        told = next(line for line in process.stderr if " is job 17 " in line)
        process.kill()
    return work / "runs" / told.split()[1] / BATCH_SCRIPT


def test_nothing_that_lies_beside_a_study_is_executed(tmp_path: Path) -> None:
    log, work, temporary, programs = (tmp_path / name for name in ("log", "work", "tmp", "bin"))
    for folder in (work, temporary, programs, work / "runs"):
        folder.mkdir()
    (work / "study.yaml").write_text(STUDY.replace("PLACE", str(tmp_path / "data")))
    gone = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"
    for name, text in {"sbatch": 'cat >"$0.given"; echo 17', "squeue": gone, "scontrol": gone}.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    for folder in (work, temporary, work / "runs"):
        plant(folder, log)
    variables = {"PATH": f":.:{programs}:{os.environ['PATH']}", "TMPDIR": str(temporary), "ASSAY_RUNS": "runs"}

    def tried(*words: str) -> None:
        done = subprocess.run(
            words, cwd=work, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=60
        )
        assert not log.exists(), f"{words}: {log.read_text()}"
        assert done.returncode == 0, f"{words}: {done.stderr}"

    assay = str(Path(sys.executable).parent / "assay")
    for words in (["check", "study.yaml"], ["plan", "study.yaml"], ["run", "study.yaml"]):
        tried(assay, *words)
    plant_run = next(path for path in (work / "runs").iterdir() if (path / "run.sqlite").is_file())
    plant(plant_run, log)
    tried(assay, "show", str(plant_run))
    tried(assay, "report", str(plant_run))
    for format_ in ("xlsx", "parquet"):
        tried(assay, "export", str(plant_run), "--format", format_, "--out", f"made.{format_}")
    script = _submitted(work, assay, {**os.environ, **variables})
    variables["SLURM_JOB_ID"] = "17"
    tried("/bin/sh", str(script))
    with RunStore.open(script.parent) as store:
        assert store.info().status == "complete"


def test_what_is_planted_would_be_seen(tmp_path: Path) -> None:
    plant(tmp_path, tmp_path / "log")
    done = subprocess.run([sys.executable, "-c", "import pydantic"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0 and "pydantic.py" in (tmp_path / "log").read_text()


pytest.importorskip("moto", reason="SKIPPED: moto is not installed")
