"""What a run claims: all points of two targets in one kind of work together, from decisions and nothing else."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from assay.model.result.decision import Decision, Outcome, PointDecision
from assay.report import numbers

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
        decisions: Of all operations of that kind, in all workloads.
        where: Which part of it this is, such as `record size up to 64 KiB`; empty if it is all of it.
    """

    kind: str
    base: str
    other: str
    decisions: tuple[Decision, ...]
    where: str = ""

    @property
    def label(self) -> str:
        """`Random write`, and of a part `Random write, record size up to 64 KiB`."""
        return numbers.titled(self.kind) + (f", {self.where}" if self.where else "")

    @property
    def points(self) -> tuple[PointDecision, ...]:
        """All of them."""
        return tuple(point for decision in self.decisions for point in decision.points)

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

    @property
    def winner(self) -> str:
        """The target that is faster at every point that counts; empty if there is none."""
        return next((name for name in (self.other, self.base) if 0 < self.counted == len(self.won(name))), "")

    @property
    def leader(self) -> str:
        """The target that is faster at some points, while the other one is at none; empty if there is none."""
        ahead = [name for name in (self.other, self.base) if self.won(name)]
        return ahead[0] if len(ahead) == 1 else ""

    def loser(self, target: str) -> str:
        """The one that is not `target`."""
        return self.base if target == self.other else self.other

    def typical(self, target: str) -> float:
        """How many times as fast as the other one `target` was measured wherever it is faster, in the median."""
        return median(point.ratio for point in self.won(target))

    def least(self, target: str) -> float:
        """How many times as fast as the other one `target` is wherever it is faster, at least."""
        return min(point.at_least for point in self.won(target))


def claims(decisions: Iterable[Decision]) -> tuple[Claim, ...]:
    """One for each pair of targets and kind of work, in plan order."""
    groups: dict[tuple[str, str, str], list[Decision]] = {}
    for decision in decisions:
        groups.setdefault((kind_of(decision.operation), decision.base, decision.other), []).append(decision)
    return tuple(Claim(kind, base, other, tuple(found)) for (kind, base, other), found in groups.items())
