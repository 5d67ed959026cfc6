"""When the ceilings of a run are measured, and how long that takes."""

from collections.abc import Iterable

from assay.model.study.case import Case, job_kind
from assay.model.study.parameters import Parameters
from assay.model.study.study import Study

PASS_SECONDS = 1.5
"""Typical time of one pass over a device; longer on slow ones."""
PASSES_BETWEEN = 4
"""Typical number of passes between the first and the last one."""
MIN_PASS_SPACING = 20
"""Least time between two passes, as a multiple of the time of a pass."""
MAX_KINDS = 100
"""Most kinds of job whose engine ceiling is measured; the most frequent ones are."""
_HOST_SECONDS, _MEMORY_SECONDS, _KIND_SECONDS, _CLIENT_SECONDS = 0.6, 1.0, 0.16, 0.4


def interval_seconds(run_seconds: float, pass_seconds: float) -> float:
    """Return the least seconds from the end of one pass over all devices to the next one.

    Args:
        run_seconds: Estimated duration of the whole run.
        pass_seconds: Duration of one pass over all devices.
    """
    return max(run_seconds / (PASSES_BETWEEN + 1), MIN_PASS_SPACING * pass_seconds)


def ceiling_times(study: Study, cases: Iterable[Case], run_seconds: float) -> tuple[float, float]:
    """Estimate the seconds that the ceilings of a run take before the cases, and between and after them.

    Args:
        study: The study.
        cases: Its cases.
        run_seconds: Estimated duration of the repeats.
    """
    if study.ceilings != "measure":
        return 0.0, 0.0
    kinds: set[str | None] = set()
    clients: set[tuple[str, str | None]] = set()
    names: dict[str, None] = {}
    for case in cases:
        names[case.target] = None
        target = study.targets[case.target]
        if target.has_own_service:
            clients.update((case.target, job_kind(_with_one_lane(case), operation)) for operation in case.operations)
        elif target.keeps_data and not target.is_read_only:
            kinds.update(job_kind(case.parameters, operation) for operation in case.operations)
    engine = _KIND_SECONDS * min(len(kinds - {None}), MAX_KINDS)
    engine += _CLIENT_SECONDS * min(sum(kind is not None for _, kind in clients), MAX_KINDS)
    places = [study.targets[name] for name in names if study.targets[name].through_kernel]
    if not places or not study.is_local:
        return engine, 0.0
    in_memory_count = sum(place.is_in_memory for place in places)
    pass_seconds = PASS_SECONDS * (len(places) - in_memory_count)
    before = _HOST_SECONDS + engine + _MEMORY_SECONDS * in_memory_count + 2 * pass_seconds
    between = min(PASSES_BETWEEN, int(run_seconds / interval_seconds(run_seconds, pass_seconds)))
    return before, pass_seconds * (between + 1)


def _with_one_lane(case: Case) -> Parameters:
    return case.parameters.model_copy(update={"lanes": 1})
