"""Facts about the jobs that a run ran in: sections `scheduler job ID` of its environment."""

import contextlib
import math
import os
import shlex
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.units import about_duration
from assay.rooms.slurm.work.programs import SlurmError
from assay.rooms.slurm.work.record import read_batch
from assay.rooms.slurm.work.script import stop_seconds
from assay.rooms.slurm.work.slurm import Job, job_facts, own_job_id, variables_of_job
from assay.store import RunStore

SECTION = "scheduler job "
"""Beginning of a section's name; the job's id follows."""
_NAMES = {
    "Cluster": "cluster",
    "Partition": "partition",
    "Account": "account",
    "QOS": "qos",
    "Reservation": "reservation",
    "NodeList": "nodes",
    "NumNodes": "node count",
    "NumCPUs": "CPUs",
    "NumTasks": "tasks",
    "TimeLimit": "time limit",
    "SubmitTime": "submitted",
    "StartTime": "started",
    "Requeue": "requeue",
}
"""Slurm's field -> its name in a run."""
SIGNAL_SLACK_SECONDS = 60
"""How much earlier than requested Slurm may signal that the time limit is near (`--signal` of sbatch(1))."""
_AT_END = {"JobState": "state", "Reason": "reason", "EndTime": "ended", "ExitCode": "exit code"}


def _section(job: str) -> str:
    """Return the name of the section on a job."""
    return f"{SECTION}{escape_line(job)}"


def own_job_section() -> dict[str, dict[str, str]]:
    """Return the section on the job that this process runs in; empty outside of jobs."""
    job = own_job_id()
    if not job:
        return {}
    facts = variables_of_job(os.environ)
    try:
        facts |= job_facts(Job(job))
        known = {}
    except SlurmError as error:
        known = {"times": f"unknown: {error.message}"}
    return {_section(job): {"scheduler": "Slurm", **_renamed(facts, _NAMES), **known}}


def end_state(store: RunStore, job: str) -> str:
    """Return how a job ended, in Slurm's words, as `record_end` has stored it."""
    return store.info().environment.get(_section(job), {}).get("state", "unknown")


def record_stop(store: RunStore) -> str:
    """Record, in the job itself, that the run was stopped because the job's time limit is near.

    Args:
        store: The run, open for writing.

    Returns:
        A description; empty if the limit is far or there is none, the job is over, or Slurm does not answer.
    """
    job = own_job_id()
    try:
        facts = job_facts(Job(job))
        end = datetime.strptime(facts["EndTime"], "%Y-%m-%dT%H:%M:%S")
    except (SlurmError, KeyError, ValueError):
        return ""
    # Slurm prints local time. The end of a cancelled job is now.
    left = end.timestamp() - time.time()
    batch = read_batch(store.folder)
    signal_s = stop_seconds(shlex.split(batch.options)) if batch is not None else math.inf
    if facts.get("JobState") != "RUNNING" or left > signal_s + SIGNAL_SLACK_SECONDS:
        return ""
    # Slurm ends a job some time after its limit: the test data may have been removed only then.
    when = f"{about_duration(left)} before" if left > 0 else "at"
    text = f"stopped {when} its time limit ({facts.get('TimeLimit', 'unknown')})"
    environment = dict(store.info().environment)
    name = _section(job)
    store.describe(environment={**environment, name: {**environment.get(name, {}), "stopped": text}})
    return f"job {job} {text}"


def record_end(folder: Path, job: Job, options: str) -> bool:
    """Record how a job ended.

    Args:
        folder: Folder of the run.
        job: The job.
        options: With which it was submitted.

    Returns:
        Whether it is recorded; False if Slurm does not answer, or another process has the run open.
    """
    with contextlib.suppress(AssayError):
        facts = job_facts(job)
        with RunStore.open(folder, write=True) as store:
            environment = dict(store.info().environment)
            name, place = _section(job.id), {"cluster": job.cluster} if job.cluster else {}
            known = environment.get(name, {"scheduler": "Slurm", **place, **_renamed(facts, _NAMES)})
            end = _renamed(facts, _AT_END) or {"state": "unknown: Slurm no longer has the job"}
            environment[name] = {**known, "options": options, **end}
            store.describe(environment=environment)
        return True
    return False


def _renamed(facts: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {ours: escape_line(facts[field]) for field, ours in names.items() if field in facts}
