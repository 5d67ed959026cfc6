"""Rules about the rate over the time of a phase.

As in `assay.judge.rules`, a rule returns a finding, None (all is well) or `NotEvaluated`. Most repeats must agree: a
single odd repeat is for `unstable` to report.
"""

from statistics import median, quantiles

from assay.judge.answer import MEMORY_ITSELF, Answer, NotApplicable, NotEvaluated, percent
from assay.judge.tenant import disturbance
from assay.model.result.course import Course, RateChange
from assay.model.result.evidence import Evidence
from assay.model.result.observations import BlockDeviceUse
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.names import WRITES, is_counted
from assay.model.units import about_number, about_size

RANGE_SHARE, SLOPE_SHARE = 0.20, 0.10
"""Limits of a steady state: range of the rate over the window, and its slope, as shares of its mean."""
LOWER = 0.8
"""A plateau is lower if its rate is at most this share of the one before."""
CHANCE = 0.05
FLAT = 0.05
MAX_FLAT = 0.1
"""Greatest range of the middle half of the intervals or repeats of a limited rate, as a share of their median."""
FULL_SHARE = 0.5
"""A device with a request for less of the time is not full; nor is a client with less than this share of CPU time."""
REACHED = 0.9
"""Least share of the data that must come from the device, or go to it."""
WAITING_RATIO = 2.0
"""Least ratio of the time of operations to the time that the device needs for its requests."""
MIN_WAIT_NS = 100_000
"""Minimum wait: waking up a thread takes a machine up to some ten microseconds."""
MIN_WAIT_BELOW_NS = 500_000
"""Minimum wait below a loop device, which passes requests through a kernel thread to the device below."""
LACKED_CPU_SHARE = 0.02
"""If lanes lack a CPU for a smaller share of the time, the rate does not vary much because of it."""
WINDOWS = 5
"""Number of windows in the definition of steady state."""
MIN_REPEATS = 3
MIN_INTERVALS = 5
MIN_OPERATIONS = 125
"""25 in each of the five windows, so that one more or less in a window is 4 %."""

TOO_FEW = NotEvaluated(
    f"needs phases of at least {MIN_INTERVALS} whole intervals: a longer runtime or a shorter output.interval"
)


def _long(evidence: Evidence) -> list[tuple[Sample, Course]]:
    """Return the repeats whose course is long enough to judge."""
    found = [(sample, sample.course) for sample in evidence.usable if sample.course is not None]
    return [(sample, course) for sample, course in found if course.intervals >= MIN_INTERVALS]


def no_steady_state(evidence: Evidence) -> Answer:
    """Find phases that did not reach a steady state within the measured window.

    In most repeats, the range of the rate over five equal windows exceeds 20 % of the mean, or the least-squares line
    through them gains or loses more than 10 % of it; and the machine is not the cause. Repeats start from the same
    state, so the storage's own behaviour recurs in each: with three repeats or more, the lines must agree within a
    third, which they do not if caused by other load on the machine or below a virtual disk. With fewer repeats, in most
    of them no one else used the device, lanes had a CPU for 90 % of the time, and the rate varies by more than a lack
    of CPU explains. (If lanes had no CPU for a share w of the time, all of it in one window, that window lacks 5 w of
    its rate, and the line gains 4 w.)
    Source: SNIA Solid State Storage Performance Test Specification 2.0, definition of steady state.
    """
    if evidence.case.parameters.rate is not None:
        return NotApplicable("the study itself sets the rate")
    if evidence.usable and median(sample.ops for sample in evidence.usable) < MIN_OPERATIONS:
        return NotEvaluated(f"needs phases of at least {MIN_OPERATIONS} operations, so that each window has enough")
    every = [(sample, course) for sample, course in _long(evidence) if course.range_share is not None]
    if not every:
        return TOO_FEW if evidence.usable else None
    unsteady = [(sample, course) for sample, course in every if _unsteady(course, 0.0)]
    if 2 * len(unsteady) <= len(every):
        return None
    undisturbed = [(sample, course) for sample, course in unsteady if not disturbance(sample, evidence)]
    own = [(sample, course) for sample, course in undisturbed if _unsteady(course, evidence.no_cpu_share(sample))]
    slopes = [course.slope_share or 0.0 for _, course in unsteady]
    several = len(every) >= MIN_REPEATS
    are_alike = several and abs(median(slopes)) > SLOPE_SHARE and _agree(slopes, 1 / 3, least=2)
    if not are_alike and (several or 2 * len(own) <= len(every)):
        return _inconclusive(evidence, [sample for sample, _ in unsteady])
    spread, slope = median(course.range_share or 0.0 for _, course in unsteady), median(slopes)
    return Finding(
        verdict=Verdict.UNSUSTAINED,
        rule="no_steady_state",
        text=f"no steady state: within a repeat the rate ranges over {percent(spread)} of its mean, and its trend"
        f" {'gains' if slope > 0 else 'loses'} {percent(abs(slope))} from beginning to end",
        remedy="Run longer, or write the device full before (preconditioning), and look at the rate over time.",
        numbers={"range_share": spread, "slope_share": slope},
    )


