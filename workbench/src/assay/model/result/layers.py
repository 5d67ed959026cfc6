"""The layers below a target, down to the one that stores its data, and what follows from them. Pure functions."""

import itertools
from collections.abc import Sequence
from typing import Literal

from assay.model.frozen import Frozen

LayerKind = Literal[
    "file system",
    "overlay",
    "partition",
    "disk",
    "virtual disk",
    "network disk",
    "loop",
    "mapped",
    "array",
    "cache",
    "memory",
    "program",
    "shared",
    "network",
    "nothing",
    "script",
    "unknown",
]
"""Kinds of layers.

* `file system`, `overlay`, `partition`, `loop`, `mapped` (device-mapper) and `array` (md) pass requests on to the layer
below.
* `disk`, `virtual disk` (of a virtual machine) and `network disk` (iSCSI, NVMe over fabrics, AoE) are where this
  machine's own view ends.
* `cache` keeps data on a faster medium than the layer below: bcache, dm-cache, the ARC of ZFS.
* `memory`: tmpfs, a RAM disk, zram.
* `program`: another program of this machine answers, through FUSE, nbd or ublk.
* `shared`: a directory of the host of this virtual machine (9p, virtiofs).
* `network`: servers, through a client in the kernel (NFS, SMB, Ceph, Lustre).
* `nothing`: writes are discarded: the null target, null_blk, dm-zero.
* `script`: the null target with operations that take the time stated in the study.
* `unknown`: the kernel does not report what it is.
"""

Compresses = Literal["", "may", "does"]

BLOCK_KINDS = frozenset({"partition", "disk", "virtual disk", "network disk", "loop", "mapped", "array", "cache"})
"""Kinds of block devices; `memory`, `program` and `nothing` may be block devices, too."""
OPAQUE_KINDS = frozenset({"program", "shared", "cache", "unknown"})
"""Kinds that may answer from memory or from elsewhere without any count on this machine that shows it."""
NO_STORAGE_KINDS = frozenset({"nothing", "script"})
"""Kinds that store nothing; if there is no device either, only engine and workbench are measured."""


class Layer(Frozen):
    """One layer below a target.

    Attributes:
        name: Type of a file system, such as ext4, or path of a device, such as /dev/loop3.
        detail: Further facts in words; empty if there are none.
        depth: Number of layers above it. A layer directly below another follows it in the list, one deeper.
        number: For a block device: its major:minor, under which the kernel counts its requests; else empty.
        compresses: Whether it stores less if data is compressible or repeats itself: it `does`; it `may`, since single
            files and directories can request it; or empty.
    """

    kind: LayerKind
    name: str
    detail: str = ""
    depth: int = 0
    compresses: Compresses = ""
    number: str = ""

    @property
    def label(self) -> str:
        """Name and detail: `/dev/loop3 (a loop device)`."""
        return f"{self.name} ({self.detail})" if self.detail else self.name


def layer_chain(layers: Sequence[Layer]) -> str:
    """Return all layers in one line, from the top: `ext4 on /dev/loop3 (a loop device) on tmpfs (memory)`.

    Layers side by side, such as the disks of an array, are in brackets. Empty without layers.
    """
    if not layers:
        return ""
    top, below = layers[0], _below(layers)
    if not below:
        return top.label
    parts = [layer_chain(part) for part in below]
    return f"{top.label} on {parts[0] if len(parts) == 1 else '[' + '; '.join(parts) + ']'}"


def _below(layers: Sequence[Layer]) -> list[Sequence[Layer]]:
    """Return the layers directly below the first one, each followed by everything below it."""
    top = layers[0].depth
    starts = [place for place, layer in enumerate(layers) if place and layer.depth == top + 1]
    return [layers[start:end] for start, end in zip(starts, [*starts, len(layers)][1:], strict=True)]


def lowest_layers(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """Return the layers with nothing below: where the data is stored, or where visibility ends."""
    depths = [*(layer.depth for layer in layers), 0][1:]
    return tuple(layer for layer, following in zip(layers, depths, strict=True) if following <= layer.depth)


def is_in_memory(layers: Sequence[Layer]) -> bool:
    """Whether all data is stored in memory."""
    return bool(layers) and all(layer.kind == "memory" for layer in lowest_layers(layers))


def self_answering_layer(layers: Sequence[Layer]) -> Layer | None:
    """Return the first layer that answers by itself above all counted block devices (FUSE server, ZFS), or None."""
    for layer in layers:
        if layer.kind in ("program", "shared") or layer.name == "zfs":
            return layer
        if layer.kind in BLOCK_KINDS:
            return None
    return None


def device_levels(layers: Sequence[Layer]) -> tuple[tuple[Layer, ...], ...]:
    """Return the block devices whose requests the kernel counts, level by level: all data passes each of these levels.

    The first level has the uppermost devices: one, or those that a file system or an array spreads its data over. The
    number of levels is that of the shortest branch; a branch ends where a layer may answer by itself (`OPAQUE_KINDS`).
    """
    above: list[Layer] = []
    branches: list[list[Layer]] = []
    for place, layer in enumerate(layers):
        above[layer.depth :] = [layer]
        last = place + 1 == len(layers) or layers[place + 1].depth <= layer.depth
        if last:
            branches.append(_counted(above))
    common = min(map(len, branches), default=0)
    return tuple(
        tuple({branch[level].number: branch[level] for branch in branches}.values()) for level in range(common)
    )


def _counted(branch: Sequence[Layer]) -> list[Layer]:
    """Return the devices on a branch from the top down, up to the first layer that may answer by itself."""
    visible = itertools.takewhile(lambda layer: layer.kind not in OPAQUE_KINDS, branch)
    return [layer for layer in visible if layer.number and layer.kind in BLOCK_KINDS]


def counted_layers(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """Return the uppermost block device, where the kernel counts requests, and the layers below it."""
    first = next((place for place, layer in enumerate(layers) if layer.kind in BLOCK_KINDS), len(layers))
    return tuple(layers[first:])
