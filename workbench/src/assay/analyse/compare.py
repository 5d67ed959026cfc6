"""Two targets, or two runs, at the same workload, operation and parameters.

Rates, or percentiles of latency, are compared as logarithms, since their errors are factors. Four things keep chance
from looking like a difference.

* Repeats of one run are compared round by round. Both sides of a round met the same machine, and what it did to both
  falls out of the difference. What it did to one only, such as to stand still for a while, makes a few differences very
  large: of `LEAST_TRIMMED` rounds or more the fifth at either end is cut off (Yuen 1974, "The two-sample trimmed t for
  unequal population variances", Biometrika 61).
* Noise is learnt from all comparisons of the same two targets together (`assay.analyse.statistics.moderate`): four
  repeats alone would tell little of it.
* Repeats that resemble their neighbours count for less (`assay.analyse.statistics.alike`).
* A p-value counts times the number of comparisons made together (Bonferroni), and times the number of looks at them.
  Without that one of 20 comparisons of equal things would be called different. Holm's adjustment would call a few more,
  but without an interval that leaves out equality, and so without a word of how much the difference is at least.
* What has been decided stays so. A comparison is made of what had been measured when its own last repeat was done:
  later rounds, of others that are still open, change nothing of it.

Rates, p50 and p99 are families of their own: each is adjusted for its own comparisons only, so that asking for
latencies takes nothing from what is known of rates. Of equal things each family shows a difference in at most 5 of 100
analyses, so that who looks at all three sees one in at most 15.

Besides, a difference is only called if the comparison by itself, without what was learnt from others, has p < 0.05, so
that no outlier makes one where noise is small elsewhere, and from `LEAST_COMPARED` repeats on.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Literal

from assay.analyse.between import LEAST_RUNS, LEVEL, Between, Key
from assay.analyse.percentiles import of_repeats
from assay.analyse.statistics.alike import alike, freedom, shrinking, widening
from assay.analyse.statistics.moderate import moderate
from assay.analyse.statistics.significance import cliffs_delta, t_p, t_quantile
from assay.analyse.usable import usable
from assay.model.result.result import Compared, Comparison, Row
from assay.model.result.verdict import SOUND
from assay.model.study.parameters import DEFINITIONS
from assay.model.study.repeats import LEAST_COMPARED

MOST_NAMED = 3
"""So many parameters that are not known are named."""
TRIMMED = 0.2
"""Share of the rounds at either end that is cut off."""
LEAST_TRIMMED = 12
"""With fewer rounds none is cut off: what is left would tell too little of its noise."""
LATENCIES: tuple[Compared, ...] = ("p50", "p99")
"""The percentiles that are compared."""
_Sides = tuple[Mapping[int, float], Mapping[int, float]]
_GRAIN = 1 / 1024
"""A histogram tells latencies apart that differ by this share, and by a nanosecond."""


def compare(rows: Iterable[Row], looks: int = 1, of: Compared = "rate") -> tuple[Comparison, ...]:
    """Compare every pair of targets wherever both have a result; the target named first is the base.

    Args:
        rows: Of one run.
        looks: How often the run was looked at, or may have been, to see whether it has decided.
        of: What of them; a percentile where both sides have enough operations for it.
    """
    groups: dict[object, list[Row]] = {}
    for row in rows:
        if comparable(row, of):
            groups.setdefault(_key(row), []).append(row)
    pairs = (pair for group in groups.values() for pair in combinations(group, 2))
    apart = [(base, other) for base, other in pairs if base.case.target != other.case.target]
    return compare_rounds(apart, looks=looks, of=of)


def comparable(row: Row, of: Compared) -> bool:
    """It has something above zero to compare."""
    return has_rate(row) if of == "rate" else bool(_values(row, of))


def has_rate(row: Row) -> bool:
    """It has a rate above zero, so that it can be compared."""
    return row.rate is not None and row.rate.median > 0


def _key(row: Row) -> object:
    return row.case.workload, row.operation, tuple(row.case.axes.items())


@dataclass(frozen=True, slots=True)
class _Difference:
    """Logarithms of what is compared of two rows.

    Attributes:
        series: Those that vary by themselves: the differences of the rounds, or both sides.
        centre: Mean logarithm of the other side less that of the base.
        variance: Of one value of a series; None if there are too few. Where values were cut off, such that the
            centre is known as well as the mean of so many values of that variance.
        counts: Values in each series.
        cut: Values that were cut off, so that they tell nothing of the variance.
    """

    series: tuple[tuple[float, ...], ...]
    centre: float
    variance: float | None
    counts: tuple[int, ...]
    cut: int = 0

    @classmethod
    def of(cls, series: tuple[tuple[float, ...], ...], centre: float) -> "_Difference":
        """What follows from the series."""
        counts = tuple(len(values) for values in series)
        freedom = sum(counts) - len(counts)
        squares = math.fsum((value - _mean(values)) ** 2 for values in series for value in values)
        known = min(counts) >= 2
        return cls(series, centre, squares / freedom if known else None, counts)

    @classmethod
    def trimmed(cls, values: tuple[float, ...]) -> "_Difference":
        """Of one series, whose ends are cut off where it is long enough."""
        count = len(values)
        end = int(TRIMMED * count) if count >= LEAST_TRIMMED else 0
        if not end:
            return cls.of((values,), _mean(values))
        kept = sorted(values)[end:-end]
        # What is beyond takes the place of the last value that is kept.
        pulled = tuple(min(max(value, kept[0]), kept[-1]) for value in values)
        middle = _mean(pulled)
        variance = math.fsum((value - middle) ** 2 for value in pulled) / (count - 1)
        return cls((pulled,), _mean(kept), variance / (len(kept) / count) ** 2, (count,), 2 * end)


def compare_rounds(
    pairs: Sequence[tuple[Row, Row]], names: tuple[str, str] | None = None, looks: int = 1, of: Compared = "rate"
) -> tuple[Comparison, ...]:
    """Compare rows of one run, in order, and decide for all of them together which differences are significant.

    Args:
        pairs: Base and other row; both `comparable`.
        names: What caveats call the two sides; None for the names of their targets.
        looks: As of `compare`.
        of: As of `compare`.
    """
    sides = [(_values(base, of), _values(other, of)) for base, other in pairs]
    tests: dict[int, _Test] = {}
    for numbers in _by_targets(pairs):
        tests |= _in_stages({number: sides[number] for number in numbers}, looks)
    ready = [(base, other, here, there) for (base, other), (here, there) in zip(pairs, sides, strict=True)]
    values = [(base, other, tuple(here.values()), tuple(there.values())) for base, other, here, there in ready]
    return tuple(_decided(values, [tests[number] for number in range(len(pairs))], names, looks, "repeat", of))


def compare_medians(
    pairs: Sequence[tuple[Sequence[Row], Sequence[Row]]],
    names: tuple[str, str] | None,
    known: Between | None,
    of: Compared = "rate",
) -> tuple[Comparison, ...]:
    """Compare rows of different runs, in order. Each run counts as one observation: its median over repeats.

    Args:
        pairs: The row in each run before, and in each run after; each `comparable`.
        names: What caveats call the two sides; None for the names of their targets.
        known: How much runs of the study differ, in what is compared, though nothing was changed. Without it a side of
            fewer than `LEAST_RUNS` runs shows no difference.
        of: As of `compare`.
    """
    ready = [(before[-1], after[-1], _medians(before, of), _medians(after, of)) for before, after in pairs]
    tests: dict[int, _Test] = {}
    for numbers in _by_targets([(base, other) for base, other, _, _ in ready]):
        several = [number for number in numbers if min(map(len, ready[number][2:])) >= LEAST_RUNS]
        tests |= dict(zip(several, _tests([_apart(*ready[number][2:]) for number in several], False), strict=True))
    found = []
    for number, (base, _, here, there) in enumerate(ready):
        found.append(tests[number] if number in tests else _by_history(_apart(here, there), known, key_of(base)))
    return tuple(_decided(ready, found, names, 1, "run", of))


def key_of(row: Row) -> Key:
    """Which row it is, in any run."""
    return row.case.target, row.case.workload, row.operation, row.case.parameters.model_dump_json()


def _by_targets(pairs: Sequence[tuple[Row, Row]]) -> Iterable[list[int]]:
    """Places of the pairs of the same two targets; the noise of what a cache did, say, is not that of the rest."""
    groups: dict[tuple[str, str, bool], list[int]] = {}
    for number, (base, other) in enumerate(pairs):
        groups.setdefault((base.case.target, other.case.target, _none(base, other)), []).append(number)
    return groups.values()


def _none(base: Row, other: Row) -> bool:
    """A number of a side stands for no storage, so that the comparison answers no question."""
    return base.no_result or other.no_result


def _values(row: Row, of: Compared) -> dict[int, float]:
    """What is compared, of each usable repeat of a row; where it is zero there is no logarithm of it."""
    samples = usable(row.samples)
    found = {sample.repeat: sample.rate for sample in samples} if of == "rate" else of_repeats(samples, of)
    return {repeat: value for repeat, value in found.items() if value > 0}


def _medians(rows: Sequence[Row], of: Compared) -> tuple[float, ...]:
    return tuple(median(_values(row, of).values()) for row in rows)


def _in_stages(sides: Mapping[int, _Sides], looks: int) -> dict[int, "_Test"]:
    """Tests of pairs of the same two targets, each with what all of them had shown when its own last round was done.

    Without looks all have the same rounds, but for those that failed.
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
    """Of all rounds up to one."""
    series = tuple(math.log(there[repeat] / here[repeat]) for repeat in here if repeat in there and repeat <= stage)
    return _Difference.trimmed(series)


