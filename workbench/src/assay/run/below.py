"""What lies below the targets of a run, and what is known of their results because of it before they are measured."""

import os
from collections.abc import Iterable

from assay.contract._answers import Look
from assay.launch.layers import layers_of_device, layers_of_path, layers_of_type
from assay.launch.mapped import table_of
from assay.model.base import Warned, warning
from assay.model.result.layers import UNSEEN, Layer
from assay.model.result.run import Place


class MachineLayering:
    """Walks this machine for kinds of target (`assay.kinds.place.Layering`)."""

    def directory(self, filesystem: str, look: Look | None) -> tuple[Layer, ...]:
        """Below a directory; of other hosts only what the type of the file system tells is known."""
        if look is None:
            return layers_of_type(filesystem)
        device = look.identity.partition(":")[0]
        number = f"{os.major(int(device))}:{os.minor(int(device))}" if device.isdigit() else ""
        return layers_of_path(look.real_path, number, table=table_of)

    def device(self, path: str) -> tuple[Layer, ...]:
        """Below a device, and itself."""
        return layers_of_device(path, table=table_of)


def layer_notes(places: Iterable[Place]) -> list[Warned]:
    """One line for each target of which the layers tell beforehand what its results will not show."""
    notes = []
    for place in places:
        where = f"target {place.target}: {place.lies_on}"
        if place.memory_backed and not place.is_memory:
            notes.append(warning(f"{where}: its results will be `cached`: they are of memory"))
        elif any(layer.kind in UNSEEN for layer in place.layers):
            notes.append(warning(f"{where}: what is not seen to come from storage will be `unverified`"))
    return notes
