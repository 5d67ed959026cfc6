"""From a case and a repeat to the job that the engine gets."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from assay.model.study.contents import Sizes, access_of
from assay.model.study.mixes import mix_of
from assay.model.study.names import REORDERED, TAKES_ANY, WEARS
from assay.model.study.parameters import DEFINITIONS, Parameters
from assay.model.study.study import Study
from assay.plan.layout.blocks import block_bytes
from assay.plan.objects import batch_of, piece_bytes
from assay.plan.phases import cache_action, job_id, plan_phases, times_of
from assay.plan.tree import PhasePlan


class _Place(NamedTuple):
    """Where a parameter goes."""

    name: str
    field: str
    convert: Callable[[Any], Any] | None


class PlannedJob(Frozen):
    """One repeat of one case, ready to be sent.

    Attributes:
        id: `c0001-r1`; also the name of the job's directory on a file target.
        repeat: From 1.
        target: Name of the target in the study.
        memory_limit: Bytes of memory that the engine's cgroup gets; None means no cgroup. Not part of the job.
        tasks: Engines that do the job together on each host; the job's lanes are those of all of them.
        job: What the engine gets; with several hosts the one on the first, see `rank_job`.
    """

    id: str
    case: str
    repeat: int
    target: str
    memory_limit: int | None
    tasks: int = 1
    job: Job


def data_seed(seed: int, case: str, repeat: int) -> int:
    """Seed of a repeat's data and offsets: repeats are independent, yet the study's seed decides them all.

    53 bits, so that every reader of JSON keeps it exact.
    """
    digest = hashlib.sha256(f"data {seed} {case} {repeat}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11


ERROR_LIMIT = 100
"""Failed operations after which a lane stops."""
MOST_WATCHED = 64
"""Block devices that an engine counts the requests of."""
LEASE_NS = 4 * 10**9
"""An engine on another host that hears nothing for so long stops: its controller, or the way to it, is gone."""


def together(job: Job, ranks: int) -> Job:
    """The job as one of several engines', which wait for each other."""
    return job.model_copy(update={"ranks": ranks, "wait_for_go": True, "lease_ns": LEASE_NS})


def in_directory(job: Job, name: str) -> Job:
    """The job in another directory of its own below the target's, if its target has directories."""
    if "directory" not in type(job.target).model_fields:
        return job
    return job.model_copy(update={"target": job.target.model_copy(update={"directory": name})})


def rank_job(job: Job, rank: int) -> Job:
    """The job of one of several engines.

    Args:
        job: As `together` makes it.
        rank: From 0; it decides which lanes, of those of all engines, are its own.
    """
    return job.model_copy(update={"rank": rank})


def plan_job(study: Study, case: Case, repeat: int, destroy: bool = False) -> PlannedJob:
    """The job for one repeat.

    Args:
        study: The study.
        case: One of its cases.
        repeat: From 1.
        destroy: The user confirmed that devices named in the study may be overwritten; the engine refuses without.
    """
    parameters = case.parameters
    name, target = job_id(case.id, repeat), study.targets[case.target]
    job = Job(
        spec_version=SPEC_VERSION,
        id=name,
        seed=data_seed(study.seed, case.id, repeat),
        target=_target(target.job_target(name, destroy=destroy, servers=parameters.servers), parameters),
        tuning=Tuning(**_placed(parameters, "tuning")),
        direct=parameters.cache == "direct",
        data=DataSpec(**_placed(parameters, "data")),
        phases=[_phase(planned, case) for planned in plan_phases(case)],
        interval_ns=study.output.interval_for(parameters.runtime),
        error_limit=1 if target.waits_when_gone else ERROR_LIMIT,
        keep_files=study.output.keep_files,
        **_worked_on(parameters),
        **{**_placed(parameters), "lanes": parameters.host_lanes, "block_size_bytes": block_bytes(parameters)},
    )
    if parameters.hosts > 1:
        job = together(job, parameters.hosts)
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


def plan_jobs(
    study: Study, cases: Sequence[Case], order: Sequence[tuple[str, int]], destroy: bool = False
) -> Iterator[PlannedJob]:
    """The jobs in the order given by `assay.plan.order.order_jobs`, made one at a time."""
    by_id = {case.id: case for case in cases}
    for case, repeat in order:
        yield plan_job(study, by_id[case], repeat, destroy)


def _places() -> Mapping[str, tuple[_Place, ...]]:
    found: dict[str, list[_Place]] = defaultdict(list)
    for name, item in DEFINITIONS.items():
        part, _, field = item.job.rpartition(".")
        if field:
            found[part].append(_Place(name, field, item.to_job))
    return {part: tuple(places) for part, places in found.items()}


_PLACES = _places()
"""Part of a job, "" for the job itself -> what goes there as it is."""


def _placed(parameters: Parameters, part: str = "") -> dict[str, Any]:
    """Field -> value, of the parameters that go into a part of a job by their definition."""
    return {
        place.field: parameters.get(place.name) if place.convert is None else place.convert(parameters.get(place.name))
        for place in _PLACES[part]
    }


