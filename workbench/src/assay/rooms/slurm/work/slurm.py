"""Queries to Slurm's programs, and their answers.

Sources: sbatch(1), squeue(1), scontrol(1), sacct(1) of Slurm 22.05.
"""

import os
import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from assay.launch.parallel.command import ALLOCATION
from assay.model.base import EXIT_REFUSED, Code
from assay.rooms.slurm.work.programs import SlurmError, cluster_option, query

WAITING = (
    "PENDING",
    "CONFIGURING",
    "POWER_UP_NODE",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
    "RESV_DEL_HOLD",
)
"""States of a job before it runs."""
REVOKED = "REVOKED"
"""State of a job that another cluster of a federation has now."""
OVER = (
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY"),
    *("PREEMPTED", "TIMEOUT", REVOKED),
)
"""States of a job that is over; a job in any other state, which a later Slurm may have, is not. Source: squeue(1), JOB
STATE CODES."""
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][A-Za-z:/]*)=(\S*)")
_CLUSTER = re.compile(r"CLUSTER: *(\S+)")
"""Line of squeue before the jobs of a cluster, if it may list several clusters."""


@dataclass(frozen=True)
class Job:
    """A job and its cluster.

    Attributes:
        id: Its id in Slurm.
        cluster: Its cluster; empty for the one of this machine, None if unknown.
    """

    id: str
    cluster: str | None = None

    @property
    def words(self) -> str:
        """Text such as `job 17 of Slurm on cluster smp`."""
        return f"job {self.id} of Slurm" + (f" on cluster {self.cluster}" if self.cluster else "")

    def cancel_command(self, *options: str) -> str:
        """Return the command that ends it.

        Args:
            options: Options of scancel.
        """
        return " ".join(["scancel", *cluster_option(self.cluster), *options, self.id])


