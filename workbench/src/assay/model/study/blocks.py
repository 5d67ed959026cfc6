"""Two sides that are measured in turns until they can be separated: what `assay ab` stores about it."""

from typing import Annotated

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.result.verdict import NO_RESULT, Verdict
from assay.model.study.repeats import EQUAL_WITHIN

LOOK_ROUNDS = (5, 8, 13, 20, 32, 50, 80, 120)
"""Rounds after which the sides are compared, and the run may stop."""
ROUND_MARGIN = 4
"""Rounds are planned for this many times the available time, since they may be shorter than estimated."""


def looks_within(seconds: float, round_seconds: float) -> tuple[int, ...]:
    """Return the looks that may fit into the time; each further look makes the others less powerful.

    Args:
        seconds: Time for measuring.
        round_seconds: Estimated duration of a round.
    """
    most = ROUND_MARGIN * seconds / max(round_seconds, 1e-9)
    return tuple(look for look in LOOK_ROUNDS if look <= most) or LOOK_ROUNDS[:1]


class Blocks(Frozen):
    """How two targets of a run are measured, and when it stops.

    Attributes:
        base: Target that the other one is compared with.
        other: The other target.
        seconds: Time for measuring; what is undecided then stays undecided.
        within: Largest difference that counts as equal, as a share: the default, unless a gate requires less.
        looks: Rounds after which the sides are compared, in rising order. They share the chance of error.
        engines: The sides are two engines at one place; the run stores their hashes, not the programs.
    """

    base: str
    other: str
    seconds: Annotated[float, Field(gt=0)]
    within: Annotated[float, Field(gt=0, lt=1)] = EQUAL_WITHIN
    looks: Annotated[tuple[int, ...], Field(min_length=1)] = LOOK_ROUNDS
    engines: bool = False

    @property
    def ignored_verdicts(self) -> frozenset[Verdict]:
        """Verdicts that do not affect which side is faster now.

        For two engines at one place, whatever limits one of them is a property of the engine. A limit of a place is a
        property of the place.
        """
        return frozenset(Verdict) - NO_RESULT if self.engines else frozenset({Verdict.THROTTLED})

    @property
    def symmetric_verdicts(self) -> frozenset[Verdict]:
        """Verdicts that make neither side slower, though both may look equal because of them.

        The sides take turns on one machine: a lack of resources affects both, and what affects one by chance is noise.
        """
        return frozenset({Verdict.CLIENT_BOUND})

    @property
    def min_rounds(self) -> int:
        """Fewest rounds, even if they take longer than `seconds`."""
        return self.looks[0]

    @property
    def max_rounds(self) -> int:
        """Most rounds."""
        return self.looks[-1]
