"""Whether a result satisfies a limit: yes, no or undecided (docs/method.md, Requirements)."""

import math
from collections.abc import Callable, Sequence
from statistics import median

from assay.analyse.estimate import estimate
from assay.analyse.needs.latencies import RepeatLatencies, decide_percentile, repeat_latencies
from assay.analyse.needs.outcome import NeedLimit, NeedOutcome, NeedStatus
from assay.analyse.percentiles import percentiles_of
from assay.analyse.usable import usable
from assay.model.result.result import Estimate, ResultRow
from assay.model.result.sample import Sample
from assay.model.result.verdict import NOT_STORAGE, Verdict
from assay.model.study.needs import TIME

CPU_WAIT_RULE = "starved_client"
"""The rule whose finding needs no doubt here: the waits for a CPU that it reports are taken off."""
SUSTAINED = 0.99
"""Share of a rate below which it was not kept up (docs/method.md, Latency)."""
LATE_FACTOR = 2
"""Open loop: a wait for a CPU delays the operations that are due in it, and as many while the queue drains."""
INSIDE = "the limit lies within the interval"
OTHERS = "other programs had CPUs of the machine meanwhile, which may be why it took so long"

_DOUBTS = {
    NeedStatus.YES: NOT_STORAGE | {Verdict.BURSTING, Verdict.SKEWED},
    NeedStatus.NO: frozenset({Verdict.IMPOSSIBLE, Verdict.CLIENT_BOUND, Verdict.CONTENDED, Verdict.SKEWED}),
    NeedStatus.UNDECIDED: frozenset[Verdict](),
}
"""Verdicts that leave an answer open. What limits the place for everybody who uses it from here, such as the network or
a provider's throttle, belongs to the place."""
_REMARKS = {
    NeedStatus.YES: frozenset({Verdict.UNVERIFIED}),
    NeedStatus.NO: frozenset({Verdict.NETWORK_BOUND, Verdict.THROTTLED, Verdict.CONTENDED}),
    NeedStatus.UNDECIDED: frozenset[Verdict](),
}
"""Verdicts that are named with an answer."""


def decide(limit: NeedLimit, row: ResultRow, value: Callable[[Sample], float | None] | None = None) -> NeedOutcome:
    """Return whether a result satisfies a limit.

    Verdicts limit what a number proves. A number from a cache can be too good, not too bad; one that this host limited
    can be too bad, not too good.

    Args:
        limit: The limit.
        row: The result.
        value: The number of a repeat, a share from 0 to 1, if it is none that each result has; None for a repeat
            without one.
    """
    samples = usable(row.samples)
    if len(samples) < 2:
        errors = next((tally.example for sample in row.samples for tally in sample.errors), "")
        few = "one repeat has no interval" if samples else "nothing was measured"
        return NeedOutcome(NeedStatus.UNDECIDED, why=errors or few)
    if limit.measure == TIME:
        return _with_doubts(limit, _decide_time(limit, samples), row)
    if limit.is_upper:
        return _with_doubts(limit, _sustained(_decide_latency(limit, row, samples), row, samples), row)
    return _with_doubts(limit, _decide_least(limit, row, samples, value), row)


def _with_doubts(limit: NeedLimit, outcome: NeedOutcome, row: ResultRow) -> NeedOutcome:
    """Return the outcome, undecided where a verdict says that its number does not show it."""
    if Verdict.INCOMPLETE in row.verdicts:
        return outcome._replace(status=NeedStatus.UNDECIDED, why="operations failed, or repeats are missing")
    waits = {item.verdict for item in row.findings if item.rule == CPU_WAIT_RULE}
    waits -= {item.verdict for item in row.findings if item.rule != CPU_WAIT_RULE}
    verdicts = [each for each in row.verdicts if each not in waits]
    doubts = _DOUBTS[outcome.status]
    # A limit above the device that explains the rate leaves nothing for other users of the device to explain.
    if outcome.status is NeedStatus.NO and (Verdict.THROTTLED in verdicts or _fails_alone(limit, outcome, row)):
        doubts = doubts - {Verdict.CONTENDED}
    if limit.measure == TIME or (
        not limit.is_upper and (outcome.status is NeedStatus.YES or _fails_together(limit, row))
    ):
        # The time of the last thread counts, so that threads that end at different times make a rate too low at most; a
        # wall clock ends with the last task.
        doubts = doubts - {Verdict.SKEWED}
    doubt = next((each for each in verdicts if each in doubts), None)
    if doubt is not None:
        return outcome._replace(status=NeedStatus.UNDECIDED, why=_verdict_text(row, doubt))
    remark = next((each for each in verdicts if each in _REMARKS[outcome.status]), None)
    return outcome if remark is None or outcome.why else outcome._replace(why=_verdict_text(row, remark))


