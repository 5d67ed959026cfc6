"""The rate of a phase while it lasts: now, over the last minute, and from its start on. Pure."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from assay.run.listener import Heard

LATELY_NS = 60 * 10**9
"""What counts as lately: the last minute."""
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
        self._recent: deque[tuple[int, int, float, float]] = deque()
        """Start, end, bytes and operations of the intervals of the last minute."""

    def add(self, heard: Heard) -> None:
        """An interval; what has become older than a minute is forgotten."""
        self._recent.append((heard.start_ns, heard.end_ns, heard.bytes, heard.ops))
        while self._recent[0][1] <= heard.end_ns - LATELY_NS:
            self._recent.popleft()

    @property
    def now(self) -> Rate:
        """In the last interval."""
        start, end, moved, ops = self._recent[-1]
        return Rate(moved * 1e9 / (end - start), ops * 1e9 / (end - start))

    @property
    def lately(self) -> Rate:
        """Over the intervals of the last minute."""
        whole = sum(end - start for start, end, _, _ in self._recent)
        return Rate(
            sum(moved for _, _, moved, _ in self._recent) * 1e9 / whole,
            sum(ops for _, _, _, ops in self._recent) * 1e9 / whole,
        )

    @property
    def seconds(self) -> float:
        """What `lately` is the mean of."""
        return (self._recent[-1][1] - self._recent[0][0]) / 1e9


class Bins:
    """A rate from the start of a phase on, in stretches of equal length."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._length = 0
        self._bins: list[list[float]] = []
        """Bytes, operations, and nanoseconds that were heard of, of all hosts together."""

    def add(self, heard: Heard) -> None:
        """An interval: what was done in it counts as done evenly."""
        whole = heard.end_ns - heard.start_ns
        self._length = self._length or whole
        while heard.end_ns > self._length * MOST_BINS:
            self._halve()
        for number in range(heard.start_ns // self._length, (heard.end_ns - 1) // self._length + 1):
            start, end = number * self._length, (number + 1) * self._length
            inside = min(end, heard.end_ns) - max(start, heard.start_ns)
            while len(self._bins) <= number:
                self._bins.append([0.0, 0.0, 0.0])
            part = self._bins[number]
            part[0] += heard.bytes * inside / whole
            part[1] += heard.ops * inside / whole
            part[2] += inside

    def _halve(self) -> None:
        self._length *= 2
        self._bins = [_sum(self._bins[place : place + 2]) for place in range(0, len(self._bins), 2)]

    def columns(self, most: int, counted: bool, hosts: int) -> list[float | None]:
        """At most so many rates, one after the other, each of equally long; None where nothing was heard of.

        Args:
            most: At least 1.
            counted: Operations per second, not bytes.
            hosts: How many are heard of: rates are of all together.
        """
        step = -(-len(self._bins) // most) or 1
        groups = [_sum(self._bins[place : place + step]) for place in range(0, len(self._bins), step)]
        return [group[counted] * 1e9 / group[2] * hosts if group[2] else None for group in groups]


def _sum(parts: Sequence[Sequence[float]]) -> list[float]:
    return [sum(values) for values in zip(*parts, strict=True)]


class PhaseCourse:
    """What was heard of a phase, of all hosts."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.hosts: dict[str, HostCourse] = {}
        self.bins = Bins()
        self.counted = False
        self.latencies: dict[str, tuple[str, ...]] = {}
        """Host -> latencies of its last interval in which anything ended."""

    def add(self, heard: Heard) -> None:
        """An interval of a host."""
        self.hosts.setdefault(heard.host, HostCourse()).add(heard)
        self.bins.add(heard)
        self.counted = self.counted or heard.counted
        if heard.latencies:
            self.latencies[heard.host] = heard.latencies

    @property
    def now(self) -> Rate:
        """Of all hosts together."""
        return _total([host.now for host in self.hosts.values()])

    @property
    def lately(self) -> Rate:
        """Of all hosts together, over the last minute."""
        return _total([host.lately for host in self.hosts.values()])

    @property
    def seconds(self) -> float:
        """What `lately` is the mean of; 0 if nothing was heard."""
        return max((host.seconds for host in self.hosts.values()), default=0.0)

    def columns(self, most: int) -> list[float | None]:
        """See `Bins.columns`."""
        return self.bins.columns(most, self.counted, len(self.hosts))


def _total(rates: Sequence[Rate]) -> Rate:
    return Rate(sum(rate.bytes for rate in rates), sum(rate.ops for rate in rates))
