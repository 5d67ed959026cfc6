"""Checks whether the events of an engine can be true.

An engine is another program, maybe on another machine: it can be broken, replaced or malicious. Events that contradict
the job, each other or this machine's clock do not become a result. Events that pass are safe to compute with: each
number fits its field in the store, and no count or size is out of proportion to the job.
"""

from collections.abc import Iterable, Sequence
from typing import NoReturn

from assay.analyse import histograms
from assay.analyse.samples import EventLog, sort_events
from assay.contract._generated import FaultDomain, Job, ReplayedOps
from assay.contract.bounds import command_of, largest_operation_bytes, reads_existing_objects, replay_of
from assay.contract.counts import OperationCounts, group_by_kind, moved_bytes, operation_count, progress_counts
from assay.contract.messages import (
    ByeEvent,
    ErrorSampleEvent,
    Fault,
    HelloEvent,
    IntervalEvent,
    LatencySummary,
    OpTotals,
    PhaseEndEvent,
    PhaseStartEvent,
    Watch,
    Window,
)
from assay.contract.parts import HOST_LINE_START
from assay.contract.reader import BrokenLine
from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.result.objects import ExistingObjects
from assay.model.result.sample import PROGRAM, SLOW_PATTERN, Sample
from assay.model.study.names import DATA
from assay.model.trace.records import FILE_OPS
from assay.model.units import about_number

CLOCK_SHARE = 0.05
"""Allowed drift between two clocks, as a share of the time; real clocks differ by far less."""
CLOCK_NS = 2 * 10**9
"""Allowed step of a clock, for example because it was set by hand."""
ERROR_CODES = {FaultDomain.os: range(1, 4096), FaultDomain.http: range(100, 600)}
"""Valid error codes by domain: up to MAX_ERRNO of the kernel's include/linux/err.h; RFC 9110 section 15."""
HISTOGRAM_STEP = 0.002
"""Relative resolution of a histogram with three significant digits."""
ENDED = ("done", "time_limit")
GREATEST_COUNT = 2**64 - 1
"""The greatest value of any counter of an engine."""


class InvalidEventsError(Exception):
    """The events of an engine contradict the job, each other or the clock."""


def validate_events(events: Iterable[object], job: Job, seconds: float | None = None) -> EventLog:
    """Check all events of one engine and return them, sorted by phase.

    Args:
        events: Events as `assay.contract.reader` read them; lines that are not events are skipped.
        job: The job that was sent to the engine.
        seconds: Duration of the exchange by our clock; None if unknown.

    Raises:
        InvalidEventsError: The events cannot be true; the message is one line.
    """
    listed = []
    for event in events:
        if not isinstance(event, BrokenLine):
            listed.append(event)
        elif event.text.startswith(HOST_LINE_START):
            _reject("it sent a line with a host header")
    _check_order(listed, job)
    log = sort_events(listed)
    limit_ns = None if seconds is None else int(seconds * 1e9 * (1 + CLOCK_SHARE)) + CLOCK_NS
    if log.hello is not None:
        _check_hello(log.hello, job)
    if log.existing is not None:
        _check_existing(log.existing, job)
    for number, end in log.ends.items():
        _check_end(number, end, log, job, limit_ns)
    for number, intervals in log.intervals.items():
        _check_intervals(number, intervals, log, job, limit_ns)
    for number, samples in log.errors.items():
        for sample in samples:
            _check_failure(number, sample, job)
    _check_tasks(log, job, limit_ns)
    _check_replays(log, job, limit_ns)
    _check_times(log, limit_ns)
    _check_bye(log, job)
    return log


def check_starts(started: Sequence[dict[int, int]], seconds: float | None) -> None:
    """Check that the engines of one job started each phase within the duration of the whole job.

    Args:
        started: For each engine, phase number -> start time on the controller's clock, in nanoseconds.
        seconds: Duration of the exchange; None if unknown, and then nothing is checked.

    Raises:
        InvalidEventsError: Two engines started a phase further apart than the job lasted.
    """
    limit_ns = None if seconds is None else int(seconds * 1e9 * (1 + CLOCK_SHARE)) + CLOCK_NS
    for number in {number for one in started for number in one}:
        times = [one[number] for one in started if number in one]
        if limit_ns is not None and max(times) - min(times) > limit_ns:
            _reject(
                f"phase {number} began on one host {about_number((max(times) - min(times)) / 1e9)} s after it did"
                " on another"
            )


