"""Handing a run to Slurm: its folder is made, and a job measures into it as if it were resumed."""

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError, Say, warning
from assay.model.own_program import own_words
from assay.model.study.case import Case
from assay.model.units import about_duration
from assay.plan.estimate import estimate_study
from assay.plan.growth.stages import stages_of
from assay.run.batch.kept import Batch, BatchJob, read_batch, write_batch
from assay.run.batch.programs import SlurmError
from assay.run.batch.script import check_options, job_name, node_count, script_text, time_limit
from assay.run.batch.slurm import Job, JobState, job_named, job_state, need_slurm
from assay.run.batch.taken import UnsureError, cluster_asked, submit
from assay.run.gather import keep_companions
from assay.run.planned import Plan, beforehand, meta_of
from assay.store import RunStore
from assay.store.entries import BATCH_OUTPUT, BATCH_SCRIPT, open_new, remove_folder


def submit_new(plan: Plan, out: Path, options: str, words: Sequence[str], say: Say) -> Path:
    """Make a run and submit it.

    Args:
        plan: The study.
        out: Folder of the runs, which the nodes of the job must see at the same path.
        options: Of sbatch.
        words: Options of `assay run` in the job.
        say: Takes what there is to say.

    Returns:
        The run's folder.

    Raises:
        AssayError: Slurm does not take it, or the run cannot be kept; then nothing is left of it. Where Slurm may have
            taken it all the same, the run is kept.
    """
    given = check_options(options)
    need_slurm()
    _refuse_too_few_nodes(given, plan.cases, words)
    estimate = estimate_study(plan.study, plan.cases)
    say(beforehand(plan, estimate))
    limit = time_limit(given)
    if limit is not None and estimate.seconds > limit:
        again = "what it does not reach, `assay run RUN --resume` does in another job"
        say(warning(f"the job ends after {about_duration(limit)}; {again}"))
    store = RunStore.create(out, meta_of(plan), plan.cases, plan.excluded, plan.order, plan.text, plan.prices)
    folder = store.folder
    try:
        with contextlib.closing(store):
            store.set_status("interrupted")
            keep_companions(plan.study, plan.folder, folder)
            write_batch(folder, Batch(options=options, words=tuple(words)))
        submit_again(folder, None, None, say)
    except BaseException:
        if _may_have_job(folder):
            say(f"run {folder} is kept: Slurm may have its job")
        else:
            remove_folder(folder)
        raise
    return folder


def _may_have_job(folder: Path) -> bool:
    """Whether a script of the run was handed to Slurm, and not plainly refused."""
    try:
        batch = read_batch(folder)
    except AssayError:
        return True
    return batch is not None and bool(batch.jobs)


def submit_again(folder: Path, options: str | None, words: Sequence[str] | None, say: Say) -> None:
    """Submit a run that exists: what is missing of it is measured in a new job.

    Args:
        folder: Of the run.
        options: Of sbatch; those of the last job if None.
        words: Options of `assay run` in the job; those of the last job if None.
        say: Takes what there is to say.

    Raises:
        AssayError: A job of it is not over, Slurm does not take it, or it cannot be kept.
    """
    need_slurm()
    batch = read_batch(folder) or Batch(options=options or "")
    refuse_living(folder, batch)
    update = {"options": options} if options is not None else {}
    batch = batch.model_copy(update=update | ({"words": tuple(words)} if words is not None else {}))
    given = check_options(batch.options)
    with contextlib.closing(RunStore.open(folder)) as store:
        _refuse_too_few_nodes(given, store.cases(), batch.words, len(store.info().stages))
    place = folder.absolute()
    command = [*own_words(), "run", str(place), "--resume", *batch.words]
    text = script_text(folder.name, place / BATCH_OUTPUT, given, command)
    try:
        with open_new(folder / BATCH_SCRIPT) as file:
            file.write(text.encode())
    except OSError as error:
        message = f"{folder / BATCH_SCRIPT}: cannot be written: {(error.strerror or str(error)).lower()}"
        raise AssayError(message, "see the rights, the space and your quota there") from None
    given_to = BatchJob(id="", submitted_at=time.time(), cluster=cluster_asked(given))
    known = tuple(one.id for one in batch.jobs)
    # What is cut short between the two is found by the name of the job.
    write_batch(folder, batch.model_copy(update={"jobs": (*batch.jobs, given_to)}))
    try:
        job = submit(text, given, str(Path.cwd()), job_name(folder.name), known)
    except UnsureError:
        raise
    except SlurmError:
        write_batch(folder, batch)
        raise
    say(f"run {folder.name} is {job.words}")
    taken = given_to.model_copy(update={"id": job.id, "cluster": job.cluster})
    write_batch(folder, batch.model_copy(update={"jobs": (*batch.jobs, taken)}))


def _refuse_too_few_nodes(given: Sequence[str], cases: Sequence[Case], words: Sequence[str], measured: int = 0) -> None:
    """Refuse options that ask for fewer nodes than are needed; of a run in stages those of the next one.

    Args:
        given: Options of sbatch.
        cases: Of the study.
        words: Options of `assay run` in the job.
        measured: Stages that were measured.

    Raises:
        AssayError: They do.
    """
    stages = stages_of(cases) if "--stage" in words else ()
    cases = [case for stage in stages[: measured + 1] for case in stage.cases] or cases
    needed = max((case.parameters.hosts for case in cases), default=1)
    nodes = node_count(given)
    if nodes is not None and nodes < needed:
        message = f"the study needs {needed} hosts, and the job asks for {nodes} node{'s' if nodes > 1 else ''}"
        raise AssayError(message, f"write -N {needed}", EXIT_REFUSED)


def newest_job(folder: Path, batch: Batch) -> BatchJob | None:
    """The newest job of a run, whose id is looked up where it could not be written down; None if it has none.

    Raises:
        SlurmError: Slurm does not answer.
    """
    if not batch.jobs:
        return None
    job = batch.jobs[-1]
    if job.id or job.over:
        return job
    found = job_named(job_name(folder.name), job.cluster, [one.id for one in batch.jobs])
    if found is None:
        return None
    job = job.model_copy(update={"id": found.id, "cluster": found.cluster})
    write_batch(folder, batch.with_job(job))
    return job


def state_of(folder: Path, batch: Batch) -> tuple[Job, JobState]:
    """The newest job of a run, and where it stands; empty ones without a job.

    Raises:
        SlurmError: Slurm does not answer.
    """
    job = newest_job(folder, batch)
    if job is None or job.over:
        return (job.job if job is not None else Job("")), JobState("")
    return job.job, job_state(job.job)


def refuse_living(folder: Path, batch: Batch) -> None:
    """Refuse a run that has a job which is not over.

    Raises:
        AssayError: It has, or Slurm does not tell.
    """
    try:
        job, state = state_of(folder, batch)
    except SlurmError as error:
        raise AssayError(error.message, "whether the run goes on is not known: try again", EXIT_REFUSED) from None
    if state.alive:
        message = f"run {folder.name} is {job.words}, which is {state.words}"
        end = job.ending() if state.waits else job.ending("-b", "-s", "TERM")
        hint = f"`assay attach {folder.name}` follows it; `{end}` ends it, and then it can be resumed"
        raise AssayError(message, hint, EXIT_REFUSED)
