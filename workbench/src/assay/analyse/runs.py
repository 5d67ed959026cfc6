"""Compares two runs, or the targets of one run, row by row."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from assay.analyse.compare import LATENCIES, compare_medians, compare_rounds, has_rate, is_comparable, key_of
from assay.analyse.environments.diff import environment_diff
from assay.analyse.estimate import estimate
from assay.analyse.matching import matched_rows, row_label
from assay.analyse.percentiles import percentiles_of
from assay.analyse.run_variation import MIN_RUNS, RunVariation
from assay.model.base import AssayError
from assay.model.result.comparison import (
    ComparedRow,
    ComparedSide,
    RunLabel,
    RunsComparison,
    UncomparedRow,
)
from assay.model.result.result import ComparedQuantity, Comparison, Percentile, ResultRow, RunAnalysis
from assay.model.result.run import RunInfo
from assay.model.result.verdict import NO_RESULT, Verdict
from assay.model.study.repeats import MIN_COMPARED

NAMES = ("before", "after")
MORE_RUNS_HINT = (
    f"run the study {MIN_RUNS} times a side and join the runs by commas, or keep {MIN_RUNS} or more earlier runs of"
    " it in the folder; two places that you have now are compared by `assay ab A B`"
)


def compare_runs(
    before: Sequence[RunAnalysis],
    after: Sequence[RunAnalysis],
    by_target: bool = False,
    variation: RunVariation | None = None,
) -> RunsComparison:
    """Compare every row of one run, or of several, with the same row of another run, or of several.

    Rows are the same if they have the same workload, operation and parameters on the target of the same name. If no
    name is in both runs and each has one target, those two are compared.

    Args:
        before: The first run; several runs are of the same study, the oldest first.
        after: The second run, or several of one study.
        by_target: Compare every target of the first run with every one of the second, whatever their names.
        variation: Variation between runs of this study without any change; None if unknown.

    Raises:
        AssayError: It is unclear which targets to compare.
    """
    pairs = _target_pairs(targets_of(before[-1]), targets_of(after[-1]), by_target)
    differences = environment_diff(environment_of(before[-1].run), environment_of(after[-1].run))
    matched, rest = matched_rows(before[-1].rows, after[-1].rows, pairs, ("first run", "second run"))
    same = _same(matched, before, after)
    # The variation of latencies between runs is unknown: `known` has rates only.
    latencies = {of: _medians(same, None, of) for of in LATENCIES}
    compared = _compared(matched, _medians(same, variation), latencies, same)
    return RunsComparison(
        before=RunLabel.of(before[-1].run),
        after=RunLabel.of(after[-1].run),
        runs=(len(before), len(after)),
        known_runs=0 if variation is None else variation.run_count,
        typical_difference=None if variation is None else variation.typical,
        rows=compared,
        uncompared=tuple(rest),
        differences=differences,
    )


PairComparisons = dict[int, Comparison]
"""Index of a matched pair -> its comparison."""
SameRows = Sequence[tuple[list[ResultRow], list[ResultRow]]]
"""For each matched pair, its rows in all runs before and in all runs after."""


def _same(
    matched: Sequence[tuple[ResultRow, ResultRow]], before: Sequence[RunAnalysis], after: Sequence[RunAnalysis]
) -> SameRows:
    here, there = _by_key(before), _by_key(after)
    return [(here[key_of(old)], there[key_of(new)]) for old, new in matched]


def _by_key(runs: Sequence[RunAnalysis]) -> dict[tuple[str, ...], list[ResultRow]]:
    found: dict[tuple[str, ...], list[ResultRow]] = {}
    for run in runs:
        for row in run.rows:
            found.setdefault(key_of(row), []).append(row)
    return found


def _medians(same: SameRows, known: RunVariation | None, of: ComparedQuantity = "rate") -> PairComparisons:
    """Compare the pairs of which both sides have runs with a value to compare."""
    every = ((_known(before, of), _known(after, of)) for before, after in same)
    sides = {place: (before, after) for place, (before, after) in enumerate(every) if before and after}
    return dict(zip(sides, compare_medians(list(sides.values()), NAMES, known, of), strict=True))


def _known(rows: Sequence[ResultRow], of: ComparedQuantity) -> list[ResultRow]:
    """Return the rows with a rate; none if one of them has too few operations for a percentile, as slow ones do."""
    measured = [row for row in rows if has_rate(row)]
    return measured if all(is_comparable(row, of) for row in measured) else []


def _rounds(
    matched: Sequence[tuple[ResultRow, ResultRow]], looks: int, of: ComparedQuantity = "rate"
) -> PairComparisons:
    """Compare the pairs of which both targets have a value to compare."""
    sides = {place: pair for place, pair in enumerate(matched) if all(is_comparable(row, of) for row in pair)}
    return dict(zip(sides, compare_rounds(list(sides.values()), looks=looks, of=of), strict=True))


def compare_targets(run: RunAnalysis) -> RunsComparison:
    """Compare every target of a run with every target that the study names after it.

    Raises:
        AssayError: There is one target only.
    """
    targets = targets_of(run)
    if len(targets) < 2:
        raise AssayError(f"run {run.run.id} has one target, {targets[0]}", "name two runs to compare them")
    pairs = list(combinations(targets, 2))
    matched, rest = matched_rows(run.rows, run.rows, pairs, ("first target", "second target"))
    looks = run.run.look_count
    compared = _compared(matched, _rounds(matched, looks), {of: _rounds(matched, looks, of) for of in LATENCIES})
    name = RunLabel.of(run.run)
    alone = tuple(rest) if len(pairs) == 1 else _each_once(rest, matched)
    return RunsComparison(before=name, after=name, rows=compared, uncompared=alone, differences=())


def _each_once(
    rest: Iterable[UncomparedRow], matched: Sequence[tuple[ResultRow, ResultRow]]
) -> tuple[UncomparedRow, ...]:
    """Return the rows without a partner in any pair of targets, each once; rows without a rate stay with their pair."""
    partnered = {f"{row.case.target} / {row_label(row)}" for pair in matched for row in pair}
    found: dict[object, UncomparedRow] = {}
    for row in rest:
        if row.before is not None and row.after is not None:
            found[len(found)] = row
        elif row.name not in partnered:
            found.setdefault(row.name, row.model_copy(update={"reason": "on no other target"}))
    return tuple(found.values())


def environment_of(run: RunInfo) -> dict[str, dict[str, str]]:
    """Return what a run's results depend on, section by section, with the versions as one of them."""
    return {"versions": run.versions, **run.environment}


