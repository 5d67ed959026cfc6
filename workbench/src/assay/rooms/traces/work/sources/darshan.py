"""Darshan's text: `darshan-dxt-parser` with a line for each read and write, `darshan-parser` with sums for each file.

Of DXT the module POSIX is read; operations of MPI-IO end there, too. Of sums the operations are made: as many and as
large as the counters say, one behind the other in the file, evenly spread over the time between the first and the last.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from assay.rooms.traces.work.sources.source import Collected, Lines

_FILE = re.compile(r"# DXT, file_id: \d+, file_name: (.*)")
_ROW = re.compile(r"\s*X_([A-Z]+)\s+(-?\d+)\s+(read|write)\s+\d+\s+(.*)")
_COUNTER = re.compile(r"POSIX\t(-?\d+)\t(\d+)\tPOSIX_([A-Z0-9_]+)\t(-?[0-9.e+-]+)\t(.*)\t[^\t]*\t[^\t]*")
_MAX_OPERATIONS = 10**8
"""Operations of one file at most that are made of its sums."""
_MOVES = (("read", "READ", "READS"), ("write", "WRITTEN", "WRITES"))
_SIMPLE = (("FSYNCS", "fsync"), ("FDSYNCS", "fdatasync"), ("STATS", "stat"))


def recognise(head: str) -> bool:
    """Return whether a text begins as one of Darshan's."""
    return "# darshan log version:" in head or "# DXT, file_id:" in head


def read(lines: Lines, found: Collected) -> None:
    """Add the operations of a log.

    Raises:
        LineError: A line is not of the format.
    """
    if any(_FILE.match(line) for _, line in lines()):
        _read_dxt(lines, found)
    else:
        _read_sums(lines, found)
    found.losses = +found.losses


def _read_dxt(lines: Lines, found: Collected) -> None:
    path = ""
    for number, line in lines():
        if named := _FILE.match(line):
            path = named[1]
        elif row := _ROW.fullmatch(line):
            if row[1] != "POSIX":
                found.losses["other-operations"] += 1
                continue
            words = row[4].split()
            if len(words) < 4:
                raise found.error(number, "offset, length, start and end are missing")
            offset, length = (found.number(number, word, "offset or length") for word in words[:2])
            begin, end = (found.nanoseconds(number, word, "a time") for word in words[2:4])
            duration = max(0, end - begin)
            found.losses["no-results"] += 1
            found.add(begin, duration, row[2], row[3], path, offset=offset, length=length, result=length)
        elif line.strip().startswith("X_"):
            raise found.error(number, "this is no line of DXT")


@dataclass
class _Sums:
    """Counters of one file and rank."""

    rank: str = ""
    file: str = ""
    path: str = ""
    line: int = 0
    values: dict[str, float] = field(default_factory=dict)


def _read_sums(lines: Lines, found: Collected) -> None:
    has_counters = False
    for sums in _sums(lines, found):
        has_counters = True
        _make(sums, found)
    if not has_counters:
        raise found.error(1, "there are no counters of module POSIX", "name the text of darshan-parser")


def _sums(lines: Lines, found: Collected) -> Iterator[_Sums]:
    sums = _Sums()
    for number, line in lines():
        row = _COUNTER.fullmatch(line)
        if row is None:
            if line.startswith("POSIX\t"):
                raise found.error(number, "this is no counter of darshan-parser")
            continue
        if (row[1], row[2]) != (sums.rank, sums.file):
            if sums.values:
                yield sums
            sums = _Sums(row[1], row[2], row[5], number)
        try:
            sums.values[row[3]] = float(row[4])
        except ValueError:
            raise found.error(number, f"a counter cannot be {row[4]!r:.30}") from None
    if sums.values:
        yield sums


def _make(sums: _Sums, found: Collected) -> None:
    """Make the operations of a file."""
    values = sums.values
    rank = "all ranks" if sums.rank == "-1" else sums.rank
    opened = _time(values, "F_OPEN_START_TIMESTAMP")
    for number in range(_count(sums, "OPENS", found)):
        found.add(opened + number, 0, rank, "open", sums.path, flags="rwc")
    for op, moved, counted in _MOVES:
        count, total = _count(sums, counted, found), int(values.get(f"BYTES_{moved}", 0))
        verb = op.upper()
        begin, end = (_time(values, f"F_{verb}_{which}_TIMESTAMP") for which in ("START", "END"))
        each = int(values.get(f"F_{verb}_TIME", 0) * 1e9) // count if count else 0
        for number in range(count):
            offset = total * number // count
            size = total * (number + 1) // count - offset
            start = begin + max(0, end - begin - each) * number // count
            found.add(start, each, rank, op, sums.path, offset=offset, length=size, result=size)
    for counted, op in _SIMPLE:
        for _ in range(_count(sums, counted, found)):
            found.add(_time(values, "F_CLOSE_END_TIMESTAMP"), 0, rank, op, sums.path)


def _count(sums: _Sums, name: str, found: Collected) -> int:
    count = max(0, int(sums.values.get(name, 0)))
    if count > _MAX_OPERATIONS:
        raise found.error(sums.line, f"POSIX_{name}: more than {_MAX_OPERATIONS:,} operations of one file")
    found.losses["no-order"] += count
    return count


def _time(values: Mapping[str, float], name: str) -> int:
    return max(0, int(values.get(name, 0) * 1e9))
