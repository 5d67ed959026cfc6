"""Two sides that are measured in turns until they are told apart: what a run of `assay compare --ab` keeps of it."""

from typing import Annotated

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.result.verdict import NO_RESULT, Verdict
from assay.model.study.repeats import EQUAL_WITHIN

LOOKS = (5, 8, 13, 20, 32, 50, 80, 120)
"""Rounds after which it is looked whether the sides can be told apart, and the run may stop."""
SPARE = 4
"""Rounds are planned for so many times the time that there is, for they may be shorter than was estimated."""


def looks_within(seconds: float, round_seconds: float) -> tuple[int, ...]:
    """The looks that the time may be enough for; each one more makes the others less sure.

    Args:
        seconds: Time for measuring.
        round_seconds: Estimated time of a round.
    """
    most = SPARE * seconds / max(round_seconds, 1e-9)
    return tuple(look for look in LOOKS if look <= most) or LOOKS[:1]


class Blocks(Frozen):
    """How two targets of a run are measured, and when it stops.

    Attributes:
        base: Target that the other one is compared with.
        other: The other target.
        seconds: Time for measuring; what is open then stays open.
        within: Greatest difference of what counts as equal, as a share: the usual one, unless a gate asks for less.
        looks: Rounds after which the comparison is looked at, rising. The chance of error is shared among them.
        engines: The sides are two engines at one place; the run keeps their hashes, not the programs.
    """

    base: str
    other: str
    seconds: Annotated[float, Field(gt=0)]
    within: Annotated[float, Field(gt=0, lt=1)] = EQUAL_WITHIN
    looks: Annotated[tuple[int, ...], Field(min_length=1)] = LOOKS
    engines: bool = False

    @property
    def ignored(self) -> frozenset[Verdict]:
        """Verdicts that do not bear on which side is faster now.

        What holds an engine back at the same place is the engine. A limit on a place is a part of the place.
        """
        return frozenset(Verdict) - NO_RESULT if self.engines else frozenset({Verdict.THROTTLED})

    @property
    def alike(self) -> frozenset[Verdict]:
        """Verdicts that make neither side slower, though they may make both look equal.

        The sides take turns on one machine: what it lacks, both lack, and what one of them lacked by chance is noise.
        """
        return frozenset({Verdict.CLIENT_BOUND})

    @property
    def least(self) -> int:
        """Fewest rounds, even if they take longer than `seconds`."""
        return self.looks[0]

    @property
    def most(self) -> int:
        """Rounds after which nothing more is measured."""
        return self.looks[-1]
