"""Jobs of one pass over a target, which measure the ceilings of its device with several kinds of request.

No kind of request is fastest on every device: some need many in flight, some are fastest with single large requests,
and some with the page cache's read-ahead, whose pages are contiguous. So a pass tries several, including those of the
study that keep most in flight, and the best counts.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from assay.contract._answers import BackendCapabilities, CacheAction
from assay.contract._generated import DataSpec, Job, Operation, Phase
from assay.model.result.ceiling import MAX_SMALL_RECORD, Ceiling, CeilingName
from assay.model.result.run import MEMORY_FILESYSTEMS
from assay.model.study.case import Case
from assay.model.study.names import READS
from assay.model.study.study import Study
from assay.model.units import format_size
from assay.plan.ceilings import LARGE_RECORD_BYTES, CeilingJob, ceiling_job, timed_phase

DIRECTORY = "c0-r0"
"""Directory on a file target while its ceilings are measured: named like that of a case 0, so that cleaning up after a
run recognises it."""
MAX_BYTES = 128 << 20
"""Largest file that device ceilings are measured on; smaller if space or `WRITE_NS` limits it."""
MIN_BYTES = 8 << 20
"""Smallest such file; with less space nothing is measured."""
FREE_SHARE = 8
"""At most 1 / `FREE_SHARE` of the free space is used."""
WRITE_NS = 500_000_000
TRY_NS = 80_000_000
"""Longest time of one phase with one kind of request."""
SMALL_RECORD_BYTES = 4 << 10
MAX_LARGE, MAX_SMALL = 2, 1
"""Most kinds of request taken from the study, with large and with small records."""
MAX_IN_FLIGHT = 64 << 20
"""Bytes in flight above which a study's kind of request is not tried."""
_PLAIN: dict[str, str] = {"device read": "read", "device write": "write", "device rewrite": "rewrite"}
DEVICE_NAMES: tuple[CeilingName, ...] = (
    "device write",
    "device rewrite",
    "device read",
    "device random read",
    "device random write",
)


class RequestKind(NamedTuple):
    """A kind of request: size, number in flight, and how it reaches the kernel.

    Attributes:
        lanes: Number of lanes.
        depth: Requests that each lane keeps in flight.
        record: Bytes of a request.
        method: System call interface, as in a job.
        direct: With O_DIRECT.
    """

    lanes: int
    depth: int
    record: int
    method: str
    direct: bool

    @property
    def words(self) -> str:
        """Description such as `1 MiB, O_DIRECT, 16 in flight`."""
        size = format_size(self.record).replace("Ki", " Ki").replace("Mi", " Mi")
        lanes = f"{self.lanes} x " if self.lanes > 1 else ""
        if not self.direct:
            return f"{size}, through the page cache, {self.lanes} lane{'s' * (self.lanes > 1)}"
        method = "" if self.method in ("auto", "sync") else f", {self.method}"
        return f"{size}, O_DIRECT, {lanes}{self.depth} in flight{method}"


DEEP_REQUESTS, SINGLE_REQUESTS = (
    RequestKind(1, 16, LARGE_RECORD_BYTES, "auto", True),
    RequestKind(1, 1, LARGE_RECORD_BYTES, "sync", True),
)


def large_request_kinds(cases: Iterable[Case]) -> tuple[RequestKind, ...]:
    """Return kinds of large requests: the usual ones, and those of the cases that keep most bytes in flight."""
    found = [way for way in _ways(cases) if way.record > MAX_SMALL_RECORD]
    found.sort(key=lambda way: (-way.lanes * way.depth * way.record, way))
    return _with((DEEP_REQUESTS, SINGLE_REQUESTS), found, MAX_LARGE)


def small_request_kinds(cases: Iterable[Case], cpus: int) -> tuple[RequestKind, ...]:
    """Return kinds of small requests: the usual one, and those of the cases that keep most of them in flight."""
    found = [way for way in _ways(cases) if way.record <= MAX_SMALL_RECORD]
    found.sort(key=lambda way: (-way.lanes * way.depth, way.record, way))
    return _with((RequestKind(min(2, cpus), 64, SMALL_RECORD_BYTES, "auto", True),), found, MAX_SMALL)