def missing_result(samples: Iterable[Sample]) -> str:
    """Return why a complete repeat has no result: a phase without any operation, or a figure that cannot be read.

    Empty if there is no reason.
    """
    listed = list(samples)
    slow = [tally for sample in listed for tally in sample.errors if tally.kind == SLOW_PATTERN]
    if slow:
        return slow[0].example
    first = next((sample for sample in listed if sample.is_idle), None)
    if first is None:
        return ""
    return f"phase {first.phase} ({first.operation}) ended without an operation, and without a failure"


def failed_task(samples: Iterable[Sample]) -> str:
    """Return the first task that failed, in words, and how many more did so; empty if none failed by itself."""
    return next((tally.words for sample in samples for tally in sample.errors if tally.domain == PROGRAM), "")


def _reject(what: str) -> NoReturn:
    raise InvalidEventsError(escape_line(what))


def _check_order(events: Sequence[object], job: Job) -> None:
    begun: set[int] = set()
    ended: set[int] = set()
    has_hello = has_bye = False
    for event in events:
        match event:
            case HelloEvent():
                if has_hello:
                    _reject("it sent hello twice")
                has_hello = True
                continue
            case ByeEvent():
                if has_bye or not has_hello:
                    _reject("it sent bye twice" if has_bye else "it sent bye before hello")
                has_bye = True
        phase = getattr(event, "phase", None)
        if has_bye and phase is not None:
            _reject(f"it sent an event of phase {phase} after its bye")
        if not has_hello and phase is not None:
            _reject(f"it sent an event of phase {phase} before its hello")
        if phase is not None and phase >= len(job.phases):
            _reject(f"phase {phase} of a job with {len(job.phases)} phases")
        _check_phase_order(event, begun, ended)


def _check_phase_order(event: object, begun: set[int], ended: set[int]) -> None:
    match event:
        case PhaseStartEvent():
            if event.phase in begun or event.phase in ended or any(number > event.phase for number in begun | ended):
                _reject(f"phase {event.phase} began twice, or after a later one")
            begun.add(event.phase)
        case PhaseEndEvent():
            if event.phase in ended or any(number > event.phase for number in ended):
                _reject(f"phase {event.phase} ended twice, or after a later one")
            if event.phase not in begun and (event.lanes or str(event.status) in ENDED):
                _reject(f"phase {event.phase} ended before it began")
            ended.add(event.phase)
        case IntervalEvent():
            if event.phase not in begun or event.phase in ended:
                _reject(f"an interval of phase {event.phase}, which was not running")
        case _:
            pass


def _check_hello(hello: HelloEvent, job: Job) -> None:
    if hello.job != job:
        differing = [name for name in type(job).model_fields if getattr(hello.job, name) != getattr(job, name)]
        _reject(f"its hello repeats another job than it was sent: {', '.join(differing)} differ")


def _check_existing(found: ExistingObjects, job: Job) -> None:
    """Check that the drawn objects are no more than the list contains and no more than the job's lanes use."""
    lanes, each = job.lanes * (job.ranks or 1), 0 if job.objects is None else job.objects.count
    if not reads_existing_objects(job) or not lanes <= found.objects <= min(found.listed, lanes * each):
        _reject(f"{found.objects} of {found.listed} existing objects, which do not fit {lanes} lanes")
    sizes = (
        0,
        found.smallest_bytes,
        found.median_bytes,
        found.largest_bytes,
        found.bytes,
        found.listed_bytes,
        GREATEST_COUNT,
    )
    bounds = (found.smallest_bytes * found.objects, found.bytes, found.largest_bytes * found.objects)
    if any(list(one) != sorted(one) for one in (sizes, bounds)):
        _reject(
            f"sizes and number of existing objects, of {found.smallest_bytes} to {found.largest_bytes} bytes, do not"
            " add up"
        )


