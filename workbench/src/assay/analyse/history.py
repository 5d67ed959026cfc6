"""Follows a study over its runs in time: finds where a result moved from one level to another."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from assay.analyse.environments.diff import environment_diff
from assay.analyse.statistics.changes import change_points
from assay.model.result.comparison import History, HistoryChange, HistoryPoint, HistoryRow, RunBoundary, RunLabel
from assay.model.result.run import RunInfo
from assay.model.result.verdict import NO_RESULT

MIN_RUNS = 4
"""With fewer runs a change cannot be distinguished from noise."""
_MIN_LEVEL = 2

Series = Mapping[str, Sequence[HistoryPoint]]
"""Name of a row -> its result in each run that has it, in time order."""


def history(study: str, runs: Sequence[RunInfo], series: Series, counted: Iterable[str]) -> History:
    """Find the change points of every row.

    Changes are searched in the logarithms of the medians, one for each run, because errors of rates are factors, and
    because repeats of one run resemble each other more than those of different runs. A level lasts at least two runs:
    a single outlier is no change. Results whose verdict says that they are no result are left out.

    Args:
        study: Name of the study.
        runs: The oldest first; points refer to positions in this list.
        series: The results.
        counted: Names of the rows whose rates are operations per second.
    """
    in_operations = frozenset(counted)
    rows = [_row(name, points, name in in_operations) for name, points in series.items()]
    rows.sort(key=lambda row: -max((change.after for change in row.changes), default=-1))
    places = sorted({(change.before, change.after) for row in rows for change in row.changes})
    return History(
        study=study,
        runs=tuple(RunLabel.of(run) for run in runs),
        rows=tuple(rows),
        boundaries=tuple(_boundary(before, after, runs) for before, after in places),
    )


def _row(name: str, points: Sequence[HistoryPoint], counted: bool) -> HistoryRow:
    usable = [point for point in points if point.verdict not in NO_RESULT and point.median > 0]
    left_out = (point.run for point in points if point.verdict in NO_RESULT)
    return HistoryRow(
        name=name, is_counted=counted, points=tuple(usable), left_out=tuple(left_out), changes=_changes(usable)
    )


def _changes(points: Sequence[HistoryPoint]) -> tuple[HistoryChange, ...]:
    if len(points) < MIN_RUNS:
        return ()
    logs = [math.log(point.median) for point in points]
    found = change_points(logs, least=_MIN_LEVEL)
    ends = [0, *(point.at for point in found), len(logs)]
    levels = [math.fsum(logs[start:end]) / (end - start) for start, end in pairwise(ends)]
    return tuple(
        HistoryChange(
            before=points[point.at - 1].run, after=points[point.at].run, ratio=math.exp(after - before), p=point.p
        )
        for point, (before, after) in zip(found, pairwise(levels), strict=True)
    )


def _boundary(before: int, after: int, runs: Sequence[RunInfo]) -> RunBoundary:
    old, new = ({"versions": run.versions, **run.environment} for run in (runs[before], runs[after]))
    return RunBoundary(before=before, after=after, differences=environment_diff(old, new))
