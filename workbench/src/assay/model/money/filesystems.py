"""Types of rented file systems, and the limits of a file system of a given type and size.

Rates are bytes per second, sizes bytes, times seconds.
"""

from typing import Annotated, Literal

from pydantic import Field

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.money.catalog_entry import GIB, MIB, TIB, CatalogEntry, Count, Rate, Size, format_mib
from assay.model.units import format_size

MB = 10**6

EFS_PER_TIB = 50.0 * MIB
"""Sustained metered bytes per second for each TiB in the Standard class: 50 KiB/s per GiB."""
EFS_BURST_PER_TIB = 100.0 * MIB
"""Metered bytes per second for each TiB in the Standard class while credits last; less than 1 TiB counts as 1 TiB."""
EFS_MIN_RATE = 1.0 * MIB
"""Sustained bytes per second of every file system since 2020-06-30."""
EFS_CREDITS = 2.1 * TIB
"""Bytes of credits of a new file system and of a full bucket up to 1 TiB; above, a full bucket has this much for each
TiB."""


class FileSystemLimits(Frozen):
    """The limits of one file system, whatever its clients.

    Attributes:
        read_baseline, write_baseline: Sustained bytes per second; None if nothing is promised.
        read_burst, write_burst: Highest rate, while credits last or while caches answer.
        read_iops, write_iops: Most operations per second; None if not stated as a number.
        burst_seconds: How long a full bucket lasts at the burst rate; None without a burst or if not published.
        burst_hours_per_day: Hours of each day that the burst can last if the file system is idle otherwise; None
            without a burst or if not published.
        how: The formula with its numbers.
    """

    read_baseline: float | None
    read_burst: float
    write_baseline: float | None
    write_burst: float
    read_iops: int | None
    write_iops: int | None
    burst_seconds: float | None
    burst_hours_per_day: float | None
    how: str


class EfsBursting(Frozen):
    """Rates and credits of EFS in bursting mode, which follow from the bytes in the Standard class.

    Attributes:
        baseline: Metered bytes per second; a written byte is metered once, a read byte as a third since 2021.
        burst: Highest rate while credits last.
        hours_per_day: Hours of each day at the burst rate that the credits of the baseline allow.
        minutes_per_day: The same in minutes.
        credits: Bytes of a full bucket; a new file system starts with at least 2.1 TiB, too.
        burst_seconds: How long a full bucket lasts.
    """

    baseline: float
    burst: float
    hours_per_day: float
    minutes_per_day: float
    credits: float
    burst_seconds: float
    how: str


def efs_bursting(stored_bytes: int) -> EfsBursting:
    """Compute rates and burst time of EFS in bursting mode.

    AWS counts only the bytes in the Standard class, or in One Zone, for both rates and for credits; not those in the
    classes for infrequent access and archives.

    baseline = 50 MiB/s x TiB, at least 1 MiB/s; burst = 100 MiB/s x max(1, TiB); hours of a day = 24 x baseline /
    burst, because credits are earned at the baseline rate and spent at the burst rate; a full bucket of 2.1 TiB x
    max(1, TiB)
    lasts bucket / (burst - baseline).
    Source: docs.aws.amazon.com/efs/latest/ug/performance.html; the minimum of 1 MiB/s: AWS, What's New, 2020-06-30.

    Args:
        stored_bytes: Bytes in the Standard or One Zone class.

    Raises:
        AssayError: It is negative.
    """
    if stored_bytes < 0:
        raise AssayError(f"EFS cannot hold {stored_bytes} bytes", "say how much is stored, such as 1TiB")
    whole = max(1.0, stored_bytes / TIB)
    baseline = max(EFS_MIN_RATE, EFS_PER_TIB * stored_bytes / TIB)
    burst = EFS_BURST_PER_TIB * whole
    hours = 24 * baseline / burst
    full = EFS_CREDITS * whole
    how = (
        f"50 MiB/s per TiB in the Standard class, at least 1 MiB/s: {format_mib(baseline)}; "
        f"burst 100 MiB/s x max(1, TiB) "
        f"= {format_mib(burst)}; "
        f"24 h x baseline / burst = {hours:.4g} h of each day"
    )
    return EfsBursting(
        baseline=baseline,
        burst=burst,
        hours_per_day=hours,
        minutes_per_day=60 * hours,
        credits=full,
        burst_seconds=full / (burst - baseline),
        how=how,
    )


