"""Storage options that can be built: servers, services, own hardware and links, and how they are used.

A design file has parameters; `assay.money.cost.designs` inserts their values before the file is read as a `Design`.
"""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from assay.model.frozen import Frozen
from assay.model.money.amount import Amount, Share, parse_decimal
from assay.model.money.managed import Provider
from assay.model.money.use import Size
from assay.model.study.axis import fault, parse_validator
from assay.model.units import display_value, parse_rate, parse_throughput


def _years(written: object) -> Decimal:
    value = parse_decimal(written)
    months = value * 12
    if not 1 <= months <= 600 or months != months.to_integral_value():
        hint = "write 5, 2.5 or 0.25: a month to 50 years"
        raise fault(f"{display_value(written)} years is not a whole number of months", hint)
    return value


Years = Annotated[Decimal, BeforeValidator(_years)]
Throughput = Annotated[
    float, BeforeValidator(parse_validator(parse_throughput, float)), Field(ge=0, allow_inf_nan=False)
]
Rate = Annotated[float, BeforeValidator(parse_validator(parse_rate, float)), Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=100_000)]

_CODE = re.compile(r"([1-9][0-9]?)\+([1-9][0-9]?)")

Layout = Literal["single", "lvm", "raid0", "raid1", "raid10", "raid5", "raid6"]
"""How disks are combined. lvm: concatenated, so that a stream has the rate of one disk."""

Durability = Literal["scratch", "host", "zone", "region", "site", "multi-region"]
DURABILITIES: tuple[Durability, ...] = ("scratch", "host", "site", "zone", "region", "multi-region")
"""Classes of what the data survives, weakest first: scratch: nothing; host: a disk failure or a stop of the instance;
site: the loss of a controller or node of an own array; zone: the loss of hosts and disks within a zone, by replication;
region: the loss of a whole zone; multi-region: the loss of a whole region, but for what its copy lacks yet."""

Access = Literal["file", "block", "object", "table"]
Role = Literal["storage", "metadata", "management", "client"]


class ServerVolumes(Frozen):
    """Network volumes of each server.

    Attributes:
        type: Type in the catalogue: gp3, st1, ...
        capacity: Bytes of all volumes of a server together.
        count: Number of volumes; auto: the fewest that the type's largest size allows.
        iops: Provisioned IOPS of each volume, if the type has them.
        throughput: Provisioned bytes per second of each volume, if the type has them.
    """

    type: str = Field(min_length=1)
    capacity: Size = Field(gt=0)
    count: Count | Literal["auto"] = "auto"
    layout: Layout = "single"
    iops: Annotated[int, Field(ge=1)] | None = None
    throughput: Throughput | None = None


class Rates(Frozen):
    """Highest rates of something, where known.

    Attributes:
        read, write: Bytes per second.
        read_iops, write_iops: Operations per second.
        source: Source of these rates.
    """

    read: Throughput | None = None
    write: Throughput | None = None
    read_iops: Rate | None = None
    write_iops: Rate | None = None
    source: str = ""


class LocalDisks(Rates):
    """The disks inside each server's instance, which the price of the instance includes.

    The rates are for all disks of a server together; the catalogue does not state them.

    Attributes:
        layout: How the disks are combined.
    """

    layout: Layout = "raid0"


class Servers(Frozen):
    """Identical rented machines.

    Attributes:
        role: Only `storage` servers hold data and transfer it.
    """

    role: Role
    instance: str = Field(min_length=1)
    count: Count = 1
    volumes: ServerVolumes | None = None
    local: LocalDisks | None = None


class Efs(Frozen):
    """An EFS file system.

    Attributes:
        type: Type in the catalogue: efs-bursting, efs-provisioned, efs-elastic.
        stored: Bytes stored, which are billed.
        infrequent: Share of the bytes in the infrequent-access class, which adds nothing to the rate.
        provisioned: Bytes per second, for efs-provisioned.
    """

    kind: Literal["efs"]
    type: str = "efs-bursting"
    stored: Size = Field(gt=0)
    zones: Literal["regional", "one-zone"] = "regional"
    provisioned: Throughput | None = None
    infrequent: Share = Decimal(0)

    @property
    def frequent(self) -> int:
        """Bytes in the Standard or One Zone class, from which the rate follows."""
        return self.stored - int(self.stored * self.infrequent)


