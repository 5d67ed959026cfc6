"""The rules about how the rate went while a phase lasted.

As in `assay.judge.rules`: evidence in; a finding, nothing (all is well) or `NotEvaluated` out. Most repeats must agree:
one odd repeat is for `unstable` to say.
"""

from statistics import median

from assay.judge.evidence import Answer, Evidence, NotEvaluated, percent
from assay.model.course import Change, Course
from assay.model.names import WRITES
from assay.model.result import Sample
from assay.model.units import about_size
from assay.model.verdict import Finding, Verdict

RANGE_SHARE, SLOPE_SHARE = 0.20, 0.10
"""Steady state: greatest range of the rate over the window, greatest slope, as shares of its mean."""
LOWER = 0.8
"""A plateau is lower if its rate is at most this share of the one before."""
CHANCE = 0.05
FLAT = 0.05
"""Range of the middle half of the intervals of a rate that something holds, as a share of their median."""
IDLE = 0.5
"""A device is not full below this share of the time with a request in it; a client, below this share of CPU time."""
REACHED = 0.9
"""At least this share of the data comes from the device, or goes to it."""
WAITING = 2.0
"""Operations take at least this many times as long as the device needs for its requests."""
LEAST_INTERVALS = 5
LEAST_OPERATIONS = 125
"""25 in each of the five windows, so that one more or less in a window is 4 %."""

TOO_FEW = NotEvaluated(
    f"needs phases of at least {LEAST_INTERVALS} whole intervals: a longer runtime or a shorter output.interval"
)


def _courses(evidence: Evidence) -> list[Course]:
    courses = [sample.course for sample in evidence.usable if sample.course is not None]
    return [course for course in courses if course.intervals >= LEAST_INTERVALS]


def no_steady_state(evidence: Evidence) -> Answer:
    """No steady state inside the window that was measured.

    In most repeats, the range of the rate over five equal windows exceeds 20 % of the mean, or the least-squares line
    through them gains or loses more than 10 % of it.
    Source: SNIA Solid State Storage Performance Test Specification 2.0, definition of steady state.
    """
    if evidence.case.parameters.rate is not None:
        return NotEvaluated("not applicable: the study itself sets the rate")
    if evidence.usable and median(sample.ops for sample in evidence.usable) < LEAST_OPERATIONS:
        return NotEvaluated(f"needs phases of at least {LEAST_OPERATIONS} operations, so that each window has enough")
    courses = [course for course in _courses(evidence) if course.range_share is not None]
    if not courses:
        return TOO_FEW if evidence.usable else None
    unsteady = [course for course in courses if _unsteady(course)]
    if 2 * len(unsteady) <= len(courses):
        return None
    spread = median(course.range_share or 0.0 for course in unsteady)
    slope = median(course.slope_share or 0.0 for course in unsteady)
    return Finding(
        verdict=Verdict.UNSUSTAINED,
        rule="no_steady_state",
        text=f"no steady state: within a repeat the rate ranges over {percent(spread)} of its mean, and its trend"
        f" {'gains' if slope > 0 else 'loses'} {percent(abs(slope))} from beginning to end",
        remedy="Run longer, or write the device full before (preconditioning), and look at the rate over time.",
        numbers={"range_share": spread, "slope_share": slope},
    )


def _unsteady(course: Course) -> bool:
    return (course.range_share or 0.0) > RANGE_SHARE or abs(course.slope_share or 0.0) > SLOPE_SHARE


def bursting(evidence: Evidence) -> Answer:
    """A change from a higher to a lower plateau while the phase lasted: credits or a cache in the store ran out.

    In most repeats, to 80 % of the plateau before or less.
    Source: change points by E-divisive with means (Matteson and James, A Nonparametric Approach for Multiple Change
    Point Analysis of Multivariate Data, JASA 2014).
    """
    courses = _courses(evidence)
    if not courses:
        return TOO_FEW if evidence.usable else None
    drops = [drop for course in courses if (drop := _drop(course)) is not None]
    if 2 * len(drops) <= len(courses):
        return None
    at, before, after = (
        median(drop.at_ns for drop in drops),
        median(drop.before for drop in drops),
        median(drop.after for drop in drops),
    )
    return Finding(
        verdict=Verdict.BURSTING,
        rule="bursting",
        text=f"after {at / 1e9:.3g} s the rate fell from {_rate(before, evidence)} to {_rate(after, evidence)}:"
        " the first is a burst",
        remedy="Run longer and take the lower plateau as the store's rate; say beside it how long the burst lasts.",
        numbers={"at_s": at / 1e9, "before_per_s": before, "after_per_s": after},
    )


