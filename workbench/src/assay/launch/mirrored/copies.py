"""Which disks of a btrfs hold the copies of each chunk, by its chunk tree."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_CHUNK = re.compile(r"^\s*length (\d+) owner .* type (\S+)$")
_SUB = re.compile(r"\bsub_stripes (\d+)")
_STRIPE = re.compile(r"^\s*stripe \d+ devid (\d+) offset")


class Chunk(NamedTuple):
    """A chunk of a btrfs.

    Attributes:
        kind: Type and profile, such as METADATA|RAID1.
        length: Bytes.
        disks: Device ids of the disks that hold it, in order.
        copies_per_group: In RAID10, this many consecutive disks are copies of one another.
    """

    kind: str
    length: int
    disks: tuple[int, ...]
    copies_per_group: int

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """Groups of disks that are copies of one another."""
        size = {"RAID1": len(self.disks), "RAID10": self.copies_per_group}.get(re.sub("C[34]$", "", self.profile), 1)
        return [self.disks[at : at + size] for at in range(0, len(self.disks), size)]

    @property
    def profile(self) -> str:
        """Profile such as RAID1; empty for a single copy."""
        return self.kind.partition("|")[2]


def read_chunks(dump: str) -> list[Chunk]:
    """Return all chunks.

    Args:
        dump: What `btrfs inspect-internal dump-tree -t chunk` prints.
    """
    found: list[Chunk] = []
    for line in dump.splitlines():
        if chunk := _CHUNK.match(line):
            found.append(Chunk(chunk[2], int(chunk[1]), (), 1))
        elif found and (sub := _SUB.search(line)):
            found[-1] = found[-1]._replace(copies_per_group=int(sub[1]))
        elif found and (stripe := _STRIPE.match(line)):
            found[-1] = found[-1]._replace(disks=(*found[-1].disks, int(stripe[1])))
    return found


def chunk_on_one_server(chunks: Sequence[Chunk], holders: Mapping[int, str]) -> str:
    """Return the first chunk that one server alone holds, in words; empty if all are on two servers or more.

    Args:
        chunks: Chunks of the file system.
        holders: Device id of a disk -> its server; a missing disk has none.
    """
    for chunk in chunks:
        for group in chunk.groups:
            places = {holders.get(number, f"disk {number}, which is missing") for number in group}
            if len(places) < 2:
                return f"{chunk.kind.replace('|', ' ')}, {chunk.length} bytes: on {', '.join(places)} alone"
    return "" if chunks else "btrfs lists no chunks"
