"""Managed file, block and object services of any provider whose limits follow from their size and from what is bought.

Rates are bytes per second, sizes bytes, times seconds.
"""

import math
from decimal import Decimal
from typing import Literal

from pydantic import Field

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.money.entry import GIB, MIB, TIB, Count, Entry, Rate, Size, mib
from assay.model.units import format_size, format_throughput

Provider = Literal["aws", "azure", "gcp", "own"]


class RateLaw(Frozen):
    """A rate by size and by what is bought: base + per_tib x TiB + per_bought x bought, between `least` and the bounds.

    Attributes:
        per_tib: Bytes per second for each TiB (2^40 bytes).
        per_bought: For each byte per second that is bought.
        most: None: no bound is stated.
        most_per_tib: What the disks of each TiB give, however much is bought; None likewise.
    """

    base: Rate = 0.0
    per_tib: Rate = 0.0
    per_bought: float = Field(0.0, ge=0)
    least: Rate = 0.0
    most: Rate | None = None
    most_per_tib: Rate | None = None

    def value(self, size: int, bought: float) -> float:
        """For so many bytes, and so many bytes per second bought."""
        return min(self.bound(size), max(self.least, self.base + self.per_tib * size / TIB + self.per_bought * bought))

    def bound(self, size: int) -> float:
        """The most with so many bytes, however much is bought; infinite if nothing is stated."""
        by_size = math.inf if self.most_per_tib is None else self.most_per_tib * size / TIB
        return by_size if self.most is None else min(self.most, by_size)

    def to_buy(self, size: int, wanted: float) -> float | None:
        """The least bytes per second to buy for this rate; None if nothing that is bought gives it."""
        if self.value(size, 0.0) >= wanted:
            return 0.0
        if not self.per_bought or self.bound(size) < wanted:
            return None
        return (wanted - self.base - self.per_tib * size / TIB) / self.per_bought

    def words(self) -> str:
        """The formula with its numbers."""
        parts = [mib(self.base)] if self.base else []
        parts += [f"{mib(self.per_tib)} per TiB"] if self.per_tib else []
        parts += [_of_bought(self.per_bought, "throughput")] if self.per_bought else []
        text = " + ".join(parts) or "0 B/s"
        text += f", at least {mib(self.least)}" if self.least else ""
        text += f", at most {mib(self.most)}" if self.most is not None else ""
        return text + (f", at most {mib(self.most_per_tib)} per TiB" if self.most_per_tib is not None else "")


class CountLaw(Frozen):
    """Operations per second likewise: base + per_gib x GiB + per_bought x bought, between `least` and the bounds.

    Attributes:
        per_gib: For each GiB (2^30 bytes).
        most_per_rate: The most for each MiB/s (2^20 bytes) of throughput bought; None: no such bound is stated.
        most_at: The most with a throughput bought, in rising order: (bytes per second, operations). Between two of them
            the lower one holds; below the first there are none.
    """

    base: float = Field(0.0, ge=0)
    per_gib: float = Field(0.0, ge=0)
    per_bought: float = Field(0.0, ge=0)
    least: float = Field(0.0, ge=0)
    most: float | None = Field(None, ge=0)
    most_per_rate: float | None = Field(None, gt=0)
    most_at: tuple[tuple[Rate, float], ...] = ()

    def value(self, size: int, bought: float, rate: float) -> float:
        """For so many bytes, so many operations per second bought, and so many bytes per second bought."""
        return min(self.bound(rate), max(self.least, self.base + self.per_gib * size / GIB + self.per_bought * bought))

    def bound(self, rate: float) -> float:
        """The most with so many bytes per second bought; infinite if nothing is stated."""
        bounds = [math.inf] if self.most is None else [self.most]
        bounds += [] if self.most_per_rate is None else [self.most_per_rate * rate / MIB]
        if self.most_at:
            bounds.append(max((most for at, most in self.most_at if at <= rate), default=0.0))
        return min(bounds)

    def rate_for(self, wanted: float) -> float | None:
        """The least bytes per second to buy so that the bound lets so many operations through; None if none does."""
        if self.most is not None and self.most < wanted:
            return None
        found = 0.0 if self.most_per_rate is None else wanted / self.most_per_rate * MIB
        if not self.most_at:
            return found
        step = min((at for at, most in self.most_at if most >= wanted), default=None)
        return None if step is None else max(found, step)

    def to_buy(self, size: int, wanted: float, rate: float) -> float | None:
        """The least operations per second to buy, with so many bytes per second bought; None if none are enough."""
        if self.value(size, 0.0, rate) >= wanted:
            return 0.0
        if not self.per_bought or self.bound(rate) < wanted:
            return None
        return (wanted - self.base - self.per_gib * size / GIB) / self.per_bought

    def words(self) -> str:
        """The formula with its numbers."""
        parts = [f"{self.base:,.6g} IOPS"] if self.base else []
        parts += [f"{self.per_gib:g} IOPS per GiB"] if self.per_gib else []
        parts += [_of_bought(self.per_bought, "IOPS")] if self.per_bought else []
        text = " + ".join(parts) or "0 IOPS"
        text += f", at least {self.least:,.6g}" if self.least else ""
        text += f", at most {self.most:,.6g}" if self.most is not None else ""
        text += f", at most {self.most_per_rate:.6g} per MiB/s bought" if self.most_per_rate is not None else ""
        if self.most_at:
            (low, fewest), (high, most) = self.most_at[0], self.most_at[-1]
            text += f", at most {fewest:,.6g} with {mib(low)} bought, to {most:,.6g} with {mib(high)}"
        return text


