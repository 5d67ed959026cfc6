"""A table in a job of the engine."""

from assay.contract._generated import DynamodbTarget as JobTarget
from assay.contract._generated import OnDemandCapacity, ProvisionedCapacity
from assay.kinds.dynamodb.study import DynamodbTarget
from assay.kinds.http_engine import common_job_fields

ENGINE_SERVICE_FIELDS = {"table": "assay-ceiling", "max_requests": None, "max_capacity_units": None}
"""Fields that differ at the engine's own service: see `HttpTarget.at_engine`."""


def job_target(
    target: DynamodbTarget, directory: str, run: str | None, destroy: bool, servers: int | None
) -> JobTarget:
    """See `Target.job_target`."""
    return JobTarget(
        kind="dynamodb",
        **common_job_fields(target, directory, run, destroy, servers),
        table=target.table,
        partition_key=target.partition_key,
        sort_key=target.sort_key,
        partition_items=target.partition_items,
        capacity=_capacity(target.capacity),
        consistent=target.consistent,
        max_capacity_units=target.max_capacity_units,
        max_requests=target.max_requests,
    )


def _capacity(units: tuple[int, int] | None) -> OnDemandCapacity | ProvisionedCapacity:
    if units is None:
        return OnDemandCapacity(mode="on_demand")
    return ProvisionedCapacity(mode="provisioned", read_units=units[0], write_units=units[1])
