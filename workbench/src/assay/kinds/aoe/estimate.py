"""What a disk behind ATA over Ethernet is assumed to do."""

from assay.kinds.aoe.study import AoeTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import NETWORK


def speed(target: AoeTarget) -> Speed:
    """As `Target.speed`; each interface is a link of its own."""
    return NETWORK._replace(bandwidth=NETWORK.bandwidth * len(target.interfaces))
