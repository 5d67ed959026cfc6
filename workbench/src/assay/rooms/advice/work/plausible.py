"""Plausible ranges of what no source states: rates of layers, latencies, rates of small files, availability.

A range is wide on purpose: most products of the kind are within it. Between its ends each factor is taken as equally
likely (log-uniform), so that the chance of a requirement is the part of the range that satisfies it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from assay.model.money.design import S3, Design, DynamoDb, Hardware, Servers
from assay.model.money.volumes import ProvisionedVolume
from assay.model.units import about_number
from assay.money.cost.catalog import catalog
from assay.money.cost.limits import Limit, Metric
from assay.rooms.advice.model.need import Need

Medium = Literal["nvme", "ssd", "hdd", "object", "express", "table", "archive"]
Ends = tuple[float, float]

LIKELY = 0.5
"""Chance from which a variant counts as a plausible choice."""
SAFE = 0.9
"""Chance from which a variant counts as a safe choice."""
NO_RANGE = 0.25
"""Chance that is assumed where nothing comparable is known: below `LIKELY`, so that unknown is never better."""

_DISK_RATES: dict[str, dict[Metric, Ends]] = {
    "nvme": {"read": (0.5e9, 3e9), "write": (0.2e9, 1.5e9), "read_iops": (5e4, 4e5), "write_iops": (2e4, 2e5)},
    "ssd": {"read": (0.2e9, 0.5e9), "write": (0.15e9, 0.5e9), "read_iops": (1e4, 7.5e4), "write_iops": (5e3, 5e4)},
    "hdd": {"read": (0.1e9, 0.2e9), "write": (0.1e9, 0.2e9), "read_iops": (70, 200), "write_iops": (70, 200)},
}
"""Bytes or operations per second of one disk.

Sources: docs.aws.amazon.com/AWSEC2/latest/UserGuide, storage-optimized instances: i3.16xlarge reads 3.3 million and
writes 1.4 million records of 4 KiB a second with 8 disks, d2.8xlarge 3.5 GB/s with 24; data sheets of SATA disks.
"""
_P99: dict[Medium, tuple[Ends, str]] = {
    "nvme": ((2e-4, 3e-3), "NVMe disks"),
    "ssd": ((5e-4, 1e-2), "solid-state storage over a network, by the guides of EBS, FSx and Premium Files"),
    "hdd": ((1e-2, 1e-1), "hard disks: about 10 ms of seek and rotation, and a queue"),
    "object": ((1e-1, 1.0), "object stores: 0.1 to 0.2 s to the first byte by the guide of S3, times 5 for 99 of 100"),
    "express": ((3e-3, 3e-2), "S3 Express: single-digit milliseconds by its guide"),
    "table": ((3e-3, 2e-2), "DynamoDB: single-digit milliseconds on average by its guide"),
    "archive": ((60.0, 43200.0), "archives, which restore before they read"),
}
"""Seconds in which 99 of 100 operations end, of an unloaded service."""
_IO2_P99: tuple[Ends, str] = (
    (3e-4, 3e-3),
    "io2: below 0.5 ms on average for 16 KiB, and ten times fewer operations above 0.8 ms than gp2 and gp3 have, by "
    "https://docs.aws.amazon.com/ebs/latest/userguide/ebs-optimization.html",
)
_FILE_SECONDS: dict[Medium, Ends] = {medium: (ends[0], ends[1] / 3) for medium, (ends, _) in _P99.items()}
"""Mean seconds of one round trip: the best 99th percentile, to a third of the worst."""
ROUND_TRIPS = 4
"""Round trips for each small file: look it up, open, read or write, close."""
_FILE_BYTES = (16 * 2**10, 128 * 2**10)
"""Bytes of small files, if the need does not state `profile.record`."""
_UNSTATED_CLIENTS = 64
"""Clients that a need is assumed to have at most if it does not state them."""
_UNSTATED_STREAMS = 16
"""Files that each client is assumed to open at once, at most, if the need does not state `profile.streams`."""
_WRITE_SHARE: Ends = (0.2, 1.0)
"""Share of a stated rate of reads that a service writes, where no rate of writes is stated."""
_RANDOM_SHARE: Ends = (0.01, 1.0)
"""Share of its rate in bytes that a service reaches with random records, where no operations are stated."""
_PARITY_WRITES: Ends = (1 / 6, 1.0)
"""Share of the disks' write operations that remains: RAID 6 reads and writes 6 times for each small write."""
_AVAILABILITY: dict[bool, Ends] = {True: (99.0, 99.9), False: (99.5, 99.95)}
"""Percent of the time, of what one runs oneself (True) and of a service that states no commitment."""


