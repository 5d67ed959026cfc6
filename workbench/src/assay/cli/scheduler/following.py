"""Runs that Slurm has, as commands see them: submitted, followed until they are over, or left alone."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.base import EXIT_INTERRUPTED, AssayError

if TYPE_CHECKING:
    from assay.run.listener import Listener
    from assay.run.planned import Plan
    from assay.store import RunStore


def submitted(plan: "Plan", out: Path, options: str, words: Sequence[str], listener: "Listener") -> "RunStore":
    """Submit a new run and follow it.

    Args:
        plan: The study.
        out: Folder of the runs.
        options: Of sbatch.
        words: Options of `assay run` in the job.
        listener: Takes what there is to say.

    Returns:
        The run, when its job is over.

    Raises:
        AssayError: Slurm does not take it.
        typer.Exit: The user has stopped to follow it; the job goes on.
    """
    from assay.run.batch.submit import submit_new

    return followed(submit_new(plan, out, options, words, listener.say), listener)


def resumed(
    folder: Path,
    options: str | None,
    words: Sequence[str],
    listener: "Listener",
    measured: "Callable[[Listener], RunStore]",
) -> "RunStore":
    """Go on with a run: here in a job, else in a new job, which is followed.

    Args:
        folder: Of the run.
        options: Of sbatch; those of the last job if None.
        words: Options of `assay run` in a new job.
        listener: Takes what there is to say.
        measured: Measures in this process.

    Returns:
        The run, open.

    Raises:
        AssayError: It cannot go on.
    """
    from assay.run.batch.slurm import own_id

    job = own_id()
    if options is None and job:
        return _told(folder, listener, measured, job)
    from assay.run.batch.submit import submit_again

    submit_again(folder, options, words, listener.say)
    return followed(folder, listener)


def _told(folder: Path, listener: "Listener", measured: "Callable[[Listener], RunStore]", job: str) -> "RunStore":
    """Measure in the job that this process is in, and tell whoever follows."""
    from assay.run.batch.events import TellingListener
    from assay.run.batch.facts import keep_stop

    telling = TellingListener(listener, folder, job)
    status = "failed"
    try:
        store = measured(telling)
        status = store.info_status()
        if status == "interrupted" and (why := keep_stop(store)):
            telling.say(why)
        telling.tell("over", status=status)
        return store
    except AssayError as error:
        telling.tell("over", status=status, message=error.message, hint=error.hint, code=error.exit_code)
        raise
    except BaseException:
        telling.tell("over", status=status)
        raise


def followed(folder: Path, listener: "Listener", later: bool = False) -> "RunStore":
    """Follow a run until its job is over.

    Args:
        folder: Of the run.
        listener: Takes what there is to say.
        later: Somebody comes to a job that may have told much already.

    Returns:
        The run.

    Raises:
        AssayError: The run has no job, or ended with this error in it.
        typer.Exit: The user has stopped to follow it; the job goes on.
    """
    from assay.cli.output import note
    from assay.run.batch.facts import end_state
    from assay.run.batch.follow import Follower
    from assay.store import RunStore

    follower = Follower(folder, listener, later)
    try:
        follower.follow()
    except KeyboardInterrupt:
        note(f"job {follower.job} goes on: `assay attach {folder}` follows it again")
        end = follower.known.ending("-b", "-s", "TERM")
        note(f"`{end}` has it stop in order; then `assay run {folder} --resume` does the rest")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if follower.error is not None:
        raise follower.error
    store = RunStore.open(folder)
    if not follower.told_over:
        note(f"job {follower.job} ended before the run did: {end_state(store, follower.job)}")
    return store
