"""What SMB servers are assumed to do."""

from assay.kinds.smb.study import SmbTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import NETWORK


def speed(target: SmbTarget) -> Speed:
    """As `Target.speed`; each server has a link of its own."""
    return NETWORK._replace(bandwidth=NETWORK.bandwidth * len(target.servers))