def fsx_lustre_rate(capacity_bytes: int, per_tib: float) -> float:
    """Return the sustained bytes per second of FSx for Lustre: GiB / 1024 x MB/s per TiB, in MB of 10^6 bytes.

    1200 GiB at 200 MB/s per TiB are 234.375 MB/s. `filesystem_limits` checks that such a capacity is sold.
    Source: docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html

    Args:
        capacity_bytes: Provisioned capacity.
        per_tib: MB/s per TiB of the deployment type.
    """
    return capacity_bytes / GIB / 1024 * per_tib * MB


class FileSystemType(CatalogEntry):
    """A type of file system; the subclasses differ in what determines their limits.

    Attributes:
        durability: The provider's statement.
        zones: Availability zones that hold the data.
        backup: Item of `filesystem-backup` in price books that bills its backups; None: it has no backups.
    """

    durability: str
    zones: int = Field(ge=1)
    backup: str | None = None

    def limits(self, size: int, rate: float | None) -> FileSystemLimits:
        """Return the limits for a size and a provisioned rate; see `filesystem_limits`."""
        raise NotImplementedError


class EfsType(FileSystemType):
    """Amazon EFS in one of its throughput modes, in the General Purpose performance mode.

    Attributes:
        read_factor: Bytes read for each metered byte.
        max_read: Most bytes per second that a file system reads, in the regions with the highest limits.
        max_write: Most bytes per second that a file system writes, in the same regions.
        max_read_elsewhere: Most bytes per second that it reads in the other regions.
        per_client: Most bytes per second of each client.
    """

    kind: Literal["efs"] = "efs"
    mode: Literal["bursting", "provisioned", "elastic"]
    read_factor: int = Field(ge=1)
    max_read: Rate
    max_write: Rate
    max_read_elsewhere: Rate
    max_write_elsewhere: Rate
    per_client: Rate
    read_iops: Count
    write_iops: Count

    def included(self, frequent: float) -> float:
        """Return the bytes per second that need not be paid for: in provisioned mode, what bursting mode would give.

        Source: docs.aws.amazon.com/efs/latest/ug/performance.html: what is provisioned is charged as far as it exceeds
        the base rate that bursting mode would give for the bytes stored.

        Args:
            frequent: Bytes in the Standard or One Zone class.
        """
        return EFS_PER_TIB * frequent / TIB if self.mode == "provisioned" else 0.0

    def limits(self, size: int, rate: float | None) -> FileSystemLimits:
        """Return the limits by mode: bursting by size, provisioned (or by size if that is more), or the maximum.

        The size is that of the bytes in the Standard or One Zone class; see `efs_bursting`.
        """
        if rate is not None and self.mode != "provisioned":
            raise AssayError(f"{self.name} takes no provisioned throughput", "efs-provisioned does")
        if self.mode == "elastic":
            how = "as much as is requested, up to the limit of a file system; billed by the byte"
            return self._limits(None, None, None, None, how)
        found = efs_bursting(size)
        if self.mode == "bursting":
            return self._limits(found.baseline, found.burst, found.burst_seconds, found.hours_per_day, found.how)
        if rate is None:
            raise AssayError(f"{self.name} needs its throughput stated", "such as 256MiB/s")
        most = self.max_write
        if not MIB <= rate <= most:
            raise AssayError(f"{self.name} cannot have {format_mib(rate)}", f"1 MiB/s to {format_mib(most)}")
        how = f"{format_mib(rate)} as provisioned"
        if found.baseline > rate:
            how = (
                f"the bytes in the Standard class give more than the {format_mib(rate)} provisioned, "
                f"and bursting applies: {found.how}"
            )
            return self._limits(found.baseline, found.burst, found.burst_seconds, found.hours_per_day, how)
        return self._limits(rate, rate, None, None, how)

    def _limits(
        self, baseline: float | None, burst: float | None, seconds: float | None, hours: float | None, how: str
    ) -> FileSystemLimits:
        """Convert metered rates to limits; None stands for the maximum of the file system."""

        def least(rate: float | None, factor: int, most: float) -> float:
            return most if rate is None else min(most, rate * factor)

        if self.read_factor != 1 and baseline is not None:
            how += f"; reads are metered at 1/{self.read_factor}"
        return FileSystemLimits(
            read_baseline=least(baseline, self.read_factor, self.max_read),
            read_burst=least(burst, self.read_factor, self.max_read),
            write_baseline=least(baseline, 1, self.max_write),
            write_burst=least(burst, 1, self.max_write),
            read_iops=self.read_iops,
            write_iops=self.write_iops,
            burst_seconds=seconds,
            burst_hours_per_day=hours,
            how=how,
        )


