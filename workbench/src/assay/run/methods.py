"""How operations reach the kernel, found out once for a run."""

from collections.abc import Iterator, Mapping, Sequence

from assay.contract._generated import (
    MethodAnswer,
    MethodFound,
    MethodQuestion,
    MethodsFound,
    MethodShape,
    SyncPolicy,
)
from assay.kinds.place import keeper_of
from assay.launch.launcher import Launcher
from assay.launch.looking import MachineLooking
from assay.launch.places import Owner
from assay.launch.placing import answered, patience_of
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.foreign import plain
from assay.model.result.method import Direction, MethodChoice
from assay.model.study.study import Study
from assay.plan.methods import Shape


def find_methods(
    study: Study, shapes: Mapping[str, Sequence[Shape]], launcher: Launcher, owner: Owner, destroy: bool
) -> list[MethodChoice]:
    """How operations reach the kernel at each target, found by trying.

    Args:
        study: The study.
        shapes: Target -> kinds of case.
        launcher: Of the machine that tries; what it finds holds for all hosts.
        owner: The run that has claimed the directories.
        destroy: The user has confirmed that devices may be overwritten; what they hold is left as it is.

    Raises:
        AssayError: The storage does not answer, or the engine refuses the place.
    """
    found: list[MethodChoice] = []
    looking = MachineLooking(destroy, owner)
    for name, asked in shapes.items():
        target = study.targets[name]
        try:
            place = keeper_of(target).current(target.job_target(run=owner.identity, destroy=destroy), looking)
            question = MethodQuestion(target=place, shapes=[_asked_shape(one) for one in asked])
            answer = answered(launcher, ["methods"], question.model_dump_json(), patience_of(study), MethodAnswer)
        except AssayError as error:
            raise error.at(f"target {name}", EXIT_REFUSED) from None
        for shape, several in zip(asked, answer.found, strict=True):
            found += _choices(name, shape, several)
    return found


def _choices(target: str, shape: Shape, found: MethodsFound) -> Iterator[MethodChoice]:
    directions: tuple[tuple[Direction, MethodFound], ...] = (
        ("read", found.read),
        ("create", found.create),
        ("overwrite", found.overwrite),
    )
    for direction, one in directions:
        yield MethodChoice(
            target=target, **shape._asdict(), direction=direction, method=str(one.method), reason=plain(one.reason)
        )


def _asked_shape(shape: Shape) -> MethodShape:
    return MethodShape(
        record_size_bytes=shape.record_size,
        queue_depth=shape.queue_depth,
        direct=shape.direct,
        sync=SyncPolicy(shape.sync),
        preallocate=shape.preallocate,
    )
