"""Types of network volumes, and what a volume of a type and size can do.

Rates are bytes per second, sizes bytes, times seconds.
"""

from typing import Annotated, Literal

from pydantic import Field

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.money.entry import GIB, TIB, Count, Entry, Rate, Size, mib
from assay.model.units import format_size

Seconds = tuple[float | None, float | None]
"""How long a burst of operations lasts, and one of bytes."""
NO_BURST: Seconds = (None, None)


class VolumeLimits(Frozen):
    """What one volume can do, whatever the instance.

    Attributes:
        read_baseline: Bytes per second that it keeps for ever; likewise the others.
        read_burst: The most while credits last; the baseline if it has none.
        iops_baseline: Operations per second, reads and writes together, each up to `largest_io`.
        burst_seconds: How long a full bucket lasts at `iops_burst`; None without a burst, or if it is not published.
        rate_burst_seconds: How long it lasts at `read_burst` in operations of `largest_io`; None likewise.
        how: The formula with its numbers.
    """

    read_baseline: float
    read_burst: float
    write_baseline: float
    write_burst: float
    iops_baseline: int
    iops_burst: int
    burst_seconds: float | None
    rate_burst_seconds: float | None
    how: str


class VolumeType(Entry):
    """A type of network volume; the subclasses differ in what their limits follow from.

    Attributes:
        durability: As the provider states it.
        largest_io: Bytes of the largest operation that counts as one.
        iops_most: Operations per second of the largest.
        rate_most: Bytes per second of the largest.
    """

    media: Literal["ssd", "hdd"]
    least_size: Size
    most_size: Size
    durability: str
    largest_io: Size
    iops_most: Count
    rate_most: Rate

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:
        """As `volume_limits`, for a size that fits."""
        raise NotImplementedError

    def _nothing_provisioned(self, iops: int | None, rate: float | None) -> None:
        if iops is not None or rate is not None:
            what = "IOPS" if iops is not None else "throughput"
            raise AssayError(f"{self.name} takes no provisioned {what}", "gp3, io1 and io2 take IOPS, gp3 throughput")


