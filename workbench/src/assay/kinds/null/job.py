"""The null target in a job of the engine."""

from assay.contract import _generated as contract
from assay.kinds.null.study import ExponentialLatency, FixedLatency, Latency, NullTarget, UniformLatency

JobLatency = contract.FixedLatency | contract.UniformLatency | contract.ExponentialLatency


def job_target(
    target: NullTarget, directory: str, run: str | None, destroy: bool, servers: int | None
) -> contract.NullTarget:
    """See `Target.job_target`; contains the script of the study."""
    return contract.NullTarget(
        kind="null",
        latency=_latency(target.latency),
        stalls=[
            contract.ScriptedStall(at_op=item.at_op, duration_ns=item.duration, lane=item.lane)
            for item in target.stalls
        ],
        errors=[contract.ScriptedError(at_op=item.at_op, errno=item.errno, lane=item.lane) for item in target.errors],
        changes=[
            contract.ScriptedChange(at_op=item.at_op, latency=_latency(item.latency), lane=item.lane)
            for item in target.changes
        ],
        vary_percent=target.vary_percent,
        clock_step_ns=target.clock_step,
    )


def _latency(latency: Latency | None) -> JobLatency | None:
    match latency:
        case FixedLatency():
            return contract.FixedLatency(distribution="fixed", ns=latency.time)
        case UniformLatency():
            return contract.UniformLatency(distribution="uniform", min_ns=latency.min, max_ns=latency.max)
        case ExponentialLatency():
            return contract.ExponentialLatency(distribution="exponential", mean_ns=latency.mean)
    return None
