"""Managed file, block and object services whose limits follow from their size and from provisioned performance.

Rates are bytes per second, sizes bytes, times seconds.
"""

import math
from decimal import Decimal
from typing import Literal

from pydantic import Field

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.money.catalog_entry import GIB, MIB, TIB, CatalogEntry, Count, Rate, Size, format_mib
from assay.model.units import format_size, format_throughput

Provider = Literal["aws", "azure", "gcp", "own"]


class RateLaw(Frozen):
    """A rate by size and provisioned rate.

    It is base + per_tib x TiB + per_provisioned x provisioned, from `min` to the bounds.

    Attributes:
        per_tib: Bytes per second for each TiB (2^40 bytes).
        per_provisioned: Bytes per second for each provisioned byte per second.
        max: Upper bound; None: none is stated.
        max_per_tib: Upper bound for each TiB, whatever is provisioned: what its disks deliver; None: none is stated.
    """

    base: Rate = 0.0
    per_tib: Rate = 0.0
    per_provisioned: float = Field(0.0, ge=0)
    min: Rate = 0.0
    max: Rate | None = None
    max_per_tib: Rate | None = None

    def value(self, size: int, provisioned: float) -> float:
        """Return the rate for a size in bytes and provisioned bytes per second."""
        return min(
            self.bound(size), max(self.min, self.base + self.per_tib * size / TIB + self.per_provisioned * provisioned)
        )

    def bound(self, size: int) -> float:
        """Return the highest rate for a size, whatever is provisioned; infinite if none is stated."""
        by_size = math.inf if self.max_per_tib is None else self.max_per_tib * size / TIB
        return by_size if self.max is None else min(self.max, by_size)

    def needed(self, size: int, wanted: float) -> float | None:
        """Return the fewest bytes per second to provision for the wanted rate; None if no amount reaches it."""
        if self.value(size, 0.0) >= wanted:
            return 0.0
        if not self.per_provisioned or self.bound(size) < wanted:
            return None
        return (wanted - self.base - self.per_tib * size / TIB) / self.per_provisioned

    def formula(self) -> str:
        """Return the formula with its numbers."""
        parts = [format_mib(self.base)] if self.base else []
        parts += [f"{format_mib(self.per_tib)} per TiB"] if self.per_tib else []
        parts += [_provisioned_words(self.per_provisioned, "throughput")] if self.per_provisioned else []
        text = " + ".join(parts) or "0 B/s"
        text += f", at least {format_mib(self.min)}" if self.min else ""
        text += f", at most {format_mib(self.max)}" if self.max is not None else ""
        return text + (f", at most {format_mib(self.max_per_tib)} per TiB" if self.max_per_tib is not None else "")


class CountLaw(Frozen):
    """IOPS by size and provisioned IOPS.

    They are base + per_gib x GiB + per_provisioned x provisioned, from `min` to the bounds.

    Attributes:
        per_gib: Operations per second for each GiB (2^30 bytes).
        max_per_rate: Upper bound for each provisioned MiB/s (2^20 bytes) of throughput; None: none is stated.
        max_at: Upper bounds by provisioned throughput, in rising order: (bytes per second, operations per second).
            Between two entries the lower one applies; below the first the bound is 0.
    """

    base: float = Field(0.0, ge=0)
    per_gib: float = Field(0.0, ge=0)
    per_provisioned: float = Field(0.0, ge=0)
    min: float = Field(0.0, ge=0)
    max: float | None = Field(None, ge=0)
    max_per_rate: float | None = Field(None, gt=0)
    max_at: tuple[tuple[Rate, float], ...] = ()

    def value(self, size: int, provisioned: float, rate: float) -> float:
        """Return the IOPS for a size in bytes, provisioned IOPS and provisioned bytes per second."""
        return min(
            self.bound(rate), max(self.min, self.base + self.per_gib * size / GIB + self.per_provisioned * provisioned)
        )

    def bound(self, rate: float) -> float:
        """Return the highest IOPS with a provisioned throughput; infinite if no bound is stated."""
        bounds = [math.inf] if self.max is None else [self.max]
        bounds += [] if self.max_per_rate is None else [self.max_per_rate * rate / MIB]
        if self.max_at:
            bounds.append(max((most for at, most in self.max_at if at <= rate), default=0.0))
        return min(bounds)

    def rate_for(self, wanted: float) -> float | None:
        """Return the lowest throughput to provision so that the bound allows the wanted IOPS; None if none does."""
        if self.max is not None and self.max < wanted:
            return None
        needed = 0.0 if self.max_per_rate is None else wanted / self.max_per_rate * MIB
        if not self.max_at:
            return needed
        step = min((at for at, most in self.max_at if most >= wanted), default=None)
        return None if step is None else max(needed, step)

    def needed(self, size: int, wanted: float, rate: float) -> float | None:
        """Return the fewest IOPS to provision, with a provisioned throughput `rate`; None if no number suffices."""
        if self.value(size, 0.0, rate) >= wanted:
            return 0.0
        if not self.per_provisioned or self.bound(rate) < wanted:
            return None
        return (wanted - self.base - self.per_gib * size / GIB) / self.per_provisioned

    def formula(self) -> str:
        """Return the formula with its numbers."""
        parts = [f"{self.base:,.6g} IOPS"] if self.base else []
        per_gib = f"{self.per_gib:g} IOPS per GiB" if self.per_gib >= 1 else f"{self.per_gib * 1024:.5g} IOPS per TiB"
        parts += [per_gib] if self.per_gib else []
        parts += [_provisioned_words(self.per_provisioned, "IOPS")] if self.per_provisioned else []
        text = " + ".join(parts) or "0 IOPS"
        text += f", at least {self.min:,.6g}" if self.min else ""
        text += f", at most {self.max:,.6g}" if self.max is not None else ""
        text += f", at most {self.max_per_rate:.6g} per MiB/s provisioned" if self.max_per_rate is not None else ""
        if self.max_at:
            (low, fewest), (high, most) = self.max_at[0], self.max_at[-1]
            text += (
                f", at most {fewest:,.6g} with {format_mib(low)} provisioned, to {most:,.6g} with {format_mib(high)}"
            )
        return text