@dataclass(frozen=True)
class JobState:
    """The state of a job.

    Attributes:
        state: Such as `PENDING`; empty if the queue does not have the job any more.
        reason: Why it waits, or ended; empty if unknown.
        start: When it started, or is expected to, in Slurm's format; empty if unknown.
        nodes: Its nodes, as `node[1-8]`; empty before it has some.
    """

    state: str
    reason: str = ""
    start: str = ""
    nodes: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether it is not over."""
        return bool(self.state) and self.state not in OVER

    @property
    def is_waiting(self) -> bool:
        """Whether it has not begun."""
        return self.state in WAITING

    @property
    def words(self) -> str:
        """Text such as `PENDING (Resources)`."""
        return f"{self.state} ({self.reason})" if self.reason else self.state


def own_job_id() -> str:
    """Return the id of the Slurm job that this process runs in; empty outside of jobs."""
    return os.environ.get(ALLOCATION, "")


def require_slurm() -> None:
    """Check that jobs can be submitted from here.

    Raises:
        SlurmError: They cannot.
    """
    if shutil.which("sbatch") is None:
        hint = "run it where Slurm's commands are, such as a login node; `module load slurm` may bring them"
        raise SlurmError("sbatch was not found", hint, EXIT_REFUSED)


def job_state(job: Job) -> JobState:
    """Return the state of a job.

    Raises:
        SlurmError: Slurm does not answer.
    """
    state = _state(job, job.cluster)
    return _state(job, None, "--federation") if state.state == REVOKED else state


def _state(job: Job, cluster: str | None, *more: str) -> JobState:
    words = ["squeue", "--noheader", *more, "--jobs", job.id, "--format=%T|%r|%S|%N"]
    try:
        output = query(words, "Slurm does not report the job", cluster)
    except SlurmError as error:
        if error.code is Code.UNKNOWN_JOB:
            return JobState("")
        raise
    return next((read_state(line) for line in output.splitlines() if "|" in line), JobState(""))


def read_state(line: str) -> JobState:
    """Parse a line of squeue with the format `%T|%r|%S|%N`."""
    state, reason, start, nodes = (*(field.strip() for field in line.split("|")), "", "", "", "")[:4]
    return JobState(state, _known(reason), _known(start), _known(nodes))


def own_states(cluster: str | None = None) -> dict[str, JobState]:
    """Return the state of all jobs of this user in the queue, by id.

    Args:
        cluster: Cluster of the queue, as in `Job`.

    Raises:
        SlurmError: Slurm does not answer.
    """
    words = ["squeue", "--noheader", "--me", "--format=%A|%T|%r|%S|%N"]
    lines = query(words, "Slurm does not report the jobs", cluster).splitlines()
    pairs = (line.partition("|") for line in lines if "|" in line)
    return {job.strip(): read_state(rest) for job, _, rest in pairs if job.strip()}


def job_named(name: str, cluster: str | None = None, known: Collection[str] = ()) -> Job | None:
    """Return the newest job of this user with a name; None if the queue has none.

    Args:
        name: The name.
        cluster: Cluster of the queue, as in `Job`.
        known: Ids of jobs to ignore.

    Raises:
        SlurmError: Slurm does not answer.
    """
    words = ["squeue", "--noheader", "--me", f"--name={name}", "--format=%A"]
    jobs: list[Job] = []
    for line in query(words, "Slurm does not report the jobs", cluster).splitlines():
        if head := _CLUSTER.fullmatch(line.strip()):
            cluster = head[1]
        elif line.strip().isdigit() and line.strip() not in known:
            jobs.append(Job(line.strip(), cluster))
    return max(jobs, key=lambda job: int(job.id), default=None)


def job_facts(job: Job) -> dict[str, str]:
    """Return what Slurm knows of a job, with the names of `scontrol show job`; empty if it has forgotten the job.

    With accounting, sacct remembers it longer; State, Reason, Start, End, ExitCode and NodeList then have the names of
    scontrol.

    Raises:
        SlurmError: Slurm does not answer.
    """
    words = ["scontrol", "--oneliner", "show", "job", job.id]
    try:
        return read_facts(query(words, "Slurm does not report the job", job.cluster))
    except SlurmError as error:
        if error.code is not Code.UNKNOWN_JOB:
            raise
    return _accounted(job)


def read_facts(text: str) -> dict[str, str]:
    """Parse the output of `scontrol --oneliner show job`; values with spaces, only file names, are cut."""
    return {name: value for name, value in _FIELD.findall(text) if _known(value)}


def _accounted(job: Job) -> dict[str, str]:
    names = {
        "State": "JobState",
        "Reason": "Reason",
        "Start": "StartTime",
        "End": "EndTime",
        "ExitCode": "ExitCode",
        "NodeList": "NodeList",
    }
    if shutil.which("sacct") is None:
        return {}
    words = ["sacct", "-X", "-n", "-P", "-j", job.id, f"--format={','.join(names)}"]
    try:
        line = next(iter(query(words, "Slurm's accounting does not report the job", job.cluster).splitlines()), "")
    except SlurmError:
        # "Slurm accounting storage is disabled": nothing is known.
        return {}
    values = [field.strip() for field in line.split("|")]
    facts = dict(zip(names.values(), values, strict=False))
    # "CANCELLED by 1000".
    return {name: value.split(" ")[0] for name, value in facts.items() if _known(value)}


def variables_of_job(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a job's environment says about it, with the names of scontrol."""
    names = {
        "JobId": ALLOCATION,
        "JobName": "SLURM_JOB_NAME",
        "Partition": "SLURM_JOB_PARTITION",
        "Account": "SLURM_JOB_ACCOUNT",
        "QOS": "SLURM_JOB_QOS",
        "NodeList": "SLURM_JOB_NODELIST",
        "NumNodes": "SLURM_JOB_NUM_NODES",
        "Cluster": "SLURM_CLUSTER_NAME",
    }
    return {name: environment[variable] for name, variable in names.items() if environment.get(variable)}


def _known(value: str) -> str:
    """Return a value, or an empty text for Slurm's placeholders for no value."""
    return "" if value in ("(null)", "N/A", "n/a", "None", "Unknown", "None assigned") else value
