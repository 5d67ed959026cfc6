"""What a block device is assumed to do."""

from assay.kinds.device.study import DeviceTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import STORAGE


def speed(target: DeviceTarget) -> Speed:
    """As `Target.speed`."""
    return STORAGE
