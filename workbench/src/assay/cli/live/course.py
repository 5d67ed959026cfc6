"""The rate of a phase while it lasts: now, over the last minute, and from its start on. Pure.

Engines are silent of intervals in which nothing ended; there the rate is 0, or what operations did that ended later.
"""

from collections import deque
from typing import NamedTuple

from assay.run.listener import Heard, Stretch

LATELY_NS = 60 * 10**9
"""What counts as lately: the last minute."""
LATE_NS = 3 * 10**9
"""A host of which nothing is heard for so long, and for three intervals, while others speak, has ended nothing."""
MOST_BINS = 256
"""Of a course; from so many on two become one."""


class Rate(NamedTuple):
    """Per second."""

    bytes: float
    ops: float

    def of(self, counted: bool) -> float:
        """Operations if those are counted, else bytes."""
        return self.ops if counted else self.bytes


class HostCourse:
    """What was heard of one host."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._recent: deque[Stretch] = deque()
        """What was done in the last minute."""
        self._last = Stretch(0, 1, 0.0, 0.0)

    def add(self, heard: Heard) -> None:
        """An interval; what has become older than a minute is forgotten."""
        self._last = heard.done
        self._recent.extend((*heard.earlier, heard.done))
        while self._recent[0].end_ns <= heard.done.end_ns - LATELY_NS:
            self._recent.popleft()

    def until(self, latest_ns: int) -> int:
        """How far it is known what was done, if the last that was heard of any host ended at `latest_ns`."""
        start, end, _, _ = self._last
        return latest_ns if latest_ns - end > max(LATE_NS, 3 * (end - start)) else end

    def now(self, latest_ns: int) -> Rate:
        """In the last interval; `latest_ns` as of `until`."""
        start, end, moved, ops = self._last
        if self.until(latest_ns) > end:
            return Rate(0.0, 0.0)
        return Rate(moved * 1e9 / (end - start), ops * 1e9 / (end - start))

    def lately(self, latest_ns: int) -> Rate:
        """Over the last minute, or from the start of the phase on; `latest_ns` as of `until`."""
        until = self.until(latest_ns)
        since = max(0, until - LATELY_NS)
        moved = ops = 0.0
        for part in self._recent:
            share = (min(until, part.end_ns) - max(since, part.start_ns)) / (part.end_ns - part.start_ns)
            if share > 0:
                moved += share * part.bytes
                ops += share * part.ops
        return Rate(moved * 1e9 / (until - since), ops * 1e9 / (until - since))


class Bins:
    """What was done from the start of a phase on, in stretches of equal length."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._length = 0
        self._bins: list[Rate] = []
        """Amounts, not per second."""

    def add(self, part: Stretch) -> None:
        """What was done in a stretch of time counts as done evenly."""
        whole = part.end_ns - part.start_ns
        self._length = self._length or whole
        while part.end_ns > self._length * MOST_BINS:
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
        """At most so many rates, one after the other, each of equally long.

        Args:
            most: At least 1.
            until_ns: How far it is known what was done. A stretch that ends later is left out, if it is not the first.
            counted: Operations per second, not bytes.
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


class PhaseCourse:
    """What was heard of a phase, of all hosts."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.hosts: dict[str, HostCourse] = {}
        self.counted = False
        self.latencies: dict[str, tuple[str, ...]] = {}
        """Host -> latencies of its last interval in which anything ended."""
        self._bins = Bins()
        self._latest_ns = 0

    def add(self, heard: Heard) -> None:
        """An interval of a host."""
        self.hosts.setdefault(heard.host, HostCourse()).add(heard)
        self._latest_ns = max(self._latest_ns, heard.done.end_ns)
        for part in (heard.done, *heard.earlier):
            self._bins.add(part)
        self.counted = self.counted or heard.counted
        if heard.latencies:
            self.latencies[heard.host] = heard.latencies

    @property
    def seconds(self) -> float:
        """What `lately` is the mean of; 0 if nothing was heard."""
        return min(self._latest_ns, LATELY_NS) / 1e9

    def by_host(self) -> list[tuple[str, Rate, Rate]]:
        """Name, rate now and lately of each."""
        latest = self._latest_ns
        return [(name, host.now(latest), host.lately(latest)) for name, host in self.hosts.items()]

    def rates(self) -> tuple[Rate, Rate]:
        """Now and lately, of all hosts together."""
        every = self.by_host()
        return _total([now for _, now, _ in every]), _total([lately for _, _, lately in every])

    def columns(self, most: int) -> list[float]:
        """See `Bins.columns`."""
        until = min((host.until(self._latest_ns) for host in self.hosts.values()), default=0)
        return self._bins.columns(most, until, self.counted)


def _total(rates: list[Rate]) -> Rate:
    return Rate(sum(rate.bytes for rate in rates), sum(rate.ops for rate in rates))
