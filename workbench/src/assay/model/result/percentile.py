"""Percentiles of latency: how many operations it takes to speak of one, and how well it is known."""

from collections.abc import Mapping
from enum import StrEnum

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99.9": 99.9, "p99.99": 99.99}
"""Names used in results -> percent."""

LEAST_BEYOND = 10
"""So many operations are to be expected beyond a percentile, on the side that has fewer.

Of n independent latencies the one of rank k has a share of all latencies below it that is distributed as
Beta(k, n + 1 - k), whatever the latencies are (David and Nagaraja, "Order Statistics", 3rd edition, 2003, chapter 2).
With ten beyond it, of 1,000, what is called p99 is the true p98.2 to p99.5 in 95 of 100 repeats. With one beyond it, of
100, it is anything from p94.6 to p99.8; and "p99.9" of five is the slowest one, which is the true p48 to p99.5.
"""

LEAST_OPS = {name: round(100 * LEAST_BEYOND / min(percent, 100 - percent)) for name, percent in PERCENTILES.items()}
"""Name -> fewest operations that it can be said of: 20, 100, 1,000, 10,000 and 100,000."""

WIDEST = 2.0
"""A percentile is uncertain if the upper end of its interval is more than this times the lower one.

A factor, because what makes a tail long multiplies: a queue that is twice as long, a stall that comes twice as often.
Limits of latency are written in steps of 1, 2, 5, 10 ms: an interval wider than that holds a whole step, and does not
tell which limit is kept.
"""


class Standing(StrEnum):
    """What can be said of a percentile."""

    KNOWN = "known"
    UNCERTAIN = "uncertain"
    NO_INTERVAL = "no interval"
    TOO_FEW = "too few operations"


def said(latency: Mapping[str, float], ops: int) -> dict[str, float]:
    """Of latencies by name (`p50`, ..., `min`, `mean`, `max`) those that so many operations can tell."""
    return {name: value for name, value in latency.items() if ops >= LEAST_OPS.get(name, 1)}
