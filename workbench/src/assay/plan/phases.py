"""The phases of a case, known before its job is made."""

from collections.abc import Sequence

from assay.contract._answers import CacheAction
from assay.model.study.case import Case
from assay.model.study.names import ALL_NAMES, CREATES, DATA, DELETES, LOOKUPS, METADATA, SHUFFLES, WEAR_OUT
from assay.model.study.parameters import CachePolicy, Parameters
from assay.plan.objects import object_phases
from assay.plan.tree import PhasePlan, tree_phases

_ACTIONS: dict[CachePolicy, CacheAction] = {
    "direct": CacheAction.keep,
    "drop": CacheAction.drop,
    "evict": CacheAction.evict,
    "limit": CacheAction.evict,
    "keep": CacheAction.keep,
    "remount": CacheAction.keep,
}


def job_id(case: str, repeat: int) -> str:
    """Return the id of a repeat's job."""
    return f"{case}-r{repeat}"


def cache_action(policy: CachePolicy, tree: bool = False) -> CacheAction:
    """Return what the engine does to the cache before each measured phase.

    `limit` evicts too, so that all phases start in the same state; names and files of a tree cannot be evicted and stay
    cached. With `remount` the engine has nothing to do.
    """
    return CacheAction.keep if tree and policy == "limit" else _ACTIONS[policy]


def plan_phases(case: Case) -> tuple[PhasePlan, ...]:
    """Return the phases of a case: its operations, with unmeasured phases before those that may lack data.

    A phase that creates the files but has a runtime, time_limit or rate may leave part of them missing; of metadata
    operations only one with a time_limit.
    """
    parameters = case.parameters
    limited = parameters.time_limit is not None and not parameters.wear_out
    if case.group == "programs":
        return tuple(PhasePlan(operation) for operation in case.operations)
    if case.is_metadata:
        return tree_phases(case.operations, partial=limited)
    partial = limited or parameters.runtime is not None or parameters.rate is not None
    if case.group == "objects":
        return object_phases(case.operations, partial, parameters.has_existing_objects)
    worn_out = parameters.wear_out and not partial
    complete = False
    phases: list[PhasePlan] = []
    for operation in case.operations:
        if operation in CREATES:
            complete = not partial
        elif not complete or (worn_out and operation in SHUFFLES):
            phases.append(PhasePlan("prepare", measured=False))
            complete, worn_out = True, False
        phases.append(PhasePlan(operation))
        # Which files a mix leaves behind is not known.
        complete = complete and operation != "file_mix"
    return tuple(phases)


def leg_starts(phases: Sequence[PhasePlan], reused: bool = False) -> tuple[int, ...]:
    """Return the numbers of the phases before which `cache: remount` remounts the file systems.

    Those are the first one, and each measured one that uses files which an earlier phase has written or accessed.

    Args:
        phases: Phases of the case.
        reused: The files exist already, so that a preparing phase does nothing.
    """
    starts, touched = [0], False
    for number, (operation, measured) in enumerate(phases):
        uses_files = operation in LOOKUPS or (operation in DATA and operation not in CREATES)
        if measured and uses_files and touched:
            starts.append(number)
        touched = touched or measured or not reused
    return tuple(starts)


def times_of(operation: str, parameters: Parameters) -> tuple[int | None, int | None]:
    """Return (runtime, time_limit) of a measured phase in nanoseconds; None for one that the operation does not use.

    Lookups can be repeated for any time, but each name is changed only once and each object deleted only once, so that
    such operations have no runtime. Operations that are always done completely have no time_limit.
    """
    changes = operation in DELETES or (operation in METADATA and operation not in LOOKUPS)
    runtime = None if changes else parameters.runtime
    is_complete = operation in ALL_NAMES | DELETES or (parameters.wear_out and operation not in WEAR_OUT)
    return runtime, None if is_complete else parameters.time_limit
