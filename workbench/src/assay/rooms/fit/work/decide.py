"""Whether a result satisfies a requirement: yes, no or undecided."""

from collections.abc import Mapping, Sequence
from statistics import median

from assay.analyse.estimate import estimate
from assay.analyse.usable import usable
from assay.model.result.result import ResultRow
from assay.model.result.sample import Sample
from assay.model.result.verdict import NOT_STORAGE, Verdict
from assay.rooms.fit.model.answer import Answer, NeedOutcome
from assay.rooms.fit.model.profile import Requirement
from assay.rooms.fit.work.accelerators import Delivery, busy_share
from assay.rooms.fit.work.latency import RepeatLatencies, decide_percentile, repeat_latencies

MIN_REPEATS = 3
"""Fewest repeats that give an interval."""
CPU_WAIT_RULE = "starved_client"
"""The rule whose finding needs no doubt here: the waits for a CPU that it reports are taken off."""

SUSTAINED = 0.99
"""Share of a rate below which it was not kept up (docs/method.md, Latency)."""
LATE_FACTOR = 2
"""Open loop: a wait for a CPU delays the operations that are due in it, and as many while the queue drains."""

Deliveries = Mapping[int, Sequence[Delivery]]
"""Repeat -> what was read in each of its intervals."""


def decide(
    requirement: Requirement, row: ResultRow | None, deliveries: Deliveries | None = None, accelerators: int = 1
) -> NeedOutcome:
    """Return whether a result satisfies a requirement.

    Verdicts limit what a number proves. A number from a cache can be too good, not too bad; one that this host limited
    can be too bad, not too good. What limits the place for everyone who uses it from here, such as the network or a
    provider's throttle, belongs to the place.

    Args:
        requirement: The requirement.
        row: The result; None if nothing was measured.
        deliveries: Of a requirement of busy accelerators.
        accelerators: Number of accelerators.
    """
    if row is None:
        return NeedOutcome(Answer.UNDECIDED, why="nothing was measured")
    samples = usable(row.samples)
    if len(samples) < MIN_REPEATS:
        errors = next((tally.example for sample in row.samples for tally in sample.errors), "")
        return NeedOutcome(Answer.UNDECIDED, why=errors or f"{len(samples)} repeats give no interval")
    if requirement.measure == "busy":
        found = _decide_busy(requirement, row, samples, deliveries or {}, accelerators)
    elif requirement.is_latency:
        found = _decide_latency(requirement, row, samples)
    else:
        found = _decide_rate(requirement, row, samples)
    return _with_doubts(found, row)


def _with_doubts(outcome: NeedOutcome, row: ResultRow) -> NeedOutcome:
    """Return the outcome, undecided where a verdict says that its number does not show it."""
    verdicts = row.verdicts
    if Verdict.INCOMPLETE in verdicts:
        return outcome._replace(answer=Answer.UNDECIDED, why="operations failed, or repeats are missing")
    doubts: list[Verdict] = []
    if outcome.answer is Answer.YES:
        doubts = [verdict for verdict in verdicts if verdict in (*NOT_STORAGE, Verdict.BURSTING)]
    elif outcome.answer is Answer.NO:
        client = [item.verdict for item in row.findings if item.rule != CPU_WAIT_RULE]
        doubts = [verdict for verdict in client if verdict in (Verdict.CLIENT_BOUND, Verdict.CONTENDED)]
    if not doubts:
        return outcome
    text = next((item.text for item in row.findings if item.verdict is doubts[0]), "")
    return outcome._replace(answer=Answer.UNDECIDED, why=f"{doubts[0]}: {text}" if text else str(doubts[0]))


def _is_closed(row: ResultRow) -> bool:
    return row.case.parameters.get_value("rate") is None


def _client_wait_ns(row: ResultRow, sample: Sample) -> float:
    """Return how long a repeat's lanes waited for a CPU at most, all together."""
    busy, idle, stolen = sample.host_busy_ns or 0, sample.host_idle_ns or 0, sample.host_stolen_ns or 0
    share = stolen / (busy + idle + stolen) if stolen else 0.0
    return (sample.cpu_wait_ns or 0) + share * sample.elapsed_ns * row.case.parameters.all_lanes


def _wait_share(row: ResultRow, sample: Sample) -> float:
    """Return the share of a repeat's time in which its lanes waited for a CPU at most."""
    return _client_wait_ns(row, sample) / max(1, sample.elapsed_ns * row.case.parameters.all_lanes)


