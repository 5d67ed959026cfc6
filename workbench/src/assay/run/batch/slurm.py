"""What Slurm's programs are asked, and what they say.

Sources: sbatch(1), squeue(1), scontrol(1), sacct(1) of Slurm 22.05.
"""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.launch.answers import MOST_OUT, said
from assay.launch.parallel.command import ALLOCATION
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.foreign import plain
from assay.model.secret import redacted
from assay.model.units import about_size

ANSWER_SECONDS = 60.0
"""Longest wait for one of Slurm's programs: a controller under load takes its time."""
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")
"""States of a job before it runs."""
ALIVE = (*WAITING, "RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "SIGNALING", "RESIZING", "STAGE_OUT")
"""States of a job that is not over. Source: squeue(1), JOB STATE CODES."""
_UNKNOWN = "invalid job id"
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][A-Za-z:/]*)=(\S*)")
_SUBMITTED = re.compile(r"(?P<id>\d+)(;(?P<cluster>\S+))?")


class SlurmError(AssayError):
    """A program of Slurm is not there, does not answer, or says no."""


@dataclass(frozen=True)
class JobState:
    """Where a job stands.

    Attributes:
        state: Such as `PENDING`; empty if the queue does not have the job any more.
        reason: Why it waits, or ended; empty if that is not told.
        start: When it started, or is expected to, as Slurm writes it; empty if that is not known.
        nodes: Its nodes, as `node[1-8]`; empty before it has some.
    """

    state: str
    reason: str = ""
    start: str = ""
    nodes: str = ""

    @property
    def alive(self) -> bool:
        """Whether it is not over."""
        return self.state in ALIVE

    @property
    def waits(self) -> bool:
        """Whether it has not begun."""
        return self.state in WAITING

    @property
    def words(self) -> str:
        """`PENDING (Resources)`."""
        return f"{self.state} ({self.reason})" if self.reason else self.state


def own_id() -> str:
    """Id of the job of Slurm that this process runs in; empty outside of jobs."""
    return os.environ.get(ALLOCATION, "")


def need_slurm() -> None:
    """See whether jobs can be submitted from here.

    Raises:
        SlurmError: They cannot.
    """
    if shutil.which("sbatch") is None:
        hint = "run it where Slurm's commands are, such as a login node; `module load slurm` may bring them"
        raise SlurmError("sbatch was not found", hint, EXIT_REFUSED)


def submit(script: str, options: Sequence[str], folder: str) -> str:
    """Submit a batch script.

    Args:
        script: Its text.
        options: More options of sbatch, which go before those in the script.
        folder: Where the job starts.

    Returns:
        Id of the job.

    Raises:
        SlurmError: Slurm does not take it; the message has its words.
    """
    words = ["sbatch", "--parsable", f"--chdir={folder}", *options]
    answer = _ask(words, "Slurm does not take the job", script)
    found = _SUBMITTED.fullmatch(answer.strip().splitlines()[-1] if answer.strip() else "")
    if found is None:
        raise SlurmError(
            f"sbatch did not tell the job's id, but: {plain(redacted(answer.strip()[:200]))}", "", EXIT_REFUSED
        )
    return found["id"]


def job_state(job: str) -> JobState:
    """Where a job stands.

    Raises:
        SlurmError: Slurm does not answer.
    """
    try:
        said = _ask(["squeue", "--noheader", "--jobs", job, "--format=%T|%r|%S|%N"], "Slurm does not tell of the job")
    except SlurmError as error:
        if _UNKNOWN in error.message.lower():
            return JobState("")
        raise
    for line in said.splitlines():
        return read_state(line)
    return JobState("")


def read_state(line: str) -> JobState:
    """A job as squeue tells it with `%T|%r|%S|%N`."""
    state, reason, start, nodes = (*(field.strip() for field in line.split("|")), "", "", "", "")[:4]
    return JobState(state, _known(reason), _known(start), _known(nodes))


def own_states() -> dict[str, JobState]:
    """Id -> where it stands, of all jobs of this user that the queue has.

    Raises:
        SlurmError: Slurm does not answer.
    """
    said = _ask(["squeue", "--noheader", "--me", "--format=%A|%T|%r|%S|%N"], "Slurm does not tell of the jobs")
    pairs = (line.partition("|") for line in said.splitlines())
    return {job.strip(): read_state(rest) for job, _, rest in pairs if job.strip()}


