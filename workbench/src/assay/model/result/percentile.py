"""Percentiles of latency: the operations that each needs, and how accurately it is known."""

from collections.abc import Mapping
from enum import StrEnum

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99.9": 99.9, "p99.99": 99.99}
"""Names in results -> percent."""

MIN_BEYOND = 10
"""Fewest operations expected beyond a percentile, on the side with fewer, for the percentile to be stated.

Of n independent latencies, the share of all latencies below the one of rank k is distributed as Beta(k, n + 1 - k),
whatever the distribution of the latencies (David and Nagaraja, "Order Statistics", 3rd edition, 2003, chapter 2). With
1,000 operations, ten of them beyond it, the measured p99 is the true p98.2 to p99.5 in 95 of 100 repeats. With 100, one
beyond it, the true value is between p94.6 and p99.8. A "p99.9" of five operations is the slowest one: p48 to p99.5.
"""

MIN_OPS = {name: round(100 * MIN_BEYOND / min(percent, 100 - percent)) for name, percent in PERCENTILES.items()}
"""Name -> fewest operations for which it is stated: 20, 100, 1,000, 10,000 and 100,000."""

MAX_INTERVAL_RATIO = 2.0
"""A percentile is uncertain if the upper end of its interval is more than this times the lower one.

It is a factor because causes of a long tail multiply: a queue twice as long, a stall twice as often. Latency limits
come in steps of 1, 2, 5, 10 ms: a wider interval contains a whole step, and does not show which limit is satisfied.
"""


class PercentileQuality(StrEnum):
    """How well a percentile is known."""

    KNOWN = "known"
    UNCERTAIN = "uncertain"
    NO_INTERVAL = "no interval"
    TOO_FEW = "too few operations"


def reliable_latencies(latency: Mapping[str, float], ops: int) -> dict[str, float]:
    """Return the latencies (`p50`, ..., `min`, `mean`, `max`) for which `ops` operations suffice."""
    return {name: value for name, value in latency.items() if ops >= MIN_OPS.get(name, 1)}
