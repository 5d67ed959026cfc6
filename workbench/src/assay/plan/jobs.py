"""Makes the job of the engine for a repeat of a case."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from assay.contract import SPEC_VERSION
from assay.contract._generated import (
    DataSpec,
    HotspotAccess,
    Job,
    ListedSizes,
    Log2Sizes,
    Objects,
    Operation,
    Phase,
    RandomPart,
    RangeOfSizes,
    ShiftedPart,
    Tree,
    Tuning,
    WeightedSize,
    ZipfianAccess,
)
from assay.model.frozen import Frozen
from assay.model.result.layers import Layer
from assay.model.study.case import Case
from assay.model.study.contents import Sizes, parse_access
from assay.model.study.mixes import mix_of
from assay.model.study.names import ANY_ORDER, REORDERED, WEAR_OUT
from assay.model.study.parameters import DEFINITIONS, Parameters
from assay.model.study.study import Study
from assay.plan.layout.blocks import block_bytes
from assay.plan.layout.tasks import command_target, replay_target, task_fields
from assay.plan.objects import batch_size, piece_bytes
from assay.plan.phases import cache_action, job_id, plan_phases, times_of
from assay.plan.tree import PhasePlan


class _Place(NamedTuple):
    """Where a parameter goes in a job: parameter name, field of the job, conversion (None: as it is)."""

    name: str
    field: str
    convert: Callable[[Any], Any] | None


class PlannedJob(Frozen):
    """The job of one repeat of one case, ready to be sent.

    Attributes:
        id: Id such as `c0001-r1`; also the name of the job's directory on a file target.
        case: Id of the case.
        repeat: Number of the repeat, from 1.
        target: Name of the target in the study.
        memory_limit: Memory limit in bytes of the engine's cgroup, which is not part of the job; None for no cgroup.
        tasks: Engines on each host that do the job together; the job's lanes are those of all of them.
        job: The job for the engine; with several hosts that of the first one, see `rank_job`.
    """

    id: str
    case: str
    repeat: int
    target: str
    memory_limit: int | None
    tasks: int = 1
    job: Job


def data_seed(seed: int, case: str, repeat: int) -> int:
    """Return the seed of a repeat's data and offsets: independent for each repeat, and derived from the study's seed.

    It has 53 bits, so that every JSON parser keeps it exact.
    """
    digest = hashlib.sha256(f"data {seed} {case} {repeat}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11


ERROR_LIMIT = 100
"""Failed operations after which a lane stops."""
MAX_WATCHED_DEVICES = 64
"""Most block devices whose requests an engine counts."""
LEASE_NS = 4 * 10**9
"""An engine on another host stops after this time without a message: its controller or the network has failed."""


def joint_job(job: Job, ranks: int) -> Job:
    """Return the job for several engines, which wait for each other."""
    return job.model_copy(update={"ranks": ranks, "wait_for_go": True, "lease_ns": LEASE_NS})


def in_directory(job: Job, name: str) -> Job:
    """Return the job with another directory below that of its target, if the target has directories."""
    if "directory" not in type(job.target).model_fields:
        return job
    return job.model_copy(update={"target": job.target.model_copy(update={"directory": name})})


def rank_job(job: Job, rank: int) -> Job:
    """Return the job of one of several engines.

    Args:
        job: Job from `joint_job`.
        rank: Rank of the engine, from 0; it decides which of all lanes the engine runs.
    """
    return job.model_copy(update={"rank": rank})


def plan_job(study: Study, case: Case, repeat: int, destroy: bool = False) -> PlannedJob:
    """Return the job for one repeat.

    Args:
        study: The study.
        case: One of its cases.
        repeat: Number of the repeat, from 1.
        destroy: The user has confirmed that devices in the study may be overwritten; else the engine refuses them.
    """
    parameters = case.parameters
    name, target = job_id(case.id, repeat), study.targets[case.target]
    job = Job(
        spec_version=SPEC_VERSION,
        id=name,
        seed=data_seed(study.seed, case.id, repeat),
        target=_place(study, case, target.job_target(name, destroy=destroy, servers=parameters.servers)),
        tuning=Tuning(**_placed(parameters, "tuning")),
        direct=parameters.cache == "direct",
        data=DataSpec(**_placed(parameters, "data")),
        phases=[_phase(planned, case) for planned in plan_phases(case)],
        interval_ns=study.output.interval_for(parameters.runtime),
        error_limit=1 if target.times_out_when_lost else ERROR_LIMIT,
        keep_files=study.output.keep_files,
        **_data_fields(parameters),
        **{**_placed(parameters), "lanes": parameters.host_lanes, "block_size_bytes": block_bytes(parameters)},
    )
    if parameters.hosts > 1:
        job = joint_job(job, parameters.hosts)
    limit = parameters.memory_limit if parameters.cache == "limit" else None
    return PlannedJob(
        id=name,
        case=case.id,
        repeat=repeat,
        target=case.target,
        memory_limit=limit,
        tasks=parameters.tasks_per_host,
        job=job,
    )


def _places() -> Mapping[str, tuple[_Place, ...]]:
    found: dict[str, list[_Place]] = defaultdict(list)
    for name, item in DEFINITIONS.items():
        part, _, field = item.job.rpartition(".")
        if field:
            found[part].append(_Place(name, field, item.to_job))
    return {part: tuple(places) for part, places in found.items()}


_PLACES = _places()
"""Part of a job ("" for the job itself) -> parameters that go there."""


def _placed(parameters: Parameters, part: str = "") -> dict[str, Any]:
    """Return field -> value for a part of a job, from the definitions of the parameters."""
    return {
        place.field: parameters.get(place.name) if place.convert is None else place.convert(parameters.get(place.name))
        for place in _PLACES[part]
    }


def _target(place: BaseModel, parameters: Parameters) -> BaseModel:
    """Return the target with the workload's parameters for it, without those that its kind does not have."""
    known = type(place).model_fields
    fields = {field: value for field, value in _placed(parameters, "target").items() if field in known}
    if "hints" in known:
        hints = {key: str(value) for key, value in _placed(parameters, "target.hints").items() if value is not None}
        fields["hints"] = {**place.model_dump()["hints"], **hints}
    if fields.get("view", "none") != "none":
        fields["piece_bytes"] = parameters.block_size
    return type(place).model_validate({**place.model_dump(), **fields}) if fields else place