def _check_end(number: int, end: PhaseEndEvent, log: EventLog, job: Job, limit_ns: int | None) -> None:
    phase, name = job.phases[number], f"phase {number} ({job.phases[number].operation})"
    if (end.operation, end.measured) != (phase.operation, phase.measured):
        _reject(f"{name} ended as {end.operation}")
    start = log.starts.get(number)
    if start is not None and (start.operation, start.measured) != (phase.operation, phase.measured):
        _reject(f"{name} began as {start.operation}")
    _check_once(name, end.operations)
    _check_windows(name, end, limit_ns)
    _check_lanes(name, end, job, limit_ns)
    largest = log.existing.largest_bytes if log.existing else largest_operation_bytes(job)
    _check_set(name, end, job)
    for of_kind in end.operations:
        _check_kind(name, of_kind, largest if phase.measured else None)
    if end.start_delay is not None:
        _check_latency(f"{name}: delays", end.start_delay)
    if end.watch is not None:
        _check_watch(f"{name}: its watch", end.watch, limit_ns)
    for tally in end.errors:
        _check_fault(name, tally.fault)


def _check_set(name: str, end: PhaseEndEvent, job: Job) -> None:
    """Check that a phase that went once over its files without failure opened, closed and moved each of them whole."""
    phase = job.phases[end.phase]
    once = phase.runtime_ns is None and str(end.status) == "done" and not end.errors
    mixed = phase.operation.value == "file_mix"
    if job.tree is None or phase.operation.value not in DATA or not once:
        return
    first, more = (job.rank or 0) * job.lanes, job.tree.more or 0
    files = job.tree.files * job.lanes + max(0, min(more - first, job.lanes))
    done = {of_kind.operation.value: of_kind.ops for of_kind in end.operations}
    opened, closed = done.get("open", 0) + done.get("create", 0), done.get("close", 0)
    taken = opened + (done.get("stat", 0) + done.get("unlink", 0) if mixed else 0)
    if taken != files or closed != opened:
        _reject(f"{name}: {opened} files opened and {closed} closed, of {files}")
    if job.sizes is None and not mixed and moved_bytes(end.operations) != files * job.file_size_bytes:
        _reject(f"{name}: {moved_bytes(end.operations)} bytes of {files} files of {job.file_size_bytes}")


def _check_once(name: str, counts: Iterable[OperationCounts]) -> None:
    if doubled := next((group for group in group_by_kind(counts) if len(group) > 1), None):
        _reject(f"{name}: {doubled[0].operation.value} is counted twice")


def _check_kind(name: str, counts: OpTotals, max_bytes: int | None) -> None:
    """Check the totals of one kind of operation.

    Args:
        name: The phase, for the message.
        counts: Totals of the kind in the phase.
        max_bytes: Greatest size of one operation; None if unknown.
    """
    kind = counts.operation.value
    if max_bytes is not None and counts.bytes > counts.ops * max_bytes:
        _reject(f"{name}: {counts.bytes} bytes in {counts.ops} {kind} operations of {max_bytes} bytes")
    if counts.latency is None and counts.ops:
        _reject(f"{name}: {counts.ops} {kind} operations without latencies")
    summaries = {
        "latencies": counts.latency,
        "times of first bytes": counts.first_byte,
        "latencies of repeated fetches": counts.repeated,
    }
    for what, summary in summaries.items():
        if summary is None:
            continue
        _check_latency(f"{name}: {what} of {kind}", summary)
        # An operation may fail after its first byte has arrived, and an operation without data has no first byte.
        least = counts.ops if summary is counts.latency else 0
        if not least <= summary.count <= counts.ops + counts.errors:
            _reject(f"{name}: {summary.count} {what} of {counts.ops} {kind} operations")