def _unsteady(course: Course, without_cpu: float) -> bool:
    """Whether the rate varies by more than lanes without a CPU for this share of the time explain."""
    lost = without_cpu / (1 - without_cpu)
    slope = abs(course.slope_share or 0.0)
    return (course.range_share or 0.0) > RANGE_SHARE + WINDOWS * lost or slope > SLOPE_SHARE + (WINDOWS - 1) * lost


def _agree(values: list[float], share: float = 1 / 2, least: int = MIN_REPEATS) -> bool:
    """Whether values lie within a share of their median; within half, three random values do in 2 of 100 cases."""
    return len(values) >= least and max(values) - min(values) <= share * abs(median(values))


def _inconclusive(evidence: Evidence, samples: list[Sample]) -> NotEvaluated:
    """Return why the course of the rate shows nothing about the storage."""
    share = median(evidence.no_cpu_share(sample) for sample in samples)
    reasons = [reason for sample in samples if (reason := disturbance(sample, evidence))]
    lacked = (
        f"threads lacked a CPU {percent(share)} of the time"
        if share >= LACKED_CPU_SHARE
        else "each repeat behaves differently"
    )
    why = max(reasons, key=reasons.count, default=lacked)
    return NotEvaluated(
        f"the rate varies within repeats, and storage and machine cannot be told apart as the cause: {why}"
    )


def bursting(evidence: Evidence) -> Answer:
    """Find a change from a higher to a lower plateau during the phase: credits or a cache in the storage ran out.

    In most repeats, the rate falls to at most 80 % of the plateau before; or a repeat begins at several times the rate
    of all its later intervals, too briefly for a change point. And the machine is not the cause: in most repeats no one
    else used the device, lanes had a CPU for 90 % of the time, and more is missing than if all time without one fell
    after the change; or the changes come at the same time in all repeats.
    Source: change points by E-divisive with means (Matteson and James, A Nonparametric Approach for Multiple Change
    Point Analysis of Multivariate Data, JASA 2014).
    """
    every = _long(evidence)
    if not every:
        return TOO_FEW if evidence.usable else None
    fell = [(sample, drop) for sample, course in every if (drop := _drop(course)) is not None]
    if 2 * len(fell) <= len(every):
        return None
    undisturbed = [(sample, drop) for sample, drop in fell if not disturbance(sample, evidence)]
    own = [
        (sample, drop) for sample, drop in undisturbed if not _explained(drop, sample, evidence.no_cpu_share(sample))
    ]
    if 2 * len(own) <= len(every) and not _agree([float(drop.at_ns) for _, drop in fell]):
        return _inconclusive(evidence, [sample for sample, _ in fell])
    at, before, after = (
        median(drop.at_ns for _, drop in fell),
        median(drop.before for _, drop in fell),
        median(drop.after for _, drop in fell),
    )
    return Finding(
        verdict=Verdict.BURSTING,
        rule="bursting",
        text=f"after {about_number(at / 1e9)} s the rate fell from {_rate(before, evidence)} to"
        f" {_rate(after, evidence)}:"
        " the first is a burst",
        remedy="Run longer and take the lower plateau as the storage's rate; state with it how long the burst lasts.",
        numbers={"at_s": at / 1e9, "before_per_s": before, "after_per_s": after},
    )


