"""Jobs that measure the ceiling of a service's client, at the engine's own service."""

from collections.abc import Iterable

from assay.contract._generated import DataSpec, Operation, Phase
from assay.model.study.case import Case, job_kind
from assay.model.study.mixes import mix_of
from assay.model.study.names import DELETES
from assay.model.study.parameters import Parameters
from assay.model.study.study import Study
from assay.plan.ceilings import ENGINE_PASS_NS, CeilingJob, ceiling_job
from assay.plan.jobs import job_objects

LARGE_OBJECT_BYTES = 8 << 20
"""Object size in bytes from which operations take so long that one pass must be enough."""
_OBJECTS, _FEW, _MANY = 64, 8, 1000
_MAKES = ("put", "batch_put")


class ClientJob(CeilingJob):
    """A job with one lane, and the kinds of job whose CPU time it measures.

    Attributes:
        kind_by_lanes: Number of lanes -> kind of job (`assay.model.study.case.job_kind`).
    """

    kind_by_lanes: dict[int, str]


def client_jobs(study: Study, cases: Iterable[Case], most: int) -> tuple[list[ClientJob], int]:
    """Return jobs at the engine's own service, the most frequent kinds first, and the number of kinds left out."""
    found: dict[tuple[str, str], tuple[Parameters, str, dict[int, str], int]] = {}
    for case in cases:
        if not study.targets[case.target].has_own_service or case.parameters.hosts > 1:
            continue
        parameters = case.parameters.model_copy(update={"lanes": 1, "tasks_per_host": 1})
        for operation in case.operations:
            kind, one_lane_kind = job_kind(case.parameters, operation), job_kind(parameters, operation)
            if kind is None or one_lane_kind is None:
                continue
            _, _, kinds, count = found.get((case.target, one_lane_kind), (parameters, operation, {}, 0))
            found[case.target, one_lane_kind] = (
                parameters,
                operation,
                {**kinds, case.parameters.host_lanes: kind},
                count + 1,
            )
    chosen = sorted(found.items(), key=lambda item: -item[1][3])
    jobs = [
        _job(study, target, parameters, operation, kinds, number)
        for number, ((target, _), (parameters, operation, kinds, _)) in enumerate(chosen[:most])
    ]
    return jobs, len(chosen) - len(jobs)


def _job(
    study: Study, target: str, parameters: Parameters, operation: str, kinds: dict[int, str], number: int
) -> ClientJob:
    large = parameters.object_sizes.largest >= LARGE_OBJECT_BYTES
    whole = operation in DELETES
    phase = Phase(
        operation=Operation(operation),
        runtime_ns=None if whole else ENGINE_PASS_NS,
        mix=mix_of(operation, parameters),
        range_bytes=parameters.range if operation == "get" else None,
    )
    before = [] if operation in _MAKES else [Phase(operation=Operation.prepare, measured=False)]
    phases = [phase] * (1 if whole or large else 3)
    count = _MANY if whole else _FEW if large else max(_OBJECTS, 2 * parameters.queue_depth)
    job = ceiling_job(
        f"ceiling-client-{number}",
        study.targets[target].at_engine(),
        before + phases,
        lanes=1,
        queue_depth=parameters.queue_depth,
        layout="separate",
        **job_objects(parameters.model_copy(update={"objects": count})),
        data=DataSpec(
            compressible_percent=parameters.compressible, duplicate_percent=parameters.duplicate, verify=False
        ),
    )
    numbers = range(len(before), len(before) + len(phases))
    how = "the CPU time of the same kind of job at a service in the engine itself that answers immediately"
    return ClientJob(target=target, job=job, phases=dict.fromkeys(numbers, "client"), how=how, kind_by_lanes=kinds)
