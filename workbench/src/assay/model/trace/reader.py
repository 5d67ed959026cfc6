"""Reads traces as streams, and refuses what does not follow the format."""

import contextlib
import functools
import gzip
import os
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple

from assay.model.base import AssayError, LineError
from assay.model.trace.records import (
    End,
    File,
    Record,
    RecordError,
    Task,
    TraceHeader,
    TraceOperation,
    Wait,
    parse_header,
    parse_record,
)
from assay.model.user_files import open_user_file

MAX_BYTES = 64 << 30
"""Largest trace, compressed."""
MAX_LINE = 1 << 16
"""Longest line in bytes, with its line break. The header has the words of a command."""
MAX_HEADER = 4 << 20
HINT = "name a trace that `assay record` or `assay trace import` has written"
GZIP = b"\x1f\x8b"


class Trace(NamedTuple):
    """A trace that is read.

    Attributes:
        header: Its header.
        records: Its records in order; iterating over them raises `AssayError` as `open_trace`.
    """

    header: TraceHeader
    records: Iterator[Record]


@contextlib.contextmanager
def open_trace(path: str | os.PathLike[str]) -> Iterator[Trace]:
    """Open a trace for reading; it is never held in memory.

    Raises:
        AssayError: It cannot be read, or is no trace of the format.
    """
    name = os.fspath(path)
    with open_user_file(path, name, HINT, MAX_BYTES) as file:
        yield read_trace(file, name)


@functools.cache
def recorded_seconds(path: str) -> float | None:
    """Return how long the recording of a trace took by its first line; None if it does not say, or cannot be read."""
    try:
        with open_trace(path) as trace:
            duration_ns = trace.header.duration_ns
    except AssayError:
        return None
    return None if duration_ns is None else duration_ns / 1e9


def read_trace(file: IO[bytes], name: str) -> Trace:
    """Return the header and the records of a trace.

    Args:
        file: The trace, compressed.
        name: Its name, with which messages begin.

    Raises:
        AssayError: It is no trace of the format.
    """
    lines = _lines(file, name)
    line = next(lines, None)
    if line is None:
        raise AssayError(f"{name}: the file is empty", HINT)
    try:
        header = parse_header(line)
    except RecordError as error:
        raise LineError(name, 1, str(error), HINT) from None
    return Trace(header, _records(lines, name))


def _lines(file: IO[bytes], name: str) -> Iterator[str]:
    """Yield the lines of a compressed text without their line breaks.

    Raises:
        AssayError: It is not compressed, damaged, cut off, not text, or has a line that is too long.
    """
    most = MAX_HEADER
    number = 0
    with gzip.GzipFile(fileobj=file) as unpacked:
        try:
            while line := unpacked.readline(most):
                number += 1
                if not line.endswith(b"\n"):
                    what = "the line is too long" if len(line) == most else "the trace is cut off within a line"
                    raise LineError(name, number, what, HINT)
                most = MAX_LINE
                yield line[:-1].decode()
        except gzip.BadGzipFile:
            # Also what stands behind a complete member and is none.
            what = "this is not compressed by gzip" if number == 0 else "the trace is damaged"
            raise AssayError(f"{name}: {what}", HINT) from None
        except EOFError:
            raise AssayError(f"{name}: the trace is cut off after line {number:,}", HINT) from None
        except zlib.error:
            raise AssayError(f"{name}: the trace is damaged after line {number:,}", HINT) from None
        except UnicodeDecodeError:
            raise LineError(name, number, "this is not text in UTF-8", HINT) from None


def _records(lines: Iterator[str], name: str) -> Iterator[Record]:
    order = _Order()
    for number, line in enumerate(lines, 2):
        try:
            record = parse_record(line)
            order.check(record)
        except RecordError as error:
            raise LineError(name, number, str(error), HINT) from None
        yield record


class _Order:
    """What the records before say of the next one: known ids, and its least time."""

    def __init__(self) -> None:
        self._files: set[int] = set()
        self._tasks: set[int] = set()
        self._time = 0

    def check(self, record: Record) -> None:
        """Raise `RecordError` if a record uses an id before its own record, or is earlier than the one before."""
        if isinstance(record, TraceOperation):
            self._check_operation(record)
        elif isinstance(record, File):
            self._add(record.id, self._files, "file")
        elif isinstance(record, Task):
            if record.parent is not None:
                self._check_task(record.parent)
            self._add(record.id, self._tasks, "task")
            self._check_time(record.start)
        elif isinstance(record, End):
            self._check_task(record.id)
            self._check_time(record.end)
        elif isinstance(record, Wait):
            self._check_task(record.task)
            self._check_task(record.on)

    def _check_operation(self, record: TraceOperation) -> None:
        self._check_time(record.start)
        self._check_task(record.task)
        others = [int(record.flags[1:])] if record.flags[0] == ">" else []
        for file in (record.file, *others):
            if file not in self._files:
                raise RecordError(f"file {file} has no record F before this one")

    def _add(self, number: int, known: set[int], what: str) -> None:
        if number in known or number == 0:
            raise RecordError(f"{what} {number}: the id is taken" if number else "ids begin with 1")
        known.add(number)

    def _check_task(self, task: int) -> None:
        if task not in self._tasks:
            raise RecordError(f"task {task} has no record T before this one")

    def _check_time(self, time: int) -> None:
        if time < self._time:
            raise RecordError(f"{time} ns is before the record above, which is at {self._time} ns")
        self._time = time
