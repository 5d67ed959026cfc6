"""What Slurm's programs say, and what becomes of it; programs of that name stand in for them."""

from pathlib import Path

import pytest

from assay.rooms.slurm.work import slurm
from assay.rooms.slurm.work.programs import SlurmError, complaint_text
from assay.rooms.slurm.work.slurm import Job, JobState, job_facts, job_state, own_states, read_facts
from assay.rooms.slurm.work.submission import UnsureError, submit

GONE = "slurm_load_jobs error: Invalid job id specified"
SCONTROL = (
    "JobId=17 JobName=assay-x UserId=me(1000) GroupId=me(1000) MCS_label=N/A Priority=4294901757 Nice=0 Account=(null) "
    "QOS=normal JobState=TIMEOUT Reason=TimeLimit Dependency=(null) Requeue=0 Restarts=0 BatchFlag=1 Reboot=0 "
    "ExitCode=0:15 RunTime=00:01:08 TimeLimit=00:01:00 TimeMin=N/A SubmitTime=2026-11-26T06:16:08 "
    "StartTime=2026-11-26T06:16:09 EndTime=2026-11-26T06:17:17 Partition=compute NodeList=node[1-2] BatchHost=node1 "
    "NumNodes=2 NumCPUs=4 NumTasks=2 CPUs/Task=1 ReqB:S:C:T=0:0:*:* Command=/home/me/a b.sh WorkDir=/home/me"
)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("sbatch", "squeue", "scontrol", "sacct"):
        program(tmp_path, name, "", f"{name}: error: not asked", 1)
    return tmp_path


def program(folder: Path, name: str, out: str, err: str = "", code: int = 0) -> None:
    text = f"#!/bin/sh\n/bin/cat >/dev/null\n/bin/cat <<'E1'\n{out}\nE1\n/bin/cat >&2 <<'E2'\n{err}\nE2\nexit {code}\n"
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.parametrize(("said", "job"), [("17", "17"), ("17;north", "17"), ("a note\n18", "18")])
def test_the_id_of_a_job_is_read(said: str, job: str, programs: Path) -> None:
    program(programs, "sbatch", said)
    assert submit("#!/bin/sh\n", (), "/tmp", "assay-r").id == job


def test_sbatch_that_says_something_else_is_told(programs: Path) -> None:
    program(programs, "sbatch", "Submitted!")
    with pytest.raises(SlurmError, match="printed no job id, but: Submitted!"):
        submit("#!/bin/sh\n", (), "/tmp", "assay-r")


def test_what_slurm_refuses_is_told_in_one_line(programs: Path) -> None:
    err = "sbatch: error: invalid partition specified: x\nsbatch: error: Batch job submission failed: Invalid partition"
    program(programs, "sbatch", "", err, 1)
    with pytest.raises(SlurmError) as caught:
        submit("#!/bin/sh\n", (), "/tmp", "assay-r")
    assert caught.value.message == "Slurm refused the job: invalid partition specified: x; Invalid partition"


def test_a_program_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlurmError, match="sbatch was not found"):
        slurm.require_slurm()
    with pytest.raises(SlurmError, match="squeue was not found"):
        job_state(Job("1"))


@pytest.mark.parametrize(
    ("line", "state", "words"),
    [
        ("PENDING|Resources|N/A|", JobState("PENDING", "Resources"), "PENDING (Resources)"),
        ("PENDING|Priority|2026-11-26T07:00:00|", JobState("PENDING", "Priority", "2026-11-26T07:00:00"), None),
        (
            "RUNNING|None|2026-11-26T07:00:00|n[1-2]",
            JobState("RUNNING", "", "2026-11-26T07:00:00", "n[1-2]"),
            "RUNNING",
        ),
    ],
)
def test_the_queue_is_read(line: str, state: JobState, words: str | None, programs: Path) -> None:
    program(programs, "squeue", line)
    assert job_state(Job("17")) == state
    assert words in (None, state.words)
    assert state.is_alive
    assert state.is_waiting == line.startswith("PENDING")


def test_a_job_that_the_queue_has_forgotten_is_over(programs: Path) -> None:
    program(programs, "squeue", "", "slurm_load_jobs error: Invalid job id specified", 1)
    assert not job_state(Job("17")).is_alive


def test_a_controller_that_does_not_answer_is_no_end_of_a_job(programs: Path) -> None:
    err = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
    program(programs, "squeue", "", err, 1)
    with pytest.raises(SlurmError, match=r"Slurm does not report the job: .*Unable to contact slurm controller"):
        job_state(Job("17"))


def test_all_jobs_of_a_user_are_read(programs: Path) -> None:
    program(programs, "squeue", "17|RUNNING|None|N/A|n1\n18|PENDING|Priority|N/A|")
    assert {job: state.words for job, state in own_states().items()} == {"17": "RUNNING", "18": "PENDING (Priority)"}


def test_what_is_not_known_of_a_job_is_left_out() -> None:
    facts = read_facts(SCONTROL)
    assert {"Account", "Dependency", "TimeMin", "MCS_label"} & set(facts) == set()
    assert (facts["JobState"], facts["NodeList"], facts["ExitCode"]) == ("TIMEOUT", "node[1-2]", "0:15")
    assert facts["SubmitTime"] == "2026-11-26T06:16:08"


