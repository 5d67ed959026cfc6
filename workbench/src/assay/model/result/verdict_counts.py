"""Counts of results by verdict, made in one way everywhere."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.model.result.verdict import Verdict


@dataclass(frozen=True)
class VerdictCounts:
    """Results by verdict. Each result counts once, under its worst verdict.

    Attributes:
        by_worst: Verdict -> results with it as worst verdict; ok first, then by count.
        by_further: Verdict -> results that have it in addition to a worse one, in the same order.
    """

    by_worst: Mapping[Verdict, int]
    by_further: Mapping[Verdict, int]

    @property
    def total(self) -> int:
        """Number of results."""
        return sum(self.by_worst.values())

    @property
    def words(self) -> str:
        """The counts in words, such as `80 ok, 83 unstable, 2 cached`."""
        return _listed(self.by_worst) or "no results"

    @property
    def also_words(self) -> str:
        """Further verdicts in words: `7 results are also client-bound, 1 is also skewed`; empty without any."""
        parts = []
        for place, (verdict, count) in enumerate(self.by_further.items()):
            noun = "" if place else " result" if count == 1 else " results"
            parts.append(f"{count:,}{noun} {'is' if count == 1 else 'are'} also {verdict}")
        return ", ".join(parts)

    def words_for(self, verdict: Verdict) -> str:
        """Return such as `10 are client-bound (7 of them beside another verdict)`; empty if no result has it."""
        each, also = self.by_worst.get(verdict, 0), self.by_further.get(verdict, 0)
        if not each + also:
            return ""
        beside = "in addition to another verdict"
        more = "" if not also else f" ({beside})" if not each else f" ({also:,} of them {beside})"
        return f"{_are(each + also)} {verdict}{more}"


def _are(count: int) -> str:
    return f"{count:,} {'is' if count == 1 else 'are'}"


def _listed(counts: Mapping[Verdict, int]) -> str:
    return ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())


def count_verdicts(results: Iterable[Sequence[Verdict]]) -> VerdictCounts:
    """Count results by verdict.

    Args:
        results: Verdicts of each result, the worst first, at least one.
    """
    return count_weighted((verdicts, 1) for verdicts in results)


def count_weighted(results: Iterable[tuple[Sequence[Verdict], int]]) -> VerdictCounts:
    """Count results as `count_verdicts` does, from pairs of verdicts and the number of results that have them."""
    each: Counter[Verdict] = Counter()
    also: Counter[Verdict] = Counter()
    for (gravest, *others), count in results:
        each[gravest] += count
        for verdict in others:
            also[verdict] += count
    return VerdictCounts(_ordered(each), _ordered(also))


def _ordered(counts: Counter[Verdict]) -> dict[Verdict, int]:
    order = sorted(Verdict, key=lambda verdict: (verdict is not Verdict.OK, -counts[verdict]))
    return {verdict: counts[verdict] for verdict in order if counts[verdict]}
