"""What one repeat of a case measured."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.result.course import Course
from assay.model.result.layers import Layer
from assay.model.result.objects import ExistingObjects
from assay.model.result.percentile import said
from assay.model.result.seen import AtLimit, BlockDeviceUse, ServiceSeen
from assay.model.result.uses import HostUse
from assay.model.result.watch import Watch
from assay.model.study.names import is_counted
from assay.model.told import Telling

SampleStatus = Literal["done", "time_limit", "failed", "skipped", "stopped", "crashed"]


class ErrorTally(Frozen):
    """Failed operations of one kind in one phase.

    Attributes:
        kind: fault, short_read, short_write or corrupt.
        name: Of the fault, such as ENOSPC; None if the storage named none.
        domain: Whose code it is: os, nfs, http, ...; None if there is no code.
        code: The number; None likewise.
        example: The first one in words: action, object, offset, length, message.
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


class KindCounts(Frozen):
    """What the operations of one kind did in a phase.

    Attributes:
        kind: Such as read, write, sync, create, get; see `assay.model.study.names.OP_KINDS`.
        ops: Those that succeeded.
        bytes: That they moved.
        errors: Those that failed.
        latency: As of `Sample`.
        histogram: As of `Sample`; None where that one is of this kind alone.
        first_byte: Times until the first byte came, named as `latency`; empty where the protocol does not tell.
        first_byte_histogram: All of them.
        repeated: Latencies of those that fetched an object which the same repeat had fetched before since it was
            stored, named as `latency`; empty if none did.
        repeated_ops: How many those are.
        first: Likewise of the others; empty if all of them did, or none.
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
    def latency_said(self) -> dict[str, float]:
        """Of `latency` what its number of operations can tell; likewise `first_byte_said`."""
        return said(self.latency, self.ops)

    @property
    def first_byte_said(self) -> dict[str, float]:
        """Likewise of `first_byte`."""
        return said(self.first_byte, self.ops)

    @property
    def repeated_said(self) -> dict[str, float]:
        """Likewise of `repeated`."""
        return said(self.repeated, self.repeated_ops)

    @property
    def first_said(self) -> dict[str, float]:
        """Likewise of `first`."""
        return said(self.first, self.ops - self.repeated_ops)


class HostShare(Frozen):
    """What one of several hosts did of a measured phase.

    Attributes:
        host: Its name.
        status: How the phase ended there.
        elapsed_ns: From its barrier to its last lane's end.
        throughput: Bytes per second of that time.
        iops: Operations per second of that time.
        latency: `p50`, `p99` and `max` -> nanoseconds.
        stonewall_bytes: Bytes moved when the first lane of any host ended (iozone: xfer), linear within its intervals.
        cpu_ns: CPU time of its engine.
        uncertainty_ns: Its clock is known this well against the controller's; None if they were never compared.
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


