"""The probability that a design loses all its data in a year because one of its volumes fails."""

import re
from dataclasses import dataclass

from assay.model.money.design import S3, Design, Efs, FsxLustre, Layout, Managed
from assay.money.cost.bill import volume_count
from assay.money.cost.catalog import catalog
from assay.rooms.advice.work.texts import percent

STRIPED: frozenset[Layout] = frozenset({"single", "lvm", "raid0"})
"""Layouts that lose all data with any one volume."""
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

    None if it is not stated, or if the volumes have redundancy.
    """
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
        parts.append(
            f"{count} {kind.name} volumes without redundancy, of which up to {percent(failure_chance)} fail in a year"
        )
        sources.append(kind.source)
    if not parts:
        return None
    text = f"{' and '.join(parts)}: chance of data loss {percent(1 - survival)} a year; "
    text += "keep snapshots or copies"
    return Loss(1 - survival, text, "; ".join(dict.fromkeys(sources)))


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
