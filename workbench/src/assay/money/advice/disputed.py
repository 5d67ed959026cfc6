"""Published measurements that exceed a limit of the catalogue: the text names both sources."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from assay.model.base import AssayError
from assay.model.money.design import Design
from assay.money.advice.published import published
from assay.money.advice.words import amount, counted
from assay.money.cost.designs import load_template
from assay.money.cost.limits import METRICS, Limit, Limits, Metric, design_limits


@dataclass(frozen=True)
class Dispute:
    """A layer that was measured faster than the catalogue's limit.

    Attributes:
        factor: Measured value over the catalogue's limit of the same number of pieces.
        text: Both figures.
        source: Source of the measurement.
    """

    factor: float
    text: str
    source: str


def exceeds(limits: Limits, metric: str, value: float) -> Limit | None:
    """Return the layer whose catalogue limit is furthest below a measured value; None if there is none."""
    name = _metric(metric)
    if name is None:
        return None
    below = [layer for layer in limits.layers if (keeps := layer.keeps(name)) is not None and keeps < value]
    return min(below, key=lambda layer: layer.keeps(name) or 0.0, default=None)


def both_say(limits: Limits, metric: str, value: float, source: str) -> str:
    """Return both sources of a measured value and of a lower catalogue limit; empty if no limit is lower."""
    layer, name = exceeds(limits, metric, value), _metric(metric)
    if layer is None or name is None:
        return ""
    limit = amount(metric, layer.keeps(name) or 0.0)
    return f" ({source}); the catalogue's limit of {layer.layer} is {limit} ({layer.source})"


@functools.cache
def disputes() -> Mapping[tuple[str, Metric], Dispute]:
    """Return, by layer and metric, the published measurement that exceeds the catalogue by most.

    Measurements of designs that the catalogue cannot build are skipped.
    """
    result: dict[tuple[str, Metric], Dispute] = {}
    for item in published():
        try:
            design, limits = _built(item.chosen.design, tuple(sorted(item.chosen.set.items())))
        except AssayError:
            continue
        layer, metric = exceeds(limits, item.metric, item.measured.value), _metric(item.metric)
        if layer is None or metric is None:
            continue
        factor = item.measured.value / (layer.keeps(metric) or 1.0)
        clients = f" with {counted(item.clients, 'client')}" if item.clients else ""
        text = f"{_servers(design)} did {amount(metric, item.measured.value)}{clients} ({item.source}), where the "
        text += f"catalogue's limit of {layer.layer} is {amount(metric, layer.keeps(metric) or 0.0)}"
        if factor > result.get((layer.layer, metric), _NONE).factor:
            result[layer.layer, metric] = Dispute(factor, text, item.source)
    return result


_NONE = Dispute(0.0, "", "")


def _built(name: str, values: tuple[tuple[str, object], ...]) -> tuple[Design, Limits]:
    design = load_template(name).build(dict(values))
    return design, design_limits(design)


def _servers(design: Design) -> str:
    groups = [group for group in design.servers if group.role == "storage"]
    return " and ".join(f"{group.count} x {group.instance}" for group in groups) or design.design


def _metric(name: str) -> Metric | None:
    return next((metric for metric in METRICS if metric == name), None)
