"""What was measured of all cases together, and what follows from it."""

from typing import Literal

from pydantic import Field, SkipValidation

from assay.model.frozen import Frozen
from assay.model.money.priced import FrozenPrices
from assay.model.result.ceiling import Binding
from assay.model.result.decision import Decision
from assay.model.result.machine import MachineFinding
from assay.model.result.percentile import LEAST_OPS, WIDEST, Standing
from assay.model.result.run import RunInfo
from assay.model.result.sample import JobRecord, Sample
from assay.model.result.verdict import AS_FAR_AS_SEEN, NO_RESULT, Finding, Unevaluated, Verdict
from assay.model.study.case import Case, Excluded
from assay.model.study.names import is_counted
from assay.model.study.repeats import LEAST_COMPARED

EXCEEDED = 1.25
"""A ceiling was measured in a short time on a machine that is never quite quiet: up to this share it may still bind."""

VAGUE = 3.0
"""A rate is no answer if the upper end of its interval is more than this times the lower one.

One operation a repeat has such an interval. Storage that is chosen between differs by less as a rule.
"""

Compared = Literal["rate", "p50", "p99"]
"""What two rows are compared by."""
COMPRESSING = ("btrfs", "zfs", "f2fs", "bcachefs")
"""File systems that may store less than they are given."""


class Level(Frozen):
    """One of two values that the repeats of a result have.

    Attributes:
        rate: Median of the repeats there.
        count: How many repeats those are.
    """

    rate: float
    count: int


class Estimate(Frozen):
    """A median over repeats and a 95 % interval.

    Attributes:
        low: Lower end of the interval; None with fewer than 2 repeats.
        high: Upper end.
        n: Number of repeats.
        spread: Coefficient of variation (standard deviation / mean); None with fewer than 2.
        likeness: How much a repeat resembles the one before it: the correlation that the interval allows for.
        levels: The two values that the repeats have, the lower one first, if they have two; else empty. The interval
            then reaches from one to the other.
    """

    median: float
    low: float | None
    high: float | None
    n: int
    spread: float | None
    likeness: float = 0.0
    levels: tuple[Level, ...] = ()

    @property
    def reach(self) -> float | None:
        """From the median to the further end of the interval, as a share of the median; None without an interval."""
        if self.low is None or self.high is None or self.median <= 0:
            return None
        return max(self.high - self.median, self.median - self.low) / self.median


