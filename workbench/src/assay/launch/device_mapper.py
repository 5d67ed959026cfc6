"""What a device-mapper device does with its data."""

import contextlib
import re
import shutil
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from assay.launch.commands import run_program
from assay.model.result.layers import LayerKind

TABLE_SECONDS = 5.0
TABLE_BYTES = 1 << 16

Table = Callable[[str], str]
"""Name of a mapped device -> its table as `dmsetup table` prints it; empty if it cannot be read."""

CACHE_TARGETS = ("cache", "writecache", "ebs-cache")
CACHED_BY_LVM = re.compile(r"-(cdata|cmeta|cvol|cpool)$")
"""Suffixes of the uuids of the parts of a cached logical volume (LVM2, lib/activate/dev_manager.c)."""


class MappedDevice(NamedTuple):
    """The layer that a mapped device makes.

    Attributes:
        kind: Kind of the layer.
        words: Description such as `mapped: crypt`.
        compresses: As in `Layer`.
    """

    kind: LayerKind
    words: str
    compresses: Literal["", "does"] = ""


def no_table(name: str) -> str:  # noqa: ARG001
    """Return no table; for users who may not read it."""
    return ""


def read_table(name: str) -> str:
    """Return the table of a mapped device; empty if the user is not root, or dmsetup does not answer in time."""
    program = shutil.which("dmsetup", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if program is None or not name:
        return ""
    with contextlib.suppress(OSError):
        result = run_program([program, "table", "--", name], TABLE_SECONDS)
        return "" if result.timed_out else result.out[:TABLE_BYTES].decode("utf-8", "replace")
    return ""


def mapped_device(uuid: str, below: Sequence[str], table: str) -> MappedDevice:
    """Return what a mapped device is, by its table; without a table, by the program that made it.

    Args:
        uuid: Its uuid in sysfs: `LVM-...`, `CRYPT-LUKS2-...`, `mpath-...`, `VDO-...`.
        below: Uuids of the mapped devices right below it.
        table: Its table; empty if unknown.
    """
    targets = [columns[2] for line in table.splitlines() if len(columns := line.split()) > 2]
    found = dict.fromkeys(targets)
    program = uuid.partition("-")[0]
    words = ", ".join(found) or program
    if found.keys() & set(CACHE_TARGETS) or any(CACHED_BY_LVM.search(one) for one in below):
        return MappedDevice("cache", f"mapped: {words}; with a cache device in front")
    if "vdo" in found or program == "VDO" or uuid.endswith("-vpool"):
        return MappedDevice("mapped", f"mapped: {words}; compresses and deduplicates", compresses="does")
    if found and found.keys() <= {"zero", "error"}:
        return MappedDevice("nothing", f"mapped: {words}; nothing is stored")
    return MappedDevice("mapped", f"mapped: {words}" if words else "mapped")
