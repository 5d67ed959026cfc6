"""Limits of control groups that results have reached."""

from assay.analyse.environments.limits import DeviceLimit, GroupLimits, group_limits, near_limits
from assay.model.result.result import ResultRow
from assay.report.view import RunView


def reached_limits(view: RunView) -> GroupLimits:
    """Return the limits of this machine's control groups that results reached; none for a run on other hosts."""
    run = view.run
    if run.hosts:
        return GroupLimits(None, ())
    return near_limits(group_limits(run.environment, run.places), run.places, view.analysis.rows)


def limit_of_row(row: ResultRow, found: GroupLimits, view: RunView) -> DeviceLimit | None:
    """Return the reached device limit that applies to a result; None if none does."""
    return next((limit for limit in found.devices if limit.concerns(row, view.run.places)), None)


def limit_files(found: GroupLimits) -> str:
    """Return the files that set these limits, in both versions of control groups (Linux, cgroup-v2.rst, cgroup-v1)."""
    cpu = ["cpu.max or cpu.cfs_quota_us"] if found.cpus is not None else []
    return ", ".join(cpu + (["io.max or blkio.throttle.*"] if found.devices else []))
