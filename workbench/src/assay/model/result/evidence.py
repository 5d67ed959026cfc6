"""All that is known about one operation of one case: the input of the verdict rules."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from assay.model.partial import MissingValue
from assay.model.result.ceiling import CeilingShare
from assay.model.result.layers import Layer, self_answering_layer
from assay.model.result.observations import BlockDeviceUse
from assay.model.result.result import Estimate
from assay.model.result.run import TargetPlace
from assay.model.result.sample import Sample
from assay.model.site.cpus import cpu_numbers
from assay.model.study.case import Case

Found = TypeVar("Found")


class LevelUse(NamedTuple):
    """What the devices of one level below a target did in a repeat.

    Attributes:
        names: Names of the devices; empty if it is not known which one was counted.
        devices: Number of devices.
    """

    names: str
    devices: int
    use: BlockDeviceUse


@dataclass(frozen=True)
class Evidence:
    """All that is known about one operation of one case.

    Attributes:
        operation: Name in the contract.
        samples: All repeats, including failed ones.
        usable: Repeats that the estimate is computed from.
        place: Where the target is; None if it was never inspected.
        memory_bytes: Memory of the host; None if unknown.
        estimate: The rate: bytes or operations per second; None without a usable repeat.
        ceilings: How close the result is to each ceiling that applies, the closest first.
        planned: Requested repeats; for a case that was known well enough earlier, only the executed ones.
        reasons: Why repeats have no sample, one line each.
        is_imported: Another tool measured, and nothing but its output is known.
        missing_value: The missing value that decides whether further ceilings apply; None if `ceilings` is complete.
        within: The study repeats each case until `estimate.reach` is at most this share; None if it does not.
        cache: Cache of `once`.
    """

    case: Case
    operation: str
    samples: tuple[Sample, ...]
    usable: tuple[Sample, ...]
    place: TargetPlace | None
    memory_bytes: int | None
    estimate: Estimate | None
    planned: int
    ceilings: tuple[CeilingShare, ...] = ()
    reasons: tuple[str, ...] = ()
    within: float | None = None
    is_imported: bool = False
    missing_value: MissingValue | None = None
    cache: dict[tuple[str, int], tuple[Sample, Any]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def cached_value(self, name: str, sample: Sample, find: Callable[[Sample, "Evidence"], Found]) -> Found:
        """Return `find(sample, self)`, which several rules need; it is computed once.

        Args:
            name: Name of the computed value.
            sample: A repeat.
            find: Computes the value from the sample and this evidence.
        """
        known: tuple[Sample, Found] | None = self.cache.get((name, id(sample)))
        if known is None:
            # The entry holds the sample, so that no other object can get its id.
            known = self.cache[name, id(sample)] = sample, find(sample, self)
        return known[1]

    @property
    def all_ceilings(self) -> tuple[CeilingShare, ...]:
        """The same as `ceilings`, for callers that conclude something from the absence of others.

        Raises:
            MissingValue: It is not known which ceilings apply.
        """
        if self.missing_value is not None:
            raise self.missing_value
        return self.ceilings

    @cached_property
    def has_no_storage(self) -> bool:
        """There is no storage, so nothing can be cached: the null target."""
        return self.place is not None and self.place.has_no_storage

    @cached_property
    def is_across_network(self) -> bool:
        """The engine itself talks to servers, without a file system or page cache of this host in between."""
        if self.place is None:
            return False
        return bool(self.place.servers) if self.place.remote is None else self.place.remote

    @cached_property
    def is_in_memory(self) -> bool:
        """The storage is memory itself, so that no cache in front of it matters."""
        return self.place is not None and self.place.memory_backed

    @cached_property
    def bypasses_cache(self) -> bool:
        """O_DIRECT was used, and bypasses the page cache at this place."""
        return self.case.parameters.cache == "direct" and (self.place is None or self.place.direct_bypasses_cache)

    @cached_property
    def stacked_on(self) -> str | None:
        """What is below the place and may answer from the host's memory; None if nothing."""
        return self.place.stacked_on if self.place is not None else None

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """Layers below the place, from the top; empty if not inspected."""
        return self.place.layers if self.place is not None else ()

    def device_uses(self, sample: Sample) -> list[LevelUse]:
        """Return what block devices did in a repeat, from the top level down to the last that is fully counted."""
        return self.cached_value("uses", sample, _uses)

    @cached_property
    def may_compress(self) -> bool:
        """A layer below may compress this data, so that the device's counts are no evidence."""
        layers = self.layers
        if layers and not any(layer.compresses for layer in layers):
            return False
        data = self.case.parameters.compressible or self.case.parameters.duplicate
        return bool(data) and any(layer.compresses for layer in layers)

    @property
    def cache_bytes(self) -> int | None:
        """Memory that could hold the data: the cgroup's if the case was confined to one, else the host's.

        Layers below a stacked place use memory outside the cgroup.
        """
        parameters = self.case.parameters
        is_confined = parameters.cache == "limit" and self.stacked_on is None
        return parameters.memory_limit if is_confined else self.memory_bytes

    @cached_property
    def counts_reads(self) -> bool:
        """The kernel counts reads at this place; for some network and user-space file systems it always shows 0.

        If a layer below answers from memory, the kernel counts reads that the storage did not serve. If a program or
        cache answers by itself, it counts nothing, or everything.
        """
        counts = [sample.device_read_bytes for sample in self.usable]
        if self.stacked_on is not None or self_answering_layer(self.layers) or any(count is None for count in counts):
            return False
        return any(counts) or (self.place is not None and self.place.device is not None)

    @cached_property
    def data_set_bytes(self) -> int:
        """Size of all files or objects of the case together; the expected size if objects differ in size."""
        parameters = self.case.parameters
        if self.case.group == "objects":
            return round(parameters.all_objects * parameters.object_sizes.mean)
        return parameters.data_set_bytes

    @cached_property
    def all_lanes(self) -> int:
        """Lanes of all hosts together."""
        return self.case.parameters.all_lanes

    def lane_cpus(self, sample: Sample) -> int:
        """Return the number of CPUs that the lanes could use at once in a repeat; 0 if unknown."""
        parameters = self.case.parameters
        if parameters.cpus:
            return min(parameters.host_lanes, len(cpu_numbers(parameters.cpus))) * parameters.hosts
        return min(self.all_lanes, sample.cpus)

    def no_cpu_share(self, sample: Sample) -> float:
        """Return the share of a repeat, at most 1, in which ready lanes had no CPU or the hypervisor took it.

        Times that the kernel does not report count as 0.
        """
        time = sample.elapsed_ns * self.all_lanes
        waited = (sample.cpu_wait_ns or 0) / time if time else 0.0
        stolen = sample.host_stolen_ns or 0
        total = (sample.host_busy_ns or 0) + (sample.host_idle_ns or 0) + stolen
        return min(1.0, waited + (stolen / total if total else 0.0))


def _uses(sample: Sample, evidence: Evidence) -> list[LevelUse]:
    uses = []
    levels = evidence.place.device_levels if evidence.place is not None else ()
    for number, devices in enumerate(levels):
        if (used := sample.device_use(devices)) is None:
            break
        use = sample.block if number == 0 and sample.block is not None else used
        uses.append(LevelUse(" and ".join(device.name for device in devices), len(devices), use))
    return uses or ([LevelUse("", 1, sample.block)] if sample.block is not None else [])
