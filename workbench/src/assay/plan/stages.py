"""The stages of a study: its cases grouped by number of hosts, tasks or lanes, the smallest first."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.study.case import Case
from assay.model.study.growth import GROWING_AXES


class Stage(NamedTuple):
    """The cases with one number of hosts, tasks or lanes.

    Attributes:
        axis: The parameter that grows.
        value: Its value in this stage.
        cases: Cases with this value, in plan order.
    """

    axis: str
    value: int
    cases: tuple[Case, ...]


def stages_of(cases: Sequence[Case]) -> tuple[Stage, ...]:
    """Return all stages, in order; empty if nothing grows. The first of `GROWING` with several values is what grows.

    Args:
        cases: Cases of a study, in plan order.
    """
    for axis in GROWING_AXES:
        values = {case.parameters.get_value(axis) for case in cases}
        numbers = sorted(value for value in values if isinstance(value, int))
        if len(numbers) > 1 and len(numbers) == len(values):
            return tuple(
                Stage(axis, number, tuple(case for case in cases if case.parameters.get_value(axis) == number))
                for number in numbers
            )
    return ()