@dataclass(frozen=True)
class PlausibleRange:
    """Ends of what is plausible, and what they are based on."""

    low: float
    high: float
    basis: str

    def share_above(self, wanted: float) -> float:
        """Return the part of the range from `wanted` up, 0 to 1, each factor being equally likely."""
        if wanted <= self.low:
            return 1.0
        if wanted >= self.high:
            return 0.0
        return math.log(self.high / wanted) / math.log(self.high / self.low)

    def share_below(self, wanted: float) -> float:
        """Return the part of the range up to `wanted`, 0 to 1."""
        return 1.0 - self.share_above(wanted)

    def lowered_to(self, other: "PlausibleRange") -> "PlausibleRange":
        """Return the lower of two ranges, end by end; the basis is that of the lower end."""
        basis = self.basis if self.low <= other.low else other.basis
        return PlausibleRange(min(self.low, other.low), min(self.high, other.high), basis)


def medium_of(design: Design) -> Medium | None:
    """Return the slowest kind of storage that a design keeps its data on; None: unknown."""
    found = list(_media(design))
    order: tuple[Medium, ...] = ("archive", "hdd", "object", "table", "express", "ssd", "nvme")
    return next((medium for medium in order if medium in found), None)


def _media(design: Design) -> Iterator[Medium]:
    service = design.service
    if isinstance(service, S3):
        kind = catalog().object_class(service.storage_class)
        yield "archive" if kind.retrieval_seconds else "express" if "express" in kind.name else "object"
    elif isinstance(service, DynamoDb):
        yield "table"
    elif service is not None:
        yield "hdd" if "hdd" in str(service.type) or "azure-files-hot" in str(service.type) else "ssd"
    for group in design.servers:
        if group.volumes is not None:
            yield "ssd" if isinstance(catalog().volume(group.volumes.type), ProvisionedVolume) else "hdd"
        if group.local is not None and group.role == "storage":
            yield from (disks.kind for disks in catalog().instance(group.instance).disks)
    for piece in design.hardware:
        if piece.usable or _is_disk(piece) or piece.item.startswith(("tape", "all-flash")):
            yield _hardware_medium(piece)


def _is_disk(piece: Hardware) -> bool:
    return piece.item.startswith(("hdd", "nvme", "ssd")) and "server" not in piece.item


def _hardware_medium(piece: Hardware) -> Medium:
    if "tape" in piece.item:
        return "archive"
    return "nvme" if "nvme" in piece.item or "flash" in piece.item else "hdd"


def layer_range(layer: Limit, metric: Metric, design: Design, record: int) -> PlausibleRange | None:
    """Return what a layer plausibly does by a metric that no source states; None: nothing comparable is known.

    Args:
        layer: The layer; its name tells which part of the design it is.
        metric: Bytes or operations per second.
        design: The design, for its disks.
        record: Bytes of each operation.
    """
    groups = [group for group in design.servers if group.local is not None and group.role == "storage"]
    if groups and layer.layer.startswith("local disks"):
        return _local_disks(groups, metric, design.copies)
    pieces = [piece for piece in design.hardware if piece.item in layer.layer]
    disks = [piece for piece in design.hardware if _is_disk(piece)]
    if pieces and disks and metric.endswith("_iops"):
        ends = [_scaled(_DISK_RATES[piece.item.split("-")[0]][metric], piece.count) for piece in disks]
        low, high = (sum(end[place] for end in ends) for place in (0, 1))
        if metric == "write_iops":
            low, high = low * _PARITY_WRITES[0], high * _PARITY_WRITES[1]
        return PlausibleRange(low, high, f"{sum(piece.count for piece in disks):,} {disks[0].item} disks")
    side: Metric = "read" if metric.startswith("read") else "write"
    rate = layer.sustained(side)
    if metric.endswith("_iops") and rate is not None:
        low, high = _scaled(_RANDOM_SHARE, rate / record)
        return PlausibleRange(low, high, "1 to 100 % of its rate with random records")
    if metric == "write" and layer.read is not None:
        return PlausibleRange(*_scaled(_WRITE_SHARE, layer.read), "20 to 100 % of its rate of reads")
    return None


