"""Submits a batch script, and finds out whether Slurm has accepted it.

A job that Slurm has but the run does not know would measure unnoticed, and be submitted a second time. So only a plain
refusal counts as one: after any other failure of sbatch, the queue is searched for a job of that name.
"""

import contextlib
import os
import re
from collections.abc import Collection, Sequence

from assay.launch.commands import MAX_STDOUT_BYTES
from assay.model.base import EXIT_REFUSED
from assay.model.escape import escape_line
from assay.model.secret import redact
from assay.model.units import about_size
from assay.rooms.slurm.work.programs import (
    ANSWER_TIMEOUT_SECONDS,
    CLUSTERS_VARIABLE,
    SlurmError,
    complaint_text,
    run_program,
)
from assay.rooms.slurm.work.script import OPTIONS_OF_ENVIRONMENT, option_value
from assay.rooms.slurm.work.slurm import Job, job_named

_IDS = (
    re.compile(r"(?P<id>\d+)(?:;(?P<cluster>[\w.-]+))?"),
    re.compile(r"Submitted batch job (?P<id>\d+)(?: on cluster (?P<cluster>[\w.-]+))?"),
)
"""How sbatch prints the job: with `--parsable`, and as a wrapper of a site may print it."""
_UNSURE = re.compile(r"timed out|zero bytes|connection|communication|interrupted", re.I)
"""Complaints of sbatch after which the controller may have the job nevertheless."""


class UnsureError(SlurmError):
    """It is unknown whether Slurm has the job."""


def submit(script: str, options: Sequence[str], folder: str, name: str, known: Collection[str] = ()) -> Job:
    """Submit a batch script.

    Args:
        script: Its text.
        options: Options of sbatch, which precede those in the script and in the environment.
        folder: Where the job starts.
        name: Name of the job.
        known: Ids of older jobs of that name.

    Returns:
        The job.

    Raises:
        UnsureError: Slurm may have accepted it, or not.
        SlurmError: Slurm refuses it; the message has its complaint.
    """
    what = "Slurm refused the job"
    words = ["sbatch", "--parsable", f"--chdir={folder}", *options]
    cluster = requested_cluster(options)
    answer = run_program(words, what, script, without=OPTIONS_OF_ENVIRONMENT)
    out, complaint = answer.out.decode("utf-8", "replace"), complaint_text(answer.err.decode("utf-8", "replace"))
    jobs = printed_jobs(out, cluster)
    if answer.code == 0 and len(jobs) == 1:
        return jobs[0]
    # If the queue does not answer either, the error below is raised.
    with contextlib.suppress(SlurmError):
        queued_job = job_named(name, cluster, known)
        if queued_job is not None:
            return queued_job
    if answer.code not in (0, None) and not (
        answer.timed_out or answer.overflowed or jobs or _UNSURE.search(complaint)
    ):
        raise SlurmError(f"{what}: {complaint or f'exit code {answer.code}'}", "", EXIT_REFUSED)
    message = f"sbatch printed no job id, but: {escape_line(redact(out.strip()[-200:])) or complaint or 'nothing'}"
    if answer.overflowed:
        message = f"sbatch printed more than {about_size(MAX_STDOUT_BYTES)}"
    elif answer.timed_out:
        message = f"sbatch has not answered for {ANSWER_TIMEOUT_SECONDS:.0f} s"
    hint = f"`squeue --me --name={name}` shows whether Slurm has it; then `assay attach` finds its job, too"
    raise UnsureError(message, hint, EXIT_REFUSED)


def requested_cluster(options: Sequence[str]) -> str:
    """Return the cluster that sbatch submits to; empty for that of this machine. It may be several: `a,b`."""
    named = option_value(options, "-M", "--clusters")
    return named or os.environ.get("SBATCH_CLUSTERS") or os.environ.get(CLUSTERS_VARIABLE) or ""


def printed_jobs(output: str, cluster: str = "") -> list[Job]:
    """Return the jobs that sbatch's output names, whatever else a site prints there.

    Args:
        output: The output.
        cluster: Cluster of the submission, for jobs whose cluster is not printed.
    """
    for pattern in _IDS:
        matches = [match for line in output.splitlines() if (match := pattern.fullmatch(line.strip()))]
        if matches:
            return list(dict.fromkeys(Job(match["id"], match["cluster"] or cluster) for match in matches))
    return []
