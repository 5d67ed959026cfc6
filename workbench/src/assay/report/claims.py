"""The answer in words: one sentence for each kind of work and pair of targets, from decisions and nothing else."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from assay.model.decision import Decision, Outcome, PointDecision
from assay.report import numbers
from assay.report.document import Span, Strong, Text

_KINDS = {
    "write": "sequential write",
    "rewrite": "sequential write",
    "fwrite": "sequential write",
    "re_fwrite": "sequential write",
    "read": "sequential read",
    "reread": "sequential read",
    "fread": "sequential read",
    "re_fread": "sequential read",
}


def kind_of(operation: str) -> str:
    """The kind of work an operation is of; the second `write` of a case is one of writing, too."""
    name = operation.split(" ", 1)[0]
    return _KINDS.get(name, numbers.operation_title(name).lower())


@dataclass(frozen=True, slots=True)
class Claim:
    """All points of two targets in one kind of work.

    Attributes:
        points: Of all operations of that kind, in all workloads.
    """

    kind: str
    base: str
    other: str
    points: tuple[PointDecision, ...]

    def of(self, outcome: Outcome) -> list[PointDecision]:
        """The points that end so."""
        return [point for point in self.points if point.outcome is outcome]

    def won(self, target: str) -> list[PointDecision]:
        """The points at which a target is faster."""
        return [point for point in self.points if point.winner == target]

    @property
    def counted(self) -> int:
        """Points whose numbers are both targets' own."""
        return len(self.points) - len(self.of(Outcome.BARRED))


def claims(decisions: Iterable[Decision]) -> tuple[Claim, ...]:
    """One for each pair of targets and kind of work, in plan order."""
    groups: dict[tuple[str, str, str], list[PointDecision]] = {}
    for decision in decisions:
        groups.setdefault((kind_of(decision.operation), decision.base, decision.other), []).extend(decision.points)
    return tuple(Claim(kind, base, other, tuple(points)) for (kind, base, other), points in groups.items())


def sentence(claim: Claim) -> Text:
    """What the run says of it: who is faster, where, by how much at least, and what is left open."""
    spans: list[Span] = [f"{claim.kind[:1].upper()}{claim.kind[1:]}: "]
    if not claim.counted:
        return (*spans, f"nothing can be said, because {_reasons(claim.of(Outcome.BARRED))}.")
    parts = [_won(claim, target) for target in (claim.other, claim.base) if claim.won(target)]
    equal = claim.of(Outcome.EQUAL)
    if equal:
        within = max(point.within or 0.0 for point in equal)
        parts.append([f"equal within {numbers.share(within)} at {_points(len(equal), claim)}"])
    left = claim.of(Outcome.OPEN)
    if left:
        parts.append([f"open at {_points(len(left), claim)} ({_reasons(left)})"])
    for number, part in enumerate(parts):
        spans += [*(["; "] if number else []), *part]
    barred = len(claim.of(Outcome.BARRED))
    return (
        *spans,
        f". {numbers.plural(barred, 'point')} left out ({_reasons(claim.of(Outcome.BARRED))})." if barred else ".",
    )


def _won(claim: Claim, target: str) -> list[Span]:
    points = claim.won(target)
    loser = claim.base if target == claim.other else claim.other
    least = min(point.at_least for point in points)
    middle = median(point.ratio for point in points)
    return [
        Strong(target),
        f" is faster than {loser} at {_points(len(points), claim)}, at least ",
        Strong(numbers.ratio(_floored(least))),
        f"; measured {numbers.ratio(middle)} in the median"
        if len(points) > 1
        else f"; measured {numbers.ratio(middle)}",
    ]


def _floored(value: float) -> float:
    """Rounded towards less, so that a bound stays one when it is written with few digits."""
    step = 10.0 ** (math.floor(math.log10(value)) - (1 if value >= 2 else 2))
    return math.floor(value / step * (1 + 1e-12)) * step


def _points(count: int, claim: Claim) -> str:
    """`all 12 points`, `3 of 12 points`, or `the only point`."""
    if claim.counted == 1:
        return "the only point"
    return f"all {count:,} points" if count == claim.counted else f"{count:,} of {claim.counted:,} points"


def _reasons(points: Sequence[PointDecision]) -> str:
    """The commonest reasons."""
    counts = Counter(point.why for point in points if point.why)
    words = [why if len(counts) == 1 else f"{why}: {count:,}" for why, count in counts.most_common(2)]
    rest = len(counts) - len(words)
    return "; ".join([*words, *([f"{rest:,} other reasons"] if rest > 0 else [])])
