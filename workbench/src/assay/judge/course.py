"""The rules about how the rate went while a phase lasted.

As in `assay.judge.rules`: evidence in; a finding, nothing (all is well) or `NotEvaluated` out. Most repeats must agree:
one odd repeat is for `unstable` to say.
"""

from statistics import median, quantiles

from assay.judge.answer import MEMORY_ITSELF, Answer, NotApplicable, NotEvaluated, percent
from assay.judge.tenant import disturbed
from assay.model.result.course import Change, Course
from assay.model.result.evidence import Evidence
from assay.model.result.sample import Sample
from assay.model.result.seen import BlockDeviceUse
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.names import WRITES, is_counted
from assay.model.units import about_number, about_size

RANGE_SHARE, SLOPE_SHARE = 0.20, 0.10
"""Steady state: greatest range of the rate over the window, greatest slope, as shares of its mean."""
LOWER = 0.8
"""A plateau is lower if its rate is at most this share of the one before."""
CHANCE = 0.05
FLAT = 0.05
MOST_FLAT = 0.1
"""Range of the middle half of the intervals, or of the repeats, of a rate that something holds, as a share of their
median."""
IDLE = 0.5
"""A device is not full below this share of the time with a request in it; a client, below this share of CPU time."""
REACHED = 0.9
"""At least this share of the data comes from the device, or goes to it."""
WAITING = 2.0
"""Operations take at least this many times as long as the device needs for its requests."""
LEAST_WAIT_NS = 100_000
"""It takes a machine up to some ten microseconds to wake up who waited."""
LEAST_WAIT_BELOW_NS = 500_000
"""Requests are handed from a loop device to a thread of the kernel, and from that to the device below."""
LACKED = 0.02
"""For want of a CPU for less of the time a rate does not go up and down by much."""
WINDOWS = 5
"""Of the definition of steady state."""
LEAST_REPEATS = 3
LEAST_INTERVALS = 5
LEAST_OPERATIONS = 125
"""25 in each of the five windows, so that one more or less in a window is 4 %."""

TOO_FEW = NotEvaluated(
    f"needs phases of at least {LEAST_INTERVALS} whole intervals: a longer runtime or a shorter output.interval"
)


def _long(evidence: Evidence) -> list[tuple[Sample, Course]]:
    """Repeats whose course can be judged."""
    found = [(sample, sample.course) for sample in evidence.usable if sample.course is not None]
    return [(sample, course) for sample, course in found if course.intervals >= LEAST_INTERVALS]


def no_steady_state(evidence: Evidence) -> Answer:
    """No steady state inside the window that was measured.

    In most repeats, the range of the rate over five equal windows exceeds 20 % of the mean, or the least-squares
    line through them gains or loses more than 10 % of it. And it is not the machine's doing. Repeats begin alike,
    so that what a store does by itself comes again in each: of three repeats or more the lines must agree within a
    third, which those of what else runs on a machine, or below a virtual disk, do not. Of fewer, in most repeats
    nobody else used the device, lanes had a CPU for 90 % of the time, and the rate moves by more than for want of
    one (if lanes had none for a share w of the time, all of it in one window, that window lacks 5 w of its rate,
    and the line gains 4 w).
    Source: SNIA Solid State Storage Performance Test Specification 2.0, definition of steady state.
    """
    if evidence.case.parameters.rate is not None:
        return NotApplicable("the study itself sets the rate")
    if evidence.usable and median(sample.ops for sample in evidence.usable) < LEAST_OPERATIONS:
        return NotEvaluated(f"needs phases of at least {LEAST_OPERATIONS} operations, so that each window has enough")
    every = [(sample, course) for sample, course in _long(evidence) if course.range_share is not None]
    if not every:
        return TOO_FEW if evidence.usable else None
    unsteady = [(sample, course) for sample, course in every if _unsteady(course, 0.0)]
    if 2 * len(unsteady) <= len(every):
        return None
    alone = [(sample, course) for sample, course in unsteady if not disturbed(sample, evidence)]
    own = [(sample, course) for sample, course in alone if _unsteady(course, evidence.without_cpu(sample))]
    slopes = [course.slope_share or 0.0 for _, course in unsteady]
    several = len(every) >= LEAST_REPEATS
    alike = several and abs(median(slopes)) > SLOPE_SHARE and _agree(slopes, 1 / 3, least=2)
    if not alike and (several or 2 * len(own) <= len(every)):
        return _machine(evidence, [sample for sample, _ in unsteady])
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
    """The rate moves by more than lanes do that have no CPU for this share of the time."""
    lost = without_cpu / (1 - without_cpu)
    slope = abs(course.slope_share or 0.0)
    return (course.range_share or 0.0) > RANGE_SHARE + WINDOWS * lost or slope > SLOPE_SHARE + (WINDOWS - 1) * lost