def test_accounting_is_asked_when_the_controller_has_forgotten(programs: Path) -> None:
    program(programs, "scontrol", "", "slurm_load_jobs error: Invalid job id specified", 1)
    program(programs, "sacct", "CANCELLED by 1000|None|2026-11-26T07:00:00|2026-11-26T07:01:00|0:15|n[1-2]")
    assert job_facts(Job("17")) == {
        "JobState": "CANCELLED",
        "StartTime": "2026-11-26T07:00:00",
        "EndTime": "2026-11-26T07:01:00",
        "ExitCode": "0:15",
        "NodeList": "n[1-2]",
    }
    program(programs, "sacct", "", "Slurm accounting storage is disabled", 1)
    assert job_facts(Job("17")) == {}


def test_words_of_slurm_are_made_one_line() -> None:
    assert complaint_text("srun: error: a\nsrun: error: a\n\nsrun: fatal: b\x1b[1m\n").startswith("a; b")


BANNER = "Welcome to Cluster 9!\nproject x has 1234 hours left"


@pytest.mark.parametrize(
    ("said", "job"),
    [
        (f"{BANNER}\n18", Job("18", "")),
        (f"18;smp\n{BANNER}", Job("18", "smp")),
        (f"{BANNER}\nSubmitted batch job 18\n*** good luck ***", Job("18", "")),
        ("Submitted batch job 18 on cluster smp", Job("18", "smp")),
        ("18\n18\n", Job("18", "")),
        ("\x1b[1mhello\x1b[0m\n  18  \n", Job("18", "")),
    ],
)
def test_the_id_is_found_among_what_a_site_has_sbatch_print(said: str, job: Job, programs: Path) -> None:
    program(programs, "sbatch", said, "sbatch: lua: note: project x")
    assert submit("", (), "/tmp", "assay-r") == job


def queue(folder: Path, name: str, cluster: str, job: str) -> None:
    """A squeue that knows a job by its name, on one cluster."""
    text = f"""#!/bin/sh
case " $* " in *" -M {cluster} "*) ;; *) [ -z "{cluster}" ] || exit 0 ;; esac
case " $* " in *" --name={name} "*) echo 'CLUSTER: {cluster or "here"}'; echo {job} ;; esac
"""
    (folder / "squeue").write_text(text)


@pytest.mark.parametrize(
    ("out", "err", "code"),
    [
        ("Submitted!", "", 0),
        ("", "", 0),
        ("7\n8\n", "", 0),
        ("", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", 1),
        ("", "submit.sh: line 3: /opt/site/log: Permission denied", 126),
        ("18\n", "logger: failed", 1),
    ],
)
def test_what_is_not_clear_is_asked_of_the_queue(out: str, err: str, code: int, programs: Path) -> None:
    program(programs, "sbatch", out, err, code)
    queue(programs, "assay-r", "smp", "18")
    assert submit("", ("-M", "smp"), "/tmp", "assay-r") == Job("18", "smp")


@pytest.mark.parametrize("known", [(), ("18",)])
@pytest.mark.parametrize(
    ("out", "err", "code"),
    [("Submitted!", "", 0), ("18\n", "x", 1), ("", "sbatch: error: Socket timed out on send/recv operation", 1)],
)
def test_what_stays_unclear_is_no_refusal(
    out: str, err: str, code: int, known: tuple[str, ...], programs: Path
) -> None:
    program(programs, "sbatch", out, err, code)
    if known:
        queue(programs, "assay-r", "", "18")
    with pytest.raises(UnsureError, match="printed no job id"):
        submit("", (), "/tmp", "assay-r", known)


def test_what_the_script_says_is_not_taken_from_variables(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"JOB_NAME": "mine", "ARRAY_INX": "1-4", "WAIT": "1", "CLUSTERS": "north"}.items():
        monkeypatch.setenv(f"SBATCH_{name}", value)
    said = "echo 18$SBATCH_JOB_NAME$SBATCH_ARRAY_INX$SBATCH_WAIT"
    (programs / "sbatch").write_text(f"#!/bin/sh\n/bin/cat >/dev/null\n{said}\n")
    assert submit("", (), "/tmp", "assay-r") == Job("18", "north")


@pytest.mark.parametrize(("cluster", "asked"), [("smp", "-M smp"), ("", ""), (None, "north")])
def test_each_program_is_asked_of_the_jobs_cluster(
    cluster: str | None, asked: str, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CLUSTERS", "north")
    for name in ("squeue", "scontrol", "sacct"):
        said = f'case "$1" in -M) said="$1 $2";; esac\necho "$said$SLURM_CLUSTERS" > {programs}/{name}.said'
        (programs / name).write_text(f"#!/bin/sh\n{said}\necho '{GONE}' >&2\nexit 1\n")
    assert not job_state(Job("17", cluster)).is_alive
    assert job_facts(Job("17", cluster)) == {}
    for name in ("squeue", "scontrol", "sacct"):
        assert (programs / f"{name}.said").read_text().strip() == asked


@pytest.mark.parametrize("state", ["POWER_UP_NODE", "REQUEUE_FED", "EXPEDITING", "SUSPENDED", "COMPLETING"])
def test_a_job_is_over_only_in_states_that_say_so(state: str) -> None:
    assert JobState(state).is_alive
    assert not JobState("").is_alive


def test_a_job_that_went_to_another_cluster_of_a_federation_is_followed(programs: Path) -> None:
    cases = "*--federation*) echo 'RUNNING|None|N/A|n1' ;; *) echo 'REVOKED|None|N/A|' ;;"
    (programs / "squeue").write_text(f'#!/bin/sh\ncase " $* " in {cases} esac\n')
    assert job_state(Job("17", "north")).state == "RUNNING"
