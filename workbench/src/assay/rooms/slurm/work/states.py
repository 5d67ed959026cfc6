"""The states of runs that are batch jobs of Slurm."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.model.base import AssayError, PrintLine, warning
from assay.rooms.slurm.work.programs import SlurmError
from assay.rooms.slurm.work.record import Batch, read_batch
from assay.rooms.slurm.work.slurm import JobState, own_states
from assay.store import RunSummary

UNFINISHED = ("interrupted", "running")
"""Statuses of a run without an end of its own: its job may be queued, or measure on another machine."""


def with_job_states(runs: Sequence[RunSummary], print_line: PrintLine) -> list[RunSummary]:
    """Return the runs, with `queued` or `running` as the status of each whose job is not over.

    Args:
        runs: As their folders describe them.
        print_line: Prints a line if Slurm does not answer.
    """
    batches = {run.folder: batch for run in runs if run.status in UNFINISHED and (batch := _batch(run)) is not None}
    jobs = {folder: batch.jobs[-1] for folder, batch in batches.items() if batch.jobs}
    if not any(not job.has_ended for job in jobs.values()):
        return list(runs)
    states_by_cluster = {
        job.cluster: _states(job.cluster, print_line) for job in jobs.values() if job.id and not job.has_ended
    }
    updated = []
    for run in runs:
        job = jobs.get(run.folder)
        if job is None or job.has_ended or not job.id:
            updated.append(run)
        elif (states := states_by_cluster[job.cluster]) is None:
            updated.append(replace(run, job=f"job {job.id}"))
        else:
            updated.append(_with_state(run, job.id, states.get(job.id, JobState(""))))
    return updated


def _states(cluster: str | None, print_line: PrintLine) -> dict[str, JobState] | None:
    try:
        return own_states(cluster)
    except SlurmError as error:
        print_line(warning(f"{error.message}: the states of submitted runs are unknown"))
        return None


def _batch(run: RunSummary) -> Batch | None:
    try:
        return read_batch(Path(run.folder))
    except AssayError:
        return None


def _with_state(run: RunSummary, job: str, state: JobState) -> RunSummary:
    if not state.is_alive:
        return run
    return replace(run, status="queued" if state.is_waiting else "running", job=f"job {job} {state.words}")


def job_words(folder: Path) -> str:
    """Return id and state of a run's newest job, in words; empty if it was not submitted.

    Raises:
        AssayError: The run's record of its jobs cannot be read.
    """
    batch = read_batch(folder)
    if batch is None or not batch.jobs:
        return ""
    job = batch.jobs[-1]
    if job.has_ended or not job.id:
        return f"{job.id or 'unknown'}, over"
    try:
        state = own_states(job.cluster).get(job.id, JobState(""))
    except SlurmError as error:
        return f"{job.id}: {error.message}"
    return f"{job.id} {state.words}; `assay attach {folder.name}` follows it" if state.is_alive else f"{job.id}, over"
