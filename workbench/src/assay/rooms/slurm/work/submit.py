"""Submits a run to Slurm: makes its folder, and a job that measures into it like a resumed run."""

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError, PrintLine, warning
from assay.model.own_program import own_command
from assay.model.study.case import Case
from assay.model.units import about_duration
from assay.plan.estimate import estimate_study
from assay.plan.stages import stages_of
from assay.rooms.slurm.work.programs import SlurmError
from assay.rooms.slurm.work.record import Batch, BatchJob, read_batch, write_batch
from assay.rooms.slurm.work.script import check_options, job_name, node_count, script_text, time_limit
from assay.rooms.slurm.work.slurm import Job, JobState, job_named, job_state, require_slurm
from assay.rooms.slurm.work.submission import UnsureError, requested_cluster, submit
from assay.run.study_hosts import copy_study_files
from assay.run.study_plan import Plan, new_run_meta, prediction_text
from assay.store import RunStore
from assay.store.entries import BATCH_OUTPUT, BATCH_SCRIPT, open_new, remove_folder


def submit_new(plan: Plan, out: Path, options: str, words: Sequence[str], print_line: PrintLine) -> Path:
    """Make a run and submit it.

    Args:
        plan: The study.
        out: Folder of the runs, which the nodes of the job must have at the same path.
        options: Options of sbatch.
        words: Options of `assay run` in the job.
        print_line: Prints a line.

    Returns:
        The run's folder.

    Raises:
        AssayError: Slurm refuses the job, or the run cannot be stored; then nothing is left of it. If Slurm may have
            accepted the job nevertheless, the run stays.
    """
    option_words = check_options(options)
    require_slurm()
    _refuse_too_few_nodes(option_words, plan.cases, words)
    estimate = estimate_study(plan.study, plan.cases)
    print_line(prediction_text(plan, estimate))
    limit = time_limit(option_words)
    if limit is not None and estimate.seconds > limit:
        resume_text = "`assay run RUN --resume` measures the rest in another job"
        print_line(warning(f"the job ends after {about_duration(limit)}; {resume_text}"))
    store = RunStore.create(out, new_run_meta(plan), plan.cases, plan.excluded, plan.order, plan.text, plan.prices)
    folder = store.folder
    try:
        with contextlib.closing(store):
            store.set_status("interrupted")
            copy_study_files(plan.study, plan.folder, folder)
            write_batch(folder, Batch(options=options, run_options=tuple(words)))
        submit_again(folder, None, None, print_line)
    except BaseException:
        if _may_have_job(folder):
            print_line(f"run {folder} is kept: Slurm may have its job")
        else:
            remove_folder(folder)
        raise
    return folder


def _may_have_job(folder: Path) -> bool:
    """Whether a script of the run was submitted to Slurm, and not plainly refused."""
    try:
        batch = read_batch(folder)
    except AssayError:
        return True
    return batch is not None and bool(batch.jobs)