class ProvisionedRate(Frozen):
    """Throughput that can be provisioned.

    Attributes:
        choices: The only values on sale; empty: any.
        step: Values on sale are multiples of it; 0: any value.
        included_base: Bytes per second that the price of the capacity includes.
        included_per_tib: Further bytes per second for each TiB that the price of the capacity includes.
    """

    choices: tuple[Rate, ...] = ()
    step: Rate = 0.0
    min: Rate = 0.0
    max: Rate | None = None
    included_base: Rate = 0.0
    included_per_tib: Rate = 0.0

    def included(self, size: int) -> float:
        """Return the bytes per second that the price of a capacity includes."""
        return self.included_base + self.included_per_tib * size / TIB

    def lowest_on_sale(self, wanted: float) -> float | None:
        """Return the lowest value on sale of at least `wanted`; None if there is none."""
        if self.choices:
            return min((choice for choice in self.choices if choice >= wanted), default=None)
        wanted = max(wanted, self.min)
        if self.step:
            wanted = math.ceil(wanted / self.step) * self.step
        return wanted if self.max is None or wanted <= self.max else None


class ProvisionedCount(Frozen):
    """IOPS that can be provisioned.

    Attributes:
        max_per_gib: Upper bound for each GiB.
        included_base: Operations per second that the price of the capacity includes; `included_per_gib`: further ones
            for each GiB.
    """

    min: float = Field(0.0, ge=0)
    max: float | None = Field(None, ge=0)
    max_per_gib: float | None = Field(None, gt=0)
    included_base: float = Field(0.0, ge=0)
    included_per_gib: float = Field(0.0, ge=0)

    def included(self, size: int) -> float:
        """Return the IOPS that the price of a capacity includes."""
        return self.included_base + self.included_per_gib * size / GIB

    def highest_on_sale(self, size: int) -> float | None:
        """Return the most IOPS that can be provisioned for a size; None: no bound is stated."""
        bounds = [] if self.max is None else [self.max]
        bounds += [] if self.max_per_gib is None else [self.max_per_gib * size / GIB]
        return min(bounds, default=None)


class BillingItems(Frozen):
    """Items of price books that bill the service. What is None is not billed.

    Attributes:
        capacity: Of `filesystem-capacity`.
        infrequent: Of `filesystem-capacity`, for the share that is rarely read.
        monitoring: Of `filesystem-capacity`, for monitoring all stored data so that it can be moved between classes.
        throughput, iops: Of `filesystem-throughput` and `filesystem-iops`: provisioned amounts above the included ones.
        read, write, infrequent_read: Of `filesystem-access`, by the byte.
        requests: Prefix of two items of `filesystem-requests`, which end in `/read` and `/write`.
        backup: Of `filesystem-backup`: stored snapshots.
        fixed: Of `service-fee`, for each file system and month.
    """

    capacity: str = Field(min_length=1)
    infrequent: str | None = None
    monitoring: str | None = None
    throughput: str | None = None
    iops: str | None = None
    read: str | None = None
    write: str | None = None
    infrequent_read: str | None = None
    requests: str | None = None
    backup: str | None = None
    fixed: str | None = None


