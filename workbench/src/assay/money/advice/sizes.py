"""Sizes and counts that follow from a need: capacity, numbers of servers, shares in classes for cold data."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from assay.model.base import AssayError
from assay.model.money.design import Design, FsxLustre, Managed
from assay.model.money.need import Candidate, Need
from assay.model.units import UnitError, format_size, parse_size
from assay.money.advice.bought import COMPONENT_SHARE
from assay.money.advice.traffic import active_share
from assay.money.cost.bill import volume_count
from assay.money.cost.catalog import catalog
from assay.money.cost.designs import Template
from assay.money.cost.limits import METRICS, Limit, Limits, Metric

SIZED = ("capacity", "stored")
"""Parameters that say how much a design stores; what the need asks for is tried besides their choices."""
SHARES = ("infrequent", "cold_share")
"""Parameters that say how much of it lies in a class for cold data; what the need's reads allow is tried."""
MOST_COUNT = 1024
"""Of a count whose design states no most."""
GB = 10**9
PAIRS: tuple[tuple[Metric, Metric], ...] = (("read", "write"), ("read_iops", "write_iops"))
MOST_TIMES = 1000
"""So many times as large as the data a design may be for its rate."""


def counted_names(template: Template, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The counts of a design that follow from the need: those whose value the candidate does not say."""
    return tuple(name for name, parameter in template.parameters.items() if parameter.scale and name not in given)


def enough(limits: Limits, need: Need) -> bool:
    """Whether it has the capacity, and 90 % of what is known of its rates, for reads and writes at once.

    Source of the share: `COMPONENT_SOURCE`. What is not known of a layer excludes nothing here.
    """
    if limits.usable < need.capacity:
        return False
    for metric in METRICS:
        wanted, keeps = getattr(need, metric), limits.sustained(metric)
        if wanted is not None and keeps is not None and wanted > keeps * COMPONENT_SHARE:
            return False
    shared = (layer for layer in limits.layers if layer.shared)
    return all(_used(layer, pair, need) <= COMPONENT_SHARE for layer in shared for pair in PAIRS)


def _used(layer: Limit, pair: tuple[Metric, Metric], need: Need) -> float:
    """Share of a layer that reads and writes take together."""
    used = 0.0
    for metric in pair:
        wanted, keeps = getattr(need, metric), layer.keeps(metric)
        used += wanted / keeps if wanted is not None and keeps else 0.0
    return used


def shares_for(template: Template, candidate: Candidate, need: Need) -> dict[str, tuple[str, ...]]:
    """Values of the shares in classes for cold data: none, and what is not used in a month, in whole percent."""
    names = [name for name in SHARES if name in template.parameters and name not in candidate.set]
    unused = int((1 - active_share(need)) * 100)
    return dict.fromkeys(names, ("0%",) if unused <= 0 else ("0%", f"{unused}%"))


def counts_for(
    template: Template, values: Mapping[str, Any], keys: Sequence[str], need: Need
) -> dict[str, tuple[int, ...]]:
    """The least counts with which a design has what the need asks for, and the next ones.

    Of several counts each is the least that does while the others are at their most. Where no counts give the rates
    that are needed, those that hold the data are the answer, so that the rate is what is told.

    Args:
        template: The design.
        values: Of its other parameters.
        keys: Of the counts.
        need: Its capacity and rates.

    Returns:
        Nothing for a count if none holds the data.
    """
    most = {key: template.parameters[key].most or MOST_COUNT for key in keys}
    holds = need.model_copy(update=dict.fromkeys(METRICS))
    for asked in (need, holds):
        if _does(template, {**values, **most}, asked):
            found = {}
            for key in keys:
                least = max(template.parameters[key].least, _least(template, {**values, **most}, key, asked))
                # One needs no other beside it; of more an even number, or one to spare, may be the better one.
                near = (least,) if least == 1 else (least, least + 1, least + least % 2)
                found[key] = tuple(count for count in dict.fromkeys(near) if count <= most[key])
            return found
    return {}


def _least(template: Template, values: Mapping[str, Any], key: str, need: Need) -> int:
    """The least count that does; the one in `values` does."""
    high = 1
    while high < values[key] and not _does(template, {**values, key: high}, need):
        high = min(values[key], 2 * high)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _does(template, {**values, key: middle}, need) else (middle, high)
    return high


def _does(template: Template, values: Mapping[str, Any], need: Need) -> bool:
    """Whether it has what is needed, where there is a size at the size that fits."""
    size = next((name for name in SIZED if name in template.parameters), None)
    try:
        if size is not None:
            fitting = sized(template, values, size, need.capacity)
            if fitting is None:
                return False
            values = {**values, size: fitting}
        return enough(template.limits(values), need)
    except AssayError:
        return False


def sized(template: Template, values: Mapping[str, Any], key: str, wanted: int) -> str | None:
    """The least value of a parameter with which the design has `wanted` usable bytes, as it can be bought.

    Usable capacity is in proportion to the parameter, so that one known pair gives it.
    """
    found = None
    for choice in (template.parameters[key].value, *template.parameters[key].choices):
        try:
            start = parse_size(choice)
            usable = template.limits({**values, key: choice}).usable
        except (AssayError, UnitError):
            continue
        if usable <= 0:
            return None
        found = -(-wanted * start // usable)
        break
    try:
        # Where no choice fits the other values, the size itself may, for what stores as much as it is large.
        least = wanted if found is None else found
        written = format_size(_sold(template.build({**values, key: format_size(least)}), least))
        template.limits({**values, key: written})
    except AssayError:
        return None
    return written


def fast_enough(template: Template, values: Mapping[str, Any], key: str, need: Need) -> str | None:
    """A size whose rate is enough, where the rate grows with the size; None if it is at `values` already, or never.

    The first size is what the capacity needs; up to `MOST_TIMES` as much is looked at.
    """
    start = parse_size(values[key])

    def does(size: int) -> str | None:
        size = -(-size // GB) * GB
        try:
            written = format_size(_sold(template.build({**values, key: format_size(size)}), size))
            return written if enough(template.limits({**values, key: written}), need) else None
        except AssayError:
            return None

    if enough(template.limits(values), need):
        return None
    guess = math.ceil(start * _times(template, {**values, key: format_size(start)}, need))
    found = does(guess)
    if found is not None:
        # In proportion to the size, which is the rule; a tenth less would not do.
        return found if does(guess * 9 // 10) is None else _smallest(does, guess // 2, guess, found)
    while guess <= start * MOST_TIMES and found is None:
        guess *= 2
        found = does(guess)
    return None if found is None else _smallest(does, guess // 2, guess, found)


def _times(template: Template, values: Mapping[str, Any], need: Need) -> float:
    """How many times as large it must be, if its rates were in proportion to its size."""
    limits = template.limits(values)
    least = 1.0
    for metric in METRICS:
        wanted, keeps = getattr(need, metric), limits.sustained(metric)
        if wanted is not None and keeps:
            least = max(least, wanted / keeps / COMPONENT_SHARE)
    for layer in (layer for layer in limits.layers if layer.shared):
        for pair in PAIRS:
            least = max(least, _used(layer, pair, need) / COMPONENT_SHARE)
    return min(least, MOST_TIMES)


def _smallest(does: Callable[[int], str | None], low: int, high: int, found: str) -> str:
    """Between a size that does not do and one that does, to a 256th of the way."""
    for _ in range(8):
        middle = (low + high) // 2
        written = does(middle)
        low, high, found = (low, middle, written) if written is not None else (middle, high, found)
    return found


def grows(template: Template, values: Mapping[str, Any], key: str, need: Need) -> bool:
    """Whether a rate that is asked for grows with the size."""
    try:
        small = template.limits(values)
    except AssayError:
        return False
    large = next(_larger(template, values, key), None)
    if large is None:
        return False
    asked = [metric for metric in METRICS if getattr(need, metric) is not None]
    return any((large.sustained(metric) or 0.0) > (small.sustained(metric) or 0.0) for metric in asked)


def _larger(template: Template, values: Mapping[str, Any], key: str) -> Iterator[Limits]:
    """Limits at larger sizes that can be had, the largest first: what is near the most cannot be doubled."""
    for tenths in (20, 15, 12, 11):
        try:
            size = parse_size(values[key]) * tenths // 10
            sold = _sold(template.build({**values, key: format_size(size)}), size)
            yield template.limits({**values, key: format_size(sold)})
        except AssayError:
            continue


def _sold(design: Design, least: int) -> int:
    """The next size that can be bought: whole GB of each volume, or a step of the service."""
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