def submit_again(folder: Path, options: str | None, words: Sequence[str] | None, print_line: PrintLine) -> None:
    """Submit an existing run: a new job measures what is missing.

    Args:
        folder: Folder of the run.
        options: Options of sbatch; those of the last job if None.
        words: Options of `assay run` in the job; those of the last job if None.
        print_line: Prints a line.

    Raises:
        AssayError: A job of it is not over, Slurm refuses the new one, or it cannot be stored.
    """
    require_slurm()
    batch = read_batch(folder) or Batch(options=options or "")
    refuse_active_job(folder, batch)
    update = {"options": options} if options is not None else {}
    batch = batch.model_copy(update=update | ({"run_options": tuple(words)} if words is not None else {}))
    option_words = check_options(batch.options)
    with contextlib.closing(RunStore.open(folder)) as store:
        _refuse_too_few_nodes(option_words, store.cases(), batch.run_options, len(store.info().stages))
    place = folder.absolute()
    command = [*own_command(), "run", str(place), "--resume", *batch.run_options]
    text = script_text(folder.name, place / BATCH_OUTPUT, option_words, command)
    try:
        with open_new(folder / BATCH_SCRIPT) as file:
            file.write(text.encode())
    except OSError as error:
        message = f"{folder / BATCH_SCRIPT}: cannot be written: {(error.strerror or str(error)).lower()}"
        raise AssayError(message, "check the permissions, the free space and your quota there") from None
    pending_job = BatchJob(id="", submitted_at=time.time(), cluster=requested_cluster(option_words))
    known = tuple(one.id for one in batch.jobs)
    # If this is cut short before the id is stored, the job is found by its name.
    write_batch(folder, batch.model_copy(update={"jobs": (*batch.jobs, pending_job)}))
    try:
        job = submit(text, option_words, str(Path.cwd()), job_name(folder.name), known)
    except UnsureError:
        raise
    except SlurmError:
        write_batch(folder, batch)
        raise
    print_line(f"run {folder.name} is {job.words}")
    submitted_job = pending_job.model_copy(update={"id": job.id, "cluster": job.cluster})
    write_batch(folder, batch.model_copy(update={"jobs": (*batch.jobs, submitted_job)}))


def _refuse_too_few_nodes(
    option_words: Sequence[str], cases: Sequence[Case], words: Sequence[str], measured: int = 0
) -> None:
    """Refuse options that request fewer nodes than are needed; for a run in stages, than the next stage needs.

    Args:
        option_words: Options of sbatch.
        cases: Cases of the study.
        words: Options of `assay run` in the job.
        measured: Stages that were measured.

    Raises:
        AssayError: The nodes are too few.
    """
    stages = stages_of(cases) if "--stage" in words else ()
    cases = [case for stage in stages[: measured + 1] for case in stage.cases] or cases
    needed = max((case.parameters.hosts for case in cases), default=1)
    nodes = node_count(option_words)
    if nodes is not None and nodes < needed:
        message = f"the study needs {needed} hosts, but the job requests {nodes} node{'s' if nodes > 1 else ''}"
        raise AssayError(message, f"write -N {needed}", EXIT_REFUSED)


def newest_job(folder: Path, batch: Batch) -> BatchJob | None:
    """Return the newest job of a run; None if it has none. An id that was not stored is looked up in the queue.

    Raises:
        SlurmError: Slurm does not answer.
    """
    if not batch.jobs:
        return None
    job = batch.jobs[-1]
    if job.id or job.has_ended:
        return job
    queued_job = job_named(job_name(folder.name), job.cluster, [one.id for one in batch.jobs])
    if queued_job is None:
        return None
    job = job.model_copy(update={"id": queued_job.id, "cluster": queued_job.cluster})
    write_batch(folder, batch.with_job(job))
    return job


def newest_job_state(folder: Path, batch: Batch) -> tuple[Job, JobState]:
    """Return the newest job of a run and its state; both empty without a job.

    Raises:
        SlurmError: Slurm does not answer.
    """
    job = newest_job(folder, batch)
    if job is None or job.has_ended:
        return (job.job if job is not None else Job("")), JobState("")
    return job.job, job_state(job.job)


def refuse_active_job(folder: Path, batch: Batch) -> None:
    """Refuse a run with a job that is not over.

    Raises:
        AssayError: It has one, or Slurm does not answer.
    """
    try:
        job, state = newest_job_state(folder, batch)
    except SlurmError as error:
        raise AssayError(error.message, "the state of the run is unknown: try again", EXIT_REFUSED) from None
    if state.is_alive:
        message = f"run {folder.name} is {job.words}, which is {state.words}"
        end = job.cancel_command() if state.is_waiting else job.cancel_command("-b", "-s", "TERM")
        hint = f"`assay attach {folder.name}` follows it; `{end}` ends it, and then it can be resumed"
        raise AssayError(message, hint, EXIT_REFUSED)
