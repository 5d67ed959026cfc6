"""Assumed speed of a block device."""

from assay.kinds.device.study import DeviceTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import STORAGE


def speed(target: DeviceTarget) -> Speed:
    """See `Target.speed`."""
    return STORAGE
