"""Types of network volumes, and the limits of a volume of a given type and size.

Rates are bytes per second, sizes bytes, times seconds.
"""

from typing import Annotated, Literal

from pydantic import Field

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.money.catalog_entry import GIB, TIB, CatalogEntry, Count, Rate, Size, format_mib
from assay.model.units import format_size

Seconds = tuple[float | None, float | None]
"""Duration of a burst of operations, and of a burst of bytes."""
NO_BURST: Seconds = (None, None)


class VolumeLimits(Frozen):
    """The limits of one volume, whatever the instance.

    Attributes:
        read_baseline, write_baseline: Sustained bytes per second.
        read_burst, write_burst: Highest rate while credits last; the baseline if there are none.
        iops_baseline: Operations per second, reads and writes together, each up to `largest_io`.
        burst_seconds: How long a full bucket lasts at `iops_burst`; None without a burst or if not published.
        rate_burst_seconds: How long it lasts at `read_burst` in operations of `largest_io`; None without a burst or if
            not published.
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


class VolumeType(CatalogEntry):
    """A type of network volume; the subclasses differ in what determines their limits.

    Attributes:
        durability: The provider's statement.
        largest_io: Largest operation that counts as one, in bytes.
        iops_max: Most operations per second of any volume.
        rate_max: Most bytes per second of any volume.
    """

    media: Literal["ssd", "hdd"]
    min_size: Size
    max_size: Size
    durability: str
    largest_io: Size
    iops_max: Count
    rate_max: Rate

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:
        """Return the limits for a valid size; see `volume_limits`."""
        raise NotImplementedError

    def _nothing_provisioned(self, iops: int | None, rate: float | None) -> None:
        if iops is not None or rate is not None:
            what = "IOPS" if iops is not None else "throughput"
            raise AssayError(f"{self.name} takes no provisioned {what}", "gp3, io1 and io2 take IOPS, gp3 throughput")


class CreditVolume(VolumeType):
    """gp2: IOPS grow with size, and small volumes burst on credits.

    Attributes:
        iops_credits: I/O operations in a full bucket.
        small_size: Up to this size the rate is at most `small_rate`.
    """

    family: Literal["credits"] = "credits"
    iops_min: Count
    iops_per_gib: Count
    iops_burst: Count
    iops_credits: Count
    small_size: Size
    small_rate: Rate

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:
        """IOPS = size x IOPS per GiB within bounds; rate = IOPS x largest operation; burst = credits."""
        self._nothing_provisioned(iops, rate)
        baseline = min(self.iops_max, max(self.iops_min, size * self.iops_per_gib // GIB))
        burst = max(baseline, self.iops_burst)
        most = self.small_rate if size <= self.small_size else self.rate_max
        sustained = min(most, float(baseline * self.largest_io))
        seconds = self.iops_credits / (burst - baseline) if burst > baseline else None
        how = (
            f"{self.iops_per_gib} IOPS per GiB, {self.iops_min} to {self.iops_max}; "
            f"IOPS x {format_size(self.largest_io)}, at most {format_mib(most)}"
        )
        if seconds is not None:
            how += f"; {self.iops_credits / 1e6:g} M I/O credits / ({burst} - {baseline} IOPS) = {seconds:.0f} s"
        longer = self.iops_credits / (most / self.largest_io - baseline) if most > sustained else None
        return _symmetric_limits(sustained, most, baseline, burst, (seconds, longer), how)


class ProvisionedVolume(VolumeType):
    """gp3, io1, io2: IOPS are provisioned.

    Attributes:
        iops_free: IOPS included in the price, and the default; None: the number must be stated.
        iops_min: Fewest IOPS that can be provisioned.
        iops_per_gib: Most IOPS that can be provisioned for each GiB.
        rate_free: Bytes per second included in the price; more is charged separately. None: the rate follows from the
            IOPS.
        knee_rate: Above this rate, the limit is IOPS x `knee_io` bytes per second if that is more; None: no such rate.
    """

    family: Literal["provisioned"] = "provisioned"
    iops_free: Count | None = None
    iops_min: Count
    iops_per_gib: Count
    rate_free: Rate | None = None
    knee_rate: Rate | None = None
    knee_io: Size | None = None

    def max_iops(self, size: int) -> int:
        """Return the most IOPS that a volume of `size` bytes can have."""
        return max(self.iops_free or 0, min(self.iops_max, size * self.iops_per_gib // GIB))

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:
        """Return the provisioned or included IOPS and rate; there is no burst."""
        iops = self.iops_free if iops is None else iops
        most = self.max_iops(size)
        if iops is None:
            raise AssayError(f"{self.name} needs its IOPS stated", f"{self.iops_min} to {most} at this size")
        if not self.iops_min <= iops <= most:
            hint = f"{self.iops_min} to {most}, at most {self.iops_per_gib} per GiB"
            raise AssayError(f"{self.name} of {format_size(size)} cannot have {iops} IOPS", hint)
        follows = float(iops * self.largest_io)
        if self.knee_rate is not None:
            follows = min(follows, max(self.knee_rate, float(iops * (self.knee_io or 0))))
        follows = min(follows, self.rate_max)
        if self.rate_free is None:
            if rate is not None:
                raise AssayError(
                    f"{self.name} takes no provisioned throughput", "leave `throughput` out: it follows from the IOPS"
                )
            how = f"{iops} IOPS x {format_size(self.largest_io)}, at most {format_mib(self.rate_max)}"
            if self.knee_rate is not None:
                how += f"; beyond {format_mib(self.knee_rate)}, IOPS x {format_size(self.knee_io or 0)}"
            return _symmetric_limits(follows, follows, iops, iops, NO_BURST, how)
        chosen = self.rate_free if rate is None else rate
        if not self.rate_free <= chosen <= follows:
            hint = (
                f"{format_mib(self.rate_free)} to {format_mib(follows)} with {iops} IOPS, to "
                f"{format_mib(self.rate_max)} with more"
            )
            raise AssayError(f"{self.name} cannot have {format_mib(chosen)}", hint)
        how = (
            f"{iops} IOPS and {format_mib(chosen)} as provisioned; {self.iops_free} and "
            f"{format_mib(self.rate_free)} are included"
        )
        return _symmetric_limits(chosen, chosen, iops, iops, NO_BURST, how)


class StreamVolume(VolumeType):
    """st1, sc1: the rate grows with size, and bursts on credits of bytes.

    Attributes:
        rate_per_tib: Sustained bytes per second of each TiB.
        sustained_max: Highest sustained rate of a volume.
        burst_per_tib: Bytes per second of each TiB while credits last, at most `rate_max`.
        credits_per_tib: Bytes in a full bucket for each TiB.
    """

    family: Literal["stream"] = "stream"
    rate_per_tib: Rate
    sustained_max: Rate
    burst_per_tib: Rate
    credits_per_tib: Size

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:
        """Rate = size x rate per TiB; burst = bucket / (burst - baseline); IOPS = rate / largest operation."""
        self._nothing_provisioned(iops, rate)
        sustained = min(self.sustained_max, self.rate_per_tib * size / TIB)
        burst = max(sustained, min(self.rate_max, self.burst_per_tib * size / TIB))
        seconds = self.credits_per_tib * size / TIB / (burst - sustained) if burst > sustained else None
        how = f"{format_mib(self.rate_per_tib)} per TiB, at most {format_mib(self.sustained_max)}"
        if seconds is not None:
            how += f"; burst {format_mib(self.burst_per_tib)} per TiB, at most {format_mib(self.rate_max)}: "
            how += f"{format_size(self.credits_per_tib)} of credits per TiB / (burst - baseline) = {seconds:.0f} s"
        counts = (int(sustained // self.largest_io), int(burst // self.largest_io))
        return _symmetric_limits(sustained, burst, *counts, (seconds, seconds), how)


class PlainVolume(VolumeType):
    """standard (magnetic): the same range of limits for all sizes.

    Attributes:
        iops_typical: Average operations per second.
        rate_typical: The lower end of the range of rates.
    """

    family: Literal["plain"] = "plain"
    iops_typical: Count
    rate_typical: Rate

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:  # noqa: ARG002
        """Return the ends of the stated ranges."""
        self._nothing_provisioned(iops, rate)
        how = "the ends of the published range for all sizes; how long the upper end lasts is not published"
        return _symmetric_limits(self.rate_typical, self.rate_max, self.iops_typical, self.iops_max, NO_BURST, how)


class SizedVolume(VolumeType):
    """Persistent Disk of Google Cloud: IOPS and rate grow with size, without bursts.

    Attributes:
        iops_per_gib: Operations per second of each GiB, at most `iops_max`.
        rate_per_tib: Bytes per second of each TiB, at most `rate_max`.
    """

    family: Literal["sized"] = "sized"
    iops_per_gib: Count
    rate_per_tib: Rate

    def limits(self, size: int, iops: int | None, rate: float | None) -> VolumeLimits:
        """IOPS = size x IOPS per GiB; rate = size x rate per TiB; each within its bound."""
        self._nothing_provisioned(iops, rate)
        count = min(self.iops_max, size * self.iops_per_gib // GIB)
        sustained = min(self.rate_max, self.rate_per_tib * size / TIB)
        how = f"{self.iops_per_gib} IOPS per GiB, at most {self.iops_max}; "
        how += f"{format_mib(self.rate_per_tib)} per TiB, at most {format_mib(self.rate_max)}"
        return _symmetric_limits(sustained, sustained, count, count, NO_BURST, how)


AnyVolume = Annotated[
    CreditVolume | ProvisionedVolume | StreamVolume | PlainVolume | SizedVolume, Field(discriminator="family")
]


def _symmetric_limits(
    sustained: float, burst: float, iops: int, iops_burst: int, seconds: Seconds, how: str
) -> VolumeLimits:
    """Return limits that are the same for reads and writes."""
    return VolumeLimits(
        read_baseline=sustained,
        read_burst=burst,
        write_baseline=sustained,
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
    """Return the limits of a volume of a type and size.

    gp2: min(16000, max(100, 3 x GiB)) IOPS, x 256 KiB to 128 MiB/s (up to 170 GiB) or 250 MiB/s; bursts to 3000 IOPS
        for 5.4 M / (3000 - baseline) s. gp3: as provisioned, from 3000 IOPS and 125 MiB/s. io1, io2: as provisioned, x
        256 KiB.
    st1, sc1: MiB/s per TiB, and 1 TiB of credits per TiB. The numbers are the catalogue's, each with its source.
    Source: docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html

    Args:
        volume_type: Type in the catalogue.
        size_bytes: Size of the volume.
        iops: Provisioned IOPS; None: the included ones.
        throughput: Provisioned bytes per second; None: the included ones.

    Raises:
        AssayError: The type has no such size, IOPS or throughput.
    """
    least, most = volume_type.min_size, volume_type.max_size
    if not least <= size_bytes <= most:
        hint = f"{format_size(least)} to {format_size(most)}"
        raise AssayError(f"{volume_type.name} cannot be {format_size(size_bytes)} large", hint)
    return volume_type.limits(size_bytes, iops, throughput)
