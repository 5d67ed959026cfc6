"""The copies of a trace, as one repeat replayed them."""

from collections.abc import Sequence

from pydantic import Field

from assay.model.frozen import Frozen


class ReplayedKind(Frozen):
    """The operations of one kind, such as `read`.

    Attributes:
        count: Operations that were done.
        failed: Of these, those that failed as they did when they were recorded.
        bytes: Bytes read or written.
        recorded_ns: Sum of their recorded times.
        replayed_ns: Sum of their times from start to end.
        service: Times from start to end: name (`p50`, `p99`, `max`, ...) -> nanoseconds.
        histogram: These times, as in `Sample`.
        late_ns: Sum of the times by which they started after they were due; 0 if the pace has no times.
        latency: Times from when they were due to their end, named as `service`; empty if the pace has no times.
        latency_histogram: These times; None if the pace has no times.
    """

    count: int
    failed: int = 0
    bytes: int = 0
    recorded_ns: int = 0
    replayed_ns: int = 0
    service: dict[str, float] = Field(default_factory=dict)
    histogram: str | None = None
    late_ns: int = 0
    latency: dict[str, float] = Field(default_factory=dict)
    latency_histogram: str | None = None


class ReplayDifference(Frozen):
    """An operation that ended otherwise than recorded.

    Attributes:
        line: Line of the trace.
        operation: Its kind.
        file: The file, as the trace names it.
        message: What differs.
    """

    line: int
    operation: str
    file: str
    message: str


class ReplayResult(Frozen):
    """One copy of a trace that was replayed.

    Attributes:
        lane: Number of the lane that replayed it.
        host: Name of its host; empty on this machine alone.
        started_ns: From the start of the phase to its own.
        elapsed_ns: From its start to the end of its last operation.
        recorded_ns: The same of the recording.
        tasks: Tasks of the trace.
        kinds: Kind of operation -> its counts and times.
        differences: Operations that ended otherwise than recorded, or read other data than was written.
        first_differences: The first of these.
        opened: Files that were opened without such an operation in the trace, which had them open when it began.
        max_delay_ns: The most by which an operation started after it was due; 0 if the pace has no times.
    """

    lane: int
    host: str = ""
    started_ns: int
    elapsed_ns: int
    recorded_ns: int
    tasks: int
    kinds: dict[str, ReplayedKind]
    differences: int = 0
    first_differences: tuple[ReplayDifference, ...] = ()
    opened: int = 0
    max_delay_ns: int = 0

    @property
    def io_ns(self) -> int:
        """Sum of the times of all operations."""
        return sum(kind.replayed_ns for kind in self.kinds.values())

    @property
    def recorded_io_ns(self) -> int:
        """Sum of the recorded times of all operations."""
        return sum(kind.recorded_ns for kind in self.kinds.values())

    @property
    def operations(self) -> int:
        """Number of operations."""
        return sum(kind.count for kind in self.kinds.values())

    @property
    def late_ns(self) -> int:
        """Sum of the times by which operations started after they were due."""
        return sum(kind.late_ns for kind in self.kinds.values())


def io_rate(replays: Sequence[ReplayResult]) -> float | None:
    """Return how many copies are replayed per second of I/O: copies / mean I/O time of a copy; None without I/O."""
    spent = sum(replay.io_ns for replay in replays)
    return len(replays) ** 2 * 1e9 / spent if spent else None
