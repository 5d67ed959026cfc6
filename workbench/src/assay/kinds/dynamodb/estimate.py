"""Assumed speed of a DynamoDB service."""

from assay.kinds.dynamodb.study import DynamodbTarget
from assay.kinds.http import LOCAL_SERVER_SPEED
from assay.model.study.speed import Speed

DYNAMODB_SPEED = Speed(2e7, 5e-3, 6e-3, 64, "a service of tables behind a link of 1 Gbit/s")
"""Speed of one endpoint."""


def speed(target: DynamodbTarget) -> Speed:
    """See `Target.speed`."""
    return LOCAL_SERVER_SPEED if target.server else DYNAMODB_SPEED
