"""The stages of a study: its cases by the number of hosts, tasks or lanes, the fewest first."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.study.case import Case
from assay.model.study.growth import GROWING


class Stage(NamedTuple):
    """One number of hosts, tasks or lanes.

    Attributes:
        axis: What grows.
        value: How many.
        cases: With so many, in plan order.
    """

    axis: str
    value: int
    cases: tuple[Case, ...]


def stages_of(cases: Sequence[Case]) -> tuple[Stage, ...]:
    """All stages, in order; none if nothing grows. What grows is the first of `GROWING` with several numbers.

    Args:
        cases: Of a study, in plan order.
    """
    for axis in GROWING:
        values = {case.parameters.known(axis) for case in cases}
        numbers = sorted(value for value in values if isinstance(value, int))
        if len(numbers) > 1 and len(numbers) == len(values):
            return tuple(
                Stage(axis, number, tuple(case for case in cases if case.parameters.known(axis) == number))
                for number in numbers
            )
    return ()
