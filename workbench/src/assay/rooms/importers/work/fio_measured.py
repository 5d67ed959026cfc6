"""What becomes of a job of fio in a run, whatever the form of the output: its directions, errors and latencies."""

import errno
import os
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from assay.model.result.sample import ErrorTally, KindCounts
from assay.rooms.importers.work.fio_latency import Latency, pooled
from assay.rooms.importers.work.results import Measurement

NAME = "fio"
HINT = "give the file as fio wrote it"
MAX_NAME = 80
MAX_JOBS = 20_000
"""Most jobs of one output."""
MAX_FIGURES = 5_000
"""Most figures of one job, without bins; fio prints some hundred."""
MAX_RUNTIME_MS = 10**12
"""Longest time of a job in text: 31 years, since nanoseconds are stored in 63 bits."""


class Direction(NamedTuple):
    """The part of a job that is about reads, writes, or both together.

    Attributes:
        name: `read`, `write` or `mixed`.
        ops: Operations.
        bytes: Bytes that they moved.
        bytes_per_s: Their rate.
        iops: Operations per second.
        runtime_ms: How long they took.
        latency: Their latencies.
        has_counts: `ops` and `bytes` are known.
    """

    name: str
    ops: int = 0
    bytes: int = 0
    bytes_per_s: Decimal = Decimal(0)
    iops: Decimal = Decimal(0)
    runtime_ms: Decimal = Decimal(0)
    latency: Latency = Latency()
    has_counts: bool = True

    @property
    def is_used(self) -> bool:
        """Whether something was done."""
        return bool(self.ops or self.iops or self.bytes_per_s)

    def kind(self) -> KindCounts:
        """Return its counts and latencies."""
        return KindCounts(
            kind=self.name,
            ops=self.ops,
            bytes=self.bytes,
            latency=self.latency.values,
            histogram=self.latency.histogram,
        )


class JobOutcome(NamedTuple):
    """What is known of a job besides its directions.

    Attributes:
        is_failed: It ended with an error.
        errors: Its failures.
        method: Its `ioengine`; empty if the output does not say.
        started_at: Seconds since 1970; None if the output does not say.
        limit_ns: Its `runtime`; None without one, or if the output does not say.
    """

    is_failed: bool
    errors: tuple[ErrorTally, ...] = ()
    method: str = ""
    started_at: float | None = None
    limit_ns: int | None = None


def directions_of(operation: str, has_mixed: bool) -> tuple[str, ...]:
    """Return the parts of the output that an operation fills.

    Args:
        operation: Its name.
        has_mixed: fio counted reads and writes together (unified_rw_reporting).
    """
    if has_mixed:
        return ("mixed",)
    return tuple(name for name in ("read", "write") if name in operation or "mix" in operation)


def measurement_of(kinds: Sequence[Direction], operation: str, job: JobOutcome) -> tuple[Measurement, str]:
    """Return what a job measured, in Assay's units, and which of fio's times its latencies are.

    Args:
        kinds: The directions that `directions_of` names.
        operation: Name of the operation.
        job: What else is known of it.
    """
    sizes = {one.name: one.bytes for one in kinds}
    if "mixed" in sizes and "mix" not in operation:
        # With unified_rw_reporting also what only reads or only writes is called so.
        sizes = {"read" if "read" in operation else "write": sizes["mixed"]}
    latency = pooled([one.latency for one in kinds if one.is_used])
    elapsed = int(max((one.runtime_ms for one in kinds), default=Decimal(0)) * 10**6)
    has_counts = all(one.has_counts for one in kinds)
    measured = Measurement(
        status="failed" if job.is_failed else "time_limit" if job.limit_ns and elapsed >= job.limit_ns else "done",
        has_counts=has_counts,
        ops=sum(one.ops for one in kinds),
        bytes=sum(one.bytes for one in kinds),
        read_bytes=sizes.get("read", 0),
        write_bytes=sizes.get("write", 0),
        throughput=float(sum(one.bytes_per_s for one in kinds)),
        iops=float(sum(one.iops for one in kinds)),
        started_at=job.started_at,
        elapsed_ns=elapsed or None,
        latency=latency.values,
        histogram=latency.histogram,
        kinds=tuple(one.kind() for one in kinds if one.is_used) if has_counts and len(kinds) > 1 else (),
        method=job.method,
        errors=job.errors,
    )
    return measured, " and ".join(dict.fromkeys(one.latency.name for one in kinds if one.latency.name))


def error_tallies(code: int, count: int) -> tuple[ErrorTally, ...]:
    """Return the failures of a job.

    Args:
        code: Number of the error; 0 without one.
        count: How many there were.
    """
    if not count:
        return ()
    name = errno.errorcode.get(code)
    words = f"fio reports error {code}" + (f", {os.strerror(code)}" if name else "")
    domain = "os" if code else None
    tally = ErrorTally(kind="fault", name=name, count=count, example=words, domain=domain, code=code or None)
    return (tally,)
