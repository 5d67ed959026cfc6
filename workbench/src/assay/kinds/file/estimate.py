"""Assumed speed of a directory."""

from assay.kinds.file.study import FileTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import MEMORY, STORAGE


def speed(target: FileTarget) -> Speed:
    """See `Target.speed`."""
    return MEMORY if target.is_in_memory else STORAGE
