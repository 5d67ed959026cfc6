"""Computes ceilings from measurements, and how close a result comes to the ceilings that apply to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Literal, NamedTuple, TypeVar

from assay.analyse.estimate import estimate
from assay.analyse.links import link_ceilings, link_limits
from assay.model.partial import MissingValue
from assay.model.result.ceiling import (
    COPY_BLOCK,
    HOST_WIDE,
    MAX_SMALL_RECORD,
    Ceiling,
    CeilingName,
    CeilingPass,
    CeilingShare,
    When,
)
from assay.model.result.network import Direction, NetworkMeasurements
from assay.model.result.result import COMPRESSING_FILESYSTEMS, Estimate
from assay.model.result.run import TargetPlace
from assay.model.result.sample import Sample
from assay.model.study.case import Case, job_kind
from assay.model.study.mixes import read_share
from assay.model.study.names import CREATES, DATA, MIXES, OBJECTS, READS

Unit = Literal["bytes/s", "operations/s"]
Key = tuple[str, CeilingName, str]
"""Target, name and kind of a ceiling."""
Item = TypeVar("Item")

COUNTED: tuple[CeilingName, ...] = ("engine", "client", "device random read", "device random write")
"""Measured ceilings in operations per second; of stated ones those that end in `IOPS` are, too."""

SERVED_SHARE = 0.9
"""If the kernel counted at least this share of the bytes at the device, the device moved the data."""


MIN_PASSES = 3
"""Minimum number of passes for a confidence interval."""


CPU_BOUND: tuple[CeilingName, ...] = ("cache copy", "engine")
"""Ceilings limited by the CPUs alone: the lanes of such jobs wait for nothing else and share no memory bandwidth."""
MIN_CPU_SHARE = 0.05
"""An attempt whose lanes got a smaller share of their possible CPU time is counted as if they got this share."""


class Pass(NamedTuple):
    """When something was measured; `at` in seconds since 1970."""

    at: float
    when: When


def measured_ceilings(
    target: str,
    phases: Mapping[int, CeilingName],
    samples: Iterable[Sample],
    how: str,
    during: Pass,
    kind: str = "",
    reason: str = "",
    direct: bool = True,
    lanes: int = 1,
) -> list[Ceiling]:
    """Return the best attempt at each ceiling that a job measured.

    For ceilings limited by the CPUs alone (`CPU_BOUND`) the value is the rate per CPU time that the lanes got, times
    the CPUs that they can use: other programs take time from an attempt, but do not change what a second of CPU time
        does.

    Args:
        target: As in `Ceiling`.
        phases: Phase number -> ceiling that the phase measures.
        samples: Samples of the job.
        how: As in `Ceiling`.
        during: The pass that the job belongs to.
        kind: As in `Ceiling`.
        reason: Why the job gave no samples, if it gave none.
        direct: The job bypassed the page cache.
        lanes: Number of lanes of the job.
    """
    attempts: dict[CeilingName, list[float]] = {name: [] for name in phases.values()}
    for sample in samples:
        name = phases.get(sample.phase)
        if name is None or sample.status not in ("done", "time_limit") or sample.errors:
            continue
        if name.startswith("device") and not served_by_device(sample, direct, flushed=True):
            by = "O_DIRECT" if direct else "operations meant for the device"
            reason = f"{by} was answered from memory, not by the device"
        else:
            rate = sample.iops if name in COUNTED else sample.throughput
            attempts[name].append(rate / _cpu_share(sample, lanes) if name in CPU_BOUND else rate)
    found = []
    for name, rates in attempts.items():
        best = max(rates, default=0.0)
        found.append(
            Ceiling(
                name=name,
                target=target,
                unit=unit_of(name),
                value=best or None,
                lowest=min(rates) if len(rates) > 1 else None,
                how=how,
                reason="" if best else reason or "its measurement failed",
                kind=kind,
                passes=(CeilingPass(at=during.at, when=during.when, value=best, how=how),) if best else (),
            )
        )
    return found


def _cpu_share(sample: Sample, lanes: int) -> float:
    """Return the share of their possible CPU time that the lanes got, `MIN_CPU_SHARE` to 1; 1 if unknown.

    Args:
        sample: A sample of the job.
        lanes: Number of lanes that could run at once.
    """
    possible_ns = sample.elapsed_ns * min(lanes, max(1, sample.cpus))
    used_ns = sample.cpu_user_ns + sample.cpu_system_ns
    return min(1.0, max(MIN_CPU_SHARE, used_ns / possible_ns)) if used_ns and possible_ns else 1.0


def client_ceilings(
    target: str, kinds: Mapping[int, str], samples: Iterable[Sample], how: str, during: Pass, reason: str = ""
) -> list[Ceiling]:
    """Return the request rate that each number of lanes can reach, with one CPU for each lane while there are CPUs.

    The service runs in the same process; only the lane's own CPU time counts, so the speed of the service does not
    matter. The value is the median of the passes: a single fast pass does not show a faster client.

    Args:
        target: As in `Ceiling`.
        kinds: Number of lanes -> kind of job.
        samples: Samples of the job, which has one lane.
        how: As in `Ceiling`.
        during: The pass that the job belongs to.
        reason: Why the job gave no samples, if it gave none.
    """
    measured = [
        (sample.ops * 1e9 / (sample.cpu_user_ns + sample.cpu_system_ns), sample.cpus)
        for sample in samples
        if sample.status in ("done", "time_limit") and not sample.errors and sample.ops and sample.cpu_user_ns
    ]
    one, cpus = (median(rate for rate, _ in measured), max(1, measured[0][1])) if measured else (0.0, 1)
    found = []
    for lanes, kind in kinds.items():
        value = one * min(lanes, cpus)
        found.append(
            Ceiling(
                name="client",
                target=target,
                unit="operations/s",
                value=value or None,
                how=how,
                reason="" if value else reason or "its measurement failed",
                kind=kind,
                passes=(CeilingPass(at=during.at, when=during.when, value=value, how=how),) if value else (),
            )
        )
    return found


def served_by_device(sample: Sample, direct: bool, flushed: bool) -> bool:
    """Whether the data went to the device or came from it, and not merely to or from memory.

    Where the kernel does not count, O_DIRECT or a flush is taken as proof: there is no other evidence.
    Source: read_bytes of proc_pid_io(5), the device's count of sectors written (iostats of the kernel).

    Args:
        sample: A sample of an operation that reads or writes, not of a mix.
        direct: O_DIRECT was used, and bypasses the cache on this file system.
        flushed: Written data was flushed within the measured time.
    """
    if sample.read_bytes:
        read = sample.device_read_bytes
        return direct if read is None else read >= SERVED_SHARE * sample.read_bytes
    if direct or sample.block is None:
        return direct or flushed
    return sample.block.write_bytes >= SERVED_SHARE * sample.write_bytes


def merge_ceilings(known: Sequence[Ceiling], found: Iterable[Ceiling]) -> tuple[Ceiling, ...]:
    """Return the known ceilings, updated with later measurements; new ceilings come last."""
    result = {(item.target, item.name, item.kind): item for item in known}
    for item in found:
        key = (item.target, item.name, item.kind)
        result[key] = _merged(result[key], item) if key in result else item
    return tuple(result.values())


def _merged(one: Ceiling, other: Ceiling) -> Ceiling:
    """Merge two measurements of one ceiling. Several attempts in one pass count once, with the best of them."""
    if not one.value or not other.value:
        return one if one.value or not other.value else other
    by_time: dict[float, CeilingPass] = {}
    for item in (*one.passes, *other.passes):
        before = by_time.get(item.at)
        by_time[item.at] = item if before is None or item.value > before.value else before
    passes = tuple(by_time[at] for at in sorted(by_time))
    best = one if one.value >= other.value else other
    values = [item.value for item in passes]
    over = estimate(values) if len(values) >= MIN_PASSES else None
    lowest = [item for item in (one.lowest, other.lowest) if item is not None]
    return best.model_copy(
        update={
            "passes": passes,
            "lowest": min(values) if len(values) > 1 else min(lowest, default=None),
            "low": over and over.low,
            "high": over and over.high,
        }
    )


def is_stated(name: CeilingName) -> bool:
    """Whether the study states this ceiling, so that no measurement changes it."""
    return name.startswith("stated") or name == "link"


def unit_of(name: CeilingName) -> Unit:
    """Return the unit of a ceiling."""
    return "operations/s" if name in COUNTED or name.endswith("IOPS") else "bytes/s"


_LINKS: dict[str, CeilingName] = {"client": "client link", "server": "server link", "shared": "shared link"}


class Ceilings:
    """All ceilings of a run, looked up by what they apply to."""

    def __init__(
        self, ceilings: Sequence[Ceiling], hosts: Sequence[str] = (), network: NetworkMeasurements | None = None
    ) -> None:
        """Index the ceilings; `hosts` and `network` are those of the run."""
        self._known = {(item.target, item.name, item.kind): item for item in ceilings if item.value}
        memory, cache = (self._known.get((HOST_WIDE, name, "")) for name in ("memory copy", "cache copy"))
        if memory and cache and (cache.value or 0.0) < (memory.value or 0.0):
            # A copy from the cache is never slower than one from memory: that measurement went wrong.
            del self._known[HOST_WIDE, "cache copy", ""]
        self._hosts = hosts
        self._links = link_ceilings(network) if network is not None else ()

    def bindings(
        self,
        case: Case,
        operation: str,
        place: TargetPlace | None,
        throughput: Estimate | None,
        iops: Estimate | None,
    ) -> tuple[CeilingShare, ...]:
        """Return how close a result is to each ceiling that applies to it, the closest first.

        Args:
            case: The case of the result.
            operation: Operation, as the engine names it.
            place: Where the target is.
            throughput: Bytes per second; None where no data is moved.
            iops: Operations per second.
        """
        if iops is None:
            return ()
        found, _ = _until_missing(self._network(case, operation, place, throughput))
        rates = {"bytes/s": throughput.median if throughput else 0.0, "operations/s": iops.median}
        for target, name, kind in self.applicable(case, operation, place):
            ceiling = self._known.get((target, name, kind))
            if ceiling is not None and ceiling.value and rates[ceiling.unit]:
                measured = rates[ceiling.unit] * _share(case, operation, name)
                found.append(
                    CeilingShare(
                        name=name,
                        unit=ceiling.unit,
                        value=ceiling.value,
                        measured=measured,
                        share=measured / ceiling.value,
                        how=ceiling.how,
                    )
                )
        return tuple(sorted(found, key=lambda binding: -binding.share))

    def _network(
        self, case: Case, operation: str, place: TargetPlace | None, throughput: Estimate | None
    ) -> Iterator[CeilingShare]:
        """Yield the tightest link on the data's path for each direction; links carry both directions at once."""
        if throughput is None or (path := self._path(case, operation, place)) is None:
            return
        clients, servers, reads = path
        shares: tuple[tuple[Direction, float], ...] = (("write", 1 - reads), ("read", reads))
        for direction, share in shares:
            limits = link_limits(self._links, clients, servers, direction)
            if share and limits:
                limit, measured = limits[0], share * throughput.median
                names = ", ".join(limit.hosts[:3]) + (" and others" if len(limit.hosts) > 3 else "")
                yield CeilingShare(
                    name=_LINKS[limit.place],
                    unit="bytes/s",
                    value=limit.value,
                    measured=measured,
                    share=measured / limit.value,
                    how=f"{names}, {direction}: {limit.how}" if names else f"{direction}: {limit.how}",
                )

    def _path(
        self, case: Case, operation: str, place: TargetPlace | None
    ) -> tuple[Sequence[str], Sequence[str], float] | None:
        """Return the clients and servers of the data's path and the share that is read; None without known links."""
        if place is None or not place.servers or not self._links:
            return None
        clients, servers = self._hosts[: case.parameters.hosts], place.servers[: case.parameters.servers]
        return clients, servers, _reads(case, operation)

    def applicable(self, case: Case, operation: str, place: TargetPlace | None) -> Iterator[Key]:
        """Yield target, name and kind of each ceiling that applies to an operation of a case, measured or not."""
        for part in self._parts(case, operation, place):
            # If all parameters are known, no value can be missing here.
            yield from _until_missing(part)[0] if case.parameters.missing_names else part

    def missing_parameter(self, case: Case, operation: str, place: TargetPlace | None) -> MissingValue | None:
        """Return the missing parameter that decides which known ceilings apply to a case; None if none is missing."""
        if not case.parameters.missing_names:
            return None
        missing_values = [_until_missing(part)[1] for part in self._parts(case, operation, place)]
        if not any(target in (case.target, HOST_WIDE) and not is_stated(name) for target, name, _ in self._known):
            missing_values = []
        try:
            self._path(case, operation, place)
        except MissingValue as missing:
            missing_values.append(missing)
        return next((missing for missing in missing_values if missing is not None), None)

    def _parts(self, case: Case, operation: str, place: TargetPlace | None) -> Iterator[Iterator[Key]]:
        yield _of_engine(case, operation, place)
        if operation in DATA or operation in OBJECTS:
            yield _of_study(case, operation)
        if operation in DATA:
            yield self._of_storage(case, operation, place)

    def _of_storage(self, case: Case, operation: str, place: TargetPlace | None) -> Iterator[Key]:
        if place is None or place.has_no_storage or operation in MIXES:
            return
        yield from _of_storage(case, operation, place)


