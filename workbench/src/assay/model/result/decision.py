"""What a run answers: which target is faster, where, and by how much at least."""

from enum import StrEnum

from assay.model.frozen import Frozen
from assay.model.study.axis import AxisValue


class Outcome(StrEnum):
    """How the question of one point ends."""

    FASTER = "faster"
    EQUAL = "equal"
    OPEN = "open"
    BARRED = "barred"


class PointDecision(Frozen):
    """Two targets at one point of a sweep.

    Attributes:
        axes: The point.
        outcome: `faster` if one side is, for sure; `equal` if the difference is surely within what counts as equal;
            `open` if neither can be said; `barred` if a verdict says that a number is none, or is not the target's.
        winner: Which one is faster; empty unless `outcome` says so.
        at_least: How many times as fast it is, at least; 1 unless `outcome` says so.
        ratio: How many times as fast it was measured to be; of other outcomes, the other target's rate by the base's.
        within: If equal: the greatest share by which they may differ.
        why: What bars it, or leaves it open, in words.
        too_few: A side has too few repeats for anything to be said.
        unverified: Those of the targets whose number is one of which nobody can tell whether storage answered.
        low: If open because the repeats vary too much: lower end of an interval of the other target's rate divided by
            the base's, which holds together with those of all other points; likewise `high`. None where verdicts or
            too few repeats leave it unknown.
        needs: If open: about how many repeats of both would settle it; None if repeats alone would not.
        seconds: How much longer the run would take for that; None if nothing is known of it.
    """

    axes: dict[str, AxisValue]
    outcome: Outcome
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


class Decision(Frozen):
    """Two targets in one operation of one workload: a question of the study.

    Attributes:
        points: In plan order.
    """

    workload: str
    operation: str
    base: str
    other: str
    points: tuple[PointDecision, ...]

    def of(self, outcome: Outcome) -> tuple[PointDecision, ...]:
        """The points that end so."""
        return tuple(point for point in self.points if point.outcome is outcome)

    @property
    def counted(self) -> tuple[PointDecision, ...]:
        """The points that have numbers of both targets' own."""
        return tuple(point for point in self.points if point.outcome is not Outcome.BARRED)

    @property
    def winner(self) -> str:
        """The target that is faster wherever one is; empty if none is, or each somewhere."""
        found = {point.winner for point in self.of(Outcome.FASTER)}
        return found.pop() if len(found) == 1 else ""

    @property
    def decided(self) -> bool:
        """Nothing is open: at each point that counts, one is faster, or they are equal."""
        return bool(self.counted) and not self.of(Outcome.OPEN)
