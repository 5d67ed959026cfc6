"""Compares two targets, or two runs, at the same workload, operation and parameters.

Rates, or percentiles of latency, are compared as logarithms, since their errors are factors. These rules keep chance
from looking like a difference:

* Repeats of one run are compared round by round. Both sides of a round ran on the same machine at nearly the same time,
  and what affected both cancels out. What affected only one side, such as a stall, makes a few differences very large:
  with `MIN_TRIMMED` rounds or more a fifth is cut off at either end (Yuen 1974, "The two-sample trimmed t for unequal
  population variances", Biometrika 61).
* Noise is estimated from all comparisons of the same two targets together (`assay.analyse.statistics.moderate`): four
  repeats alone show little of it.
* Repeats that correlate with their neighbours count for less (`assay.analyse.statistics.autocorrelation`).
* A p-value is multiplied by the number of comparisons made together (Bonferroni), and by the number of looks at them.
  Otherwise one in 20 comparisons of equal things would be called different. Holm's adjustment would call a few more
  different, but without an interval that excludes equality, so without a lower bound of the difference.
* A decision does not change. A comparison uses what had been measured when its own last repeat was done: later rounds
  of other comparisons, which are still open, do not affect it.
* A difference is only called if the comparison by itself, without the noise of others, also has p < 0.05, so that no
  outlier makes a difference where noise is small elsewhere; and only from `MIN_COMPARED` repeats on.

Rates, p50 and p99 are separate families: each is adjusted for its own comparisons only, so that comparing latencies
does not weaken the comparison of rates. Where the sides are equal, each family shows a difference in at most 5 of 100
analyses, and all three together in at most 15.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Literal

from assay.analyse.percentiles import repeat_percentiles
from assay.analyse.run_variation import LEVEL, MIN_RUNS, Key, RunVariation
from assay.analyse.statistics.autocorrelation import (
    autocorrelation_bound,
    degrees_of_freedom,
    variance_bias,
    variance_inflation,
)
from assay.analyse.statistics.moderate import moderate
from assay.analyse.statistics.significance import cliffs_delta, t_p_value, t_quantile
from assay.analyse.usable import usable
from assay.model.result.result import ComparedQuantity, Comparison, ResultRow
from assay.model.result.verdict import OWN_SPEED
from assay.model.study.case import Case
from assay.model.study.names import IMPORTED
from assay.model.study.parameters import DEFINITIONS
from assay.model.study.repeats import MIN_COMPARED

MAX_NAMED = 3
"""At most this many unknown parameters are named in a caveat."""
SET_COUNTS = ("files", "total_files")
"""Parameters that say whether the work was on a set of files."""
MAIN_CONDITIONS = ("record_size", "file_size", "cache", "queue_depth", "lanes", "hosts", "sync", "compressible")
"""Parameters that change rates the most; they are named first if they are not known."""
TRIMMED_SHARE = 0.2
"""Share of the rounds that is cut off at either end."""
MIN_TRIMMED = 12
"""With fewer rounds none is cut off: the rest would show too little of its noise."""
LATENCIES: tuple[ComparedQuantity, ...] = ("p50", "p99")
"""The percentiles of latency that are compared."""
_Sides = tuple[Mapping[int, float], Mapping[int, float]]
_RESOLUTION = 1 / 1024
"""Relative resolution of a latency histogram; its absolute resolution is a nanosecond."""


def compare(rows: Iterable[ResultRow], looks: int = 1, of: ComparedQuantity = "rate") -> tuple[Comparison, ...]:
    """Compare every pair of targets wherever both have a result; the first target is the base.

    Args:
        rows: Rows of one run.
        looks: How often the run was, or may have been, checked for a decision.
        of: The quantity to compare; percentiles only where both sides have enough operations.
    """
    groups: dict[object, list[ResultRow]] = {}
    for row in rows:
        if is_comparable(row, of):
            groups.setdefault(_key(row), []).append(row)
    pairs = (pair for group in groups.values() for pair in combinations(group, 2))
    apart = [(base, other) for base, other in pairs if base.case.target != other.case.target]
    return compare_rounds(apart, looks=looks, of=of)


def is_comparable(row: ResultRow, of: ComparedQuantity) -> bool:
    """Whether a row has a value above zero to compare."""
    return has_rate(row) if of == "rate" else bool(_values(row, of))


def has_rate(row: ResultRow) -> bool:
    """Whether a row has a rate above zero, so that it can be compared."""
    return row.rate is not None and row.rate.median > 0


def _key(row: ResultRow) -> object:
    return row.case.workload, row.operation, tuple(row.case.axes.items())


@dataclass(frozen=True, slots=True)
class _Difference:
    """The difference of two rows, on a logarithmic scale.

    Attributes:
        series: Independent series of values: the differences of the rounds, or the values of both sides.
        centre: Mean logarithm of the other side minus that of the base.
        variance: Variance of one value of a series; None with too few values. Where values were cut off, it is scaled
            so that the standard error of the centre follows from the full number of values.
        counts: Number of values in each series.
        cut: Number of values cut off, which add nothing to the knowledge of the variance.
    """

    series: tuple[tuple[float, ...], ...]
    centre: float
    variance: float | None
    counts: tuple[int, ...]
    cut: int = 0

    @classmethod
    def of(cls, series: tuple[tuple[float, ...], ...], centre: float) -> "_Difference":
        """Compute the difference from its series."""
        counts = tuple(len(values) for values in series)
        freedom = sum(counts) - len(counts)
        squares = math.fsum((value - _mean(values)) ** 2 for values in series for value in values)
        known = min(counts) >= 2
        return cls(series, centre, squares / freedom if known else None, counts)

    @classmethod
    def trimmed(cls, values: tuple[float, ...]) -> "_Difference":
        """Compute the difference from one series, with both ends cut off if it is long enough."""
        count = len(values)
        end = int(TRIMMED_SHARE * count) if count >= MIN_TRIMMED else 0
        if not end:
            return cls.of((values,), _mean(values))
        inner = sorted(values)[end:-end]
        # A value beyond is replaced by the last value that remains (winsorizing).
        winsorized = tuple(min(max(value, inner[0]), inner[-1]) for value in values)
        middle = _mean(winsorized)
        variance = math.fsum((value - middle) ** 2 for value in winsorized) / (count - 1)
        return cls((winsorized,), _mean(inner), variance / (len(inner) / count) ** 2, (count,), 2 * end)


def compare_rounds(
    pairs: Sequence[tuple[ResultRow, ResultRow]],
    names: tuple[str, str] | None = None,
    looks: int = 1,
    of: ComparedQuantity = "rate",
) -> tuple[Comparison, ...]:
    """Compare rows of one run, in order, and decide for all of them together which differences are significant.

    Args:
        pairs: Base row and other row; both `comparable`.
        names: Names of the two sides in caveats; None for the names of their targets.
        looks: As in `compare`.
        of: As in `compare`.
    """
    sides = [(_values(base, of), _values(other, of)) for base, other in pairs]
    tests: dict[int, _Test] = {}
    for numbers in _by_targets(pairs):
        tests |= _in_stages({number: sides[number] for number in numbers}, looks)
    ready = [(base, other, here, there) for (base, other), (here, there) in zip(pairs, sides, strict=True)]
    values = [(base, other, tuple(here.values()), tuple(there.values())) for base, other, here, there in ready]
    return tuple(_comparisons(values, [tests[number] for number in range(len(pairs))], names, looks, "repeat", of))


def compare_medians(
    pairs: Sequence[tuple[Sequence[ResultRow], Sequence[ResultRow]]],
    names: tuple[str, str] | None,
    variation: RunVariation | None,
    of: ComparedQuantity = "rate",
) -> tuple[Comparison, ...]:
    """Compare rows of different runs, in order. Each run counts as one observation: its median over repeats.

    Args:
        pairs: The rows of the runs before, and of the runs after; each `comparable`.
        names: Names of the two sides in caveats; None for the names of their targets.
        variation: Variation of the compared quantity between runs of the study without any change. Without it, a
            side of
            fewer than `MIN_RUNS` runs shows no difference.
        of: As in `compare`.
    """
    ready = [(before[-1], after[-1], _medians(before, of), _medians(after, of)) for before, after in pairs]
    tests: dict[int, _Test] = {}
    for numbers in _by_targets([(base, other) for base, other, _, _ in ready]):
        several = [number for number in numbers if min(map(len, ready[number][2:])) >= MIN_RUNS]
        tests |= dict(zip(several, _tests([_unpaired(*ready[number][2:]) for number in several], False), strict=True))
    found = []
    for number, (base, _, here, there) in enumerate(ready):
        found.append(
            tests[number] if number in tests else _test_by_history(_unpaired(here, there), variation, key_of(base))
        )
    return tuple(_comparisons(ready, found, names, 1, "run", of))


def key_of(row: ResultRow) -> Key:
    """Return the key of a row, the same in any run."""
    return row.case.target, row.case.workload, row.operation, row.case.parameters.model_dump_json()


def _by_targets(pairs: Sequence[tuple[ResultRow, ResultRow]]) -> Iterable[list[int]]:
    """Group the pairs by their two targets, as indexes; pairs without a storage result are groups of their own."""
    groups: dict[tuple[str, str, bool], list[int]] = {}
    for number, (base, other) in enumerate(pairs):
        groups.setdefault((base.case.target, other.case.target, _answers_nothing(base, other)), []).append(number)
    return groups.values()


def _answers_nothing(base: ResultRow, other: ResultRow) -> bool:
    """Whether a value of either side is no result of the storage, so that the comparison answers no question."""
    return base.has_no_result or other.has_no_result


def _values(row: ResultRow, of: ComparedQuantity) -> dict[int, float]:
    """Return repeat -> compared value for the usable repeats of a row, without zeros, which have no logarithm."""
    samples = usable(row.samples)
    found = {sample.repeat: sample.rate for sample in samples} if of == "rate" else repeat_percentiles(samples, of)
    return {repeat: value for repeat, value in found.items() if value > 0}


def _medians(rows: Sequence[ResultRow], of: ComparedQuantity) -> tuple[float, ...]:
    return tuple(median(_values(row, of).values()) for row in rows)


def _in_stages(sides: Mapping[int, _Sides], looks: int) -> dict[int, "_Test"]:
    """Test pairs of the same two targets, each with what all pairs had shown when its own last round was done.

    With a single look all pairs have the same rounds, except failed ones.
    """
    last = {number: max(here.keys() & there.keys(), default=0) for number, (here, there) in sides.items()}
    if looks == 1:
        last = dict.fromkeys(last, max(last.values()))
    found: dict[int, _Test] = {}
    for stage in sorted(set(last.values())):
        tests = _tests([_rounds(here, there, stage) for here, there in sides.values()])
        together = zip(sides, tests, strict=True)
        found |= {number: test for number, test in together if last[number] == stage}
    return found


def _rounds(here: Mapping[int, float], there: Mapping[int, float], stage: int) -> _Difference:
    """Return the difference over all rounds up to `stage`."""
    series = tuple(math.log(there[repeat] / here[repeat]) for repeat in here if repeat in there and repeat <= stage)
    return _Difference.trimmed(series)


def deviation_of(values: Sequence[float]) -> float | None:
    """Return the standard deviation that a comparison uses for a series of rounds; None with fewer than two values."""
    variance = _Difference.trimmed(tuple(values)).variance
    return None if variance is None else math.sqrt(variance)


def _unpaired(here: Sequence[float], there: Sequence[float]) -> _Difference:
    series = tuple(tuple(math.log(value) for value in values) for values in (here, there))
    return _Difference.of(series, _mean(series[1]) - _mean(series[0]))


def _test_by_history(item: _Difference, known: RunVariation | None, key: Key) -> "_Test":
    variance = None if known is None else known.variances.get(key)
    if known is None or variance is None:
        return _Test(item.centre, min(item.counts))
    error = known.error_factor * math.sqrt(variance * math.fsum(1 / count for count in item.counts))
    p = t_p_value(item.centre, error, known.freedom)
    return _Test(item.centre, min(item.counts), error, known.freedom, p, p)


def _comparisons(
    pairs: Sequence[tuple[ResultRow, ResultRow, Sequence[float], Sequence[float]]],
    tests: Sequence["_Test"],
    names: tuple[str, str] | None,
    looks: int,
    unit: Literal["repeat", "run"],
    of: ComparedQuantity,
) -> Iterator[Comparison]:
    """Yield all comparisons, with the differences that are significant among them."""
    adjusted, tested = _adjusted(pairs, tests, looks)
    for number, (base, other, here, there) in enumerate(pairs):
        test, p = tests[number], adjusted.get(number)
        enough = unit == "run" or test.count >= MIN_COMPARED
        resolvable = of == "rate" or abs(test.centre) > max(_RESOLUTION, 1 / min(*here, *there))
        ratio = median(there) / median(here) if here and there else 1.0
        # Where results have several levels, the medians may differ in the opposite direction.
        same_way = (ratio > 1) == (test.centre > 0)
        separable = enough and resolvable and same_way and p is not None and p < LEVEL and test.own < LEVEL
        share = LEVEL / looks / max(tested[_answers_nothing(base, other)], 1)
        figures = _figures(test, share, ratio)
        unknowns = unknown_parameters(base, other)
        yield Comparison(
            workload=base.case.workload,
            operation=base.operation,
            axes=base.case.axes,
            base=base.case.target,
            other=other.case.target,
            of=of,
            separable=separable,
            caveat=_caveat(base, other, names, unknowns),
            conditions_known=not unknowns,
            n_base=len(here),
            n_other=len(there),
            unit=unit,
            p_adjusted=p,
            effect=cliffs_delta(here, there) if min(len(here), len(there)) > 1 else None,
            **figures,
        )


def _adjusted(
    pairs: Sequence[tuple[ResultRow, ResultRow, Sequence[float], Sequence[float]]], tests: Sequence["_Test"], looks: int
) -> tuple[dict[int, float], Counter[bool]]:
    """Return p-values times the number of comparisons and looks, and the number of comparisons in each family.

    Comparisons that answer no question form a family of their own.
    """
    families: dict[bool, list[int]] = {}
    for number, (base, other, _, _) in enumerate(pairs):
        if tests[number].error is not None:
            families.setdefault(_answers_nothing(base, other), []).append(number)
    adjusted: dict[int, float] = {}
    for tested in families.values():
        adjusted |= {number: min(1.0, looks * len(tested) * tests[number].p) for number in tested}
    return adjusted, Counter({none: len(tested) for none, tested in families.items()})


def _figures(test: "_Test", share: float, ratio: float) -> dict[str, float | None]:
    low, high = _interval(test, LEVEL, ratio)
    simultaneous_low, simultaneous_high = _interval(test, share, ratio)
    known = test.error is not None
    return {
        "ratio": ratio,
        "low": low,
        "high": high,
        "simultaneous_low": simultaneous_low,
        "simultaneous_high": simultaneous_high,
        "p": test.p if known else None,
        "p_own": test.own if known else None,
        "autocorrelation": test.autocorrelation if known else None,
    }


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


@dataclass(frozen=True, slots=True)
class _Test:
    """The test of a difference.

    Attributes:
        centre: Mean logarithm of the other side minus that of the base.
        count: Number of values on the side that has fewer.
        error: Standard error of the centre; None if it could not be computed.
        freedom: Degrees of freedom of the error.
        p: Two-sided p-value of there being no difference.
        own: The same without the noise of other comparisons.
        autocorrelation: Correlation of neighbours that was allowed for.
    """

    centre: float
    count: int
    error: float | None = None
    freedom: float = 1.0
    p: float = 1.0
    own: float = 1.0
    autocorrelation: float = 0.0


def _tests(differences: Sequence[_Difference], in_time: bool = True) -> list[_Test]:
    """Test differences between the same two targets.

    Args:
        differences: The differences.
        in_time: The values of a series followed each other in time, and may correlate.
    """
    autocorrelation = (
        (autocorrelation_bound([values for item in differences for values in item.series]) or 0.0) if in_time else 0.0
    )
    known = [item for item in differences if item.variance is not None]
    freedoms = [_freedom(item, autocorrelation) for item in known]
    true = [item.variance / _shrinking(item, autocorrelation) for item in known if item.variance is not None]
    together = moderate(true, freedoms)
    tests = iter(zip(true, together.variances, freedoms, strict=True))
    found = []
    for item in differences:
        if item.variance is None:
            found.append(_Test(item.centre, min(item.counts)))
            continue
        own, shared, alone = next(tests)
        spread = math.fsum(variance_inflation(autocorrelation, count) / count for count in item.counts)
        most = min(alone + together.prior, math.fsum(freedoms))
        error = math.sqrt(shared * spread)
        by_itself = t_p_value(item.centre, math.sqrt(own * spread), alone)
        p = t_p_value(item.centre, error, most)
        found.append(_Test(item.centre, min(item.counts), error, most, p, by_itself, autocorrelation))
    return found


def _freedom(item: _Difference, autocorrelation: float) -> float:
    """Return the degrees of freedom; values that correlate with their neighbours also show less of their variance."""
    counts = [count for count in item.counts if count > 1]
    left = 1 - item.cut / math.fsum(count - 1 for count in counts)
    return max(1.0, left * math.fsum(degrees_of_freedom(autocorrelation, count) for count in counts))


def _shrinking(item: _Difference, autocorrelation: float) -> float:
    counts = [count for count in item.counts if count > 1]
    return math.fsum((count - 1) * variance_bias(autocorrelation, count) for count in counts) / math.fsum(
        count - 1 for count in counts
    )


def _interval(test: _Test, share: float, ratio: float) -> tuple[float | None, float | None]:
    """Return the interval of the ratio, widened to the ratio of the medians if that lies outside."""
    if test.error is None:
        return None, None
    reach = t_quantile(1 - share / 2, test.freedom) * test.error
    low, high = _factor(test.centre - reach), _factor(test.centre + reach)
    return min(low, ratio), max(high, ratio)


def _factor(logarithm: float) -> float:
    """Return the exponential, limited to the range of floating point."""
    return math.exp(max(-700.0, min(700.0, logarithm)))


def _caveat(base: ResultRow, other: ResultRow, names: tuple[str, str] | None, unknowns: str) -> str:
    """Return which row has a verdict against comparing it, and which parameters are unknown; empty if none."""
    labels = names or (base.case.target, other.case.target)
    pairs = zip(labels, (base, other), strict=True)
    unsound = " and ".join(f"{name} is {' and '.join(bad)}" for name, row in pairs if (bad := _unsound(row)))
    return "; ".join(words for words in (unsound, unknowns) if words)


def unknown_parameters(base: ResultRow, other: ResultRow) -> str:
    """Return which unknown parameters may differ between two rows, as text; empty if all parameters are known.

    Parameters are those of load on storage: none of them applies to networks and applications. Of those that only
    matter with another one, such as the depth of a tree of files, none is named if that other one is unknown.
    """
    if base.operation.split(" ", 1)[0] in IMPORTED:
        return ""
    missing = {
        name for row in (base, other) for name in row.case.parameters.missing_names if _may_matter(name, row.case)
    }
    names = sorted((name for name in DEFINITIONS if name in missing), key=_importance)
    whats = [f"{DEFINITIONS[name].unknown_text} ({name})" for name in names]
    more = ", and other settings" if len(whats) > MAX_NAMED else ""
    return f"it is not known {', '.join(whats[:MAX_NAMED])}{more}" if whats else ""


def _may_matter(name: str, case: Case) -> bool:
    """Whether a parameter that is not known may affect the operations of a case, as far as the others say."""
    item, known = DEFINITIONS[name], case.parameters
    if not item.affects([operation.split(" ", 1)[0] for operation in case.operations]):
        return False
    if item.requires_value_of and known.get_value(item.requires_value_of) is None:
        return False
    is_of_sets = item.sets_only and case.group == "data" and name not in SET_COUNTS
    if is_of_sets and not any(known.get_value(count) for count in SET_COUNTS):
        return False
    return not item.through_mpi or any(known.has(other) for other, one in DEFINITIONS.items() if one.through_mpi)


def _importance(name: str) -> int:
    """Return the place of a parameter among those that are not known: first those that change rates the most."""
    return MAIN_CONDITIONS.index(name) if name in MAIN_CONDITIONS else len(MAIN_CONDITIONS)


def _unsound(row: ResultRow) -> list[str]:
    """Return the verdicts that say the number is not the storage's own, the worst first."""
    return [str(verdict) for verdict in row.verdicts if verdict not in OWN_SPEED]
