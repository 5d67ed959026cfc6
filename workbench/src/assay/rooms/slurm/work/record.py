"""A run's record of its jobs, in files of its folder. Only processes that submit or follow write it, never the job."""

import os
from pathlib import Path

from pydantic import ValidationError

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.rooms.slurm.work.slurm import Job
from assay.store.entries import BATCH, BATCH_NEW, BATCH_OUTPUT, open_new
from assay.store.safe_files import open_file, plain_file_status, read_file

MAX_BYTES = 1 << 20
MAX_TAIL_BYTES = 1 << 16
MAX_OUTPUT_BYTES = 1 << 40
"""Largest accepted size of the output of jobs, of which only the end is read."""


class BatchJob(Frozen):
    """A job of a run.

    Attributes:
        id: Its id in Slurm; empty while it is being submitted, or if the submission was cut short.
        cluster: Its cluster, as in `Job`.
        submitted_at: Seconds since 1970.
        has_ended: A follower has seen its end, and recorded how it ended.
    """

    id: str
    submitted_at: float
    has_ended: bool = False
    cluster: str | None = None

    @property
    def job(self) -> Job:
        """The job under which Slurm knows it."""
        return Job(self.id, self.cluster)


class Batch(Frozen):
    """How a run was submitted.

    Attributes:
        options: Options of sbatch, as the user wrote them.
        run_options: Options of `assay run` in the job.
        jobs: All of its jobs, the newest last.
    """

    options: str
    run_options: tuple[str, ...] = ()
    jobs: tuple[BatchJob, ...] = ()

    def with_job(self, job: BatchJob) -> "Batch":
        """Return the record with this job in place of the newest one."""
        return self.model_copy(update={"jobs": (*self.jobs[:-1], job)})


def read_batch(folder: Path) -> Batch | None:
    """Return a run's record of its jobs; None if it was never submitted.

    Raises:
        AssayError: It cannot be read.
    """
    try:
        return Batch.model_validate_json(read_file(folder, BATCH, MAX_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        reason = getattr(error, "strerror", None) or "it has no valid list of the run's jobs"
        raise AssayError(
            f"{folder / BATCH}: cannot be read: {reason}", "restore the run's folder from a copy"
        ) from None


def write_batch(folder: Path, batch: Batch) -> None:
    """Write the record, whole or not at all.

    Raises:
        AssayError: It cannot be written, as on a full disk or beyond a quota.
    """
    try:
        with open_new(folder / BATCH_NEW) as file:
            file.write(f"{batch.model_dump_json(indent=1)}\n".encode())
        (folder / BATCH_NEW).replace(folder / BATCH)
    except OSError as error:
        message = f"{folder / BATCH}: cannot be written: {(error.strerror or str(error)).lower()}"
        raise AssayError(message, "check the permissions, the free space and your quota there") from None


def output_size(folder: Path) -> int:
    """Return the bytes that the jobs of a run have printed."""
    status = plain_file_status(folder, BATCH_OUTPUT)
    return 0 if status is None else status.st_size


def last_output_lines(folder: Path, after: int = 0) -> list[str]:
    """Return the last lines that the jobs of a run have printed.

    Args:
        folder: Folder of the run.
        after: Offset in the file at which the output of interest begins.
    """
    try:
        fd = open_file(folder, BATCH_OUTPUT, MAX_OUTPUT_BYTES)
        try:
            begin = max(after, os.fstat(fd).st_size - MAX_TAIL_BYTES)
            text = os.pread(fd, MAX_TAIL_BYTES, begin).decode(errors="replace")
        finally:
            os.close(fd)
    except (AssayError, OSError):
        return []
    return [line for line in text.splitlines() if line.strip()]