def _place(study: Study, case: Case, place: BaseModel) -> BaseModel:
    """Return the target of the job: a program or a trace in the place, if the case is a command's."""
    work = study.workloads[case.workload]
    if work.replay is not None:
        return replay_target(place, work.replay, case.parameters)
    return (
        _target(place, case.parameters)
        if work.command is None
        else command_target(place, work.command, case.parameters)
    )


def _data_fields(parameters: Parameters) -> dict[str, Any]:
    """Return the job fields for files, tree, objects or tasks."""
    if parameters.tasks is not None:
        return task_fields(parameters)
    if parameters.objects is not None:
        return job_objects(parameters)
    return {
        "file_size_bytes": parameters.file_size,
        "record_size_bytes": parameters.record_size or max(parameters.file_size, 1),
        "tree": _tree(parameters) if parameters.files is not None else None,
        "sizes": _job_sizes(parameters.sizes) if parameters.file_sizes is not None else None,
    }


def _tree(parameters: Parameters) -> Tree:
    more = {"more": parameters.lanes_with_extra_file} if parameters.lanes_with_extra_file else {}
    return Tree(**_placed(parameters, "tree"), **more)


def job_objects(parameters: Parameters) -> dict[str, Any]:
    """Return the job fields for objects."""
    sizes = parameters.object_sizes
    return {
        "objects": Objects(
            count=parameters.objects, part_size_bytes=parameters.part_size, batch=batch_size(parameters)
        ),
        "file_size_bytes": sizes.fixed or sizes.largest,
        "sizes": _job_sizes(sizes),
        "record_size_bytes": max(1, piece_bytes(sizes, parameters.part_size)),
    }


def _job_sizes(sizes: Sizes) -> Log2Sizes | RangeOfSizes | ListedSizes | None:
    if sizes.bounds is not None and sizes.is_uniform:
        return RangeOfSizes(distribution="range", min_bytes=sizes.bounds[0], max_bytes=sizes.bounds[1])
    if sizes.bounds is not None:
        return Log2Sizes(distribution="log2", min_bytes=sizes.bounds[0], max_bytes=sizes.bounds[1])
    if sizes.fixed is not None:
        return None
    listed = [WeightedSize(bytes=size, weight=weight) for size, weight in sizes.weights.items()]
    return ListedSizes(distribution="listed", sizes=listed)


def _access(value: str) -> ZipfianAccess | HotspotAccess | None:
    """Return the access distribution; None for uniform access."""
    word, numbers = parse_access(value)
    if word == "zipfian":
        return ZipfianAccess(distribution="zipfian", exponent=numbers[0])
    if word == "hotspot":
        requests, objects = numbers
        return HotspotAccess(distribution="hotspot", operations_percent=int(requests), objects_percent=objects)
    return None


def _reorder(operation: str, parameters: Parameters) -> ShiftedPart | RandomPart | None:
    """Return whose part the lanes work on in a phase; None if each works on its own."""
    if operation not in REORDERED:
        return None
    if parameters.reorder == "random":
        return RandomPart(order="random")
    return ShiftedPart(order="shift", lanes=parameters.lane_shift) if parameters.lane_shift else None


def _phase(planned: PhasePlan, case: Case) -> Phase:
    if not planned.measured:
        return Phase(operation=Operation(planned.operation), measured=False)
    parameters = case.parameters
    runtime, time_limit = times_of(planned.operation, parameters)
    order: dict[str, Any] = {"file_order": parameters.file_order} if parameters.is_on_set else {}
    reorder = _reorder(planned.operation, parameters)
    if reorder is not None:
        order["reorder"] = reorder
    return Phase(
        **order,
        operation=Operation(planned.operation),
        cache_before=cache_action(parameters.cache, case.is_metadata or parameters.is_on_set),
        runtime_ns=runtime,
        time_limit_ns=time_limit,
        wear_out=parameters.wear_out and planned.operation in WEAR_OUT,
        mix=mix_of(planned.operation, parameters),
        range_bytes=parameters.range if planned.operation == "get" else None,
        access=_access(parameters.access) if planned.operation in ANY_ORDER else None,
        **_placed(parameters, "phase"),
    )


def with_watched_devices(job: Job, layers: Sequence[Layer]) -> Job:
    """Return the job with the block devices below its target, whose requests the engine is to count."""
    numbers = dict.fromkeys(layer.number for layer in layers if layer.number)
    return job.model_copy(update={"watch": list(numbers)[:MAX_WATCHED_DEVICES]})


def with_safeguards(job: Job, run: str, stall_limit: float) -> Job:
    """Return the job with safeguards: it needs the mark of this run on the target, and ends if the storage hangs.

    Args:
        job: The job.
        run: Id of the run that has claimed the target.
        stall_limit: Seconds without a completed operation after which the storage counts as hung.
    """
    target = job.target
    if "run" in type(target).model_fields:
        target = target.model_copy(update={"run": run})
    return job.model_copy(update={"target": target, "stall_limit_ns": max(10**9, int(stall_limit * 1e9))})