def _drop(course: Course) -> RateChange | None:
    """Return the change to a lower plateau from which the rate does not recover, or the burst at the beginning."""
    for number, change in enumerate(course.changes):
        rest = [change.after, *(later.after for later in course.changes[number + 1 :])]
        if change.p <= CHANCE and max(rest) <= LOWER * change.before:
            return change
    return course.opening


def _explained(drop: RateChange, sample: Sample, without_cpu: float) -> bool:
    """Whether a lack of CPU explains what is missing after the drop."""
    left = max(0, sample.elapsed_ns - drop.at_ns)
    return 0 < left * (drop.before - drop.after) <= without_cpu * sample.elapsed_ns * drop.before


def _rate(value: float, evidence: Evidence) -> str:
    return f"{value:,.4g} operations/s" if is_counted(evidence.operation) else f"{about_size(value)}/s"


def throttled(evidence: Evidence) -> Answer:
    """Find a rate that is limited although neither a device below nor the client is full.

    In most repeats of a closed loop: the data does come from or go to the device, but the device has a request less
    than half of the time; operations (and the flush, where data goes through the page cache) take at least twice as
    long as all requests spend in the device, and at least 100 us longer each; the engine works, or waits for a CPU,
    less than half of the time. And the rate is flat (the middle half within 5 % of the median): in the intervals, or
    over three repeats or more, give or take one operation, where records are too large for intervals to show it. So
    operations wait before the device: at a limit of a cgroup (blkio, io.max), of a device-mapper target, or of a queue.
    The rule does not apply where each write is flushed. It examines each level of devices, from the uppermost down:
    requests delayed by a limit on the disk wait in the loop device above it, which then looks full.
    Source: the device's counts (iostats of the kernel); Little's law: operations in flight but not in the device wait.
    """
    if evidence.has_no_storage or evidence.case.is_metadata or not evidence.usable:
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    if evidence.case.parameters.rate is not None:
        return NotApplicable("the study itself sets the rate")
    each_flushed = evidence.operation in WRITES and evidence.case.parameters.sync in ("o_sync", "o_dsync")
    if each_flushed and any(sample.block is None or sample.block.flushes != 0 for sample in evidence.usable):
        return NotEvaluated("each write waits for a flush, whose time the kernel does not count as the device's")
    samples = [item for item in evidence.usable if item.block is not None and item.latency and item.elapsed_ns > 0]
    if not samples:
        return NotEvaluated("no block device below that counts its requests")
    answers = [
        _throttled_at(samples, level, evidence)
        for level in range(min(len(evidence.device_uses(item)) for item in samples))
    ]
    return next((answer for answer in answers if isinstance(answer, Finding)), answers[0])