def _fails_alone(limit: NeedLimit, outcome: NeedOutcome, row: ResultRow) -> bool:
    """Whether a number would fail even without the other users of the device, who slowed it by a known factor."""
    found = [item.numbers.get("max_slowdown", math.inf) for item in row.findings if item.verdict is Verdict.CONTENDED]
    factor = math.prod(found) if found else math.inf
    if limit.is_upper:
        return (outcome.low or 0.0) / factor > limit.value
    return outcome.high is not None and outcome.high * factor < limit.value


def _fails_together(limit: NeedLimit, row: ResultRow) -> bool:
    """Whether a rate is also too low in the time in which all threads ran."""
    samples = usable(row.samples)
    steady = [sample.steady_iops if limit.measure == "iops" else sample.steady for sample in samples]
    return all(each is not None and each < limit.value for each in steady)


def _verdict_text(row: ResultRow, verdict: Verdict) -> str:
    text = next((item.text for item in row.findings if item.verdict is verdict), "")
    return f"{verdict}: {text}" if text else str(verdict)


def wait_share(row: ResultRow, sample: Sample) -> float:
    """Return the share of a repeat's time in which its lanes waited for a CPU of this host at most."""
    busy, idle, stolen = sample.host_busy_ns or 0, sample.host_idle_ns or 0, sample.host_stolen_ns or 0
    share = stolen / (busy + idle + stolen) if stolen else 0.0
    if not sample.cpu_wait_ns:
        return share
    return share + sample.cpu_wait_ns / max(1, sample.elapsed_ns * row.case.parameters.all_lanes)


def _decide_time(limit: NeedLimit, samples: Sequence[Sample]) -> NeedOutcome:
    """Decide whether a command is quick enough; CPU time of other programs of its hosts may have delayed it."""
    alone = [max(1.0, sample.elapsed_ns - min(_others_cpu_ns(sample), _ready_ns(sample))) for sample in samples]
    outcome = _below(limit, estimate([float(sample.elapsed_ns) for sample in samples]), estimate(alone))
    is_over = outcome.status is NeedStatus.UNDECIDED and outcome.low is not None and outcome.low >= limit.value
    return outcome._replace(why=OTHERS) if is_over else outcome


def _others_cpu_ns(sample: Sample) -> int:
    """Return the CPU time that a repeat's hosts spent on other programs: the most by which these delayed it.

    A nanosecond of another program holds up at most one thread, by a nanosecond. What a hypervisor takes counts, too.
    """
    own = sum(task.cpu_ns for task in sample.tasks) + (sample.cpu_user_ns or 0) + (sample.cpu_system_ns or 0)
    return max(0, (sample.host_busy_ns or 0) + (sample.host_stolen_ns or 0) - own)


def _ready_ns(sample: Sample) -> float:
    """Return for how long a lane's tasks had a CPU or were ready for one, at most; only then can others delay them.

    Looks are a sample: the bound is two standard errors of a proportion above it, and 3 of n looks where it is 0 (the
    rule of three, Hanley and Lippman-Hand, JAMA 249, 1983). All of the time without looks.
    """
    lanes: dict[tuple[str, int], float] = {}
    for task in sample.tasks:
        share = 1.0
        if task.states is not None and task.states.observed_ns and task.states.looks:
            seen, looks = task.states.running_ns / task.states.observed_ns, task.states.looks
            share = min(1.0, seen + 2 * math.sqrt(max(0.0, seen * (1 - seen)) / looks) + 3 / looks)
        lanes[task.host, task.lane] = lanes.get((task.host, task.lane), 0.0) + share * task.elapsed_ns
    return max(lanes.values(), default=math.inf)


def _latencies(limit: NeedLimit, row: ResultRow, sample: Sample) -> RepeatLatencies | None:
    found = sample.histogram
    counts = next((each for each in sample.kinds if each.kind == limit.kind), None)
    if counts is not None:
        found = counts.histogram or sample.histogram
    if found is None:
        return None
    unstarted, waiting = sample.get_value("unstarted_ops", 0), wait_share(row, sample)
    if sample.target_per_s:
        late = LATE_FACTOR * waiting * sample.target_per_s * sample.elapsed_ns / 1e9
        return repeat_latencies(found, unstarted, client_late_ops=late)
    wait = waiting and waiting * sample.elapsed_ns * row.case.parameters.all_lanes
    return repeat_latencies(found, unstarted, client_wait_ns=wait)


