"""Workloads that read and write as much as the program of a trace, in as many records, on files of the same sizes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.analyse.traces.sizes import SizeCounts
from assay.analyse.traces.summary import FileSummary, TraceSummary
from assay.analyse.traces.words import counted
from assay.model.units import about_number, about_rate, about_size, format_size
from assay.rooms.foreign.work.notes import Notes

MAX_LANES = 1024
MAX_CLASSES = 12
"""Sizes of files in a study at most."""
_IN_ORDER = 0.75
"""Share of sequential reads and writes from which on a file counts as read or written from beginning to end."""
_BLOCK = 4096
_LARGE = 0.1
"""Share of all bytes of a set from which on a file is large: sizes of a set are drawn for each file, so that few large
ones would make its bytes vary."""
_MIN_BYTES, _MIN_COUNT = 0.02, 0.1
"""Shares of all bytes, and of all reads and writes; with one of them a part of the work is in the study."""
_MIXED = 0.1
"""Least share of reads, and of writes, of a mix; with less of one, each is a workload of its own."""
_ALIKE = 1.5
"""Ratio up to which the sizes of reads and writes are one."""
_MAX_RECORD = 1 << 30
_MAX_AGAIN = 1 << 30
"""Bytes up to which a file that was gone over more than once has others that stand for it; they take space."""
MAX_FILES = 1_000_000
UNTRUE_TIMES = ("no-times", "no-order")
"""Losses with which the times of a trace are not those of the program."""

Fields = dict[str, Any]


@dataclass(frozen=True)
class _Way:
    """One direction of a file: bytes and operations that moved some."""

    file: FileSummary
    bytes: int
    count: int

    @property
    def rounds(self) -> int:
        """How often the file was gone over."""
        return max(1, round(self.bytes / max(1, self.file.size)))


def data_workloads(summary: TraceSummary, notes: Notes) -> dict[str, Fields]:
    """Return the workloads on data, by name.

    Args:
        summary: The trace.
        notes: Gets what differs but for amounts.
    """
    moved = [one for one in summary.files.values() if one.moved]
    ordered = [one for one in moved if one.sequential >= _IN_ORDER * (one.reads + one.writes)]
    others = [one for one in moved if one.sequential < _IN_ORDER * (one.reads + one.writes)]
    found: dict[str, Fields] = {}
    for reads, name in ((True, "reads"), (False, "writes")):
        ways = [one for one in (_way(file, reads) for file in ordered) if one.bytes]
        whole = sum(one.bytes for one in ways)
        # A set of one kind of file needs no split: its sizes are exact.
        large = [one for one in ways if one.bytes / one.rounds > _LARGE * whole and len(ways) > 1]
        small = [one for one in ways if one not in large]
        for part, title in ((small, name), (large, f"large-{name}" if small else name)):
            if _counts(summary, sum(one.bytes for one in part), sum(one.count for one in part)):
                found[title] = _set(summary, part, reads, part is large, notes)
    return found | _scattered(summary, others, notes)


def _counts(summary: TraceSummary, moved: int, count: int) -> bool:
    """Return whether these bytes, or these operations, are a part of the work that is worth a workload."""
    every = [summary.total(reads) for reads in (True, False)]
    whole, all_count = sum(one.moved for one in every), sum(one.sizes.total for one in every)
    return moved > 0 and (moved >= _MIN_BYTES * whole or count >= _MIN_COUNT * all_count)


def _way(file: FileSummary, reads: bool) -> _Way:
    return _Way(file, file.read, file.reads) if reads else _Way(file, file.written, file.writes)


def _set(summary: TraceSummary, ways: Sequence[_Way], reads: bool, are_large: bool, notes: Notes) -> Fields:
    """Return the workload on files that are read, or written, from beginning to end; large ones have the mean size."""
    files = [one.file for one in ways]
    cache, step = _cache(summary, files)
    sizes = SizeCounts()
    all_fit = sum(one.bytes for one in ways) <= _MAX_AGAIN and sum(one.rounds for one in ways) <= MAX_FILES
    for one in ways:
        sizes.add(max(1, round(one.bytes / one.rounds)), one.rounds if all_fit else 1)
    classes = size_classes(sizes, step)
    if are_large:
        classes = [(-(-round(sizes.sum / sizes.total) // step) * step, sizes.total)]
    elif (vary := 100 * _deviation(classes)) >= 1:
        why = (
            f"drawn for each file by their weights, so that the bytes of a repeat vary by about {about_number(vary)} %"
        )
        notes.add("file_sizes", why)
    again = sum(one.rounds > 1 for one in ways)
    if again:
        what = "read" if reads else "written"
        stands = "as many files stand for each" if all_fit else "here once"
        notes.add("again", f"{counted(again, 'file')} {what} more than once: {stands}")
    record = _record(summary, reads, sum(one.count for one in ways), step, lambda size: _records(classes, size))
    lanes = lanes_for(summary, sizes.total)
    return {
        "operations": ["read" if reads else "write"],
        "total_files": sizes.total,
        **_size_fields(classes),
        "record_size": format_size(min(record, classes[-1][0])),
        "lanes": lanes,
        "cache": cache,
        "sync": "none" if reads else _sync(summary, files, sum(one.count for one in ways), sizes.total),
    }


def _scattered(summary: TraceSummary, files: Sequence[FileSummary], notes: Notes) -> dict[str, Fields]:
    """Return the workloads on files of which records are read and written in any order."""
    reads, writes = (sum(getattr(one, way) for one in files) for way in ("reads", "writes"))
    read, written = (sum(getattr(one, way) for one in files) for way in ("read", "written"))
    is_mix = min(reads, writes) >= _MIXED * (reads + writes) > 0
    if is_mix and max(read / reads, written / writes) <= _ALIKE * min(read / reads, written / writes):
        mixed = _random(summary, files, "random_mix", reads + writes, read + written, notes)
        return {"mix": mixed | {"read_percent": round(100 * reads / (reads + writes))}}
    found = {}
    if _counts(summary, read, reads):
        found["random-reads"] = _random(summary, files, "random_read", reads, read, notes)
    if _counts(summary, written, writes):
        found["random-writes"] = _random(summary, files, "random_write", writes, written, notes)
    return found


def _random(
    summary: TraceSummary, files: Sequence[FileSummary], operation: str, count: int, moved: int, notes: Notes
) -> Fields:
    cache, step = _cache(summary, files)
    record = _record(summary, operation != "random_write", count, step, lambda size: -(-moved // size))
    lanes = lanes_for(summary, count)
    whole = sum(one.size for one in files)
    size = max(1, round(min(moved, max(whole, _MAX_AGAIN)) / (record * lanes))) * record * lanes
    what = f"{counted(len(files), 'file')} of {about_size(whole)}, of which {about_size(moved)} were"
    does = {"random_mix": "read and written", "random_read": "read", "random_write": "written"}[operation]
    notes.add(operation, f"one file of {about_size(size)}, each record once, stands for {what} {does}")
    return {
        "operations": [operation],
        "layout": "shared",
        "total_size": format_size(size),
        "record_size": format_size(record),
        "lanes": lanes,
        "cache": cache,
        "sync": "none" if operation == "random_read" else _sync(summary, files, count, lanes),
        **rate_of(summary, count, notes),
    }


def _cache(summary: TraceSummary, files: Sequence[FileSummary]) -> tuple[str, int]:
    """Return the cache and of what sizes must be multiples, in bytes."""
    # Requests to a device have passed the page cache.
    is_direct = summary.header.source == "blkparse" or 2 * sum(one.is_direct for one in files) > len(files)
    return ("direct", _BLOCK) if is_direct else ("drop", 1)


def _sync(summary: TraceSummary, files: Sequence[FileSummary], writes: int, ends: int) -> str:
    """Return the sync whose number of flushes is nearest to that of the program in ratio.

    Args:
        summary: The trace.
        files: Files that are written to.
        writes: Writes; with o_dsync each is stable.
        ends: Files of a set, or lanes; with fsync and fdatasync each is flushed at its end.
    """
    if 2 * sum(one.is_synced for one in files) > len(files):
        return "o_dsync"
    flushes = sum(one.flushes for one in files)
    if flushes and max(flushes, ends) / min(flushes, ends) > max(flushes, writes) / min(flushes, writes):
        return "o_dsync"
    done = {op: summary.operations[op].count for op in ("fsync", "fdatasync") if op in summary.operations}
    return max(done, key=lambda op: done[op]) if flushes else "fsync"


def _record(summary: TraceSummary, reads: bool, count: int, step: int, records: Callable[[int], int]) -> int:
    """Return the size of a record with which there are nearest to `count` of them: a common size of the program's.

    Args:
        summary: The trace.
        reads: Sizes of reads, not of writes.
        count: Reads or writes of the program.
        step: What the size must be a multiple of, in bytes.
        records: Returns how many records of a size there are.
    """
    common = [size for size, _ in summary.total(reads).sizes.common(MAX_CLASSES, 0.02)]
    # The mean of all that is moved, for programs of many sizes.
    mean = -(-records(1) // count)
    fitting = [min(_MAX_RECORD, max(step, -(-size // step) * step)) for size in (*common, mean)]
    return min(fitting, key=lambda size: abs(records(size) - count))


def _records(classes: Sequence[tuple[int, int]], record: int) -> int:
    return sum(-(-size // record) * count for size, count in classes)


def lanes_for(summary: TraceSummary, most: int) -> int:
    """Return how many lanes do as many operations at a time as the program did; at most `most`."""
    return max(1, min(summary.max_in_flight, summary.moving_tasks or 1, most, MAX_LANES))


def rate_of(summary: TraceSummary, count: int, notes: Notes) -> Fields:
    """Return the rate of `count` operations over the whole trace, if its times are those of the program."""
    if not summary.end or any(code in summary.header.losses for code in UNTRUE_TIMES):
        return {}
    if summary.header.source == "strace":
        notes.add("rate", "as fast as possible, since tracing made the program slower: rate: sets one")
        return {}
    per_second = count / (summary.end / 1e9)
    notes.add(
        "rate", f"{about_rate(per_second, counted=True)}, the mean of the recording; without rate: as fast as possible"
    )
    return {"rate": f"{about_number(max(0.001, per_second)).replace(',', '')}/s"}


def size_classes(sizes: SizeCounts, step: int) -> list[tuple[int, int]]:
    """Return sizes with their counts: as they are if they are few, else means of sizes that are alike.

    Args:
        sizes: The sizes, in bytes.
        step: What they are rounded up to multiples of.
    """
    found = list(sizes.items())
    width = 0
    while len(found) > MAX_CLASSES:
        width += 1
        found = _merged(list(sizes.items()), width)
    rounded: dict[int, int] = {}
    for size, count in found:
        key = -(-size // step) * step
        rounded[key] = rounded.get(key, 0) + count
    return sorted(rounded.items())


def _merged(sizes: Sequence[tuple[int, int]], width: int) -> list[tuple[int, int]]:
    """Return the mean of all sizes between two powers of two, whose exponents are `width` apart, with their count."""
    groups: dict[int, list[int]] = {}
    for size, count in sizes:
        one = groups.setdefault(size.bit_length() // width, [0, 0])
        one[0] += size * count
        one[1] += count
    return [(max(1, round(moved / count)), count) for moved, count in groups.values()]


def _deviation(classes: Sequence[tuple[int, int]]) -> float:
    """Return the standard deviation of the sum of sizes that are drawn by their weights, as a share of the sum."""
    count, whole = sum(count for _, count in classes), sum(size * count for size, count in classes)
    squares: int = sum(size * size * count for size, count in classes)
    return math.sqrt(max(0.0, squares - whole * whole / count)) / whole


def _size_fields(classes: Sequence[tuple[int, int]]) -> Fields:
    return {"file_size": format_size(classes[0][0])} if len(classes) == 1 else {"file_sizes": weights(classes)}


def weights(classes: Sequence[tuple[int, int]]) -> Any:
    """Return sizes with their weights as a study has them; one alone as a size."""
    return format_size(classes[0][0]) if len(classes) == 1 else {format_size(size): count for size, count in classes}
