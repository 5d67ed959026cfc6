"""Bytes and operations of a month: as the need states them, or as its rates give them."""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import cache
from typing import Literal

from assay.model.money.amount import EXACT
from assay.model.money.design import S3, Design, DynamoDb, Efs, Managed
from assay.model.money.use import MAX_USED_BYTES, Use
from assay.model.units import about_size
from assay.money.cost.catalog import catalog
from assay.money.cost.network_traffic import switch_piece
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.texts import amount, percent

Side = Literal["read", "write"]
SIDES: tuple[Side, ...] = ("read", "write")
HOUR = 3600
LEASED_WAYS = {"aws": "direct-connect", "azure": "expressroute", "gcp": "interconnect"}
"""Provider -> item of `transfer-out` rows for what leaves over a leased line."""


@dataclass(frozen=True)
class Traffic:
    """Reads or writes of a month.

    Attributes:
        size_bytes: Bytes.
        operations: Operations of `profile.record` bytes each.
        rate_text: The required rate they are computed from, in words; empty: `monthly` states them, or nothing does.
        is_assumed: Nothing states them: active data is read once.
    """

    size_bytes: int
    operations: Decimal
    rate_text: str = ""
    is_assumed: bool = False


def monthly_traffic(need: Need, side: Side, hours: Decimal) -> Traffic:
    """Return the bytes and operations of one side in a month.

    What `monthly` does not state is rate x seconds of a month x duty; operations are those that the need states, else
    rate / record. Without a rate each byte of active data is read once, and nothing is written.

    Args:
        need: Its rates, record, and duty.
        side: Reads or writes.
        hours: Hours of a month, by the price book.
    """
    record = need.profile.record
    stated = need.monthly.read if side == "read" else need.monthly.written
    if stated is not None:
        return Traffic(stated, Decimal(-(-stated // record)))
    rate, iops = getattr(need, side), getattr(need, f"{side}_iops")
    if rate is None and iops is None:
        if side == "write" or need.profile.read_share == 0:
            return Traffic(0, Decimal(0))
        filled = EXACT.multiply(Decimal(need.capacity), _average_fill(need.growth_per_year, need.months))
        once = int(EXACT.multiply(filled, active_share(need)))
        return Traffic(once, Decimal(-(-once // record)), is_assumed=True)
    by_rate, by_operations = (EXACT.divide(Decimal(repr(rate or 0.0)), Decimal(record)), Decimal(repr(iops or 0.0)))
    words = amount(side, rate or 0.0) if by_rate > by_operations else f"{iops:,.0f} {side}s/s"
    seconds = EXACT.multiply(EXACT.multiply(hours, Decimal(HOUR)), need.duty)
    count = EXACT.multiply(by_rate if iops is None else by_operations, seconds)
    size = EXACT.multiply(EXACT.multiply(max(by_rate, by_operations), seconds), Decimal(record))
    size = size.to_integral_value(ROUND_CEILING, EXACT)
    return Traffic(min(int(size), MAX_USED_BYTES), count.to_integral_value(ROUND_CEILING, EXACT), words)


def bytes_to_hold(need: Need, is_own: bool) -> int:
    """Return the usable bytes that a design must have: own hardware keeps snapshots, too; services sell them apart."""
    return need.capacity + (need.snapshots if is_own else 0)


def active_share(need: Need) -> Decimal:
    """Return the share of the data used in a month: as stated, else at most what is read; cold data is not used."""
    if need.active is not None:
        return need.active
    if need.monthly.read is not None:
        return min(Decimal(1), EXACT.divide(Decimal(need.monthly.read), Decimal(need.capacity)))
    return Decimal(0) if need.profile.cold else Decimal(1)


def follows_from_rate(need: Need, side: Side) -> bool:
    """Return whether the traffic of a side is computed from a rate: `monthly` does not state it, but a rate is."""
    stated = need.monthly.read if side == "read" else need.monthly.written
    return stated is None and (getattr(need, side) is not None or getattr(need, f"{side}_iops") is not None)


def cold_byte_share(design: Design) -> Decimal:
    """Return the share of a design's bytes in a class for cold data; 0 if there is none."""
    service = design.service
    found: Decimal = getattr(service, "cold_share", None) or getattr(service, "infrequent", None) or Decimal(0)
    return found


def cold_reads(need: Need, rare: Decimal) -> Decimal:
    """Return the share of reads that hit a class for cold data with a share `rare` of the bytes.

    Active data is outside the class as far as there is room; (active - (1 - rare)) / active of the reads hit the
    rest. If the need does not state what is active, reads are spread over all data.
    """
    active = need.active
    if not active:
        return rare
    return max(Decimal(0), EXACT.divide(EXACT.subtract(active, 1 - rare), active))


@cache
def _average_fill(growth: Decimal, months: int) -> Decimal:
    """Return the average stored data as a share of the final amount: mean of (1 + g)^(month / 12)."""
    if not growth:
        return Decimal(1)
    grown = [EXACT.power(1 + growth, Decimal(2 * month + 1) / 24) for month in range(months)]
    end = EXACT.power(1 + growth, Decimal(months) / 12)
    return min(Decimal(1), sum(grown, Decimal(0)) / months / end)


def first_bytes(need: Need) -> int:
    """Return the bytes of the data at the beginning: `migration.size`, else the capacity without yearly growth.

    Args:
        need: With its capacity after growth.
    """
    plan = need.migration
    if plan is not None and plan.size is not None:
        return min(plan.size, need.capacity)
    years = EXACT.divide(Decimal(need.months), Decimal(12))
    return int(EXACT.divide(Decimal(need.capacity), EXACT.power(1 + need.growth_per_year, years)))


def uploaded_bytes(need: Need, hours: Decimal) -> int:
    """Return the bytes that must be stored once, in addition to what is written each month.

    These are the data at the beginning, and what is added later, as far as the writes of all months are less. Scratch
    data is written by the work itself.

    Args:
        need: With its capacity after growth.
        hours: Hours of a month, by the price book.
    """
    if need.migration is None and need.data == "scratch":
        return 0
    first = first_bytes(need)
    written = monthly_traffic(need, "write", hours).size_bytes * need.months
    return first + max(0, need.capacity - first - written)


def requests_for(need: Need, design: Design, side: Side, size: int) -> Decimal:
    """Return the requests that read or write so many bytes, each of one record; for tables, the units."""
    return charged_units(need, design, side, Decimal(-(-size // need.profile.record)))


def charged_units(need: Need, design: Design, side: Side, operations: Decimal) -> Decimal:
    """Return operations of one record as a design charges them: a table in units, others one by one."""
    if not isinstance(design.service, DynamoDb):
        return operations
    kind, record = catalog().table("dynamodb"), need.profile.record
    each = int(kind.read_units(record)) if side == "read" else kind.write_units(record)
    return EXACT.multiply(operations, Decimal(each))


def distinct_write_share(need: Need, written: int) -> Decimal:
    """Return the share of a month's writes that are distinct: no more than the active data that the need states."""
    if not need.active or not written:
        return Decimal(1)
    return min(Decimal(1), EXACT.divide(EXACT.multiply(need.active, Decimal(need.capacity)), Decimal(written)))


def leaving_side(need: Need, design: Design, provider: str | None) -> Side | None:
    """Return which traffic leaves the cloud: what clients elsewhere read, or what the cloud writes to an own array.

    None: the clients are where the data is, or on own premises as the data is.

    Args:
        need: Where its clients are.
        design: Its leased line connects own premises to a cloud.
        provider: Provider of the design.
    """
    if provider == "own":
        return "write" if design.link is not None and need.clients_at == "region" else None
    return "read" if design.link is not None or need.clients_at != "region" else None


def leased_way(need: Need, provider: str | None) -> str | None:
    """Return the item of `transfer-out` rows for a cloud's leased line; None: the need has none, or no cloud."""
    return LEASED_WAYS.get(provider or "") if need.clients_at == "leased-line" else None


def _egress(need: Need, design: Design, provider: str | None, traffic: dict[Side, Traffic]) -> int:
    """Return the bytes of a month that leave the cloud: as stated, else the traffic of the side that leaves."""
    side = leaving_side(need, design, provider)
    if provider == "own" and side is None:
        return 0
    if need.monthly.egress is not None:
        return need.monthly.egress
    return traffic[side].size_bytes if side is not None else 0


def _kept_days(need: Need) -> int:
    """Return how many days bytes are stored: the whole need, or until new writes have replaced all data."""
    months = Decimal(need.months)
    if need.monthly.written and not need.growth_per_year:
        months = min(months, EXACT.divide(Decimal(need.capacity), Decimal(need.monthly.written)))
    return max(1, int(months * 365 / 12))


def use_of(need: Need, design: Design, hours: Decimal, rare: Decimal = Decimal(0), provider: str | None = None) -> Use:
    """Return the use of a design that follows from a need's monthly traffic; each request has one record.

    Args:
        need: Its traffic, snapshots, growth and people.
        design: Its service determines the cost of a request.
        hours: Hours of a month, by the price book.
        rare: Share of the bytes in a class for cold data.
        provider: Provider of the design.
    """
    traffic: dict[Side, Traffic] = {side: monthly_traffic(need, side, hours) for side in SIDES}
    read_traffic, write_traffic, record = traffic["read"], traffic["write"], need.profile.record
    return Use(
        duty=need.duty,
        egress=_egress(need, design, provider, traffic),
        egress_way=leased_way(need, provider),
        zone_traffic=need.monthly.zone,
        gets=read_traffic.operations,
        puts=write_traffic.operations,
        retrieved=read_traffic.size_bytes,
        written=write_traffic.size_bytes,
        distinct_writes=distinct_write_share(need, write_traffic.size_bytes) if rare else Decimal(1),
        table_reads=charged_units(need, design, "read", read_traffic.operations),
        table_writes=charged_units(need, design, "write", write_traffic.operations),
        volume_requests=read_traffic.operations + write_traffic.operations,
        snapshots=need.snapshots,
        cold_reads=cold_reads(need, rare) if rare else Decimal(0),
        object_size=record if need.access == "object" else 0,
        kept_days=_kept_days(need),
        filled=_average_fill(need.growth_per_year, need.months),
        deleted_when_off=need.data == "scratch",
        admin_hours=next(
            (hours for name, hours in need.admin_hours.items() if name == people_key(design, provider)), Decimal(0)
        ),
        client_ports=client_ports(need, design),
    )


def people_key(design: Design, provider: str | None) -> str | None:
    """Return the key of `admin_hours` for a design: `own` if its user runs it, else its provider."""
    return "own" if design.is_self_run else provider


def client_ports(need: Need, design: Design) -> int:
    """Return the ports of a design's switches that the need's clients use: one each, or as many as their link fills.

    0 if the design has no switches, or the clients come over its leased line.
    """
    piece = switch_piece(design)
    if piece is None or piece.switch is None or design.link is not None or need.clients is None:
        return 0
    return need.clients * (math.ceil(need.client / piece.switch.rate) if isinstance(need.client, float) else 1)


def paid_by_request(design: Design) -> bool:
    """Return whether reading and writing cost money, so that the bill depends on the traffic."""
    service = design.service
    return (
        isinstance(service, S3)
        or (isinstance(service, DynamoDb) and service.mode == "on-demand")
        or (isinstance(service, Efs) and service.type == "efs-elastic")
        or (isinstance(service, Managed) and catalog().managed(service.type).charges_requests)
        or any(group.volumes is not None and group.volumes.type == "standard" for group in design.servers)
    )


def traffic_sides(dimension: str, item: str) -> frozenset[Side]:
    """Return which traffic a bill line depends on: none, reads, writes or both."""
    if dimension == "volume-requests":
        return frozenset({"read", "write"})
    if dimension == "object-retrieval":
        return frozenset({"read"})
    if dimension in ("object-requests", "table-requests", "filesystem-access", "filesystem-requests"):
        return frozenset({"read"}) if item.endswith(("get", "read")) else frozenset({"write"})
    return frozenset()


def derived_traffic_text(need: Need, hours: Decimal) -> str:
    """Return in words the traffic computed from rates; empty if `monthly` states all, or there are no rates."""
    parts = []
    for side, verb in (("read", "read"), ("write", "written")):
        traffic = monthly_traffic(need, "read" if side == "read" else "write", hours)
        if traffic.rate_text:
            operations = traffic.rate_text.endswith("s/s")
            what = (
                f"{traffic.operations:,.0f} operations, {about_size(traffic.size_bytes)}"
                if operations
                else _large_size_text(traffic.size_bytes)
            )
            parts.append((f"{what} {verb}", traffic.rate_text, verb))
    if not parts:
        return ""
    time = "all the time" if need.duty == 1 else f"{percent(need.duty)} of the time"
    keys = " and ".join(f"`monthly.{verb}`" for _, _, verb in parts)
    whats, rates = (" and ".join(each[place] for each in parts) for place in (0, 1))
    less = "they are" if len(parts) > 1 else "it is"
    return f"{whats} a month follow from {rates} {time}; state {keys} if {less} less"


def assumed_reading_text(need: Need, hours: Decimal) -> str:
    """Return in words what is assumed to be read in a month because nothing states it; empty if something does."""
    traffic = monthly_traffic(need, "read", hours)
    if not traffic.is_assumed:
        return ""
    if not traffic.size_bytes:
        return "nothing is assumed to be read: state `monthly.read`"
    share = active_share(need)
    what = "all data" if share == 1 else f"{percent(share)} of the data"
    return f"{_large_size_text(traffic.size_bytes)} read a month are assumed, {what} once: state `monthly.read`"


def _large_size_text(size: int) -> str:
    return f"{size / 10**12:,.0f} TB" if size >= 10**15 else about_size(size)
