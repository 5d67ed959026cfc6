"""Percentiles of latency in words and in cells, each with a remark on how well it is known."""

from assay.model.result.percentile import MAX_INTERVAL_RATIO, PercentileQuality
from assay.model.result.result import Percentile
from assay.report import numbers
from assay.report.document import Num

EXPLANATION = (
    "A percentile is the median of those of the repeats, with its 95 % confidence interval. Each repeat needs ten "
    "slower operations for it (p50: 20 operations in all, p90: 100, p99: 1,000, p99.9: 10,000, p99.99: 100,000); if "
    "only all repeats together have as many, there is no interval, and with fewer no number. It is uncertain if the "
    f"upper end of its interval is more than {MAX_INTERVAL_RATIO:g} times the lower one."
)


def percentile_words(item: Percentile) -> str:
    """Return a percentile with its interval and, unless it is well known, the reason; without its name."""
    if item.value is None:
        return f"{PercentileQuality.TOO_FEW}: {item.ops:,} in all repeats, {item.name} takes {item.min_ops:,}"
    low, high = item.interval
    middle = numbers.latency(item.value)
    if low is not None and high is not None:
        middle += f" ({numbers.latency(low)} to {numbers.latency(high)})"
    if item.quality is PercentileQuality.KNOWN:
        return middle
    return f"{middle}, {item.quality}: {_why(item)}"


def _why(item: Percentile) -> str:
    """Return why a percentile is not well known."""
    if item.estimate is None or item.lowest is None or item.highest is None:
        least = numbers.plural(item.fewest_ops, "operation")
        few = f", because one has {least}, and it takes {item.min_ops:,} in each"
        return f"of all repeats together{few if item.fewest_ops < item.min_ops else ''}"
    if item.estimate.n == 1:
        return "one repeat"
    ends = f"{numbers.latency(item.lowest)} to {numbers.latency(item.highest)}"
    return f"{item.name} of the {item.estimate.n} repeats: {ends}"


def percentile_cell(item: Percentile | None, interval: bool = False) -> Num:
    """Return a percentile in µs for a table, with a remark unless it is well known.

    Args:
        item: The percentile; None if no latencies were recorded.
        interval: Add the ends of its interval.
    """
    if item is None:
        return Num(numbers.NONE, None)
    if item.value is None:
        return Num("too few", None)
    text = numbers.microseconds(item.value)
    low, high = item.interval
    if interval and low is not None and high is not None:
        text += f" ({numbers.microseconds(low)} – {numbers.microseconds(high)})"
    return Num(text if item.quality is PercentileQuality.KNOWN else f"{text} {item.quality}", item.value)
