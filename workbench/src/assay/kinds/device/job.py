"""A block device in a job of the engine."""

from assay.contract._generated import DeviceTarget as JobTarget
from assay.kinds.device.study import DeviceTarget


def job_target(target: DeviceTarget, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """See `Target.job_target`. Without `destroy` the engine refuses the device."""
    return JobTarget(kind="device", path=target.path, destroy=destroy)
