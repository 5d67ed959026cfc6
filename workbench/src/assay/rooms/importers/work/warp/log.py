"""warp's log of operations (`warp-*.csv.zst`, unpacked): one line for each request, of versions 0.3 to 1.6.

Columns are separated by tabs (pkg/bench/ops.go, WriteCSV); times are RFC 3339 with up to nine decimals. Rates are those
of all requests that had an answer, from the first beginning to the last end; warp's own leave out the time in which not
all threads worked.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.model.escape import escape_line
from assay.model.rfc3339 import TimeReader
from assay.rooms.importers.work.long_text import Text, each_line
from assay.rooms.importers.work.results import Figure, OutputError
from assay.rooms.importers.work.warp.measured import HINT, Requests

HEAD = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\t"
_COMMENT = re.compile(r"# ?(.*)")
_WHOLE = re.compile(r"[0-9]{1,15}")
_MAX_NS = 2**50
"""Longest request that is used: 13 days."""
_MAX_KINDS = 40
_MAX_FIELD = 1 << 20
_DIGITS = 3
"""Significant digits of histograms."""
_BITS = 11
"""Bits of a time that such a histogram tells apart."""


@dataclass
class _Times:
    """Times of requests in ns, as many as there are: each counts in the least time of a bin of a histogram.

    Attributes:
        counts: Least time of a bin -> how many times are in it; bins are those of HdrHistogram with `_DIGITS`.
        count: How many times there are.
        sum: Their sum.
        least: The least.
        greatest: The greatest.
    """

    counts: dict[int, int] = field(default_factory=dict)
    count: int = 0
    sum: int = 0
    least: int = _MAX_NS
    greatest: int = 0

    def add(self, time: int) -> None:
        """Add a time."""
        shift = max(0, time.bit_length() - _BITS)
        at = max(1, time) >> shift << shift
        self.counts[at] = self.counts.get(at, 0) + 1
        self.count += 1
        self.sum += time
        self.least = min(self.least, time)
        self.greatest = max(self.greatest, time)


@dataclass
class _Kind:
    """What is gathered of one type of requests; of sizes two are enough to know that they differ."""

    name: str
    line: int
    durations: _Times = field(default_factory=_Times)
    first_bytes: _Times = field(default_factory=_Times)
    sizes: set[int] = field(default_factory=set)
    threads: set[tuple[str, str]] = field(default_factory=set)
    clients: set[str] = field(default_factory=set)
    objects: int = 0
    bytes: int = 0
    errors: int = 0
    first_error: str = ""
    start: int | None = None
    end: int = 0


class Log:
    """A log of operations.

    Attributes:
        kinds: Requests of each type, in the order in which they began.
        whole: All requests together.
        command: The command line as printed; empty if it is not.
        endpoints: Services that were asked.
    """

    def __init__(self, text: Text) -> None:
        """Read a log.

        Raises:
            OutputError: It is not what warp writes.
        """
        self.endpoints: set[str] = set()
        self.command = ""
        self._times = TimeReader()
        kinds: dict[str, _Kind] = {}
        whole = _Kind("", 1)
        for line, row in self._rows(text):
            if row["op"] not in kinds:
                if len(kinds) >= _MAX_KINDS:
                    raise OutputError(line, f"more than {_MAX_KINDS} types of requests", HINT)
                kinds[row["op"]] = _Kind(escape_line(row["op"], 40), line)
            self._add(row, (kinds[row["op"]], whole), line)
        if not kinds:
            raise OutputError(1, "no requests in this log of warp", HINT)
        self.kinds = [_requests(one) for one in sorted(kinds.values(), key=lambda one: one.start or 0)]
        self.whole = _requests(whole)

    def _rows(self, text: Text) -> Iterator[tuple[int, Mapping[str, str]]]:
        lines = enumerate(each_line(text), start=1)
        first, head = next((number, line) for number, line in lines if line.startswith(HEAD))
        names = head.rstrip("\r").split("\t")
        reader = csv.reader(self._body(lines), delimiter="\t", strict=True)
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise OutputError(first + reader.line_num, f"not a request: {error}", HINT) from None
            line_number = first + reader.line_num
            if cells is None:
                return
            if not cells:
                continue
            if len(cells) != len(names):
                raise OutputError(line_number, f"{len(cells)} cells in a row of {len(names)} columns", HINT)
            yield line_number, dict(zip(names, cells, strict=True))

    def _body(self, lines: Iterable[tuple[int, str]]) -> Iterator[str]:
        """Yield the lines of requests; comments become empty ones."""
        for number, line in lines:
            if len(line) > _MAX_FIELD:
                raise OutputError(number, f"a line with {len(line):,} characters", HINT)
            if line.startswith("#"):
                self._take_comment(line)
            yield "" if line.startswith("#") else line

    def _take_comment(self, line: str) -> None:
        match = _COMMENT.match(line.rstrip("\r"))
        if match and not self.command and "warp" in match[1].split(" ", 1)[0]:
            self.command = match[1]

    def _time(self, text: str, line: int) -> int:
        """Return nanoseconds since 1970."""
        try:
            time = self._times.nanoseconds(text)
        except ValueError:
            time = None
        if time is None:
            raise OutputError(line, f"not a time: {escape_line(text, 40)!r}", HINT)
        return time

    def _add(self, row: Mapping[str, str], kinds: Sequence[_Kind], line: int) -> None:
        start, end = self._time(row["start"], line), self._time(row["end"], line)
        size, objects = (_whole(row[name], name, line) for name in ("bytes", "n_objects"))
        # The wall clock may be set back meanwhile; warp measures the duration by another.
        duration = _whole(row["duration_ns"], "duration_ns", line) if "duration_ns" in row else max(0, end - start)
        if duration > _MAX_NS:
            raise OutputError(line, "a request that took longer than 13 days", HINT)
        first = self._time(row["first_byte"], line) - start if row["first_byte"] else None
        self.endpoints.add(escape_line(row["endpoint"], 80))
        for kind in kinds:
            kind.threads.add((row["client_id"], row["thread"]))
            kind.clients.add(row["client_id"])
            kind.start = start if kind.start is None else min(kind.start, start)
            kind.end = max(kind.end, start + duration)
            if row["error"]:
                kind.errors += 1
                kind.first_error = kind.first_error or escape_line(row["error"], 200)
                continue
            kind.durations.add(duration)
            if len(kind.sizes) < 2:
                kind.sizes.add(size // objects if objects else size)
            kind.objects += objects
            kind.bytes += size
            if first is not None and 0 <= first <= _MAX_NS:
                kind.first_bytes.add(first)


def _whole(text: str, name: str, line: int) -> int:
    if not _WHOLE.fullmatch(text):
        raise OutputError(line, f"{name} cannot be {escape_line(text, 40)!r}", HINT)
    return int(text)


def _requests(kind: _Kind) -> Requests:
    start, end = kind.start or 0, kind.end
    histogram, latency = _latency(kind.durations)
    figures = [
        Figure("requests", str(kind.durations.count)),
        Figure("objects", str(kind.objects)),
        Figure("bytes", str(kind.bytes), "bytes"),
        Figure("errors", str(kind.errors)),
        Figure("duration", str(end - start), "ns"),
    ]
    return Requests(
        name=kind.name,
        line=kind.line,
        figures=figures,
        ops=kind.durations.count,
        objects=kind.objects,
        bytes=kind.bytes,
        elapsed_ns=end - start or None,
        started_at=start / 1e9,
        ended_at=end / 1e9,
        errors=kind.errors,
        first_error=kind.first_error,
        streams=len(kind.threads),
        clients=len(kind.clients),
        object_size=next(iter(kind.sizes)) if len(kind.sizes) == 1 else None,
        latency=latency,
        histogram=histogram,
        first_byte=_latency(kind.first_bytes)[1],
    )


def _latency(times: _Times) -> tuple[str | None, dict[str, float]]:
    """Return a histogram of times, and what is known of them."""
    if not times.count:
        return None, {}
    from assay.analyse import histograms

    text = histograms.of_counts(times.counts, times.greatest, _DIGITS)
    values = {**histograms.summary(histograms.decode(text))}
    mean = times.sum / times.count
    return text, {"min": float(times.least), "mean": mean, **values, "max": float(times.greatest)}
