"""Assumed speed of a disk behind ATA over Ethernet."""

from assay.kinds.aoe.study import AoeTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import NETWORK


def speed(target: AoeTarget) -> Speed:
    """See `Target.speed`: each interface is a separate link."""
    return NETWORK._replace(bandwidth=NETWORK.bandwidth * len(target.interfaces))
