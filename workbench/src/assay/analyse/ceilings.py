"""Ceilings from what was measured, and how close a result comes to those that apply to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from assay.analyse.links import link_ceilings, link_limits
from assay.model.case import Case
from assay.model.ceiling import HOST_WIDE, Binding, Ceiling, CeilingName, job_kind
from assay.model.names import MIXES, READS, is_metadata
from assay.model.network import Direction, Network
from assay.model.result import Estimate, Place, Sample

Unit = Literal["bytes/s", "operations/s"]

COUNTED: tuple[CeilingName, ...] = ("engine", "device random read", "device random write")
"""Measured in operations per second; all others in bytes per second."""

SMALL_RECORD = 64 << 10
"""Up to this record size the operations per second of a device limit, too."""


def measured_ceilings(
    target: str,
    phases: Mapping[int, CeilingName],
    samples: Iterable[Sample],
    how: str,
    kind: str = "",
    reason: str = "",
) -> list[Ceiling]:
    """The best pass of each ceiling that a job measured.

    Args:
        target: As in `Ceiling`.
        phases: Phase of the job -> ceiling.
        samples: Of the job.
        how: As in `Ceiling`.
        kind: As in `Ceiling`.
        reason: Why the job gave no samples, if it did not.
    """
    passes: dict[CeilingName, list[float]] = {name: [] for name in phases.values()}
    for sample in samples:
        name = phases.get(sample.phase)
        if name is None or sample.status not in ("done", "time_limit") or sample.errors:
            continue
        if name in ("device read", "device random read") and _from_memory(sample):
            reason = "O_DIRECT was answered from memory, not by the device"
        else:
            passes[name].append(sample.iops if name in COUNTED else sample.throughput)
    found = []
    for name, rates in passes.items():
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
            )
        )
    return found


def _from_memory(sample: Sample) -> bool:
    """The device delivered less than half of what was read from it (read_bytes of proc_pid_io(5))."""
    return sample.device_read_bytes is not None and 2 * sample.device_read_bytes < sample.read_bytes


def without_device(found: Sequence[Ceiling], reason: str) -> list[Ceiling]:
    """The ceilings of a target whose device could not be measured for that reason; one that has a reason keeps it."""
    gone = {"value": None, "lowest": None, "reason": reason}
    return [item.model_copy(update=gone) if item.name.startswith("device") and item.value else item for item in found]


def unit_of(name: CeilingName) -> Unit:
    """What a ceiling is counted in."""
    return "operations/s" if name in COUNTED or name.endswith("IOPS") else "bytes/s"


_LINKS: dict[str, CeilingName] = {"client": "client link", "server": "server link", "shared": "shared link"}


class Ceilings:
    """All ceilings of a run, by what they hold for."""

    def __init__(self, ceilings: Sequence[Ceiling], hosts: Sequence[str] = (), network: Network | None = None) -> None:
        """Sort them; hosts and network are the run's."""
        self._known = {(item.target, item.name, item.kind): item for item in ceilings if item.value}
        self._hosts = hosts
        self._links = link_ceilings(network) if network is not None else ()

    def bindings(
        self,
        case: Case,
        operation: str,
        place: Place | None,
        throughput: Estimate | None,
        iops: Estimate | None,
    ) -> tuple[Binding, ...]:
        """How close a result is to each ceiling that applies to it, the closest first.

        Args:
            case: Its case.
            operation: As the engine names it.
            place: Where the target is.
            throughput: Bytes per second; None where no data is moved.
            iops: Operations per second.
        """
        if iops is None:
            return ()
        found = list(self._network(case, operation, place, throughput))
        rates = {"bytes/s": throughput.median if throughput else 0.0, "operations/s": iops.median}
        for target, name, kind in self._applying(case, operation, place):
            ceiling = self._known.get((target, name, kind))
            if ceiling is not None and ceiling.value and rates[ceiling.unit]:
                measured = rates[ceiling.unit]
                found.append(
                    Binding(
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
        self, case: Case, operation: str, place: Place | None, throughput: Estimate | None
    ) -> Iterator[Binding]:
        """The tightest of the links that the data takes, in each direction on its own: links carry both at once."""
        if place is None or not place.servers or not self._links or throughput is None:
            return
        clients, servers = self._hosts[: case.parameters.hosts], place.servers[: case.parameters.servers]
        reads = case.parameters.read_percent / 100 if operation in MIXES else float(operation in READS)
        shares: tuple[tuple[Direction, float], ...] = (("write", 1 - reads), ("read", reads))
        for direction, share in shares:
            limits = link_limits(self._links, clients, servers, direction)
            if share and limits:
                limit, measured = limits[0], share * throughput.median
                names = ", ".join(limit.hosts[:3]) + (" and others" if len(limit.hosts) > 3 else "")
                yield Binding(
                    name=_LINKS[limit.place],
                    unit="bytes/s",
                    value=limit.value,
                    measured=measured,
                    share=measured / limit.value,
                    how=f"{names}, {direction}: {limit.how}" if names else f"{direction}: {limit.how}",
                )

    def _applying(self, case: Case, operation: str, place: Place | None) -> Iterable[tuple[str, CeilingName, str]]:
        parameters, target = case.parameters, case.target
        # What one engine does at most says nothing of several.
        if place is not None and place.kind != "null" and parameters.hosts == 1:
            kind = job_kind(parameters, operation)
            if kind is not None:
                yield HOST_WIDE, "engine", kind
        if is_metadata(operation):
            return
        yield target, "link", ""
        reads, writes = operation in READS, (operation in READS and operation in MIXES) or operation not in READS
        if reads:
            yield target, "stated read", ""
            yield target, "stated read IOPS", ""
        if writes:
            yield target, "stated write", ""
            yield target, "stated write IOPS", ""
        if place is None or place.kind == "null" or operation in MIXES:
            return
        yield from _of_storage(case, operation, place)


def _of_storage(case: Case, operation: str, place: Place) -> Iterable[tuple[str, CeilingName, str]]:
    parameters, target = case.parameters, case.target
    direct = parameters.cache == "direct" and place.direct_bypasses_cache
    if not direct:
        yield HOST_WIDE, "memory copy", ""
        yield HOST_WIDE, "cache copy", ""
        if operation in READS:
            yield target, "page cache read", ""
    # What is flushed goes to the device, whatever is kept in the cache.
    stays = parameters.cache == "keep" and (operation in READS or parameters.sync == "none")
    if place.memory_backed or stays:
        return
    small = direct and (parameters.record_size or 0) <= SMALL_RECORD
    if operation in READS:
        yield target, "device read", ""
        if small and "random" in operation:
            yield target, "device random read", ""
    else:
        yield target, "device write", ""
        if small and "random" in operation:
            yield target, "device random write", ""
