"""What a variant of a design is expected to do: by evidence of exactly it, else by its ceilings and rules of thumb.

Rates are bytes per second, times seconds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.model.advice import Basis, Figure
from assay.model.base import AssayError
from assay.model.need import Need
from assay.model.priced import Evidence
from assay.price import rules
from assay.price.candidates import Key, Variant, key_of
from assay.price.caps import caps
from assay.price.designs import load_template
from assay.price.limits import Limit, Metric
from assay.price.words import amount, percent, seconds

Found = Mapping[Key, tuple[Evidence, ...]]

_WIRES = ("network", "volume bandwidth", "leased link")
"""Layers that random access does not slow down; of all others it must be known how many operations they do."""


@dataclass(frozen=True)
class _Bound:
    value: float
    layer: str
    how: str
    source: str


def by_variant(evidence: Iterable[Evidence], base: Path | None = None) -> tuple[Found, int]:
    """Evidence by what it is of, and how much of it is of designs that are not known here.

    Args:
        evidence: All there is.
        base: Where paths of designs start.
    """
    found: dict[Key, list[Evidence]] = {}
    strange = 0
    for item in evidence:
        try:
            template = load_template(item.chosen.design, base)
            template.build(item.chosen.set)
        except AssayError:
            strange += 1
            continue
        found.setdefault(key_of(template, item.chosen.set), []).append(item)
    return {key: tuple(items) for key, items in found.items()}, strange


def rate_figure(variant: Variant, metric: Metric, need: Need, found: Found) -> Figure:
    """The rate that a variant is expected to keep for ever.

    A measured one is the best of those that were measured as the need uses it. Otherwise the binding ceiling counts:
    of its layers and of what its clients can ask for, times the share that `rules.COMPONENT_SHARE` says.
    """
    measured = _measured(variant, metric, need, found)
    if measured is not None:
        return measured
    known, unknown = _bounds(variant, metric, need)
    if not known:
        missing = ", ".join(layer.layer for layer in unknown) or "no layer has a figure"
        how = f"not known ({missing}): measure it"
        return Figure(metric=metric, value=None, basis="unknown", how=how, source="")
    binding = min(known, key=lambda bound: bound.value)
    share = rules.COMPONENT_SHARE
    how = f"{percent(share)} of {amount(metric, binding.value)}, the limit of {binding.layer} ({binding.how})"
    source = "; ".join(part for part in (binding.source, rules.COMPONENT_SOURCE) if part)
    if unknown:
        how += f"; but the rate of {', '.join(layer.layer for layer in unknown)} is not known: measure it"
    basis: Basis = "ceiling" if unknown or need.profile.small_files else "rule"
    if need.profile.small_files:
        how += "; small files reach less, and how much is not known: measure it"
    value = binding.value * share
    return Figure(metric=metric, value=value, basis=basis, how=how, source=source)


def latency_figure(variant: Variant, metric: str, need: Need, found: Found) -> Figure:
    """The 99th percentile of latency, which only evidence knows; low and high span what was measured."""
    fitting = [item for item in found.get(variant.key, ()) if item.metric == metric and _as_used(item, metric, need)]
    if not fitting:
        return Figure(metric=metric, value=None, basis="unknown", how="not known: measure it", source="")
    worst = max(fitting, key=lambda item: item.measured.value)
    low, high = min(item.measured.low for item in fitting), max(item.measured.high for item in fitting)
    how = f"{seconds(worst.measured.value)} measured"
    if len(fitting) > 1:
        how += f", the highest of {len(fitting)}; the lowest {seconds(low)}"
    return Figure(
        metric=metric, value=worst.measured.value, low=low, high=high, basis="measured", how=how, source=worst.source
    )


def _measured(variant: Variant, metric: str, need: Need, found: Found) -> Figure | None:
    fitting = [item for item in found.get(variant.key, ()) if item.metric == metric and _as_used(item, metric, need)]
    if not fitting:
        return None
    if need.clients is not None:
        # The nearest number of clients counts: fewer ones cannot ask for more.
        most = max((item.clients or 0 for item in fitting), default=0)
        fitting = [item for item in fitting if (item.clients or most) == most]
    best = max(fitting, key=lambda item: item.measured.value)
    value, low, high = best.measured.value, best.measured.low, best.measured.high
    how = f"{amount(metric, value)} measured"
    how += f" with {best.clients} clients" if best.clients else ""
    how += f", 95 % interval {amount(metric, low)} to {amount(metric, high)}" if low < high else ""
    how += f", the best of {len(fitting)}" if len(fitting) > 1 else ""
    return Figure(metric=metric, value=value, low=low, high=high, basis="measured", how=how, source=best.source)


def _as_used(item: Evidence, metric: str, need: Need) -> bool:
    """It was measured as the need uses it: pattern, record size, clients; not in a way that makes it look better.

    Rates grow with the record size and operations fall with it, so that a smaller record proves a rate, a larger one
    a number of operations. More clients than the need has prove nothing for fewer.
    """
    profile = need.profile
    if profile.small_files or item.pattern not in (None, profile.pattern):
        return False
    if item.record is not None:
        operations = metric.endswith(("_iops", "_p99"))
        if (operations and item.record < profile.record) or (not operations and item.record > profile.record):
            return False
    return need.clients is None or item.clients is None or item.clients <= need.clients


def _bounds(variant: Variant, metric: Metric, need: Need) -> tuple[list[_Bound], list[Limit]]:
    """What each layer lets through, and the layers of which it is not known."""
    known, unknown = [], []
    operations = metric.endswith("_iops")
    side: Metric = "read" if metric.startswith("read") else "write"
    side_iops: Metric = "read_iops" if side == "read" else "write_iops"
    record = need.profile.record
    for layer in variant.limits.layers:
        rate, iops = layer.keeps(side), layer.keeps(side_iops)
        values = []
        if operations:
            values = [*([iops] if iops is not None else []), *([rate / record] if rate is not None else [])]
        else:
            values = [rate] if rate is not None else []
            if iops is not None and (rate is None or need.profile.pattern == "random"):
                values.append(iops * record)
        random = need.profile.pattern == "random"
        if not values or (random and iops is None and not layer.layer.startswith(_WIRES)):
            unknown.append(layer)
        known += [_Bound(value, layer.layer, layer.how, layer.source) for value in values]
    for cap in caps(variant, metric, need):
        known.append(_Bound(cap.value, cap.what, cap.text, cap.source))
    return known, unknown
