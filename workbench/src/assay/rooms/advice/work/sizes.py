"""Sizes and counts computed from a need: capacity, numbers of servers, shares in classes for cold data."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from assay.model.base import AssayError
from assay.model.units import format_size, parse_size
from assay.money.cost.designs import Template
from assay.money.cost.limits import METRICS, Limits
from assay.money.cost.sizing import COMPONENT_SHARE, GB, PAIRS, is_sufficient, next_sale_size, used_share
from assay.rooms.advice.model.need import CandidateDesign, Need
from assay.rooms.advice.work.traffic import active_share

COLD_SHARE_PARAMETERS = ("infrequent", "cold_share")
"""Parameters that set the share of data in a class for cold data; the value that the need allows is added."""
MAX_TIMES = 1000
"""A design is enlarged to at most this many times the size of the data to reach its rate."""


def shares_for(template: Template, candidate: CandidateDesign, need: Need) -> dict[str, tuple[str, ...]]:
    """Return the values of shares in classes for cold data: 0 %, and the share that is not used in a month."""
    names = [name for name in COLD_SHARE_PARAMETERS if name in template.parameters and name not in candidate.set]
    unused = int((1 - active_share(need)) * 100)
    return dict.fromkeys(names, ("0%",) if unused <= 0 else ("0%", f"{unused}%"))


def size_for_rate(template: Template, values: Mapping[str, Any], key: str, need: Need) -> str | None:
    """Return a size whose rate suffices, where rate grows with size; None if `values` suffice already, or no size does.

    The first size is what the capacity needs; up to `MAX_TIMES` as much is tried.
    """
    start = parse_size(values[key])

    def size_if_enough(size: int) -> str | None:
        size = -(-size // GB) * GB
        try:
            written = format_size(next_sale_size(template.build({**values, key: format_size(size)}), size))
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
    while guess <= start * MAX_TIMES and size_text is None:
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
            least = max(least, used_share(layer, pair, need) / COMPONENT_SHARE)
    return min(least, MAX_TIMES)


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
            sale_size = next_sale_size(template.build({**values, key: format_size(size)}), size)
            yield template.limits({**values, key: format_size(sale_size)})
        except AssayError:
            continue
