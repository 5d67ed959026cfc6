"""Sizes and counts computed from a need: capacity, numbers of servers, shares in classes for cold data."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from assay.model.base import AssayError
from assay.model.money.design import Design, FsxLustre, Managed
from assay.model.money.need import CandidateDesign, Need
from assay.model.units import UnitError, format_size, parse_size
from assay.money.advice.provisioned import COMPONENT_SHARE
from assay.money.advice.traffic import active_share
from assay.money.cost.bill import volume_count
from assay.money.cost.catalog import catalog
from assay.money.cost.designs import Template
from assay.money.cost.limits import METRICS, Limit, Limits, Metric

SIZE_PARAMETERS = ("capacity", "stored")
"""Parameters that set how much a design stores; the value that the need requires is added to their choices."""
COLD_SHARE_PARAMETERS = ("infrequent", "cold_share")
"""Parameters that set the share of data in a class for cold data; the value that the need allows is added."""
MOST_COUNT = 1024
"""Highest count for a design that states no maximum."""
GB = 10**9
PAIRS: tuple[tuple[Metric, Metric], ...] = (("read", "write"), ("read_iops", "write_iops"))
MOST_TIMES = 1000
"""A design is enlarged to at most this many times the size of the data to reach its rate."""


def count_names(template: Template, fixed: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the counts of a design that are computed from the need: those for which the candidate has no value."""
    return tuple(name for name, parameter in template.parameters.items() if parameter.scale and name not in fixed)


def is_sufficient(limits: Limits, need: Need) -> bool:
    """Return whether a design has the capacity, and 90 % of its known rates suffice, for reads and writes at once.

    Source of the share: `COMPONENT_SOURCE` in `provisioned.py`. An unknown rate of a layer excludes nothing here.
    """
    if limits.usable < need.capacity:
        return False
    for metric in METRICS:
        wanted, sustained = getattr(need, metric), limits.sustained(metric)
        if wanted is not None and sustained is not None and wanted > sustained * COMPONENT_SHARE:
            return False
    shared = (layer for layer in limits.layers if layer.shared)
    return all(_used(layer, pair, need) <= COMPONENT_SHARE for layer in shared for pair in PAIRS)


def _used(layer: Limit, pair: tuple[Metric, Metric], need: Need) -> float:
    """Return the share of a layer that reads and writes use together."""
    used = 0.0
    for metric in pair:
        wanted, sustained = getattr(need, metric), layer.sustained(metric)
        used += wanted / sustained if wanted is not None and sustained else 0.0
    return used


def shares_for(template: Template, candidate: CandidateDesign, need: Need) -> dict[str, tuple[str, ...]]:
    """Return the values of shares in classes for cold data: 0 %, and the share that is not used in a month."""
    names = [name for name in COLD_SHARE_PARAMETERS if name in template.parameters and name not in candidate.set]
    unused = int((1 - active_share(need)) * 100)
    return dict.fromkeys(names, ("0%",) if unused <= 0 else ("0%", f"{unused}%"))


def counts_for(
    template: Template, values: Mapping[str, Any], keys: Sequence[str], need: Need
) -> dict[str, tuple[int, ...]]:
    """Return the lowest counts with which a design satisfies the need, and the next ones.

    Each count is the lowest that suffices while the others are at their maximum. If no counts give the required rates,
    those that hold the data are returned, so that the rate is reported as what is missing.

    Args:
        template: The design.
        values: Values of its other parameters.
        keys: Names of the counts.
        need: Its capacity and rates.

    Returns:
        Empty if no counts hold the data.
    """
    most = {key: template.parameters[key].most or MOST_COUNT for key in keys}
    capacity_only = need.model_copy(update=dict.fromkeys(METRICS))
    for target in (need, capacity_only):
        if _is_sufficient_at(template, {**values, **most}, target):
            counts = {}
            for key in keys:
                least = max(template.parameters[key].least, _least(template, {**values, **most}, key, target))
                # One server needs no partner; with more, an even number or one spare may be better.
                near = (least,) if least == 1 else (least, least + 1, least + least % 2)
                counts[key] = tuple(count for count in dict.fromkeys(near) if count <= most[key])
            return counts
    return {}


