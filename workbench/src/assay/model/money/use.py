"""Which design a study or need means, and how it is used."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from assay.model.frozen import Frozen
from assay.model.money.amount import Amount, Share, parse_decimal
from assay.model.study.axis import fault, parse_validator
from assay.model.units import display_value, parse_size

MAX_JOB_HOURS, MAX_USED_BYTES = Decimal(10**6), 10**30
"""Bounds of the hours of a job and of the bytes stored or moved: more is a typing error."""


def _hours(written: object) -> Decimal:
    value = parse_decimal(written)
    if value > MAX_JOB_HOURS:
        raise fault(f"{display_value(written)} is more than a century", f"a job takes {MAX_JOB_HOURS} hours or less")
    return value


def _bytes(value: int) -> int:
    if value > MAX_USED_BYTES:
        raise fault("the size is too large", "write sizes such as 64KiB, 1MB, 2PB")
    return value


Hours = Annotated[Decimal, BeforeValidator(_hours)]


def _size(written: object) -> int:
    """Read a size; `KB` is 10^3 bytes as `MB` is 10^6: nothing is measured by it."""
    return parse_size(written.replace("KB", "kB") if isinstance(written, str) else written)


Size = Annotated[int, BeforeValidator(parse_validator(_size))]
UsedSize = Annotated[Size, AfterValidator(_bytes)]

Values = dict[str, Any]
"""Parameter -> value, for those that differ from the design's defaults."""


def yaml_text(value: object) -> str:
    """Return the value of a parameter as YAML has it: `null`, `true`, `5TB`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


class DesignChoice(Frozen):
    """A design with values for its parameters, as a study or need names it.

    Attributes:
        design: Name of a design that comes with Assay, or a file.
        set: Parameter -> value; the others keep the design's defaults.
    """

    design: str = Field(min_length=1)
    set: Values = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """Design and parameters in one line: `nfs-volumes instance=c4.large capacity=5TB`."""
        return " ".join([self.design, *(f"{key}={yaml_text(value)}" for key, value in self.set.items())])


class Use(Frozen):
    """How a design is used: the amounts that are charged by use.

    Attributes:
        duty: Share of the time that it is switched on.
        egress: Bytes in a month that leave the provider.
        egress_way: Item of the book's `transfer-out` rows; None: the design's leased line, else the internet.
        zone_traffic: Bytes a month between zones.
        puts, gets: Requests a month.
        retrieved: Bytes in a month read from a class that charges for it, or from an elastic file system.
        written: Bytes a month written, which elastic file systems and copies in another region charge for.
        distinct_writes: Share of them that is not written again in the month, so that it may get cold.
        table_reads, table_writes: Requests a month of a table on demand.
        volume_requests: Requests a month to volumes that charge for them.
        snapshots: Bytes of stored snapshots or backups.
        cold_reads: Share of the reads that access data in a class for cold data.
        object_size: Bytes of an object, for classes that charge a minimum size; 0: objects are large.
        kept_days: Days that bytes are stored, for classes that charge a minimum time; 0: long.
        filled: Average rented capacity as a share of the final one, while the data grows.
        deleted_when_off: What is rented is deleted while switched off, including the data.
        admin_hours: Hours of administration in a month.
        client_ports: Ports that clients use of the switches of own hardware.
        job_bytes, job_hours: Bytes and hours of one job, for the cost of a job.
        job_egress: Bytes of each job that leave the provider.
    """

    duty: Share = Decimal(1)
    egress: UsedSize = 0
    egress_way: str | None = None
    zone_traffic: UsedSize = 0
    puts: Amount = Decimal(0)
    gets: Amount = Decimal(0)
    retrieved: UsedSize = 0
    written: UsedSize = 0
    distinct_writes: Share = Decimal(1)
    table_reads: Amount = Decimal(0)
    table_writes: Amount = Decimal(0)
    volume_requests: Amount = Decimal(0)
    snapshots: UsedSize = 0
    cold_reads: Share = Decimal(0)
    object_size: UsedSize = 0
    kept_days: int = Field(0, ge=0)
    filled: Share = Decimal(1)
    deleted_when_off: bool = False
    admin_hours: Amount = Decimal(0)
    client_ports: int = Field(0, ge=0, le=1_000_000)
    job_bytes: UsedSize = 0
    job_hours: Hours = Decimal(0)
    job_egress: UsedSize = 0
