"""Makes a study whose work resembles that of a trace: as many and as large files, records, order, shares and lanes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.analyse.traces.sizes import SizeCounts
from assay.analyse.traces.summary import FileSummary, OpSummary, TraceSummary, summarise
from assay.analyse.traces.words import counted, losses_words
from assay.model.base import AssayError
from assay.model.secret import redact_command
from assay.model.study.commands import FAST, RECORDED
from assay.model.trace.reader import open_trace
from assay.model.units import about_count, about_number, about_rate, about_size, format_size
from assay.plan.text import study_text
from assay.rooms.foreign.work.ior import head_comments
from assay.rooms.foreign.work.notes import Notes

PLACE = "/var/tmp/assay-trace"
BUCKET = "assay-trace"
_PLACE = {"place": {"kind": "file", "path": PLACE}}
_MAX_LANES = 1024
_MAX_CLASSES = 12
"""Sizes of files in a study at most."""
_IN_ORDER = 0.75
"""Share of sequential reads and writes from which on a file counts as read or written from beginning to end."""
_BLOCK = 4096
_MIN_RECORDS = 8
"""Records of each lane at least in a file that stands for others."""
_NAME_OPS = {"mkdir": "mkdir", "stat": "stat", "list": "readdir", "unlink": "unlink", "rmdir": "rmdir"}
"""Operation of a trace -> that of a study, in an order in which each finds what it needs."""
_MIN_NAMES = 0.05
"""Share of all operations from which on one on names is part of the study."""
_OBJECT_OPS: tuple[str, ...] = ("get", "put", "head", "delete")
_OTHERS = ("rename", "link", "symlink", "truncate")
_UNTRUE_TIMES = ("no-times", "no-order")
"""Losses with which the times of a trace are not those of the program."""


def trace_study(path: str) -> str:
    """Return the text of a study that resembles a trace.

    Args:
        path: The trace.

    Returns:
        The study, with a comment at its head for each difference.

    Raises:
        AssayError: The trace cannot be read, or has no work that a study can do.
    """
    summary, notes = _read(path)
    targets, workloads = _objects(summary, notes) if _has_objects(summary) else _files(summary, notes)
    if not workloads:
        raise AssayError(f"{path}: it reads and writes nothing, and looks at no names", "record a command that does")
    _note_rest(summary, notes)
    return _text(path, summary, notes, {"targets": targets, "workloads": workloads})


def replay_study(path: str, folder: Path) -> str:
    """Return the text of a study that replays a trace.

    Args:
        path: The trace.
        folder: The folder of the study; a trace in it is named without it.

    Returns:
        The study, with a comment at its head for each thing that the trace does not show.

    Raises:
        AssayError: The trace cannot be read, or has requests for objects.
    """
    summary, notes = _read(path)
    if _has_objects(summary):
        raise AssayError(f"{path}: requests for objects are not replayed", "leave out --replay")
    place, pace = Path(path).resolve(), RECORDED
    name = str(place.relative_to(folder.resolve())) if place.is_relative_to(folder.resolve()) else str(place)
    if any(code in summary.header.losses for code in _UNTRUE_TIMES):
        pace = FAST
        notes.add("pace: fast", "the recording has no times of operations")
    notes.add(
        "cache: keep", "files that the trace begins with are in the page cache; cache: drop reads them from storage"
    )
    notes.add("place", f"files go to {PLACE}, which Assay makes and removes: change path to what you want to measure")
    commands = {"trace": {"replay": name, "pace": pace, "lanes": 1, "cache": "keep"}}
    return _text(path, summary, notes, {"targets": _PLACE, "commands": commands})


def _read(path: str) -> tuple[TraceSummary, Notes]:
    """Return what a trace says of the work, and notes on what it does not show."""
    with open_trace(path) as trace:
        summary = summarise(trace.header, trace.records)
    notes = Notes()
    for line in losses_words(summary.header.losses):
        notes.add("not in the trace", line)
    return summary, notes


def _text(path: str, summary: TraceSummary, notes: Notes, sections: dict[str, Any]) -> str:
    """Return the text of a study with these sections."""
    notes.add("repeats: 1", "an interval needs 3 repeats at least: change repeats")
    command = summary.header.command
    origin = Path(path).name + (f", recorded of: {redact_command(command)}" if command else "")
    return study_text({"study": "from-trace", **sections, "repeats": 1}, head_comments(origin, notes))


Parts = tuple[dict[str, Any], dict[str, dict[str, Any]]]


def _has_objects(summary: TraceSummary) -> bool:
    return any(one.file.kind == "o" for one in summary.files.values())


def _objects(summary: TraceSummary, notes: Notes) -> Parts:
    counts: dict[str, int] = {op: summary.operations[op].count for op in _OBJECT_OPS if op in summary.operations}
    sizes = SizeCounts()
    for op in ("get", "put"):
        if op in summary.operations:
            for size, count in summary.operations[op].sizes.items():
                sizes.add(max(1, size), count)
    if not counts or not sizes.total:
        return {}, {}
    lanes = _lanes(summary, len(summary.files))
    fields: dict[str, Any] = {"operations": ["object_mix"], "objects": -(-len(summary.files) // lanes), "lanes": lanes}
    fields["object_size"] = _weights(_classes(sizes, 1, notes))
    fields["mix"] = _percentages(counts)
    if "get" not in counts and "put" in counts and len(counts) == 1:
        fields["operations"] = ["put"]
        del fields["mix"]
    notes.add("bucket", f"name yours: {BUCKET} stands for it; credentials are those of the environment")
    if "list" in summary.operations:
        notes.add("list", "left out: lists of objects are no part of a mix")
    return {"bucket": {"kind": "s3", "bucket": BUCKET}}, {"objects": fields | _rate(summary, notes)}


def _files(summary: TraceSummary, notes: Notes) -> Parts:
    moved = [one for one in summary.files.values() if one.moved]
    whole = [one for one in moved if _is_in_order(one)]
    workloads: dict[str, dict[str, Any]] = {}
    flags = _flags(summary, notes)
    if whole:
        workloads["files"] = _whole_files(summary, whole, flags, notes)
    if len(whole) < len(moved):
        others = [one for one in moved if not _is_in_order(one)]
        workloads["parts"] = _parts(summary, others, flags, notes)
    if names := _names(summary, notes):
        workloads["names"] = names
    if len(workloads) > 1:
        notes.add("workloads", "the program did all at once; each is measured by itself, one after another")
    if any(one.file.kind == "b" for one in moved):
        notes.add("devices", "a file stands for them, since all that is on a device would be lost")
    notes.add("place", f"files go to {PLACE}, which Assay makes and removes: change path to what you want to measure")
    return _PLACE, workloads


def _is_in_order(one: FileSummary) -> bool:
    return one.sequential >= _IN_ORDER * (one.reads + one.writes)


def _flags(summary: TraceSummary, notes: Notes) -> dict[str, Any]:
    """Return cache and sync."""
    opened = summary.operations.get("open", OpSummary())
    opens = max(1, opened.count - opened.failed)
    # Requests to a device have passed the page cache.
    is_direct = summary.flags["d"] > opens / 2 or summary.header.source == "blkparse"
    found: dict[str, Any] = {"cache": "direct" if is_direct else "keep"}
    if not is_direct:
        notes.add("cache: keep", "the program used the page cache, and so do results; cache: drop measures the storage")
    flushes = {op: summary.operations[op].count for op in ("fsync", "fdatasync") if op in summary.operations}
    if summary.flags["s"]:
        found["sync"] = "o_sync"
    elif flushes:
        found["sync"] = max(flushes, key=lambda op: flushes[op])
        writes = summary.total(reads=False).count
        words = " and ".join(f"{about_count(count)} {op}" for op, count in flushes.items())
        why = f"once for each file or phase; the program did {words} in {counted(writes, 'write')}"
        notes.add(f"sync: {found['sync']}", why)
    else:
        found["sync"] = "none"
    return found


def _whole_files(
    summary: TraceSummary, files: Sequence[FileSummary], flags: dict[str, Any], notes: Notes
) -> dict[str, Any]:
    """Return the workload on files that are read or written from beginning to end."""
    step = _BLOCK if flags["cache"] == "direct" else 1
    sizes = SizeCounts()
    for one in files:
        sizes.add(max(1, one.size))
    classes = _classes(sizes, step, notes)
    lanes = _lanes(summary, len(files))
    reads, writes = sum(one.read > 0 for one in files), sum(one.written > 0 for one in files)
    fields: dict[str, Any] = {"operations": ["file_mix"], "total_files": len(files), **_size_fields(classes)}
    if reads and writes:
        fields["mix"] = _percentages({"read": reads, "write": writes})
        moved = [about_size(sum(getattr(one, way) for one in files)) for way in ("read", "written")]
        notes.add("mix", f"by numbers of files; the program read {moved[0]} and wrote {moved[1]}")
    else:
        fields["operations"] = ["read" if reads else "write"]
    largest = max(size for size, _ in classes)
    record = min(_record(summary, files, step), largest)
    partly = [one for one in files if one.moved < one.size]
    if partly:
        notes.add("files", f"read and written whole; {about_count(len(partly))} were only in part")
    return fields | {"record_size": format_size(record), "lanes": lanes, **flags}


def _parts(summary: TraceSummary, files: Sequence[FileSummary], flags: dict[str, Any], notes: Notes) -> dict[str, Any]:
    """Return the workload on files of which records are read and written in any order."""
    step = _BLOCK if flags["cache"] == "direct" else 1
    record = _record(summary, files, step)
    whole, moved = sum(one.size for one in files), sum(one.moved for one in files)
    lanes = _lanes(summary, _MAX_LANES)
    size = max(min(whole, moved), _MIN_RECORDS * record * lanes)
    size = -(-size // (record * lanes)) * record * lanes
    reads, writes = sum(one.reads for one in files), sum(one.writes for one in files)
    operation = "random_mix" if reads and writes else "random_read" if reads else "random_write"
    fields: dict[str, Any] = {"operations": [operation], "layout": "shared", "total_size": format_size(size)}
    if operation == "random_mix":
        fields["read_percent"] = round(100 * reads / (reads + writes))
    what = f"{counted(len(files), 'file')} of {about_size(whole)}, in which {about_size(moved)} were read and written"
    notes.add("parts", f"one file of {about_size(size)} stands for {what}")
    return fields | {"record_size": format_size(record), "lanes": lanes, **flags} | _rate(summary, notes)


def _names(summary: TraceSummary, notes: Notes) -> dict[str, Any]:
    total = sum(one.count for one in summary.operations.values())
    found = [
        other
        for op, other in _NAME_OPS.items()
        if op in summary.operations and summary.operations[op].count >= _MIN_NAMES * total
    ]
    if not found:
        return {}
    used = sum(bool(one.operations) for one in summary.files.values())
    lanes = _lanes(summary, used)
    notes.add("names", f"{', '.join(found)}: each once for {about_count(used)} names; shares of operations differ")
    return {"operations": found, "files": -(-used // lanes), "lanes": lanes, "sync": "none"}


def _record(summary: TraceSummary, files: Sequence[FileSummary], step: int) -> int:
    """Return the size of a record: the mean of these files, or if all are of one size nearly, that one."""
    count, moved = sum(one.reads + one.writes for one in files), sum(one.moved for one in files)
    mean = max(1, round(moved / count))
    sizes = SizeCounts()
    for reads in (True, False):
        for size, number in summary.total(reads).sizes.items():
            sizes.add(size, number)
    near = [size for size, share in sizes.common(_MAX_CLASSES, 0.05) if size and mean / 2 <= size <= mean * 2]
    record = min(near, key=lambda size: abs(size - mean)) if near else mean
    return min(1 << 30, max(step, -(-record // step) * step))


def _lanes(summary: TraceSummary, most: int) -> int:
    return max(1, min(summary.max_in_flight, summary.moving_tasks or 1, most, _MAX_LANES))


def _classes(sizes: SizeCounts, step: int, notes: Notes) -> list[tuple[int, int]]:
    """Return sizes with their counts: as they are if they are few, else those of powers of two."""
    found = list(sizes.items())
    if len(found) > _MAX_CLASSES:
        counts: dict[int, int] = {}
        for size, count in found:
            key = 1 << max(0, (size - 1).bit_length())
            counts[key] = counts.get(key, 0) + count
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        found = sorted(ranked[:_MAX_CLASSES])
        notes.add("sizes", f"{about_count(sizes.total)} sizes are rounded up to powers of two")
    rounded: dict[int, int] = {}
    for size, count in found:
        key = -(-size // step) * step
        rounded[key] = rounded.get(key, 0) + count
    return sorted(rounded.items())


def _size_fields(classes: Sequence[tuple[int, int]]) -> dict[str, Any]:
    return {"file_size": format_size(classes[0][0])} if len(classes) == 1 else {"file_sizes": _weights(classes)}


def _weights(classes: Sequence[tuple[int, int]]) -> Any:
    return format_size(classes[0][0]) if len(classes) == 1 else {format_size(size): count for size, count in classes}


def _percentages(counts: dict[str, int]) -> dict[str, int]:
    """Return whole percentages that sum to 100, each of at least 1."""
    total = sum(counts.values())
    found = {name: max(1, round(100 * count / total)) for name, count in counts.items()}
    largest = max(found, key=lambda name: found[name])
    found[largest] += 100 - sum(found.values())
    return found


def _rate(summary: TraceSummary, notes: Notes) -> dict[str, Any]:
    """Return the rate of operations on data, if the times of the trace are those of the program."""
    reads, writes = summary.total(reads=True), summary.total(reads=False)
    if not summary.end or any(code in summary.header.losses for code in _UNTRUE_TIMES):
        return {}
    per_second = (reads.count + writes.count) / (summary.end / 1e9)
    words = about_rate(per_second, counted=True)
    if summary.header.source == "strace":
        notes.add("rate", f"as fast as possible; with tracing it was {words} of reads and writes: rate: sets one")
        return {}
    notes.add("rate", f"{words}, the mean of the recording; without rate: as fast as possible")
    return {"rate": f"{about_number(max(0.001, per_second)).replace(',', '')}/s"}


def _note_rest(summary: TraceSummary, notes: Notes) -> None:
    for op in _OTHERS:
        if op in summary.operations:
            notes.add(op, f"left out: {counted(summary.operations[op].count, 'operation')}")
    failed = sum(one.failed for one in summary.operations.values())
    if failed:
        notes.add("errors", f"{counted(failed, 'operation')} of the program failed, such as a look for a missing file")
    if summary.tasks > 1:
        notes.add("tasks", f"{about_count(summary.tasks)}, which may wait for each other, are lanes that never wait")
    notes.add("order", "operations come in the order of the workloads, not of the program, and without pauses")