def _throttled_at(samples: list[Sample], level: int, evidence: Evidence) -> Answer:
    """Judge whether something limits the rate between the devices of a level and the level above."""
    uses = {sample.repeat: evidence.device_uses(sample)[level] for sample in samples}
    long = [sample for sample in samples if sample.course and sample.course.intervals >= MIN_INTERVALS]
    least = MIN_WAIT_NS if level == 0 else MIN_WAIT_BELOW_NS
    idle = [sample for sample in samples if _waits(sample, uses[sample.repeat].use, least, evidence)]
    if long and not idle:
        return None
    limited = [sample for sample in idle if sample in long and _flatness(sample) <= FLAT]
    repeated = _repeat_flatness(samples)
    one = 1 / max(median(sample.ops for sample in samples), 1)
    if 2 * len(limited) > len(long):
        flat, words = median(map(_flatness, limited)), "intervals vary"
    elif repeated is not None and repeated <= min(FLAT + one, MAX_FLAT) and 2 * len(idle) > len(samples):
        limited, flat, words = idle, repeated, "repeats vary"
    elif repeated is None and not long:
        return NotEvaluated(f"needs {MIN_REPEATS} repeats, or phases of at least {MIN_INTERVALS} whole intervals")
    else:
        return None
    busy = median(uses[sample.repeat].use.busy_ns / sample.elapsed_ns for sample in limited)
    waited = median(_waiting(sample, uses[sample.repeat].use, evidence) for sample in limited)
    below = uses[samples[0].repeat].names if level else ""
    device = f"the device below ({below})" if below else "the device"
    return Finding(
        verdict=Verdict.THROTTLED,
        rule="throttled",
        text=f"the rate is held flat ({words} by {percent(flat)}) while {device} is busy only {percent(busy)} of the"
        f" time; operations take {about_number(waited)} times as long as the device needs for them",
        remedy=f"Look for a limit above {below or 'the device'}: cgroup blkio.throttle or io.max, a device-mapper"
        " target, a quota.",
        numbers={"rate_variation": flat, "device_busy_share": busy, "latency_to_device_time": waited},
    )


def _waits(sample: Sample, block: BlockDeviceUse, min_ns: int, evidence: Evidence) -> bool:
    """Whether operations wait, though neither for the device nor for a CPU."""
    if block.busy_ns >= FULL_SHARE * sample.elapsed_ns or _waiting(sample, block, evidence) < WAITING_RATIO:
        return False
    if block.read_bytes + block.write_bytes < REACHED * sample.bytes:
        return False
    fewest = max(min(sample.ops, block.reads + block.writes), 1)
    if _pending_ns(sample, evidence) - block.read_ns - block.write_ns < min_ns * fewest:
        return False
    cpus = max(evidence.lane_cpus(sample), 1)
    working = (sample.cpu_user_ns + sample.cpu_system_ns) / (sample.elapsed_ns * cpus)
    return working + evidence.no_cpu_share(sample) < FULL_SHARE


def _repeat_flatness(samples: list[Sample]) -> float | None:
    """Return the range of the middle half of the repeats, as a share of their median; None with too few repeats."""
    if len(samples) < MIN_REPEATS:
        return None
    lower, middle, upper = quantiles((sample.rate for sample in samples), method="inclusive")
    return (upper - lower) / middle if middle > 0 else None


def _flatness(sample: Sample) -> float:
    """Return the variation of the intervals, by their middle half: short stalls make only a few intervals odd."""
    course = sample.course
    assert course is not None
    return course.variation if course.middle_range is None else course.middle_range


def _pending_ns(sample: Sample, evidence: Evidence) -> float:
    """Return the total time of operations, with the flush where the flush brings the data to the device.

    A flush of data that bypassed the page cache is internal to the device, which counts no request for it.
    """
    operations = sample.ops * sample.latency["mean"]
    in_order = evidence.operation in WRITES and evidence.operation not in ("random_write", "random_mix")
    return operations + (sample.flush_ns if in_order and not evidence.bypasses_cache else 0)


def _waiting(sample: Sample, block: BlockDeviceUse, evidence: Evidence) -> float:
    """Return the ratio of the time of operations to the time of requests in the device."""
    # The kernel counts in milliseconds: shorter times are counted as 0.
    least = 1000.0 * (block.reads + block.writes)
    return _pending_ns(sample, evidence) / max(block.read_ns + block.write_ns, least, 1.0)
