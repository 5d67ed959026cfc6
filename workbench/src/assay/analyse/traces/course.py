"""How a trace goes on in time: bins of equal width, and phases made of them."""

from dataclasses import dataclass, field
from typing import Literal

BINS = 240
"""Bins at most; when there are more, two become one."""
FIRST_WIDTH = 1_000_000
"""Width of a bin at first, in nanoseconds."""
MAX_PHASES = 8
_ONE_SIDED = 0.9
"""Share of reads or writes from which on a phase is one of reads or writes."""

Kind = Literal["quiet", "reads", "writes", "reads and writes", "no data"]


@dataclass
class Span:
    """What happened in a span of time.

    Attributes:
        begin: Nanoseconds since the trace began.
        end: The same.
        operations: Operations that began in it.
        read: Bytes that these read.
        written: Bytes that these wrote.
    """

    begin: int
    end: int
    operations: int = 0
    read: int = 0
    written: int = 0

    @property
    def kind(self) -> Kind:
        """What it mostly is; `no data` where operations moved no bytes."""
        moved = self.read + self.written
        if not self.operations:
            return "quiet"
        if not moved:
            return "no data"
        if self.read >= _ONE_SIDED * moved:
            return "reads"
        return "writes" if self.written >= _ONE_SIDED * moved else "reads and writes"

    def with_next(self, other: "Span") -> "Span":
        """Return the span of this one and the one behind it."""
        return Span(
            self.begin,
            other.end,
            self.operations + other.operations,
            self.read + other.read,
            self.written + other.written,
        )


@dataclass
class TraceCourse:
    """Bins of equal width, which becomes larger as a trace goes on.

    Attributes:
        width: Of a bin, in nanoseconds.
    """

    width: int = FIRST_WIDTH
    _bins: list[list[int]] = field(default_factory=list)

    def add(self, time: int, read: int, written: int) -> None:
        """Count an operation.

        Args:
            time: When it began, in nanoseconds since the trace began.
            read: Bytes that it read.
            written: Bytes that it wrote.
        """
        at = time // self.width
        while at >= BINS:
            self._bins = [_sum(self._bins[one : one + 2]) for one in range(0, len(self._bins), 2)]
            self.width *= 2
            at = time // self.width
        while len(self._bins) <= at:
            self._bins.append([0, 0, 0])
        found = self._bins[at]
        found[0] += 1
        found[1] += read
        found[2] += written

    def spans(self) -> list[Span]:
        """Return the bins."""
        return [Span(at * self.width, (at + 1) * self.width, *each) for at, each in enumerate(self._bins)]

    def phases(self) -> list[Span]:
        """Return neighbouring bins of the same kind as one; of too many phases the shortest become part of others."""
        found = _joined(self.spans())
        while len(found) > MAX_PHASES:
            at = min(range(len(found)), key=lambda one: (found[one].end - found[one].begin, one))
            left = at - 1 if at and (at + 1 == len(found) or _length(found[at - 1]) >= _length(found[at + 1])) else at
            found[left : left + 2] = [found[left].with_next(found[left + 1])]
            found = _joined(found)
        return found


def _joined(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    for span in spans:
        if found and found[-1].kind == span.kind:
            found[-1] = found[-1].with_next(span)
        else:
            found.append(span)
    return found


def _length(span: Span) -> int:
    return span.end - span.begin


def _sum(bins: list[list[int]]) -> list[int]:
    return [sum(each) for each in zip(*bins, strict=True)]
