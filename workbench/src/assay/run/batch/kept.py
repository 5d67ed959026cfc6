"""What a run keeps of its jobs, in files of its folder: only who submits and follows writes them, never the job."""

import os
from pathlib import Path

from pydantic import ValidationError

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.run.batch.slurm import Job
from assay.store.door import look_at, open_file, read_file
from assay.store.entries import BATCH, BATCH_NEW, BATCH_OUTPUT, open_new

MOST_BYTES = 1 << 20
MOST_TAIL = 1 << 16
MOST_OUTPUT = 1 << 40
"""Of what jobs print, of which the end is read."""


class BatchJob(Frozen):
    """A job of a run.

    Attributes:
        id: As Slurm calls it; empty while it is being submitted, or if that was cut short.
        cluster: Its cluster, as of `Job`.
        submitted_at: Seconds since 1970.
        over: Whoever followed it has seen its end, and written down what there was to know.
    """

    id: str
    submitted_at: float
    over: bool = False
    cluster: str | None = None

    @property
    def job(self) -> Job:
        """As Slurm is asked for it."""
        return Job(self.id, self.cluster)


class Batch(Frozen):
    """How a run was submitted.

    Attributes:
        options: Of sbatch, as the user wrote them.
        words: Options of `assay run` in the job.
        jobs: All of its jobs, the newest last.
    """

    options: str
    words: tuple[str, ...] = ()
    jobs: tuple[BatchJob, ...] = ()

    def with_job(self, job: BatchJob) -> "Batch":
        """With this in place of the newest job."""
        return self.model_copy(update={"jobs": (*self.jobs[:-1], job)})


def read_batch(folder: Path) -> Batch | None:
    """What a run keeps of its jobs; None if it never was one.

    Raises:
        AssayError: It cannot be read.
    """
    try:
        return Batch.model_validate_json(read_file(folder, BATCH, MOST_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        reason = getattr(error, "strerror", None) or "it does not say which jobs the run had"
        raise AssayError(
            f"{folder / BATCH}: cannot be read: {reason}", "restore the run's folder from a copy"
        ) from None


def write_batch(folder: Path, batch: Batch) -> None:
    """Keep it, whole or not at all.

    Raises:
        AssayError: It cannot be written, as on a full disk or beyond a quota.
    """
    try:
        with open_new(folder / BATCH_NEW) as file:
            file.write(f"{batch.model_dump_json(indent=1)}\n".encode())
        (folder / BATCH_NEW).replace(folder / BATCH)
    except OSError as error:
        message = f"{folder / BATCH}: cannot be written: {(error.strerror or str(error)).lower()}"
        raise AssayError(message, "see the rights, the space and your quota there") from None


def output_size(folder: Path) -> int:
    """Bytes that the jobs of a run have printed."""
    about = look_at(folder, BATCH_OUTPUT)
    return 0 if about is None else about.st_size


def last_words(folder: Path, after: int = 0) -> list[str]:
    """The lines that the jobs of a run have printed, the last of them.

    Args:
        folder: Of the run.
        after: Byte of the file with which it begins.
    """
    try:
        fd = open_file(folder, BATCH_OUTPUT, MOST_OUTPUT)
        try:
            begin = max(after, os.fstat(fd).st_size - MOST_TAIL)
            text = os.pread(fd, MOST_TAIL, begin).decode(errors="replace")
        finally:
            os.close(fd)
    except (AssayError, OSError):
        return []
    return [line for line in text.splitlines() if line.strip()]
