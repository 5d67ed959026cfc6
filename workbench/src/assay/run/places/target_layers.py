"""Finds the layers below the targets of a run, and what they mean for its results before these are measured."""

import os
from collections.abc import Iterable

from assay.contract._answers import Look
from assay.launch.device_mapper import read_table
from assay.launch.layers import layers_of_device, layers_of_path, layers_of_type
from assay.model.base import WarningLine, warning
from assay.model.result.layers import OPAQUE_KINDS, Layer
from assay.model.result.run import TargetPlace


class MachineLayerFinder:
    """Walks this machine's layers for kinds of target (`assay.kinds.handler.Layering`)."""

    def directory(self, filesystem: str, look: Look | None) -> tuple[Layer, ...]:
        """Return the layers below a directory; on other hosts, only those that the type of the file system implies."""
        if look is None:
            return layers_of_type(filesystem)
        device = look.identity.partition(":")[0]
        number = f"{os.major(int(device))}:{os.minor(int(device))}" if device.isdigit() else ""
        return layers_of_path(look.real_path, number, table=read_table)

    def device(self, path: str) -> tuple[Layer, ...]:
        """Return a device and the layers below it."""
        return layers_of_device(path, table=read_table)


def layer_notes(places: Iterable[TargetPlace]) -> list[WarningLine]:
    """Return a line for each target whose layers limit what its results can show."""
    notes = []
    for place in places:
        where = f"target {place.target}: {place.storage_chain}"
        if place.memory_backed and not place.is_memory:
            notes.append(warning(f"{where}: its results will be `cached`: the target is in memory"))
        elif any(layer.kind in OPAQUE_KINDS for layer in place.layers):
            notes.append(warning(f"{where}: results without evidence of storage access will be `unverified`"))
    return notes