class FsxLustre(Frozen):
    """An FSx for Lustre file system.

    Attributes:
        type: Type in the catalogue.
        capacity: Bytes provisioned, which are billed.
    """

    kind: Literal["fsx-lustre"]
    type: str
    capacity: Size = Field(gt=0)


class RequestBilling(NamedTuple):
    """How requests to a service are billed.

    Attributes:
        dimension: Dimension of their rows in a price book.
        fields: Fields of `Use` that count them.
    """

    dimension: str
    fields: tuple[str, str]


class S3(Frozen):
    """A bucket of S3 or of another object store.

    Attributes:
        storage_class: Class in the catalogue: s3-standard, ...
        prefixes: Key prefixes that requests are spread over; each has its own request limits.
        cold_class: Class into which a lifecycle rule moves unused objects; None: all stay in `storage_class`.
        cold_share: Share of the bytes in `cold_class`.
        copy_class: Class of the copy that the store replicates to a bucket in another region; None: no copy.
    """

    kind: Literal["s3", "object"]
    stored: Size = Field(gt=0)
    storage_class: str = "s3-standard"
    prefixes: Count = 1
    cold_class: str | None = None
    cold_share: Share = Decimal(0)
    copy_class: str | None = None

    @model_validator(mode="after")
    def _cold(self) -> "S3":
        if self.cold_share and self.cold_class is None:
            raise fault("`cold_share` needs `cold_class`", "write `cold_class`", "cold_share")
        return self

    @property
    def requests(self) -> RequestBilling | None:
        """How its requests are billed."""
        return RequestBilling("object-requests", ("puts", "gets"))


class DynamoDb(Frozen):
    """A DynamoDB table.

    Attributes:
        read_units, write_units: Provisioned units; only with `mode: provisioned`.
        item: Bytes of an item.
    """

    kind: Literal["dynamodb"]
    stored: Size = Field(gt=0)
    mode: Literal["on-demand", "provisioned"] = "on-demand"
    read_units: Annotated[int, Field(ge=1)] | None = None
    write_units: Annotated[int, Field(ge=1)] | None = None
    item: Size = Field(1024, gt=0)

    @model_validator(mode="after")
    def _units(self) -> "DynamoDb":
        provisioned = self.mode == "provisioned"
        if provisioned != (self.read_units is not None) or provisioned != (self.write_units is not None):
            raise fault(
                "`read_units` and `write_units` go with `mode: provisioned`", "write all three, or none", "mode"
            )
        return self

    @property
    def requests(self) -> RequestBilling | None:
        """How its requests are billed; None if provisioned units are billed by the hour instead."""
        return RequestBilling("table-requests", ("table_reads", "table_writes")) if self.mode == "on-demand" else None


class Managed(Frozen):
    """A managed service; its catalogue entry states its limits and its billing.

    Attributes:
        type: Type in the catalogue.
        capacity: Bytes provisioned or stored.
        throughput: Provisioned bytes per second; None: the included ones.
        iops: Provisioned operations per second; None: the included ones.
        infrequent: Share of the bytes in its class for rarely read data.
    """

    kind: Literal["managed"]
    type: str = Field(min_length=1)
    capacity: Size = Field(gt=0)
    throughput: Throughput | None = None
    iops: Annotated[int, Field(ge=1)] | None = None
    infrequent: Share = Decimal(0)


Service = Annotated[Efs | FsxLustre | S3 | DynamoDb | Managed, Field(discriminator="kind")]


class SmallSwitch(Frozen):
    """A switch that replaces a larger one where its ports are enough.

    Attributes:
        item: Item of a `purchase` row in the price book.
        ports: Number of ports.
        watts: Power, cooling included.
    """

    item: str = Field(min_length=1)
    ports: Annotated[int, Field(ge=2, le=10_000)]
    watts: Amount = Decimal(0)


class Switch(Frozen):
    """The ports of a network switch.

    Attributes:
        ports: Number of ports.
        rate: Bytes per second of each port, each way; written in bits: `25Gb/s`.
        smaller: Switches with fewer ports of this rate, which are bought instead where they are enough.
    """

    ports: Annotated[int, Field(ge=2, le=10_000)]
    rate: Throughput = Field(gt=0)
    smaller: tuple[SmallSwitch, ...] = ()


