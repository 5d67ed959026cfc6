"""When the repeats of all cases are executed: one after the other, or spread over hours."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.study.case import Case
from assay.model.study.schedule import Schedule
from assay.model.study.study import Study
from assay.plan.order import order_jobs

_NS = 1e9

RepeatKey = tuple[str, int]
"""Case id and repeat."""


class Timetable(NamedTuple):
    """The order and times of all repeats.

    Attributes:
        order: All repeats in the order of execution.
        due: Repeat -> earliest start in seconds after the beginning of the run; empty without a schedule.
    """

    order: tuple[RepeatKey, ...]
    due: Mapping[RepeatKey, float]


def due_times(study: Study, cases: Sequence[Case]) -> Mapping[RepeatKey, float]:
    """Return `Timetable.due` of a study, in the order of execution."""
    if study.schedule is None:
        return {}
    return _scheduled(study.schedule, cases, study.repeats, study.order == "random", study.seed)


def timetable(study: Study, cases: Sequence[Case]) -> Timetable:
    """Return the timetable of a study; it is always the same for the same study."""
    due = due_times(study, cases)
    order = tuple(due) or order_jobs([case.id for case in cases], study.repeats, study.order, study.seed)
    return Timetable(order, due)


def _scheduled(
    schedule: Schedule, cases: Sequence[Case], repeats: int, random: bool, seed: int
) -> dict[RepeatKey, float]:
    """Return the due times: each repeat has an equal part of the time, in which each case gets its own moment.

    Without `random` all cases of a repeat are due at the beginning of its part.
    """
    length = schedule.over / _NS / repeats
    due: dict[RepeatKey, float] = {}
    turn = 0
    for repeat in range(1, repeats + 1):
        begin = (repeat - 1) * length
        moments = {case.id: begin + (_uniform(seed, repeat, case.id) * length if random else 0.0) for case in cases}
        order = sorted(cases, key=lambda case: moments[case.id])
        if schedule.alternate:
            order, turn = _alternating(order, schedule.alternate, turn)
        for case, moment in zip(order, sorted(moments.values()), strict=True):
            due[case.id, repeat] = moment
    return due


def _uniform(seed: int, repeat: int, case: str) -> float:
    """Return a pseudo-random number in [0, 1) that is the same with every version of Python."""
    digest = hashlib.sha256(f"moment {seed} {repeat} {case}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def _alternating(cases: Sequence[Case], operations: Sequence[str], turn: int) -> tuple[list[Case], int]:
    """Return the cases alternating by their first operation, each kind in its own order, and the kind that is next.

    Cases with another first operation form one more kind, which comes last in each round.
    """
    kinds: list[list[Case]] = [[] for _ in range(len(operations) + 1)]
    for case in cases:
        first = case.operations[0]
        kinds[operations.index(first) if first in operations else -1].append(case)
    found: list[Case] = []
    while len(found) < len(cases):
        kind = kinds[turn % len(kinds)]
        if kind:
            found.append(kind.pop(0))
        turn += 1
    return found, turn % len(kinds)
