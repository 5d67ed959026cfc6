"""What lies below the targets of a run, and what is known of their results because of it before they are measured."""

import os
from collections.abc import Iterable

from assay.contract._answers import Look
from assay.launch.layers import layers_of_device, layers_of_path, layers_of_type
from assay.launch.mapped import table_of
from assay.model.result.layers import UNSEEN, Layer
from assay.model.result.result import Place
from assay.model.study.target import (
    DeviceTarget,
    ExponentialLatency,
    FixedLatency,
    NfsTarget,
    NullTarget,
    Target,
    UniformLatency,
)

SCRIPTED_NS = 1000
"""A null target whose operations take less is nothing but the engine."""


def layers_below(target: Target, filesystem: str, look: Look | None, here: bool) -> tuple[Layer, ...]:
    """What lies below a target, from the top.

    Args:
        target: The target.
        filesystem: Type of its file system as the engine says.
        look: What an engine has seen of its directory; None if that is on another host.
        here: It is on this machine. Of other hosts only what the type of the file system tells is known.
    """
    if isinstance(target, NullTarget):
        return (_null_layer(target),)
    if isinstance(target, NfsTarget):
        return (Layer(kind="network", name="nfs", detail=f"servers: {', '.join(target.host_names)}"),)
    if not here:
        return layers_of_type(filesystem)
    if isinstance(target, DeviceTarget):
        return layers_of_device(target.path, table=table_of)
    if look is None:
        return layers_of_type(filesystem)
    device = look.identity.partition(":")[0]
    number = f"{os.major(int(device))}:{os.minor(int(device))}" if device.isdigit() else ""
    return layers_of_path(look.real_path, number, table=table_of)


def _null_layer(target: NullTarget) -> Layer:
    """The null target is nothing, or a script: then the study says how long operations take."""
    times = [target.latency, *(change.latency for change in target.changes)]
    if max((_longest_ns(latency) for latency in times if latency is not None), default=0) < SCRIPTED_NS:
        return Layer(kind="nothing", name="null", detail="no storage: operations end at once")
    return Layer(kind="script", name="null", detail="no storage: operations take the time that the study says")


def _longest_ns(latency: FixedLatency | UniformLatency | ExponentialLatency) -> int:
    if isinstance(latency, FixedLatency):
        return latency.time
    return latency.max if isinstance(latency, UniformLatency) else latency.mean


def layer_notes(places: Iterable[Place]) -> list[str]:
    """One line for each target of which the layers tell beforehand what its results will not show."""
    notes = []
    for place in places:
        where = f"warning: target {place.target}: {place.lies_on}"
        if place.memory_backed and not place.is_memory:
            notes.append(f"{where}: its results will be `cached`: they are of memory")
        elif any(layer.kind in UNSEEN for layer in place.layers):
            notes.append(f"{where}: what is not seen to come from storage will be `unverified`")
    return notes
