"""Limits of control groups that results have reached."""

from assay.analyse.environments.limits import DeviceLimit, Limited, limited, reached
from assay.model.result.result import Row
from assay.report.view import View


def reached_limits(view: View) -> Limited:
    """Those of this machine; of a run on other hosts none is known."""
    run = view.run
    if run.hosts:
        return Limited(None, ())
    return reached(limited(run.environment, run.places), run.places, view.analysis.rows)


def limit_on(row: Row, found: Limited, view: View) -> DeviceLimit | None:
    """The limit that holds a result, of those that results have reached."""
    return next((limit for limit in found.devices if limit.concerns(row, view.run.places)), None)


def files_of(found: Limited) -> str:
    """The files in which such limits are set, of both versions of control groups (Linux, cgroup-v2.rst, cgroup-v1)."""
    cpu = ["cpu.max or cpu.cfs_quota_us"] if found.cpus is not None else []
    return ", ".join(cpu + (["io.max or blkio.throttle.*"] if found.devices else []))
