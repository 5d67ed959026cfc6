"""The control that runs between the repeats: jobs without storage, whose rates only the machine can move.

One part waits as storage at a distance lets wait, with one lane: it moves when the engine is woken late. The other one
copies memory with all CPUs and never waits: it moves with what CPUs and memory are left to it. Each takes a fraction of
a second, and both together at most `assay.plan.estimate.CONTROL_SHARE` of the time.
"""

from assay.contract import SPEC_VERSION
from assay.contract._generated import FixedLatency, Job, NullTarget, Operation, Phase

WAITS, WORKS = "waits", "works"
SERVICE_NS = 200_000
"""What an operation of the waiting part takes."""
PHASE_NS = 60_000_000
BLOCK = 8 << 20
"""What a lane of the working part copies, over and over: more than a core's own caches hold."""


def control_jobs(lanes: int) -> dict[str, Job]:
    """Part of the control -> its job.

    Args:
        lanes: Of the working part, on each host.
    """
    waits = NullTarget(kind="null", latency=FixedLatency(distribution="fixed", ns=SERVICE_NS))
    works = NullTarget(kind="null", memory_copy_bytes=BLOCK)
    return {
        WAITS: _job(WAITS, waits, "random_read", record_size_bytes=4 << 10),
        WORKS: _job(WORKS, works, "read", record_size_bytes=1 << 20, lanes=lanes, method="sync"),
    }


def _job(name: str, target: NullTarget, operation: str, **fields: object) -> Job:
    return Job(
        spec_version=SPEC_VERSION,
        id=f"control-{name}",
        target=target,
        phases=[Phase(operation=Operation(operation), runtime_ns=PHASE_NS)],
        file_size_bytes=1 << 40,
        layout="shared",
        interval_ns=10_000_000_000,
        **fields,
    )
