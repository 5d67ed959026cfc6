"""What can be rented: instances, volumes, file systems, object stores and tables, as their providers specify them.

Rates are bytes per second, sizes bytes, times seconds. None means that the provider does not specify the value.
"""

import re
from typing import Literal

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.money.catalog_entry import CatalogEntry, Count, Rate, Size
from assay.model.money.filesystems import (
    AnyFileSystem,
    EfsBursting,
    EfsType,
    FileSystemLimits,
    FileSystemType,
    LustreType,
    efs_bursting,
    filesystem_limits,
    fsx_lustre_rate,
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
    "CatalogEntry",
    "CreditVolume",
    "EfsBursting",
    "EfsType",
    "FileSystemLimits",
    "FileSystemType",
    "Instance",
    "InstanceDisks",
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
    "fsx_lustre_rate",
    "volume_limits",
]


def family_of(name: str) -> str:
    """Return an instance type's family: `i3en` (i3en.24xlarge), `c3` (c3-standard-22), `Lsv3` (Standard_L8s_v3)."""
    azure = re.fullmatch(r"Standard_([A-Z]+)\d+([a-z]*)_v(\d+)", name)
    return f"{azure[1]}{azure[2]}v{azure[3]}" if azure else re.split(r"[.-]", name)[0]


class InstanceDisks(Frozen):
    """Identical disks inside an instance; their data is lost when the instance stops.

    Attributes:
        size: Bytes of each disk.
    """

    count: int = Field(ge=1)
    size: Size
    kind: Literal["nvme", "ssd", "hdd"]


class Instance(CatalogEntry):
    """A type of virtual machine.

    Attributes:
        memory: Bytes of memory.
        network_baseline: Sustained bytes per second, each way; None if not stated.
        network_burst: Highest rate for a limited time, by saved credits; its duration is not published.
        network_words: The network rate as the provider prints it, such as `Up to 10 Gigabit`.
        ebs_baseline: Sustained bytes per second to and from volumes; None: volumes share the network, or unknown.
        ebs_burst: Highest rate for a limited time: at least 30 minutes once in 24 hours (`ebs_burst_seconds`).
        ebs_burst_seconds: Duration of the burst; None if burst and baseline are equal.
    """

    vcpus: int = Field(ge=1)
    memory: Size
    disks: tuple[InstanceDisks, ...] = ()
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
        """Family of the type; see `family_of`."""
        return family_of(self.name)

    @property
    def disk_bytes(self) -> int:
        """Bytes of all local disks together."""
        return sum(disks.count * disks.size for disks in self.disks)


class ObjectClass(CatalogEntry):
    """A storage class of an object store.

    Attributes:
        zones: Fewest availability zones that hold each object.
        nines: Number of nines of the durability in a year: 11 is 99.999999999 %.
        availability: Percent of the time, as designed for or typical.
        sla_availability: Availability in percent of the service level agreement; below it the provider pays back. None:
            no agreement, or unknown.
        sla_source: Source of `sla_availability`; empty: `source`.
        min_days: Fewest days that are charged.
        min_object_size: Fewest bytes that are charged for each object.
        retrieval: Time to the first byte, in words.
        retrieval_seconds: Longest time to the first byte; None if only words are stated.
        retrieval_free: Reading is not charged by the byte.
        restored: Objects must be restored before they are read, and each request to restore one is charged: the price
            book's item is the class with the suffix `restore`.
        overhead: Bytes that are charged for each object in addition to its own.
        index: Bytes of the overhead that are charged at the price of `index_class`: names of archived objects.
        transition_suffix: How a lifecycle rule's move of an object into the class is charged: the price book's item is
            the class with this suffix.
        label: Common name of the store.
        writes_per_prefix: PUT, COPY, POST or DELETE requests per second for each prefix.
        reads_per_prefix: GET or HEAD requests per second for each prefix.
        raised: How more requests per second are had, in words; empty: by prefixes only.
        has_second_region: The class keeps a copy in another region; bytes that are copied there are charged.
    """

    zones: int = Field(ge=1)
    nines: int = Field(ge=0, le=20)
    availability: float = Field(gt=0, le=100)
    sla_availability: float | None = Field(None, gt=0, le=100)
    sla_source: str = ""
    min_days: Count
    min_object_size: Size
    retrieval: str
    retrieval_seconds: float | None = None
    retrieval_free: bool = False
    restored: bool = False
    overhead: Size = 0
    index: Size = 0
    index_class: str = ""
    transition_suffix: Literal["put", "transition"] = "put"
    label: str = "S3"
    provider: Provider = "aws"
    conditions: tuple[str, ...] = ()
    writes_per_prefix: Count
    reads_per_prefix: Count
    raised: str = ""
    has_second_region: bool = False


class TableType(CatalogEntry):
    """A table of keys and items: the size of its read and write units, and the limits of one partition.

    Attributes:
        zones: Availability zones that hold each item.
        read_unit: Bytes that one read unit reads each second, strongly consistent.
        write_unit: Bytes that one write unit writes each second.
        eventual_factor: Eventually consistent reads that one read unit pays for.
        transaction_factor: Units of an operation in a transaction, for each unit of a plain one.
        partition_reads: Most read units per second of one partition.
        partition_writes: Most write units per second of one partition.
        partition_size: Most bytes of one partition.
        largest_item: Most bytes of one item.
        table_reads: Most read units per second of a table at the default quota.
        table_writes: Most write units per second of a table at the default quota.
        raised: How more than the default quota is had, in words; empty: it is not.
        burst_seconds: Seconds of unused provisioned units that are saved for a burst.
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
    raised: str = ""
    burst_seconds: float | None = None

    def read_units(self, item: int, consistent: bool = True) -> float:
        """Return the read units of one read per second: ceil(item bytes / read unit), at least 1.

        An eventually consistent read takes 1 / `eventual_factor` of that. Source: `source` of the entry.
        """
        return max(1, -(-item // self.read_unit)) / (1 if consistent else self.eventual_factor)

    def write_units(self, item: int) -> int:
        """Return the write units of one write per second: ceil(item bytes / write unit), at least 1.

        Source: `source` of the entry.
        """
        return max(1, -(-item // self.write_unit))
