"""Sums a trace up as its records pass: nothing is kept of an operation."""

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.analyse.traces.course import TraceCourse
from assay.analyse.traces.sizes import SizeCounts
from assay.model.trace.records import MOVES, OBJECT_OPS, End, File, Record, Task, TraceHeader, TraceOperation, Wait

MAX_USED = 10
"""Files that are named."""


@dataclass
class OpSummary:
    """Operations of one kind.

    Attributes:
        count: Operations, with those that failed.
        failed: Those that failed.
        moved: Bytes.
        time: Sum of durations in nanoseconds.
        sizes: Bytes of each operation that moved some; of requests for objects also those of none.
        placed: Reads and writes of files and devices that did not fail.
        sequential: Of these, those that began where the task's one before on the same file had ended; the first one, at
            its beginning.
    """

    count: int = 0
    failed: int = 0
    moved: int = 0
    time: int = 0
    sizes: SizeCounts = field(default_factory=SizeCounts)
    placed: int = 0
    sequential: int = 0


@dataclass(slots=True)
class FileSummary:
    """One file.

    Attributes:
        file: Its record.
        operations: All operations on it.
        failed: Those that failed.
        flushes: Those that are fsync or fdatasync and did not fail.
        read: Bytes that were read.
        written: Bytes that were written.
        end: End of the furthest read or write.
        reads: Reads that moved bytes.
        writes: Writes that moved bytes.
        last: End of the latest one of both.
        sequential: Of both, those that begin where the latest one on the file had ended, or the task's latest one.
        is_direct: It was opened with O_DIRECT.
        is_synced: It was opened with O_SYNC or O_DSYNC.
    """

    file: File
    operations: int = 0
    failed: int = 0
    flushes: int = 0
    read: int = 0
    written: int = 0
    end: int = 0
    reads: int = 0
    writes: int = 0
    last: int = 0
    sequential: int = 0
    is_direct: bool = False
    is_synced: bool = False

    @property
    def moved(self) -> int:
        """Bytes that were read and written."""
        return self.read + self.written

    @property
    def is_missing(self) -> bool:
        """Whether the program looked for it, and it was never there."""
        looked = self.operations and self.failed == self.operations
        return bool(looked) and self.file.size is None and self.file.kind in "fo"

    @property
    def size(self) -> int:
        """Bytes that it had at the end as far as the trace shows: when it began, or written to."""
        return max(self.file.size or 0, self.end)


@dataclass
class TraceSummary:
    """What a trace says of the work.

    Attributes:
        header: Its header.
        operations: By kind.
        files: By id.
        flags: Letters of successful opens -> count.
        course: How it goes on in time.
        tasks: Tasks.
        max_tasks: Tasks at the same time at most.
        moving_tasks: Tasks that read or wrote.
        max_in_flight: Operations at the same time at most.
        busy: Nanoseconds in which at least one operation was under way.
        waits: Waits of a task for another one.
        end: Nanoseconds from the beginning to the last record.
    """

    header: TraceHeader
    operations: dict[str, OpSummary] = field(default_factory=dict)
    files: dict[int, FileSummary] = field(default_factory=dict)
    flags: Counter[str] = field(default_factory=Counter)
    course: TraceCourse = field(default_factory=TraceCourse)
    tasks: int = 0
    max_tasks: int = 0
    moving_tasks: int = 0
    max_in_flight: int = 0
    busy: int = 0
    waits: int = 0
    end: int = 0

    def total(self, reads: bool) -> OpSummary:
        """Return the sum of the operations that read, or of those that write."""
        found = OpSummary()
        for op in (op for op, is_read in MOVES.items() if is_read == reads and op in self.operations):
            one = self.operations[op]
            found.count += one.count
            found.failed += one.failed
            found.moved += one.moved
            found.time += one.time
            found.placed += one.placed
            found.sequential += one.sequential
            for size, count in one.sizes.items():
                found.sizes.add(size, count)
        return found

    @property
    def missing_files(self) -> int:
        """Files that the program looked for and that were never there."""
        return sum(one.is_missing for one in self.files.values())

    def top_files(self) -> list[FileSummary]:
        """Return the files of which most bytes were read and written, the first with most."""
        used = (file for file in self.files.values() if file.operations)
        return heapq.nsmallest(MAX_USED, used, key=lambda file: (-file.moved, -file.operations, file.file.id))


