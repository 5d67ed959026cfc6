"""The probability that a design loses data in a year because its volumes, or too many of its disks, fail."""

import math
import re
from dataclasses import dataclass

from assay.model.money.design import S3, Design, Efs, FsxLustre, Hardware, Layout, Managed
from assay.model.units import about_number
from assay.money.cost.bill import volume_count
from assay.money.cost.catalog import catalog
from assay.rooms.advice.work.texts import count_text

STRIPED: frozenset[Layout] = frozenset({"single", "lvm", "raid0"})
"""Layouts that lose all data with any one volume."""
REPAIR_RATE = 200e6
"""Bytes a second at which a failed disk is rebuilt. Source: Datacenter Builds, section 59: 20 TB in 28 hours."""
GROUPS_OF_DISK = 100
"""Groups of disks that each disk is in. Source: docs.ceph.com, Placement Groups: about 100 for each OSD."""
DISK_SOURCE = (
    "failures: the design; rebuilding: Datacenter Builds, section 59; several at once: Chen and others, "
    "ACM Computing Surveys 26(2), 1994, section 3.4"
)
SECONDS_OF_YEAR = 365 * 86400
_SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")
_A_YEAR = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?% (?:a|per) year")


@dataclass(frozen=True)
class Loss:
    """The probability of loss in a year, with its numbers in words."""

    chance: float
    text: str
    source: str


def yearly_loss(design: Design) -> Loss | None:
    """Return 1 - (1 - p)^n for n volumes without redundancy, p at its upper end; for a service, what is stated.

    For own disks the chance that more of a group fail within a rebuild than its redundancy survives. None if it is not
    stated, or if rented volumes have redundancy.
    """
    disks = next((piece for piece in design.hardware if piece.yearly_failures is not None), None)
    if disks is not None:
        return _disk_loss(disks, design)
    if design.copies > 1:
        return None
    if design.service is not None:
        return _service_loss(design)
    survival, parts, sources = 1.0, [], []
    for group in design.servers:
        volumes = group.volumes
        if group.role != "storage" or volumes is None or volumes.layout not in STRIPED:
            continue
        kind, count = catalog().volume(volumes.type), group.count * volume_count(volumes)
        stated = _SHARE.search(kind.durability)
        if stated is None:
            return None
        failure_chance = 1 - float(stated[1]) / 100
        survival *= (1 - failure_chance) ** count
        what = f"{count_text(count, f'{kind.name} volume')} without redundancy, of which up to "
        parts.append(f"{what}{about_number(100 * failure_chance)} % fail in a year")
        sources.append(kind.source)
    if not parts:
        return None
    text = f"{' and '.join(parts)}: chance of data loss {about_number(100 * (1 - survival), 2)} % a year; "
    text += "snapshots or copies elsewhere are what survives it"
    return Loss(1 - survival, text, "; ".join(dict.fromkeys(sources)))


def _disk_loss(piece: Hardware, design: Design) -> Loss:
    """Return the chance that one of all groups of disks loses more than it survives, if disks fail independently.

    Of n disks with p failures each a year one fails n p times a year; the chance that a second of them does so within
    the repair time T is (n - 1) p T, and so on. Source: Chen and others, RAID: High-Performance, Reliable Secondary
    Storage, ACM Computing Surveys 26(2), 1994, section 3.4.
    """
    parts = piece.group if piece.group > 1 else design.part_count
    spare = piece.parity if piece.group > 1 else _spare_parts(design)
    groups = piece.count / parts * (1 if piece.group > 1 or parts == 1 else GROUPS_OF_DISK)
    chance = float(piece.yearly_failures or 0)
    repair = piece.usable / REPAIR_RATE
    rate = groups * parts * chance
    for lost in range(1, spare + 1):
        rate *= (parts - lost) * chance * repair / SECONDS_OF_YEAR
    loss = -math.expm1(-rate)
    shown = "less than 0.001 %" if loss < 1e-5 else f"{about_number(100 * loss, 2)} %"
    text = f"{piece.count:,} x {piece.item}, of which {about_number(100 * chance)} % fail in a year and are rebuilt in "
    text += f"{repair / 3600:.0f} h: chance of data loss {shown} a year, if they fail independently; fire, theft and "
    text += "mistakes are not in it"
    return Loss(loss, text, DISK_SOURCE)


def _spare_parts(design: Design) -> int:
    """Return how many copies, or parts of an erasure code, may be lost."""
    return design.erasure[1] if design.erasure is not None else design.copies - 1


def _service_loss(design: Design) -> Loss | None:
    """Return what the catalogue's entry states for a year; the worse of a bucket's two classes."""
    service = design.service
    if isinstance(service, S3):
        kinds = [catalog().object_class(name) for name in (service.storage_class, service.cold_class) if name]
        kind = min(kinds, key=lambda each: each.nines)
        text = f"an object in {kind.name} has a chance of 1 in 10^{kind.nines} of being lost in a year"
        return Loss(10.0**-kind.nines, text, kind.source)
    if not isinstance(service, Efs | FsxLustre | Managed):
        return None
    entry = catalog().managed(service.type) if isinstance(service, Managed) else catalog().filesystem(service.type)
    stated = _A_YEAR.search(entry.durability)
    if stated is None:
        return None
    text = f"the provider states {entry.durability}"
    return Loss(1 - float(stated[1]) / 100, text, entry.source)