def deviation_of(values: Sequence[float]) -> float | None:
    """The standard deviation that a comparison takes for a series of rounds; None of fewer than two values."""
    variance = _Difference.trimmed(tuple(values)).variance
    return None if variance is None else math.sqrt(variance)


def _apart(here: Sequence[float], there: Sequence[float]) -> _Difference:
    series = tuple(tuple(math.log(value) for value in values) for values in (here, there))
    return _Difference.of(series, _mean(series[1]) - _mean(series[0]))


def _by_history(item: _Difference, known: Between | None, key: Key) -> "_Test":
    variance = None if known is None else known.variances.get(key)
    if known is None or variance is None:
        return _Test(item.centre, min(item.counts))
    error = known.stretch * math.sqrt(variance * math.fsum(1 / count for count in item.counts))
    p = t_p(item.centre, error, known.freedom)
    return _Test(item.centre, min(item.counts), error, known.freedom, p, p)


def _decided(
    pairs: Sequence[tuple[Row, Row, Sequence[float], Sequence[float]]],
    tests: Sequence["_Test"],
    names: tuple[str, str] | None,
    looks: int,
    unit: Literal["repeat", "run"],
    of: Compared,
) -> Iterator[Comparison]:
    """All comparisons together: which differences are significant."""
    adjusted, tested = _adjusted(pairs, tests, looks)
    for number, (base, other, here, there) in enumerate(pairs):
        test, p = tests[number], adjusted.get(number)
        enough = unit == "run" or test.count >= LEAST_COMPARED
        seen = of == "rate" or abs(test.centre) > max(_GRAIN, 1 / min(*here, *there))
        ratio = median(there) / median(here) if here and there else 1.0
        # Of results with several values the medians may lie apart the other way.
        same_way = (ratio > 1) == (test.centre > 0)
        separable = enough and seen and same_way and p is not None and p < LEVEL and test.own < LEVEL
        share = LEVEL / looks / max(tested[_none(base, other)], 1)
        figures = _figures(test, share, ratio)
        yield Comparison(
            workload=base.case.workload,
            operation=base.operation,
            axes=base.case.axes,
            base=base.case.target,
            other=other.case.target,
            of=of,
            separable=separable,
            caveat=caveat(base, other, names),
            told=not not_told(base, other),
            n_base=len(here),
            n_other=len(there),
            unit=unit,
            p_adjusted=p,
            effect=cliffs_delta(here, there) if min(len(here), len(there)) > 1 else None,
            **figures,
        )


