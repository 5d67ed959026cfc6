"""A block device as an engine is told of it."""

from assay.contract._generated import DeviceTarget as JobTarget
from assay.kinds.device.study import DeviceTarget


def job_target(target: DeviceTarget, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """As `Target.job_target`; the engine refuses a device that the user has not given up."""
    return JobTarget(kind="device", path=target.path, destroy=destroy)