class ManagedType(CatalogEntry):
    """A type of managed storage.

    Attributes:
        label: Common name of the service.
        zones: Availability zones that hold the data.
        durability: The provider's statement.
        availability: Percent of the time that is promised; None: not stated.
        availability_source: Source of `availability`; empty: `source`.
        step: Sizes are multiples of it, and at least `min_size`.
        min_frequent: Fewest bytes outside the class for rarely read data, whatever share is chosen. Rate laws and
            included amounts apply to the bytes outside the class; None: to all bytes.
        max_frequent: Most bytes outside the class for rarely read data; None: only `max_size` bounds them.
        billed: provisioned: the provisioned size; stored: the stored bytes, so that the cost grows with the data.
        read, write, read_burst, write_burst, read_iops, write_iops: Laws of the rates; None: not stated.
        shared: Reads and writes share one limit.
        max_request: Most bytes of one request of a client: larger records take several, each of which counts and is
            paid for. Requests of reads and writes then share one limit. None: as large as a record.
        pooled: The rates are the most of a pool that others use, too, and are not sold with it.
        unguaranteed: Why its rates are in doubt for random access; empty: they are not.
        throughput, iops: What can be provisioned; None: nothing.
        burst_seconds: How long a burst lasts; None: not published.
        min_days: Fewest days that are charged.
        conditions: What the user accepts by choosing it, one sentence each.
    """

    provider: Provider
    label: str = Field(min_length=1)
    zones: int = Field(1, ge=1)
    durability: str = ""
    availability: float | None = Field(None, gt=0, le=100)
    availability_source: str = ""
    min_size: Size = 1
    max_size: Size | None = None
    step: Size = Field(1, ge=1)
    min_frequent: Size | None = None
    max_frequent: Size | None = None
    billed: Literal["provisioned", "stored"] = "provisioned"
    read: RateLaw | None = None
    write: RateLaw | None = None
    read_burst: RateLaw | None = None
    write_burst: RateLaw | None = None
    read_iops: CountLaw | None = None
    write_iops: CountLaw | None = None
    burst_seconds: float | None = None
    shared: bool = False
    max_request: Size | None = None
    pooled: bool = False
    unguaranteed: str = ""
    throughput: ProvisionedRate | None = None
    iops: ProvisionedCount | None = None
    prices: BillingItems
    min_days: Count = 0
    conditions: tuple[str, ...] = ()

    @property
    def charges_requests(self) -> bool:
        """Whether reads or writes are charged."""
        sold = self.prices
        return any(item is not None for item in (sold.read, sold.write, sold.requests))

    def requests(self, operations: Decimal, size: int) -> Decimal:
        """Return the requests for so many operations with `size` bytes in all, none larger than `max_request`."""
        return operations if self.max_request is None else max(operations, -(-Decimal(size) // self.max_request))

    def size_for(self, size: int) -> int | None:
        """Return the smallest size on sale that holds `size` bytes; None if there is none."""
        fitting = max(self.min_size, -(-size // self.step) * self.step)
        return None if self.max_size is not None and fitting > self.max_size else fitting

    def frequent_bytes(self, size: int, infrequent: Decimal) -> int:
        """Return the bytes that rate laws apply to; see `min_frequent`."""
        if self.min_frequent is None:
            return size
        return min(size, max(self.min_frequent, size - int(size * infrequent)))

    def check_fast(self, fast: int) -> None:
        """Raise an error if more bytes than are sold lie outside the class for rarely read data.

        Raises:
            AssayError: So many are not sold.
        """
        if self.max_frequent is not None and fast > self.max_frequent:
            problem = f"{self.name} has at most {format_size(self.max_frequent)} outside its class for rarely read data"
            raise AssayError(problem, "make `infrequent` larger, or take another type")

    def check(self, size: int, throughput: float | None, iops: float | None) -> None:
        """Raise an error for a configuration that is not sold.

        Raises:
            AssayError: Such a size, throughput or number of operations is not sold.
        """
        fitting = self.size_for(size)
        if fitting != size:
            most = f"to {format_size(self.max_size)}" if self.max_size is not None else "or more"
            hint = f"{format_size(self.min_size)} {most}"
            hint += f", in steps of {format_size(self.step)}" if self.step > 1 else ""
            raise AssayError(f"{self.name} of {format_size(size)} is not available", hint)
        self._check_throughput(throughput)
        if iops is None:
            return
        if self.iops is None:
            raise AssayError(f"{self.name} takes no provisioned IOPS", "leave `iops` out")
        highest = self.iops.highest_on_sale(size)
        if iops < self.iops.min or (highest is not None and iops > highest):
            hint = f"{self.iops.min:g} to {highest:,.6g}" if highest is not None else f"{self.iops.min:g} or more"
            raise AssayError(f"{self.name} of {format_size(size)} cannot have {iops:g} IOPS", hint)

    def _check_throughput(self, throughput: float | None) -> None:
        sold = self.throughput
        if sold is None:
            if throughput is not None:
                raise AssayError(f"{self.name} takes no provisioned throughput", "leave `throughput` out")
            return
        if throughput is None:
            if sold.choices or sold.min > sold.included_base:
                raise AssayError(f"{self.name} needs its throughput stated", self._sold(sold))
            return
        if sold.lowest_on_sale(throughput) != throughput:
            raise AssayError(f"{self.name} cannot have {_rate(throughput)}", self._sold(sold))

    @staticmethod
    def _sold(sold: ProvisionedRate) -> str:
        if sold.choices:
            return f"write {' or '.join(_rate(choice) for choice in sold.choices)}"
        most = f" to {_rate(sold.max)}" if sold.max is not None else " or more"
        return f"{_rate(sold.min)}{most}" + (f", in steps of {_rate(sold.step)}" if sold.step else "")


def _rate(value: float) -> str:
    return format_throughput(round(value))


def _provisioned_words(factor: float, what: str) -> str:
    return f"the {what} provisioned" if factor == 1 else f"{factor:g} x the {what} provisioned"
