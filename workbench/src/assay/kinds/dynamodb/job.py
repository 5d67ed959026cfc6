"""A table as an engine is told of it."""

from assay.contract._generated import Balance, OnDemandCapacity, ProvisionedCapacity
from assay.contract._generated import DynamodbTarget as JobTarget
from assay.kinds.dynamodb.study import DynamodbTarget
from assay.kinds.http import NULL_SERVICE


def job_target(
    target: DynamodbTarget, directory: str, run: str | None, destroy: bool, servers: int | None
) -> JobTarget:
    """As `Target.job_target`; credentials are for the engine to find."""
    return JobTarget(
        kind="dynamodb",
        endpoints=list(target.doors[:servers]),
        balance=Balance(target.balance),
        table=target.table,
        root=target.prefix,
        directory=directory,
        destroy=destroy,
        region=target.region,
        profile=target.profile,
        partition_key=target.partition_key,
        sort_key=target.sort_key,
        partition_items=target.partition_items,
        capacity=_capacity(target.capacity),
        consistent=target.consistent,
        max_capacity_units=target.max_capacity_units,
        max_requests=target.max_requests,
        ca_file=target.ca_file,
        timeout_ns=target.timeout,
    )


def _capacity(units: tuple[int, int] | None) -> OnDemandCapacity | ProvisionedCapacity:
    if units is None:
        return OnDemandCapacity(mode="on_demand")
    return ProvisionedCapacity(mode="provisioned", read_units=units[0], write_units=units[1])


def at_engine(target: DynamodbTarget) -> JobTarget:
    """As `Target.at_engine`: with the same sums, keys and waits, and nobody else's table."""
    plain = {
        "endpoints": (NULL_SERVICE,),
        "table": "assay-ceiling",
        "max_requests": None,
        "max_capacity_units": None,
        "profile": None,
        "ca_file": None,
    }
    return job_target(target.model_copy(update=plain), "ceiling", None, False, None)