def _latencies(requirement: Requirement, row: ResultRow, sample: Sample) -> RepeatLatencies | None:
    found = sample.histogram
    counts = next((each for each in sample.kinds if each.kind == requirement.kind), None)
    if requirement.kind and counts is not None:
        found = counts.histogram or sample.histogram
    if found is None:
        return None
    if _is_closed(row):
        return repeat_latencies(found, sample.unstarted_ops, client_wait_ns=_client_wait_ns(row, sample))
    late = LATE_FACTOR * _wait_share(row, sample) * (sample.target_per_s or 0.0) * sample.elapsed_ns / 1e9
    return repeat_latencies(found, sample.unstarted_ops, client_late_ops=late)


def _decide_latency(requirement: Requirement, row: ResultRow, samples: Sequence[Sample]) -> NeedOutcome:
    assert requirement.below is not None
    repeats = [each for each in (_latencies(requirement, row, sample) for sample in samples) if each is not None]
    if not repeats:
        return NeedOutcome(Answer.UNDECIDED, why="no latencies were recorded")
    if requirement.measure != "mean":
        found = decide_percentile(repeats, requirement.allowed_share, requirement.below)
        return _sustained(found, row, samples)
    means = [_mean(each) for each in repeats]
    least = [max(1.0, mean - each.client_wait_ns / each.ops) for mean, each in zip(means, repeats, strict=True)]
    known, best = estimate(means), estimate(least)
    assert known.high is not None and best.low is not None
    found = NeedOutcome(Answer.UNDECIDED, known.median, known.low, known.high, "the bound lies within the interval")
    if known.high < requirement.below:
        found = found._replace(answer=Answer.YES, why="")
    elif best.low >= requirement.below:
        found = found._replace(answer=Answer.NO, why="")
    return _sustained(found, row, samples)


def _sustained(outcome: NeedOutcome, row: ResultRow, samples: Sequence[Sample]) -> NeedOutcome:
    """Return the outcome, no where the place did not keep up the rate at which operations were due."""
    if Verdict.UNSUSTAINED not in row.verdicts:
        return outcome
    missing = median(1 - sample.iops / sample.target_per_s for sample in samples if sample.target_per_s)
    if missing > 1 - SUSTAINED + median(_wait_share(row, sample) for sample in samples):
        return outcome._replace(answer=Answer.NO, why="it did not keep up the rate at which operations were due")
    if outcome.answer is Answer.NO:
        return outcome
    why = "the rate was not kept up; that may be because lanes waited for a CPU of this host"
    return outcome._replace(answer=Answer.UNDECIDED, why=why)


def _mean(repeat: RepeatLatencies) -> float:
    return float((repeat.values * repeat.counts).sum()) / max(1, int(repeat.counts.sum()))


def _decide_rate(requirement: Requirement, row: ResultRow, samples: Sequence[Sample]) -> NeedOutcome:
    rates = [sample.iops if requirement.measure == "rate" else sample.throughput for sample in samples]
    return _decide_least(requirement, rates, [_slowdown(row, sample) for sample in samples])


def _slowdown(row: ResultRow, sample: Sample) -> float:
    """Return by which factor the waits for a CPU slowed a repeat at most."""
    return 1 / max(1e-9, 1 - _wait_share(row, sample))


def _decide_busy(
    requirement: Requirement, row: ResultRow, samples: Sequence[Sample], deliveries: Deliveries, accelerators: int
) -> NeedOutcome:
    assert requirement.accelerator is not None
    found = [sample for sample in samples if deliveries.get(sample.repeat)]
    if len(found) < MIN_REPEATS:
        return NeedOutcome(Answer.UNDECIDED, why="the phases were too short for a course over time")
    shares = [busy_share(deliveries[one.repeat], requirement.accelerator, accelerators) for one in found]
    return _decide_least(requirement, shares, [_slowdown(row, sample) for sample in found], highest=1.0)


def _decide_least(
    requirement: Requirement, values: Sequence[float], slowdowns: Sequence[float], highest: float = float("inf")
) -> NeedOutcome:
    """Decide whether a value is at least as great as required; the client may have lowered it by the slowdowns."""
    assert requirement.at_least is not None
    known = estimate(values)
    best = estimate([min(highest, value * slowdown) for value, slowdown in zip(values, slowdowns, strict=True)])
    if known.low is None or known.high is None or best.high is None:
        return NeedOutcome(Answer.UNDECIDED, known.median, why="a repeat delivered nothing")
    low, high = known.low, min(highest, known.high)
    if known.low >= requirement.at_least:
        return NeedOutcome(Answer.YES, known.median, low, high)
    if best.high < requirement.at_least:
        return NeedOutcome(Answer.NO, known.median, low, high)
    if known.high < requirement.at_least:
        return NeedOutcome(Answer.UNDECIDED, known.median, low, high, "reads or writes waited for a CPU of this host")
    return NeedOutcome(Answer.UNDECIDED, known.median, low, high, "the bound lies within the interval")
