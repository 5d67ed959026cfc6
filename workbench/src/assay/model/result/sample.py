"""Measurements of one repeat of a case."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.partial import Partial
from assay.model.result.course import Course
from assay.model.result.host_use import HostUse
from assay.model.result.layers import Layer
from assay.model.result.objects import ExistingObjects
from assay.model.result.observations import BlockDeviceUse, LimitProgress, ServiceCounts
from assay.model.result.percentile import reliable_latencies
from assay.model.result.replays import ReplayResult
from assay.model.result.tasks import TaskResult
from assay.model.result.watch import Watch
from assay.model.study.names import is_counted

SampleStatus = Literal["done", "time_limit", "failed", "skipped", "stopped", "crashed"]

PROGRAM = "program"
"""The domain of codes that programs end with: exit codes, and signals with a minus sign."""
SLOW_PATTERN = "slow_pattern"
"""The kind of failure of a figure whose pattern took too long on what a program printed."""


class ErrorTally(Frozen):
    """Failed operations of one kind in one phase.

    Attributes:
        kind: fault, short_read, short_write, corrupt, or `SLOW_PATTERN`.
        name: Name of the error, such as ENOSPC; None if the storage gave none.
        domain: What defines the code: os, nfs, http, ...; None without a code.
        code: Number of the error; None without a code.
        example: The first failure in words: action, object, offset, length, message.
    """

    kind: str
    name: str | None
    count: int
    example: str
    domain: str | None = None
    code: int | None = None

    @property
    def key(self) -> tuple[str, str | None, int | None, str | None]:
        """What failures must have in common to be counted together."""
        return self.kind, self.domain, self.code, self.name

    @property
    def words(self) -> str:
        """How often it failed, and the first failure."""
        if self.domain != PROGRAM:
            return f"{self.count} x {self.example}"
        more = self.count - 1
        return f"{self.example}{f', and {more:,} more in this way' if more else ''}"


class KindCounts(Frozen):
    """Counts and latencies of the operations of one kind in a phase.

    Attributes:
        kind: Such as read, write, sync, create, get; see `assay.model.study.names.OP_KINDS`.
        ops: Number of successful operations.
        bytes: Bytes that they moved.
        errors: Number of failed operations.
        latency: As in `Sample`.
        histogram: As in `Sample`; None if the sample's histogram covers only this kind.
        first_byte: Times until the first byte arrived, named as `latency`; empty if the protocol does not report them.
        first_byte_histogram: Histogram of these times.
        repeated: Latencies of operations that fetched an object which the same repeat had already fetched since it was
            stored, named as `latency`; empty without any.
        repeated_ops: Number of those operations.
        first: Latencies of the other operations; empty if `repeated` covers all of them, or none.
    """

    kind: str
    ops: int = 0
    bytes: int = 0
    errors: int = 0
    latency: dict[str, float] = Field(default_factory=dict)
    histogram: str | None = None
    first_byte: dict[str, float] = Field(default_factory=dict)
    first_byte_histogram: str | None = None
    repeated: dict[str, float] = Field(default_factory=dict)
    repeated_ops: int = 0
    first: dict[str, float] = Field(default_factory=dict)

    @property
    def reliable_latency(self) -> dict[str, float]:
        """The values of `latency` for which there are enough operations."""
        return reliable_latencies(self.latency, self.ops)

    @property
    def reliable_first_byte(self) -> dict[str, float]:
        """The values of `first_byte` for which there are enough operations."""
        return reliable_latencies(self.first_byte, self.ops)

    @property
    def reliable_repeated(self) -> dict[str, float]:
        """The values of `repeated` for which there are enough operations."""
        return reliable_latencies(self.repeated, self.repeated_ops)

    @property
    def reliable_first(self) -> dict[str, float]:
        """The values of `first` for which there are enough operations."""
        return reliable_latencies(self.first, self.ops - self.repeated_ops)


class HostShare(Frozen):
    """The part of one of several hosts in a measured phase.

    Attributes:
        host: Name of the host.
        status: How the phase ended there.
        elapsed_ns: From the barrier to the end of its last lane.
        throughput: Bytes per second over that time.
        iops: Operations per second over that time.
        latency: `p50`, `p99` and `max` -> nanoseconds.
        stonewall_bytes: Bytes moved when the first lane of any host ended (iozone: xfer), interpolated linearly within
            intervals.
        cpu_ns: CPU time of its engine.
        uncertainty_ns: Uncertainty of its clock against the controller's; None if they were never compared.
    """

    host: str
    status: SampleStatus
    ops: int = 0
    bytes: int = 0
    elapsed_ns: int = 0
    throughput: float = 0.0
    iops: float = 0.0
    latency: dict[str, float] = Field(default_factory=dict)
    stonewall_bytes: int = 0
    cpu_ns: int = 0
    failed_operations: int = 0
    uncertainty_ns: int | None = None


class Sample(Partial):
    """One measured phase of one repeat of one case. Rates are per second of wall time, flush included.

    Attributes:
        phase: Number of the phase in the job.
        started_at: Wall clock, seconds since 1970.
        bytes: Bytes read and written; for `create`, the contents of the files.
        ops: Operations.
        elapsed_ns: From the barrier to the end of the last lane.
        throughput: Bytes per second until the end of the last lane; 0 if no data was moved.
        iops: Operations per second until the end of the last lane. Of a trace that is replayed at its recorded times:
            copies / mean I/O time of a copy, since their wall clock is that of the program.
        first_finisher: Bytes per second until the end of the first lane; None if no lane finished.
        steady: Bytes per second while every lane was active; None if there was no such time.
        first_finisher_iops, steady_iops: Operations per second over the same times.
        latency: Name (`min`, `mean`, `p50`, `p90`, `p99`, `p99.9`, `p99.99`, `max`) -> nanoseconds; empty without any.
            All values that the engine computed, however few the operations; `reliable_latency` has the meaningful ones.
        histogram: All latencies of the phase: HDR histogram, V2, deflated, base64.
        kinds: Counts by kind of operation, for kinds with completed operations.
        start_delay: Open loop: delays from intended starts to submissions, named as `latency`; else empty.
        start_delay_histogram: Histogram of these delays.
        method: How operations reached the kernel; `method_reason`: why.
        skew_ns: Greatest difference between the starts of two lanes.
        finish_spread_ns: From the end of the first lane to that of the last.
        device_read_bytes: Bytes the kernel fetched from storage for the engine; None if it does not report them.
        device_write_bytes: Bytes the kernel sent to storage for the engine; None if it does not report them.
        cpu_wait_ns: Time in which lanes were ready to run but had no CPU, added up; None if the kernel does not report
            it.
        cpus: CPUs the engine may use.
        host_busy_ns, host_idle_ns, host_stolen_ns: Time of all CPUs of the host at work for any process, idle, and
            taken by the hypervisor.
        block: What the block device below did for all its users; None without one.
        devices: The same for all block devices below, by major:minor.
        cached_bytes: Bytes of the files in the host's page cache at the start of the phase; None if unknown.
        lane_balance: Operations of the slowest lane / of the median lane; None with one lane or lanes without
            operations.
        flush_ns: Longest flush of a lane at the end of the phase.
        wall_shift_ns: By how much the wall clock was changed during the phase.
        watch: Stalls of the engine; None for engines that do not report them, and for short phases.
        service: What the service reported about the phase; None if it reports nothing.
        existing: Objects that existed before and that it worked on; None if it made them, or if several engines saw
            different ones.
        course: The rate over time; None with too few intervals.
        at_limit: Progress at the time limit, if lanes then went on until each had done as much as the fastest.
        hosts: Part of each host; empty with one engine.
        tasks: Tasks of a command; empty for all other operations.
        replays: Copies of a trace that were replayed; empty for all other operations.
        uses: Use of links, CPUs and disks of each host; on this machine alone only of commands; empty for short phases.
        clock_uncertainty_ns: With several hosts: error bound of `skew_ns`.
        target_per_s: Open loop: requested operations per second.
        unstarted_ops: Open loop: operations that were due but never started.
        errors: Failures of the phase including its set-up; for a skipped phase, those of the phase that caused it to be
            skipped.
        failed_writes: For a phase that reads: writes that failed in earlier phases, of records that were not written
            successfully since. What it read there is not the expected data.
    """

    may_be_missing: ClassVar[dict[str, str]] = {
        "started_at": "when it began",
        "elapsed_ns": "how long it took",
        "ops": "how many operations there were",
        "iops": "how many operations there were per second",
        "bytes": "how much was read and written",
        "read_bytes": "how much was read",
        "write_bytes": "how much was written",
        "skew_ns": "how far apart the lanes started",
        "finish_spread_ns": "how far apart the lanes ended",
        "cache_done": "what was done to the cache before the phase",
        "unstarted_ops": "how many operations never started",
        "verified_bytes": "how much was checked",
        "cpu_user_ns": "what CPU time it took",
        "cpu_system_ns": "what CPU time it took in the kernel",
        "flush_ns": "how long the flush took",
        "wall_shift_ns": "whether the clock was set during the phase",
    }
    """A 0 or an empty text in these fields means none, not unknown."""

    case: str
    repeat: int
    phase: int
    operation: str
    status: SampleStatus
    started_at: float
    ops: int = 0
    bytes: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    elapsed_ns: int = 0
    throughput: float = 0.0
    iops: float = 0.0
    first_finisher: float | None = None
    steady: float | None = None
    first_finisher_iops: float | None = None
    steady_iops: float | None = None
    latency: dict[str, float] = Field(default_factory=dict)
    histogram: str | None = None
    kinds: tuple[KindCounts, ...] = ()
    start_delay: dict[str, float] = Field(default_factory=dict)
    start_delay_histogram: str | None = None
    errors: tuple[ErrorTally, ...] = ()
    skew_ns: int = 0
    finish_spread_ns: int = 0
    method: str = ""
    method_reason: str = ""
    cache_done: str = ""
    target_per_s: float | None = None
    unstarted_ops: int = 0
    verified_bytes: int = 0
    device_read_bytes: int | None = None
    device_write_bytes: int | None = None
    cpu_user_ns: int = 0
    cpu_system_ns: int = 0
    cpu_wait_ns: int | None = None
    cpus: int = 0
    host_busy_ns: int | None = None
    host_idle_ns: int | None = None
    host_stolen_ns: int | None = None
    block: BlockDeviceUse | None = None
    devices: dict[str, BlockDeviceUse] = Field(default_factory=dict)
    cached_bytes: int | None = None
    lane_balance: float | None = None
    flush_ns: int = 0
    wall_shift_ns: int = 0
    watch: Watch | None = None
    service: ServiceCounts | None = None
    existing: ExistingObjects | None = None
    course: Course | None = None
    at_limit: LimitProgress | None = None
    hosts: tuple[HostShare, ...] = ()
    uses: tuple[HostUse, ...] = ()
    tasks: tuple[TaskResult, ...] = ()
    replays: tuple[ReplayResult, ...] = ()
    clock_uncertainty_ns: int = 0
    failed_writes: int = 0

    def device_use(self, devices: Sequence[Layer]) -> BlockDeviceUse | None:
        """Return what these block devices did together; None if not all of them were counted."""
        uses = [self.devices[device.number] for device in devices if device.number in self.devices]
        return BlockDeviceUse.combined(uses) if uses and len(uses) == len(devices) else None

    @property
    def is_counted(self) -> bool:
        """Its rate is operations per second, since it concerns names, or objects without their contents."""
        return is_counted(self.operation)

    @property
    def moves_data(self) -> bool:
        """It has a throughput: it works on contents, or gives contents to new files."""
        return not self.is_counted or self.get_value("bytes", 0) > 0

    @property
    def rate(self) -> float:
        """The rate for comparisons: bytes per second, or operations per second for counted operations."""
        return self.iops if self.is_counted else self.throughput

    @property
    def reliable_latency(self) -> dict[str, float]:
        """The values of `latency` for which there are enough operations."""
        return reliable_latencies(self.latency, self.get_value("ops", 0))

    @property
    def reliable_start_delay(self) -> dict[str, float]:
        """The values of `start_delay` for which there are enough operations."""
        return reliable_latencies(self.start_delay, self.get_value("ops", 0))

    @property
    def started_ops(self) -> int:
        """Operations that a target rate starts; for sets of files, opens, flushes and closes count too."""
        return max(self.ops, sum(counts.ops for counts in self.kinds))

    @property
    def is_mixed(self) -> bool:
        """It had successful operations of several kinds, each with its own latencies."""
        return sum(1 for counts in self.kinds if counts.ops) > 1

    @property
    def is_idle(self) -> bool:
        """It ended without errors, but no operation was done or due."""
        ended = self.status in ("done", "time_limit")
        return ended and not self.get_value("ops", 1) and not self.get_value("unstarted_ops", 0) and not self.errors

    @property
    def failed_operations(self) -> int:
        """Failures of this phase itself; 0 for a skipped phase."""
        return 0 if self.status == "skipped" else sum(tally.count for tally in self.errors)


class JobRecord(Frozen):
    """One repeat as executed.

    Attributes:
        status: `ok`, `errors`, `refused`, `stopped`, `incomplete` or `crashed`.
        job: The job as sent to the engine.
        attempts: Number of starts; more than 1 after a crash or an interruption.
        reason: Why it failed; empty if it did not.
    """

    case: str
    repeat: int
    status: str
    attempts: int
    started_at: float
    seconds: float
    reason: str
    job: dict[str, Any]