def _target(place: BaseModel, parameters: Parameters) -> BaseModel:
    """A target with what the workload says of it, as far as its kind has that."""
    known = type(place).model_fields
    said = {field: value for field, value in _placed(parameters, "target").items() if field in known}
    if "hints" in known:
        hints = {key: str(value) for key, value in _placed(parameters, "target.hints").items() if value is not None}
        said["hints"] = {**place.model_dump()["hints"], **hints}
    if said.get("view", "none") != "none":
        said["piece_bytes"] = parameters.block_size
    return type(place).model_validate({**place.model_dump(), **said}) if said else place


def _worked_on(parameters: Parameters) -> dict[str, Any]:
    """The files, tree or objects of a job."""
    if parameters.objects is not None:
        return job_objects(parameters)
    return {
        "file_size_bytes": parameters.file_size,
        "record_size_bytes": parameters.record_size or max(parameters.file_size, 1),
        "tree": _tree(parameters) if parameters.files is not None else None,
        "sizes": _job_sizes(parameters.sizes) if parameters.file_sizes is not None else None,
    }


def _tree(parameters: Parameters) -> Tree:
    more = {"more": parameters.more_files} if parameters.more_files else {}
    return Tree(**_placed(parameters, "tree"), **more)


def job_objects(parameters: Parameters) -> dict[str, Any]:
    """What a job says of its objects."""
    sizes = parameters.object_sizes
    return {
        "objects": Objects(count=parameters.objects, part_size_bytes=parameters.part_size, batch=batch_of(parameters)),
        "file_size_bytes": sizes.fixed or sizes.largest,
        "sizes": _job_sizes(sizes),
        "record_size_bytes": max(1, piece_bytes(sizes, parameters.part_size)),
    }


def _job_sizes(sizes: Sizes) -> Log2Sizes | RangeOfSizes | ListedSizes | None:
    if sizes.bounds is not None and sizes.even:
        return RangeOfSizes(distribution="range", min_bytes=sizes.bounds[0], max_bytes=sizes.bounds[1])
    if sizes.bounds is not None:
        return Log2Sizes(distribution="log2", min_bytes=sizes.bounds[0], max_bytes=sizes.bounds[1])
    if sizes.fixed is not None:
        return None
    listed = [WeightedSize(bytes=size, weight=weight) for size, weight in sizes.weights.items()]
    return ListedSizes(distribution="listed", sizes=listed)


def _access(value: str) -> ZipfianAccess | HotspotAccess | None:
    """None: each object as often as the others."""
    word, numbers = access_of(value)
    if word == "zipfian":
        return ZipfianAccess(distribution="zipfian", exponent=numbers[0])
    if word == "hotspot":
        requests, objects = numbers
        return HotspotAccess(distribution="hotspot", operations_percent=int(requests), objects_percent=objects)
    return None


def _reorder(operation: str, parameters: Parameters) -> ShiftedPart | RandomPart | None:
    """Whose part the lanes work on in a phase; None: each on its own."""
    if operation not in REORDERED:
        return None
    if parameters.reorder == "random":
        return RandomPart(order="random")
    return ShiftedPart(order="shift", lanes=parameters.shift) if parameters.shift else None


def _phase(planned: PhasePlan, case: Case) -> Phase:
    if not planned.measured:
        return Phase(operation=Operation(planned.operation), measured=False)
    parameters = case.parameters
    runtime, time_limit = times_of(planned.operation, parameters)
    order: dict[str, Any] = {"file_order": parameters.file_order} if parameters.on_set else {}
    reorder = _reorder(planned.operation, parameters)
    if reorder is not None:
        order["reorder"] = reorder
    return Phase(
        **order,
        operation=Operation(planned.operation),
        cache_before=cache_action(parameters.cache, case.metadata or parameters.on_set),
        runtime_ns=runtime,
        time_limit_ns=time_limit,
        wear_out=parameters.wear_out and planned.operation in WEARS,
        mix=mix_of(planned.operation, parameters),
        range_bytes=parameters.range if planned.operation == "get" else None,
        access=_access(parameters.access) if planned.operation in TAKES_ANY else None,
        **_placed(parameters, "phase"),
    )


def watching(job: Job, layers: Sequence[Layer]) -> Job:
    """The job with the block devices below its target, whose requests are counted meanwhile."""
    numbers = dict.fromkeys(layer.number for layer in layers if layer.number)
    return job.model_copy(update={"watch": list(numbers)[:MOST_WATCHED]})


def guarded(job: Job, run: str, stall_limit: float) -> Job:
    """The job as it may be executed: only where this run has put its mark, if there are marks, and not for ever.

    Args:
        job: The job.
        run: Identity of the run that has claimed its target.
        stall_limit: Seconds without anything ending after which the storage counts as hung.
    """
    target = job.target
    if "run" in type(target).model_fields:
        target = target.model_copy(update={"run": run})
    return job.model_copy(update={"target": target, "stall_limit_ns": max(10**9, int(stall_limit * 1e9))})
