"""Whether what an engine said of a job can be true.

An engine is another program, maybe on another machine: it can be broken, replaced or malicious. What contradicts the
job, itself or the clock of this machine is not made a result of. Whatever passes can be computed with: each number fits
where it is kept, and nothing that is counted or allotted by it is out of proportion to the job.
"""

from collections.abc import Iterable, Sequence
from typing import NoReturn

from assay.analyse import histograms
from assay.analyse.samples import Heard, listen
from assay.contract._generated import FaultDomain, Job
from assay.contract.bounds import largest_operation, only_reads
from assay.contract.counts import Counted, by_kind, moved, operations, progress
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
from assay.contract.parts import HEADER
from assay.contract.reader import BrokenLine
from assay.model.base import AssayError
from assay.model.foreign import plain
from assay.model.result.objects import ExistingObjects
from assay.model.result.sample import Sample
from assay.model.study.names import DATA
from assay.model.units import about_number

CLOCK_SHARE = 0.05
"""Two clocks of one machine or of two differ by far less."""
CLOCK_NS = 2 * 10**9
"""And by so much at once, set by hand."""
CODES = {FaultDomain.os: range(1, 4096), FaultDomain.http: range(100, 600)}
"""Codes that there are, of those who have few: MAX_ERRNO of the kernel's include/linux/err.h; RFC 9110 section 15."""
STEP = 0.002
"""A histogram of three significant digits tells values apart that differ by less."""
ENDED = ("done", "time_limit")
MOST = 2**64 - 1
"""Whatever an engine counts."""


class UnbelievableError(Exception):
    """What an engine said cannot be."""


def believe(events: Iterable[object], job: Job, seconds: float | None = None) -> Heard:
    """What the events of one engine say, if all of it can be true.

    Args:
        events: What `assay.contract.reader` read; a line that is no event is passed over.
        job: As it was sent to the engine.
        seconds: How long the exchange took by our clock; None if unknown.

    Raises:
        UnbelievableError: Something cannot be; the text is one line.
    """
    listed = []
    for event in events:
        if not isinstance(event, BrokenLine):
            listed.append(event)
        elif event.text.startswith(HEADER):
            _no("it spoke in the name of a host")
    _check_order(listed, job)
    heard = listen(listed)
    most = None if seconds is None else int(seconds * 1e9 * (1 + CLOCK_SHARE)) + CLOCK_NS
    if heard.hello is not None:
        _check_hello(heard.hello, job)
    if heard.existing is not None:
        _check_existing(heard.existing, job)
    for number, end in heard.ends.items():
        _check_end(number, end, heard, job, most)
    for number, intervals in heard.intervals.items():
        _check_intervals(number, intervals, heard, job, most)
    for number, samples in heard.errors.items():
        for sample in samples:
            _check_failure(number, sample, job)
    _check_times(heard, most)
    _check_bye(heard, job)
    return heard


def check_together(started: Sequence[dict[int, int]], seconds: float | None) -> None:
    """Look whether engines of one job started each phase within the time that they had for all.

    Args:
        started: Of each engine, number of a phase -> when it started, on the controller's clock.
        seconds: How long the exchange took; None if unknown.

    Raises:
        UnbelievableError: They did not.
    """
    most = None if seconds is None else int(seconds * 1e9 * (1 + CLOCK_SHARE)) + CLOCK_NS
    for number in {number for one in started for number in one}:
        times = [one[number] for one in started if number in one]
        if most is not None and max(times) - min(times) > most:
            _no(
                f"phase {number} began on one host {about_number((max(times) - min(times)) / 1e9)} s after it did"
                " on another"
            )


def nothing_done(samples: Iterable[Sample]) -> str:
    """Why a repeat that ended well is no result: a phase in which nothing was done; empty if there is none."""
    first = next((sample for sample in samples if sample.idle), None)
    if first is None:
        return ""
    return f"phase {first.phase} ({first.operation}) ended without an operation, and without a failure"


def _no(what: str) -> NoReturn:
    raise UnbelievableError(plain(what))


def _check_order(events: Sequence[object], job: Job) -> None:
    begun: set[int] = set()
    ended: set[int] = set()
    greeted = left = False
    for event in events:
        match event:
            case HelloEvent():
                if greeted:
                    _no("it said hello twice")
                greeted = True
                continue
            case ByeEvent():
                if left or not greeted:
                    _no("it took its leave twice" if left else "it took its leave before it said hello")
                left = True
        phase = getattr(event, "phase", None)
        if left and phase is not None:
            _no(f"it spoke of phase {phase} after it had taken its leave")
        if not greeted and phase is not None:
            _no(f"it spoke of phase {phase} before it said hello")
        if phase is not None and phase >= len(job.phases):
            _no(f"phase {phase} of a job with {len(job.phases)} phases")
        _check_phase_order(event, begun, ended)


