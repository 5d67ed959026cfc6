"""Rule about operations of an open loop that started late.

As in `assay.judge.rules`, a rule returns a finding, None (all is well) or `NotEvaluated`.
"""

from assay.judge.answer import Answer
from assay.model.result.evidence import Evidence
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.case import Case
from assay.model.units import about_duration, about_number

LATE_NS = 1_000_000
"""If one operation in a thousand starts this late, percentiles are wrong."""
STILL_NS = 100_000_000
"""A machine that is merely busy does not delay a thread this long."""
HISTOGRAM_ERROR = 0.001
"""Relative error of a mean from a histogram of three significant digits."""


def late_engine(evidence: Evidence) -> Answer:
    """Find operations of an open loop that started late although the storage could have taken them.

    An operation waits for the storage only while every slot of its lane is taken. Then all operations together spent at
    least queue_depth times that delay in the storage. A delay longer than their whole time in the storage divided by
    queue_depth was therefore caused by the engine or its machine. That time is the sum of latencies minus the sum of
    delays, as an upper bound by the histograms' error. Either most repeats show such a delay at p99.9, of a millisecond
    or more, or one repeat shows a stall of 100 ms or more, which spoils all percentiles.
    Source: docs/method.md, Latency (latency counts from the intended start, hence includes the delay).
    """
    samples = [sample for sample in evidence.usable if sample.start_delay and sample.latency and sample.ops]
    late = [sample for sample in samples if _unexplained(sample, evidence.case, "p99.9", LATE_NS)]
    if 2 * len(late) <= len(samples):
        return _stalled(evidence, samples)
    worst = max(late, key=lambda sample: sample.start_delay["p99.9"])
    delay, busy = worst.start_delay["p99.9"], _storage_ns(worst)
    return Finding(
        verdict=Verdict.CLIENT_BOUND,
        rule="late_engine",
        text=f"one operation in a thousand started {_time(delay)} late or more (p99.9), longer than the storage needed"
        f" for all operations together ({_time(busy)} at most): the engine or its machine was late",
        remedy="Give the engine a free CPU (cpus, fewer lanes, no other load) or set a lower rate.",
        numbers={"start_delay_p999_ns": delay, "storage_ns": busy},
    )


def _stalled(evidence: Evidence, samples: list[Sample]) -> Finding | None:
    """Find repeats in which the engine did nothing for a while: it was stopped, or its machine stalled."""
    still = [sample for sample in samples if _unexplained(sample, evidence.case, "max", STILL_NS)]
    if not still:
        return None
    worst = max(still, key=lambda sample: sample.start_delay["max"])
    delay, busy = worst.start_delay["max"], _storage_ns(worst)
    return Finding(
        verdict=Verdict.CLIENT_BOUND,
        rule="late_engine",
        text=f"in {len(still)} of {len(samples)} repeats the engine or its machine was paused: operations started up"
        f" to {_time(delay)} late, longer than the storage needed for all operations together ({_time(busy)} at most)",
        remedy="Find out what stops the engine (a debugger, a frozen cgroup, a virtual machine that is paused), and"
        " run the study again.",
        numbers={"start_delay_max_ns": delay, "storage_ns": busy},
    )


def _unexplained(sample: Sample, case: Case, name: str, least: float) -> bool:
    """Whether this delay of starts is longer than storage can have caused."""
    # Other methods may keep fewer operations in flight than the study requests.
    slots = case.parameters.queue_depth if sample.method in ("io_uring", "threads") else 1
    delay = sample.start_delay.get(name, 0.0)
    return delay >= least and slots * delay > _storage_ns(sample)


def _storage_ns(sample: Sample) -> float:
    """Return an upper bound of the total time of a repeat's operations between submission and completion."""
    delay = sample.start_delay["mean"] * (1 - HISTOGRAM_ERROR)
    if sample.started_ops > sample.ops:
        # In a set of files the opens, flushes and closes count as started operations, too.
        kinds = [counts for counts in sample.kinds if counts.ops and counts.latency]
        spent = sum(counts.ops * counts.latency["mean"] for counts in kinds) * (1 + HISTOGRAM_ERROR)
        return max(0.0, spent - sample.started_ops * delay)
    return sample.ops * max(0.0, sample.latency["mean"] * (1 + HISTOGRAM_ERROR) - delay)


def _time(nanoseconds: float) -> str:
    return about_duration(nanoseconds / 1e9) if nanoseconds >= 1e9 else f"{about_number(nanoseconds / 1e6)} ms"
