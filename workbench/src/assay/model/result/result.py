"""The results of all cases together, and conclusions from them."""

from typing import Literal

from pydantic import Field, SkipValidation

from assay.model.frozen import Frozen
from assay.model.money.priced_designs import FrozenPrices
from assay.model.result.ceiling import CeilingShare
from assay.model.result.decision import TargetDecision
from assay.model.result.machine import MachineFinding
from assay.model.result.percentile import MAX_INTERVAL_RATIO, MIN_OPS, PercentileQuality
from assay.model.result.run import RunInfo
from assay.model.result.sample import JobRecord, Sample
from assay.model.result.verdict import NO_RESULT, PARTLY_CHECKED, Finding, Unevaluated, Verdict
from assay.model.study.case import Case, ExcludedPoint
from assay.model.study.names import is_counted
from assay.model.study.repeats import MIN_COMPARED

CEILING_TOLERANCE = 1.25
"""A result may exceed a ceiling by this factor and still be limited by it: ceilings are measured briefly on machines
that are never fully quiet."""

MAX_RATE_RATIO = 3.0
"""A rate is no answer if the upper end of its interval is more than this times the lower one.

A single operation in a repeat gives such an interval. Storage options that a user compares usually differ by less."""

ComparedQuantity = Literal["rate", "p50", "p99"]
"""The quantity by which two rows are compared."""
COMPRESSING_FILESYSTEMS = ("btrfs", "zfs", "f2fs", "bcachefs")
"""File systems that may compress data."""


class RateLevel(Frozen):
    """One of two levels that the repeats of a result form.

    Attributes:
        rate: Median of the repeats at this level.
        count: Number of these repeats.
    """

    rate: float
    count: int


class Estimate(Frozen):
    """A median over repeats, with a 95 % interval.

    Attributes:
        low, high: Ends of the interval; None with fewer than 2 repeats.
        n: Number of repeats.
        spread: Coefficient of variation (standard deviation / mean); None with fewer than 2 repeats.
        autocorrelation: Correlation between consecutive repeats that the interval allows for.
        levels: The two levels of the repeats, the lower first, if they form two; else empty. The interval then spans
            both.
    """

    median: float
    low: float | None
    high: float | None
    n: int
    spread: float | None
    autocorrelation: float = 0.0
    levels: tuple[RateLevel, ...] = ()

    @property
    def relative_reach(self) -> float | None:
        """Distance from the median to the further end of the interval / median; None without an interval."""
        if self.low is None or self.high is None or self.median <= 0:
            return None
        return max(self.high - self.median, self.median - self.low) / self.median


