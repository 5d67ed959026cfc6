"""Sizes of designs, and their numbers of servers, computed from a capacity and rates."""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from assay.model.base import AssayError
from assay.model.money.design import Design, FsxLustre, Managed
from assay.model.units import UnitError, format_size, parse_size, parse_throughput
from assay.money.cost.bill import volume_count
from assay.money.cost.catalog import catalog
from assay.money.cost.designs import Template
from assay.money.cost.limits import METRICS, Limit, Limits, Metric

COMPONENT_SHARE = 0.9
"""Share of the bandwidth of links and disks that is expected in practice; of provisioned rates all is."""
COMPONENT_SOURCE = (
    "rule of thumb, taken over from parallel file systems: "
    "BeeGFS-2016, What performance is available: a parallel file system can exceed 90 %"
)
SIZE_PARAMETERS = ("capacity", "stored")
"""Parameters that set how much a design stores; the value that the need requires is added to their choices."""
MAX_COUNT = 1024
"""Highest count for a design that states no maximum."""
MAX_TIMES = 1000
"""A design is enlarged to at most this many times the size of the data to reach its rate."""
GB = 10**9
TOLERANCE = 1e-9
"""Relative error of a computed rate that is ignored."""
PAIRS: tuple[tuple[Metric, Metric], ...] = (("read", "write"), ("read_iops", "write_iops"))


class Demand(Protocol):
    """What a design must provide: usable bytes, and rates in bytes and operations per second; None: any rate."""

    @property
    def capacity(self) -> int:
        """Usable bytes."""

    @property
    def read(self) -> float | None:
        """Bytes per second."""

    @property
    def write(self) -> float | None:
        """Bytes per second."""

    @property
    def read_iops(self) -> float | None:
        """Operations per second."""

    @property
    def write_iops(self) -> float | None:
        """Operations per second."""


@dataclass(frozen=True)
class CapacityDemand:
    """A demand for usable bytes at any rate."""

    capacity: int
    read: float | None = None
    write: float | None = None
    read_iops: float | None = None
    write_iops: float | None = None


def normalized_value(value: Any) -> object:
    """Return a value independent of how it is written: sizes and rates in bytes."""
    if isinstance(value, str):
        return _normalized(value)
    return value if isinstance(value, int | float | bool | None) else str(value)


@cache
def _normalized(text: str) -> object:
    for parse in (parse_size, parse_throughput):
        try:
            return parse(text)
        except UnitError:
            continue
    return text


