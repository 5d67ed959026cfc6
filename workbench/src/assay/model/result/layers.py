"""What lies below a target, layer by layer, down to what stores its data: plain data, and what follows from it."""

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
"""What a layer is.

* `file system`, `overlay`, `partition`, `loop`, `mapped` (device-mapper) and `array` (md) pass on to what is below.
* `disk`, `virtual disk` (of a virtual machine) and `network disk` (iSCSI, NVMe over fabrics, AoE) are where this
  machine's own view ends.
* `cache` keeps data in a place of its own that is faster than what is below: bcache, dm-cache, the ARC of ZFS.
* `memory`: tmpfs, a RAM disk, zram.
* `program`: another program of this machine answers, through FUSE, nbd or ublk.
* `shared`: a directory of the host of this virtual machine (9p, virtiofs).
* `network`: servers that the kernel's own client asks (NFS, SMB, Ceph, Lustre).
* `nothing`: what is written is thrown away: the null target, null_blk, dm-zero.
* `script`: the null target, whose operations take the time that the study says.
* `unknown`: the kernel does not tell what is there.
"""

Compresses = Literal["", "may", "does"]

BLOCK = frozenset({"partition", "disk", "virtual disk", "network disk", "loop", "mapped", "array", "cache"})
"""Kinds of block devices; `memory`, `program` and `nothing` may be block devices, too."""
UNSEEN = frozenset({"program", "shared", "cache", "unknown"})
"""Kinds that may answer from memory, or from elsewhere, without a count of this machine that shows it."""
NO_STORAGE = frozenset({"nothing", "script"})
"""Kinds that nothing is kept in; where there is no device either, only engine and workbench are measured."""


class Layer(Frozen):
    """One layer.

    Attributes:
        name: Type of a file system, such as ext4; path of a device, such as /dev/loop3.
        detail: What is known of it besides, in words; empty if nothing.
        depth: How many layers are above it. What lies right below a layer follows it, one deeper.
        number: Of a block device: its major:minor, by which the kernel counts its requests; else empty.
        compresses: Whether it stores less than it is given if the data can be compressed or repeats itself: it
            `does`; it `may`, since single files and directories can ask for it; or empty.
    """

    kind: LayerKind
    name: str
    detail: str = ""
    depth: int = 0
    compresses: Compresses = ""
    number: str = ""

    @property
    def words(self) -> str:
        """Its name, and what is known of it: `/dev/loop3 (a loop device)`."""
        return f"{self.name} ({self.detail})" if self.detail else self.name


def chain(layers: Sequence[Layer]) -> str:
    """All layers in one line, from the top: `ext4 on /dev/loop3 (a loop device) on tmpfs (memory)`; empty without any.

    What lies beside each other, such as the disks of an array, stands in brackets.
    """
    if not layers:
        return ""
    top, below = layers[0], _below(layers)
    if not below:
        return top.words
    parts = [chain(part) for part in below]
    return f"{top.words} on {parts[0] if len(parts) == 1 else '[' + '; '.join(parts) + ']'}"


def _below(layers: Sequence[Layer]) -> list[Sequence[Layer]]:
    """What lies right below the first layer: each with all that is below it."""
    top = layers[0].depth
    starts = [place for place, layer in enumerate(layers) if place and layer.depth == top + 1]
    return [layers[start:end] for start, end in zip(starts, [*starts, len(layers)][1:], strict=True)]


def ends(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers with nothing below them: where the data is stored, or where what can be seen ends."""
    depths = [*(layer.depth for layer in layers), 0][1:]
    return tuple(layer for layer, following in zip(layers, depths, strict=True) if following <= layer.depth)


def in_memory(layers: Sequence[Layer]) -> bool:
    """All that is stored is stored in memory."""
    return bool(layers) and all(layer.kind == "memory" for layer in ends(layers))


def answering(layers: Sequence[Layer]) -> Layer | None:
    """The layer that answers itself before any block device of this machine counts: a FUSE server, ZFS; or none."""
    for layer in layers:
        if layer.kind in ("program", "shared") or layer.name == "zfs":
            return layer
        if layer.kind in BLOCK:
            return None
    return None


def device_levels(layers: Sequence[Layer]) -> tuple[tuple[Layer, ...], ...]:
    """Block devices whose requests the kernel counts, level by level: all data passes each of these levels.

    The first ones are the uppermost devices: one, or those that a file system or an array spreads its data over. There
    are as many levels as every way down has; a way ends where something may answer by itself (`UNSEEN`).
    """
    above: list[Layer] = []
    ways: list[list[Layer]] = []
    for place, layer in enumerate(layers):
        above[layer.depth :] = [layer]
        last = place + 1 == len(layers) or layers[place + 1].depth <= layer.depth
        if last:
            ways.append(_counted(above))
    common = min(map(len, ways), default=0)
    return tuple(tuple({way[level].number: way[level] for way in ways}.values()) for level in range(common))


def _counted(way: Sequence[Layer]) -> list[Layer]:
    """The devices on a way from the top down, as far as all that is asked of one comes to the next."""
    seen = itertools.takewhile(lambda layer: layer.kind not in UNSEEN, way)
    return [layer for layer in seen if layer.number and layer.kind in BLOCK]


def below_counter(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """The uppermost block device and the layers below it: the kernel counts requests as they come to that device."""
    first = next((place for place, layer in enumerate(layers) if layer.kind in BLOCK), len(layers))
    return tuple(layers[first:])
