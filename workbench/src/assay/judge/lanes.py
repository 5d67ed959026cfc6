"""Rules about lanes that did not work together, and about clocks.

As in `assay.judge.rules`, a rule returns a finding, None (all is well) or `NotEvaluated`.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from assay.judge.answer import Answer, percent
from assay.model.result.evidence import Evidence
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.commands import REPLAY
from assay.model.study.names import Group
from assay.model.units import about_number

SKEW_SHARE, SKEW_NS = 0.01, 50_000_000
"""Greatest difference between the lanes' starts: share of the elapsed time, nanoseconds."""
FINISH_SHARE = 0.10
"""Greatest difference between the lanes' ends: share of the elapsed time."""
MIN_BALANCE = 0.5
"""In a phase with a fixed runtime, the slowest lane does at least this share of the median lane's operations."""
CLOCK_STEP_NS = 100_000_000
"""Readings of two clocks can be this far apart when the machine stalls between them."""


def skewed(evidence: Evidence) -> Answer:
    """Find lanes that did not work at the same time: the total is not that of all lanes together.

    Source: docs/method.md, Lanes (barrier, measured skew, first and last finisher). Starts may differ by 1 % of
    the elapsed time and 50 ms, ends by 10 % of it; the median over repeats decides, so that one odd repeat does not.
    """
    samples = [sample for sample in evidence.usable if sample.elapsed_ns > 0]
    # A lane without a task ends at once, and holds up nothing.
    tasks = evidence.case.parameters.get_value("tasks", None)
    if min(evidence.all_lanes, tasks or evidence.all_lanes) < 2 or not samples:
        return None
    start_ns = median(sample.skew_ns for sample in samples)
    start = median(sample.skew_ns / sample.elapsed_ns for sample in samples)
    # With wear-out each lane continues until it has done as much as the furthest one.
    worn = all(sample.at_limit is not None for sample in samples)
    finish = 0.0 if worn else median(sample.finish_spread_ns / sample.elapsed_ns for sample in samples)
    parts = []
    if start > SKEW_SHARE or start_ns > SKEW_NS:
        parts.append(f"threads started {start_ns / 1e6:,.3g} ms apart, {percent(start)} of the elapsed time")
    if finish > FINISH_SHARE:
        last = _slowest_host(samples)
        of = f", on host {last}," if last else ""
        parts.append(f"the last thread{of} ended {percent(finish)} of the elapsed time after the first")
    if not parts:
        return None
    return Finding(
        verdict=Verdict.SKEWED,
        rule="skewed",
        text="; ".join(parts),
        remedy=_remedy(evidence),
        numbers={"start_skew_ns": start_ns, "start_skew_share": start, "finish_spread_share": finish},
    )


_MORE: dict[Group, str] = {
    "data": "larger files",
    "names": "more files",
    "objects": "more objects",
    "other": "more requests",
}


def _remedy(evidence: Evidence) -> str:
    if evidence.case.parameters.runtime is not None:
        return "Find out what keeps a thread from starting or ending with the others; compare the steady rate."
    together = "so that all lanes work together for most of the time"
    if evidence.operation == REPLAY:
        return f"Use fewer lanes or a longer trace, {together}."
    if evidence.case.group == "programs":
        return f"Use more tasks for each lane, {together}."
    return f"Use {_MORE[evidence.case.group]} or a runtime, {together}; compare the steady rate."


def uneven_lanes(evidence: Evidence) -> Answer:
    """Find a lane that did less than half of the median lane's operations in the same time, in a median repeat.

    With a fixed runtime, a slow lane does not end late, it does less.
    Source: docs/method.md, Lanes.
    """
    shares = [sample.lane_balance for sample in evidence.usable if sample.lane_balance is not None]
    if evidence.all_lanes < 2 or not shares:
        return None
    share = median(shares)
    if share >= MIN_BALANCE:
        return None
    host = _slowest_host(evidence.usable)
    on = f", which is on host {host}," if host else ""
    return Finding(
        verdict=Verdict.SKEWED,
        rule="uneven_lanes",
        text=f"the slowest thread{on} did {percent(share)} of the operations of the median thread",
        remedy="Find out what only that lane uses (a file, a path, a CPU): the total hides two different speeds.",
        numbers={"slowest_lane_share": share},
    )


def _slowest_host(samples: Sequence[Sample]) -> str:
    """Return the host with the lowest rate in most samples; empty if a single host did all."""
    slowest = [min(sample.hosts, key=lambda share: share.iops).host for sample in samples if len(sample.hosts) > 1]
    return Counter(slowest).most_common(1)[0][0] if slowest else ""


def clock_set(evidence: Evidence) -> Answer:
    """Find a wall clock that was set during a phase.

    Intervals and latencies come from the monotonic clock, which cannot be set; but times of day in the result, and
    comparisons with other machines by them, are wrong.
    Source: clock_gettime(2): CLOCK_REALTIME is affected by discontinuous jumps, CLOCK_MONOTONIC is not.
    """
    shift = max((sample.wall_shift_ns for sample in evidence.usable), key=abs, default=0)
    if abs(shift) < CLOCK_STEP_NS:
        return None
    return Finding(
        verdict=Verdict.SKEWED,
        rule="clock_set",
        text=f"the wall clock was set {'forward' if shift > 0 else 'back'} by {about_number(abs(shift) / 1e9)} s"
        " during a phase",
        remedy="Let chronyd or ntpd slew the clock instead of setting it, and run the study again.",
        numbers={"clock_step_s": shift / 1e9},
    )
