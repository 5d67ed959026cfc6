"""The jobs that find out what memory, device and engine can do at most, before anything else is measured."""

from collections.abc import Iterable

from assay.contract import SPEC_VERSION
from assay.contract._answers import BackendCapabilities
from assay.contract._generated import (
    DataSpec,
    DeviceTarget,
    FileTarget,
    Job,
    NullTarget,
    Operation,
    Phase,
    Tree,
)
from assay.model.base import Frozen
from assay.model.case import Case, Parameters
from assay.model.ceiling import HOST_WIDE, Ceiling, CeilingName, job_kind
from assay.model.names import is_metadata
from assay.model.result import IN_MEMORY
from assay.model.study import Study
from assay.model.target import NullTarget as StudyNullTarget

DIRECTORY = "c0-r0"
"""Directory on a file target while its ceilings are measured: that of a case 0, so that whoever removes what a run has
left knows it."""
MOST_BYTES = 256 << 20
"""Size of the file that device ceilings are measured on, if it can be written in `WRITE_NS` and there is space."""
LEAST_BYTES = 8 << 20
"""With less, nothing is measured."""
FREE_SHARE = 8
"""At most this fraction of the free space is used."""
WRITE_NS = 1_000_000_000
PASS_NS = 350_000_000
"""Length of one pass; there are two of each, of which the better counts."""
ENGINE_PASS_NS = 40_000_000
NAMES = 100_000
MOST_KINDS = 100
"""Kinds of job whose engine ceiling is measured, the most frequent first."""
COPY_BLOCK = 32 << 20
"""More than a core's own caches hold, so that memory itself is copied."""
CACHE_BLOCK = 128 << 10
"""Fits into a core's own cache: no copy is faster."""
LARGE, SMALL = 1 << 20, 4 << 10
"""Record sizes of sequential and of random ceilings, in bytes."""
LARGE_DEPTH, SMALL_DEPTH = 16, 64


class CeilingJob(Frozen):
    """A job and what its measured phases tell.

    Attributes:
        target: Name of the target; empty for the host's own ceilings.
        phases: Number of the phase -> name of the ceiling.
        how: In words.
        kind: For engine ceilings the kind of job.
    """

    target: str
    job: Job
    phases: dict[int, CeilingName]
    how: str
    kind: str = ""


def ceiling_seconds(targets: int, cases: Iterable[Case]) -> float:
    """About how many seconds the ceilings take.

    Args:
        targets: Directories and devices.
        cases: All cases.
    """
    kinds = {job_kind(case.parameters, operation) for case in cases for operation in case.operations}
    return 0.6 + 4.0 * targets + 0.16 * min(len(kinds), MOST_KINDS)


def copy_jobs(cpus: int) -> list[CeilingJob]:
    """Copies of memory by all CPUs together, of blocks in memory and of blocks in the cores' caches.

    Args:
        cpus: CPUs that may be used.
    """
    blocks: list[tuple[CeilingName, int, str]] = [
        ("memory copy", COPY_BLOCK, f"{COPY_BLOCK >> 20} MiB"),
        ("cache copy", CACHE_BLOCK, f"{CACHE_BLOCK >> 10} KiB"),
    ]
    return [
        CeilingJob(
            target=HOST_WIDE,
            job=_job(
                f"ceiling-{name.replace(' ', '-')}",
                NullTarget(kind="null", memory_copy_bytes=block),
                [_timed("read", ENGINE_PASS_NS * 2) for _ in range(3)],
                lanes=cpus,
                record_size_bytes=min(block, LARGE),
                file_size_bytes=1 << 40,
                method="sync",
            ),
            phases=dict.fromkeys(range(3), name),
            how=f"{cpus} lanes copying blocks of {words}, best of 3 passes",
        )
        for name, block, words in blocks
    ]


def engine_jobs(study: Study, cases: Iterable[Case]) -> tuple[list[CeilingJob], int]:
    """Jobs without storage, one for each kind of job that the study has, and how many kinds had to be left out."""
    kinds: dict[str, tuple[Case, str, int]] = {}
    for case in cases:
        if isinstance(study.targets[case.target], StudyNullTarget):
            continue
        for operation in case.operations:
            kind = job_kind(case.parameters, operation)
            if kind is not None:
                known = kinds.get(kind)
                kinds[kind] = (case, operation, 1 + (known[2] if known else 0))
    chosen = sorted(kinds.items(), key=lambda item: -item[1][2])
    jobs = [_engine_job(kind, case.parameters, number) for number, (kind, (case, _, _)) in enumerate(chosen)]
    return jobs[:MOST_KINDS], max(0, len(jobs) - MOST_KINDS)


def _engine_job(kind: str, parameters: Parameters, number: int) -> CeilingJob:
    operation = kind.split(" ", 1)[0]
    names = is_metadata(operation)
    phase = Phase(operation=Operation(operation)) if names else _timed(operation, ENGINE_PASS_NS)
    before = [Phase(operation=Operation.mkdir, measured=False)] if operation == "rmdir" else []
    phases = [phase.model_copy(update={"read_percent": parameters.read_percent})] * (1 if names else 3)
    numbers = range(len(before), len(before) + len(phases))
    job = _job(
        f"ceiling-engine-{number}",
        NullTarget(kind="null", make_data=True),
        before + phases,
        lanes=parameters.lanes,
        queue_depth=parameters.queue_depth,
        record_size_bytes=parameters.record_size or max(parameters.file_size, 1),
        file_size_bytes=parameters.file_size if names else 1 << 40,
        tree=Tree(files=NAMES) if names else None,
        reuse_files=operation != "create",
        data=DataSpec(
            compressible_percent=parameters.compressible, duplicate_percent=parameters.duplicate, verify=False
        ),
    )
    how = f"the same kind of job without storage ({kind}), best of {len(phases)} passes"
    return CeilingJob(target=HOST_WIDE, job=job, phases=dict.fromkeys(numbers, "engine"), how=how, kind=kind)


