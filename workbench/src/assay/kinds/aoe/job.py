"""A disk behind ATA over Ethernet as an engine is told of it."""

from assay.contract._generated import AoeTarget as JobTarget
from assay.kinds.aoe.study import AoeTarget


def job_target(target: AoeTarget, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """As `Target.job_target`; the engine refuses a disk that the user has not given up."""
    return JobTarget(
        kind="aoe",
        interfaces=list(target.interfaces),
        shelf=target.shelf,
        slot=target.slot,
        destroy=destroy,
        window=target.window,
        sectors=target.sectors,
        timeout_ns=target.timeout,
    )
