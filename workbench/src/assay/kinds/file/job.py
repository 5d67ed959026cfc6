"""A directory in a job of the engine."""

from assay.contract._generated import FileTarget as JobTarget
from assay.kinds.file.study import FileTarget


def job_target(target: FileTarget, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """See `Target.job_target`. The engine works only in a directory with the mark of the run."""
    shares = {"shares": list(target.shares)} if target.shares else {}
    return JobTarget(kind="file", root=target.path, directory=directory, run=run, **shares)