class CreditVolume(VolumeType):
    """IOPS grow with size, and small volumes burst on credits: gp2.

    Attributes:
        iops_credits: I/Os in a full bucket.
        small_size: Up to this size the rate is at most `small_rate`.
    """

    family: Literal["credits"] = "credits"
    iops_least: Count
    iops_per_gib: Count
    iops_burst: Count
    iops_credits: Count
    small_size: Size
    small_rate: Rate

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:
        """IOPS = size x IOPS per GiB within bounds; rate = IOPS x largest operation; burst = credits."""
        self._nothing_provisioned(iops, rate)
        baseline = min(self.iops_most, max(self.iops_least, size * self.iops_per_gib // GIB))
        burst = max(baseline, self.iops_burst)
        most = self.small_rate if size <= self.small_size else self.rate_most
        keeps = min(most, float(baseline * self.largest_io))
        seconds = self.iops_credits / (burst - baseline) if burst > baseline else None
        how = (
            f"{self.iops_per_gib} IOPS per GiB, {self.iops_least} to {self.iops_most}; "
            f"IOPS x {format_size(self.largest_io)}, at most {mib(most)}"
        )
        if seconds is not None:
            how += f"; {self.iops_credits / 1e6:g} M I/O credits / ({burst} - {baseline} IOPS) = {seconds:.0f} s"
        longer = self.iops_credits / (most / self.largest_io - baseline) if most > keeps else None
        return _same(keeps, most, baseline, burst, (seconds, longer), how)


class ProvisionedVolume(VolumeType):
    """IOPS are bought: gp3, io1, io2.

    Attributes:
        iops_free: Included in the price, and the default; None: the number must be stated.
        iops_least: The fewest that can be bought.
        iops_per_gib: The most that can be bought for each GiB.
        rate_free: Included in the price; more is bought apart. None: the rate follows from the IOPS.
        knee_rate: Where each of the IOPS begins to add only `knee_io` bytes per second; None: nowhere.
    """

    family: Literal["provisioned"] = "provisioned"
    iops_free: Count | None = None
    iops_least: Count
    iops_per_gib: Count
    rate_free: Rate | None = None
    knee_rate: Rate | None = None
    knee_io: Size | None = None

    def most_iops(self, size: int) -> int:
        """The most IOPS that a volume of `size` bytes can have."""
        return max(self.iops_free or 0, min(self.iops_most, size * self.iops_per_gib // GIB))

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:
        """IOPS and rate as bought, or as included; no burst."""
        iops = self.iops_free if iops is None else iops
        most = self.most_iops(size)
        if iops is None:
            raise AssayError(f"{self.name} needs its IOPS stated", f"{self.iops_least} to {most} at this size")
        if not self.iops_least <= iops <= most:
            hint = f"{self.iops_least} to {most}, at most {self.iops_per_gib} per GiB"
            raise AssayError(f"{self.name} of {format_size(size)} cannot have {iops} IOPS", hint)
        follows = float(iops * self.largest_io)
        if self.knee_rate is not None:
            follows = min(follows, max(self.knee_rate, float(iops * (self.knee_io or 0))))
        follows = min(follows, self.rate_most)
        if self.rate_free is None:
            if rate is not None:
                raise AssayError(f"{self.name} takes no provisioned throughput", "it follows from the IOPS")
            how = f"{iops} IOPS x {format_size(self.largest_io)}, at most {mib(self.rate_most)}"
            if self.knee_rate is not None:
                how += f"; beyond {mib(self.knee_rate)}, IOPS x {format_size(self.knee_io or 0)}"
            return _same(follows, follows, iops, iops, NO_BURST, how)
        got = self.rate_free if rate is None else rate
        if not self.rate_free <= got <= follows:
            hint = f"{mib(self.rate_free)} to {mib(follows)} with {iops} IOPS, to {mib(self.rate_most)} with more"
            raise AssayError(f"{self.name} cannot have {mib(got)}", hint)
        how = f"{iops} IOPS and {mib(got)} as provisioned; {self.iops_free} and {mib(self.rate_free)} are included"
        return _same(got, got, iops, iops, NO_BURST, how)


class StreamVolume(VolumeType):
    """The rate grows with size, and bursts on credits of bytes: st1, sc1.

    Attributes:
        rate_per_tib: Bytes per second that each TiB keeps.
        keeps_most: The most that a volume keeps.
        burst_per_tib: Bytes per second of each TiB while credits last, at most `rate_most`.
        credits_per_tib: Bytes in a full bucket for each TiB.
    """

    family: Literal["stream"] = "stream"
    rate_per_tib: Rate
    keeps_most: Rate
    burst_per_tib: Rate
    credits_per_tib: Size

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:
        """Rate = size x rate per TiB; burst = bucket / (burst - baseline); IOPS = rate / largest operation."""
        self._nothing_provisioned(iops, rate)
        keeps = min(self.keeps_most, self.rate_per_tib * size / TIB)
        burst = max(keeps, min(self.rate_most, self.burst_per_tib * size / TIB))
        seconds = self.credits_per_tib * size / TIB / (burst - keeps) if burst > keeps else None
        how = f"{mib(self.rate_per_tib)} per TiB, at most {mib(self.keeps_most)}"
        if seconds is not None:
            how += f"; burst {mib(self.burst_per_tib)} per TiB, at most {mib(self.rate_most)}: "
            how += f"{format_size(self.credits_per_tib)} of credits per TiB / (burst - baseline) = {seconds:.0f} s"
        counts = (int(keeps // self.largest_io), int(burst // self.largest_io))
        return _same(keeps, burst, *counts, (seconds, seconds), how)


class PlainVolume(VolumeType):
    """The same for all sizes, stated as a range: standard (magnetic).

    Attributes:
        iops_usual: Operations per second on average.
        rate_usual: The lower end of the range of rates.
    """

    family: Literal["plain"] = "plain"
    iops_usual: Count
    rate_usual: Rate

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:  # noqa: ARG002
        """The ends of the stated ranges."""
        self._nothing_provisioned(iops, rate)
        how = "the ends of the range that is stated for all sizes; how long the upper end lasts is not published"
        return _same(self.rate_usual, self.rate_most, self.iops_usual, self.iops_most, NO_BURST, how)


class SizedVolume(VolumeType):
    """IOPS and rate grow with size and have no burst: Persistent Disk of Google Cloud.

    Attributes:
        iops_per_gib: Operations per second of each GiB, at most `iops_most`.
        rate_per_tib: Bytes per second of each TiB, at most `rate_most`.
    """

    family: Literal["sized"] = "sized"
    iops_per_gib: Count
    rate_per_tib: Rate

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:
        """IOPS = size x IOPS per GiB; rate = size x rate per TiB; each within its bound."""
        self._nothing_provisioned(iops, rate)
        count = min(self.iops_most, size * self.iops_per_gib // GIB)
        keeps = min(self.rate_most, self.rate_per_tib * size / TIB)
        how = f"{self.iops_per_gib} IOPS per GiB, at most {self.iops_most}; "
        how += f"{mib(self.rate_per_tib)} per TiB, at most {mib(self.rate_most)}"
        return _same(keeps, keeps, count, count, NO_BURST, how)


AnyVolume = Annotated[
    CreditVolume | ProvisionedVolume | StreamVolume | PlainVolume | SizedVolume, Field(discriminator="family")
]


def _same(keeps: float, burst: float, iops: int, iops_burst: int, seconds: Seconds, how: str) -> VolumeLimits:
    """Volumes read and write at the same limits."""
    return VolumeLimits(
        read_baseline=keeps,
        read_burst=burst,
        write_baseline=keeps,
        write_burst=burst,
        iops_baseline=iops,
        iops_burst=iops_burst,
        burst_seconds=seconds[0],
        rate_burst_seconds=seconds[1],
        how=how,
    )


def volume_limits(
    volume_type: VolumeType, size_bytes: int, iops: int | None = None, throughput: float | None = None
) -> VolumeLimits:
    """What a volume of this type and size can do.

    gp2: min(16000, max(100, 3 x GiB)) IOPS, x 256 KiB to 128 MiB/s (up to 170 GiB) or 250 MiB/s; bursts to 3000 IOPS
    for 5.4 M / (3000 - baseline) s. gp3: as bought from 3000 IOPS and 125 MiB/s on. io1, io2: as bought, x 256 KiB.
    st1, sc1: MiB/s per TiB, and 1 TiB of credits per TiB. The numbers are the catalogue's, each with its source.
    Source: docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html

    Args:
        volume_type: From the catalogue.
        size_bytes: Of the volume.
        iops: As provisioned; None: what is included.
        throughput: Bytes per second as provisioned; None: what is included.

    Raises:
        AssayError: The type has no such size, IOPS or throughput.
    """
    least, most = volume_type.least_size, volume_type.most_size
    if not least <= size_bytes <= most:
        hint = f"{format_size(least)} to {format_size(most)}"
        raise AssayError(f"{volume_type.name} cannot be {format_size(size_bytes)} large", hint)
    return volume_type.limits(size_bytes, iops, throughput)