class Hardware(Rates):
    """Own hardware. The rates are for each piece.

    Attributes:
        item: Item of a `purchase` row in the price book.
        shared: Reads and writes count against one sum, as on disks and controllers. False: each way has the rate, as on
            a full-duplex link, which also carries what servers copy to each other. None: shared if it stores data.
        ports: Ports of each piece that are connected to the design's switches.
        switch: What the piece offers as a switch; `count` is then the least: the bill has as many as all ports need.
        usable: Bytes that each piece stores after its own protection.
        group: Pieces of each RAID group; `usable` and `write` are without its parity then.
        parity: How many of them hold parity, or the second copy of a mirror.
        yearly_failures: Share of such pieces that fail in a year, and lose what they store; None: not known.
        watts: Power of each piece, cooling included.
        rack_units: Height of each piece.
        years: Time in use; whole months.
        support: Item of a `support` row in the price book, paid for each piece and month.
        admin_hours: Hours of work in a month for each piece.
        max_parts: Most copies, or parts of an erasure code, of one byte that a single piece may hold, so that its loss
            is survived; there must be enough pieces. None: any number.
    """

    item: str = Field(min_length=1)
    count: Count = 1
    usable: Size = 0
    group: Count = 1
    parity: Annotated[int, Field(ge=0, le=1000)] = 0
    yearly_failures: Share | None = None
    shared: bool | None = None
    ports: Annotated[int, Field(ge=0, le=1000)] = 0
    switch: Switch | None = None
    watts: Amount = Decimal(0)
    rack_units: Amount = Decimal(0)
    years: Years = Decimal(5)
    support: str | None = None
    admin_hours: Amount = Decimal(0)
    max_parts: Count | None = None

    @model_validator(mode="after")
    def _check_parity(self) -> "Hardware":
        if self.parity >= self.group:
            problem = f"{self.group} of {self.item} cannot hold {self.parity} of parity and data"
            raise fault(problem, f"take at least {self.parity + 1} for each group", "group")
        return self

    @property
    def data_share(self) -> Fraction:
        """Share of the bytes on the piece that are data, not parity of its RAID group."""
        return Fraction(self.group - self.parity, self.group)

    @property
    def is_shared(self) -> bool:
        """Whether reads and writes count against one sum."""
        return self.usable > 0 if self.shared is None else self.shared


class LeasedLine(Frozen):
    """A leased line between clients and storage.

    Attributes:
        item: Item of a `port` row in the price book.
        rate: Bytes per second of one line, each way; written in bits, as links are sold: `10Gb/s`.
    """

    item: str = Field(min_length=1)
    count: Count = 1
    rate: Throughput


class StatedLimit(Rates):
    """A limit that the catalogue lacks, or a figure that replaces a computed one.

    The rates are for the whole design.

    Attributes:
        layer: What sets the limit: `network`, `disks`, ...; it replaces a computed limit of this name.
    """

    layer: str = Field(min_length=1)
    source: str = Field(min_length=1)