def targets_of(analysis: RunAnalysis) -> list[str]:
    """Return the targets that have cases, in the order of the run."""
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
    # A target in one run only is paired with itself, so that its rows are listed as not compared.
    alone = [(target, target) for target in (*before, *after) if target not in common]
    return [(target, target) for target in common] + alone


def _compared(
    matched: Sequence[tuple[ResultRow, ResultRow]],
    rates: PairComparisons,
    latencies: Mapping[ComparedQuantity, PairComparisons],
    same: SameRows | None = None,
) -> tuple[ComparedRow, ...]:
    runs = same or [([old], [new]) for old, new in matched]
    return tuple(
        ComparedRow(
            what=row_label(new),
            is_counted=new.is_counted,
            comparison=rates[place],
            before=_side(old, runs[place][0]),
            after=_side(new, runs[place][1]),
            p50=latencies["p50"].get(place),
            p99=latencies["p99"].get(place),
        )
        for place, (old, new) in enumerate(matched)
    )


def _middle(found: Sequence[Percentile]) -> Percentile:
    """Return the percentile with the middle value."""
    return sorted(found, key=lambda one: one.value or 0.0)[len(found) // 2]


def _side(row: ResultRow, runs: Sequence[ResultRow]) -> ComparedSide:
    """Return the results of a row on one side: medians of several runs, or the repeats of a single run."""
    assert row.rate is not None
    medians = [one.rate.median for one in runs if one.rate is not None and one.rate.median > 0]
    every = [percentiles_of(one) for one in runs]
    known = {name: _middle([found[name] for found in every if name in found]) for name in percentiles_of(row)}
    return ComparedSide(
        rate=estimate(medians) if len(medians) > 1 else row.rate,
        verdict=row.verdict,
        finding=row.findings[0].text if row.findings else "",
        p50=known.get("p50"),
        p99=known.get("p99"),
    )


def mean_ratio(rows: Iterable[ComparedRow]) -> tuple[float, int] | None:
    """Return the geometric mean of the ratios of medians, after / before, and the number of rows; None without rows.

    Rows with a false number on a side are left out.
    """
    logs = [math.log(row.after.rate.median / row.before.rate.median) for row in rows if not row.has_no_result]
    return (math.exp(math.fsum(logs) / len(logs)), len(logs)) if logs else None


class UnjudgedRow(NamedTuple):
    """A row that could not be judged, and why."""

    row: str
    why: str

    def __str__(self) -> str:
        return f"{self.row}: {self.why}"


class LostRow(NamedTuple):
    """A row that no longer has a result, and why.

    Attributes:
        row: Its name; empty for the comparison as a whole.
    """

    row: str
    why: str

    def __str__(self) -> str:
        return f"{self.row}: {self.why}" if self.row else self.why


class Gate(NamedTuple):
    """The result of a check for slowdowns.

    Attributes:
        slower: Rows that are significantly slower, by more than is allowed.
        lost: Rows with a result before and none now; or the fact that no row could be judged.
        unjudged: Rows that could not be judged, without being a reason to fail.
        is_undecided: No row could be judged, because the variation between unchanged runs is unknown.
    """

    slower: tuple[ComparedRow, ...]
    lost: tuple[LostRow, ...]
    unjudged: tuple[UnjudgedRow, ...]
    is_undecided: bool = False


def gate(found: RunsComparison, allowed: float) -> Gate:
    """Check whether the second run is slower than the first by more than is allowed.

    A row is slower if the difference is significant and the estimated slowdown, 1 - ratio of the medians, exceeds
    `allowed`. The estimate counts, not the end of its interval: with 5 % allowed, 6 % +- 2 % should fail, and
    significance already excludes noise. A broken benchmark must not pass: a row that is missing in the second run, has
    no usable repeat there, is incomplete there, or has become cached or impossible, fails too. A row that had no true
    number before is not judged.

    Args:
        found: The comparison.
        allowed: Greatest slowdown that passes, as a share of the rate before.
    """
    slower = tuple(row for row in found.rows if row.is_judged and row.comparison.separable and _slowdown(row) > allowed)
    broken = [LostRow(row.name, row.reason) for row in found.uncompared if row.before is not None]
    unjudged = [UnjudgedRow(row.name, row.reason) for row in found.uncompared if row.before is None]
    for row in found.rows:
        old, new = row.before.verdict, row.after.verdict
        if new is Verdict.INCOMPLETE or (new in NO_RESULT and old not in NO_RESULT):
            broken.append(LostRow(row.name, f"{new} now: {row.after.finding}".rstrip(": ")))
        elif row.has_no_result or not row.comparison.conditions_known:
            unjudged.append(UnjudgedRow(row.name, row.comparison.caveat))
        elif row.comparison.has_too_few:
            unjudged.append(UnjudgedRow(row.name, _too_few(row.comparison)))
    unknown = [row for row in found.rows if row.comparison.unit == "run" and row.comparison.has_too_few]
    if not any(row.is_judged for row in found.rows) and not unknown:
        broken.append(LostRow("", "no row could be judged"))
    return Gate(slower, tuple(broken), tuple(unjudged), bool(unknown) and not any(row.is_judged for row in found.rows))


def _too_few(pair: Comparison) -> str:
    """Return what is missing for a judgement."""
    if pair.unit == "run":
        return f"needs {MIN_RUNS} runs a side, or {MIN_RUNS} other runs of the study, to separate change from chance"
    return f"{pair.n_base} and {pair.n_other} repeats, but at least {MIN_COMPARED} are needed"


def undetectable_count(found: RunsComparison, allowed: float) -> int:
    """Return the number of judged rows whose variation is too large to show a slowdown of `allowed`."""
    return sum(
        row.is_judged and not row.comparison.separable and (row.comparison.low or 1.0) < 1 - allowed
        for row in found.rows
    )


def _slowdown(row: ComparedRow) -> float:
    return 1 - row.comparison.ratio
