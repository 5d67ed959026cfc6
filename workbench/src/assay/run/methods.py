"""Finds once for a run how operations reach the kernel."""

from collections.abc import Iterator, Mapping, Sequence

from assay.contract._generated import (
    MethodAnswer,
    MethodFound,
    MethodQuestion,
    MethodsFound,
    MethodShape,
    SyncPolicy,
)
from assay.kinds.handler import handler_of
from assay.launch.inspector import MachineInspector
from assay.launch.launcher import Launcher
from assay.launch.place_commands import patience_of, run_place_command
from assay.launch.places import Owner
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.escape import escape_line
from assay.model.result.method import Direction, MethodChoice
from assay.model.study.study import Study
from assay.plan.methods import AccessShape


def find_methods(
    study: Study, shapes: Mapping[str, Sequence[AccessShape]], launcher: Launcher, owner: Owner, destroy: bool
) -> list[MethodChoice]:
    """Find how operations reach the kernel at each target, by trying.

    Args:
        study: The study.
        shapes: Target -> kinds of case.
        launcher: Starts an engine on the machine that tries; the result holds for all hosts.
        owner: The run that has claimed the directories.
        destroy: The user has confirmed that devices may be overwritten; their content is not changed here.

    Raises:
        AssayError: The storage does not answer, or the engine refuses the place.
    """
    choices: list[MethodChoice] = []
    inspector = MachineInspector(destroy, owner)
    for name, target_shapes in shapes.items():
        target = study.targets[name]
        try:
            place = handler_of(target).recheck_target(target.job_target(run=owner.identity, destroy=destroy), inspector)
            question = MethodQuestion(target=place, shapes=[_method_shape(one) for one in target_shapes])
            answer = run_place_command(
                launcher, ["methods"], question.model_dump_json(), patience_of(study), MethodAnswer
            )
        except AssayError as error:
            raise error.at(f"target {name}", EXIT_REFUSED) from None
        for shape, several in zip(target_shapes, answer.found, strict=True):
            choices += _choices(name, shape, several)
    return choices


def _choices(target: str, shape: AccessShape, found: MethodsFound) -> Iterator[MethodChoice]:
    directions: tuple[tuple[Direction, MethodFound], ...] = (
        ("read", found.read),
        ("create", found.create),
        ("overwrite", found.overwrite),
    )
    for direction, one in directions:
        yield MethodChoice(
            target=target,
            **shape._asdict(),
            direction=direction,
            method=str(one.method),
            reason=escape_line(one.reason),
        )


def _method_shape(shape: AccessShape) -> MethodShape:
    return MethodShape(
        record_size_bytes=shape.record_size,
        queue_depth=shape.queue_depth,
        direct=shape.direct,
        sync=SyncPolicy(shape.sync),
        preallocate=shape.preallocate,
    )