class Percentile(Frozen):
    """A percentile of latency over the repeats of a result, in nanoseconds.

    Attributes:
        name: `p50`, `p90`, `p99`, `p99.9` or `p99.99`.
        least_ops: Operations of the usable repeat that has fewest.
        ops: Operations of all usable repeats.
        estimate: Of the repeats' own percentiles; None unless each of them has enough operations for it.
        lowest: Of the repeats' own percentiles; None where `estimate` is; likewise `highest`.
        pooled: From all operations together; None if even they are too few.
    """

    name: str
    least_ops: int
    ops: int
    estimate: Estimate | None = None
    lowest: float | None = None
    highest: float | None = None
    pooled: float | None = None

    @property
    def needed(self) -> int:
        """Fewest operations that it can be said of."""
        return LEAST_OPS[self.name]

    @property
    def standing(self) -> Standing:
        """How well it is known."""
        if self.value is None:
            return Standing.TOO_FEW
        low, high = self.interval
        if low is None or high is None:
            return Standing.NO_INTERVAL
        return Standing.KNOWN if high <= WIDEST * low else Standing.UNCERTAIN

    @property
    def value(self) -> float | None:
        """The median over the repeats, or else from all operations together; None if it cannot be said."""
        return self.pooled if self.estimate is None else self.estimate.median

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The 95 % interval of `value`."""
        return (None, None) if self.estimate is None else (self.estimate.low, self.estimate.high)


class Row(Frozen):
    """The result of one operation of one case over all its repeats.

    Attributes:
        throughput: Bytes per second; None without a usable repeat, and where no data is moved.
        iops: Operations per second; None without a usable repeat.
        latency: Name (as in Sample) -> nanoseconds, from the histograms of all repeats pooled; without the percentiles
            that all operations together are too few for.
        percentiles: Those of latency over the repeats, in ascending order; empty if no latencies were recorded.
        start_delay: Likewise, of the delays between intended starts and submissions; empty in closed loop.
        curve: (percentile in percent, nanoseconds) points of the pooled histogram, for drawing.
        findings: All that apply, the worst first; empty means ok.
        machine: Findings that the run's verdict on the machine stands for, so that they are none on this result.
        not_evaluated: `rule: reason` for each rule that lacked evidence, or (`rule: not applicable: reason`) has
            nothing to say of it.
        ceilings: How close it is to each ceiling that applies to it, the closest first.
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
    ceilings: tuple[Binding, ...] = ()
    machine: tuple[Finding, ...] = ()
    percentiles: tuple[Percentile, ...] = ()

    def percentile(self, name: str) -> Percentile | None:
        """The percentile of that name; None if no latencies were recorded."""
        return next((item for item in self.percentiles if item.name == name), None)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All of them, each once, the worst first; a result can have several."""
        return tuple(dict.fromkeys((self.verdict, *(finding.verdict for finding in self.findings))))

    @property
    def no_result(self) -> bool:
        """A verdict says that its rate is not the storage's, or not of all repeats."""
        return not NO_RESULT.isdisjoint(self.verdicts)

    @property
    def binding(self) -> Binding | None:
        """The ceiling that holds it: the one it is closest to, or above.

        Of an impossible result the one that makes it so. A cached one is not held by those it went around: of those
        that were exceeded one counts only if it is below no other.
        """
        found = {finding.verdict: finding for finding in self.findings}
        if Verdict.IMPOSSIBLE in found:
            share = found[Verdict.IMPOSSIBLE].numbers.get("share")
            items = [item for item in self.ceilings if item.share == share]
        else:
            items = [item for item in self.ceilings if Verdict.CACHED in found and item.share <= EXCEEDED]
        return max(items or self.ceilings, key=lambda item: item.share, default=None)

    @property
    def exceeded(self) -> tuple[Binding, ...]:
        """The other ceilings that it is further above than their measurement leaves open, the most exceeded first."""
        return tuple(item for item in self.ceilings if item.share > EXCEEDED and item is not self.binding)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Rules that lacked evidence."""
        return tuple(each.rule for each in self.not_evaluated if each.applies)

    @property
    def as_far_as_seen(self) -> bool:
        """Its verdict is ok, but a rule that might have spoken against it lacked evidence."""
        return self.verdict is Verdict.OK and bool(self.unseen)

    @property
    def vague(self) -> bool:
        """Its rate is known so badly that it says nothing: one end of the interval is several times the other."""
        rate = self.rate
        return rate is not None and rate.low is not None and rate.high is not None and rate.high > VAGUE * rate.low

    @property
    def verdict_words(self) -> str:
        """The verdict, of ok also how far it goes."""
        return AS_FAR_AS_SEEN if self.as_far_as_seen else str(self.verdict)

    @property
    def counted(self) -> bool:
        """Its rate is operations per second: it is about names, or about objects without their contents."""
        return is_counted(self.operation)

    @property
    def rate(self) -> Estimate | None:
        """What it is compared by: throughput, of counted operations their number per second."""
        return self.iops if self.counted else self.throughput


class Comparison(Frozen):
    """One operation at the same parameters on two targets, or in two runs.

    Attributes:
        of: What is compared: the rate (throughput, or operations per second), or a percentile of latency.
        ratio: That of `other` divided by that of `base`. Above 1 a rate is better, and a latency is worse.
        low: Lower end of the 95 % interval of the ratio, of this comparison alone; None if it could not be computed.
        high: Upper end.
        sure_low: Lower end of an interval so wide that those of all comparisons made together hold at once, in 95 of
            100 such analyses; likewise `sure_high`.
        separable: The difference is significant; `assay.analyse.compare` has the rule.
        caveat: Why the figures should not be compared (a bad verdict on a side); empty if none.
        told: All that makes the two sides comparable is known; else nothing is decided by them.
        n_base: Repeats of the base, or runs; likewise `n_other`.
        unit: What counts as one observation: a repeat of one run, or a run.
        p: Two-sided, of there being no difference; None if it could not be computed.
        p_adjusted: The same times the number of comparisons made together and of looks at them (Bonferroni), 1 at most.
        p_own: As `p`, without what other comparisons tell of the noise.
        effect: Cliff's delta, from -1 (what is compared is less in every repeat of `other`) to 1 (it is more).
        likeness: Greatest correlation of a repeat with the one before it that the repeats allow; the intervals and
            p-values allow for it.
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
    of: Compared = "rate"
    told: bool = True
    unit: Literal["repeat", "run"] = "repeat"
    sure_low: float | None = None
    sure_high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    p_own: float | None = None
    effect: float | None = None
    likeness: float | None = None

    def equal(self, within: float) -> bool:
        """Both sides surely differ by no more than a share, as all comparisons hold at once."""
        if self.too_few or self.sure_low is None or self.sure_high is None:
            return False
        return self.sure_low >= 1 - within and self.sure_high <= 1 / (1 - within)

    @property
    def too_few(self) -> bool:
        """Too little was measured on a side for any difference to be called."""
        return self.p is None if self.unit == "run" else min(self.n_base, self.n_other) < LEAST_COMPARED

    @property
    def better(self) -> bool:
        """`other` has the higher rate, or the shorter latency."""
        return self.ratio > 1 if self.of == "rate" else self.ratio < 1


class PricedRun(RunInfo):
    """A run without its results, but with the prices that it carries.

    Attributes:
        prices: Of the designs that its targets stand for, as they were when it began; None if it names none, or if
            what is asked for needs no costs.
    """

    prices: FrozenPrices | None = None


class RunAnalysis(Frozen):
    """Everything a report needs. Cases are in plan order, rows in (case, operation) order.

    Attributes:
        notes: What looked odd, one sentence each.
        decisions: What follows from the comparisons for each pair of targets.
        machine: The verdict on the machine, once for all rows; None if there is none.
        latency_comparisons: Of p50 and of p99, wherever both sides have enough operations for it.
    """

    run: PricedRun
    cases: tuple[Case, ...]
    excluded: tuple[Excluded, ...]
    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    jobs: tuple[JobRecord, ...]
    decisions: tuple[Decision, ...] = ()
    machine: MachineFinding | None = None
    latency_comparisons: tuple[Comparison, ...] = ()