def _check_phase_order(event: object, begun: set[int], ended: set[int]) -> None:
    match event:
        case PhaseStartEvent():
            if event.phase in begun or event.phase in ended or any(number > event.phase for number in begun | ended):
                _no(f"phase {event.phase} began twice, or after a later one")
            begun.add(event.phase)
        case PhaseEndEvent():
            if event.phase in ended or any(number > event.phase for number in ended):
                _no(f"phase {event.phase} ended twice, or after a later one")
            if event.phase not in begun and (event.lanes or str(event.status) in ENDED):
                _no(f"phase {event.phase} ended before it began")
            ended.add(event.phase)
        case IntervalEvent():
            if event.phase not in begun or event.phase in ended:
                _no(f"an interval of phase {event.phase}, which was not under way")
        case _:
            pass


def _check_hello(hello: HelloEvent, job: Job) -> None:
    if hello.job != job:
        differing = [name for name in type(job).model_fields if getattr(hello.job, name) != getattr(job, name)]
        _no(f"it was given another job than it says: {', '.join(differing)} differ")


def _check_existing(found: ExistingObjects, job: Job) -> None:
    """What was drawn of a list is no more than what is in it, and than the job's lanes have room for."""
    lanes, each = job.lanes * (job.ranks or 1), 0 if job.objects is None else job.objects.count
    if not only_reads(job) or not lanes <= found.objects <= min(found.listed, lanes * each):
        _no(f"{found.objects} of {found.listed} objects that were there before, for {lanes} lanes")
    sizes = (0, found.smallest_bytes, found.median_bytes, found.largest_bytes, found.bytes, found.listed_bytes, MOST)
    bounds = (found.smallest_bytes * found.objects, found.bytes, found.largest_bytes * found.objects)
    if any(list(one) != sorted(one) for one in (sizes, bounds)):
        _no(f"objects that were there before, of {found.smallest_bytes} to {found.largest_bytes} bytes, do not add up")


def _check_end(number: int, end: PhaseEndEvent, heard: Heard, job: Job, most: int | None) -> None:
    phase, name = job.phases[number], f"phase {number} ({job.phases[number].operation})"
    if (end.operation, end.measured) != (phase.operation, phase.measured):
        _no(f"{name} ended as {end.operation}")
    start = heard.starts.get(number)
    if start is not None and (start.operation, start.measured) != (phase.operation, phase.measured):
        _no(f"{name} began as {start.operation}")
    _check_once(name, end.operations)
    _check_windows(name, end, most)
    _check_lanes(name, end, job, most)
    largest = heard.existing.largest_bytes if heard.existing else largest_operation(job)
    _check_set(name, end, job)
    for of_kind in end.operations:
        _check_kind(name, of_kind, largest if phase.measured else None)
    if end.start_delay is not None:
        _check_latency(f"{name}: delays", end.start_delay)
    if end.watch is not None:
        _check_watch(f"{name}: its watch", end.watch, most)
    for tally in end.errors:
        _check_fault(name, tally.fault)


def _check_set(name: str, end: PhaseEndEvent, job: Job) -> None:
    """A phase that went once over a set of files, without failure, has opened, moved and closed each of them whole."""
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
        _no(f"{name}: {opened} files opened and {closed} closed, of {files}")
    if job.sizes is None and not mixed and moved(end.operations) != files * job.file_size_bytes:
        _no(f"{name}: {moved(end.operations)} bytes of {files} files of {job.file_size_bytes}")


def _check_once(name: str, counts: Iterable[Counted]) -> None:
    if doubled := next((group for group in by_kind(counts) if len(group) > 1), None):
        _no(f"{name}: {doubled[0].operation.value} is counted twice")


def _check_kind(name: str, counts: OpTotals, most: int | None) -> None:
    """What one kind of operation did in a phase, each of so many bytes at most; None where that is not known."""
    kind = counts.operation.value
    if most is not None and counts.bytes > counts.ops * most:
        _no(f"{name}: {counts.bytes} bytes in {counts.ops} {kind} operations of {most} bytes")
    if counts.latency is None and counts.ops:
        _no(f"{name}: {counts.ops} {kind} operations without latencies")
    told = {
        "latencies": counts.latency,
        "times of first bytes": counts.first_byte,
        "latencies of repeated fetches": counts.repeated,
    }
    for what, summary in told.items():
        if summary is None:
            continue
        _check_latency(f"{name}: {what} of {kind}", summary)
        # An operation may fail after its first byte has come, and one that has no bytes has no first one.
        least = counts.ops if summary is counts.latency else 0
        if not least <= summary.count <= counts.ops + counts.errors:
            _no(f"{name}: {summary.count} {what} of {counts.ops} {kind} operations")


