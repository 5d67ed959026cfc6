"""All that is known of one operation of one case: what its verdict is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from assay.model.result.ceiling import Binding
from assay.model.result.layers import Layer, answering
from assay.model.result.result import Estimate
from assay.model.result.run import Place
from assay.model.result.sample import Sample
from assay.model.result.seen import BlockDeviceUse
from assay.model.site.cpus import cpu_numbers
from assay.model.study.case import Case
from assay.model.told import NotTold

Found = TypeVar("Found")


class LevelUse(NamedTuple):
    """What the devices of one level below a target did in a repeat.

    Attributes:
        names: Of the devices; empty if it is not known which one counted.
        devices: How many they are.
    """

    names: str
    devices: int
    use: BlockDeviceUse


@dataclass(frozen=True)
class Evidence:
    """All that is known of one operation of one case.

    Attributes:
        operation: As the engine names it.
        samples: Every repeat, also those that failed.
        usable: Those of them that the estimate is made of.
        place: Where the target is; None if it was never looked at.
        memory_bytes: Memory of the host; None if unknown.
        estimate: The rate: bytes or operations per second; None without a usable repeat.
        ceilings: How close the result is to each ceiling that applies to it, the closest first.
        planned: Repeats that are asked for: of a case that was known well enough before the last one, only those that
            were executed.
        reasons: Why repeats left no sample, one line each.
        unsure: What nobody has told that decides which further ceilings apply; None if these are all of them.
        within: The study repeats each case until `estimate.reach` is at most this share; None if it does not.
        known: What was found out of single samples, see `once`.
    """

    case: Case
    operation: str
    samples: tuple[Sample, ...]
    usable: tuple[Sample, ...]
    place: Place | None
    memory_bytes: int | None
    estimate: Estimate | None
    planned: int
    ceilings: tuple[Binding, ...] = ()
    reasons: tuple[str, ...] = ()
    within: float | None = None
    unsure: NotTold | None = None
    known: dict[tuple[str, int], tuple[Sample, Any]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def once(self, name: str, sample: Sample, find: Callable[[Sample, "Evidence"], Found]) -> Found:
        """What `find` says of a sample, which several rules ask; it is found out once.

        Args:
            name: Of what is asked.
            sample: A repeat.
            find: Finds it out, from the sample and this evidence.
        """
        known: tuple[Sample, Found] | None = self.known.get((name, id(sample)))
        if known is None:
            # Kept with the sample: as long as that lives, nothing else has its id.
            known = self.known[name, id(sample)] = sample, find(sample, self)
        return known[1]

    @property
    def every_ceiling(self) -> tuple[Binding, ...]:
        """As `ceilings`, for whoever concludes something from there being no other.

        Raises:
            NotTold: It is not known which ones apply.
        """
        if self.unsure is not None:
            raise self.unsure
        return self.ceilings

    @cached_property
    def no_storage(self) -> bool:
        """The null target: there is nothing that could be cached."""
        return self.place is not None and self.place.no_storage

    @cached_property
    def across_network(self) -> bool:
        """The engine speaks to servers itself: no file system and no page cache of this host is between."""
        if self.place is None:
            return False
        return bool(self.place.servers) if self.place.remote is None else self.place.remote

    @cached_property
    def in_memory(self) -> bool:
        """The store keeps its data in memory, so that no cache can stand before it."""
        return self.place is not None and self.place.memory_backed

    @cached_property
    def bypasses_cache(self) -> bool:
        """O_DIRECT was used, and means what it says at this place."""
        return self.case.parameters.cache == "direct" and (self.place is None or self.place.direct_bypasses_cache)

    @cached_property
    def stacked_on(self) -> str | None:
        """What lies below the place and may answer from the host's memory; None without such a thing."""
        return self.place.stacked_on if self.place is not None else None

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """What lies below the place, from the top; empty where nothing was looked at."""
        return self.place.layers if self.place is not None else ()

    def uses(self, sample: Sample) -> list[LevelUse]:
        """What block devices did in a repeat, from the uppermost down, as far as every one of a level was counted."""
        return self.once("uses", sample, _uses)

    @cached_property
    def may_compress(self) -> bool:
        """A layer below may store less than it is given, of this data: the device's counts are then no evidence."""
        layers = self.layers
        if layers and not any(layer.compresses for layer in layers):
            return False
        data = self.case.parameters.compressible or self.case.parameters.duplicate
        return bool(data) and any(layer.compresses for layer in layers)

    @property
    def cache_bytes(self) -> int | None:
        """Memory that could hold the data: the cgroup's if the case was confined to one, else the host's.

        What lies below a stacked place works outside the cgroup.
        """
        parameters = self.case.parameters
        confined = parameters.cache == "limit" and self.stacked_on is None
        return parameters.memory_limit if confined else self.memory_bytes

    @cached_property
    def counts_reads(self) -> bool:
        """Whether the kernel counts what this place reads: some network and user-space file systems always show 0.

        Where something below answers from memory, it counts, but not what the storage delivered; of a program or a
        cache that answers itself it counts nothing, or everything.
        """
        counts = [sample.device_read_bytes for sample in self.usable]
        if self.stacked_on is not None or answering(self.layers) or any(count is None for count in counts):
            return False
        return any(counts) or (self.place is not None and self.place.device is not None)

    @cached_property
    def data_set_bytes(self) -> int:
        """Size of all files or objects of the case together; of objects of several sizes the expected one."""
        parameters = self.case.parameters
        if self.case.group == "objects":
            return round(parameters.all_objects * parameters.object_sizes.mean)
        return parameters.data_set_bytes

    @cached_property
    def all_lanes(self) -> int:
        """Lanes of all hosts together."""
        return self.case.parameters.all_lanes

    def lane_cpus(self, sample: Sample) -> int:
        """CPUs that the lanes could use at once in a repeat; 0 if unknown."""
        parameters = self.case.parameters
        if parameters.cpus:
            return min(parameters.host_lanes, len(cpu_numbers(parameters.cpus))) * parameters.hosts
        return min(self.all_lanes, sample.cpus)

    def without_cpu(self, sample: Sample) -> float:
        """Share of a repeat in which lanes that were ready had no CPU, or the hypervisor had taken it; at most 1.

        What the kernel does not tell counts as nothing.
        """
        time = sample.elapsed_ns * self.all_lanes
        waited = (sample.cpu_wait_ns or 0) / time if time else 0.0
        stolen = sample.host_stolen_ns or 0
        total = (sample.host_busy_ns or 0) + (sample.host_idle_ns or 0) + stolen
        return min(1.0, waited + (stolen / total if total else 0.0))


def _uses(sample: Sample, evidence: Evidence) -> list[LevelUse]:
    found = []
    levels = evidence.place.device_levels if evidence.place is not None else ()
    for number, devices in enumerate(levels):
        if (used := sample.used(devices)) is None:
            break
        use = sample.block if number == 0 and sample.block is not None else used
        found.append(LevelUse(" and ".join(device.name for device in devices), len(devices), use))
    return found or ([LevelUse("", 1, sample.block)] if sample.block is not None else [])
