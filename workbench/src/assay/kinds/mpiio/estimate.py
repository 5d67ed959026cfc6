"""What a directory behind MPI-IO is assumed to do."""

from assay.kinds.mpiio.study import MpiioTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import MEMORY, STORAGE


def speed(target: MpiioTarget) -> Speed:
    """As `Target.speed`: what the directory does."""
    return MEMORY if target.in_memory else STORAGE