def _check_watch(name: str, watch: Watch, most: int | None) -> None:
    """Points of a grid lie that far apart, and stalls, each longer than that, do not overlap."""
    _check_latency(name, watch.lateness)
    if watch.interval_ns < 1 or watch.lateness.count * watch.interval_ns > watch.elapsed_ns:
        _no(f"{name}: {watch.lateness.count} points, {watch.interval_ns} ns apart, in {watch.elapsed_ns} ns")
    if most is not None and max(watch.elapsed_ns, watch.cpu_ns) > most:
        _no(f"{name} took longer than the whole job")
    if not watch.stalls * watch.interval_ns <= watch.stalled_ns <= watch.elapsed_ns:
        _no(f"{name}: {watch.stalls} stalls of {watch.stalled_ns} ns together in {watch.elapsed_ns} ns")
    if not watch.longest_ns <= watch.stalled_ns <= watch.longest_ns * watch.stalls:
        _no(f"{name}: {watch.stalls} stalls of at most {watch.longest_ns} ns make {watch.stalled_ns} ns")
    if (watch.away_ns or 0) > watch.stalled_ns:
        _no(f"{name}: away for {watch.away_ns} ns of {watch.stalled_ns} ns")


def _check_windows(name: str, end: PhaseEndEvent, most: int | None) -> None:
    done, last = progress(end.operations, end.operation.value in DATA), end.last_finisher
    ops = operations(done)
    if (last.ops, last.bytes) != (ops, moved(done)):
        _no(f"{name}: {last.ops} operations in all of its time, {ops} by kind")
    for what, window in (("first lane", end.first_finisher), ("steady", end.steady), ("last lane", last)):
        if window is not None:
            _check_window(f"{name}: window of the {what}", window, last)
    if most is not None and last.end_ns > most:
        _no(f"{name} took {last.end_ns / 1e9:.4g} s, longer than the whole job")


def _check_window(name: str, window: Window, whole: Window) -> None:
    if not whole.start_ns <= window.start_ns <= window.end_ns <= whole.end_ns:
        _no(f"{name} ends before it begins, or lies outside of the phase")
    if window.ops > whole.ops or window.bytes > whole.bytes:
        _no(f"{name} has more in it than the phase")


def _check_lanes(name: str, end: PhaseEndEvent, job: Job, most: int | None) -> None:
    rank, ranks = job.rank or 0, job.ranks or 1
    own = range(rank * job.lanes, (rank + 1) * job.lanes)
    numbers = [lane.lane for lane in end.lanes]
    if len(set(numbers)) < len(numbers) or any(number not in own for number in numbers):
        _no(f"{name}: a lane twice, or one that the job with {job.lanes} lanes on {ranks} hosts does not have here")
    whole = len(numbers) == job.lanes
    if str(end.status) in ENDED and not whole:
        _no(f"{name}: {len(numbers)} of {job.lanes} lanes ended")
    for lane in end.lanes:
        if lane.start_ns > lane.end_ns or lane.end_ns > end.last_finisher.end_ns:
            _no(f"{name}: lane {lane.lane} ends before it begins, or after the phase")
        if lane.cpu_wait_ns is not None and most is not None and lane.cpu_wait_ns > most:
            _no(f"{name}: lane {lane.lane} waited for a CPU for longer than the whole job took")
        _check_once(f"{name}: lane {lane.lane}", lane.operations)
    told = [counts for lane in end.lanes for counts in lane.operations]
    _check_parts(f"{name}: {{}} of all lanes", end.operations, told, whole)


def _check_parts(name: str, totals: Sequence[OpTotals], told: Iterable[Counted], whole: bool) -> None:
    """Whether parts of a phase make no more than all of it, or, if they are `whole`, neither more nor less.

    Args:
        name: What the parts are, with a place for the kind.
        totals: Of the phase.
        told: Of the parts.
        whole: No part is missing.
    """
    parts = {group[0].operation: group for group in by_kind(told)}
    for kind in {total.operation for total in totals} | set(parts):
        own = [total for total in totals if total.operation == kind]
        of, all_of = _counted_up(parts.get(kind, ())), _counted_up(own)
        if of != all_of if whole else any(part > total for part, total in zip(of, all_of, strict=True)):
            _no(f"{name.format(kind.value)} {of[0]} operations, of the phase {all_of[0]}")


def _counted_up(counts: Iterable[Counted]) -> tuple[int, int, int]:
    listed = list(counts)
    return operations(listed), moved(listed), sum(of_kind.errors for of_kind in listed)


