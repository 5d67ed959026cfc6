"""Submitting a batch script, and finding out whether Slurm has taken it.

A job that Slurm has and nobody knows of would measure unseen, and be submitted a second time. So only a plain refusal
counts as none: whatever else comes of sbatch, the queue is asked for a job of that name.
"""

import contextlib
import os
import re
from collections.abc import Collection, Sequence

from assay.launch.answers import MOST_OUT
from assay.model.base import EXIT_REFUSED
from assay.model.foreign import plain
from assay.model.secret import redacted
from assay.model.units import about_size
from assay.run.batch.programs import ANSWER_SECONDS, CLUSTERS, SlurmError, call, told
from assay.run.batch.script import OPTIONS_OF_ENVIRONMENT, option
from assay.run.batch.slurm import Job, job_named

_IDS = (
    re.compile(r"(?P<id>\d+)(?:;(?P<cluster>[\w.-]+))?"),
    re.compile(r"Submitted batch job (?P<id>\d+)(?: on cluster (?P<cluster>[\w.-]+))?"),
)
"""How sbatch tells a job: with `--parsable`, and as a wrapper of a site may print it."""
_UNSURE = re.compile(r"timed out|zero bytes|connection|communication|interrupted", re.I)
"""Of sbatch's complaints those after which the controller may have the job all the same."""


class UnsureError(SlurmError):
    """Whether Slurm has the job is not known."""


def submit(script: str, options: Sequence[str], folder: str, name: str, known: Collection[str] = ()) -> Job:
    """Submit a batch script.

    Args:
        script: Its text.
        options: Of sbatch, which go before those in the script and in the environment.
        folder: Where the job starts.
        name: Of the job.
        known: Ids of older jobs of that name.

    Returns:
        The job.

    Raises:
        UnsureError: Slurm may have taken it, and may not.
        SlurmError: Slurm does not take it; the message has its words.
    """
    what = "Slurm does not take the job"
    words = ["sbatch", "--parsable", f"--chdir={folder}", *options]
    cluster = cluster_asked(options)
    heard = call(words, what, script, without=OPTIONS_OF_ENVIRONMENT)
    out, complaint = heard.out.decode("utf-8", "replace"), told(heard.err.decode("utf-8", "replace"))
    jobs = jobs_told(out, cluster)
    if heard.code == 0 and len(jobs) == 1:
        return jobs[0]
    # A queue that does not answer leaves it as it is.
    with contextlib.suppress(SlurmError):
        found = job_named(name, cluster, known)
        if found is not None:
            return found
    if heard.code not in (0, None) and not (heard.late or heard.long or jobs or _UNSURE.search(complaint)):
        raise SlurmError(f"{what}: {complaint or f'exit code {heard.code}'}", "", EXIT_REFUSED)
    message = f"sbatch did not tell the job's id, but: {plain(redacted(out.strip()[-200:])) or complaint or 'nothing'}"
    if heard.long:
        message = f"sbatch says more than {about_size(MOST_OUT)}"
    elif heard.late:
        message = f"sbatch has said nothing for {ANSWER_SECONDS:.0f} s"
    hint = f"`squeue --me --name={name}` shows whether Slurm has it; then `assay attach` finds its job, too"
    raise UnsureError(message, hint, EXIT_REFUSED)


def cluster_asked(options: Sequence[str]) -> str:
    """The cluster that sbatch is to submit to; empty for that of this machine. It may be several: `a,b`."""
    named = option(options, "-M", "--clusters")
    return named or os.environ.get("SBATCH_CLUSTERS") or os.environ.get(CLUSTERS) or ""


def jobs_told(said: str, cluster: str = "") -> list[Job]:
    """The jobs of which sbatch's output tells, whatever else a site has it print.

    Args:
        said: The output.
        cluster: To which it was to submit, for jobs of which no cluster is told.
    """
    for pattern in _IDS:
        found = [match for line in said.splitlines() if (match := pattern.fullmatch(line.strip()))]
        if found:
            return list(dict.fromkeys(Job(match["id"], match["cluster"] or cluster) for match in found))
    return []