def _adjusted(
    pairs: Sequence[tuple[Row, Row, Sequence[float], Sequence[float]]], tests: Sequence["_Test"], looks: int
) -> tuple[dict[int, float], Counter[bool]]:
    """P-values times the number of comparisons and of looks, and how many comparisons there were.

    Comparisons that answer nothing form their own family.
    """
    families: dict[bool, list[int]] = {}
    for number, (base, other, _, _) in enumerate(pairs):
        if tests[number].error is not None:
            families.setdefault(_none(base, other), []).append(number)
    adjusted: dict[int, float] = {}
    for tested in families.values():
        adjusted |= {number: min(1.0, looks * len(tested) * tests[number].p) for number in tested}
    return adjusted, Counter({none: len(tested) for none, tested in families.items()})


def _figures(test: "_Test", share: float, ratio: float) -> dict[str, float | None]:
    low, high = _interval(test, LEVEL, ratio)
    sure_low, sure_high = _interval(test, share, ratio)
    known = test.error is not None
    return {
        "ratio": ratio,
        "low": low,
        "high": high,
        "sure_low": sure_low,
        "sure_high": sure_high,
        "p": test.p if known else None,
        "p_own": test.own if known else None,
        "likeness": test.likeness if known else None,
    }


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


@dataclass(frozen=True, slots=True)
class _Test:
    """What a difference comes to.

    Attributes:
        error: Standard error of the centre; None if it could not be computed.
        freedom: Degrees of freedom of the error.
        p: Two-sided, of there being no difference.
        own: The same without what was learnt from other comparisons.
        likeness: Correlation of neighbours that was allowed for.
        count: Values on the side that has fewer.
    """

    centre: float
    count: int
    error: float | None = None
    freedom: float = 1.0
    p: float = 1.0
    own: float = 1.0
    likeness: float = 0.0


