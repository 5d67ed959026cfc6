"""The provisioned performance a need requires: IOPS and throughput of volumes, table units, throughput of EFS."""

import math
from typing import Any

from assay.model.money.catalog_entry import MIB
from assay.model.money.design import Design, DynamoDb, Efs, Managed, Servers
from assay.model.money.filesystems import EfsType
from assay.model.money.managed import ManagedType
from assay.model.money.volumes import ProvisionedVolume
from assay.model.units import format_throughput
from assay.money.cost.bill import volume_count
from assay.money.cost.catalog import catalog
from assay.money.cost.limits import design_limits
from assay.rooms.advice.model.need import Need

PROVISIONED = ("iops", "throughput", "reads", "writes")
"""Parameters that set a provisioned rate."""
IOPS_STEP = 100
"""IOPS are sold in hundreds."""


def provisioned_rates(design: Design, names: tuple[str, ...], need: Need) -> dict[str, Any] | None:
    """Return the lowest values of provisioned parameters with which a design satisfies a need.

    Args:
        design: The design without provisioned performance.
        names: Parameters of `PROVISIONED` to compute.
        need: The required rates.

    Returns:
        None if the catalogue does not allow such values, or if the design has no provisioned rate.

    Raises:
        AssayError: As `design_limits`.
    """
    service = design.service
    if isinstance(service, Efs) and "throughput" in names:
        return _efs(service, need)
    if isinstance(service, Managed):
        return _managed(service, names, need)
    if isinstance(service, DynamoDb) and {"reads", "writes"} <= set(names):
        return _units(service, need)
    group = next((group for group in design.servers if group.volumes is not None), None)
    return _volumes(design, group, names, need) if group is not None else None


def per_second(need: Need, side: str) -> tuple[float, float]:
    """Return the bytes and operations per second that the need requires for reading or writing, at its daily burst.

    Operations that the need does not state are those of random access in records of `profile.record` bytes.
    """
    rate, iops = getattr(need, side) or 0.0, getattr(need, f"{side}_iops") or 0.0
    burst = (getattr(need.burst, side) if need.burst is not None else None) or 0.0
    record = need.profile.record
    operations = iops or (rate / record if need.profile.pattern == "random" else 0.0)
    return max(rate, burst, iops * record), operations


def _efs(service: Efs, need: Need) -> dict[str, Any] | None:
    kind = catalog().filesystem(service.type)
    if not isinstance(kind, EfsType) or kind.mode != "provisioned":
        return None
    metered = per_second(need, "read")[0] / kind.read_factor + per_second(need, "write")[0]
    rate = max(1, math.ceil(metered / MIB)) * MIB
    return {"throughput": _mib(rate)} if rate <= kind.max_write else None


def _managed(service: Managed, names: tuple[str, ...], need: Need) -> dict[str, Any] | None:
    """Return the lowest throughput and IOPS on sale with which the need is met; only those in `names`."""
    kind = catalog().managed(service.type)
    size = kind.frequent_bytes(service.capacity, service.infrequent)
    (read, reads), (write, writes) = per_second(need, "read"), per_second(need, "write")
    counts = (reads + writes,) * 2 if kind.shared else (reads, writes)
    result: dict[str, Any] = {}
    throughput = service.throughput or 0.0
    if "throughput" in names and kind.throughput is not None:
        rates = (read + write,) * 2 if kind.shared else (read, write)
        wanted = _invert_rates(kind, size, rates, counts)
        least = None if wanted is None else kind.throughput.lowest_on_sale(wanted)
        if least is None:
            return None
        exact = kind.throughput.choices or kind.throughput.step
        throughput = least if exact else float(math.ceil(least / MIB) * MIB)
        result["throughput"] = _mib(throughput)
    if "iops" in names and kind.iops is not None and any(counts):
        wanted = _invert_counts(kind, size, counts, throughput)
        highest = kind.iops.highest_on_sale(size)
        if wanted is None or (highest is not None and wanted > highest):
            return None
        result["iops"] = max(1, math.ceil(max(wanted, kind.iops.min) / IOPS_STEP) * IOPS_STEP)
    return result or None


def _invert_rates(
    kind: ManagedType, size: int, rates: tuple[float, float], counts: tuple[float, float]
) -> float | None:
    """Return the bytes per second to provision for these rates and operations; None if no amount suffices."""
    needs = [law.needed(size, rate) for law, rate in zip((kind.read, kind.write), rates, strict=True) if law]
    laws = zip((kind.read_iops, kind.write_iops), counts, strict=True)
    needs += [law.rate_for(count) for law, count in laws if law and count]
    known = [each for each in needs if each is not None]
    return max(known, default=0.0) if len(known) == len(needs) else None


def _invert_counts(kind: ManagedType, size: int, counts: tuple[float, float], rate: float) -> float | None:
    """Return the operations per second to provision for these counts, with `rate` bytes per second provisioned.

    None if no amount suffices.
    """
    laws = zip((kind.read_iops, kind.write_iops), counts, strict=True)
    needs = [law.needed(size, count, rate) for law, count in laws if law]
    known = [each for each in needs if each is not None]
    return max(known, default=0.0) if len(known) == len(needs) else None


def _units(service: DynamoDb, need: Need) -> dict[str, Any]:
    """Return the table units for the need: an operation of a record takes the units of each item that it touches."""
    kind, items = catalog().table("dynamodb"), -(-need.profile.record // service.item)
    operations = []
    for side in ("read", "write"):
        rate, iops = getattr(need, side) or 0.0, getattr(need, f"{side}_iops") or 0.0
        operations.append(max(iops * items, rate / service.item))
    reads = max(1, math.ceil(operations[0] * kind.read_units(service.item)))
    writes = max(1, math.ceil(operations[1] * kind.write_units(service.item)))
    return {"reads": reads, "writes": writes}


def _volumes(design: Design, group: Servers, names: tuple[str, ...], need: Need) -> dict[str, Any] | None:
    volumes = group.volumes
    assert volumes is not None
    kind = catalog().volume(volumes.type)
    if not isinstance(kind, ProvisionedVolume) or "iops" not in names:
        return None
    # Limits are proportional to the provisioned values in each layout: known values give the share that is needed.
    probe = kind.iops_free or kind.iops_min
    known = volumes.model_copy(update={"iops": probe, "throughput": None})
    built = design.model_copy(
        update={
            "servers": tuple(
                each.model_copy(update={"volumes": known}) if each is group else each for each in design.servers
            )
        }
    )
    layer = next(layer for layer in design_limits(built).layers if layer.layer == f"{volumes.type} volumes")
    size = volumes.capacity // volume_count(volumes)
    (read, reads), (write, writes) = per_second(need, "read"), per_second(need, "write")
    operations = reads / (layer.read_iops or 1) + writes / (layer.write_iops or 1)
    load = read / (layer.read or 1) + write / (layer.write or 1)
    probe_rate = kind.rate_free if kind.rate_free is not None else float(probe * kind.largest_io)
    rate = load * min(probe_rate, probe * kind.largest_io)
    if "throughput" in names and kind.rate_free is not None:
        rate = max(kind.rate_free, math.ceil(rate / MIB) * MIB)
    iops = max(kind.iops_min, math.ceil(operations * probe), math.ceil(rate / kind.largest_io))
    iops = -(-iops // IOPS_STEP) * IOPS_STEP
    if iops > kind.max_iops(size) or rate > kind.rate_max:
        return None
    result: dict[str, Any] = {"iops": iops}
    if "throughput" in names and kind.rate_free is not None:
        result["throughput"] = _mib(rate)
    return result


def _mib(rate: float) -> str:
    return format_throughput(round(rate))
