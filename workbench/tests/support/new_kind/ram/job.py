"""Memory, as an engine is told of it."""

from assay.kinds.ram.study import RamTarget

from assay.contract._generated import NullTarget as JobTarget


def job_target(target: RamTarget, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """As `Target.job_target`."""
    return JobTarget(kind="null", memory_copy_bytes=target.block)