def unknown_range(layer: Limit, metric: Metric, design: Design, need: Need) -> PlausibleRange | None:
    """Return what a layer plausibly does for a need where no source states it; None: nothing comparable is known."""
    record = need.profile.record
    side: Metric = "read" if metric.startswith("read") else "write"
    if metric.endswith("_iops"):
        return layer_range(layer, metric, design, record)
    rate = layer.sustained(side)
    by_rate = layer_range(layer, side, design, record) if rate is None else PlausibleRange(rate, rate, layer.how)
    operations: Metric = "read_iops" if side == "read" else "write_iops"
    if need.profile.pattern != "random" or layer.sustained(operations) is not None:
        return by_rate
    by_count = layer_range(layer, operations, design, record)
    if by_rate is None or by_count is None:
        return None
    return PlausibleRange(
        min(by_rate.low, by_count.low * record), min(by_rate.high, by_count.high * record), by_count.basis
    )


def _local_disks(groups: list[Servers], metric: Metric, copies: int) -> PlausibleRange | None:
    low = high = 0.0
    names = []
    for group in groups:
        for disks in catalog().instance(group.instance).disks:
            ends = _DISK_RATES[disks.kind][metric]
            count = disks.count * group.count / (copies if metric.startswith("write") else 1)
            low, high = low + ends[0] * count, high + ends[1] * count
            names.append(f"{group.count} x {disks.count} {disks.kind.upper()} disks")
    return PlausibleRange(low, high, " and ".join(names)) if names else None


def _scaled(ends: Ends, factor: float) -> Ends:
    return ends[0] * factor, ends[1] * factor


def small_file_range(design: Design, metric: Metric, need: Need) -> PlausibleRange | None:
    """Return what clients plausibly reach with small files: streams x bytes / (round trips x seconds).

    The bytes of a file are `profile.record`, or `_FILE_BYTES` if the need does not state it. None: nothing is known of
    the design's latency.
    """
    medium = medium_of(design)
    if medium is None:
        return None
    streams = need.profile.streams
    most = streams if "streams" in need.profile.model_fields_set else _UNSTATED_STREAMS
    fewest, most = (need.clients or 1) * streams, (need.clients or _UNSTATED_CLIENTS) * most
    fast, slow = _FILE_SECONDS[medium]
    record = need.profile.record
    small, large = (record, record) if "record" in need.profile.model_fields_set else _FILE_BYTES
    small, large = (1, 1) if metric.endswith("_iops") else (small, large)
    basis = f"{ROUND_TRIPS} round trips of {about_number(fast * 1e3)} to {about_number(slow * 1e3)} ms for each file"
    return PlausibleRange(fewest * small / (ROUND_TRIPS * slow), most * large / (ROUND_TRIPS * fast), basis)


def latency_range(design: Design) -> PlausibleRange | None:
    """Return the plausible 99th percentile of latency in seconds; None: nothing comparable is known."""
    medium = medium_of(design)
    types = {group.volumes.type for group in design.servers if group.volumes is not None}
    ends, basis = _IO2_P99 if types == {"io2"} else _P99[medium] if medium is not None else ((0.0, 0.0), "")
    return None if medium is None else PlausibleRange(*ends, basis)


def availability_chance(design: Design, wanted: float) -> float:
    """Return the chance that a design without a commitment is available for `wanted` percent of the time.

    The unavailable share is log-uniform between the ends of `_AVAILABILITY`.
    """
    low, high = _AVAILABILITY[design.service is None and not design.is_attached]
    return PlausibleRange(100 - high, 100 - low, "").share_below(100 - wanted)