def _ways(cases: Iterable[Case]) -> list[RequestKind]:
    """Return the kinds of request of cases with O_DIRECT; in others the kernel chooses the requests to the device."""
    found = {}
    for case in cases:
        item = case.parameters
        if item.record_size and item.cache == "direct" and item.rate is None:
            way = RequestKind(item.lanes, item.queue_depth, item.record_size, item.method, True)
            if way.lanes * way.depth * way.record <= MAX_IN_FLIGHT:
                found[_normalised(way)] = way
    return list(found.values())


def _normalised(way: RequestKind) -> RequestKind:
    """Normalise a kind of request: at depth 1 `auto` means `sync`."""
    return way._replace(method="sync") if way.depth == 1 and way.method == "auto" else way


def _with(usual: tuple[RequestKind, ...], others: Iterable[RequestKind], most: int) -> tuple[RequestKind, ...]:
    further = [way for way in others if _normalised(way) not in usual]
    return (*usual, *further[:most])


def writing_job(study: Study, name: str, place: BackendCapabilities, destroy: bool) -> CeilingJob | Ceiling:
    """Return the first job at a target, which writes the file for the others; or an unmeasured ceiling with the reason.

    Args:
        study: The study.
        name: Name of the target.
        place: Capabilities of the engine there.
        destroy: The user has confirmed that devices may be overwritten.
    """
    free = (place.place.free_bytes if place.place else None) or 0
    size = min(MAX_BYTES, (free // FREE_SHARE) // LARGE_RECORD_BYTES * LARGE_RECORD_BYTES)
    if size < MIN_BYTES:
        return Ceiling(
            name="device write",
            target=name,
            unit="bytes/s",
            value=None,
            how="",
            reason=f"less than {MIN_BYTES * FREE_SHARE >> 20} MiB are free",
        )
    way = DEEP_REQUESTS if bypasses_cache(place) else RequestKind(1, 1, LARGE_RECORD_BYTES, "auto", False)
    job = _job("ceiling-write", study, name, destroy, way, size, [_write_phase()], keep_files=True, reuse_files=False)
    return CeilingJob(target=name, job=job, phases={} if in_memory(place) else {0: "device write"}, how=way.words)


def device_jobs(
    study: Study, name: str, place: BackendCapabilities, written: int, request_kinds: tuple[Sequence[RequestKind],
        Sequence[RequestKind]],
    cpus: int, destroy: bool,
) -> list[CeilingJob]:  # fmt: skip
    """Return the other jobs of a pass over a device, in order; all keep the file.

    Args:
        study: The study.
        name: Name of the target.
        place: Capabilities of the engine there.
        written: Size of the file in bytes.
        request_kinds: Kinds of request with large and with small records.
        cpus: Number of CPUs that may be used.
        destroy: See `writing_job`.
    """
    jobs: list[CeilingJob] = []

    def add(way: RequestKind, phases: list[tuple[CeilingName, Phase]]) -> None:
        size = written // (way.record * way.lanes) * (way.record * way.lanes)
        if size:
            job = _job(f"ceiling-{len(jobs)}", study, name, destroy, way, size, [phase for _, phase in phases])
            names = dict(enumerate(name for name, _ in phases))
            jobs.append(CeilingJob(target=name, job=job, phases=names, how=way.words))

    if bypasses_cache(place):
        for way in request_kinds[0]:
            add(way, [("device read", timed_phase("read", TRY_NS)), ("device rewrite", timed_phase("rewrite", TRY_NS))])
        for way in request_kinds[1]:
            random = [timed_phase(operation, TRY_NS) for operation in ("random_read", "random_write")]
            add(way, [("device random read", random[0]), ("device random write", random[1])])
    # Writing the file again takes about as long as the first time, `WRITE_NS` at most.
    buffered = RequestKind(min(2, cpus), 1, LARGE_RECORD_BYTES, "sync", False)
    writes: list[tuple[CeilingName, Phase]] = [
        ("device rewrite", Phase(operation=Operation.rewrite)),
        ("device write", Phase(operation=Operation.write)),
    ]
    reads: list[tuple[CeilingName, Phase]] = [("device read", _evicted_phase("read"))] * 2
    if CacheAction.evict not in place.cache:
        reads = []
    add(buffered, [*reads, *writes])
    return jobs


def remeasure_job(
    study: Study, case: Case, operation: str, name: CeilingName, most: int, destroy: bool
) -> CeilingJob | None:
    """Return a job that measures a ceiling again, with the requests of a result that exceeded it; None without space.

    Args:
        study: The study.
        case: Case of the result.
        operation: Operation that exceeded the ceiling.
        name: Name of the ceiling.
        most: Most bytes that may be written.
        destroy: See `writing_job`.
    """
    item = case.parameters
    direct = item.cache == "direct"
    way = RequestKind(item.lanes, item.queue_depth, item.record_size or LARGE_RECORD_BYTES, item.method, direct)
    files = item.lanes if item.layout == "separate" else 1
    whole = way.record * (1 if files > 1 else way.lanes)
    size = min(item.file_size, most // files) // whole * whole
    if not size:
        return None
    phase_operation = operation if operation.startswith("random") else _PLAIN.get(name, operation)
    before = [] if phase_operation == "write" else [Phase(operation=Operation.prepare, measured=False)]
    phase = (
        _evicted_phase(phase_operation)
        if phase_operation in READS and not direct
        else Phase(operation=Operation(phase_operation), time_limit_ns=2 * TRY_NS)
    )
    job = _job(
        "ceiling-again", study, case.target, destroy, way, size, [*before, *[phase] * 3],
        layout=item.layout, keep_files=False, reuse_files=False,
        sync=item.sync, preallocate=item.preallocate,
        data=DataSpec(compressible_percent=item.compressible, duplicate_percent=item.duplicate),
    )  # fmt: skip
    phases = dict.fromkeys(range(len(before), len(before) + 3), name)
    return CeilingJob(
        target=case.target, job=job, phases=phases, how=f"{way.words}, with the requests of {operation} in {case.label}"
    )


def page_cache_job(study: Study, name: str, written: int, cpus: int, destroy: bool) -> CeilingJob:
    """Return the last job at a target, which reads the file from the page cache and removes it.

    Args:
        study: The study.
        name: Name of the target.
        written: Size of the file in bytes.
        cpus: Number of CPUs that may be used.
        destroy: See `writing_job`.
    """
    way = RequestKind(cpus, 1, LARGE_RECORD_BYTES >> 3, "sync", False)
    phases = [Phase(operation=Operation.read, measured=False), *[timed_phase("read", 2 * TRY_NS)] * 2]
    size = min(written, MIN_BYTES)
    job = _job("ceiling-cached", study, name, destroy, way, size, phases, keep_files=False)
    how = f"128 KiB reads of a file of {size >> 20} MiB in the page cache, {cpus} lanes"
    return CeilingJob(target=name, job=job, phases={1: "page cache read", 2: "page cache read"}, how=how)


def unmeasured_ceilings(name: str, reason: str, names: Iterable[CeilingName] = ("page cache read",)) -> list[Ceiling]:
    """Return entries for ceilings of a target that could not be measured, with the reason."""
    words = reason or "the file to read could not be written"
    return [
        Ceiling(
            name=item,
            target=name,
            unit="operations/s" if "random" in item else "bytes/s",
            value=None,
            how="",
            reason=words,
        )
        for item in names
    ]


def in_memory(place: BackendCapabilities) -> bool:
    """Return whether the place is in memory, without a device below it."""
    return place.place is not None and place.place.filesystem in MEMORY_FILESYSTEMS


def bypasses_cache(place: BackendCapabilities) -> bool:
    """Return whether O_DIRECT works there and really bypasses the page cache."""
    return place.direct and place.direct_bypasses_cache


def _write_phase() -> Phase:
    return Phase(operation=Operation.write, time_limit_ns=WRITE_NS)


def _evicted_phase(operation: str) -> Phase:
    """Return a phase that reads from the device through the page cache, at most once over the data."""
    return Phase(operation=Operation(operation), cache_before=CacheAction.evict, time_limit_ns=2 * TRY_NS)


def _job(
    job: str, study: Study, name: str, destroy: bool, way: RequestKind, size: int, phases: list[Phase], **fields: Any
) -> Job:
    place = study.targets[name].plain_target(DIRECTORY, destroy)
    if "shares" in type(place).model_fields:
        # The one file is in one directory.
        place = place.model_copy(update={"shares": []})
    values = {
        "lanes": way.lanes,
        "queue_depth": way.depth,
        "record_size_bytes": way.record,
        "method": way.method,
        "direct": way.direct,
        "sync": "none" if way.direct else "fdatasync",
        "file_size_bytes": size,
        "keep_files": True,
        "reuse_files": True,
    }
    return ceiling_job(job, place, phases, **{**values, **fields})
