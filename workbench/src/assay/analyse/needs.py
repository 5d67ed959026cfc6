"""Decides whether each target satisfies the needs of the study: yes, no, or not yet, from intervals and verdicts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assay.analyse.decide import DOUBTFUL
from assay.analyse.percentiles import percentiles_of
from assay.model.result.result import Row
from assay.model.result.verdict import HELD, Verdict
from assay.model.study.needs import Need
from assay.model.told import NOT_TOLD


class Met(StrEnum):
    """The answer to a need, the worst first."""

    NO = "no"
    OPEN = "not yet"
    YES = "yes"


_ORDER = tuple(Met)


@dataclass(frozen=True, slots=True)
class Reached:
    """What one result shows about a need.

    Attributes:
        value: Median over the repeats: bytes per second, operations per second, or nanoseconds; None without a result.
        low: Lower end of its 95 % interval; None without an interval.
        high: Upper end of its 95 % interval; None without an interval.
        why: Why the answer is open; empty if it is not.
    """

    row: Row
    met: Met
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""

    def margin(self, need: Need) -> float:
        """Return by how much the result is better than needed, as a factor, at least; 0 if unknown."""
        if need.at_most:
            return need.limit / self.high if self.high else 0.0
        return (self.low or 0.0) / need.limit


@dataclass(frozen=True, slots=True)
class Answer:
    """What one target shows about one need.

    Attributes:
        reached: One for every point, in plan order; never empty.
    """

    need: Need
    target: str
    reached: tuple[Reached, ...]

    @property
    def worst(self) -> Reached:
        """The point that decides: the one with the worst answer, and among these the least margin."""
        return min(self.reached, key=lambda one: (_ORDER.index(one.met), one.margin(self.need)))

    @property
    def met(self) -> Met:
        """Yes if every point says yes, no if any says no."""
        return self.worst.met


def answers(needs: Sequence[Need], rows: Iterable[Row]) -> list[Answer]:
    """Return the answers in the study's order, one for each need and target that has a result for it.

    Args:
        needs: Needs of the study.
        rows: Rows of the run.
    """
    found: dict[tuple[int, str], list[Reached]] = {}
    rows = tuple(rows)
    for place, need in enumerate(needs):
        for row in rows:
            sync = str(row.case.parameters.known("sync", NOT_TOLD))
            if need.covers(row.case.workload, row.operation, sync):
                found.setdefault((place, row.case.target), []).append(_reached(need, row))
    return [Answer(needs[place], target, tuple(reached)) for (place, target), reached in found.items()]


def _reached(need: Need, row: Row) -> Reached:
    value, low, high = _figures(need, row)
    if row.no_result:
        return Reached(row, Met.OPEN, why=str(row.verdict))
    if value is None:
        return Reached(row, Met.OPEN, why="too few operations" if need.at_most and row.rate else "no result")
    if low is None or high is None:
        return Reached(row, Met.OPEN, value, why="one repeat has no interval")
    doubts = [verdict for verdict in row.verdicts if verdict in DOUBTFUL or verdict is Verdict.UNVERIFIED]
    good, bad = (high <= need.limit, low > need.limit) if need.at_most else (low >= need.limit, high < need.limit)
    if doubts and (good or bad):
        return Reached(row, Met.OPEN, value, low, high, why=str(doubts[0]))
    limitation = next((verdict for verdict in row.verdicts if verdict in HELD), None)
    if bad and limitation is not None:
        # A limited result is a lower bound: the storage alone may satisfy the need.
        return Reached(row, Met.OPEN, value, low, high, why=str(limitation))
    met = Met.YES if good else Met.NO if bad else Met.OPEN
    return Reached(
        row, met, value, low, high, why="" if met is not Met.OPEN else "what is needed lies within the interval"
    )


def _figures(need: Need, row: Row) -> tuple[float | None, float | None, float | None]:
    if need.at_most:
        # A percentile over all operations together has no interval.
        percentile = percentiles_of(row).get(need.measure)
        known = percentile is not None and percentile.estimate is not None
        return (percentile.value, *percentile.interval) if percentile is not None and known else (None, None, None)
    rate = row.iops if need.measure == "iops" else row.throughput
    return (None, None, None) if rate is None else (rate.median, rate.low, rate.high)
