"""What a run answers: which target is faster, where, and by at least how much."""

from enum import StrEnum

from assay.model.frozen import Frozen
from assay.model.study.axis import AxisValue


class PointOutcome(StrEnum):
    """The answer at one point."""

    FASTER = "faster"
    EQUAL = "equal"
    OPEN = "open"
    BARRED = "barred"


class PointDecision(Frozen):
    """The comparison of two targets at one point of a sweep.

    Attributes:
        axes: The point: parameter -> value.
        outcome: `faster`: one side is significantly faster; `equal`: the difference is significantly within what counts
            as equal; `open`: neither can be concluded; `barred`: by its verdict, a number is invalid or not the
            target's, or not all conditions are known.
        shows_ratio: For `barred`: both numbers are the targets' own, and only conditions are unknown, so that the ratio
            is shown.
        winner: The faster target; empty unless `outcome` is `faster`.
        at_least: Lower bound of how many times as fast the winner is; 1 unless `outcome` is `faster`.
        ratio: Measured: how many times as fast the winner is; for other outcomes, the other target's rate / the base's.
        within: For `equal`: the largest share by which they may differ.
        why: Why it is barred or open.
        too_few: A side has too few repeats for any conclusion.
        unverified: Targets of which it cannot be verified that the storage answered, and not a cache.
        low, high: For `open` because repeats vary too much: ends of an interval of the other target's rate / the
            base's, which holds simultaneously with those of all other points. None if verdicts or too few repeats leave
            it unknown.
        needs: For `open`: estimated repeats of both that would settle it; None if repeats alone would not.
        seconds: Estimated additional time of the run for that; None if unknown.
    """

    axes: dict[str, AxisValue]
    outcome: PointOutcome
    shows_ratio: bool = False
    winner: str = ""
    at_least: float = 1.0
    ratio: float
    within: float | None = None
    why: str = ""
    too_few: bool = False
    unverified: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    needs: int | None = None
    seconds: float | None = None


class TargetDecision(Frozen):
    """The comparison of two targets in one operation of one workload: a question of the study.

    Attributes:
        points: In plan order.
    """

    workload: str
    operation: str
    base: str
    other: str
    points: tuple[PointDecision, ...]

    def points_with(self, outcome: PointOutcome) -> tuple[PointDecision, ...]:
        """Return the points with an outcome."""
        return tuple(point for point in self.points if point.outcome is outcome)

    @property
    def valid_points(self) -> tuple[PointDecision, ...]:
        """The points at which both targets have valid numbers of their own."""
        return tuple(point for point in self.points if point.outcome is not PointOutcome.BARRED)

    @property
    def winner(self) -> str:
        """The target that is faster wherever one is; empty if there is no such target."""
        winners = {point.winner for point in self.points_with(PointOutcome.FASTER)}
        return winners.pop() if len(winners) == 1 else ""