class Percentile(Frozen):
    """A percentile of latency over the repeats of a result, in nanoseconds.

    Attributes:
        name: `p50`, `p90`, `p99`, `p99.9` or `p99.99`.
        fewest_ops: Operations of the usable repeat with the fewest.
        ops: Operations of all usable repeats.
        estimate: Median of the repeats' percentiles; None unless each repeat has enough operations.
        lowest, highest: Extremes of the repeats' percentiles; None if `estimate` is None.
        pooled: Percentile of all operations together; None if even these are too few.
    """

    name: str
    fewest_ops: int
    ops: int
    estimate: Estimate | None = None
    lowest: float | None = None
    highest: float | None = None
    pooled: float | None = None

    @property
    def min_ops(self) -> int:
        """Fewest operations for which this percentile is stated."""
        return MIN_OPS[self.name]

    @property
    def quality(self) -> PercentileQuality:
        """How well this percentile is known."""
        if self.value is None:
            return PercentileQuality.TOO_FEW
        low, high = self.interval
        if low is None or high is None:
            return PercentileQuality.NO_INTERVAL
        return PercentileQuality.KNOWN if high <= MAX_INTERVAL_RATIO * low else PercentileQuality.UNCERTAIN

    @property
    def value(self) -> float | None:
        """The median over the repeats, else the pooled percentile; None if there are too few operations."""
        return self.pooled if self.estimate is None else self.estimate.median

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The 95 % interval of `value`."""
        return (None, None) if self.estimate is None else (self.estimate.low, self.estimate.high)


class ResultRow(Frozen):
    """The result of one operation of one case over all its repeats.

    Attributes:
        throughput: Bytes per second; None without a usable repeat or if no data is moved.
        iops: Operations per second; None without a usable repeat, or if no repeat says it.
        latency: Name (as in Sample) -> nanoseconds, from the pooled histograms of all repeats, without percentiles for
            which all operations together are too few.
        percentiles: Percentiles of latency over the repeats, in ascending order; empty if no latencies were recorded.
        start_delay: Delays between intended starts and submissions, as `latency`; empty in closed loop.
        curve: (percentile in percent, nanoseconds) points of the pooled histogram, for charts.
        findings: All findings, the worst first; empty means ok.
        machine: Findings that the run's verdict on the machine replaces, so that they do not count for this result.
        not_evaluated: Each rule that lacked evidence, or that does not apply to this result, with the reason.
        ceilings: How close the result is to each ceiling that applies, the closest first.
    """

    case: Case
    operation: str
    throughput: Estimate | None
    iops: Estimate | None
    latency: dict[str, float]
    curve: tuple[tuple[float, float], ...]
    samples: SkipValidation[tuple[Sample, ...]]
    verdict: Verdict
    findings: tuple[Finding, ...]
    not_evaluated: tuple[Unevaluated, ...] = ()
    start_delay: dict[str, float] = Field(default_factory=dict)
    ceilings: tuple[CeilingShare, ...] = ()
    machine: tuple[Finding, ...] = ()
    percentiles: tuple[Percentile, ...] = ()

    def percentile(self, name: str) -> Percentile | None:
        """Return the percentile of that name; None if no latencies were recorded."""
        return next((item for item in self.percentiles if item.name == name), None)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Its verdicts, each once, the worst first; a result can have several."""
        return tuple(dict.fromkeys((self.verdict, *(finding.verdict for finding in self.findings))))

    @property
    def has_no_result(self) -> bool:
        """A verdict says that its rate is not the storage's, or does not cover all repeats."""
        return not NO_RESULT.isdisjoint(self.verdicts)

    @property
    def limiting_ceiling(self) -> CeilingShare | None:
        """The ceiling that limits it: the one it is closest to, or exceeds.

        For an impossible result, it is the exceeded ceiling of the finding. A cached result is not limited by the
        ceilings that it bypassed: an exceeded ceiling counts only if no other ceiling remains.
        """
        found = {finding.verdict: finding for finding in self.findings}
        if Verdict.IMPOSSIBLE in found:
            share = found[Verdict.IMPOSSIBLE].numbers.get("share")
            items = [item for item in self.ceilings if item.share == share]
        else:
            items = [item for item in self.ceilings if Verdict.CACHED in found and item.share <= CEILING_TOLERANCE]
        return max(items or self.ceilings, key=lambda item: item.share, default=None)

    @property
    def exceeded_ceilings(self) -> tuple[CeilingShare, ...]:
        """Other ceilings that it exceeds by more than their measurement error, the most exceeded first."""
        return tuple(
            item for item in self.ceilings if item.share > CEILING_TOLERANCE and item is not self.limiting_ceiling
        )

    @property
    def unevaluated_rules(self) -> tuple[str, ...]:
        """Rules that lacked evidence."""
        return tuple(each.rule for each in self.not_evaluated if each.applies)

    @property
    def is_partly_checked(self) -> bool:
        """Its verdict is ok, but a rule that might have contradicted it lacked evidence."""
        return self.verdict is Verdict.OK and bool(self.unevaluated_rules)

    @property
    def is_vague(self) -> bool:
        """Its rate is too inaccurate to be an answer: the ends of its interval differ by more than `MAX_RATE_RATIO`."""
        rate = self.rate
        return (
            rate is not None
            and rate.low is not None
            and rate.high is not None
            and rate.high > MAX_RATE_RATIO * rate.low
        )

    @property
    def verdict_words(self) -> str:
        """The verdict in words; for ok, also whether checks were missing."""
        return PARTLY_CHECKED if self.is_partly_checked else str(self.verdict)

    @property
    def is_counted(self) -> bool:
        """Its rate is operations per second, since it concerns names, or objects without their contents."""
        return is_counted(self.operation)

    @property
    def rate(self) -> Estimate | None:
        """The rate for comparisons: throughput, or operations per second for counted operations."""
        return self.iops if self.is_counted else self.throughput


