"""A directory behind MPI-IO as an engine is told of it."""

from assay.contract._answers import FileTarget as JobDirectory
from assay.contract._generated import MpiioTarget as JobTarget
from assay.kinds.mpiio.study import MpiioTarget


def job_target(target: MpiioTarget, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """As `Target.job_target`; what a workload sets of it comes later (`assay.plan.jobs`)."""
    hints = dict(target.hints)
    return JobTarget(kind="mpiio", root=target.path, directory=directory, run=run, prefix=target.prefix, hints=hints)


def directory_target(target: MpiioTarget, directory: str, run: str | None) -> JobDirectory:
    """The directory itself, as engines reach it that are linked to no MPI."""
    return JobDirectory(kind="file", root=target.path, directory=directory, run=run)