def _decide_latency(limit: NeedLimit, row: ResultRow, samples: Sequence[Sample]) -> NeedOutcome:
    repeats = [each for each in (_latencies(limit, row, sample) for sample in samples) if each is not None]
    if limit.measure != "mean":
        if repeats:
            return decide_percentile(repeats, limit.allowed_share, limit.value)
        # Evidence from elsewhere may have percentiles of each repeat, without histograms.
        found = percentiles_of(row).get(limit.measure)
        if found is None or found.estimate is None:
            return NeedOutcome(NeedStatus.UNDECIDED, why="too few operations, or no latencies were recorded")
        return _below(limit, found.estimate, found.estimate)
    if not repeats:
        return NeedOutcome(NeedStatus.UNDECIDED, why="no latencies were recorded")
    means = [each.mean_ns for each in repeats]
    least = [max(1.0, mean - each.client_wait_ns / each.ops) for mean, each in zip(means, repeats, strict=True)]
    return _below(limit, estimate(means), estimate(least))


def _below(limit: NeedLimit, known: Estimate, least: Estimate) -> NeedOutcome:
    """Decide whether a latency is below a limit; `least` is what remains of it without waits for a CPU."""
    outcome = NeedOutcome(NeedStatus.UNDECIDED, known.median, known.low, known.high, INSIDE)
    if known.high is not None and known.high < limit.value:
        return outcome._replace(status=NeedStatus.YES, why="")
    if least.low is not None and least.low >= limit.value:
        return outcome._replace(status=NeedStatus.NO, why="")
    return outcome


def _sustained(outcome: NeedOutcome, row: ResultRow, samples: Sequence[Sample]) -> NeedOutcome:
    """Return the outcome, no where the place did not keep up the rate at which operations were due."""
    if Verdict.UNSUSTAINED not in row.verdicts:
        return outcome
    missing = [1 - sample.iops / sample.target_per_s for sample in samples if sample.target_per_s]
    if missing and median(missing) > 1 - SUSTAINED + median(wait_share(row, sample) for sample in samples):
        return outcome._replace(status=NeedStatus.NO, why="it did not keep up the rate at which operations were due")
    if outcome.status is NeedStatus.NO:
        return outcome
    return outcome._replace(status=NeedStatus.UNDECIDED, why=_verdict_text(row, Verdict.UNSUSTAINED))


def _decide_least(
    limit: NeedLimit, row: ResultRow, samples: Sequence[Sample], value: Callable[[Sample], float | None] | None
) -> NeedOutcome:
    """Decide whether a number is at least as great as required; waits for a CPU may have lowered it."""
    if value is None:
        name = "iops" if limit.measure == "iops" else "throughput"
        values, most = [sample.get_value(name) for sample in samples], math.inf
        known = row.iops if limit.measure == "iops" else row.throughput
    else:
        values, most = [value(sample) for sample in samples], 1.0
        known = None if None in values else estimate([each or 0.0 for each in values])
    if known is None:
        return NeedOutcome(NeedStatus.UNDECIDED, why="there is no such number of each repeat")
    full = [1 - min(wait_share(row, sample), 0.999) for sample in samples]
    best = estimate([min(most, (each or 0.0) / part) for each, part in zip(values, full, strict=True)])
    if known.low is None or known.high is None or best.high is None:
        return NeedOutcome(NeedStatus.UNDECIDED, known.median, why="a repeat delivered nothing")
    outcome = NeedOutcome(NeedStatus.UNDECIDED, known.median, known.low, min(most, known.high), INSIDE)
    if Verdict.UNSUSTAINED in row.verdicts and row.case.parameters.get_value("rate") is None:
        return outcome._replace(why=_verdict_text(row, Verdict.UNSUSTAINED))
    if known.low >= limit.value:
        return outcome._replace(status=NeedStatus.YES, why="")
    if max(best.high, known.high) < limit.value:
        return outcome._replace(status=NeedStatus.NO, why="")
    if known.high < limit.value:
        return outcome._replace(why="operations waited for a CPU of this host")
    return outcome