class Design(Frozen):
    """A storage option.

    Attributes:
        family: Kind of storage, such as `nfs`, `beegfs`, `efs`; rules of thumb apply to families.
        access: Interfaces by which programs use it.
        book: Default price book.
        provider: Provider whose prices apply; None: those of any book.
        only_if_named: Advice considers it only if the need names it.
        served: Clients reach it over the network of its servers; false: its data is used on the instance itself.
        copies: How often the file system above the servers stores each byte; writes cross the network as often. `4+2`
            is an erasure code of 4 data and 2 parity parts, stored in `erasure`.
        copied_by: Who sends each byte to all that store it. Servers: a client writes to one, which sends it to the
            others, as Ceph, MinIO and BeeGFS do. Clients: they write all copies themselves.
        usable: Bytes for data, if known; else they are computed.
        overhead: Share of the computed capacity that formatting takes.
        admin_hours: Hours of administration in a month for the whole design.
        availability: Promised percent of the time, by `availability_source`; None: nothing is promised.
        unpriced: Parameter -> why values other than its default have no price.
        conditions: What the user accepts by choosing it, one sentence each.
        survives: What may fail without any loss of data; empty: the failure domain says all.
        failure_domain: What fails as one, and takes its data with it.
        copy_lag_minutes: By how much the copy in another place is behind for the most part, which no provider promises;
            None: a write ends when all copies have it.
    """

    design: str = Field(min_length=1)
    about: str = ""
    family: str = Field(min_length=1)
    access: tuple[Access, ...] = Field(min_length=1)
    book: str | None = None
    provider: Provider | None = None
    only_if_named: bool = False
    servers: tuple[Servers, ...] = ()
    service: Service | None = None
    hardware: tuple[Hardware, ...] = ()
    link: LeasedLine | None = None
    served: bool = True
    copies: Count = 1
    erasure: tuple[Count, Count] | None = None
    copied_by: Literal["servers", "clients"] = "servers"
    usable: Size | None = None
    overhead: Share = Decimal(0)
    admin_hours: Amount = Decimal(0)
    availability: float | None = Field(None, gt=0, le=100)
    availability_source: str = ""
    unpriced: dict[str, str] = Field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    durability: Durability
    survives: str = ""
    failure_domain: str = Field(min_length=1)
    copy_lag_minutes: Count | None = None
    limits: tuple[StatedLimit, ...] = ()
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _code(cls, written: Any) -> Any:
        copies = written.get("copies") if isinstance(written, dict) else None
        if not isinstance(copies, str):
            return written
        found = _CODE.fullmatch(copies.strip())
        if found is None:
            hint = "write a number of copies, or an erasure code such as 4+2"
            raise fault(f"{display_value(copies)} is not a number of copies", hint, "copies")
        return {**written, "copies": 1, "erasure": (int(found[1]), int(found[2]))}

    @model_validator(mode="after")
    def _holds_something(self) -> "Design":
        storing = [group for group in self.servers if group.role == "storage" and (group.volumes or group.local)]
        if not (storing or self.service or any(piece.usable for piece in self.hardware)):
            raise fault(
                "nothing in the design stores data",
                "give a storage server `volumes` or `local` disks, or add a `service` or `hardware` with `usable`",
                "design",
            )
        return self

    @property
    def failures_text(self) -> str:
        """What may fail without any loss of data, and what fails as one."""
        if not self.survives:
            return f"its failure domain: {self.failure_domain}"
        return f"all data survives the loss of {self.survives}; its failure domain: {self.failure_domain}"

    @property
    def storage_factor(self) -> float:
        """Bytes stored for each byte of data: copies x (data + parity) / data of an erasure code."""
        data, parity = self.erasure or (1, 0)
        return self.copies * (data + parity) / data

    @property
    def part_count(self) -> int:
        """Number of copies, or of parts of the erasure code, of each byte."""
        return sum(self.erasure) if self.erasure is not None else self.copies

    @property
    def is_self_run(self) -> bool:
        """Whether its user runs it, on rented servers or own hardware; otherwise a provider does."""
        return bool(self.servers or self.hardware)

    @property
    def is_attached(self) -> bool:
        """Whether it consists of network volumes only, used on the instance that they are attached to: the client."""
        return not self.served and bool(self.servers) and all(g.volumes and not g.local for g in self.servers)

    @property
    def run_servers(self) -> int:
        """Servers that its user runs: rented ones, and own hardware with ports; a client's own host is none."""
        if not self.served or not self.is_self_run:
            return 0
        rented = sum(group.count for group in self.servers if group.role != "client")
        return max(1, rented + sum(piece.count for piece in self.hardware if piece.ports and piece.switch is None))

    @property
    def redundancy(self) -> str:
        """The redundancy in words: `3 copies`, or `erasure code 4+2 (1.5 bytes for each)`."""
        if self.erasure is None:
            return f"{self.copies} copies"
        return f"erasure code {self.erasure[0]}+{self.erasure[1]} ({self.storage_factor:.4g} bytes for each)"


class DesignParameter(Frozen):
    """A parameter of a design.

    Attributes:
        value: Default value.
        choices: Values that advice tries; empty: only `value`.
        scale: A count that advice computes from the need, in addition to `choices`.
        partial: A count of which advice takes the fewest up to each choice that suffice: disks of a server, or of a
            RAID group, that need not be full.
        step: A count is a multiple of this.
        min, max: Bounds of a count.
    """

    value: Any
    choices: tuple[Any, ...] = ()
    scale: bool = False
    partial: bool = False
    step: Annotated[int, Field(ge=1, le=1000)] = 1
    min: Annotated[int, Field(ge=1, le=100_000)] = 1
    max: Annotated[int, Field(ge=1, le=100_000)] | None = None
    about: str = ""