def _agree(values: list[float], share: float = 1 / 2, least: int = LEAST_REPEATS) -> bool:
    """Values that lie within a share of their median; within half, three that mean nothing do in 2 of 100 cases."""
    return len(values) >= least and max(values) - min(values) <= share * abs(median(values))


def _machine(evidence: Evidence, samples: list[Sample]) -> NotEvaluated:
    """Why the course of the rate tells nothing of the store."""
    share = median(evidence.without_cpu(sample) for sample in samples)
    reasons = [reason for sample in samples if (reason := disturbed(sample, evidence))]
    lacked = f"threads had no CPU {percent(share)} of the time" if share >= LACKED else "each repeat goes another way"
    why = max(reasons, key=reasons.count, default=lacked)
    return NotEvaluated(
        f"the rate goes up and down within repeats, and nothing tells the store from the machine: {why}"
    )


def bursting(evidence: Evidence) -> Answer:
    """A change from a higher to a lower plateau while the phase lasted: credits or a cache in the store ran out.

    In most repeats, to 80 % of the plateau before or less; or a repeat begins at several times the rate of all its
    later intervals, for less time than a change point can be found in. And it is not the machine's doing: in most
    repeats nobody else used the device, lanes had a CPU for 90 % of the time, and more is missing than if all time
    without one fell after the change; or the changes come at the same time in all repeats.
    Source: change points by E-divisive with means (Matteson and James, A Nonparametric Approach for Multiple Change
    Point Analysis of Multivariate Data, JASA 2014).
    """
    every = _long(evidence)
    if not every:
        return TOO_FEW if evidence.usable else None
    fell = [(sample, drop) for sample, course in every if (drop := _drop(course)) is not None]
    if 2 * len(fell) <= len(every):
        return None
    alone = [(sample, drop) for sample, drop in fell if not disturbed(sample, evidence)]
    own = [(sample, drop) for sample, drop in alone if not _explained(drop, sample, evidence.without_cpu(sample))]
    if 2 * len(own) <= len(every) and not _agree([float(drop.at_ns) for _, drop in fell]):
        return _machine(evidence, [sample for sample, _ in fell])
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
        remedy="Run longer and take the lower plateau as the store's rate; say beside it how long the burst lasts.",
        numbers={"at_s": at / 1e9, "before_per_s": before, "after_per_s": after},
    )


def _drop(course: Course) -> Change | None:
    """The change to a lower plateau from which the rate does not come back, or a burst that it begins with."""
    for number, change in enumerate(course.changes):
        rest = [change.after, *(later.after for later in course.changes[number + 1 :])]
        if change.p <= CHANCE and max(rest) <= LOWER * change.before:
            return change
    return course.opening


def _explained(drop: Change, sample: Sample, without_cpu: float) -> bool:
    """What is missing after the drop is no more than what was lost for want of a CPU."""
    left = max(0, sample.elapsed_ns - drop.at_ns)
    return 0 < left * (drop.before - drop.after) <= without_cpu * sample.elapsed_ns * drop.before


def _rate(value: float, evidence: Evidence) -> str:
    return f"{value:,.4g} operations/s" if is_counted(evidence.operation) else f"{about_size(value)}/s"


def throttled(evidence: Evidence) -> Answer:
    """Something holds the rate although neither a device below nor the client is full.

    In most repeats of a closed loop: the data does come from or go to the device, but the device has a request less
    than half of the time; operations (and the flush, where data goes through the page cache) take at least twice as
    long as all requests spend in the device, and at least 100 us longer each; the engine works, or waits for a CPU,
    less than half of the time. And the rate is flat (the middle half within 5 % of the median): in the intervals, or
    over three repeats or more, but for one operation, where records are too large for intervals to tell. So operations
    wait before the device: at a limit of a cgroup (blkio, io.max), of a device-mapper target, or of a queue. Not judged
    where each write is flushed. Each level of devices is looked at, from the uppermost down: what a limit on the disk
    holds back waits in the loop device above it, which then looks full.
    Source: the device's counts (iostats of the kernel); Little's law: what is in flight and not in the device, waits.
    """
    if evidence.no_storage or evidence.case.metadata or not evidence.usable:
        return None
    if evidence.in_memory:
        return MEMORY_ITSELF
    if evidence.case.parameters.rate is not None:
        return NotApplicable("the study itself holds the rate")
    each_flushed = evidence.operation in WRITES and evidence.case.parameters.sync in ("o_sync", "o_dsync")
    if each_flushed and any(sample.block is None or sample.block.flushes != 0 for sample in evidence.usable):
        return NotEvaluated("each write waits for a flush, whose time the kernel does not count as the device's")
    samples = [item for item in evidence.usable if item.block is not None and item.latency and item.elapsed_ns > 0]
    if not samples:
        return NotEvaluated("no block device below that counts its requests")
    answers = [_held(samples, level, evidence) for level in range(min(len(evidence.uses(item)) for item in samples))]
    return next((answer for answer in answers if isinstance(answer, Finding)), answers[0])


