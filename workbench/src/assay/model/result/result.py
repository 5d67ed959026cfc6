"""What was measured."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field, SkipValidation

from assay.model.frozen import Frozen
from assay.model.money.priced import FrozenPrices
from assay.model.result.ceiling import Binding, Ceiling
from assay.model.result.course import Course
from assay.model.result.decision import Decision
from assay.model.result.first_page import FirstPage
from assay.model.result.layers import NO_STORAGE, Layer, chain, device_levels
from assay.model.result.machine import Controls, MachineFinding
from assay.model.result.method import MethodChoice
from assay.model.result.network import Network
from assay.model.result.objects import ExistingObjects
from assay.model.result.percentile import LEAST_OPS, WIDEST, Standing, said
from assay.model.result.seen import AtLimit, BlockDeviceUse, ServiceSeen
from assay.model.result.stage import StageDone
from assay.model.result.uses import HostUse
from assay.model.result.verdict import AS_FAR_AS_SEEN, NO_RESULT, NOT_APPLICABLE, Finding, Verdict
from assay.model.result.watch import Watch
from assay.model.study.blocks import Blocks
from assay.model.study.case import Case, Excluded
from assay.model.study.names import is_counted
from assay.model.study.repeats import EQUAL_WITHIN, LEAST_COMPARED, looks, repeats_words
from assay.model.told import Telling

EXCEEDED = 1.25
"""A ceiling was measured in a short time on a machine that is never quite quiet: up to this share it may still bind."""

IN_MEMORY = ("tmpfs", "ramfs")
"""File systems that are memory."""

Compared = Literal["rate", "p50", "p99"]
"""What two rows are compared by."""
COMPRESSING = ("btrfs", "zfs", "f2fs", "bcachefs")
"""File systems that may store less than they are given."""

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


class Place(Frozen):
    """Where a target turned out to be.

    Attributes:
        filesystem: ext4, tmpfs, ...; `block` for a device; `null` for the null target.
        memory_backed: The store is memory itself, so that a cache in front of it means nothing.
        direct_bypasses_cache: O_DIRECT means what it says here.
        free_bytes: Space that is left; None where there is no such thing, or it is not told.
        device: Block device below, e.g. /dev/vda; None if there is none.
        limits: What this place cannot do, one line each.
        stacked_on: What lies below the device and may answer from the host's memory, such as `/dev/loop0, a loop
            device without direct I/O`; None if nothing is known of such a thing.
        servers: Names of the servers of a target across a network, in order; empty where none are known.
        remote: The engine itself speaks across a network: no file system and no page cache of its host is between. None
            of old runs, where only such targets had servers.
        layers: What lies below it, from the top; empty where nothing was looked at.
        started: Server that Assay started for it on this machine, for the run; empty if there is none.
    """

    target: str
    kind: str
    path: str
    filesystem: str
    memory_backed: bool
    direct_bypasses_cache: bool
    free_bytes: int | None
    device: str | None
    limits: tuple[str, ...] = ()
    stacked_on: str | None = None
    servers: tuple[str, ...] = ()
    remote: bool | None = None
    layers: tuple[Layer, ...] = ()
    started: str = ""

    @property
    def lies_on(self) -> str:
        """All layers in one line, `ext4 on /dev/vda`; the type of the file system where nothing more is known."""
        return chain(self.layers) or self.filesystem

    @cached_property
    def device_levels(self) -> tuple[tuple[Layer, ...], ...]:
        """Block devices below whose requests are counted, from the top down."""
        return device_levels(self.layers)

    @property
    def no_storage(self) -> bool:
        """There is nothing to measure but engine and workbench: operations end at once, or as scripted."""
        return self.device is None and bool(self.layers) and self.layers[0].kind in NO_STORAGE

    @property
    def is_memory(self) -> bool:
        """It is a directory of a file system that is memory itself, which whoever names it knows."""
        return self.device != self.path and (
            self.filesystem in IN_MEMORY or (bool(self.layers) and self.layers[0].kind == "memory")
        )


LAUNCHER = "launcher"
"""The section of the environment that says what started the engines on the hosts; its item is `name`."""


class RunHead(Frozen):
    """What is known of a run from its beginning.

    Attributes:
        id: `20261121-211503-quickstart` and the like: UTC start and study name.
        question: What the study asks.
        created_at: Seconds since 1970.
        seed: Decides the order and the data.
        order: Of the repeats: `random` or `sequential`.
        repeats: Repeats of each case; with `repeats_within` the greatest number of them.
        command: The command line.
        versions: Name -> version or hash: assay, assay-engine, engine_sha256, study_sha256, python, ...
        environment: Section -> name -> value as text, e.g. environment["memory"]["total"]; missing items say why.
        places: One per target.
        repeats_within: A case is not repeated any more when neither end of the 95 % interval of any of its rates is
            further from the median than this share of it; None if the number of repeats is fixed.
        repeats_decide: A case is not repeated any more when it is decided which target is faster, or that they differ
            by less than this share; None if that is not asked for.
        repeats_least: Fewest repeats of a case if their number is not fixed, or with `blocks`; else None.
        repeats_time: Seconds of measuring after which no further round begins; None without such a limit.
        blocks: How its two sides are measured in turns; None of a run that is no comparison.
    """

    id: str
    study: str
    question: str
    description: str
    created_at: float
    seed: int
    order: str
    repeats: int
    command: str
    versions: dict[str, str] = Field(default_factory=dict)
    environment: dict[str, dict[str, str]] = Field(default_factory=dict)
    places: tuple[Place, ...] = ()
    repeats_within: float | None = None
    repeats_decide: float | None = None
    repeats_least: int | None = None
    repeats_time: float | None = None
    blocks: Blocks | None = None

    @property
    def launcher(self) -> str:
        """What started the engines on the hosts: `ssh`, `mpirun` or `srun`; empty where nothing says so."""
        return self.environment.get(LAUNCHER, {}).get("name", "")


class RunInfo(RunHead):
    """A run without its results.

    Attributes:
        folder: Where it is stored.
        study_text: The study file as it was.
        status: `running`, `interrupted`, `complete` or `complete with errors`.
        finished_at: Seconds since 1970; None before.
        planned: Repeats that are asked for, of all cases together; finished: how many have an outcome. Those of cases
            that were known well enough before are not asked for any more.
        ceilings: Measured before the cases or stated in the study.
        hosts: Names of the machines that generate the load, in order; empty if it is this one only.
        network: What lies between them and the servers; None if it was not measured.
        prices: Of the designs that its targets stand for, as they were when it began; None if it names none.
        methods: How operations reach the kernel where the study leaves it open, found out before the first repeat.
        controls: What was measured without storage between the repeats shows; None if there were too few, or the run is
            not over.
        machine: The verdict on the machine that follows from it; None if there is none.
        answers: What the run says of each question, in words, as it ended; empty before, and of a very large run.
        page: The first page of its report in words, likewise.
        stages: Those that were measured, of a run that is taken in stages.
    """

    folder: str
    study_text: str
    status: str
    finished_at: float | None
    planned: int
    finished: int
    ceilings: tuple[Ceiling, ...] = ()
    hosts: tuple[str, ...] = ()
    network: Network | None = None
    prices: FrozenPrices | None = None
    methods: tuple[MethodChoice, ...] = ()
    controls: Controls | None = None
    machine: MachineFinding | None = None
    answers: tuple[str, ...] = ()
    page: FirstPage | None = None
    stages: tuple[StageDone, ...] = ()

    @property
    def equal_within(self) -> float:
        """Targets that differ by no more than this share count as equal."""
        if self.blocks is not None:
            return self.blocks.within
        return EQUAL_WITHIN if self.repeats_decide is None else self.repeats_decide

    @property
    def ignored(self) -> frozenset[Verdict]:
        """Verdicts that do not bear on the question of the run."""
        return frozenset() if self.blocks is None else self.blocks.ignored

    @property
    def alike(self) -> frozenset[Verdict]:
        """Verdicts that make neither side of a run the slower one."""
        return frozenset() if self.blocks is None else self.blocks.alike

    @property
    def repeats_words(self) -> str:
        """`3 repeats`, or `8 to 30 repeats`."""
        return repeats_words(self.repeats, self.repeats_least)

    @property
    def adaptive(self) -> bool:
        """How often a case was repeated depended on what was measured."""
        return self.repeats_least is not None

    @property
    def looks(self) -> int:
        """How often it was looked at, or may have been, to see what it has decided; 1 if that was not asked for."""
        if self.blocks is not None:
            return len(self.blocks.looks)
        if self.repeats_decide is None:
            return 1
        return len(looks(self.repeats_least or self.repeats, self.repeats))


class Level(Frozen):
    """One of two values that the repeats of a result have.

    Attributes:
        rate: Median of the repeats there.
        count: How many repeats those are.
    """

    rate: float
    count: int


class Estimate(Frozen):
    """A median over repeats and a 95 % interval.

    Attributes:
        low: Lower end of the interval; None with fewer than 2 repeats.
        high: Upper end.
        n: Number of repeats.
        spread: Coefficient of variation (standard deviation / mean); None with fewer than 2.
        likeness: How much a repeat resembles the one before it: the correlation that the interval allows for.
        levels: The two values that the repeats have, the lower one first, if they have two; else empty. The interval
            then reaches from one to the other.
    """

    median: float
    low: float | None
    high: float | None
    n: int
    spread: float | None
    likeness: float = 0.0
    levels: tuple[Level, ...] = ()

    @property
    def reach(self) -> float | None:
        """From the median to the further end of the interval, as a share of the median; None without an interval."""
        if self.low is None or self.high is None or self.median <= 0:
            return None
        return max(self.high - self.median, self.median - self.low) / self.median


class Percentile(Frozen):
    """A percentile of latency over the repeats of a result, in nanoseconds.

    Attributes:
        name: `p50`, `p90`, `p99`, `p99.9` or `p99.99`.
        least_ops: Operations of the usable repeat that has fewest.
        ops: Operations of all usable repeats.
        estimate: Of the repeats' own percentiles; None unless each of them has enough operations for it.
        lowest: Of the repeats' own percentiles; None where `estimate` is; likewise `highest`.
        pooled: From all operations together; None if even they are too few.
    """

    name: str
    least_ops: int
    ops: int
    estimate: Estimate | None = None
    lowest: float | None = None
    highest: float | None = None
    pooled: float | None = None

    @property
    def needed(self) -> int:
        """Fewest operations that it can be said of."""
        return LEAST_OPS[self.name]

    @property
    def standing(self) -> Standing:
        """How well it is known."""
        if self.value is None:
            return Standing.TOO_FEW
        low, high = self.interval
        if low is None or high is None:
            return Standing.NO_INTERVAL
        return Standing.KNOWN if high <= WIDEST * low else Standing.UNCERTAIN

    @property
    def value(self) -> float | None:
        """The median over the repeats, or else from all operations together; None if it cannot be said."""
        return self.pooled if self.estimate is None else self.estimate.median

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The 95 % interval of `value`."""
        return (None, None) if self.estimate is None else (self.estimate.low, self.estimate.high)


class Row(Frozen):
    """The result of one operation of one case over all its repeats.

    Attributes:
        throughput: Bytes per second; None without a usable repeat, and where no data is moved.
        iops: Operations per second; None without a usable repeat.
        latency: Name (as in Sample) -> nanoseconds, from the histograms of all repeats pooled; without the percentiles
            that all operations together are too few for.
        percentiles: Those of latency over the repeats, in ascending order; empty if no latencies were recorded.
        start_delay: Likewise, of the delays between intended starts and submissions; empty in closed loop.
        curve: (percentile in percent, nanoseconds) points of the pooled histogram, for drawing.
        findings: All that apply, the worst first; empty means ok.
        machine: Findings that the run's verdict on the machine stands for, so that they are none on this result.
        not_evaluated: `rule: reason` for each rule that lacked evidence, or (`rule: not applicable: reason`) has
            nothing to say of it.
        ceilings: How close it is to each ceiling that applies to it, the closest first.
    """

    case: Case
    operation: str
    throughput: Estimate | None
    iops: Estimate | None
    latency: dict[str, float]
    curve: tuple[tuple[float, float], ...]
    samples: SkipValidation[tuple[Sample, ...]]
    verdict: Verdict
    findings: tuple[Finding, ...]
    not_evaluated: tuple[str, ...] = ()
    start_delay: dict[str, float] = Field(default_factory=dict)
    ceilings: tuple[Binding, ...] = ()
    machine: tuple[Finding, ...] = ()
    percentiles: tuple[Percentile, ...] = ()

    def percentile(self, name: str) -> Percentile | None:
        """The percentile of that name; None if no latencies were recorded."""
        return next((item for item in self.percentiles if item.name == name), None)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All of them, each once, the worst first; a result can have several."""
        return tuple(dict.fromkeys((self.verdict, *(finding.verdict for finding in self.findings))))

    @property
    def no_result(self) -> bool:
        """A verdict says that its rate is not the storage's, or not of all repeats."""
        return not NO_RESULT.isdisjoint(self.verdicts)

    @property
    def binding(self) -> Binding | None:
        """The ceiling that holds it: the one it is closest to, or above.

        Of an impossible result the one that makes it so. A cached one is not held by those it went around: of those
        that were exceeded one counts only if it is below no other.
        """
        found = {finding.verdict: finding for finding in self.findings}
        if Verdict.IMPOSSIBLE in found:
            share = found[Verdict.IMPOSSIBLE].numbers.get("share")
            items = [item for item in self.ceilings if item.share == share]
        else:
            items = [item for item in self.ceilings if Verdict.CACHED in found and item.share <= EXCEEDED]
        return max(items or self.ceilings, key=lambda item: item.share, default=None)

    @property
    def exceeded(self) -> tuple[Binding, ...]:
        """The other ceilings that it is further above than their measurement leaves open, the most exceeded first."""
        return tuple(item for item in self.ceilings if item.share > EXCEEDED and item is not self.binding)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Rules that lacked evidence."""
        told = (line.partition(": ") for line in self.not_evaluated)
        return tuple(rule for rule, _, reason in told if not reason.startswith(NOT_APPLICABLE))

    @property
    def as_far_as_seen(self) -> bool:
        """Its verdict is ok, but a rule that might have spoken against it lacked evidence."""
        return self.verdict is Verdict.OK and bool(self.unseen)

    @property
    def verdict_words(self) -> str:
        """The verdict, of ok also how far it goes."""
        return AS_FAR_AS_SEEN if self.as_far_as_seen else str(self.verdict)

    @property
    def counted(self) -> bool:
        """Its rate is operations per second: it is about names, or about objects without their contents."""
        return is_counted(self.operation)

    @property
    def rate(self) -> Estimate | None:
        """What it is compared by: throughput, of counted operations their number per second."""
        return self.iops if self.counted else self.throughput


class Comparison(Frozen):
    """One operation at the same parameters on two targets, or in two runs.

    Attributes:
        of: What is compared: the rate (throughput, or operations per second), or a percentile of latency.
        ratio: That of `other` divided by that of `base`. Above 1 a rate is better, and a latency is worse.
        low: Lower end of the 95 % interval of the ratio, of this comparison alone; None if it could not be computed.
        high: Upper end.
        sure_low: Lower end of an interval so wide that those of all comparisons made together hold at once, in 95 of
            100 such analyses; likewise `sure_high`.
        separable: The difference is significant; `assay.analyse.compare` has the rule.
        caveat: Why the figures should not be compared (a bad verdict on a side); empty if none.
        told: All that makes the two sides comparable is known; else nothing is decided by them.
        n_base: Repeats of the base, or runs; likewise `n_other`.
        unit: What counts as one observation: a repeat of one run, or a run.
        p: Two-sided, of there being no difference; None if it could not be computed.
        p_adjusted: The same times the number of comparisons made together and of looks at them (Bonferroni), 1 at most.
        p_own: As `p`, without what other comparisons tell of the noise.
        effect: Cliff's delta, from -1 (what is compared is less in every repeat of `other`) to 1 (it is more).
        likeness: Greatest correlation of a repeat with the one before it that the repeats allow; the intervals and
            p-values allow for it.
    """

    workload: str
    operation: str
    axes: dict[str, int | float | str | bool | None]
    base: str
    other: str
    ratio: float
    low: float | None
    high: float | None
    separable: bool
    caveat: str
    n_base: int
    n_other: int
    of: Compared = "rate"
    told: bool = True
    unit: Literal["repeat", "run"] = "repeat"
    sure_low: float | None = None
    sure_high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    p_own: float | None = None
    effect: float | None = None
    likeness: float | None = None

    def equal(self, within: float) -> bool:
        """Both sides surely differ by no more than a share, as all comparisons hold at once."""
        if self.too_few or self.sure_low is None or self.sure_high is None:
            return False
        return self.sure_low >= 1 - within and self.sure_high <= 1 / (1 - within)

    @property
    def too_few(self) -> bool:
        """Too little was measured on a side for any difference to be called."""
        return self.p is None if self.unit == "run" else min(self.n_base, self.n_other) < LEAST_COMPARED

    @property
    def better(self) -> bool:
        """`other` has the higher rate, or the shorter latency."""
        return self.ratio > 1 if self.of == "rate" else self.ratio < 1


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


class RunAnalysis(Frozen):
    """Everything a report needs. Cases are in plan order, rows in (case, operation) order.

    Attributes:
        notes: What looked odd, one sentence each.
        decisions: What follows from the comparisons for each pair of targets.
        machine: The verdict on the machine, once for all rows; None if there is none.
        latency_comparisons: Of p50 and of p99, wherever both sides have enough operations for it.
    """

    run: RunInfo
    cases: tuple[Case, ...]
    excluded: tuple[Excluded, ...]
    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    jobs: tuple[JobRecord, ...]
    decisions: tuple[Decision, ...] = ()
    machine: MachineFinding | None = None
    latency_comparisons: tuple[Comparison, ...] = ()
