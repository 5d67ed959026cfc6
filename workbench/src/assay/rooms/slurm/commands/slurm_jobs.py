"""Runs in Slurm jobs, for the commands: submit a run, resume it, follow it until its job is over."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.base import EXIT_INTERRUPTED, AssayError

if TYPE_CHECKING:
    from assay.run.listener import Listener
    from assay.run.study_plan import Plan
    from assay.store import RunStore


def submit_and_follow(plan: "Plan", out: Path, options: str, words: Sequence[str], listener: "Listener") -> "RunStore":
    """Submit a new run and follow it.

    Args:
        plan: The study.
        out: Folder of the runs.
        options: Options of sbatch.
        words: Options of `assay run` in the job.
        listener: Receives messages and progress.

    Returns:
        The run, when its job is over.

    Raises:
        AssayError: Slurm rejects the job.
        typer.Exit: The user stopped following; the job goes on.
    """
    from assay.rooms.slurm.work.submit import submit_new

    return follow_run(submit_new(plan, out, options, words, listener.print_line), listener)


def resume_in_job(
    folder: Path,
    options: str | None,
    words: Sequence[str],
    listener: "Listener",
    measure: "Callable[[Listener], RunStore]",
) -> "RunStore":
    """Resume a run: in this process if it is in a job, else in a new job, which is followed.

    Args:
        folder: Folder of the run.
        options: Options of sbatch; None: those of the last job.
        words: Options of `assay run` in a new job.
        listener: Receives messages and progress.
        measure: Measures in this process, and returns the run.

    Returns:
        The run, open.

    Raises:
        AssayError: The run cannot be resumed.
    """
    from assay.rooms.slurm.work.slurm import own_job_id

    job = own_job_id()
    if options is None and job:
        return _measure_in_job(folder, listener, measure, job)
    from assay.rooms.slurm.work.submit import submit_again

    submit_again(folder, options, words, listener.print_line)
    return follow_run(folder, listener)


def _measure_in_job(
    folder: Path, listener: "Listener", measured: "Callable[[Listener], RunStore]", job: str
) -> "RunStore":
    """Measure in the job of this process; record messages and progress in the run for those who follow it."""
    from assay.rooms.slurm.work.facts import record_stop
    from assay.rooms.slurm.work.progress_file import RecordingListener

    recorder = RecordingListener(listener, folder, job)
    status = "failed"
    try:
        store = measured(recorder)
        status = store.current_status()
        if status == "interrupted" and (why := record_stop(store)):
            recorder.print_line(why)
        recorder.append("over", status=status)
        return store
    except AssayError as error:
        recorder.append("over", status=status, message=error.message, hint=error.hint, code=error.exit_code)
        raise
    except BaseException:
        recorder.append("over", status=status)
        raise


def follow_run(folder: Path, listener: "Listener", later: bool = False) -> "RunStore":
    """Follow a run until its job is over.

    Args:
        folder: Folder of the run.
        listener: Receives messages and progress.
        later: The job may have been running for a while; its earlier messages are not repeated.

    Returns:
        The run.

    Raises:
        AssayError: The run has no job, or the job ended with this error.
        typer.Exit: The user stopped following; the job goes on.
    """
    from assay.rooms.slurm.work.facts import end_state
    from assay.rooms.slurm.work.follow import Follower
    from assay.store import RunStore
    from assay.terminal.output import note

    follower = Follower(folder, listener, later)
    try:
        follower.follow()
    except KeyboardInterrupt:
        note(f"job {follower.job} continues: `assay attach {folder}` follows it again")
        end = follower.known.cancel_command("-b", "-s", "TERM")
        note(f"`{end}` stops it cleanly; then `assay run {folder} --resume` continues the run")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if follower.error is not None:
        raise follower.error
    store = RunStore.open(folder)
    if not follower.told_over:
        note(f"job {follower.job} ended before the run did: {end_state(store, follower.job)}")
    return store
