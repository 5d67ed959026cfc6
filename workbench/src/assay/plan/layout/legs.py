"""Splits the job of a case with `cache: remount` into legs, between which its file systems are remounted.

Each leg is a job of its own on the same files, since a file system cannot be unmounted while an engine has files open.
"""

from typing import NamedTuple

from assay.contract._generated import Job, Operation, Phase
from assay.plan.phases import leg_starts
from assay.plan.tree import PhasePlan

EMPTY_PHASE = Phase(operation=Operation.prepare, measured=False)
"""Replaces a phase of an earlier leg; all files exist, so that it does nothing."""


class Leg(NamedTuple):
    """A part of a job.

    Attributes:
        first: Number of its first phase, the same in the whole job and in the leg's: random offsets and written data
            depend on this number.
        job: The job for the engines.
    """

    first: int
    job: Job


def legs_of(job: Job) -> tuple[Leg, ...]:
    """Return the legs of a job; each except the last keeps the files for the next one.

    Args:
        job: The whole job, as stored with the run.
    """
    phases = [PhasePlan(phase.operation.value, phase.measured) for phase in job.phases]
    starts = leg_starts(phases, job.reuse_files)
    ends = (*starts[1:], len(phases))
    return tuple(
        Leg(
            first,
            job.model_copy(
                update={
                    "phases": [*[EMPTY_PHASE] * first, *job.phases[first:end]],
                    "keep_files": job.keep_files or end < len(phases),
                    "reuse_files": job.reuse_files or first > 0,
                }
            ),
        )
        for first, end in zip(starts, ends, strict=True)
    )