def _drop(course: Course) -> Change | None:
    """The change to a lower plateau from which the rate does not come back."""
    for number, change in enumerate(course.changes):
        rest = [change.after, *(later.after for later in course.changes[number + 1 :])]
        if change.p <= CHANCE and max(rest) <= LOWER * change.before:
            return change
    return None


def _rate(value: float, evidence: Evidence) -> str:
    return f"{value:,.4g} operations/s" if evidence.case.metadata else f"{about_size(value)}/s"


def throttled(evidence: Evidence) -> Answer:
    """Something holds the rate although neither the device nor the client is full.

    In most repeats of a closed loop: the rate is flat (the middle half of the intervals within 5 % of their median),
    the data does come from or go to the device, but the device has a request less than half of the time and takes less
    than half as long for each as operations take, and the engine uses less than half of its CPU time. So operations
    wait before the device: at a limit of a cgroup (blkio, io.max), of a device-mapper target, or of a queue. Not judged
    where each write is flushed.
    Source: the device's counts (iostats of the kernel); Little's law: what is in flight and not in the device, waits.
    """
    if evidence.no_storage or evidence.case.metadata or not evidence.usable:
        return None
    if evidence.case.parameters.rate is not None:
        return NotEvaluated("not applicable: the study itself holds the rate")
    if evidence.operation in WRITES and evidence.case.parameters.sync in ("o_sync", "o_dsync"):
        return NotEvaluated("each write waits for a flush, whose time the kernel does not count as the device's")
    samples = [item for item in evidence.usable if item.block is not None and item.latency and item.elapsed_ns > 0]
    if not samples:
        return NotEvaluated("no block device below that counts its requests")
    samples = [sample for sample in samples if sample.course and sample.course.intervals >= LEAST_INTERVALS]
    if not samples:
        return TOO_FEW
    held = [sample for sample in samples if _held(sample, evidence)]
    if 2 * len(held) <= len(samples):
        return None
    busy = median(sample.block.busy_ns / sample.elapsed_ns for sample in held if sample.block)
    waited = median(_waiting(sample) for sample in held)
    flat = median(_flatness(sample.course) for sample in held if sample.course)
    return Finding(
        verdict=Verdict.THROTTLED,
        rule="throttled",
        text=f"the rate is held flat (intervals vary by {percent(flat)} about their median) while the device is busy"
        f" only {percent(busy)} of the time; operations take {waited:.3g} times as long as the device needs for them",
        remedy="Look for a limit before the device: cgroup blkio.throttle or io.max, a device-mapper target, a quota.",
        numbers={"interval_variation": flat, "device_busy_share": busy, "latency_to_device_time": waited},
    )


def _held(sample: Sample, evidence: Evidence) -> bool:
    block, course = sample.block, sample.course
    if block is None or course is None or _flatness(course) > FLAT:
        return False
    if block.busy_ns >= IDLE * sample.elapsed_ns or _waiting(sample) < WAITING:
        return False
    if block.read_bytes + block.write_bytes < REACHED * sample.bytes:
        return False
    cpus = max(evidence.lane_cpus(sample), 1)
    return sample.cpu_user_ns + sample.cpu_system_ns < IDLE * sample.elapsed_ns * cpus


def _flatness(course: Course) -> float:
    """A machine that stands still now and then makes a few intervals odd, and leaves the rest as they are."""
    return course.variation if course.middle_range is None else course.middle_range


def _waiting(sample: Sample) -> float:
    """How many times as long as in the device operations take."""
    block = sample.block
    assert block is not None
    requests = block.reads + block.writes
    in_device = (block.read_ns + block.write_ns) / requests if requests else 0.0
    # The kernel counts in milliseconds: what takes less looks like nothing.
    return sample.latency["mean"] / max(in_device, 1000.0)
