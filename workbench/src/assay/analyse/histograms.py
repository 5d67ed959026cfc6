"""Decodes latency histograms, merges them exactly and computes percentiles.

The format is HdrHistogram V2, deflated, base64 (http://hdrhistogram.org). A merged histogram is the sum of counters:
its percentiles are those of a single histogram of all values. Percentiles are never averaged.
"""

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
from hdrh.codec import HdrHistogramEncoder, PayloadHeader
from hdrh.histogram import HdrHistogram, get_bucket_count

from assay.contract.bounds import HISTOGRAM_BYTES, HISTOGRAM_CHARS, HISTOGRAM_COUNTERS
from assay.model.base import AssayError
from assay.model.result.percentile import PERCENTILES

_TICKS_PER_HALVING = 3
_HIGHEST = 2**62
_DIGITS = 3
_OUTER_BYTES = 8
"""Cookie and length before the compressed data (HdrHistogram, V2 encoding)."""


@dataclass(frozen=True)
class Histogram:
    """Counts of latencies in nanoseconds.

    Attributes:
        lowest: Lowest value that differs from 0; rounded down to a power of two.
        digits: Significant decimal digits.
        first: Index of the first counter that is not zero.
        counts: The counters from the first to the last that is not zero.
    """

    lowest: int
    digits: int
    first: int
    counts: npt.NDArray[np.int64]

    @cached_property
    def cumulative(self) -> npt.NDArray[np.int64]:
        """Cumulative sums of the counters."""
        return np.cumsum(self.counts)

    @cached_property
    def total(self) -> int:
        """Number of recorded latencies."""
        return int(self.counts.sum())


@cache
def _half_magnitude(digits: int) -> int:
    """Binary logarithm of half a bucket's number of counters (HdrHistogram's subBucketHalfCountMagnitude)."""
    return int(2 * 10**digits - 1).bit_length() - 1


@cache
def _counters(lowest: int, highest: int, digits: int) -> int:
    half = _half_magnitude(digits)
    buckets: int = get_bucket_count(min(highest, _HIGHEST), 2 << half, lowest.bit_length() - 1)
    return int((buckets + 1) << half)


def decode(text: str) -> Histogram:
    """Read a histogram.

    Args:
        text: HDR V2, deflated, base64.

    Raises:
        AssayError: The text is not such a histogram, or has more counters or counts than any of ours.
    """
    try:
        header = _header(text)
        payload = HdrHistogramEncoder.decode(text)
        lowest, digits = max(1, header.lowest_trackable_value), header.significant_figures
        found = payload.init_counts(_counters(lowest, header.highest_trackable_value, digits))
        # Without any counter that is not zero, the first is -1.
        first, end = max(0, found["min_nonzero_index"]), found["max_nonzero_index"] + (found["min_nonzero_index"] >= 0)
        counts = np.frombuffer(payload.get_counts(), dtype=np.int64)[first:end].copy()
        _check_counts(counts)
    except Exception as error:  # the package raises zlib.error, TypeError, IndexError and its own kinds
        raise AssayError(f"a latency histogram cannot be read: {error or type(error).__name__}") from error
    return Histogram(lowest, digits, first, counts)


def _header(text: str) -> PayloadHeader:
    """Check the whole text with bounded memory, and return the histogram's header.

    Raises:
        ValueError: The text is no histogram, or is larger than one of three significant digits can be.
    """
    if len(text) > HISTOGRAM_CHARS:
        raise ValueError("it is too long")
    inflating = zlib.decompressobj()
    packed = base64.b64decode(text)[_OUTER_BYTES:]
    whole = inflating.decompress(packed, HISTOGRAM_BYTES + 1)
    if len(whole) > HISTOGRAM_BYTES or not inflating.eof:
        raise ValueError("it is larger than any histogram, or truncated")
    header = PayloadHeader.from_buffer_copy(whole)
    lowest, highest = header.lowest_trackable_value, header.highest_trackable_value
    if not 1 <= header.significant_figures <= _DIGITS or not lowest <= highest or lowest > _HIGHEST:
        raise ValueError("its bounds or resolution are not those of an Assay histogram")
    if _counters(max(1, lowest), highest, header.significant_figures) > HISTOGRAM_COUNTERS:
        raise ValueError("it has more counters than an Assay histogram")
    return header


def _check_counts(counts: npt.NDArray[np.int64]) -> None:
    """Raise ValueError for negative counts, or more counts than an engine can record."""
    # Summed in floating point, because an integer sum may overflow.
    if len(counts) and (counts.min() < 0 or counts.sum(dtype=np.float64) > _HIGHEST):
        raise ValueError("its counts are negative or too large")


def encode(histogram: Histogram) -> str:
    """Write a histogram as HDR V2, deflated, base64."""
    total, first, end = histogram.total, histogram.first, histogram.first + len(histogram.counts)
    highest = 2 * histogram.lowest
    if total:
        highest = max(highest, int(_highest_values(histogram, np.array([end - 1]))[0]))
    wire = HdrHistogram(histogram.lowest, highest, histogram.digits)
    if total:
        np.frombuffer(wire.counts, dtype=np.int64)[first:end] = histogram.counts
        wire.set_internal_tacking_values(first, end - 1, total)
    return _written(wire)


