"""The control between repeats: jobs without storage, whose rates depend only on the machine.

One part has one lane that waits for each operation as for remote storage: its rate drops if the engine is woken late.
The other part copies memory with all CPUs and never waits: its rate drops if other programs use CPU or memory. Each
takes a fraction of a second, and both together at most `assay.plan.estimate.CONTROL_SHARE` of the time.
"""

from assay.contract import SPEC_VERSION
from assay.contract._generated import FixedLatency, Job, NullTarget, Operation, Phase

WAITS, WORKS = "waits", "works"
SERVICE_NS = 200_000
"""Service time of an operation of the waiting part."""
PHASE_NS = 60_000_000
BLOCK = 8 << 20
"""Bytes that a lane of the working part copies repeatedly: more than fit into a core's own caches."""


def control_jobs(lanes: int) -> dict[str, Job]:
    """Return part of the control -> its job.

    Args:
        lanes: Lanes of the working part on each host.
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
