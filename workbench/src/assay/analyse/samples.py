"""Turns the engine's events into samples."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from assay.analyse import histograms
from assay.analyse.failures import tallies
from assay.contract._generated import Pace
from assay.contract.bounds import replay_of
from assay.contract.counts import progress_counts
from assay.contract.messages import (
    ByeEvent,
    ErrorSampleEvent,
    HelloEvent,
    IntervalEvent,
    LatencySummary,
    OpTotals,
    PhaseEndEvent,
    PhaseStartEvent,
    ReadyEvent,
    ReplayEvent,
    Resources,
    TaskEvent,
    Watch,
    Window,
)
from assay.model.escape import escape_line
from assay.model.result.course import Course
from assay.model.result.objects import ExistingObjects
from assay.model.result.observations import BlockDeviceUse, LimitProgress, ServiceCounts
from assay.model.result.replays import ReplayResult, io_rate
from assay.model.result.sample import PROGRAM, SLOW_PATTERN, ErrorTally, KindCounts, Sample, SampleStatus
from assay.model.result.tasks import TaskResult
from assay.model.result.watch import Watch as WatchSeen
from assay.model.study.names import DATA, OP_KINDS, READS, WRITES, Moves, is_counted

_SECOND = 1e9
MIN_INTERVALS = 3
"""With fewer intervals a sample has no course."""
WRITES_ALL = frozenset({"prepare", "write", "rewrite", "random_write", "fwrite", "re_fwrite"})
"""Operations that write each record, unless they stop early."""


@dataclass
class EventLog:
    """The events of one repeat on one host, by phase."""

    hello: HelloEvent | None = None
    bye: ByeEvent | None = None
    existing: ExistingObjects | None = None
    starts: dict[int, PhaseStartEvent] = field(default_factory=dict)
    ends: dict[int, PhaseEndEvent] = field(default_factory=dict)
    errors: dict[int, list[ErrorSampleEvent]] = field(default_factory=dict)
    intervals: dict[int, list[IntervalEvent]] = field(default_factory=dict)
    tasks: list[TaskEvent] = field(default_factory=list)
    replays: list[ReplayEvent] = field(default_factory=list)


def samples_from_log(case_id: str, repeat: int, log: EventLog) -> tuple[Sample, ...]:
    """Return the measured phases of one repeat, one sample each, in the order of the job.

    A planned phase without an end is `crashed` if the engine sent no `bye`, else `stopped` or `failed`, by the status
    of its `bye`. Without a `hello` the plan is unknown, and there are no samples.

    Args:
        case_id: Case of the repeat.
        repeat: Its number.
        log: Its events, sorted by phase.
    """
    if log.hello is None:
        return ()
    planned = [number for number, phase in enumerate(log.hello.job.phases) if phase.measured]
    return tuple(phase_sample(case_id, repeat, number, log) for number in planned)


def phase_sample(case_id: str, repeat: int, number: int, log: EventLog) -> Sample:
    """Return the sample of one phase of one repeat that had a `hello`; arguments as in `samples_from_log`."""
    assert log.hello is not None
    end = log.ends.get(number)
    if end is None:
        return _unended(case_id, repeat, number, str(log.hello.job.phases[number].operation), log)
    skipped = end.status.value == "skipped"
    errors = _errors_before(number, log) if skipped else errors_of(number, log)
    return ended_sample(case_id, repeat, end, log, errors)


def errors_of(number: int, log: EventLog) -> tuple[ErrorTally, ...]:
    """Return the failures of a phase; those outside operations (open, flush, ...) may come from examples only."""
    end, job = log.ends.get(number), log.hello.job if log.hello is not None else None
    # Objects that existed before have their own names, not numbers.
    numbered = job is not None and (job.tree is not None or job.objects is not None)
    many = numbered and log.existing is None
    return tallies(end.errors if end else (), log.errors.get(number, []), many)


def _errors_before(number: int, log: EventLog) -> tuple[ErrorTally, ...]:
    """Return why a phase was skipped: the failures of the last failed phase before it, measured or not."""
    failed = [end for end in log.ends.values() if end.phase < number and end.status.value == "failed"]
    if not failed:
        return ()
    last = max(failed, key=lambda end: end.phase)
    found = errors_of(last.phase, log)
    return tuple(tally.model_copy(update={"example": f"in {last.operation.value}: {tally.example}"}) for tally in found)


def failed_writes(number: int, log: EventLog) -> int:
    """Return the number of failed writes, before a phase that reads, of records that no later phase wrote.

    Args:
        number: Number of the phase; if it does not read, the result is 0.
        log: Events of its engine.
    """
    assert log.hello is not None
    phases = log.hello.job.phases
    if str(phases[number].operation) not in READS:
        return 0
    failed = 0
    for earlier, phase in enumerate(phases[:number]):
        operation, end = str(phase.operation), log.ends.get(earlier)
        if operation not in WRITES | WRITES_ALL or end is None:
            continue
        failures = sum(tally.count for tally in errors_of(earlier, log))
        whole = operation in WRITES_ALL and phase.runtime_ns is None and str(end.status) == "done"
        failed = 0 if whole and not failures else failed + failures
    return failed


def sort_events(events: Iterable[object]) -> EventLog:
    """Sort events by phase; anything that is no event is skipped."""
    log = EventLog()
    for event in events:
        match event:
            case HelloEvent():
                log.hello = event
            case ReadyEvent():
                existing = event.existing
                log.existing = None if existing is None else ExistingObjects(**existing.model_dump())
            case PhaseStartEvent():
                log.starts[event.phase] = event
            case PhaseEndEvent():
                log.ends[event.phase] = event
            case IntervalEvent():
                log.intervals.setdefault(event.phase, []).append(event)
            case ErrorSampleEvent():
                log.errors.setdefault(event.phase, []).append(event)
            case TaskEvent():
                log.tasks.append(event)
            case ReplayEvent():
                log.replays.append(event)
            case ByeEvent():
                log.bye = event
            case _:
                pass
    return log


def _unended(case_id: str, repeat: int, number: int, operation: str, log: EventLog) -> Sample:
    status: SampleStatus = "crashed"
    if log.bye is not None and log.bye.status != "ok":
        status = "stopped" if log.bye.status == "stopped" else "failed"
    start = log.starts.get(number)
    return Sample(
        case=case_id,
        repeat=repeat,
        phase=number,
        operation=operation,
        status=status,
        started_at=_wall_clock(number, log),
        method=str(start.method) if start else "",
        method_reason=escape_line(start.method_reason) if start else "",
        errors=errors_of(number, log),
    )


def ended_sample(
    case_id: str, repeat: int, end: PhaseEndEvent, log: EventLog, errors: tuple[ErrorTally, ...]
) -> Sample:
    """Return the sample of a phase that ended; `log` has its start, its intervals and the `hello`."""
    start = log.starts.get(end.phase)
    elapsed = end.last_finisher.end_ns - end.last_finisher.start_ns
    ends = [lane.end_ns for lane in end.lanes]
    done = progress_counts(end.operations, end.operation.value in DATA)
    latency, histogram = merged_latency([of_kind.latency for of_kind in done])
    delay, delay_histogram = merged_latency((end.start_delay,))
    first = end.first_finisher if end.lanes else None
    tasks = _tasks(end.phase, log)
    sample = Sample(
        case=case_id,
        repeat=repeat,
        phase=end.phase,
        operation=str(end.operation),
        status=end.status.value,
        started_at=_wall_clock(end.phase, log),
        ops=sum(of_kind.ops for of_kind in done),
        bytes=sum(of_kind.bytes for of_kind in end.operations),
        read_bytes=_moved(end.operations, "in"),
        write_bytes=_moved(end.operations, "out"),
        elapsed_ns=elapsed,
        throughput=_rate(end.last_finisher.bytes, elapsed) or 0.0,
        iops=_rate(end.last_finisher.ops, elapsed) or 0.0,
        first_finisher=_rate(first.bytes, _length(first)) if first else None,
        steady=_rate(end.steady.bytes, _length(end.steady)) if end.steady else None,
        first_finisher_iops=_rate(first.ops, _length(first)) if first else None,
        steady_iops=_rate(end.steady.ops, _length(end.steady)) if end.steady else None,
        latency=latency,
        histogram=histogram,
        kinds=_kinds(end.operations),
        start_delay=delay,
        start_delay_histogram=delay_histogram,
        errors=(*_with_tasks(errors, tasks), *_slow_patterns(tasks)),
        skew_ns=end.start_skew_ns,
        finish_spread_ns=max(ends) - min(ends) if ends else 0,
        method=str(start.method) if start else "",
        method_reason=escape_line(start.method_reason) if start else "",
        cache_done=escape_line(end.cache_done),
        at_limit=_at_limit(end),
        target_per_s=end.target_per_s,
        unstarted_ops=end.unstarted_ops,
        verified_bytes=end.verified_bytes,
        device_read_bytes=end.resources.read_bytes,
        device_write_bytes=end.resources.write_bytes,
        cpu_wait_ns=_cpu_wait(end),
        cpus=log.hello.cpus if log.hello else 0,
        **_host_and_device(end, (log.hello.job.watch or ()) if log.hello is not None else ()),
        cached_bytes=end.cached_bytes,
        lane_balance=_lane_balance(end),
        flush_ns=max((lane.sync_ns for lane in end.lanes), default=0),
        wall_shift_ns=end.wall_shift_ns or 0,
        watch=_watch(end.watch),
        service=None if end.service is None else ServiceCounts(**end.service.model_dump(exclude_none=True)),
        existing=log.existing,
        course=_course(end, log),
        **_cpu(end.resources),
        failed_writes=failed_writes(end.phase, log),
        tasks=tasks,
    )
    replayed = replay_fields(log, _replays(end.phase, log))
    return sample.model_copy(update=replayed) if replayed else sample


def _tasks(number: int, log: EventLog) -> tuple[TaskResult, ...]:
    """Return the tasks of a phase that runs programs, without loading the modules for it if there are none."""
    start = log.starts.get(number)
    if not log.tasks or start is None:
        return ()
    from assay.analyse.programs.tasks import task_results

    return task_results(log.tasks, log.hello, start.at_ns)


def _with_tasks(errors: tuple[ErrorTally, ...], tasks: Sequence[TaskResult]) -> tuple[ErrorTally, ...]:
    """Return failures with the first failed task in words where they are of programs that ended badly."""

    def words(tally: ErrorTally) -> str:
        if tally.domain != PROGRAM:
            return tally.example
        # The engine's code of a program is its exit code, or its signal with a minus sign, else 0.
        codes = ((task, task.exit_code or -(task.signal or 0)) for task in tasks if task.failure)
        return next((task.failure_words for task, code in codes if code == tally.code), tally.example)

    return tuple(tally.model_copy(update={"example": words(tally)}) for tally in errors)


def _slow_patterns(tasks: Sequence[TaskResult]) -> tuple[ErrorTally, ...]:
    """Return the failure of a figure whose pattern took too long; empty without one."""
    slow = [task for task in tasks if task.slow_figure]
    if not slow:
        return ()
    example = f"task {slow[0].task}: {slow[0].failure}"
    return (ErrorTally(kind=SLOW_PATTERN, name=None, count=len(slow), example=example),)


def _replays(number: int, log: EventLog) -> tuple[ReplayResult, ...]:
    """Return the copies that a phase replayed, without loading the modules for it if there are none."""
    start = log.starts.get(number)
    if not log.replays or start is None:
        return ()
    from assay.analyse.programs.replays import replay_results

    return replay_results(log.replays, start.at_ns)


def replay_fields(log: EventLog, replays: tuple[ReplayResult, ...]) -> dict[str, Any]:
    """Return the fields of a sample that replays decide; none for all other phases.

    At recorded times the rate is that of their I/O, which no part of the time has of its own.
    """
    target = None if log.hello is None or not replays else replay_of(log.hello.job)
    if target is None:
        return {}
    fields: dict[str, Any] = {"replays": replays}
    if target.pace is Pace.recorded and (rate := io_rate(replays)) is not None:
        fields |= {"iops": rate, "first_finisher_iops": None, "steady_iops": None}
    return fields


def _at_limit(end: PhaseEndEvent) -> LimitProgress | None:
    wall = end.stonewall
    if wall is None:
        return None
    window = wall.window
    return LimitProgress(
        elapsed_ns=window.end_ns, ops=window.ops, bytes=window.bytes, min_ops=wall.min_ops, max_ops=wall.max_ops
    )


def _moved(operations: Iterable[OpTotals], way: Moves) -> int:
    return sum(of_kind.bytes for of_kind in operations if OP_KINDS[of_kind.operation.value][1] == way)


def _kinds(operations: Sequence[OpTotals]) -> tuple[KindCounts, ...]:
    """Return the counts by kind; a histogram that equals that of the phase is not stored twice."""
    alone = sum(of_kind.latency is not None for of_kind in operations) == 1
    found = []
    for of_kind in operations:
        latency, histogram = merged_latency((of_kind.latency,))
        first_byte, first_byte_histogram = merged_latency((of_kind.first_byte,))
        counts = KindCounts(
            kind=of_kind.operation.value,
            ops=of_kind.ops,
            bytes=of_kind.bytes,
            errors=of_kind.errors,
            latency=latency,
            histogram=None if alone else histogram,
            first_byte=first_byte,
            first_byte_histogram=first_byte_histogram,
            **_accesses(of_kind),
        )
        found.append(counts)
    return tuple(found)


def _accesses(of_kind: OpTotals) -> dict[str, Any]:
    """Return the latencies of first and of repeated fetches, if some were repeated."""
    if of_kind.repeated is None or of_kind.latency is None:
        return {}
    repeated, _ = merged_latency((of_kind.repeated,))
    whole = histograms.decode(of_kind.latency.histogram)
    first = histograms.subtract_part(whole, histograms.decode(of_kind.repeated.histogram))
    return {"repeated": repeated, "repeated_ops": of_kind.repeated.count, "first": histograms.summary(first)}


def _watch(watch: Watch | None) -> WatchSeen | None:
    if watch is None:
        return None
    lateness, _ = merged_latency((watch.lateness,))
    fields = watch.model_dump(include={"interval_ns", "elapsed_ns", "stalls", "stalled_ns", "longest_ns", "away_ns"})
    return WatchSeen(**fields, lateness={name: lateness[name] for name in ("p50", "p99", "max")})


def _cpu(used: Resources) -> dict[str, int]:
    """Return the CPU time of the engine, less that of a service in the same process, split in the same proportion."""
    every = used.user_ns + used.system_ns
    own = 1 - min(1.0, (used.service_ns or 0) / every) if every else 1.0
    return {"cpu_user_ns": round(used.user_ns * own), "cpu_system_ns": round(used.system_ns * own)}


def _cpu_wait(end: PhaseEndEvent) -> int | None:
    waits = [lane.cpu_wait_ns for lane in end.lanes]
    known = [wait for wait in waits if wait is not None]
    return sum(known) if known and len(known) == len(waits) else None


def _lane_balance(end: PhaseEndEvent) -> float | None:
    data = end.operation.value in DATA
    done = sorted(sum(of_kind.ops for of_kind in progress_counts(lane.operations, data)) for lane in end.lanes)
    if len(done) < 2 or not (middle := median(done)):
        return None
    return done[0] / middle


def _host_and_device(end: PhaseEndEvent, watch: Sequence[str]) -> dict[str, Any]:
    host, device = end.resources.host, end.resources.device
    found: dict[str, Any] = {"block": BlockDeviceUse(**device.model_dump()) if device else None}
    uses = zip(watch, end.resources.watched or (), strict=False)
    found["devices"] = {number: BlockDeviceUse(**use.model_dump()) for number, use in uses if use is not None}
    if host:
        found |= {
            "host_busy_ns": host.busy_ns,
            "host_idle_ns": host.idle_ns,
            "host_stolen_ns": host.stolen_ns,
        }
    return found


def _course(end: PhaseEndEvent, log: EventLog) -> Course | None:
    """Return the course of a phase; with few intervals None, without loading the modules for it."""
    intervals = log.intervals.get(end.phase, [])
    if len(intervals) < MIN_INTERVALS or log.hello is None:
        return None
    from assay.analyse.course import course_of

    job = log.hello.job
    counted = is_counted(str(end.operation))
    lanes = job.lanes * (job.ranks or 1)
    files = lanes if str(job.layout) == "separate" else 1
    if job.tree is not None:
        files = job.tree.files * lanes + (job.tree.more or 0)
    data_set = job.file_size_bytes * files
    once = None if counted or job.objects is not None or job.sizes is not None else data_set
    return course_of(intervals, end, once, counted)


def _length(window: Window) -> int:
    return window.end_ns - window.start_ns


def _rate(amount: int, nanoseconds: int) -> float | None:
    return amount * _SECOND / nanoseconds if nanoseconds > 0 else None


def _wall_clock(number: int, log: EventLog) -> float:
    """Return the start of a phase in seconds since 1970; the job's own start if the phase never began."""
    assert log.hello is not None
    start = log.starts.get(number)
    since = start.at_ns - log.hello.mono_ns if start else 0
    return (log.hello.wall_ns + since) / _SECOND


def merged_latency(summaries: Sequence[LatencySummary | None]) -> tuple[dict[str, float], str | None]:
    """Return order statistics and histogram of all operations of a phase, reads and writes merged."""
    parts = [summary for summary in summaries if summary is not None]
    if not parts:
        return {}, None
    if len(parts) == 1:
        one = parts[0]
        tail = {"p50": one.p50_ns, "p90": one.p90_ns, "p99": one.p99_ns, "p99.9": one.p999_ns, "p99.99": one.p9999_ns}
        return {"min": one.min_ns, "mean": one.mean_ns, **tail, "max": one.max_ns}, one.histogram
    merged = histograms.merge([histograms.decode(part.histogram) for part in parts])
    least = float(min(part.min_ns for part in parts))
    greatest = float(max(part.max_ns for part in parts))
    mean = sum(part.mean_ns * part.count for part in parts) / sum(part.count for part in parts)
    tail_merged = {name: min(value, greatest) for name, value in histograms.summary(merged).items()}
    return {"min": least, "mean": mean, **tail_merged, "max": greatest}, histograms.encode(merged)
