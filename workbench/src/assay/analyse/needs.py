"""Decides whether each target satisfies the needs of the study: yes, no, or not yet, from intervals and verdicts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assay.analyse.decide import DOUBTFUL
from assay.analyse.percentiles import percentiles_of
from assay.model.partial import MISSING_TEXT
from assay.model.result.result import ResultRow
from assay.model.result.verdict import LOWER_BOUND, Verdict
from assay.model.study.needs import TargetNeed


class NeedStatus(StrEnum):
    """The answer to a need, the worst first."""

    NO = "no"
    OPEN = "not yet"
    YES = "yes"


_ORDER = tuple(NeedStatus)


@dataclass(frozen=True, slots=True)
class NeedResult:
    """What one result shows about a need.

    Attributes:
        value: Median over the repeats: bytes per second, operations per second, or nanoseconds; None without a result.
        low: Lower end of its 95 % interval; None without an interval.
        high: Upper end of its 95 % interval; None without an interval.
        why: Why the answer is open; empty if it is not.
    """

    row: ResultRow
    status: NeedStatus
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""

    def margin(self, need: TargetNeed) -> float:
        """Return by how much the result is better than needed, as a factor, at least; 0 if unknown."""
        if need.is_upper_limit:
            return need.limit / self.high if self.high else 0.0
        return (self.low or 0.0) / need.limit


@dataclass(frozen=True, slots=True)
class NeedAnswer:
    """What one target shows about one need.

    Attributes:
        results: One for every point, in plan order; never empty.
    """

    need: TargetNeed
    target: str
    results: tuple[NeedResult, ...]

    @property
    def worst(self) -> NeedResult:
        """The point that decides: the one with the worst answer, and among these the least margin."""
        return min(self.results, key=lambda one: (_ORDER.index(one.status), one.margin(self.need)))

    @property
    def status(self) -> NeedStatus:
        """Yes if every point says yes, no if any says no."""
        return self.worst.status


def need_answers(needs: Sequence[TargetNeed], rows: Iterable[ResultRow]) -> list[NeedAnswer]:
    """Return the answers in the study's order, one for each need and target that has a result for it.

    Args:
        needs: Needs of the study.
        rows: Rows of the run.
    """
    found: dict[tuple[int, str], list[NeedResult]] = {}
    rows = tuple(rows)
    for place, need in enumerate(needs):
        for row in rows:
            sync = str(row.case.parameters.get_value("sync", MISSING_TEXT))
            if need.covers(row.case.workload, row.operation, sync):
                found.setdefault((place, row.case.target), []).append(_reached(need, row))
    return [NeedAnswer(needs[place], target, tuple(reached)) for (place, target), reached in found.items()]


def _reached(need: TargetNeed, row: ResultRow) -> NeedResult:
    value, low, high = _figures(need, row)
    if row.has_no_result:
        return NeedResult(row, NeedStatus.OPEN, why=str(row.verdict))
    if value is None:
        return NeedResult(
            row, NeedStatus.OPEN, why="too few operations" if need.is_upper_limit and row.rate else "no result"
        )
    if low is None or high is None:
        return NeedResult(row, NeedStatus.OPEN, value, why="one repeat has no interval")
    doubts = [verdict for verdict in row.verdicts if verdict in DOUBTFUL or verdict is Verdict.UNVERIFIED]
    good, bad = (
        (high <= need.limit, low > need.limit) if need.is_upper_limit else (low >= need.limit, high < need.limit)
    )
    if doubts and (good or bad):
        return NeedResult(row, NeedStatus.OPEN, value, low, high, why=str(doubts[0]))
    limitation = next((verdict for verdict in row.verdicts if verdict in LOWER_BOUND), None)
    if bad and limitation is not None:
        # A limited result is a lower bound: the storage alone may satisfy the need.
        return NeedResult(row, NeedStatus.OPEN, value, low, high, why=str(limitation))
    met = NeedStatus.YES if good else NeedStatus.NO if bad else NeedStatus.OPEN
    return NeedResult(
        row, met, value, low, high, why="" if met is not NeedStatus.OPEN else "the needed value is within the interval"
    )


def _figures(need: TargetNeed, row: ResultRow) -> tuple[float | None, float | None, float | None]:
    if need.is_upper_limit:
        # A percentile over all operations together has no interval.
        percentile = percentiles_of(row).get(need.measure)
        known = percentile is not None and percentile.estimate is not None
        return (percentile.value, *percentile.interval) if percentile is not None and known else (None, None, None)
    rate = row.iops if need.measure == "iops" else row.throughput
    return (None, None, None) if rate is None else (rate.median, rate.low, rate.high)