def writing_job(study: Study, name: str, place: BackendCapabilities, destroy: bool) -> CeilingJob | Ceiling:
    """The first job at a target, which writes the file that the others read; or why there is none.

    Args:
        study: The study.
        name: The target.
        place: What can be done there.
        destroy: The user has confirmed that devices may be overwritten.
    """
    free = place.place.free_bytes if place.place else 0
    size = min(MOST_BYTES, (free // FREE_SHARE) // LARGE * LARGE)
    if size < LEAST_BYTES:
        return Ceiling(
            name="device write",
            target=name,
            unit="bytes/s",
            value=None,
            how="",
            reason=f"less than {LEAST_BYTES * FREE_SHARE >> 20} MiB are free",
        )
    phase = Phase(operation=Operation.write, time_limit_ns=WRITE_NS)
    direct = place.direct and place.direct_bypasses_cache
    job = _job(
        "ceiling-write",
        _place(study, name, destroy),
        [phase],
        **_large(direct),
        file_size_bytes=size,
        keep_files=True,
        sync="none" if direct else "fdatasync",
    )
    how = f"1 MiB writes, {_way(direct)}, {size >> 20} MiB or one second"
    in_memory = place.place is not None and place.place.filesystem in IN_MEMORY
    return CeilingJob(target=name, job=job, phases={} if in_memory else {0: "device write"}, how=how)


def unwritten(name: str, reason: str) -> Ceiling:
    """What stands for the ceilings of a target in memory whose file could not be written, for that reason."""
    words = reason or "the file to read could not be written"
    return Ceiling(name="page cache read", target=name, unit="bytes/s", value=None, how="", reason=words)


def reading_jobs(
    study: Study, name: str, place: BackendCapabilities, written: int, cpus: int, destroy: bool
) -> list[CeilingJob]:
    """The other jobs at a target, in order; the last one removes the file.

    Args:
        study: The study.
        name: The target.
        place: What can be done there.
        written: Bytes of the file that are there.
        cpus: CPUs that may be used.
        destroy: As for `writing_job`.
    """
    common = {"target": _place(study, name, destroy), "file_size_bytes": written, "reuse_files": True}
    jobs = []
    if place.direct and place.direct_bypasses_cache:
        reads = [_timed("read", PASS_NS), _timed("read", PASS_NS)]
        jobs.append(
            CeilingJob(
                target=name,
                job=_job("ceiling-read", phases=reads, keep_files=True, **common, **_large(True)),
                phases={0: "device read", 1: "device read"},
                how=f"1 MiB reads, O_DIRECT, {LARGE_DEPTH} in flight, the better of 2 passes",
            )
        )
        operations = ("random_read", "random_write")
        lanes = min(2, cpus)
        jobs.append(
            CeilingJob(
                target=name,
                job=_job(
                    "ceiling-random",
                    phases=[_timed(operation, PASS_NS) for operation in operations for _ in range(2)],
                    keep_files=True,
                    direct=True,
                    sync="none",
                    lanes=lanes,
                    queue_depth=SMALL_DEPTH,
                    record_size_bytes=SMALL,
                    **common,
                ),
                phases={
                    0: "device random read",
                    1: "device random read",
                    2: "device random write",
                    3: "device random write",
                },
                how=f"4 KiB, O_DIRECT, {lanes} x {SMALL_DEPTH} in flight, the better of 2 passes",
            )
        )
    cached = [
        Phase(operation=Operation.read, measured=False),
        _timed("read", PASS_NS // 2),
        _timed("read", PASS_NS // 2),
    ]
    jobs.append(
        CeilingJob(
            target=name,
            job=_job(
                "ceiling-cached", phases=cached, lanes=cpus, method="sync", record_size_bytes=LARGE >> 3, **common
            ),
            phases={1: "page cache read", 2: "page cache read"},
            how=f"128 KiB reads of a file in the page cache, {cpus} lanes, the better of 2 passes",
        )
    )
    return jobs


def stated_ceilings(study: Study, names: Iterable[str]) -> list[Ceiling]:
    """What the study says of its targets."""
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


def _place(study: Study, name: str, destroy: bool) -> FileTarget | DeviceTarget:
    target = study.targets[name]
    assert not isinstance(target, StudyNullTarget)
    if target.kind == "file":
        return FileTarget(kind="file", root=target.path, directory=DIRECTORY)
    return DeviceTarget(kind="device", path=target.path, destroy=destroy)


def _large(direct: bool) -> dict[str, object]:
    return {"direct": direct, "record_size_bytes": LARGE, "queue_depth": LARGE_DEPTH if direct else 1}


def _way(direct: bool) -> str:
    return f"O_DIRECT, {LARGE_DEPTH} in flight" if direct else "buffered, flush included"


def _timed(operation: str, runtime_ns: int) -> Phase:
    return Phase(operation=Operation(operation), runtime_ns=runtime_ns)


def _job(name: str, target: object, phases: list[Phase], **fields: object) -> Job:
    values = {"layout": "shared", "interval_ns": 10_000_000_000, **fields}
    return Job(spec_version=SPEC_VERSION, id=name, target=target, phases=phases, **values)
