"""Which design is meant, and how it is used: what a study or a need says of it."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from assay.model.frozen import Frozen
from assay.model.money.amount import Amount, Share, decimal
from assay.model.study.axis import fault, reading
from assay.model.units import parse_size, shown

MOST_HOURS, MOST_BYTES = Decimal(10**6), 10**30
"""Of a job, and of what is stored or moved: more is a slip."""


def _hours(written: object) -> Decimal:
    value = decimal(written)
    if value > MOST_HOURS:
        raise fault(f"{shown(written)} is more than a century", f"a job takes {MOST_HOURS} hours or less")
    return value


def _bytes(value: int) -> int:
    if value > MOST_BYTES:
        raise fault("these are more bytes than can be", "write sizes such as 64KiB, 1MB, 2PB")
    return value


Hours = Annotated[Decimal, BeforeValidator(_hours)]
Size = Annotated[int, BeforeValidator(reading(parse_size))]
UsedSize = Annotated[Size, AfterValidator(_bytes)]

Values = dict[str, Any]
"""Parameter -> value; only those that differ from the design's own."""


def as_written(value: object) -> str:
    """A value of a parameter as it is in YAML: `null`, `true`, `5TB`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


class Chosen(Frozen):
    """A design with values for its parameters, as a study or need names it.

    Attributes:
        design: Name of a shipped design, or a file.
        set: Parameter -> value; the design's own for the rest.
    """

    design: str = Field(min_length=1)
    set: Values = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """`nfs-volumes instance=c4.large capacity=5TB`."""
        return " ".join([self.design, *(f"{key}={as_written(value)}" for key, value in self.set.items())])


class Use(Frozen):
    """How a design is used: what is paid for by use.

    Attributes:
        duty: Share of the time that it is switched on.
        egress: Bytes a month that leave the provider, by `egress_way` as in the book's `transfer-out` rows.
        zone_traffic: Bytes a month between zones.
        puts, gets: Requests a month.
        retrieved: Bytes a month read from a class that charges for it, or through an elastic file system.
        written: Bytes a month written to an elastic file system.
        table_reads, table_writes: Requests a month of a table on demand.
        volume_requests: Requests a month to volumes that charge for them.
        snapshots: Bytes of snapshots or backups that are kept.
        cold_reads: Share of the reads that go to what lies in a class for cold data.
        object_size: Bytes of an object, where a class charges for more; 0: objects are large.
        kept_days: How long bytes are kept, where a class charges for more days; 0: long.
        filled: Share of the rented capacity of the end that is rented on average, while the data grow.
        deleted_when_off: What is rented is deleted while it is switched off, with the data in it.
        people: Hours of administration a month.
        job_bytes, job_hours: UsedSize and length of one job, for the cost of a job.
        job_egress: Bytes of each job that leave the provider.
    """

    duty: Share = Decimal(1)
    egress: UsedSize = 0
    egress_way: str = "internet"
    zone_traffic: UsedSize = 0
    puts: Amount = Decimal(0)
    gets: Amount = Decimal(0)
    retrieved: UsedSize = 0
    written: UsedSize = 0
    table_reads: Amount = Decimal(0)
    table_writes: Amount = Decimal(0)
    volume_requests: Amount = Decimal(0)
    snapshots: UsedSize = 0
    cold_reads: Share = Decimal(0)
    object_size: UsedSize = 0
    kept_days: int = Field(0, ge=0)
    filled: Share = Decimal(1)
    deleted_when_off: bool = False
    people: Amount = Decimal(0)
    job_bytes: UsedSize = 0
    job_hours: Hours = Decimal(0)
    job_egress: UsedSize = 0
