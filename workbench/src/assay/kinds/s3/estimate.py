"""Assumed speed of an S3 service."""

from assay.kinds.http import LOCAL_SERVER_SPEED
from assay.kinds.s3.study import S3Target
from assay.model.study.speed import Speed

S3_SPEED = Speed(1.1e8, 10e-3, 20e-3, 64, "a service of objects behind a link of 1 Gbit/s")
"""Speed of one endpoint."""


def speed(target: S3Target) -> Speed:
    """See `Target.speed`: each endpoint has its own link."""
    if target.server:
        return LOCAL_SERVER_SPEED
    return S3_SPEED._replace(bandwidth=S3_SPEED.bandwidth * len(target.services))
