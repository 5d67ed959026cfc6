"""Jobs that measure the ceilings of memory and engine, before anything else is measured."""

from collections.abc import Iterable
from typing import Any

from assay.contract import SPEC_VERSION
from assay.contract._generated import (
    DataSpec,
    Job,
    NullTarget,
    Operation,
    Phase,
    Tree,
)
from assay.model.frozen import Frozen
from assay.model.result.ceiling import COPY_BLOCK, HOST_WIDE, Ceiling, CeilingName
from assay.model.study.case import Case, job_kind
from assay.model.study.mixes import mix_of
from assay.model.study.names import DELETES, is_metadata
from assay.model.study.parameters import Parameters
from assay.model.study.study import Study
from assay.plan.ceiling_times import MAX_KINDS
from assay.plan.jobs import job_objects

ENGINE_PASS_NS = 40_000_000
NAME_COUNT = 100_000
OBJECTS_PER_LANE = 100_000
"""Objects per lane."""
CACHE_BLOCK_BYTES = 128 << 10
"""Bytes of a block that fits into a core's own cache, where copies are fastest."""
LARGE_RECORD_BYTES = 1 << 20
"""Record size in bytes of sequential ceilings."""


class CeilingJob(Frozen):
    """A job that measures ceilings.

    Attributes:
        target: Name of the target; empty for ceilings of the host.
        job: The job.
        phases: Number of the phase -> name of the ceiling that it measures.
        how: The method in words.
        kind: Kind of job, for engine ceilings; else empty.
    """

    target: str
    job: Job
    phases: dict[int, CeilingName]
    how: str
    kind: str = ""


def copy_jobs(cpus: int) -> list[CeilingJob]:
    """Return jobs in which all CPUs copy blocks, in memory and in the cores' caches.

    Args:
        cpus: Number of CPUs that may be used.
    """
    blocks: list[tuple[CeilingName, int, str]] = [
        ("memory copy", COPY_BLOCK, f"{COPY_BLOCK >> 20} MiB"),
        ("cache copy", CACHE_BLOCK_BYTES, f"{CACHE_BLOCK_BYTES >> 10} KiB"),
    ]
    return [
        CeilingJob(
            target=HOST_WIDE,
            job=ceiling_job(
                f"ceiling-{name.replace(' ', '-')}",
                NullTarget(kind="null", memory_copy_bytes=block),
                [timed_phase("read", ENGINE_PASS_NS * 2) for _ in range(3)],
                lanes=cpus,
                record_size_bytes=min(block, LARGE_RECORD_BYTES),
                file_size_bytes=1 << 40,
                method="sync",
            ),
            phases=dict.fromkeys(range(3), name),
            how=f"{cpus} lanes copying blocks of {words}, best of 3 passes",
        )
        for name, block, words in blocks
    ]


def engine_jobs(study: Study, cases: Iterable[Case]) -> tuple[list[CeilingJob], int]:
    """Return one job without storage for each kind of job in the study, and the number of kinds left out."""
    kinds: dict[str, tuple[Case, str, int]] = {}
    for case in cases:
        target = study.targets[case.target]
        if not target.keeps_data or target.is_read_only or target.has_own_service:
            continue
        for operation in case.operations:
            kind = job_kind(case.parameters, operation)
            if kind is not None:
                known = kinds.get(kind)
                kinds[kind] = (case, operation, 1 + (known[2] if known else 0))
    chosen = sorted(kinds.items(), key=lambda item: -item[1][2])
    jobs = [_engine_job(kind, case.parameters, number) for number, (kind, (case, _, _)) in enumerate(chosen)]
    return jobs[:MAX_KINDS], max(0, len(jobs) - MAX_KINDS)


def _engine_job(kind: str, parameters: Parameters, number: int) -> CeilingJob:
    operation = kind.split(" ", 1)[0]
    is_on_names = is_metadata(operation)
    whole = is_on_names or operation in DELETES
    mix, range_bytes = mix_of(operation, parameters), parameters.range if operation == "get" else None
    phase = Phase(
        operation=Operation(operation), runtime_ns=None if whole else ENGINE_PASS_NS, mix=mix, range_bytes=range_bytes
    )
    before = [Phase(operation=Operation.mkdir, measured=False)] if operation == "rmdir" else []
    phases = [phase] * (1 if whole else 3)
    numbers = range(len(before), len(before) + len(phases))
    job = ceiling_job(
        f"ceiling-engine-{number}",
        NullTarget(kind="null", make_data=True),
        before + phases,
        lanes=parameters.host_lanes,
        queue_depth=parameters.queue_depth,
        reuse_files=operation != "create",
        **_data_fields(parameters, is_on_names),
        data=DataSpec(
            compressible_percent=parameters.compressible, duplicate_percent=parameters.duplicate, verify=False
        ),
    )
    how = f"an equivalent job without storage ({kind}), best of {len(phases)} passes"
    return CeilingJob(target=HOST_WIDE, job=job, phases=dict.fromkeys(numbers, "engine"), how=how, kind=kind)


def _data_fields(parameters: Parameters, is_on_names: bool) -> dict[str, Any]:
    """Return the job fields for names, objects or a file, large enough for one pass."""
    if parameters.objects is not None:
        return {**job_objects(parameters.model_copy(update={"objects": OBJECTS_PER_LANE})), "layout": "separate"}
    return {
        "record_size_bytes": parameters.record_size or max(parameters.file_size, 1),
        "file_size_bytes": parameters.file_size if is_on_names else 1 << 40,
        "tree": Tree(files=NAME_COUNT) if is_on_names else None,
    }


def stated_ceilings(study: Study, names: Iterable[str]) -> list[Ceiling]:
    """Return the ceilings that the study states for its targets."""
    found: list[Ceiling] = []
    for target in names:
        item = study.targets[target]
        stated: list[tuple[CeilingName, str, float | None]] = [
            ("stated read", "bytes/s", item.ceilings.read),
            ("stated write", "bytes/s", item.ceilings.write),
            ("stated read IOPS", "operations/s", item.ceilings.read_iops),
            ("stated write IOPS", "operations/s", item.ceilings.write_iops),
            ("link", "bytes/s", item.ceilings.link),
        ]
        found += [
            Ceiling(name=name, target=target, unit=unit, value=value, how="stated in the study")
            for name, unit, value in stated
            if value is not None
        ]
    return found


def timed_phase(operation: str, runtime_ns: int, mix: dict[str, int] | None = None) -> Phase:
    """Return a phase with a fixed runtime; for `mix` see `assay.model.study.mixes.mix_of`."""
    return Phase(operation=Operation(operation), runtime_ns=runtime_ns, mix=mix)


def ceiling_job(name: str, target: object, phases: list[Phase], **fields: object) -> Job:
    """Return a job that measures ceilings; further fields are those of `Job`."""
    values = {"layout": "shared", "interval_ns": 10_000_000_000, **fields}
    return Job(spec_version=SPEC_VERSION, id=name, target=target, phases=phases, **values)
