"""The job of a case with `cache: remount`, in legs: between two of them its file systems are mounted anew.

Each leg is a job of its own on the same files, since nobody can unmount what an engine has open.
"""

from typing import NamedTuple

from assay.contract._generated import Job, Operation, Phase
from assay.plan.phases import leg_starts
from assay.plan.tree import PhasePlan

NOTHING_TO_DO = Phase(operation=Operation.prepare, measured=False)
"""In place of a phase of an earlier leg: all files are there, so that it makes nothing."""


class Leg(NamedTuple):
    """A part of a job.

    Attributes:
        first: Number of its first phase in the whole job, and in its own: what is random in a phase, and what it
            writes, follow from the number.
        job: What the engines get.
    """

    first: int
    job: Job


def legs_of(job: Job) -> tuple[Leg, ...]:
    """The legs of a job; each but the last leaves the files where they are, for the next one.

    Args:
        job: The whole of it, as it is kept with the run.
    """
    phases = [PhasePlan(phase.operation.value, phase.measured) for phase in job.phases]
    starts = leg_starts(phases, job.reuse_files)
    ends = (*starts[1:], len(phases))
    return tuple(
        Leg(
            first,
            job.model_copy(
                update={
                    "phases": [*[NOTHING_TO_DO] * first, *job.phases[first:end]],
                    "keep_files": job.keep_files or end < len(phases),
                    "reuse_files": job.reuse_files or first > 0,
                }
            ),
        )
        for first, end in zip(starts, ends, strict=True)
    )
