"""What can be rented: instances, volumes, file systems, object storage and tables, as their provider states them.

Rates are bytes per second, sizes bytes, times seconds. None means that the provider does not say.
"""

import re
from typing import Literal

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.money.entry import Count, Entry, Rate, Size
from assay.model.money.filesystems import (
    AnyFileSystem,
    EfsBursting,
    EfsType,
    FileSystemLimits,
    FileSystemType,
    LustreType,
    efs_bursting,
    filesystem_limits,
    fsx_lustre,
)
from assay.model.money.managed import ManagedType, Provider
from assay.model.money.volumes import (
    AnyVolume,
    CreditVolume,
    PlainVolume,
    ProvisionedVolume,
    StreamVolume,
    VolumeLimits,
    VolumeType,
    volume_limits,
)

__all__ = [
    "AnyFileSystem",
    "AnyVolume",
    "CreditVolume",
    "EfsBursting",
    "EfsType",
    "Entry",
    "FileSystemLimits",
    "FileSystemType",
    "Instance",
    "LocalDisks",
    "LustreType",
    "ManagedType",
    "ObjectClass",
    "PlainVolume",
    "ProvisionedVolume",
    "StreamVolume",
    "TableType",
    "VolumeLimits",
    "VolumeType",
    "efs_bursting",
    "family_of",
    "filesystem_limits",
    "fsx_lustre",
    "volume_limits",
]


def family_of(name: str) -> str:
    """The family of an instance type: `i3en` of i3en.24xlarge, `c3` of c3-standard-22, `Lsv3` of Standard_L8s_v3."""
    azure = re.fullmatch(r"Standard_([A-Z]+)\d+([a-z]*)_v(\d+)", name)
    return f"{azure[1]}{azure[2]}v{azure[3]}" if azure else re.split(r"[.-]", name)[0]


class LocalDisks(Frozen):
    """Disks of one kind inside an instance; their data goes when the instance stops.

    Attributes:
        size: Bytes of each.
    """

    count: int = Field(ge=1)
    size: Size
    kind: Literal["nvme", "ssd", "hdd"]


class Instance(Entry):
    """A type of virtual machine.

    Attributes:
        memory: Bytes.
        network_baseline: Bytes per second, each way, that it keeps; None if not stated.
        network_burst: The most for a while, of saved credits; how long is not published.
        network_words: As the provider prints it, such as `Up to 10 Gigabit`.
        ebs_baseline: Bytes per second to and from volumes that it keeps; None: volumes share the network, or unknown.
        ebs_burst: The most for a while; with a burst, at least 30 minutes once in 24 hours (`ebs_burst_seconds`).
        ebs_burst_seconds: How long the burst lasts; None if burst and baseline are the same.
    """

    vcpus: int = Field(ge=1)
    memory: Size
    disks: tuple[LocalDisks, ...] = ()
    network_baseline: Rate | None = None
    network_burst: Rate | None = None
    network_words: str = ""
    ebs_baseline: Rate | None = None
    ebs_burst: Rate | None = None
    ebs_iops_baseline: Count | None = None
    ebs_iops_burst: Count | None = None
    ebs_burst_seconds: float | None = None

    @property
    def family(self) -> str:
        """As `family_of` its name."""
        return family_of(self.name)

    @property
    def disk_bytes(self) -> int:
        """Bytes of all its disks together."""
        return sum(disks.count * disks.size for disks in self.disks)


class ObjectClass(Entry):
    """A class of object storage.

    Attributes:
        zones: Availability zones that hold each object, at least.
        nines: Durability in a year as a count of nines: 11 is 99.999999999 %.
        availability: Share of time, in percent, that it is designed for, or that is typical.
        promised: Percent of the time below which the provider pays back; None: nothing is promised, or it is not known.
        promised_source: Who says so; empty: `source`.
        least_days: Days that are charged at least.
        least_object: Bytes that are charged at least of each object.
        retrieval: How long the first byte takes, in words.
        retrieval_seconds: The same as a number, at the most; None if only words are stated.
        retrieval_free: Reading costs nothing by the byte.
        overhead: Bytes that are charged besides those of each object.
        moved_as: As which request a rule that moves an object into the class is paid for: the item is the class with
            this.
        label: As people call the store.
        writes_per_prefix: PUT, COPY, POST or DELETE requests per second of each prefix.
        reads_per_prefix: GET or HEAD requests per second of each prefix.
    """

    zones: int = Field(ge=1)
    nines: int = Field(ge=0, le=20)
    availability: float = Field(gt=0, le=100)
    promised: float | None = Field(None, gt=0, le=100)
    promised_source: str = ""
    least_days: Count
    least_object: Size
    retrieval: str
    retrieval_seconds: float | None = None
    retrieval_free: bool = False
    overhead: Size = 0
    moved_as: Literal["put", "transition"] = "put"
    label: str = "S3"
    provider: Provider = "aws"
    conditions: tuple[str, ...] = ()
    writes_per_prefix: Count
    reads_per_prefix: Count


class TableType(Entry):
    """A table of keys and items: what a unit of reading and writing is, and what one partition can do.

    Attributes:
        zones: Availability zones that hold each item.
        read_unit: Bytes that one read unit reads once a second, strongly consistent.
        write_unit: Bytes that one write unit writes once a second.
        eventual_factor: Eventually consistent reads of one read unit.
        transaction_factor: Units that an operation in a transaction takes for each plain one.
        partition_reads: Read units per second of one partition at most.
        partition_writes: Write units per second of one partition at most.
        partition_size: Bytes of one partition at most.
        largest_item: Bytes of one item at most.
        table_reads: Read units per second of a table until a higher quota is granted.
        table_writes: Write units likewise.
        burst_seconds: Seconds of unused provisioned units that are kept for a burst.
    """

    media: Literal["ssd"] = "ssd"
    zones: int = Field(ge=1)
    read_unit: int = Field(gt=0)
    write_unit: int = Field(gt=0)
    eventual_factor: int = Field(ge=1)
    transaction_factor: int = Field(ge=1)
    partition_reads: int = Field(gt=0)
    partition_writes: int = Field(gt=0)
    partition_size: Size
    largest_item: Size
    table_reads: int = Field(gt=0)
    table_writes: int = Field(gt=0)
    burst_seconds: float | None = None

    def read_units(self, item: int, consistent: bool = True) -> float:
        """Read units that one read per second of an item of `item` bytes takes: ceil(item / read unit), at least 1.

        Half of that if eventually consistent. Source: the entry's own.
        """
        return max(1, -(-item // self.read_unit)) / (1 if consistent else self.eventual_factor)

    def write_units(self, item: int) -> int:
        """Write units that one write per second of an item of `item` bytes takes: ceil(item / write unit), at least 1.

        Source: the entry's own.
        """
        return max(1, -(-item // self.write_unit))
