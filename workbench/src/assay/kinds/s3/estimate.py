"""Assumed speed of an S3 service."""

from assay.kinds.http import ON_THIS_MACHINE
from assay.kinds.s3.study import S3Target
from assay.model.study.speed import Speed

OBJECTS = Speed(1.1e8, 10e-3, 20e-3, 64, "a service of objects behind a link of 1 Gbit/s")
"""Speed of one endpoint."""


def speed(target: S3Target) -> Speed:
    """See `Target.speed`: each endpoint has its own link."""
    if target.server:
        return ON_THIS_MACHINE
    return OBJECTS._replace(bandwidth=OBJECTS.bandwidth * len(target.services))