def _check_watch(name: str, watch: Watch, limit_ns: int | None) -> None:
    """Check that points and stalls fit in a watch's time: stalls do not overlap and are longer than an interval."""
    _check_latency(name, watch.lateness)
    if watch.interval_ns < 1 or watch.lateness.count * watch.interval_ns > watch.elapsed_ns:
        _reject(f"{name}: {watch.lateness.count} points, {watch.interval_ns} ns apart, in {watch.elapsed_ns} ns")
    if limit_ns is not None and max(watch.elapsed_ns, watch.cpu_ns) > limit_ns:
        _reject(f"{name} took longer than the whole job")
    if not watch.stalls * watch.interval_ns <= watch.stalled_ns <= watch.elapsed_ns:
        _reject(f"{name}: {watch.stalls} stalls of {watch.stalled_ns} ns together in {watch.elapsed_ns} ns")
    if not watch.longest_ns <= watch.stalled_ns <= watch.longest_ns * watch.stalls:
        _reject(f"{name}: {watch.stalls} stalls of at most {watch.longest_ns} ns make {watch.stalled_ns} ns")
    if (watch.away_ns or 0) > watch.stalled_ns:
        _reject(f"{name}: away for {watch.away_ns} ns of {watch.stalled_ns} ns")


def _check_windows(name: str, end: PhaseEndEvent, limit_ns: int | None) -> None:
    done, last = progress_counts(end.operations, end.operation.value in DATA), end.last_finisher
    ops = operation_count(done)
    if (last.ops, last.bytes) != (ops, moved_bytes(done)):
        _reject(f"{name}: {last.ops} operations in total, but {ops} by kind")
    for what, window in (("first lane", end.first_finisher), ("steady", end.steady), ("last lane", last)):
        if window is not None:
            _check_window(f"{name}: window of the {what}", window, last)
    if limit_ns is not None and last.end_ns > limit_ns:
        _reject(f"{name} took {last.end_ns / 1e9:.4g} s, longer than the whole job")


def _check_window(name: str, window: Window, whole: Window) -> None:
    if not whole.start_ns <= window.start_ns <= window.end_ns <= whole.end_ns:
        _reject(f"{name} ends before it begins, or lies outside of the phase")
    if window.ops > whole.ops or window.bytes > whole.bytes:
        _reject(f"{name} contains more than the phase")


def _check_lanes(name: str, end: PhaseEndEvent, job: Job, limit_ns: int | None) -> None:
    rank, ranks = job.rank or 0, job.ranks or 1
    own = range(rank * job.lanes, (rank + 1) * job.lanes)
    numbers = [lane.lane for lane in end.lanes]
    if len(set(numbers)) < len(numbers) or any(number not in own for number in numbers):
        _reject(
            f"{name}: a lane appears twice, or is not one of this host's: the job has {job.lanes} lanes on {ranks}"
            " hosts"
        )
    whole = len(numbers) == job.lanes
    if str(end.status) in ENDED and not whole:
        _reject(f"{name}: {len(numbers)} of {job.lanes} lanes ended")
    for lane in end.lanes:
        if lane.start_ns > lane.end_ns or lane.end_ns > end.last_finisher.end_ns:
            _reject(f"{name}: lane {lane.lane} ends before it begins, or after the phase")
        if lane.cpu_wait_ns is not None and limit_ns is not None and lane.cpu_wait_ns > limit_ns:
            _reject(f"{name}: lane {lane.lane} waited for a CPU for longer than the whole job took")
        _check_once(f"{name}: lane {lane.lane}", lane.operations)
    counts_of_lanes = [counts for lane in end.lanes for counts in lane.operations]
    _check_parts(f"{name}: {{}} of all lanes", end.operations, counts_of_lanes, whole)


def _check_parts(name: str, totals: Sequence[OpTotals], counts: Iterable[OperationCounts], whole: bool) -> None:
    """Check that the parts of a phase add up to no more than its totals, or exactly to them if the parts are `whole`.

    Args:
        name: What the parts are, with a placeholder for the kind of operation.
        totals: Totals of the phase.
        counts: Counts of all parts.
        whole: No part is missing.
    """
    parts = {group[0].operation: group for group in group_by_kind(counts)}
    for kind in {total.operation for total in totals} | set(parts):
        own = [total for total in totals if total.operation == kind]
        part_sums, total_sums = _sums(parts.get(kind, ())), _sums(own)
        if (
            part_sums != total_sums
            if whole
            else any(part > total for part, total in zip(part_sums, total_sums, strict=True))
        ):
            _reject(f"{name.format(kind.value)} {part_sums[0]} operations, of the phase {total_sums[0]}")