def _until_missing(items: Iterator[Item]) -> tuple[list[Item], MissingValue | None]:
    """Return the items before the first one that depends on a missing value, and that missing value."""
    found: list[Item] = []
    try:
        for item in items:
            found.append(item)
    except MissingValue as missing:
        return found, missing
    return found, None


def _of_engine(case: Case, operation: str, place: TargetPlace | None) -> Iterator[Key]:
    # The limit of one engine says nothing about several engines.
    if place is not None and not place.has_no_storage and case.parameters.hosts == 1:
        kind = job_kind(case.parameters, operation)
        if kind is not None:
            yield HOST_WIDE, "engine", kind
            yield case.target, "client", kind


def _reads(case: Case, operation: str) -> float:
    """Return the share of operations, and of their bytes, that are reads; head and list count as reads."""
    return 1.0 if operation in ("head", "list") else read_share(operation, case.parameters)


def _share(case: Case, operation: str, name: CeilingName) -> float:
    """Return the share of a result that a ceiling applies to: for a mix, its reads or its writes."""
    if not name.startswith("stated"):
        return 1.0
    reads = _reads(case, operation)
    return reads if name.startswith("stated read") else 1 - reads


def _of_study(case: Case, operation: str) -> Iterator[Key]:
    target = case.target
    yield target, "link", ""
    reads = _reads(case, operation)
    if reads > 0:
        yield target, "stated read", ""
        yield target, "stated read IOPS", ""
    if reads < 1:
        yield target, "stated write", ""
        yield target, "stated write IOPS", ""


def _of_storage(case: Case, operation: str, place: TargetPlace) -> Iterator[Key]:
    parameters, target = case.parameters, case.target
    direct = parameters.cache == "direct" and place.direct_bypasses_cache
    if not direct:
        if parameters.data_set_bytes > COPY_BLOCK:
            # A smaller data set may stay in the CPU caches.
            yield HOST_WIDE, "memory copy", ""
        yield HOST_WIDE, "cache copy", ""
        if operation in READS:
            yield target, "page cache read", ""
    # Flushed data goes to the device, whether or not the cache keeps it.
    stays = parameters.cache == "keep" and (operation in READS or parameters.sync == "none")
    shrinks = (parameters.compressible or parameters.duplicate) and place.filesystem in COMPRESSING_FILESYSTEMS
    if place.memory_backed or stays or shrinks:
        return
    small = direct and (parameters.record_size or 0) <= MAX_SMALL_RECORD
    if operation in READS:
        yield target, "device read", ""
        if small and "random" in operation:
            yield target, "device random read", ""
    else:
        # Writing to preallocated blocks needs no further allocation.
        anew = operation in CREATES and not parameters.preallocate
        yield target, "device write" if anew else "device rewrite", ""
        if small and "random" in operation:
            yield target, "device random write", ""
