"""What a repeat of a case does, phase by phase: all that is known of its job before the job is made."""

from collections.abc import Sequence

from assay.contract._answers import CacheAction
from assay.model.study.case import Case
from assay.model.study.names import CREATES, DATA, DELETES, LOOKUPS, METADATA, SHUFFLES, WEARS, WHOLE
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
    """Name of a repeat."""
    return f"{case}-r{repeat}"


def cache_action(policy: CachePolicy, tree: bool = False) -> CacheAction:
    """What the engine does to the cache before each measured phase.

    `limit` evicts too, so that phases start alike; names, and the files of a tree, cannot be evicted and stay as they
    are. With `remount` there is nothing left for the engine to do.
    """
    return CacheAction.keep if tree and policy == "limit" else _ACTIONS[policy]


def plan_phases(case: Case) -> tuple[PhasePlan, ...]:
    """The case's operations, with unmeasured phases before those that may not find all they work on.

    After a phase that creates the files and stops early or is paced (runtime, time_limit, rate), part may be missing;
    of metadata operations only a time_limit can leave that behind.
    """
    parameters = case.parameters
    limited = parameters.time_limit is not None and not parameters.wear_out
    if case.metadata:
        return tree_phases(case.operations, partial=limited)
    partial = limited or parameters.runtime is not None or parameters.rate is not None
    if case.group == "objects":
        return object_phases(case.operations, partial, parameters.existing)
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
        # Which files a mix leaves there is not known.
        complete = complete and operation != "file_mix"
    return tuple(phases)


def leg_starts(phases: Sequence[PhasePlan], reused: bool = False) -> tuple[int, ...]:
    """Numbers of the phases before which a case with `cache: remount` has its file systems mounted anew.

    Those are the first one and each measured one that finds files which an earlier phase has written or looked at.

    Args:
        phases: Of the case.
        reused: Its files are there before, so that a phase which makes what is missing finds nothing to do.
    """
    starts, touched = [0], False
    for number, (operation, measured) in enumerate(phases):
        finds = operation in LOOKUPS or (operation in DATA and operation not in CREATES)
        if measured and finds and touched:
            starts.append(number)
        touched = touched or measured or not reused
    return tuple(starts)


def times_of(operation: str, parameters: Parameters) -> tuple[int | None, int | None]:
    """(runtime, time_limit) of a measured phase in nanoseconds, as far as the operation takes them.

    Names can be looked at for any time, but changed only once, and objects be deleted only once; some changes are done
    whole.
    """
    changes = operation in DELETES or (operation in METADATA and operation not in LOOKUPS)
    runtime = None if changes else parameters.runtime
    whole = operation in WHOLE | DELETES or (parameters.wear_out and operation not in WEARS)
    return runtime, None if whole else parameters.time_limit
