"""Darshan's text: `darshan-dxt-parser` with a line for each read and write, `darshan-parser` with sums for each file.

Of DXT the module POSIX is read; operations of MPI-IO end there, too. Of sums the operations are made: as many and as
large as the counters of the modules POSIX and STDIO say, one behind the other in the file, evenly spread over the time
between the first and the last. A file that all ranks used has one row for all (rank -1): each gets an equal part of it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.rooms.traces.work.sources.source import Collected, Lines

HEAD = "# darshan log version:"
"""Begins the texts of both programs."""
_FILE = re.compile(r"# DXT, file_id: \d+, file_name: (.*)")
_ROW = re.compile(r"\s*X_([A-Z]+)\s+(-?\d+)\s+(read|write)\s+\d+\s+(.*)")
_COUNTER = re.compile(r"(POSIX|STDIO)\t(-?\d+)\t(\d+)\t\1_([A-Z0-9_]+)\t(-?[0-9.e+-]+)\t(.*)\t[^\t]*\t[^\t]*")
_RANKS = re.compile(r"# nprocs: (\d{1,7})")
_INCOMPLETE = re.compile(r"# \*WARNING\*: .* module contains incomplete data!")
_MODULES = ("POSIX\t", "STDIO\t")
_NO_FILES = ("<STDIN>", "<STDOUT>", "<STDERR>")
_ALL_RANKS = "-1"
_MAX_OPERATIONS = 10**8
"""Operations of one file at most that are made of its sums."""
_MOVES = (("read", "READ", "READS"), ("write", "WRITTEN", "WRITES"))
_SIMPLE = (("FSYNCS", "fsync"), ("FDSYNCS", "fdatasync"), ("STATS", "stat"))


def recognise(head: str) -> bool:
    """Return whether a text begins as one of Darshan's."""
    return HEAD in head or "# DXT, file_id:" in head


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
        found.losses["missing-files"] += _INCOMPLETE.fullmatch(line) is not None
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
    """Counters of one file and module, of one rank or of all."""

    module: str = ""
    rank: str = ""
    file: str = ""
    path: str = ""
    line: int = 0
    values: dict[str, float] = field(default_factory=dict)

    def count(self, name: str, found: Collected) -> int:
        """Return how many operations of a kind there are."""
        count = max(0, int(self.values.get(name, 0)))
        if count > _MAX_OPERATIONS:
            message = f"{self.module}_{name}: more than {_MAX_OPERATIONS:,} operations of one file"
            raise found.error(self.line, message)
        found.losses["no-order"] += count
        found.losses["streams"] += count if self.module == "STDIO" else 0
        return count

    def time(self, name: str) -> int:
        """Return a time in nanoseconds."""
        return max(0, int(self.values.get(name, 0) * 1e9))


def _read_sums(lines: Lines, found: Collected) -> None:
    ranks, has_counters = 0, False
    for number, line in lines():
        if header := _RANKS.fullmatch(line.strip()):
            ranks = found.number(number, header[1], "nprocs")
        elif line.startswith(_MODULES):
            break
    for sums in _sums(lines, found):
        has_counters = True
        if sums.path not in _NO_FILES:
            _make(sums, _tasks(sums, ranks), found)
    if not has_counters:
        raise found.error(1, "there are no counters of module POSIX or STDIO", "name the text of darshan-parser")


def _tasks(sums: _Sums, ranks: int) -> Sequence[str]:
    """Return the tasks that share the operations."""
    if sums.rank != _ALL_RANKS:
        return [sums.rank]
    # Darshan adds up a file over ranks only if every rank opened it (darshan-runtime, shared file reduction).
    return [str(rank) for rank in range(ranks)] or ["all ranks"]


def _sums(lines: Lines, found: Collected) -> Iterator[_Sums]:
    sums = _Sums()
    for number, line in lines():
        row = _COUNTER.fullmatch(line)
        if row is None:
            if line.startswith(_MODULES):
                raise found.error(number, "this is no counter of darshan-parser")
            found.losses["missing-files"] += _INCOMPLETE.fullmatch(line) is not None
            continue
        if (row[1], row[2], row[3]) != (sums.module, sums.rank, sums.file):
            if sums.values:
                yield sums
            sums = _Sums(row[1], row[2], row[3], row[6], number)
        try:
            sums.values[row[4]] = float(row[5])
        except ValueError:
            raise found.error(number, f"a counter cannot be {row[5]!r:.30}") from None
    if sums.values:
        yield sums


def _make(sums: _Sums, tasks: Sequence[str], found: Collected) -> None:
    """Make the operations of a file, which tasks share."""
    opened, closed = sums.time("F_OPEN_START_TIMESTAMP"), sums.time("F_CLOSE_END_TIMESTAMP")
    for number in range(sums.count("OPENS", found)):
        found.add(opened + number, 0, tasks[number % len(tasks)], "open", sums.path, flags="rwc")
    counts = {op: sums.count(counted, found) for op, _, counted in _MOVES}
    for op, moved, _ in _MOVES:
        total = int(sums.values.get(f"BYTES_{moved}", 0))
        classes = _sizes(sums, counts[op], total, is_alone=not all(counts.values()))
        _make_moves(sums, op, classes, tasks, found)
    for counted, op in _SIMPLE:
        for number in range(sums.count(counted, found)):
            found.add(closed, 0, tasks[number % len(tasks)], op, sums.path)


def _sizes(sums: _Sums, count: int, total: int, is_alone: bool) -> list[tuple[int, int]]:
    """Return groups of operations: how many, and their bytes together.

    Darshan has the four most frequent sizes of a file, of reads and writes together.
    """
    common = [
        (int(sums.values.get(f"ACCESS{place}_COUNT", 0)), int(sums.values.get(f"ACCESS{place}_ACCESS", 0)))
        for place in range(1, 5)
    ]
    groups = [(number, number * size) for number, size in common if number > 0 and size >= 0] if is_alone else []
    rest, left = count - sum(number for number, _ in groups), total - sum(size for _, size in groups)
    if rest < 0 or left < 0 or (left and not rest):
        return [(count, total)]
    return [*groups, (rest, left)]


def _make_moves(
    sums: _Sums, op: str, groups: Sequence[tuple[int, int]], tasks: Sequence[str], found: Collected
) -> None:
    """Make reads or writes: each task has its part of each group, one behind the other in the file."""
    count = sum(number for number, _ in groups)
    if not count:
        return
    verb = op.upper()
    begin, end = (sums.time(f"F_{verb}_{which}_TIMESTAMP") for which in ("START", "END"))
    each = sums.time(f"F_{verb}_TIME") // count
    span, offset = max(0, end - begin - each), 0
    for place, task in enumerate(tasks):
        parts = [
            (number * place // len(tasks), number * (place + 1) // len(tasks), number, size) for number, size in groups
        ]
        own = sum(last - first for first, last, _, _ in parts)
        sizes = (
            size * (one + 1) // number - size * one // number
            for first, last, number, size in parts
            for one in range(first, last)
        )
        for number, length in enumerate(sizes):
            start = begin + span * number // own
            found.add(start, each, task, op, sums.path, offset=offset, length=length, result=length)
            offset += length