def job_named(name: str) -> str:
    """Id of the newest job of this user with a name; empty if the queue has none.

    Raises:
        SlurmError: Slurm does not answer.
    """
    said = _ask(["squeue", "--noheader", "--me", f"--name={name}", "--format=%A"], "Slurm does not tell of the jobs")
    found = [line.strip() for line in said.splitlines() if line.strip().isdigit()]
    return max(found, key=int, default="")


def job_facts(job: str) -> dict[str, str]:
    """What Slurm tells of a job, as `scontrol show job` names it; of one that it has forgotten nothing.

    Where accounting is on, sacct knows it longer: then State, Reason, Start, End, ExitCode and NodeList are told under
    the names of scontrol.

    Raises:
        SlurmError: Slurm does not answer.
    """
    try:
        return read_facts(_ask(["scontrol", "--oneliner", "show", "job", job], "Slurm does not tell of the job"))
    except SlurmError as error:
        if _UNKNOWN not in error.message.lower():
            raise
    return _accounted(job)


def read_facts(text: str) -> dict[str, str]:
    """The fields of `scontrol --oneliner show job`. Values with spaces, which only names of files have, are cut."""
    return {name: value for name, value in _FIELD.findall(text) if _known(value)}


def _accounted(job: str) -> dict[str, str]:
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
    words = ["sacct", "-X", "-n", "-P", "-j", job, f"--format={','.join(names)}"]
    try:
        line = next(iter(_ask(words, "Slurm's accounting does not tell of the job").splitlines()), "")
    except SlurmError:
        # "Slurm accounting storage is disabled": then nobody knows.
        return {}
    values = [field.strip() for field in line.split("|")]
    found = dict(zip(names.values(), values, strict=False))
    # "CANCELLED by 1000".
    return {name: value.split(" ")[0] for name, value in found.items() if _known(value)}


def variables_of_job(environment: Mapping[str, str]) -> dict[str, str]:
    """What the environment of a job tells of it, under the names of scontrol."""
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
    """A value, or nothing for what Slurm writes where there is none."""
    return "" if value in ("(null)", "N/A", "n/a", "None", "Unknown", "None assigned") else value


def _ask(words: Sequence[str], what: str, given: str = "") -> str:
    """What a program of Slurm prints.

    Raises:
        SlurmError: It is not there, takes too long or fails; the message has its words in one line.
    """
    environment = {**os.environ, "LC_ALL": "C", "SLURM_TIME_FORMAT": "standard"}
    try:
        heard = said(words, ANSWER_SECONDS, given.encode(), environment)
    except FileNotFoundError:
        raise SlurmError(f"{what}: {words[0]} was not found", "run it on a login node", EXIT_REFUSED) from None
    except OSError as error:
        raise SlurmError(f"{what}: {words[0]} cannot be started: {error.strerror}", "", EXIT_REFUSED) from None
    if heard.long:
        message = f"{what}: {words[0]} says more than {about_size(MOST_OUT)}"
        raise SlurmError(message, "see with `type -a` which program that is", EXIT_REFUSED)
    if heard.late:
        message = f"{what}: {words[0]} has said nothing for {ANSWER_SECONDS:.0f} s"
        raise SlurmError(message, "see with `sinfo` whether its controller answers", EXIT_REFUSED)
    if heard.code != 0:
        why = told(heard.err.decode("utf-8", "replace")) or f"exit code {heard.code}"
        raise SlurmError(f"{what}: {why}", "", EXIT_REFUSED)
    return heard.out.decode("utf-8", "replace")


def told(text: str) -> str:
    """What a program of Slurm complains of, in one line: `sbatch: error: Batch job submission failed: X` is X."""
    lines = [re.sub(r"^\w+: (error: |fatal: )?", "", line.strip()) for line in text.splitlines() if line.strip()]
    lines = [re.sub(r"^Batch job submission failed: ", "", line) for line in lines]
    return plain(redacted("; ".join(dict.fromkeys(lines))))[:300]