class Sample(Telling):
    """One measured phase of one repeat of one case. Rates are per second of wall time, flush included.

    Attributes:
        phase: Number of the phase in the job.
        started_at: Wall clock, seconds since 1970.
        bytes: Of reads and writes together; of `create` the contents of the files.
        ops: Operations.
        elapsed_ns: From the barrier to the last lane's end.
        throughput: Bytes per second up to the last lane's end; 0 where no data was moved.
        iops: Operations per second, likewise.
        first_finisher: Bytes per second up to the first lane's end; None if no lane finished.
        steady: Bytes per second while every lane was at work; None if there was no such time.
        first_finisher_iops: Operations per second up to the first lane's end; likewise `steady_iops`.
        latency: Name (`min`, `mean`, `p50`, `p90`, `p99`, `p99.9`, `p99.99`, `max`) -> nanoseconds; empty without any.
            As the engine counted, however few operations there were: `latency_said` has those that mean something.
        histogram: All latencies of the phase: HDR, V2-deflate, base64.
        kinds: The same kind by kind, of those that ended; empty of runs of older versions.
        start_delay: Open loop: from intended starts to submissions, named and counted as `latency`; else empty.
        start_delay_histogram: All of them.
        method: How operations reached the kernel; `method_reason` says why.
        skew_ns: Greatest difference between two lanes' starts.
        finish_spread_ns: From the first lane's end to the last lane's.
        device_read_bytes: Bytes the kernel fetched from storage for the engine; None if it does not tell.
        device_write_bytes: Bytes the kernel sent to storage for the engine; None if it does not tell.
        cpu_wait_ns: Time the lanes were ready to run but had no CPU, added up; None if the kernel does not tell.
        cpus: CPUs the engine may use.
        host_busy_ns: Time of all CPUs of the host at work, whoever's; likewise idle, and taken by the hypervisor.
        block: What the block device below did, for whomever; None where there is none.
        devices: The same of all block devices below, by their major:minor.
        cached_bytes: Of the files in the host's page cache when the phase started; None if unknown.
        lane_balance: Operations of the lane that did least / of the median lane; None with one lane or lanes without
            operations.
        flush_ns: Longest flush of a lane at the end of the phase.
        wall_shift_ns: How far the wall clock was set during the phase.
        watch: When the engine was not run although it was due; None of engines that do not tell, and of short phases.
        service: What the service has told of it; None where it tells nothing.
        existing: The objects that it worked on, where they were there before; None where they were made, or where
            several engines have not seen the same ones.
        course: How the rate went; None with too few intervals.
        at_limit: What had been done at the time limit, where lanes then went on until each had done as much as any.
        hosts: What each of several hosts did of it; empty with one engine.
        uses: What links, CPUs and disks of each host did meanwhile; empty on this machine alone, and of short phases.
        clock_uncertainty_ns: With several hosts, `skew_ns` is right within this.
        target_per_s: Open loop: operations per second asked for.
        unstarted_ops: Open loop: operations due but never started.
        errors: Failures of the phase, set-up included; of a skipped phase those of the phase that made it be skipped.
        failed_writes: Of a phase that reads: writes that failed in earlier phases, of records that none has written
            since. What it read there is not what it was to read.
    """

    may_be_untold: ClassVar[dict[str, str]] = {
        "elapsed_ns": "how long it took",
        "skew_ns": "how far apart the lanes started",
        "finish_spread_ns": "how far apart the lanes ended",
        "cache_done": "what was done to the cache before",
        "unstarted_ops": "how many operations never started",
        "verified_bytes": "how much was checked",
        "cpu_user_ns": "what CPU time it took",
        "cpu_system_ns": "what CPU time it took in the kernel",
        "flush_ns": "how long the flush took",
        "wall_shift_ns": "whether the clock was set meanwhile",
    }
    """Here 0, or an empty text, means none."""

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
    service: ServiceSeen | None = None
    existing: ExistingObjects | None = None
    course: Course | None = None
    at_limit: AtLimit | None = None
    hosts: tuple[HostShare, ...] = ()
    uses: tuple[HostUse, ...] = ()
    clock_uncertainty_ns: int = 0
    failed_writes: int = 0

    def used(self, devices: Sequence[Layer]) -> BlockDeviceUse | None:
        """What these block devices did together; None if not all of them were counted."""
        uses = [self.devices[device.number] for device in devices if device.number in self.devices]
        return BlockDeviceUse.together(uses) if uses and len(uses) == len(devices) else None

    @property
    def counted(self) -> bool:
        """Its rate is operations per second: it worked on names, or on objects without their contents."""
        return is_counted(self.operation)

    @property
    def moves_data(self) -> bool:
        """It has a throughput: an operation on contents, or one that gave files contents."""
        return self.bytes > 0 or not self.counted

    @property
    def rate(self) -> float:
        """What results are compared by: bytes per second, of counted operations their number per second."""
        return self.iops if self.counted else self.throughput

    @property
    def latency_said(self) -> dict[str, float]:
        """Of `latency` what its number of operations can tell."""
        return said(self.latency, self.ops)

    @property
    def start_delay_said(self) -> dict[str, float]:
        """Likewise of `start_delay`."""
        return said(self.start_delay, self.ops)

    @property
    def started_ops(self) -> int:
        """Operations that a rate starts: of a set of files its opens, flushes and closes, too."""
        return max(self.ops, sum(counts.ops for counts in self.kinds))

    @property
    def mixed(self) -> bool:
        """It had operations of several kinds that ended well, each with latencies of its own."""
        return sum(1 for counts in self.kinds if counts.ops) > 1

    @property
    def idle(self) -> bool:
        """It ended as if all were well, and nothing was done, nor was anything left undone that was due."""
        ended = self.status in ("done", "time_limit")
        return ended and not self.ops and not self.unstarted_ops and not self.errors

    @property
    def failed_operations(self) -> int:
        """Failures of this phase itself; a skipped one had none of its own."""
        return 0 if self.status == "skipped" else sum(tally.count for tally in self.errors)


class JobRecord(Frozen):
    """One repeat as it was executed.

    Attributes:
        status: `ok`, `errors`, `refused`, `stopped`, `incomplete` or `crashed`.
        job: The job as sent to the engine.
        attempts: How often it was started; more than 1 after a crash or an interruption.
        reason: Why it did not end well; empty if it did.
    """

    case: str
    repeat: int
    status: str
    attempts: int
    started_at: float
    seconds: float
    reason: str
    job: dict[str, Any]
