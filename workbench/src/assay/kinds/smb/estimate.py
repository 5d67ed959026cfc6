"""Assumed speed of SMB servers."""

from assay.kinds.smb.study import SmbTarget
from assay.model.study.speed import Speed
from assay.plan.speeds import NETWORK


def speed(target: SmbTarget) -> Speed:
    """See `Target.speed`: each server has its own link."""
    return NETWORK._replace(bandwidth=NETWORK.bandwidth * len(target.servers))
