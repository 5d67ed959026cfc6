"""What NFS servers are assumed to do."""

from assay.kinds.nfs.study import NfsTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import NETWORK


def speed(target: NfsTarget) -> Speed:
    """As `Target.speed`; each server has a link of its own."""
    return NETWORK._replace(bandwidth=NETWORK.bandwidth * len(target.servers))