class Comparison(Frozen):
    """One operation with the same parameters on two targets, or in two runs.

    Attributes:
        of: Compared quantity: the rate (throughput, or operations per second), or a percentile of latency.
        ratio: Value of `other` / value of `base`. Above 1 a rate is better and a latency is worse.
        low, high: Ends of the 95 % interval of the ratio, for this comparison alone; None if it could not be computed.
        simultaneous_low, simultaneous_high: Ends of a wider interval: those of all comparisons made together hold
            simultaneously, in 95 of 100 such analyses.
        separable: The difference is significant; see `assay.analyse.compare`.
        caveat: Why the figures should not be compared (a bad verdict on a side); empty if nothing speaks against it.
        conditions_known: Every condition that makes the two sides comparable is known; if not, the comparison decides
            nothing.
        n_base, n_other: Observations of the base and of the other: repeats, or runs.
        unit: One observation: a repeat of one run, or a run.
        p: Two-sided p-value of no difference; None if it could not be computed.
        p_adjusted: p times the number of comparisons made together and of interim looks (Bonferroni), at most 1.
        p_own: p from this comparison's own noise, without estimates from other comparisons.
        effect: Cliff's delta, from -1 (lower in every repeat of `other`) to 1 (higher).
        autocorrelation: Greatest correlation between consecutive repeats that the data allows; intervals and p-values
            account for it.
    """

    workload: str
    operation: str
    axes: dict[str, int | float | str | bool | None]
    base: str
    other: str
    ratio: float
    low: float | None
    high: float | None
    separable: bool
    caveat: str
    n_base: int
    n_other: int
    of: ComparedQuantity = "rate"
    conditions_known: bool = True
    unit: Literal["repeat", "run"] = "repeat"
    simultaneous_low: float | None = None
    simultaneous_high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    p_own: float | None = None
    effect: float | None = None
    autocorrelation: float | None = None

    def is_equal(self, within: float) -> bool:
        """Whether both sides differ by at most a share, with the confidence of all comparisons together."""
        if self.has_too_few or self.simultaneous_low is None or self.simultaneous_high is None:
            return False
        return self.simultaneous_low >= 1 - within and self.simultaneous_high <= 1 / (1 - within)

    @property
    def has_too_few(self) -> bool:
        """There are too few observations on a side to call any difference."""
        return self.p is None if self.unit == "run" else min(self.n_base, self.n_other) < MIN_COMPARED

    @property
    def is_better(self) -> bool:
        """`other` has the higher rate or the lower latency."""
        return self.ratio > 1 if self.of == "rate" else self.ratio < 1


class PricedRun(RunInfo):
    """A run without its results, but with its stored prices.

    Attributes:
        prices: Prices of the designs that its targets represent, as of its start; None if it names none, or if the
            caller needs no costs.
    """

    prices: FrozenPrices | None = None


class RunAnalysis(Frozen):
    """Everything that a report needs. Cases are in plan order, rows in (case, operation) order.

    Attributes:
        notes: Notes on what looked odd, one sentence each.
        decisions: Conclusions from the comparisons, for each pair of targets.
        machine: The verdict on the machine, one for all rows; None if there is none.
        latency_comparisons: Comparisons of p50 and of p99, where both sides have enough operations.
    """

    run: PricedRun
    cases: tuple[Case, ...]
    excluded: tuple[ExcludedPoint, ...]
    rows: tuple[ResultRow, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    jobs: tuple[JobRecord, ...]
    decisions: tuple[TargetDecision, ...] = ()
    machine: MachineFinding | None = None
    latency_comparisons: tuple[Comparison, ...] = ()
