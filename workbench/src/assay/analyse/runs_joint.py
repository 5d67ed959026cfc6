"""Puts the results of any number of runs beside each other, and compares each with those of the first run."""

from collections.abc import Sequence

from assay.analyse.compare import compare_medians, has_rate
from assay.analyse.matching import Key, keyed_rows, row_label
from assay.analyse.run_variation import RunVariation
from assay.analyse.runs import targets_of
from assay.model.result.comparison import JointResult, JointRow, JointRuns, RunLabel
from assay.model.result.result import Comparison, ResultRow, RunAnalysis

_NAMES = ("first run", "run")
Pairs = dict[tuple[int, int], tuple[ResultRow, ResultRow]]
"""(Number of a row, number of a run after the first) -> its result in the first run and in that one."""


def joint_runs(runs: Sequence[RunAnalysis], variation: RunVariation | None = None) -> JointRuns:
    """Return each result of any run once, with its values in all of them.

    Results are the same if they have the same workload, operation and parameters on the target of the same name. If
    no two runs have a target in common and each has one, all are taken for the same target.

    Args:
        runs: At least two. The others are compared with the first one.
        variation: Variation between runs of this study without any change; None if unknown.
    """
    found: dict[tuple[str, Key], list[ResultRow | None]] = {}
    for place, run in enumerate(runs):
        for target, name in _target_names(runs)[place].items():
            for key, row in keyed_rows(run.rows, target).items():
                found.setdefault((name, key), [None] * len(runs))[place] = row
    rows = list(found.values())
    compared = _compared(rows, variation)
    return JointRuns(
        runs=tuple(RunLabel.of(run.run) for run in runs),
        rows=tuple(
            _joint_row(name, row, [compared.get((number, place)) for place in range(len(runs))])
            for number, ((name, _), row) in enumerate(found.items())
        ),
    )


def _target_names(runs: Sequence[RunAnalysis]) -> list[dict[str, str]]:
    """Return for each run: target -> name of the rows that it shares with targets of other runs."""
    targets = [targets_of(run) for run in runs]
    every = [target for names in targets for target in names]
    if len(set(every)) == len(every) == len(runs):
        return [{names[0]: ""} for names in targets]
    return [{target: target for target in names} for names in targets]


def _compared(
    rows: Sequence[Sequence[ResultRow | None]], variation: RunVariation | None
) -> dict[tuple[int, int], Comparison]:
    """Return comparisons with the first run by number of row and run; all of them are adjusted for their number."""
    pairs: Pairs = {}
    for number, (first, *others) in enumerate(rows):
        for place, other in enumerate(others, 1):
            if first is not None and other is not None and has_rate(first) and has_rate(other):
                pairs[number, place] = (first, other)
    sides = [([first], [other]) for first, other in pairs.values()]
    return dict(zip(pairs, compare_medians(sides, _NAMES, variation), strict=True))


def _joint_row(name: str, rows: Sequence[ResultRow | None], compared: Sequence[Comparison | None]) -> JointRow:
    first = next(row for row in rows if row is not None)
    return JointRow(
        target=name,
        what=row_label(first),
        operation=first.operation,
        is_counted=first.is_counted,
        results=tuple(
            None
            if row is None
            else JointResult(rate=row.rate, verdict=row.verdict, finding=row.findings[0].text if row.findings else "")
            for row in rows
        ),
        comparisons=tuple(compared),
    )
