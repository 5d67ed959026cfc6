"""Cases with `method: auto`: finds those whose I/O method a run must choose, and adds the chosen methods to jobs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assay.contract._generated import Job, Method, MethodFound
from assay.model.result.method import Direction, MethodChoice
from assay.model.study.case import Case
from assay.model.study.names import CREATES, READS, STDIO, WRITES
from assay.model.study.study import Study

PREPARE_AHEAD_BYTES = 1 << 18
"""Record size from which the engine prepares the next direct write while one is in flight, if the kernel allows it."""


class AccessShape(NamedTuple):
    """The properties of a case that its I/O method depends on; fields as in `MethodChoice`."""

    record_size: int
    queue_depth: int
    direct: bool
    sync: str
    preallocate: bool


def shape_of(case: Case) -> AccessShape | None:
    """Return the shape for which the method of a case must be chosen; None if the study alone decides it."""
    parameters = case.parameters
    if parameters.method != "auto" or case.is_metadata or parameters.is_on_set or not parameters.record_size:
        return None
    direct = parameters.cache == "direct"
    ahead = direct and parameters.record_size >= PREPARE_AHEAD_BYTES and not WRITES.isdisjoint(case.operations)
    if parameters.queue_depth == 1 and not ahead:
        return None
    return AccessShape(parameters.record_size, parameters.queue_depth, direct, parameters.sync, parameters.preallocate)


def undecided_shapes(
    study: Study, cases: Iterable[Case], known: Iterable[MethodChoice] = ()
) -> dict[str, tuple[AccessShape, ...]]:
    """Return target -> shapes whose method is still to be chosen, in plan order.

    Args:
        study: The study.
        cases: Its cases.
        known: Choices that the run has already made.
    """
    chosen = {(choice.target, shape_of_choice(choice)) for choice in known}
    found: dict[str, dict[AccessShape, None]] = {}
    for case in cases:
        shape, target = shape_of(case), study.targets[case.target]
        if shape is None or not target.through_kernel or target.through_mpi:
            continue
        if (case.target, shape) not in chosen:
            found.setdefault(case.target, {})[shape] = None
    return {target: tuple(shapes) for target, shapes in found.items()}


def shape_of_choice(choice: MethodChoice) -> AccessShape:
    """Return the shape that a choice was made for."""
    return AccessShape(choice.record_size, choice.queue_depth, choice.direct, choice.sync, choice.preallocate)


def direction_of(operation: str) -> Direction | None:
    """Return the direction of an operation on data of files or devices; None for other operations."""
    if operation in CREATES:
        return "create"
    if operation in WRITES:
        return "overwrite"
    return "read" if operation in READS else None


MethodChoices = Mapping[tuple[str, AccessShape, Direction], MethodChoice]


def choices_by_shape(choices: Sequence[MethodChoice]) -> MethodChoices:
    """Return the choices by target, shape and direction."""
    return {(choice.target, shape_of_choice(choice), choice.direction): choice for choice in choices}


def with_methods(job: Job, case: Case, known: MethodChoices) -> Job:
    """Return the job with the chosen method, if there is one, in each measured phase."""
    shape = shape_of(case)
    if shape is None:
        return job
    phases = []
    for phase in job.phases:
        operation = str(phase.operation)
        direction = direction_of(operation)
        choice = known.get((case.target, shape, direction)) if direction else None
        if choice is not None and phase.measured and operation not in STDIO:
            found = MethodFound(method=Method(choice.method), reason=choice.reason)
            phase = phase.model_copy(update={"method": found})
        phases.append(phase)
    return job.model_copy(update={"phases": phases})
