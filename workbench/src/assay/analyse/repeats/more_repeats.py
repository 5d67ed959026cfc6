"""Chooses repeats to add to a run for its undecided points, and estimates how long they take."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from assay.analyse.decide import MAX_NEEDED
from assay.model.result.decision import PointOutcome, TargetDecision
from assay.model.result.result import ResultRow

MARGIN = 1.3
"""Factor on the repeats expected to settle a point: one more look at the run widens its intervals."""
MIN_LIMIT_SECONDS = 600.0
"""Points that take longer than this, in seconds, and longer than the run has measured, are left undecided."""
_START = (5.0, 120.0)
"""Least and greatest assumed seconds before the first repeat."""
_MAX_PAUSE_SECONDS = 60.0
"""Longest pause between added repeats, in seconds; longer pauses of a schedule are not repeated."""
_SPARE = 1.25
"""Factor on the expected duration, as a reserve."""


class ExtraRepeats(NamedTuple):
    """Repeats to be added.

    Attributes:
        repeats: Case id -> number of repeats.
        point_count: Number of undecided points that they would likely settle.
        seconds: Time in which they end, including what comes before and after.
        overhead_s: Part of that before the first repeat and after the last.
        too_long_count: Number of undecided points that would take too long; these are left undecided.
        unsettled_count: Number of undecided points that more repeats do not settle.
        has_too_few: No point has had enough repeats for an estimate, so it may stay undecided.
    """

    repeats: Mapping[str, int] = {}
    point_count: int = 0
    seconds: float = 0.0
    overhead_s: float = 0.0
    too_long_count: int = 0
    unsettled_count: int = 0
    has_too_few: bool = False


class _Open(NamedTuple):
    """An undecided point: case id -> repeats to be added, and whether it had too few repeats for an estimate."""

    more: Mapping[str, int]
    few: bool


def more_repeats(rows: Sequence[ResultRow], decisions: Iterable[TargetDecision], created_at: float) -> ExtraRepeats:
    """Choose the repeats that settle as many undecided points as possible in a sensible time, the quickest first.

    Args:
        rows: Rows of the run, with their samples.
        decisions: Decisions of the run.
        created_at: When the run began, in seconds since 1970.
    """
    known, others = {}, 0
    for row in rows:
        known[_key(row.case.workload, row.operation, row.case.target, row.case.axes)] = row
    found: list[_Open] = []
    too_long = 0
    for decision in decisions:
        for point in decision.points_with(PointOutcome.OPEN):
            if point.needs is None:
                others += 1
            elif point.needs > MAX_NEEDED:
                too_long += 1
            else:
                sides = [
                    known[_key(decision.workload, decision.operation, name, point.axes)]
                    for name in (decision.base, decision.other)
                ]
                found.append(_Open(_added(sides, point.needs), point.too_few))
    times = _Times(rows, created_at)
    chosen, more = _chosen(found, times)
    return ExtraRepeats(
        repeats=more,
        point_count=len(chosen),
        seconds=times.around + _SPARE * times.of(more) if more else 0.0,
        overhead_s=times.around,
        too_long_count=too_long + len(found) - len(chosen),
        unsettled_count=others,
        has_too_few=bool(chosen) and all(point.few for point in chosen),
    )


def _key(workload: str, operation: str, target: str, axes: Mapping[str, object]) -> tuple[object, ...]:
    return workload, operation, target, tuple(sorted(axes.items()))


def _added(sides: Sequence[ResultRow], needs: int) -> dict[str, int]:
    """Return case id -> repeats to add."""
    wanted = math.ceil(MARGIN * needs)
    return {row.case.id: max(0, wanted - (row.rate.n if row.rate is not None else 0)) for row in sides}


def _chosen(found: Sequence[_Open], times: "_Times") -> tuple[list[_Open], dict[str, int]]:
    """Return the points that fit into a sensible time, and the repeats that they take together."""
    chosen: list[_Open] = []
    more: dict[str, int] = {}
    for point in sorted(found, key=lambda point: times.of(point.more)):
        both = more | {case: max(count, more.get(case, 0)) for case, count in point.more.items()}
        if times.of(both) > times.sensible:
            break
        chosen.append(point)
        more = both
    return chosen, {case: count for case, count in more.items() if count}


class _Times:
    """Expected durations of repeats, by those of the run."""

    def __init__(self, rows: Sequence[ResultRow], created_at: float) -> None:
        spans: dict[str, dict[int, list[tuple[float, float]]]] = {}
        for row in rows:
            for sample in row.samples:
                if not sample.has("started_at"):
                    continue
                span = (sample.started_at, sample.started_at + (sample.get_value("elapsed_ns") or 0) / 1e9)
                spans.setdefault(row.case.id, {}).setdefault(sample.repeat, []).append(span)
        whole = {case: [_whole(parts) for parts in each.values()] for case, each in spans.items()}
        every = sorted(span for each in whole.values() for span in each)
        pause = min(_MAX_PAUSE_SECONDS, median(_pauses(every)) if len(every) > 1 else 0.0)
        self._each = {
            case: pause + math.fsum(end - start for start, end in each) / len(each) for case, each in whole.items()
        }
        before = every[0][0] - created_at if every else 0.0
        self.around = min(max(before, _START[0]), _START[1])
        self.sensible = max(MIN_LIMIT_SECONDS, math.fsum(self._each[case] * len(each) for case, each in whole.items()))

    def of(self, more: Mapping[str, int]) -> float:
        """Return the seconds of this many repeats of each case."""
        return math.fsum(count * self._each.get(case, 0.0) for case, count in more.items())


def _whole(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return min(start for start, _ in parts), max(end for _, end in parts)


def _pauses(spans: Sequence[tuple[float, float]]) -> Iterator[float]:
    for (_, end), (start, _) in pairwise(spans):
        yield max(0.0, start - end)