def _check_latency(name: str, summary: LatencySummary) -> None:
    tail = [summary.min_ns, summary.p50_ns, summary.p90_ns, summary.p99_ns, summary.p999_ns, summary.p9999_ns]
    # The mean is of the middles of the histogram's steps, of which the least and the greatest are bounds.
    mean_fits = summary.min_ns * (1 - STEP) - 1 <= summary.mean_ns <= summary.max_ns * (1 + STEP) + 1
    if tail != sorted(tail) or tail[-1] > summary.max_ns or not mean_fits:
        _no(f"{name}: a percentile is greater than a higher one")
    if _counted(name, summary.histogram) != summary.count or not summary.count:
        _no(f"{name}: the histogram does not have the {summary.count} values that it says")


def _counted(name: str, text: str) -> int:
    try:
        histogram = histograms.decode(text)
    except AssayError as error:
        _no(f"{name}: {error.message}")
    if (histogram.lowest, histogram.digits) != (1, 3):
        _no(f"{name}: a histogram of another resolution than that of all engines")
    return histogram.total


def _check_intervals(number: int, intervals: Sequence[IntervalEvent], heard: Heard, job: Job, most: int | None) -> None:
    name = f"phase {number} ({job.phases[number].operation})"
    for event in intervals:
        if event.start_ns != event.index * job.interval_ns or not 0 < event.end_ns - event.start_ns <= job.interval_ns:
            _no(f"{name}: interval {event.index} is not where it should be")
        if most is not None and event.start_ns > most:
            _no(f"{name}: interval {event.index} begins after the end of the whole job")
        where = f"{name}: interval {event.index}"
        _check_once(where, event.operations)
        _check_earlier(where, event)
        for counts in event.operations:
            for text in (counts.latency, counts.first_byte):
                if text is not None and _counted(where, text) < counts.ops:
                    _no(f"{where} has fewer latencies than {counts.operation.value} operations")
    end = heard.ends.get(number)
    if end is not None:
        told = [counts for event in intervals for counts in event.operations]
        _check_parts(f"{name}: {{}} of all intervals", end.operations, told, whole=False)


def _check_earlier(where: str, event: IntervalEvent) -> None:
    """What was done before an interval is a part of what ended in it. Sums of parts are not exact."""
    parts = event.earlier or ()
    if any(not part.from_ < part.to <= event.index or min(part.ops, part.bytes) < 0 for part in parts):
        _no(f"{where} tells of what was done before in intervals that are not before it")
    ops = sum(counts.ops for counts in event.operations)
    moved = sum(counts.bytes for counts in event.operations)
    for most, all_of in ((ops, [part.ops for part in parts]), (moved, [part.bytes for part in parts])):
        done = sum(each * (part.to - part.from_) for each, part in zip(all_of, parts, strict=True))
        if not done <= most * (1 + 1e-9) + 1e-6:
            _no(f"{where} has less in it than what of it was done before")


def _check_failure(number: int, sample: ErrorSampleEvent, job: Job) -> None:
    _check_fault(f"phase {number}", sample.fault)
    if sample.lane is not None and sample.lane >= job.lanes * (job.ranks or 1):
        _no(f"phase {number}: a failure of lane {sample.lane}, which the job does not have")


def _check_fault(name: str, fault: Fault | None) -> None:
    known = CODES.get(fault.domain) if fault is not None else None
    if fault is not None and known is not None and fault.code not in known:
        whose = "" if fault.domain is FaultDomain.os else f" of {fault.domain.value}"
        _no(f"{name}: there is no error number {fault.code}{whose}")


def _check_times(heard: Heard, most: int | None) -> None:
    """Moments of the engine's own clock, one after the other, within the time that the job took."""
    if heard.hello is None:
        return
    moments = [heard.hello.mono_ns, *(heard.starts[number].at_ns for number in sorted(heard.starts))]
    # A start is said beforehand, and may never come if the job is stopped.
    left = moments[-1] if heard.bye is None else heard.bye.at_ns
    if moments != sorted(moments) or left < moments[-1] - CLOCK_NS:
        _no("its clock went back")
    if most is not None and moments[-1] - moments[0] > most:
        _no(f"by its clock the job took {(moments[-1] - moments[0]) / 1e9:.4g} s, longer than by ours")


def _check_bye(heard: Heard, job: Job) -> None:
    if heard.bye is None or str(heard.bye.status) != "ok":
        return
    for number, phase in enumerate(job.phases):
        end = heard.ends.get(number)
        name = f"phase {number} ({phase.operation})"
        if end is None:
            _no(f"it ended well, but {name} never ended")
        if str(end.status) not in ENDED:
            _no(f"it ended well, but {name} is {end.status}")
        failures = sum(tally.count for tally in end.errors)
        if failures or heard.errors.get(number):
            _no(f"it ended well, but {name} had {failures or 'some'} failures")
