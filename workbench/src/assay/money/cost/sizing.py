"""Sizes of designs, and their numbers of servers, computed from a capacity and rates."""

from collections.abc import Mapping, Sequence
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
"""Share of the components' bandwidth that is expected in practice."""
COMPONENT_SOURCE = (
    "rule of thumb, taken over from parallel file systems: "
    "BeeGFS-2016, What performance is available: a parallel file system can exceed 90 %"
)
SIZE_PARAMETERS = ("capacity", "stored")
"""Parameters that set how much a design stores; the value that the need requires is added to their choices."""
MAX_COUNT = 1024
"""Highest count for a design that states no maximum."""
GB = 10**9
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


def count_names(template: Template, fixed: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the counts of a design that are computed from the demand: those for which the candidate has no value."""
    return tuple(name for name, parameter in template.parameters.items() if parameter.scale and name not in fixed)


def is_sufficient(limits: Limits, demand: Demand) -> bool:
    """Return whether a design has the capacity, and 90 % of its known rates suffice, for reads and writes at once.

    The share: `COMPONENT_SOURCE`. An unknown rate of a layer excludes nothing here.
    """
    if limits.usable < demand.capacity:
        return False
    for metric in METRICS:
        wanted, sustained = getattr(demand, metric), limits.sustained(metric)
        if wanted is not None and sustained is not None and wanted > sustained * COMPONENT_SHARE:
            return False
    shared = (layer for layer in limits.layers if layer.shared)
    return all(used_share(layer, pair, demand) <= COMPONENT_SHARE for layer in shared for pair in PAIRS)


def used_share(layer: Limit, pair: tuple[Metric, Metric], demand: Demand) -> float:
    """Return the share of a layer that reads and writes use together."""
    used = 0.0
    for metric in pair:
        wanted, sustained = getattr(demand, metric), layer.sustained(metric)
        used += wanted / sustained if wanted is not None and sustained else 0.0
    return used


def counts_for(
    template: Template, values: Mapping[str, Any], keys: Sequence[str], demand: Demand
) -> dict[str, tuple[int, ...]]:
    """Return the lowest counts with which a design satisfies a demand, and the next ones.

    Each count is the lowest that suffices while the others are at their maximum. If no counts give the required rates,
    those that hold the data are returned, so that the rate is reported as what is missing.

    Args:
        template: The design.
        values: Values of its other parameters.
        keys: Names of the counts.
        demand: Its capacity and rates.

    Returns:
        Empty if no counts hold the data.
    """
    most = {key: template.parameters[key].max or MAX_COUNT for key in keys}
    for target in (demand, CapacityDemand(demand.capacity)):
        if _is_sufficient_at(template, {**values, **most}, target):
            counts = {}
            for key in keys:
                least = max(template.parameters[key].min, _least(template, {**values, **most}, key, target))
                # One server needs no partner; with more, an even number or one spare may be better.
                near = (least,) if least == 1 else (least, least + 1, least + least % 2)
                counts[key] = tuple(count for count in dict.fromkeys(near) if count <= most[key])
            return counts
    return {}


def _least(template: Template, values: Mapping[str, Any], key: str, demand: Demand) -> int:
    """Return the lowest count that suffices; the one in `values` does."""
    high = 1
    while high < values[key] and not _is_sufficient_at(template, {**values, key: high}, demand):
        high = min(values[key], 2 * high)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_sufficient_at(template, {**values, key: middle}, demand) else (middle, high)
    return high


def _is_sufficient_at(template: Template, values: Mapping[str, Any], demand: Demand) -> bool:
    """Return whether the design suffices; if it has a size parameter, at the size that fits the capacity."""
    size = next((name for name in SIZE_PARAMETERS if name in template.parameters), None)
    try:
        if size is not None:
            fitting = size_for_capacity(template, values, size, demand.capacity)
            if fitting is None:
                return False
            values = {**values, size: fitting}
        return is_sufficient(template.limits(values), demand)
    except AssayError:
        return False


def size_for_capacity(template: Template, values: Mapping[str, Any], key: str, wanted: int) -> str | None:
    """Return the lowest value of a parameter, in steps on sale, that gives `wanted` usable bytes; None: there is none.

    Usable capacity is proportional to the parameter, so one known pair of values determines it.
    """
    computed = None
    for choice in (template.parameters[key].value, *template.parameters[key].choices):
        try:
            start = parse_size(choice)
            usable = template.limits({**values, key: choice}).usable
        except (AssayError, UnitError):
            continue
        if usable <= 0:
            return None
        computed = -(-wanted * start // usable)
        break
    try:
        # If no choice fits the other values, usable capacity is assumed to equal the size.
        least = wanted if computed is None else computed
        text = format_size(next_sale_size(template.build({**values, key: format_size(least)}), least))
        template.limits({**values, key: text})
    except AssayError:
        return None
    return text


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
