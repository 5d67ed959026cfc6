"""Assumed speed of NFS servers."""

from assay.kinds.nfs.study import NfsTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import NETWORK


def speed(target: NfsTarget) -> Speed:
    """See `Target.speed`: each server has its own link."""
    return NETWORK._replace(bandwidth=NETWORK.bandwidth * len(target.servers))