def _held(samples: list[Sample], level: int, evidence: Evidence) -> Answer:
    """Whether something holds the rate before the devices of a level, and behind those of the level above it."""
    uses = {sample.repeat: evidence.uses(sample)[level] for sample in samples}
    long = [sample for sample in samples if sample.course and sample.course.intervals >= LEAST_INTERVALS]
    least = LEAST_WAIT_NS if level == 0 else LEAST_WAIT_BELOW_NS
    idle = [sample for sample in samples if _waits(sample, uses[sample.repeat].use, least, evidence)]
    if long and not idle:
        return None
    held = [sample for sample in idle if sample in long and _flatness(sample) <= FLAT]
    repeated = _repeat_flatness(samples)
    one = 1 / max(median(sample.ops for sample in samples), 1)
    if 2 * len(held) > len(long):
        flat, words = median(map(_flatness, held)), "intervals vary"
    elif repeated is not None and repeated <= min(FLAT + one, MOST_FLAT) and 2 * len(idle) > len(samples):
        held, flat, words = idle, repeated, "repeats vary"
    elif repeated is None and not long:
        return NotEvaluated(f"needs {LEAST_REPEATS} repeats, or phases of at least {LEAST_INTERVALS} whole intervals")
    else:
        return None
    busy = median(uses[sample.repeat].use.busy_ns / sample.elapsed_ns for sample in held)
    waited = median(_waiting(sample, uses[sample.repeat].use, evidence) for sample in held)
    below = uses[samples[0].repeat].names if level else ""
    device = f"the device below ({below})" if below else "the device"
    return Finding(
        verdict=Verdict.THROTTLED,
        rule="throttled",
        text=f"the rate is held flat ({words} by {percent(flat)}) while {device} is busy only {percent(busy)} of the"
        f" time; operations take {about_number(waited)} times as long as it needs for them",
        remedy=f"Look for a limit before {below or 'the device'}: cgroup blkio.throttle or io.max, a device-mapper"
        " target, a quota.",
        numbers={"rate_variation": flat, "device_busy_share": busy, "latency_to_device_time": waited},
    )


def _waits(sample: Sample, block: BlockDeviceUse, least_ns: int, evidence: Evidence) -> bool:
    """Operations wait, though neither for the device nor for a CPU."""
    if block.busy_ns >= IDLE * sample.elapsed_ns or _waiting(sample, block, evidence) < WAITING:
        return False
    if block.read_bytes + block.write_bytes < REACHED * sample.bytes:
        return False
    fewest = max(min(sample.ops, block.reads + block.writes), 1)
    if _pending_ns(sample, evidence) - block.read_ns - block.write_ns < least_ns * fewest:
        return False
    cpus = max(evidence.lane_cpus(sample), 1)
    working = (sample.cpu_user_ns + sample.cpu_system_ns) / (sample.elapsed_ns * cpus)
    return working + evidence.without_cpu(sample) < IDLE


def _repeat_flatness(samples: list[Sample]) -> float | None:
    """Range of the middle half of the repeats, as a share of their median; None with too few."""
    if len(samples) < LEAST_REPEATS:
        return None
    lower, middle, upper = quantiles((sample.rate for sample in samples), method="inclusive")
    return (upper - lower) / middle if middle > 0 else None


def _flatness(sample: Sample) -> float:
    """A machine that stands still now and then makes a few intervals odd, and leaves the rest as they are."""
    course = sample.course
    assert course is not None
    return course.variation if course.middle_range is None else course.middle_range


def _pending_ns(sample: Sample, evidence: Evidence) -> float:
    """Time that operations took, added up; with the flush where that is what brings the data to the device.

    The flush of data that went past the page cache is the device's own, which counts it as no request.
    """
    operations = sample.ops * sample.latency["mean"]
    in_order = evidence.operation in WRITES and evidence.operation not in ("random_write", "random_mix")
    return operations + (sample.flush_ns if in_order and not evidence.bypasses_cache else 0)


def _waiting(sample: Sample, block: BlockDeviceUse, evidence: Evidence) -> float:
    """How many times as long as in the device operations take."""
    # The kernel counts in milliseconds: what takes less looks like nothing.
    least = 1000.0 * (block.reads + block.writes)
    return _pending_ns(sample, evidence) / max(block.read_ns + block.write_ns, least, 1.0)