def _least(template: Template, values: Mapping[str, Any], key: str, need: Need) -> int:
    """Return the lowest count that suffices; the one in `values` does."""
    high = 1
    while high < values[key] and not _is_sufficient_at(template, {**values, key: high}, need):
        high = min(values[key], 2 * high)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_sufficient_at(template, {**values, key: middle}, need) else (middle, high)
    return high


def _is_sufficient_at(template: Template, values: Mapping[str, Any], need: Need) -> bool:
    """Return whether the design suffices; if it has a size parameter, at the size that fits the capacity."""
    size = next((name for name in SIZE_PARAMETERS if name in template.parameters), None)
    try:
        if size is not None:
            fitting = size_for_capacity(template, values, size, need.capacity)
            if fitting is None:
                return False
            values = {**values, size: fitting}
        return is_sufficient(template.limits(values), need)
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
        text = format_size(_next_sale_size(template.build({**values, key: format_size(least)}), least))
        template.limits({**values, key: text})
    except AssayError:
        return None
    return text


def size_for_rate(template: Template, values: Mapping[str, Any], key: str, need: Need) -> str | None:
    """Return a size whose rate suffices, where rate grows with size; None if `values` suffice already, or no size does.

    The first size is what the capacity needs; up to `MOST_TIMES` as much is tried.
    """
    start = parse_size(values[key])

    def size_if_enough(size: int) -> str | None:
        size = -(-size // GB) * GB
        try:
            written = format_size(_next_sale_size(template.build({**values, key: format_size(size)}), size))
            return written if is_sufficient(template.limits({**values, key: written}), need) else None
        except AssayError:
            return None

    if is_sufficient(template.limits(values), need):
        return None
    guess = math.ceil(start * _growth_factor(template, {**values, key: format_size(start)}, need))
    size_text = size_if_enough(guess)
    if size_text is not None:
        # Usually the rate is proportional to the size, and a tenth less does not suffice.
        return (
            size_text
            if size_if_enough(guess * 9 // 10) is None
            else _smallest(size_if_enough, guess // 2, guess, size_text)
        )
    while guess <= start * MOST_TIMES and size_text is None:
        guess *= 2
        size_text = size_if_enough(guess)
    return None if size_text is None else _smallest(size_if_enough, guess // 2, guess, size_text)


def _growth_factor(template: Template, values: Mapping[str, Any], need: Need) -> float:
    """Return how many times as large the design must be if its rates are proportional to its size."""
    limits = template.limits(values)
    least = 1.0
    for metric in METRICS:
        wanted, sustained = getattr(need, metric), limits.sustained(metric)
        if wanted is not None and sustained:
            least = max(least, wanted / sustained / COMPONENT_SHARE)
    for layer in (layer for layer in limits.layers if layer.shared):
        for pair in PAIRS:
            least = max(least, _used(layer, pair, need) / COMPONENT_SHARE)
    return min(least, MOST_TIMES)


def _smallest(size_if_enough: Callable[[int], str | None], low: int, high: int, best: str) -> str:
    """Return the smallest sufficient size between one that does not suffice and one that does, to 1/256 of the gap."""
    for _ in range(8):
        middle = (low + high) // 2
        text = size_if_enough(middle)
        low, high, best = (low, middle, text) if text is not None else (middle, high, best)
    return best


def rate_grows_with_size(template: Template, values: Mapping[str, Any], key: str, need: Need) -> bool:
    """Return whether a required rate grows with the size."""
    try:
        small = template.limits(values)
    except AssayError:
        return False
    large = next(_larger(template, values, key), None)
    if large is None:
        return False
    metrics = [metric for metric in METRICS if getattr(need, metric) is not None]
    return any((large.sustained(metric) or 0.0) > (small.sustained(metric) or 0.0) for metric in metrics)


def _larger(template: Template, values: Mapping[str, Any], key: str) -> Iterator[Limits]:
    """Yield limits at larger sizes that are on sale, the largest first: sizes near the maximum cannot be doubled."""
    for tenths in (20, 15, 12, 11):
        try:
            size = parse_size(values[key]) * tenths // 10
            sale_size = _next_sale_size(template.build({**values, key: format_size(size)}), size)
            yield template.limits({**values, key: format_size(sale_size)})
        except AssayError:
            continue


def _next_sale_size(design: Design, least: int) -> int:
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