class BoughtRate(Frozen):
    """Throughput that is bought.

    Attributes:
        choices: The only ones that are sold; empty: any.
        step: It is sold in multiples of it; 0: in any amount.
        included_base: Bytes per second that the price of the capacity pays for.
        included_per_tib: Likewise for each TiB.
    """

    choices: tuple[Rate, ...] = ()
    step: Rate = 0.0
    least: Rate = 0.0
    most: Rate | None = None
    included_base: Rate = 0.0
    included_per_tib: Rate = 0.0

    def included(self, size: int) -> float:
        """What is paid for with so many bytes."""
        return self.included_base + self.included_per_tib * size / TIB

    def at_least(self, wanted: float) -> float | None:
        """The least that is sold and is `wanted` or more; None if nothing is."""
        if self.choices:
            return min((choice for choice in self.choices if choice >= wanted), default=None)
        wanted = max(wanted, self.least)
        if self.step:
            wanted = math.ceil(wanted / self.step) * self.step
        return wanted if self.most is None or wanted <= self.most else None


class BoughtCount(Frozen):
    """Operations per second that are bought.

    Attributes:
        most_per_gib: The most for each GiB.
        included_base: What the price of the capacity pays for; likewise `included_per_gib` for each GiB.
    """

    least: float = Field(0.0, ge=0)
    most: float | None = Field(None, ge=0)
    most_per_gib: float | None = Field(None, gt=0)
    included_base: float = Field(0.0, ge=0)
    included_per_gib: float = Field(0.0, ge=0)

    def included(self, size: int) -> float:
        """What is paid for with so many bytes."""
        return self.included_base + self.included_per_gib * size / GIB

    def highest(self, size: int) -> float | None:
        """The most that can be bought with so many bytes; None: no bound is stated."""
        bounds = [] if self.most is None else [self.most]
        bounds += [] if self.most_per_gib is None else [self.most_per_gib * size / GIB]
        return min(bounds, default=None)


