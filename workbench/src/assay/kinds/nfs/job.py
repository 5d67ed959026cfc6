"""An NFS export in a job of the engine."""

from assay.contract._generated import NfsTarget as JobTarget
from assay.kinds.nfs.study import NfsTarget


def job_target(target: NfsTarget, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """See `Target.job_target`."""
    return JobTarget(
        kind="nfs",
        servers=target.addresses(servers),
        export=target.export,
        root=target.directory,
        directory=directory,
        mount_port=target.mount_port,
        nconnect=target.nconnect,
        rsize=target.rsize,
        wsize=target.wsize,
        uid=target.uid,
        gid=target.gid,
        timeout_ns=target.timeout,
    )
