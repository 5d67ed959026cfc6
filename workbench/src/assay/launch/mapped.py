"""What a device of the device mapper does with its data."""

import contextlib
import re
import shutil
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from assay.launch.answers import said
from assay.model.result.layers import LayerKind

TABLE_SECONDS = 5.0
TABLE_BYTES = 1 << 16

Table = Callable[[str], str]
"""Name of a mapped device -> its table as `dmsetup table` prints it; empty if it cannot be had."""

CACHING = ("cache", "writecache", "ebs-cache")
CACHED_BY_LVM = re.compile(r"-(cdata|cmeta|cvol|cpool)$")
"""Ends of the uuid of the parts of a cached logical volume (LVM2, lib/activate/dev_manager.c)."""


class Mapping(NamedTuple):
    """What a mapped device is.

    Attributes:
        words: Such as `mapped: crypt`.
    """

    kind: LayerKind
    words: str
    compresses: Literal["", "does"] = ""


def no_table(name: str) -> str:  # noqa: ARG001
    """For who may not ask."""
    return ""


def table_of(name: str) -> str:
    """The table of a mapped device, as root may see it. A device mapper that does not answer is not waited for."""
    program = shutil.which("dmsetup", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if program is None or not name:
        return ""
    with contextlib.suppress(OSError):
        heard = said([program, "table", "--", name], TABLE_SECONDS)
        return "" if heard.late else heard.out[:TABLE_BYTES].decode("utf-8", "replace")
    return ""


def kinds_of_mapping(uuid: str, below: Sequence[str], table: str) -> Mapping:
    """What a mapped device is, by its table; without that by who has made it.

    Args:
        uuid: As sysfs has it: `LVM-...`, `CRYPT-LUKS2-...`, `mpath-...`, `VDO-...`.
        below: Those of the mapped devices right below.
        table: Its table, or nothing.
    """
    targets = [columns[2] for line in table.splitlines() if len(columns := line.split()) > 2]
    found = dict.fromkeys(targets)
    who = uuid.partition("-")[0]
    words = ", ".join(found) or who
    if found.keys() & set(CACHING) or any(CACHED_BY_LVM.search(one) for one in below):
        return Mapping("cache", f"mapped: {words}; a cache device before it")
    if "vdo" in found or who == "VDO" or uuid.endswith("-vpool"):
        return Mapping("mapped", f"mapped: {words}; compresses, and stores what is the same once", compresses="does")
    if found and found.keys() <= {"zero", "error"}:
        return Mapping("nothing", f"mapped: {words}; nothing is stored")
    return Mapping("mapped", f"mapped: {words}" if words else "mapped")
