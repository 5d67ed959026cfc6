"""The rate of a running phase: now, over the last minute, and since its start. Pure.

Engines report no interval in which no operation ended. Its rate is 0, or the share of operations that ended later.
"""

from collections import deque
from typing import NamedTuple

from assay.run.listener import HostInterval, Stretch

RECENT_NS = 60 * 10**9
"""Length of the period that `lately` covers: the last minute."""
SILENT_NS = 3 * 10**9
"""A host that reports nothing for this long, and for three intervals, while others report, has a rate of 0."""
MAX_BINS = 256
"""Bins of a course at most; when there would be more, pairs are merged."""


class Rate(NamedTuple):
    """Bytes and operations per second."""

    bytes: float
    ops: float

    def of(self, counted: bool) -> float:
        """Return operations per second if `counted`, else bytes per second."""
        return self.ops if counted else self.bytes


class HostHistory:
    """The intervals that one host has reported in a phase."""

    def __init__(self) -> None:
        """Start without any interval."""
        self._recent: deque[Stretch] = deque()
        """The work of the last minute."""
        self._last = Stretch(0, 1, 0.0, 0.0)

    def add(self, host_interval: HostInterval) -> None:
        """Add an interval; drop what is older than `RECENT_NS`."""
        self._last = host_interval.work
        self._recent.extend((*host_interval.earlier, host_interval.work))
        while self._recent[0].end_ns <= host_interval.work.end_ns - RECENT_NS:
            self._recent.popleft()

    def known_until_ns(self, latest_ns: int) -> int:
        """Return until when the host's work is known; the latest interval of any host ended at `latest_ns`."""
        start, end, _, _ = self._last
        return latest_ns if latest_ns - end > max(SILENT_NS, 3 * (end - start)) else end

    def now(self, latest_ns: int) -> Rate:
        """Return the rate in the last interval; `latest_ns` as for `until`."""
        start, end, moved, ops = self._last
        if self.known_until_ns(latest_ns) > end:
            return Rate(0.0, 0.0)
        return Rate(moved * 1e9 / (end - start), ops * 1e9 / (end - start))

    def recent(self, latest_ns: int) -> Rate:
        """Return the mean rate over the last minute, or since the start of the phase; `latest_ns` as for `until`."""
        until = self.known_until_ns(latest_ns)
        since = max(0, until - RECENT_NS)
        moved = ops = 0.0
        for part in self._recent:
            share = (min(until, part.end_ns) - max(since, part.start_ns)) / (part.end_ns - part.start_ns)
            if share > 0:
                moved += share * part.bytes
                ops += share * part.ops
        return Rate(moved * 1e9 / (until - since), ops * 1e9 / (until - since))


class Bins:
    """The work since the start of a phase, in bins of equal length."""

    def __init__(self) -> None:
        """Start without any bin."""
        self._length = 0
        self._bins: list[Rate] = []
        """Amounts in each bin, not rates."""

    def add(self, part: Stretch) -> None:
        """Add the work of a stretch, spread evenly over its time."""
        whole = part.end_ns - part.start_ns
        self._length = self._length or whole
        while part.end_ns > self._length * MAX_BINS:
            self._length *= 2
            self._bins = self._joined(2)
        for number in range(part.start_ns // self._length, (part.end_ns - 1) // self._length + 1):
            start, end = number * self._length, (number + 1) * self._length
            share = (min(end, part.end_ns) - max(start, part.start_ns)) / whole
            while len(self._bins) <= number:
                self._bins.append(Rate(0.0, 0.0))
            before = self._bins[number]
            self._bins[number] = Rate(before.bytes + share * part.bytes, before.ops + share * part.ops)

    def _joined(self, step: int) -> list[Rate]:
        parts = [self._bins[place : place + step] for place in range(0, len(self._bins), step)]
        return [Rate(sum(rate.bytes for rate in part), sum(rate.ops for rate in part)) for part in parts]

    def columns(self, most: int, until_ns: int, counted: bool) -> list[float]:
        """Return at most `most` consecutive rates, each over an equally long time.

        Args:
            most: Number of rates, at least 1.
            until_ns: Time up to which the work is known. A column that ends later is left out, unless it is the first.
            counted: Return operations per second instead of bytes per second.
        """
        if not self._bins:
            return []
        bins = max(1, until_ns // self._length)
        step = -(-bins // most)
        length = self._length * step
        amounts = [amount.of(counted) for amount in self._joined(step)]
        amounts += [0.0] * (bins // step - len(amounts))
        if until_ns < length:
            return [amounts[0] * 1e9 / max(1, until_ns)]
        return [amount * 1e9 / length for amount in amounts[: until_ns // length]]


class PhaseHistory:
    """The intervals that all hosts have reported in a phase."""

    def __init__(self) -> None:
        """Start without any host."""
        self.hosts: dict[str, HostHistory] = {}
        self.counted = False
        self.latencies: dict[str, tuple[str, ...]] = {}
        """Host -> latencies of its last interval in which operations ended."""
        self._bins = Bins()
        self._latest_ns = 0

    def add(self, host_interval: HostInterval) -> None:
        """Add an interval of a host."""
        self.hosts.setdefault(host_interval.host, HostHistory()).add(host_interval)
        self._latest_ns = max(self._latest_ns, host_interval.work.end_ns)
        for part in (host_interval.work, *host_interval.earlier):
            self._bins.add(part)
        self.counted = self.counted or host_interval.in_operations
        if host_interval.latencies:
            self.latencies[host_interval.host] = host_interval.latencies

    @property
    def seconds(self) -> float:
        """Seconds that the `lately` rates cover; 0 before the first interval."""
        return min(self._latest_ns, RECENT_NS) / 1e9

    def by_host(self) -> list[tuple[str, Rate, Rate]]:
        """Return name, current rate and rate of the last minute of each host."""
        latest = self._latest_ns
        return [(name, host.now(latest), host.recent(latest)) for name, host in self.hosts.items()]

    def rates(self) -> tuple[Rate, Rate]:
        """Return the current rate and that of the last minute, of all hosts together."""
        every = self.by_host()
        return _total([now for _, now, _ in every]), _total([lately for _, _, lately in every])

    def columns(self, most: int) -> list[float]:
        """See `Bins.columns`."""
        until = min((host.known_until_ns(self._latest_ns) for host in self.hosts.values()), default=0)
        return self._bins.columns(most, until, self.counted)


def _total(rates: list[Rate]) -> Rate:
    return Rate(sum(rate.bytes for rate in rates), sum(rate.ops for rate in rates))