def _sums(parts: Iterable[OperationCounts]) -> tuple[int, int, int]:
    listed = list(parts)
    return operation_count(listed), moved_bytes(listed), sum(of_kind.errors for of_kind in listed)


def _check_latency(name: str, summary: LatencySummary) -> None:
    tail = [summary.min_ns, summary.p50_ns, summary.p90_ns, summary.p99_ns, summary.p999_ns, summary.p9999_ns]
    # The mean is computed from the middles of the histogram's steps; minimum and maximum are exact.
    mean_fits = (
        summary.min_ns * (1 - HISTOGRAM_STEP) - 1 <= summary.mean_ns <= summary.max_ns * (1 + HISTOGRAM_STEP) + 1
    )
    if tail != sorted(tail) or tail[-1] > summary.max_ns or not mean_fits:
        _reject(f"{name}: a percentile is greater than a higher one")
    if _checked_total(name, summary.histogram) != summary.count or not summary.count:
        _reject(f"{name}: the histogram does not contain the stated {summary.count} values")


def _checked_total(name: str, text: str) -> int:
    try:
        histogram = histograms.decode(text)
    except AssayError as error:
        _reject(f"{name}: {error.message}")
    if (histogram.lowest, histogram.digits) != (1, 3):
        _reject(f"{name}: the histogram has another resolution than the engines use")
    return histogram.total


def _check_intervals(
    number: int, intervals: Sequence[IntervalEvent], log: EventLog, job: Job, limit_ns: int | None
) -> None:
    name = f"phase {number} ({job.phases[number].operation})"
    for event in intervals:
        if event.start_ns != event.index * job.interval_ns or not 0 < event.end_ns - event.start_ns <= job.interval_ns:
            _reject(f"{name}: interval {event.index} has wrong start or end times")
        if limit_ns is not None and event.start_ns > limit_ns:
            _reject(f"{name}: interval {event.index} begins after the end of the whole job")
        where = f"{name}: interval {event.index}"
        _check_once(where, event.operations)
        _check_earlier(where, event)
        for counts in event.operations:
            for text in (counts.latency, counts.first_byte):
                if text is not None and _checked_total(where, text) < counts.ops:
                    _reject(f"{where} has fewer latencies than {counts.operation.value} operations")
    end = log.ends.get(number)
    if end is not None:
        counts_of_intervals = [counts for event in intervals for counts in event.operations]
        _check_parts(f"{name}: {{}} of all intervals", end.operations, counts_of_intervals, whole=False)


def _check_earlier(where: str, event: IntervalEvent) -> None:
    """Check that operations done before an interval are some of those that ended in it. Sums of parts are inexact."""
    parts = event.earlier or ()
    if any(not part.from_ < part.to <= event.index or min(part.ops, part.bytes) < 0 for part in parts):
        _reject(f"{where} reports earlier work in intervals that are not earlier")
    ops = sum(counts.ops for counts in event.operations)
    moved = sum(counts.bytes for counts in event.operations)
    for total, amounts in ((ops, [part.ops for part in parts]), (moved, [part.bytes for part in parts])):
        done = sum(each * (part.to - part.from_) for each, part in zip(amounts, parts, strict=True))
        if not done <= total * (1 + 1e-9) + 1e-6:
            _reject(f"{where} contains less than the part reported for earlier intervals")


def _check_tasks(log: EventLog, job: Job, limit_ns: int | None) -> None:
    """Check that each task was run once, by a lane of this engine, and not for longer than the whole job."""
    command = command_of(job)
    words = [] if command is None else command.tasks
    first = (job.rank or 0) * job.lanes
    seen: set[int] = set()
    for task in log.tasks:
        if task.task >= len(words) or task.task in seen or not first <= task.lane < first + job.lanes:
            _reject(f"task {task.task} of lane {task.lane} is not one of the job, or came twice")
        if limit_ns is not None and task.elapsed_ns > limit_ns:
            _reject(f"task {task.task} took {about_number(task.elapsed_ns / 1e9)} s, longer than the whole job")
        seen.add(task.task)