class Sizing:
    """Computes the size and the counts of one design that a demand requires.

    Attributes:
        template: The design.
        demand: Its capacity and rates.
        size_key: The parameter that sets the size, unless it is fixed; None: there is none.
        count_keys: Parameters that set numbers of servers, disks or volumes, without those that are fixed.
        partial_keys: Parameters of what need not be full, such as disks of a server, without those that are fixed.
    """

    def __init__(self, template: Template, demand: Demand, fixed: Container[str] = ()) -> None:
        """Find what is to be computed: sizes and counts that are not `fixed`."""
        self.template, self.demand = template, demand
        parameters = template.parameters
        self.size_key = next((key for key in SIZE_PARAMETERS if key in parameters and key not in fixed), None)
        self.count_keys = tuple(key for key, each in parameters.items() if each.scale and key not in fixed)
        self.partial_keys = tuple(key for key, each in parameters.items() if each.partial and key not in fixed)

    def limits(self, values: Mapping[str, Any]) -> Limits | None:
        """Return the limits of the design with these values; None if it cannot be built."""
        try:
            return self.template.limits(values)
        except AssayError:
            return None

    def size_for_capacity(self, values: Mapping[str, Any]) -> str | None:
        """Return the smallest size on sale that gives the usable capacity; None: there is none."""
        least = self._proportional_size(values)
        return None if least is None else self.size_on_sale(values, least)

    def size_on_sale(self, values: Mapping[str, Any], least: int) -> str | None:
        """Return the smallest size on sale of at least `least` bytes; None: the design cannot be that large."""
        try:
            design = self.template.build(self._with_size(values, format_size(least)))
        except AssayError:
            return None
        text = format_size(next_sale_size(design, least))
        return text if self.limits(self._with_size(values, text)) is not None else None

    def counts(self, values: Mapping[str, Any], keys: Sequence[str] | None = None) -> Mapping[str, tuple[int, ...]]:
        """Return the lowest counts that satisfy the demand, and the next ones.

        Each count is the lowest that suffices while the others are at their maximum. If no counts give the required
        rates, those that hold the data are returned, so that the rate is reported as what is missing.

        Args:
            values: Values of the other parameters.
            keys: The counts to compute; None: all.

        Returns:
            Empty if no counts hold the data.
        """
        keys = self.count_keys if keys is None else keys
        most = {key: self.template.parameters[key].max or MAX_COUNT for key in keys}
        for demand in (self.demand, CapacityDemand(self.demand.capacity)):
            if self._suffices({**values, **most}, demand):
                return {key: self._near(key, self._least({**values, **most}, key, demand), most[key]) for key in keys}
        return {}

    def fewest(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values with as few disks in each server or RAID group as suffice; as they are if they do not."""
        found = dict(values)
        for key in self.partial_keys:
            if self._suffices(found, self.demand):
                found[key] = min(found[key], self._in_steps(key, self._least(found, key, self.demand)))
        return found

    def faster_size(self, values: Mapping[str, Any]) -> str | None:
        """Return a larger size whose rates suffice, where a required rate grows with size.

        None: the size in `values` suffices, or no size up to `MAX_TIMES` as large does.
        """
        limits = self.limits(values)
        if limits is None or is_sufficient(limits, self.demand) or not self._is_faster_if_larger(values, limits):
            return None
        start = parse_size(values[self._size_key])
        guess = math.ceil(start * _growth_factor(limits, self.demand))
        text = self._size_if_enough(values, guess)
        if text is not None and self._size_if_enough(values, guess * 9 // 10) is None:
            # Usually the rate is proportional to the size, and a tenth less does not suffice.
            return text
        while guess <= start * MAX_TIMES and text is None:
            guess *= 2
            text = self._size_if_enough(values, guess)
        return None if text is None else self._smallest(values, guess // 2, guess, text)

    @property
    def _size_key(self) -> str:
        assert self.size_key is not None
        return self.size_key

    def _with_size(self, values: Mapping[str, Any], size: str) -> dict[str, Any]:
        return {**values, self._size_key: size}

    def _proportional_size(self, values: Mapping[str, Any]) -> int | None:
        """Return the size whose usable bytes are the demand's; None: it has no usable bytes.

        Usable capacity is proportional to the size, so one known pair of values determines it. If no size that the
        design names can be built, usable capacity is assumed to equal the size.
        """
        parameter, wanted = self.template.parameters[self._size_key], self.demand.capacity
        for choice in (parameter.value, *parameter.choices):
            try:
                start = parse_size(choice)
            except UnitError:
                continue
            limits = self.limits(self._with_size(values, choice))
            if limits is not None:
                return -(-wanted * start // limits.usable) if limits.usable > 0 else None
        return wanted

    def _near(self, key: str, least: int, most: int) -> tuple[int, ...]:
        """Return a count and the next ones: with more than one server, an even number or a spare may be better."""
        step, least = self.template.parameters[key].step, self._in_steps(key, least)
        near = (least,) if least == 1 else (least, least + step, least + (least % 2 if step == 1 else 0))
        return tuple(count for count in dict.fromkeys(near) if count <= most)

    def _in_steps(self, key: str, least: int) -> int:
        """Return the lowest count of at least `least` that the parameter may have."""
        parameter = self.template.parameters[key]
        return -(-max(parameter.min, least) // parameter.step) * parameter.step

    def _least(self, values: Mapping[str, Any], key: str, demand: Demand) -> int:
        """Return the lowest count that suffices; the one in `values` does."""
        high = self._proportional_count(values, key, demand)
        if high > 1 and self._suffices({**values, key: high}, demand):
            if not self._suffices({**values, key: high - 1}, demand):
                return high
            high = 1
        while high < values[key] and not self._suffices({**values, key: high}, demand):
            high = min(values[key], 2 * high)
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._suffices({**values, key: middle}, demand) else (middle, high)
        return high

    def _proportional_count(self, values: Mapping[str, Any], key: str, demand: Demand) -> int:
        """Return the count that suffices if capacity and rates are proportional to it, as of own hardware; else 1."""
        limits = self.limits(values) if self.size_key is None else None
        if limits is None or limits.usable <= 0:
            return 1
        load = max(demand.capacity / limits.usable, *_loads(limits, demand), 0.0)
        most: int = values[key]
        return max(1, math.ceil(most * min(load, 1.0) - TOLERANCE))

    def _suffices(self, values: Mapping[str, Any], demand: Demand) -> bool:
        """Return whether the design suffices; if its size is free, at the size that fits the capacity."""
        if self.size_key is not None:
            fitting = self.size_for_capacity(values)
            if fitting is None:
                return False
            values = self._with_size(values, fitting)
        limits = self.limits(values)
        return limits is not None and is_sufficient(limits, demand)

    def _size_if_enough(self, values: Mapping[str, Any], size: int) -> str | None:
        text = self.size_on_sale(values, -(-size // GB) * GB)
        limits = None if text is None else self.limits(self._with_size(values, text))
        return text if limits is not None and is_sufficient(limits, self.demand) else None

    def _smallest(self, values: Mapping[str, Any], low: int, high: int, best: str) -> str:
        """Return the smallest sufficient size from `low`, which does not suffice, to `high`; to 1/256 of the gap."""
        for _ in range(8):
            middle = (low + high) // 2
            text = self._size_if_enough(values, middle)
            low, high, best = (low, middle, text) if text is not None else (middle, high, best)
        return best

    def _is_faster_if_larger(self, values: Mapping[str, Any], small: Limits) -> bool:
        """Return whether a required rate grows with the size; sizes near the maximum cannot be doubled."""
        size = parse_size(values[self._size_key])
        for tenths in (20, 15, 12, 11):
            text = self.size_on_sale(values, size * tenths // 10)
            large = None if text is None else self.limits(self._with_size(values, text))
            if large is not None:
                metrics = [metric for metric in METRICS if getattr(self.demand, metric) is not None]
                return any((large.sustained(metric) or 0.0) > (small.sustained(metric) or 0.0) for metric in metrics)
        return False


def usable_share(layer: Limit) -> float:
    """Return the share of a layer's rates that is expected: all of what is provisioned, else `COMPONENT_SHARE`."""
    return 1.0 if layer.provisioned else COMPONENT_SHARE


def is_sufficient(limits: Limits, demand: Demand) -> bool:
    """Return whether a design has the capacity, and what is expected of its layers suffices, for both sides at once.

    The share of each layer: `usable_share`. An unknown rate of a layer excludes nothing here.
    """
    return limits.usable >= demand.capacity and max(_loads(limits, demand), default=0.0) <= 1 + TOLERANCE


def _loads(limits: Limits, demand: Demand) -> Iterator[float]:
    """Yield what each layer must carry, for each metric and for reads and writes at once, by what is expected of it."""
    required = [(metric, wanted) for metric in METRICS if (wanted := getattr(demand, metric)) is not None]
    for layer in limits.layers:
        share = usable_share(layer)
        for metric, wanted in required:
            sustained = layer.sustained(metric)
            if sustained is not None:
                yield wanted / sustained / share if sustained else math.inf
        if layer.shared and len(required) > 1:
            for pair in PAIRS:
                yield _used_share(layer, pair, demand) / share


def _used_share(layer: Limit, pair: tuple[Metric, Metric], demand: Demand) -> float:
    """Return the share of a layer that reads and writes use together."""
    used = 0.0
    for metric in pair:
        wanted, sustained = getattr(demand, metric), layer.sustained(metric)
        used += wanted / sustained if wanted is not None and sustained else 0.0
    return used


def _growth_factor(limits: Limits, demand: Demand) -> float:
    """Return how many times as large a design must be if its rates are proportional to its size: 1 to `MAX_TIMES`."""
    return min(max(1.0, *(load for load in _loads(limits, demand) if load < math.inf)), MAX_TIMES)


def next_sale_size(design: Design, least: int) -> int:
    """Return the next size on sale: whole GB of each volume, or a step of the service."""
    service = design.service
    if isinstance(service, Managed):
        return catalog().managed(service.type).size_for(least) or least
    if isinstance(service, FsxLustre):
        kind = catalog().filesystem(service.type)
        # Other file systems have no steps.
        return int(kind.capacity_for(least)) if hasattr(kind, "capacity_for") else least
    counts = [volume_count(group.volumes) for group in design.servers if group.volumes is not None]
    step = GB * max(counts, default=0)
    return -(-least // step) * step if step else least
