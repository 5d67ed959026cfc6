"""A directory behind MPI-IO in a job of the engine."""

from assay.contract._answers import FileTarget as JobDirectory
from assay.contract._generated import MpiioTarget as JobTarget
from assay.kinds.mpiio.study import MpiioTarget


def job_target(target: MpiioTarget, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """See `Target.job_target`. Parameters of the workload are added later (`assay.plan.jobs`)."""
    hints = dict(target.hints)
    return JobTarget(kind="mpiio", root=target.path, directory=directory, run=run, prefix=target.prefix, hints=hints)


def directory_target(target: MpiioTarget, directory: str, run: str | None) -> JobDirectory:
    """Return the directory as a plain file target, for engines without MPI."""
    return JobDirectory(kind="file", root=target.path, directory=directory, run=run)