def summarise(header: TraceHeader, records: Iterable[Record]) -> TraceSummary:
    """Return the summary of a trace, from its header and its records in order."""
    found = _Summariser(header)
    for record in records:
        found.add(record)
    return found.finished()


class _Summariser:
    """Takes records one after the other."""

    def __init__(self, header: TraceHeader) -> None:
        self._summary = TraceSummary(header)
        self._ends: list[int] = []
        self._busy_until = 0
        self._alive = 0
        self._moving: set[int] = set()
        self._next: dict[tuple[int, int], int] = {}
        self._used: dict[int, set[int]] = {}

    def add(self, record: Record) -> None:
        """Take a record into account."""
        summary = self._summary
        if isinstance(record, TraceOperation):
            self._operation(record)
        elif isinstance(record, File):
            summary.files[record.id] = FileSummary(record)
        elif isinstance(record, Task):
            summary.tasks += 1
            self._alive += 1
            summary.max_tasks = max(summary.max_tasks, self._alive)
        elif isinstance(record, End):
            self._alive -= 1
            for file in self._used.pop(record.id, ()):
                self._next.pop((record.id, file), None)
            summary.end = max(summary.end, record.end)
        elif isinstance(record, Wait):
            summary.waits += 1

    def finished(self) -> TraceSummary:
        """Return the summary."""
        self._summary.moving_tasks = len(self._moving)
        return self._summary

    def _operation(self, record: TraceOperation) -> None:
        summary = self._summary
        kind = summary.operations.get(record.op)
        if kind is None:
            kind = summary.operations[record.op] = OpSummary()
        kind.count += 1
        kind.time += record.duration
        file = summary.files[record.file]
        file.operations += 1
        self._in_flight(record)
        read = written = 0
        if not isinstance(record.result, int):
            kind.failed += 1
            file.failed += 1
        elif (reads := MOVES.get(record.op)) is not None:
            moved = record.result
            read, written = (moved, 0) if reads else (0, moved)
            self._moved(record, kind, file, reads, moved)
        elif record.op in ("fsync", "fdatasync"):
            file.flushes += 1
        elif record.op == "open":
            summary.flags.update(record.flags)
            file.is_direct = file.is_direct or "d" in record.flags
            file.is_synced = file.is_synced or "s" in record.flags
        elif record.op == "close":
            self._next.pop((record.task, record.file), None)
        summary.course.add(record.start, read, written)

    def _moved(self, record: TraceOperation, kind: OpSummary, file: FileSummary, reads: bool, moved: int) -> None:
        offset = record.offset or 0
        kind.moved += moved
        if moved or record.op in OBJECT_OPS:
            kind.sizes.add(moved)
        if reads:
            file.read += moved
            file.reads += moved > 0
        else:
            file.written += moved
            file.writes += moved > 0
        file.end = max(file.end, offset + moved)
        self._moving.add(record.task)
        if record.op in OBJECT_OPS:
            return
        place = (record.task, record.file)
        kind.placed += 1
        is_next = self._next.get(place, 0) == offset
        kind.sequential += is_next
        file.sequential += moved > 0 and (is_next or file.last == offset)
        file.last = offset + moved
        self._next[place] = offset + moved
        self._used.setdefault(record.task, set()).add(record.file)

    def _in_flight(self, record: TraceOperation) -> None:
        summary, end = self._summary, record.start + record.duration
        while self._ends and self._ends[0] <= record.start:
            heapq.heappop(self._ends)
        heapq.heappush(self._ends, end)
        summary.max_in_flight = max(summary.max_in_flight, len(self._ends))
        summary.busy += max(0, end - max(record.start, self._busy_until))
        self._busy_until = max(self._busy_until, end)
        summary.end = max(summary.end, end)