def of_counts(counts: Mapping[int, int], highest: int, digits: int) -> str:
    """Write counts of times as a histogram: HDR V2, deflated, base64.

    Args:
        counts: Time in ns -> how often it was measured.
        highest: Longest time that the histogram can hold, in ns.
        digits: Its significant digits.
    """
    wire = HdrHistogram(1, max(2, highest), digits)
    for time, count in counts.items():
        if count:
            wire.record_value(time, count)
    return _written(wire)


def _written(wire: HdrHistogram) -> str:
    text: bytes = wire.encode()
    # It refers to its encoder, which refers to it: both would stay until garbage is collected.
    wire.encoder = None
    return text.decode("ascii")


def check_resolution(one: Histogram, other: Histogram) -> None:
    """Check that two histograms can be added exactly.

    Raises:
        AssayError: They differ in resolution, so that no exact sum exists.
    """
    if (other.lowest, other.digits) != (one.lowest, one.digits):
        raise AssayError("latency histograms of different resolution cannot be merged exactly")


def merge(histograms: Sequence[Histogram]) -> Histogram:
    """Return the exact sum of histograms.

    Raises:
        AssayError: They differ in resolution, so that no exact sum exists.
    """
    one = histograms[0]
    for other in histograms:
        check_resolution(one, other)
    filled = [histogram for histogram in histograms if len(histogram.counts)]
    if len(filled) < 2:
        return filled[0] if filled else one
    first = min(histogram.first for histogram in filled)
    end = max(histogram.first + len(histogram.counts) for histogram in filled)
    counts = np.zeros(end - first, dtype=np.int64)
    for histogram in filled:
        start = histogram.first - first
        counts[start : start + len(histogram.counts)] += histogram.counts
    return Histogram(one.lowest, one.digits, first, counts)


def subtract_part(whole: Histogram, part: Histogram) -> Histogram:
    """Return `whole` minus `part`, exactly.

    Raises:
        AssayError: `part` is not contained in `whole`.
    """
    start, end = part.first - whole.first, part.first - whole.first + len(part.counts)
    if not len(part.counts):
        return whole
    if (whole.lowest, whole.digits) != (part.lowest, part.digits) or start < 0 or end > len(whole.counts):
        raise AssayError("a latency histogram is not contained in the one that should contain it")
    counts = whole.counts.copy()
    counts[start:end] -= part.counts
    if counts.min() < 0:
        raise AssayError("a latency histogram is not contained in the one that should contain it")
    return Histogram(whole.lowest, whole.digits, whole.first, counts)


def percentiles(histogram: Histogram, percents: Sequence[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the least recorded value, in ns, that at least each percentage of the values does not exceed.

    As in the engine, each value is represented by the highest value of its counter.

    Args:
        histogram: Not empty.
        percents: 0 to 100; 0 is the least value.
    """
    total = histogram.total
    # 99.9 % of 1000 must be 999, whatever the last bit of 0.999 says.
    wanted = np.ceil(np.asarray(percents) * (total / 100.0) * (1.0 - 1e-12))
    places = np.searchsorted(histogram.cumulative, np.clip(wanted, 1, total).astype(np.int64), side="left")
    return _highest_values(histogram, places + histogram.first)


def summary(histogram: Histogram) -> dict[str, float]:
    """Return median and tail percentiles as name -> nanoseconds; empty if nothing was recorded."""
    if not histogram.total:
        return {}
    values = percentiles(histogram, tuple(PERCENTILES.values()))
    return dict(zip(PERCENTILES, values.astype(float).tolist(), strict=True))


def moments(histogram: Histogram) -> tuple[float, float]:
    """Return mean and standard deviation, in nanoseconds, of a histogram that is not empty.

    Each latency counts as the highest value of its counter, which is within 0.1 %.
    """
    values = _highest_values(histogram, np.arange(len(histogram.counts)) + histogram.first).astype(np.float64)
    mean = float(np.average(values, weights=histogram.counts))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=histogram.counts)))


def values_and_counts(histogram: Histogram) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the highest latency of each counter, in nanoseconds and ascending, and how many latencies it counts."""
    return _highest_values(histogram, np.arange(len(histogram.counts)) + histogram.first), histogram.counts


def curve(histogram: Histogram) -> tuple[tuple[float, float], ...]:
    """Return points (percent, nanoseconds) for drawing over an axis of 1/(1-p), up to the greatest recorded latency.

    The points are evenly spaced on that axis, three for each halving of the rest; the last one is (100, greatest).
    """
    total = histogram.total
    if not total:
        return ()
    ticks = _TICKS_PER_HALVING * max(1, (total - 1).bit_length())
    percents = _percents(ticks)
    return tuple(zip(percents.tolist(), percentiles(histogram, percents).astype(float).tolist(), strict=True))


@cache
def _percents(ticks: int) -> npt.NDArray[np.float64]:
    return np.append(100.0 * (1.0 - 0.5 ** (np.arange(ticks) / _TICKS_PER_HALVING)), 100.0)


def _highest_values(histogram: Histogram, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the highest value of each of these counters (HdrHistogram's highestEquivalentValue)."""
    half, unit = _half_magnitude(histogram.digits), histogram.lowest.bit_length() - 1
    bucket = np.maximum((indices >> half) - 1, 0)
    sub_bucket = indices - (bucket << half)
    highest: npt.NDArray[np.int64] = ((sub_bucket + 1) << (bucket + unit)) - 1
    return highest