def _check_replays(log: EventLog, job: Job, limit_ns: int | None) -> None:
    """Check that each lane replayed at most one copy, all lanes if the job ended well, and that the counts fit."""
    lanes = range((job.rank or 0) * job.lanes, ((job.rank or 0) + 1) * job.lanes) if replay_of(job) else range(0)
    seen: set[int] = set()
    for replay in log.replays:
        name = f"the replay of lane {replay.lane}"
        if replay.lane not in lanes or replay.lane in seen:
            _reject(f"{name} is not one of the job, or came twice")
        if limit_ns is not None and max(replay.elapsed_ns, replay.max_delay_ns) > limit_ns:
            _reject(f"{name} took {about_number(replay.elapsed_ns / 1e9)} s, longer than the whole job")
        if not set(replay.operations) <= set(FILE_OPS) or len(replay.first_differences) > replay.differences:
            _reject(f"{name} has operations that no trace has, or more differences than it counts")
        for kind, ops in replay.operations.items():
            _check_replayed(f"{name}: {kind}", ops, replay.elapsed_ns)
        seen.add(replay.lane)
    if log.bye is not None and str(log.bye.status) == "ok" and len(seen) < len(lanes):
        _reject(f"it ended without an error, but {len(seen)} of {len(lanes)} copies were replayed")


def _check_replayed(name: str, ops: ReplayedOps, elapsed_ns: int) -> None:
    if ops.failed > ops.count or ops.service.max_ns > elapsed_ns:
        _reject(f"{name}: more failures than operations, or one longer than the whole replay")
    for summary in (ops.service, ops.latency):
        if summary is not None:
            _check_latency(name, summary)
            if summary.count != ops.count:
                _reject(f"{name}: {summary.count} times of {ops.count} operations")


def _check_failure(number: int, sample: ErrorSampleEvent, job: Job) -> None:
    _check_fault(f"phase {number}", sample.fault)
    if sample.lane is not None and sample.lane >= job.lanes * (job.ranks or 1):
        _reject(f"phase {number}: a failure of lane {sample.lane}, which the job does not have")


def _check_fault(name: str, fault: Fault | None) -> None:
    known = ERROR_CODES.get(fault.domain) if fault is not None else None
    if fault is not None and known is not None and fault.code not in known:
        origin = "" if fault.domain is FaultDomain.os else f" of {fault.domain.value}"
        _reject(f"{name}: there is no error number {fault.code}{origin}")


def _check_times(log: EventLog, limit_ns: int | None) -> None:
    """Check that the engine's own times are in order and lie within the duration of the job."""
    if log.hello is None:
        return
    moments = [log.hello.mono_ns, *(log.starts[number].at_ns for number in sorted(log.starts))]
    # A start is announced in advance, and may not happen if the job is stopped.
    ended_ns = moments[-1] if log.bye is None else log.bye.at_ns
    if moments != sorted(moments) or ended_ns < moments[-1] - CLOCK_NS:
        _reject("its monotonic clock went backwards")
    if limit_ns is not None and moments[-1] - moments[0] > limit_ns:
        _reject(
            f"by its clock the job took {(moments[-1] - moments[0]) / 1e9:.4g} s, longer than by the clock of Assay"
        )


def _check_bye(log: EventLog, job: Job) -> None:
    if log.bye is None or str(log.bye.status) != "ok":
        return
    for number, phase in enumerate(job.phases):
        end = log.ends.get(number)
        name = f"phase {number} ({phase.operation})"
        if end is None:
            _reject(f"it ended without an error, but {name} never ended")
        if str(end.status) not in ENDED:
            _reject(f"it ended without an error, but {name} is {end.status}")
        failures = sum(tally.count for tally in end.errors)
        if failures or log.errors.get(number):
            _reject(f"it ended without an error, but {name} had {failures or 'some'} failures")
