"""What is read and written in a month: as the need states it, or as its rates make it."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import cache
from typing import Literal

from assay.model.money.amount import EXACT
from assay.model.money.design import S3, Design, DynamoDb, Efs, Managed
from assay.model.money.need import Need
from assay.model.money.use import MOST_BYTES, Use
from assay.model.units import about_size
from assay.money.advice.words import amount, percent
from assay.money.cost.catalog import catalog

Side = Literal["read", "write"]
HOUR = 3600


@dataclass(frozen=True)
class Moved:
    """Of one side in a month.

    Attributes:
        operations: Of `profile.record` bytes each.
        rate: As the need asks for it, if the rest follows from it; empty: `monthly` says it, or nothing does.
    """

    moved: int
    operations: Decimal
    rate: str = ""


def moved(need: Need, side: Side, hours: Decimal) -> Moved:
    """Bytes and operations of one side in a month.

    What `monthly` does not state is rate x seconds of a month x duty.

    Args:
        need: Its rates, record, and duty.
        side: Which of both.
        hours: Of a month, by the price book.
    """
    record = need.profile.record
    stated = need.monthly.read if side == "read" else need.monthly.written
    if stated is not None:
        return Moved(stated, Decimal(-(-stated // record)))
    rate, iops = getattr(need, side), getattr(need, f"{side}_iops")
    found = [(Decimal(repr(rate)) / record, amount(side, rate))] if rate is not None else []
    found += [(Decimal(repr(iops)), f"{iops:,.0f} {side}s/s")] if iops is not None else []
    if not found:
        return Moved(0, Decimal(0))
    each, words = max(found)
    seconds = EXACT.multiply(EXACT.multiply(hours, Decimal(HOUR)), need.duty)
    count = EXACT.multiply(each, seconds)
    size = EXACT.multiply(count, Decimal(record)).to_integral_value(ROUND_CEILING, EXACT)
    return Moved(min(int(size), MOST_BYTES), count.to_integral_value(ROUND_CEILING, EXACT), words)


def active_share(need: Need) -> Decimal:
    """Share of the data that is used in a month: as stated, else no more than is read; cold data are not used."""
    if need.active is not None:
        return need.active
    if need.monthly.read is not None:
        return min(Decimal(1), EXACT.divide(Decimal(need.monthly.read), Decimal(need.capacity)))
    return Decimal(0) if need.profile.cold else Decimal(1)


def rare_share(design: Design) -> Decimal:
    """Share of the bytes in a class for cold data; 0 if there is none."""
    service = design.service
    found: Decimal = getattr(service, "cold_share", None) or getattr(service, "infrequent", None) or Decimal(0)
    return found


def cold_reads(need: Need, rare: Decimal) -> Decimal:
    """Share of the reads that go to a class for cold data in which `rare` of the bytes lie.

    What is said to be used lies outside it as far as there is room; of the rest (active - (1 - rare)) / active is read
    from it. Of a need that does not say what is used, reads may hit any of the data.
    """
    active = need.active
    if not active:
        return rare
    return max(Decimal(0), EXACT.divide(EXACT.subtract(active, 1 - rare), active))


@cache
def _filled(growth: Decimal, months: int) -> Decimal:
    """Average of what is stored, as a share of what is stored in the end: mean of (1 + g)^(month / 12)."""
    if not growth:
        return Decimal(1)
    grown = [EXACT.power(1 + growth, Decimal(2 * month + 1) / 24) for month in range(months)]
    end = EXACT.power(1 + growth, Decimal(months) / 12)
    return min(Decimal(1), sum(grown, Decimal(0)) / months / end)


def _kept_days(need: Need) -> int:
    """Days that bytes are kept: as long as the need lasts, or until what is written has replaced them."""
    months = Decimal(need.months)
    if need.monthly.written and not need.growth_per_year:
        months = min(months, EXACT.divide(Decimal(need.capacity), Decimal(need.monthly.written)))
    return max(1, int(months * 365 / 12))


def use_of(need: Need, design: Design, hours: Decimal, rare: Decimal = Decimal(0), provider: str | None = None) -> Use:
    """What the need's traffic of a month means for a design: requests of one record each.

    Args:
        need: What is moved, kept and worked on.
        design: Whose service says what a request costs.
        hours: Of a month, by the price book.
        rare: Share of the bytes in a class for cold data.
        provider: Of the design.
    """
    read, written, record = moved(need, "read", hours), moved(need, "write", hours), need.profile.record
    reads, writes = read.operations, written.operations
    if isinstance(design.service, DynamoDb):
        kind = catalog().table("dynamodb")
        reads, writes = reads * int(kind.read_units(record)), writes * kind.write_units(record)
    return Use(
        duty=need.duty,
        egress=need.monthly.egress,
        zone_traffic=need.monthly.zone,
        gets=read.operations,
        puts=written.operations,
        retrieved=read.moved,
        written=written.moved,
        table_reads=reads,
        table_writes=writes,
        volume_requests=read.operations + written.operations,
        snapshots=need.snapshots,
        cold_reads=cold_reads(need, rare) if rare else Decimal(0),
        object_size=record if need.access == "object" else 0,
        kept_days=_kept_days(need),
        filled=_filled(need.growth_per_year, need.months),
        deleted_when_off=need.data == "scratch",
        people=next((hours for name, hours in need.people.items() if name == provider), Decimal(0)),
    )


def paid_by_request(design: Design) -> bool:
    """Reading and writing cost money, so that the bill depends on how much of it there is."""
    service = design.service
    return (
        isinstance(service, S3)
        or (isinstance(service, DynamoDb) and service.mode == "on-demand")
        or (isinstance(service, Efs) and service.type == "efs-elastic")
        or (isinstance(service, Managed) and catalog().managed(service.type).by_request)
        or any(group.volumes is not None and group.volumes.type == "standard" for group in design.servers)
    )


def sides_of(dimension: str, item: str) -> frozenset[Side]:
    """Whose traffic a line of a bill counts: none, reads, writes or both."""
    if dimension == "volume-requests":
        return frozenset({"read", "write"})
    if dimension == "object-retrieval":
        return frozenset({"read"})
    if dimension in ("object-requests", "table-requests", "filesystem-access", "filesystem-requests"):
        return frozenset({"read"}) if item.endswith(("get", "read")) else frozenset({"write"})
    return frozenset()


def follows_words(need: Need, hours: Decimal) -> str:
    """What follows from the rates, in words; empty if `monthly` states all, or there are no rates."""
    words = []
    for side, done in (("read", "read"), ("write", "written")):
        found = moved(need, "read" if side == "read" else "write", hours)
        if found.rate:
            operations = found.rate.endswith("s/s")
            what = (
                f"{found.operations:,.0f} operations, {about_size(found.moved)}" if operations else _large(found.moved)
            )
            words.append((f"{what} {done}", found.rate, done))
    if not words:
        return ""
    time = "all the time" if need.duty == 1 else f"{percent(need.duty)} of the time"
    keys = " and ".join(f"`monthly.{done}`" for _, _, done in words)
    whats, rates = (" and ".join(each[place] for each in words) for place in (0, 1))
    less = "they are" if len(words) > 1 else "it is"
    return f"{whats} a month follow from {rates} {time}; state {keys} if {less} less"


def _large(size: int) -> str:
    return f"{size / 10**12:,.0f} TB" if size >= 10**15 else about_size(size)
