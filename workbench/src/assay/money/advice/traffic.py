"""What is read and written in a month: as the need states it, or as its rates make it."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Literal

from assay.model.money.amount import EXACT
from assay.model.money.design import S3, Design, DynamoDb, Efs
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


def use_of(need: Need, design: Design, hours: Decimal) -> Use:
    """What the need's traffic of a month means for a design: requests of one record each."""
    read, written, record = moved(need, "read", hours), moved(need, "write", hours), need.profile.record
    reads, writes = read.operations, written.operations
    if isinstance(design.service, DynamoDb):
        kind = catalog().table("dynamodb")
        reads, writes = reads * int(kind.read_units(record)), writes * kind.write_units(record)
    return Use(
        duty=need.duty,
        egress=need.monthly.egress,
        gets=read.operations,
        puts=written.operations,
        retrieved=read.moved,
        written=written.moved,
        table_reads=reads,
        table_writes=writes,
        volume_requests=read.operations + written.operations,
    )


def paid_by_request(design: Design) -> bool:
    """Reading and writing cost money, so that the bill depends on how much of it there is."""
    service = design.service
    return (
        isinstance(service, S3)
        or (isinstance(service, DynamoDb) and service.mode == "on-demand")
        or (isinstance(service, Efs) and service.type == "efs-elastic")
        or any(group.volumes is not None and group.volumes.type == "standard" for group in design.servers)
    )


def sides_of(dimension: str, item: str) -> frozenset[Side]:
    """Whose traffic a line of a bill counts: none, reads, writes or both."""
    if dimension == "volume-requests":
        return frozenset({"read", "write"})
    if dimension == "object-retrieval":
        return frozenset({"read"})
    if dimension in ("object-requests", "table-requests", "filesystem-access"):
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
