"""Published measurements that exceed a limit of the catalogue: the text names both sources."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from assay.model.base import AssayError
from assay.model.money.design import Design
from assay.money.cost.designs import load_template
from assay.money.cost.limits import METRICS, Limit, Limits, Metric, design_limits
from assay.rooms.advice.work.published_evidence import published_evidence
from assay.rooms.advice.work.texts import amount, count_text


@dataclass(frozen=True)
class Contradiction:
    """A layer that was measured faster than the catalogue's limit.

    Attributes:
        factor: Measured value over the catalogue's limit of the same number of pieces.
        text: Both figures.
        source: Source of the measurement.
    """

    factor: float
    text: str
    source: str


def exceeded_layer(limits: Limits, metric: str, value: float) -> Limit | None:
    """Return the layer whose catalogue limit is furthest below a measured value; None if there is none."""
    name = _metric(metric)
    if name is None:
        return None
    below = [layer for layer in limits.layers if (keeps := layer.sustained(name)) is not None and keeps < value]
    return min(below, key=lambda layer: layer.sustained(name) or 0.0, default=None)


def contradiction_text(limits: Limits, metric: str, value: float, source: str) -> str:
    """Return both sources of a measured value and of a lower catalogue limit; empty if no limit is lower."""
    layer, name = exceeded_layer(limits, metric, value), _metric(metric)
    if layer is None or name is None:
        return ""
    limit = amount(metric, layer.sustained(name) or 0.0)
    return f" ({source}); the catalogue's limit of {layer.layer} is {limit} ({layer.source})"


@functools.cache
def contradictions() -> Mapping[tuple[str, Metric], Contradiction]:
    """Return, by layer and metric, the published measurement that exceeds the catalogue by most.

    Measurements of designs that the catalogue cannot build are skipped.
    """
    result: dict[tuple[str, Metric], Contradiction] = {}
    for item in published_evidence():
        try:
            design, limits = _built(item.chosen.design, tuple(sorted(item.chosen.set.items())))
        except AssayError:
            continue
        layer, metric = exceeded_layer(limits, item.metric, item.measured.value), _metric(item.metric)
        if layer is None or metric is None:
            continue
        factor = item.measured.value / (layer.sustained(metric) or 1.0)
        clients = f" with {count_text(item.clients, 'client')}" if item.clients else ""
        text = f"{_servers(design)} reached {amount(metric, item.measured.value)}{clients} ({item.source}), but the "
        text += f"catalogue's limit of {layer.layer} is {amount(metric, layer.sustained(metric) or 0.0)}"
        if factor > result.get((layer.layer, metric), _NONE).factor:
            result[layer.layer, metric] = Contradiction(factor, text, item.source)
    return result


_NONE = Contradiction(0.0, "", "")


def _built(name: str, values: tuple[tuple[str, object], ...]) -> tuple[Design, Limits]:
    design = load_template(name).build(dict(values))
    return design, design_limits(design)


def _servers(design: Design) -> str:
    groups = [group for group in design.servers if group.role == "storage"]
    return " and ".join(f"{group.count} x {group.instance}" for group in groups) or design.design


def _metric(name: str) -> Metric | None:
    return next((metric for metric in METRICS if metric == name), None)
