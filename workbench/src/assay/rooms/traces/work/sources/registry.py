"""Which recordings are read, and how one becomes a trace."""

import gzip
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from assay.journal.trees import scratch_folder
from assay.model.base import AssayError, LineError
from assay.model.trace.reader import GZIP
from assay.model.trace.records import TraceHeader
from assay.model.user_files import open_user_file
from assay.rooms.traces.work.names import Names
from assay.rooms.traces.work.sources import blkparse, darshan, darshan_log, fio, op_log
from assay.rooms.traces.work.sources.source import Collected, Lines
from assay.rooms.traces.work.writer import TraceTotals, TraceWriter

MAX_BYTES = 64 << 30
"""Largest recording, as it is stored."""
MAX_LINE = 1 << 16
_HEAD = 1 << 16
ZSTD = b"\x28\xb5\x2f\xfd"
READ = (
    "fio's iolog, blkparse's text, logs of Darshan, the text of darshan-parser and darshan-dxt-parser, "
    "op-logs of warp and sai3-bench"
)
HINT = f"name a recording: {READ}"


class Reader(NamedTuple):
    """Reads the recordings of one tool.

    Attributes:
        recognise: Whether the beginning of a text is its recording.
        source: The source of the trace, from the beginning of the text.
        read: Adds its operations.
    """

    recognise: Callable[[str], bool]
    source: Callable[[str], str]
    read: Callable[[Lines, Collected], None]


READERS = (
    Reader(fio.recognise, lambda _: "fio", fio.read),
    Reader(darshan.recognise, lambda _: "darshan", darshan.read),
    Reader(op_log.recognise, op_log.source_of, op_log.read),
    Reader(blkparse.recognise, lambda _: "blkparse", blkparse.read),
)


class Imported(NamedTuple):
    """What became of a recording: the header of the trace, and what is in it."""

    header: TraceHeader
    totals: TraceTotals


class Import:
    """A recording that is to become a trace; it is recognised on construction.

    Args:
        path: The recording.
        keep_names: Names of files stay as they are.

    Raises:
        AssayError: It cannot be read, or is of no known tool.
    """

    def __init__(self, path: str, keep_names: bool) -> None:
        self._path, self._keep_names = path, keep_names
        self._is_darshan_log = darshan_log.is_log(_beginning(path))
        if self._is_darshan_log:
            darshan_log.require_library(path)
            head = darshan.HEAD
        else:
            with closing(_lines(path)) as lines:
                head = "\n".join(line for _, line in _first(lines))
        reader = next((one for one in READERS if one.recognise(head)), None)
        if reader is None:
            raise AssayError(f"{path}: this is no recording of a known tool", HINT)
        self._reader, self._source = reader, reader.source(head)

    def write(self, target: Path) -> Imported:
        """Write the trace.

        Raises:
            AssayError: A line of the recording is not of its format, or it has no operations.
        """
        with scratch_folder("assay-trace-") as folder, ExitStack() as opened:
            writer = TraceWriter()
            found = Collected(self._path, writer, Names(keep=self._keep_names))
            text = darshan_log.as_text(self._path, folder) if self._is_darshan_log else self._path
            self._reader.read(lambda: opened.enter_context(closing(_lines(text))), found)
            if not found.operations:
                raise AssayError(f"{self._path}: there are no operations in it", HINT)
            found.finish()
            header = TraceHeader(self._source, None, None, found.end, None, found.losses)
            return Imported(header, writer.write(target, header, found))


def _beginning(path: str) -> bytes:
    with open_user_file(path, path, HINT, MAX_BYTES) as file:
        return file.read(darshan_log.BEGINNING)


def _first(lines: Iterator[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """Return the lines at the beginning, of `_HEAD` characters together."""
    found: list[tuple[int, str]] = []
    size = 0
    for number, line in lines:
        found.append((number, line))
        size += len(line) + 1
        if size >= _HEAD:
            break
    return found


def _lines(path: str) -> Generator[tuple[int, str]]:
    """Yield the lines of a text that may be compressed by gzip.

    Raises:
        AssayError: It cannot be read, is no text, or has a line that is too long.
    """
    with open_user_file(path, path, HINT, MAX_BYTES) as file:
        begin = file.peek(4)[:4]  # type: ignore[attr-defined]
        if begin == ZSTD:
            raise AssayError(f"{path}: compressed with zstd", f"unpack it first: zstd -d {quote(path)}")
        is_packed = begin[:2] == GZIP
        source = gzip.GzipFile(fileobj=file) if is_packed else file
        number = 0
        try:
            while line := source.readline(MAX_LINE):
                number += 1
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    raise LineError(path, number, "the line is too long", HINT)
                if b"\0" in line:
                    raise LineError(path, number, "this is no text", HINT)
                yield number, line.decode(errors="surrogateescape").rstrip("\r\n")
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise AssayError(f"{path}: damaged after line {number:,}", HINT) from None
