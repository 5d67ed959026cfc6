"""Assumed speed of a directory behind MPI-IO."""

from assay.kinds.mpiio.study import MpiioTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import MEMORY, STORAGE


def speed(target: MpiioTarget) -> Speed:
    """See `Target.speed`: that of the directory itself."""
    return MEMORY if target.is_in_memory else STORAGE
