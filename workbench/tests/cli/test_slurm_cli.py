"""`assay run --slurm` and `assay attach`, with programs that stand in for Slurm's."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from in_process import run_here

from assay.rooms.slurm.work import follow
from assay.store import RunStore, list_runs
from assay.store.entries import PROGRESS

STUDY = """
study: small
question: Is it fast?
targets:
  here: {kind: file, path: PLACE}
workloads:
  write: {operations: [write], file_size: 1MiB, record_size: 64KiB}
repeats: 3
ceilings: none
"""
GONE = "slurm_load_jobs error: Invalid job id specified"
FAILED = "JobId=17 JobState=FAILED Reason=NonZeroExitCode ExitCode=1:0 Partition=compute NodeList=n1 EndTime=Unknown"
Program = Callable[..., None]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Writes a program that prints some text; the folder of the test has the study."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setattr(follow, "VISIBLE_TIMEOUT_SECONDS", 0.0)
    (tmp_path / "study.yaml").write_text(STUDY.replace("PLACE", str(tmp_path / "data")))

    def write(name: str, out: str = "", err: str = "", code: int = 0) -> None:
        kept = folder / f"{name}.given"
        text = f"#!/bin/sh\n/bin/cat >{kept}\n/bin/cat <<'E1'\n{out}\nE1\n/bin/cat >&2 <<'E2'\n{err}\nE2\nexit {code}\n"
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)

    return write


def test_without_slurm_nothing_is_made(program: Program, tmp_path: Path) -> None:
    done = run_here(tmp_path, "run", "study.yaml", "--slurm", "-N 1")
    assert (done.returncode, done.stderr.splitlines()[0]) == (3, "error: sbatch was not found")
    assert not (tmp_path / "assay-runs").exists()


def test_what_slurm_refuses_leaves_no_run(program: Program, tmp_path: Path) -> None:
    program("sbatch", "", "sbatch: error: Batch job submission failed: Invalid partition name specified", 1)
    done = run_here(tmp_path, "run", "study.yaml", "--slurm", "-p nosuch")
    assert done.returncode == 3
    assert "error: Slurm refused the job: Invalid partition name specified\n" in done.stderr
    assert list((tmp_path / "assay-runs").iterdir()) == []


def test_a_run_that_slurm_may_have_is_kept_and_found_again(program: Program, tmp_path: Path) -> None:
    program("sbatch", "Welcome!", "sbatch: error: Socket timed out on send/recv operation", 1)
    program("squeue", "", "slurm_load_jobs error: Socket timed out on send/recv operation", 1)
    done = run_here(tmp_path, "run", "study.yaml", "--slurm", "-M smp")
    assert done.returncode == 3
    assert "error: sbatch printed no job id, but: Welcome!" in done.stderr
    (run,) = list_runs(tmp_path / "assay-runs")
    assert f"run assay-runs/{run.id} is kept: Slurm may have its job" in done.stderr
    (kept,) = json.loads((Path(run.folder) / "scheduler.json").read_text())["jobs"]
    assert (kept["id"], kept["cluster"]) == ("", "smp")
    again = run_here(tmp_path, "run", "last", "--resume")
    assert (again.returncode, "the state of the run is unknown" in again.stderr) == (3, True)
    names = 'case " $* " in " -M smp "*--name=*) echo 17 ;; " -M smp "*) echo "PENDING|Priority|N/A|" ;; esac'
    (tmp_path / "bin" / "squeue").write_text(f"#!/bin/sh\n{names}\n")
    again = run_here(tmp_path, "run", "last", "--resume")
    assert again.returncode == 3
    assert "is job 17 of Slurm on cluster smp, which is PENDING (Priority)" in again.stderr
    assert "`scancel -M smp 17` ends it" in again.stderr


def test_options_that_are_not_the_users_are_refused(program: Program, tmp_path: Path) -> None:
    done = run_here(tmp_path, "run", "study.yaml", "--slurm", "--array=1-4")
    assert done.returncode == 2
    assert "error: --slurm cannot have --array: a run is one job" in done.stderr


def test_a_job_that_ends_before_the_run_begins_is_told_with_its_words(program: Program, tmp_path: Path) -> None:
    program("sbatch", "17")
    program("squeue", "", GONE, 1)
    program("scontrol", FAILED)
    done = run_here(tmp_path, "run", "study.yaml", "--slurm", "-p compute -t 10")
    assert done.returncode == 130
    assert "is job 17 of Slurm" in done.stderr
    assert "0 of 3 repeats are done" in done.stderr
    (run,) = list_runs(tmp_path / "assay-runs")
    folder = Path(run.folder)
    with RunStore.open(folder) as store:
        section = store.info().environment["scheduler job 17"]
    assert (section["state"], section["reason"], section["options"]) == (
        "FAILED",
        "NonZeroExitCode",
        "-p compute -t 10",
    )
    assert "ended" not in section
    submitted = (tmp_path / "bin" / "sbatch.given").read_text()
    assert submitted == (folder / "job.sh").read_text()
    assert f"run {folder} --resume" in submitted
    (folder / "job.out").write_text("slurmstepd: error: no space\n")
    program("sbatch", "18")
    again = run_here(tmp_path, "run", "last", "--resume", "--destroy")
    assert again.returncode == 130
    assert "--resume --destroy\n" in (folder / "job.sh").read_text()
    assert [job["id"] for job in json.loads((folder / "scheduler.json").read_text())["jobs"]] == ["17", "18"]
    attached = run_here(tmp_path, "attach", "last")
    assert attached.returncode == 130
    assert "job 18 ended before the run did: FAILED" in attached.stderr
    told = [
        {"what": "job", "id": "18"},
        {"what": "over", "status": "failed", "message": "the study needs 4 hosts", "hint": "", "code": 3},
    ]
    (folder / PROGRESS).write_text("".join(json.dumps(line) + "\n" for line in told))
    refused = run_here(tmp_path, "attach", "last")
    assert (refused.returncode, refused.stderr) == (3, "error: job 18: the study needs 4 hosts\n")


def test_a_job_of_too_few_nodes_is_refused_before_the_queue(program: Program, tmp_path: Path) -> None:
    program("sbatch", "17")
    program("squeue", "", GONE, 1)
    program("scontrol", FAILED)
    study = STUDY.replace("PLACE", str(tmp_path / "data")).replace("record_size", "hosts: [2, 4], record_size")
    (tmp_path / "study.yaml").write_text("hosts: allocation" + study)
    for words in ((), ("-N", "2"), ("--stage", "-t", "5")):
        stage, options = [word for word in words if word == "--stage"], " ".join(words).replace("--stage", "")
        done = run_here(tmp_path, "run", "study.yaml", *stage, "--slurm", options)
        needed, asked = (2 if stage else 4), ("2 nodes" if "-N" in words else "1 node")
        assert (done.returncode, f"needs {needed} hosts, but the job requests {asked}\n" in done.stderr) == (3, True)
    assert not (tmp_path / "assay-runs").exists()
    assert run_here(tmp_path, "run", "study.yaml", "--slurm", "-N 4").returncode == 130
    done = run_here(tmp_path, "run", "last", "--resume", "--slurm", "-N 2")
    assert (done.returncode, "needs 4 hosts, but the job requests 2 nodes\n" in done.stderr) == (3, True)


def test_a_job_that_waits_is_listed_and_not_submitted_twice(program: Program, tmp_path: Path) -> None:
    program("sbatch", "17")
    program("squeue", "", GONE, 1)
    program("scontrol", FAILED)
    run_here(tmp_path, "run", "study.yaml", "--slurm", "-p compute")
    (run,) = list_runs(tmp_path / "assay-runs")
    path = Path(run.folder) / "scheduler.json"
    path.write_text(path.read_text().replace('"has_ended": true', '"has_ended": false'))
    program("squeue", "17|PENDING|Priority|N/A|")
    (listed,) = json.loads(run_here(tmp_path, "list", "--json").stdout)
    assert (listed["status"], listed["job"]) == ("queued", "job 17 PENDING (Priority)")
    assert "17 PENDING (Priority); `assay attach" in run_here(tmp_path, "show", "last").stdout
    program("squeue", "PENDING|Priority|N/A|")
    again = run_here(tmp_path, "run", "last", "--resume")
    assert again.returncode == 3
    assert "is job 17 of Slurm, which is PENDING (Priority)" in again.stderr
    program("squeue", "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)", 1)
    unknown = run_here(tmp_path, "run", "last", "--resume")
    assert unknown.returncode == 3
    assert "Unable to contact slurm controller" in unknown.stderr
    told = run_here(tmp_path, "list")
    assert "the states of submitted runs are unknown" in told.stderr


def test_a_run_that_was_not_submitted_cannot_be_followed(program: Program, tmp_path: Path) -> None:
    program("sbatch", "17")
    program("squeue", "", GONE, 1)
    program("scontrol", FAILED)
    run_here(tmp_path, "run", "study.yaml", "--slurm", "-p compute")
    (run,) = list_runs(tmp_path / "assay-runs")
    (Path(run.folder) / "scheduler.json").unlink()
    done = run_here(tmp_path, "attach", "last")
    assert done.returncode == 2
    assert "was not submitted to Slurm" in done.stderr
