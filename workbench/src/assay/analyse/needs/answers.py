"""Decides whether each target satisfies the needs of the study."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.analyse.needs.decide import decide
from assay.analyse.needs.outcome import ORDER, NeedLimit, NeedOutcome, NeedStatus
from assay.model.partial import MISSING_TEXT
from assay.model.result.result import ResultRow
from assay.model.study.needs import TargetNeed


class NeedResult(NamedTuple):
    """What one result shows about a need."""

    row: ResultRow
    outcome: NeedOutcome


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
        limit = _limit(self.need)
        return min(self.results, key=lambda one: (ORDER.index(one.outcome.status), one.outcome.margin(limit)))

    @property
    def status(self) -> NeedStatus:
        """Yes if every point says yes, no if any says no."""
        return self.worst.outcome.status

    @property
    def margin(self) -> float:
        """By how much the worst point is better than needed, as a factor, at least; 0 if unknown."""
        return self.worst.outcome.margin(_limit(self.need))


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
                result = NeedResult(row, decide(_limit(need), row))
                found.setdefault((place, row.case.target), []).append(result)
    return [NeedAnswer(needs[place], target, tuple(results)) for (place, target), results in found.items()]


def _limit(need: TargetNeed) -> NeedLimit:
    return NeedLimit(need.measure, need.limit)