class PricedAs(Frozen):
    """Items of price books. What is left out is not billed.

    Attributes:
        capacity: Of `filesystem-capacity`.
        infrequent: Of `filesystem-capacity`, for the share that is seldom read.
        monitoring: Of `filesystem-capacity`, for watching all that is stored, so that it can be moved.
        throughput, iops: Of `filesystem-throughput` and `filesystem-iops`: what is bought above what is included.
        read, write, infrequent_read: Of `filesystem-access`, by the byte.
        requests: Of `filesystem-requests`: its items are this with `/read` and `/write`.
        backup: Of `filesystem-backup`: snapshots that are kept.
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


class ManagedType(Entry):
    """A type of managed storage.

    Attributes:
        label: As people call it.
        zones: Availability zones that hold the data.
        durability: As the provider states it.
        availability: Percent of the time that is promised; None: not stated.
        availability_source: Who says so; empty: `source`.
        step: Sizes are multiples of it, from `least_size` on.
        least_fast: Bytes that lie outside the class for what is seldom read, whatever the share asked for. The laws,
            and what is included, go by the bytes outside it; None: by all bytes.
        billed: provisioned: by its size; stored: by what lies in it, so that it grows with the data.
        read: None: not stated; likewise the others.
        shared: Reads and writes count against one sum.
        throughput, iops: What can be bought; None: nothing.
        burst_seconds: How long a burst lasts; None: not published.
        least_days: That are charged at least.
        conditions: What one accepts with it, each in a sentence.
    """

    provider: Provider
    label: str = Field(min_length=1)
    zones: int = Field(1, ge=1)
    durability: str = ""
    availability: float | None = Field(None, gt=0, le=100)
    availability_source: str = ""
    least_size: Size = 1
    most_size: Size | None = None
    step: Size = Field(1, ge=1)
    least_fast: Size | None = None
    billed: Literal["provisioned", "stored"] = "provisioned"
    read: RateLaw | None = None
    write: RateLaw | None = None
    read_burst: RateLaw | None = None
    write_burst: RateLaw | None = None
    read_iops: CountLaw | None = None
    write_iops: CountLaw | None = None
    burst_seconds: float | None = None
    shared: bool = False
    throughput: BoughtRate | None = None
    iops: BoughtCount | None = None
    prices: PricedAs
    least_days: Count = 0
    conditions: tuple[str, ...] = ()

    @property
    def by_request(self) -> bool:
        """Reading or writing is paid for."""
        sold = self.prices
        return any(item is not None for item in (sold.read, sold.write, sold.requests))

    def size_for(self, size: int) -> int | None:
        """The least size that can be had and holds so many bytes; None if there is none."""
        found = max(self.least_size, -(-size // self.step) * self.step)
        return None if self.most_size is not None and found > self.most_size else found

    def fast(self, size: int, infrequent: Decimal) -> int:
        """Bytes by which the laws go: those outside the class for what is seldom read, where the type says so."""
        if self.least_fast is None:
            return size
        return min(size, max(self.least_fast, size - int(size * infrequent)))

    def check(self, size: int, throughput: float | None, iops: float | None) -> None:
        """Refuse what cannot be had.

        Raises:
            AssayError: There is no such size, throughput or number of operations.
        """
        fitting = self.size_for(size)
        if fitting != size:
            most = format_size(self.most_size) if self.most_size is not None else "as large as you like"
            hint = f"{format_size(self.least_size)} to {most}"
            hint += f", in steps of {format_size(self.step)}" if self.step > 1 else ""
            raise AssayError(f"{self.name} of {format_size(size)} is not available", hint)
        self._check_throughput(throughput)
        if iops is None:
            return
        if self.iops is None:
            raise AssayError(f"{self.name} takes no provisioned IOPS", "leave `iops` out")
        highest = self.iops.highest(size)
        if iops < self.iops.least or (highest is not None and iops > highest):
            hint = f"{self.iops.least:g} to {highest:,.6g}" if highest is not None else f"{self.iops.least:g} or more"
            raise AssayError(f"{self.name} of {format_size(size)} cannot have {iops:g} IOPS", hint)

    def _check_throughput(self, throughput: float | None) -> None:
        sold = self.throughput
        if sold is None:
            if throughput is not None:
                raise AssayError(f"{self.name} takes no provisioned throughput", "leave `throughput` out")
            return
        if throughput is None:
            if sold.choices or sold.least > sold.included_base:
                raise AssayError(f"{self.name} needs its throughput stated", self._sold(sold))
            return
        if sold.at_least(throughput) != throughput:
            raise AssayError(f"{self.name} cannot have {_rate(throughput)}", self._sold(sold))

    @staticmethod
    def _sold(sold: BoughtRate) -> str:
        if sold.choices:
            return f"there are {', '.join(_rate(choice) for choice in sold.choices)}"
        most = f" to {_rate(sold.most)}" if sold.most is not None else " or more"
        return f"{_rate(sold.least)}{most}" + (f", in steps of {_rate(sold.step)}" if sold.step else "")


def _rate(value: float) -> str:
    return format_throughput(round(value))


def _of_bought(factor: float, what: str) -> str:
    return f"the {what} bought" if factor == 1 else f"{factor:g} x the {what} bought"