def _tests(differences: Sequence[_Difference], in_time: bool = True) -> list[_Test]:
    """Tests of differences between the same two targets; whether values of a series followed each other."""
    likeness = (alike([values for item in differences for values in item.series]) or 0.0) if in_time else 0.0
    known = [item for item in differences if item.variance is not None]
    freedoms = [_freedom(item, likeness) for item in known]
    true = [item.variance / _shrinking(item, likeness) for item in known if item.variance is not None]
    together = moderate(true, freedoms)
    tests = iter(zip(true, together.variances, freedoms, strict=True))
    found = []
    for item in differences:
        if item.variance is None:
            found.append(_Test(item.centre, min(item.counts)))
            continue
        own, shared, alone = next(tests)
        spread = math.fsum(widening(likeness, count) / count for count in item.counts)
        most = min(alone + together.prior, math.fsum(freedoms))
        error = math.sqrt(shared * spread)
        by_itself = t_p(item.centre, math.sqrt(own * spread), alone)
        p = t_p(item.centre, error, most)
        found.append(_Test(item.centre, min(item.counts), error, most, p, by_itself, likeness))
    return found


def _freedom(item: _Difference, likeness: float) -> float:
    """Values that resemble their neighbours tell less of their variance, too."""
    told = [count for count in item.counts if count > 1]
    left = 1 - item.cut / math.fsum(count - 1 for count in told)
    return max(1.0, left * math.fsum(freedom(likeness, count) for count in told))


def _shrinking(item: _Difference, likeness: float) -> float:
    told = [count for count in item.counts if count > 1]
    return math.fsum((count - 1) * shrinking(likeness, count) for count in told) / math.fsum(
        count - 1 for count in told
    )


def _interval(test: _Test, share: float, ratio: float) -> tuple[float | None, float | None]:
    """The interval of the ratio, widened to the ratio of medians if that lies outside."""
    if test.error is None:
        return None, None
    reach = t_quantile(1 - share / 2, test.freedom) * test.error
    low, high = _factor(test.centre - reach), _factor(test.centre + reach)
    return min(low, ratio), max(high, ratio)


def _factor(logarithm: float) -> float:
    """Its exponential; of very large ones the greatest number there is."""
    return math.exp(max(-700.0, min(700.0, logarithm)))


def caveat(base: Row, other: Row, names: tuple[str, str] | None = None) -> str:
    """Which of two rows has a verdict that speaks against comparing them, or what nobody has told; empty if none."""
    called = names or (base.case.target, other.case.target)
    pairs = zip(called, (base, other), strict=True)
    unsound = " and ".join(f"{name} is {' and '.join(bad)}" for name, row in pairs if (bad := _unsound(row)))
    return "; ".join(words for words in (unsound, not_told(base, other)) if words)


def not_told(base: Row, other: Row) -> str:
    """What may differ between two rows although nobody has told that it does; empty if all is told."""
    names = dict.fromkeys((*base.case.parameters.not_told, *other.case.parameters.not_told))
    whats = [f"{DEFINITIONS[name].untold} ({name})" for name in names]
    more = f", nor {len(whats) - MOST_NAMED} more" if len(whats) > MOST_NAMED else ""
    return f"it is not known {', '.join(whats[:MOST_NAMED])}{more}" if whats else ""


def _unsound(row: Row) -> list[str]:
    """Its verdicts that are not the storage's own, the worst first."""
    return [str(verdict) for verdict in row.verdicts if verdict not in SOUND]
