"""What a run claims about two targets in one kind of work, over all points; computed from decisions alone."""

from collections.abc import Iterable
from dataclasses import dataclass

from assay.model.result.decision import PointDecision, PointOutcome, TargetDecision
from assay.model.study.commands import REPLAY, RUN
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


def kind_of_work(operation: str, workload: str) -> str:
    """Return the kind of work of an operation; a number behind its name (`write 2`) is ignored.

    Each command of a study is a kind of its own: what one program gains says nothing about another.
    """
    name = operation.split(" ", 1)[0]
    if name in (RUN, REPLAY):
        return f"command {workload}"
    return _KINDS.get(name, numbers.operation_title(name).lower())


def kind_of_rates(operation: str, workload: str, is_imported: bool) -> str:
    """Return the kind of work whose rates are shown as one range where nothing is compared.

    Of an imported run each operation is one: other tools time each as a test of its own, and their reader looks for it.
    """
    name = operation.split(" ", 1)[0]
    is_own = is_imported and name in _KINDS and name not in ("write", "read")
    title = numbers.operation_title(name)
    return title[:1].lower() + title[1:] if is_own else kind_of_work(name, workload)


@dataclass(frozen=True, slots=True)
class ComparisonClaim:
    """All points of two targets in one kind of work.

    Attributes:
        decisions: Those of all operations of the kind, in all workloads.
        part: The part that the claim is limited to, such as `record size up to 64 KiB`; empty: no limit.
    """

    kind: str
    base: str
    other: str
    decisions: tuple[TargetDecision, ...]
    part: str = ""

    @property
    def label(self) -> str:
        """The kind and the part in words: `Random write`, `Random write, record size up to 64 KiB`."""
        return numbers.capitalized(self.kind) + (f", {self.part}" if self.part else "")

    @property
    def points(self) -> tuple[PointDecision, ...]:
        """The points of all decisions."""
        return tuple(point for decision in self.decisions for point in decision.points)

    def points_with(self, outcome: PointOutcome) -> list[PointDecision]:
        """Return the points with this outcome."""
        return [point for point in self.points if point.outcome is outcome]

    def points_won_by(self, target: str) -> list[PointDecision]:
        """Return the points at which a target is faster."""
        return [point for point in self.points if point.winner == target]

    @property
    def counted_points(self) -> int:
        """The number of points at which both targets have a usable number."""
        return len(self.points) - len(self.points_with(PointOutcome.BARRED))

    @property
    def winner(self) -> str:
        """The target that is faster at every counted point; empty if there is none."""
        return next(
            (name for name in (self.other, self.base) if 0 < self.counted_points == len(self.points_won_by(name))), ""
        )

    @property
    def leader(self) -> str:
        """The target that is faster at some points and slower at none; empty if there is none."""
        ahead = [name for name in (self.other, self.base) if self.points_won_by(name)]
        return ahead[0] if len(ahead) == 1 else ""

    def opponent_of(self, target: str) -> str:
        """Return the target that is not `target`."""
        return self.base if target == self.other else self.other

    def min_ratio(self, target: str) -> float:
        """Return the lowest lower bound of the ratio of `target` to the other target where it is faster."""
        return min(point.at_least for point in self.points_won_by(target))


def find_claims(decisions: Iterable[TargetDecision]) -> tuple[ComparisonClaim, ...]:
    """Return one claim for each pair of targets and kind of work, in plan order."""
    groups: dict[tuple[str, str, str], list[TargetDecision]] = {}
    for decision in decisions:
        kind = kind_of_work(decision.operation, decision.workload)
        groups.setdefault((kind, decision.base, decision.other), []).append(decision)
    return tuple(ComparisonClaim(kind, base, other, tuple(found)) for (kind, base, other), found in groups.items())
