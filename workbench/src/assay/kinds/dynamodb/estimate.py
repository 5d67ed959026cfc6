"""Assumed speed of a DynamoDB service."""

from assay.kinds.dynamodb.study import DynamodbTarget
from assay.kinds.http import ON_THIS_MACHINE
from assay.model.study.speed import Speed

ITEMS = Speed(2e7, 5e-3, 6e-3, 64, "a service of tables behind a link of 1 Gbit/s")
"""Speed of one endpoint."""


def speed(target: DynamodbTarget) -> Speed:
    """See `Target.speed`."""
    return ON_THIS_MACHINE if target.server else ITEMS
