"""A disk behind ATA over Ethernet in a job of the engine."""

from assay.contract._generated import AoeTarget as JobTarget
from assay.kinds.aoe.study import AoeTarget


def job_target(target: AoeTarget, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """See `Target.job_target`. Without `destroy` the engine refuses the disk."""
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