class LustreType(FileSystemType):
    """Amazon FSx for Lustre in one of its deployment types.

    Attributes:
        per_tib: MB/s (10^6 bytes) of the disks for each TiB provisioned.
        write_per_tib: The same for writes, if lower.
        disk_burst: MB/s per TiB of the disks for a limited time; None: no burst.
        write_disk_burst: The same for writes, if lower.
        network: MB/s per TiB of the servers' network.
        network_burst: The same for a limited time, by saved credits; reads from the servers' memory can reach it.
        capacities: The smallest capacities, in bytes.
        step: Larger capacities are multiples of this.
    """

    kind: Literal["fsx-lustre"] = "fsx-lustre"
    deployment: Literal["scratch-1", "scratch-2", "persistent-1", "persistent-2"]
    media: Literal["ssd", "hdd"]
    per_tib: float = Field(gt=0)
    write_per_tib: float | None = Field(None, gt=0)
    disk_burst: float | None = Field(None, gt=0)
    write_disk_burst: float | None = Field(None, gt=0)
    network: float = Field(gt=0)
    network_burst: float | None = Field(None, gt=0)
    capacities: tuple[Size, ...]
    step: int = Field(gt=0)

    def has_capacity(self, size: int) -> bool:
        """Whether such a capacity is sold."""
        return size in self.capacities or (size >= self.step and size % self.step == 0)

    def capacity_for(self, size: int) -> int:
        """Return the smallest capacity that is sold and holds `size` bytes."""
        small = [capacity for capacity in self.capacities if capacity >= size]
        return min([*small, max(1, -(-size // self.step)) * self.step])

    def limits(self, size: int, rate: float | None) -> FileSystemLimits:
        """Return capacity x MB/s per TiB, for bursts too; how long these last is not published."""
        if rate is not None:
            raise AssayError(
                f"{self.name} takes no provisioned throughput", "leave `throughput` out: it follows from the capacity"
            )
        if not self.has_capacity(size):
            hint = f"the next available size is {format_size(self.capacity_for(size))}"
            raise AssayError(f"{self.name} of {format_size(size)} is not available", hint)
        reads = max(self.per_tib, self.disk_burst or 0, self.network_burst or 0, self.network)
        write = self.write_per_tib or self.per_tib
        writes = max(write, self.write_disk_burst or self.disk_burst or 0)
        how = f"{size // GIB} GiB / 1024 x {self.per_tib:g} MB/s per TiB"
        how += f"; data in the servers' memory is read at up to {reads:g}" if reads > self.per_tib else ""
        how += f"; writing {write:g}" if write != self.per_tib else ""
        how += f"; disks burst to {self.disk_burst:g}" if self.disk_burst else ""
        return FileSystemLimits(
            read_baseline=fsx_lustre_rate(size, self.per_tib),
            read_burst=fsx_lustre_rate(size, reads),
            write_baseline=fsx_lustre_rate(size, write),
            write_burst=fsx_lustre_rate(size, writes),
            read_iops=None,
            write_iops=None,
            burst_seconds=None,
            burst_hours_per_day=None,
            how=how,
        )


AnyFileSystem = Annotated[EfsType | LustreType, Field(discriminator="kind")]


def filesystem_limits(kind: FileSystemType, size_bytes: int, throughput: float | None = None) -> FileSystemLimits:
    """Return the limits of a file system of a type and size.

    EFS: `efs_bursting`, or the provisioned rate if that is more, up to the maximum of a file system; reads are metered
        at a third. FSx for Lustre: `fsx_lustre_rate` of the disks; bursts from memory and network.
    Source: docs.aws.amazon.com/efs/latest/ug/performance.html,
    docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html

    Args:
        kind: Type in the catalogue.
        size_bytes: Bytes in the Standard or One Zone class (EFS), or provisioned (Lustre).
        throughput: Provisioned bytes per second, for efs-provisioned.

    Raises:
        AssayError: Such a capacity or throughput is not sold.
    """
    return kind.limits(size_bytes, throughput)
