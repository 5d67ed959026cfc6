"""Whether a percentile of latency is below a limit, from the histograms of several repeats."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.analyse import histograms
from assay.analyse.needs.outcome import NeedOutcome, NeedStatus
from assay.analyse.statistics.shares import Exceeding, effective_share

Counter = Callable[[float], list[Exceeding]]
"""NeedLimit in nanoseconds -> operations of each repeat that took longer."""


@dataclass(frozen=True)
class RepeatLatencies:
    """The latencies of one repeat.

    Attributes:
        values: Latencies in nanoseconds, ascending.
        counts: How many operations had each of them.
        unstarted: Operations that were due but never started. They count as longer than any limit.
        client_wait_ns: Closed loop: time in which operations may have waited for a CPU of this host, and not for the
            storage.
        client_late_ops: Open loop: operations that such waits may have delayed.
        client_longest_ns: Open loop: the longest such wait; None if it is not known.
    """

    values: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    unstarted: int = 0
    client_wait_ns: float = 0.0
    client_late_ops: float = 0.0
    client_longest_ns: float | None = None

    @property
    def ops(self) -> int:
        """All operations that were due."""
        return int(self.counts.sum()) + self.unstarted

    @property
    def mean_ns(self) -> float:
        """Mean latency of the operations that ended."""
        return float((self.values * self.counts).sum()) / max(1, int(self.counts.sum()))

    def over(self, limit_ns: float) -> Exceeding:
        """Return how many operations took `limit_ns` or longer."""
        return Exceeding(int(self.counts[self.values >= limit_ns].sum()) + self.unstarted, self.ops)

    def over_without_waits(self, limit_ns: float) -> Exceeding:
        """Return how many operations took longer even without any wait for a CPU.

        The waits are taken off where they bring the most operations below the limit: from the shortest excess on. So
        the result is a lower bound of what the storage itself caused.
        """
        raw = self.over(limit_ns)
        if self.client_late_ops:
            return Exceeding(max(0, raw.over - math.ceil(self.client_late_ops)), raw.ops)
        if not self.client_wait_ns:
            return raw
        above = self.values >= limit_ns
        excess, counts = self.values[above] - limit_ns + 1, self.counts[above]
        needed = np.cumsum(excess.astype(np.float64) * counts)
        whole = int(np.searchsorted(needed, self.client_wait_ns, side="right"))
        removed = int(counts[:whole].sum())
        if whole < len(counts):
            spent = float(needed[whole - 1]) if whole else 0.0
            removed += int((self.client_wait_ns - spent) // float(excess[whole]))
        return Exceeding(raw.over - removed, raw.ops)


def repeat_latencies(
    histogram: str, unstarted: int = 0, client_wait_ns: float = 0.0, client_late_ops: float = 0.0
) -> RepeatLatencies:
    """Return the latencies of a repeat from its histogram (HDR V2, base64); arguments as for `RepeatLatencies`."""
    values, counts = histograms.values_and_counts(histograms.decode(histogram))
    return RepeatLatencies(values, counts, unstarted, client_wait_ns, client_late_ops)


def decide_percentile(repeats: Sequence[RepeatLatencies], allowed_share: float, limit_ns: float) -> NeedOutcome:
    """Return whether fewer than `allowed_share` of the operations take `limit_ns` or longer.

    A percentile is below a limit exactly if the share of operations that take longer is below what the percentile
    leaves: 1 % for p99. That share has exact binomial bounds (`assay.analyse.statistics.shares`) whatever the
    distribution of the latencies. The interval of the percentile consists of the limits that would be undecided.

    Args:
        repeats: At least one.
        allowed_share: Share of the operations that may take longer.
        limit_ns: The limit in nanoseconds.
    """
    over: Counter = lambda limit: [each.over(limit) for each in repeats]  # noqa: E731
    storage: Counter = lambda limit: [each.over_without_waits(limit) for each in repeats]  # noqa: E731
    grid = np.unique(np.concatenate([each.values[each.counts > 0] for each in repeats]))
    value = _first(grid, lambda limit: _share(over(limit + 1)) <= allowed_share)
    high = _first(grid, lambda limit: effective_share(over(limit + 1)).is_below(allowed_share))
    low = _first(grid, lambda limit: not effective_share(over(limit + 1)).is_above(allowed_share))
    if effective_share(over(limit_ns)).is_below(allowed_share):
        return NeedOutcome(NeedStatus.YES, value, low, high)
    if effective_share(storage(limit_ns)).is_above(allowed_share):
        return NeedOutcome(NeedStatus.NO, value, low, high)
    return NeedOutcome(NeedStatus.UNDECIDED, value, low, high, _why_open(repeats, allowed_share, limit_ns))


def _share(repeats: Sequence[Exceeding]) -> float:
    return sum(each.over for each in repeats) / max(1, sum(each.ops for each in repeats))


def _first(grid: npt.NDArray[np.int64], holds: Callable[[int], bool]) -> float | None:
    """Return the least latency of the grid for which `holds` is true; None if it is for none."""
    low, high = 0, len(grid)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(int(grid[middle])) else (middle + 1, high)
    return float(grid[low]) if low < len(grid) else None


def _why_open(repeats: Sequence[RepeatLatencies], allowed_share: float, limit_ns: float) -> str:
    """Return why the bounds of the share include the allowed one."""
    if effective_share([each.over(limit_ns) for each in repeats]).is_above(allowed_share):
        return "operations waited for a CPU of this host, which may be why they took so long"
    none_over = effective_share([Exceeding(0, each.ops) for each in repeats])
    if not none_over.is_below(allowed_share):
        return f"too few operations: {sum(each.ops for each in repeats):,}"
    return "the limit lies within the interval"
