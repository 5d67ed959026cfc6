"""An SMB share in a job of the engine."""

from assay.contract._generated import SmbTarget as JobTarget
from assay.contract._generated import SmbVersion
from assay.kinds.smb.study import SmbTarget


def job_target(target: SmbTarget, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """See `Target.job_target`."""
    return JobTarget(
        kind="smb",
        servers=target.addresses(servers),
        shares=list(target.shares),
        root=target.directory,
        directory=directory,
        credentials=target.credentials,
        user=target.user,
        version=SmbVersion(target.version),
        signing=target.signing,
        encryption=target.encryption,
        channels=target.channels,
        rsize=target.rsize,
        wsize=target.wsize,
        timeout_ns=target.timeout,
    )
