"""What a service of objects is assumed to do."""

from assay.kinds.http import ON_THIS_MACHINE
from assay.kinds.s3.study import S3Target
from assay.model.study.speed import Speed

OBJECTS = Speed(1.1e8, 10e-3, 20e-3, 64, "a service of objects behind a link of 1 Gbit/s")
"""Of one endpoint."""


def speed(target: S3Target) -> Speed:
    """As `Target.speed`; each endpoint has a link of its own."""
    if target.server:
        return ON_THIS_MACHINE
    return OBJECTS._replace(bandwidth=OBJECTS.bandwidth * len(target.services))
