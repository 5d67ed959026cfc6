"""The answer to a question of the kind: is it fast enough?"""

from enum import StrEnum
from typing import NamedTuple

from assay.model.base import EXIT_INCOMPLETE, EXIT_OK, EXIT_REFUSED


class Answer(StrEnum):
    """Whether a place is fast enough."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 0 for yes, 1 for no, 3 for undecided."""
        return {Answer.YES: EXIT_OK, Answer.NO: EXIT_INCOMPLETE, Answer.UNDECIDED: EXIT_REFUSED}[self]


class NeedOutcome(NamedTuple):
    """What was measured of one requirement.

    Attributes:
        answer: Whether it is satisfied.
        value: Nanoseconds, bytes per second, operations per second or a share; None without a result.
        low: Lower end of the 95 % interval; None if it is not known.
        high: Upper end of the 95 % interval; None if it is not known.
        why: Why it is undecided, or what to know about the number; may be empty.
    """

    answer: Answer
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""


def overall(answers: list[Answer]) -> Answer:
    """Return no if any requirement is not satisfied, yes if all are, else undecided."""
    for answer in (Answer.NO, Answer.UNDECIDED):
        if answer in answers:
            return answer
    return Answer.YES
