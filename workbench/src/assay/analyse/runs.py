"""Two runs, or the targets of one run, row by row."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import NamedTuple

from assay.analyse.compare import compare_pairs, has_rate
from assay.analyse.environment_diff import environment_diff
from assay.model.base import AssayError
from assay.model.comparison import NO_RESULT, ComparedRow, RunName, RunsComparison, Side, UncomparedRow
from assay.model.result import LEAST_COMPARED, Comparison, Row, RunAnalysis, RunInfo
from assay.model.verdict import Verdict

NAMES = ("before", "after")


def compare_runs(before: RunAnalysis, after: RunAnalysis, by_target: bool = False) -> RunsComparison:
    """Every row of one run against the same row of another.

    The same is: the same workload, operation and parameters, on the target of the same name. If no name is in both runs
    and each has one target, those two are compared.

    Args:
        before: The first run.
        after: The second one.
        by_target: Every target of the first run against every one of the second, whatever their names.

    Raises:
        AssayError: Which target is to be compared with which is not clear.
    """
    pairs = _target_pairs(_targets(before), _targets(after), by_target)
    differences = environment_diff(_environment(before.run), _environment(after.run))
    compared, uncompared = _compare(before.rows, after.rows, pairs, NAMES, ("first run", "second run"))
    return RunsComparison(
        before=RunName.of(before.run),
        after=RunName.of(after.run),
        rows=compared,
        uncompared=uncompared,
        differences=differences,
    )


def compare_targets(run: RunAnalysis) -> RunsComparison:
    """Every target of a run against every one that the study names after it.

    Raises:
        AssayError: There is one target only.
    """
    targets = _targets(run)
    if len(targets) < 2:
        raise AssayError(f"run {run.run.id} has one target, {targets[0]}", "name two runs to compare them")
    pairs = list(combinations(targets, 2))
    compared, uncompared = _compare(run.rows, run.rows, pairs, None, ("first target", "second target"))
    name = RunName.of(run.run)
    return RunsComparison(before=name, after=name, rows=compared, uncompared=uncompared, differences=())


def _environment(run: RunInfo) -> dict[str, dict[str, str]]:
    return {"versions": run.versions, **run.environment}


def _targets(analysis: RunAnalysis) -> list[str]:
    return list(dict.fromkeys(case.target for case in analysis.cases))


def _target_pairs(before: list[str], after: list[str], by_target: bool) -> list[tuple[str, str]]:
    if by_target:
        return list(product(before, after))
    common = [target for target in before if target in after]
    if not common and len(before) == len(after) == 1:
        return [(before[0], after[0])]
    if not common:
        raise AssayError(
            f"the runs have no target in common: {', '.join(before)} and {', '.join(after)}",
            "`--by target` compares every target of the first run with every one of the second",
        )
    # Targets of one run only stand beside nothing, so that their rows are listed.
    alone = [(target, target) for target in (*before, *after) if target not in common]
    return [(target, target) for target in common] + alone


Key = tuple[str, str, str, int]


def _keyed(rows: Iterable[Row], target: str) -> dict[Key, Row]:
    found: dict[Key, Row] = {}
    seen: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        if row.case.target == target:
            key = (row.case.workload, row.operation, row.case.parameters.model_dump_json())
            found[*key, seen[key]] = row
            seen[key] += 1
    return found


def _compare(
    before: Sequence[Row],
    after: Sequence[Row],
    targets: Sequence[tuple[str, str]],
    names: tuple[str, str] | None,
    sides: tuple[str, str],
) -> tuple[tuple[ComparedRow, ...], tuple[UncomparedRow, ...]]:
    matched: list[tuple[Row, Row]] = []
    rest: list[UncomparedRow] = []
    for first, second in targets:
        here, there = _keyed(before, first), _keyed(after, second)
        for key in dict.fromkeys((*here, *there)):
            old, new = here.get(key), there.get(key)
            if old is not None and new is not None and has_rate(old) and has_rate(new):
                matched.append((old, new))
            else:
                rest.append(_uncompared(old, new, sides))
    comparisons = compare_pairs(matched, names)
    rows = (_compared(old, new, found) for (old, new), found in zip(matched, comparisons, strict=True))
    return tuple(rows), tuple(rest)


def row_words(row: Row) -> str:
    """Workload, parameters and operation of a row, without its target."""
    return f"{row.case.label.removeprefix(f'{row.case.target} / ')}, {row.operation}"


def _uncompared(old: Row | None, new: Row | None, sides: tuple[str, str]) -> UncomparedRow:
    row = old or new
    assert row is not None
    if old is None or new is None:
        reason = f"only in the {sides[old is None]}"
    else:
        both = zip((old, new), sides, strict=True)
        reason = "; ".join(_without_rate(row, side) for row, side in both if not has_rate(row))
    targets = dict.fromkeys(side.case.target for side in (old, new) if side is not None)
    return UncomparedRow(
        name=f"{' -> '.join(targets)} / {row_words(row)}",
        before=old.verdict if old else None,
        after=new.verdict if new else None,
        reason=reason,
    )


def _without_rate(row: Row, side: str) -> str:
    why = f": {row.findings[0].text}" if row.findings else ""
    return f"no usable repeat in the {side}{why}"


def _compared(old: Row, new: Row, comparison: Comparison) -> ComparedRow:
    return ComparedRow(
        what=row_words(new), metadata=new.metadata, comparison=comparison, before=_side(old), after=_side(new)
    )


def _side(row: Row) -> Side:
    assert row.rate is not None
    return Side(
        rate=row.rate,
        verdict=row.verdict,
        finding=row.findings[0].text if row.findings else "",
        p50_ns=row.latency.get("p50"),
        p99_ns=row.latency.get("p99"),
    )


def geometric_means(rows: Iterable[ComparedRow]) -> tuple[float, float, int] | None:
    """Geometric means of the medians before and after, and of how many rows; None if there is none.

    Rows with a false number on a side are left out. All rows must be of the same unit.
    """
    fair = [row for row in rows if not {row.before.verdict, row.after.verdict} & NO_RESULT]
    if not fair:
        return None
    before = math.fsum(math.log(row.before.rate.median) for row in fair) / len(fair)
    after = math.fsum(math.log(row.after.rate.median) for row in fair) / len(fair)
    return math.exp(before), math.exp(after), len(fair)


class Gate(NamedTuple):
    """What a check for slowdowns found.

    Attributes:
        slower: Rows that are significantly slower, by more than is allowed.
        broken: What was measured before and is no result any more, a line each; or that nothing could be judged.
        unjudged: What could not be judged, a line each, but is no reason to fail.
    """

    slower: tuple[ComparedRow, ...]
    broken: tuple[str, ...]
    unjudged: tuple[str, ...]


def gate(found: RunsComparison, allowed: float) -> Gate:
    """Whether the second run is slower than the first by more than is allowed.

    A row is slower if the difference is significant and the estimated slowdown, 1 - ratio of the medians, exceeds
    `allowed`. The estimate is taken, not the end of its interval: who allows 5 % wants to hear of 6 % +- 2 %, and
    significance already keeps noise out. A benchmark that broke must not pass: a row that is missing in the second run,
    has no usable repeat there, is incomplete there, or has become cached or impossible, fails too. A row that had no
    true number before is not judged.

    Args:
        found: The comparison.
        allowed: Greatest slowdown that passes, as a share of the rate before.
    """
    slower = tuple(row for row in found.rows if row.judged and row.comparison.separable and _slowdown(row) > allowed)
    broken = [f"{row.name}: {row.reason}" for row in found.uncompared if row.before is not None]
    unjudged = [f"{row.name}: {row.reason}" for row in found.uncompared if row.before is None]
    for row in found.rows:
        old, new = row.before.verdict, row.after.verdict
        if new is Verdict.INCOMPLETE or (new in NO_RESULT and old not in NO_RESULT):
            broken.append(f"{row.name}: {new} now: {row.after.finding}".rstrip(": "))
        elif {old, new} & NO_RESULT:
            unjudged.append(f"{row.name}: {row.comparison.caveat}")
        elif row.comparison.too_few:
            counts = f"{row.comparison.n_base} and {row.comparison.n_other} repeats"
            unjudged.append(f"{row.name}: {counts}, but at least {LEAST_COMPARED} are needed")
    if not any(row.judged for row in found.rows):
        broken.append("no row could be judged")
    return Gate(slower, tuple(broken), tuple(unjudged))


def _slowdown(row: ComparedRow) -> float:
    return 1 - row.comparison.ratio
