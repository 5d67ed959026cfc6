"""Writes traces whose records come in any order: they are sorted outside of memory."""

import gzip
import heapq
import tempfile
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from assay.model.trace.records import (
    MOVES,
    End,
    File,
    Record,
    Task,
    TraceHeader,
    TraceOperation,
    header_line,
    record_line,
)

CHUNK = 50_000
"""Records that are sorted in memory."""
MAX_PIECES = 128
"""Sorted pieces at most, each an open file when they are merged."""

Line = tuple[int, str]
"""Nanoseconds since the start, and a record."""


class TraceTotals(NamedTuple):
    """What was written: operations, and the bytes that they read and wrote."""

    operations: int
    read: int
    written: int


class TraceFiles(Protocol):
    """What is known of files when all records are."""

    def record(self, file: int) -> File | None:
        """Return the record of a file; None if its operations are left out."""

    def base(self, file: int) -> int:
        """Return the size in bytes to which appended records were added, where it was not known at the time."""


class TraceWriter:
    """Collects records in any order, and writes them sorted by time; records of the same time stay in order.

    Sorted pieces are files without a name in TMPDIR, of which nothing stays however this process ends.
    """

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._pieces: list[IO[bytes]] = []

    def add(self, record: Record, time: int | None = None, appended: bool = False) -> None:
        """Add a record.

        Args:
            record: The record; of files there are none here.
            time: Where it stands, in nanoseconds since the start, if not at its own time; `Wait` has none of its own.
            appended: The offset of the operation is relative to `Files.base`.
        """
        if time is None:
            time = _time(record)
        line = record_line(record)
        self._lines.append((time, f"+{line}" if appended else line))
        if len(self._lines) >= CHUNK:
            self._spill()

    def write(self, path: Path, header: TraceHeader, files: TraceFiles) -> TraceTotals:
        """Write the trace, and return what is in it.

        Args:
            path: Where it is written.
            header: Its header.
            files: The files of its records.

        Raises:
            OSError: It cannot be written.
        """
        self._lines.sort(key=itemgetter(0))
        merged = heapq.merge(*map(_read, self._pieces), self._lines, key=itemgetter(0))
        finished = _Finished(files)
        with path.open("wb") as target, _compressed(target, 6) as out:
            out.write(header_line(header).encode() + b"\n")
            for _, line in merged:
                for each in finished.lines(line):
                    out.write(each.encode() + b"\n")
        for piece in self._pieces:
            piece.close()
        return TraceTotals(finished.operations, *finished.moved)

    def _spill(self) -> None:
        self._lines.sort(key=itemgetter(0))
        self._write_piece(self._lines)
        self._lines = []
        if len(self._pieces) >= MAX_PIECES:
            before = self._pieces
            self._pieces = []
            self._write_piece(heapq.merge(*map(_read, before), key=itemgetter(0)))
            for piece in before:
                piece.close()

    def _write_piece(self, lines: Iterable[Line]) -> None:
        piece = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the writer
        with _compressed(piece, 1) as out:
            for time, line in lines:
                out.write(f"{time}\t{line}\n".encode())
        self._pieces.append(piece)


def _time(record: Record) -> int:
    if isinstance(record, TraceOperation | Task):
        return record.start
    return record.end if isinstance(record, End) else 0


def _compressed(target: IO[bytes], level: int) -> gzip.GzipFile:
    # Without name and time, equal traces have equal bytes.
    return gzip.GzipFile(filename="", fileobj=target, mode="wb", compresslevel=level, mtime=0)


def _read(piece: IO[bytes]) -> Iterator[Line]:
    piece.seek(0)
    with gzip.open(piece, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            time, _, rest = line[:-1].partition("\t")
            yield int(time), rest


class _Finished:
    """Adds to sorted records each file before its first use, and known offsets; leaves out what `files` leaves out."""

    def __init__(self, files: TraceFiles) -> None:
        self.operations, self.moved = 0, [0, 0]
        self._files = files
        self._ids: dict[int, int] = {}
        self._made = 0

    def lines(self, line: str) -> Iterator[str]:
        """Yield the lines that a record becomes."""
        if line[0] not in "O+":
            yield line
            return
        fields = line.lstrip("+").split("\t")
        used = [int(fields[5])] + ([int(fields[9][1:])] if fields[9][0] == ">" else [])
        for file in used:
            if file not in self._ids and (record := self._new(file)) is not None:
                yield record_line(record)
        if not all(self._ids[file] for file in used):
            return
        fields[5] = str(self._ids[used[0]])
        if len(used) > 1:
            fields[9] = f">{self._ids[used[1]]}"
        if line[0] == "+":
            fields[6] = str(int(fields[6]) + self._files.base(used[0]))
        self.operations += 1
        if (reads := MOVES.get(fields[4])) is not None and fields[8].isdigit():
            self.moved[0 if reads else 1] += int(fields[8])
        yield "\t".join(fields)

    def _new(self, file: int) -> File | None:
        """Return the record of a file, with an id in order of appearance; None if it is left out."""
        record = self._files.record(file)
        self._made += record is not None
        self._ids[file] = 0 if record is None else self._made
        return None if record is None else record._replace(id=self._made)
