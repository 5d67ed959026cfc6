"""Makes a study whose work resembles that of a trace: as many and as large files, records, order, shares and lanes."""

from pathlib import Path
from typing import Any

from assay.analyse.traces.sizes import SizeCounts
from assay.analyse.traces.summary import TraceSummary, summarise
from assay.analyse.traces.words import counted, losses_words
from assay.model.base import AssayError
from assay.model.secret import redact_command
from assay.model.study.commands import FAST, RECORDED
from assay.model.study.names import LOOKUPS
from assay.model.trace.reader import open_trace
from assay.model.units import about_count
from assay.plan.text import study_text
from assay.rooms.foreign.work.ior import head_comments
from assay.rooms.foreign.work.notes import Notes
from assay.rooms.foreign.work.trace_amounts import amount_lines, name_count
from assay.rooms.foreign.work.trace_files import (
    MAX_FILES,
    UNTRUE_TIMES,
    data_workloads,
    lanes_for,
    rate_of,
    size_classes,
    weights,
)

PLACE = "/var/tmp/assay-trace"
BUCKET = "assay-trace"
_PLACE = {"place": {"kind": "file", "path": PLACE}}
_REPEATS = 5
_MAX_SECONDS = 60.0
"""Longest runtime of requests for objects at the recorded rate."""
_DROPPED = "storage is measured, not the page cache, which the program had; it needs root: cache: keep does not"
_NAME_OPS = {"mkdir": "mkdir", "stat": "stat", "list": "readdir", "unlink": "unlink", "rmdir": "rmdir"}
"""Operation of a trace -> that of a study, in an order in which each finds what it needs."""
_MAX_DIRECTORIES = 10_000
_MIN_NAMES = 0.05
"""Share of all operations from which on one on names is part of the study."""
_OBJECT_OPS: tuple[str, ...] = ("get", "put", "head", "delete")
_OTHERS = ("rename", "link", "symlink", "truncate")


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
    sections = {"targets": targets, "workloads": workloads}
    names = {} if _has_objects(summary) else _NAME_OPS
    for what, amounts in amount_lines(summary, _text(path, summary, Notes(), sections), names):
        notes.add(what, amounts)
    _note_rest(summary, notes)
    return _text(path, summary, notes, sections)


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
    if any(code in summary.header.losses for code in UNTRUE_TIMES):
        pace = FAST
        notes.add("pace: fast", "the recording has no times of operations")
    notes.add(
        "cache: drop", "files that the trace begins with are read from storage; it needs root: cache: keep does not"
    )
    notes.add("place", f"files go to {PLACE}, which Assay makes and removes: change path to what you want to measure")
    commands = {"trace": {"replay": name, "pace": pace, "lanes": 1, "cache": "drop"}}
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
    command = summary.header.command
    origin = Path(path).name + (f", recorded of: {redact_command(command)}" if command else "")
    return study_text({"study": "from-trace", **sections, "repeats": _REPEATS}, head_comments(origin, notes))


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
    lanes = lanes_for(summary, len(summary.files))
    fields: dict[str, Any] = {"operations": ["object_mix"], "objects": -(-len(summary.files) // lanes), "lanes": lanes}
    fields["object_size"] = weights(size_classes(sizes, 1))
    fields["mix"] = _percentages(counts)
    if "get" not in counts and "put" in counts and len(counts) == 1:
        fields["operations"] = ["put"]
        del fields["mix"]
    notes.add("bucket", f"name yours: {BUCKET} stands for it; credentials are those of the environment")
    if "list" in summary.operations:
        notes.add("list", "left out: lists of objects are no part of a mix")
    if rate := rate_of(summary, sum(counts.values()), notes):
        seconds = min(_MAX_SECONDS, summary.end / 1e9)
        fields |= rate | {"runtime": f"{max(1, round(seconds * 1e3))}ms"}
    return {"bucket": {"kind": "s3", "bucket": BUCKET}}, {"objects": fields}


def _files(summary: TraceSummary, notes: Notes) -> Parts:
    workloads = data_workloads(summary, notes)
    workloads |= _names(summary, notes)
    if any("record_size" in one and "rate" not in one for one in workloads.values()):
        notes.add("short work", "varies from repeat to repeat: scale: 10 has ten times as many files in a set")
    if len(workloads) > 1:
        notes.add("workloads", "the program did all at once; each is measured by itself, one after another")
    if any(one.file.kind == "b" and one.moved for one in summary.files.values()):
        notes.add("devices", "a file stands for them, since all that is on a device would be lost")
    if any(one["cache"] == "drop" for one in workloads.values() if "cache" in one):
        notes.add("cache: drop", _DROPPED)
    notes.add("place", f"files go to {PLACE}, which Assay makes and removes: change path to what you want to measure")
    return _PLACE, workloads


def _names(summary: TraceSummary, notes: Notes) -> dict[str, dict[str, Any]]:
    """Return a workload for each operation on names that is frequent: it is done as often as the program did it."""
    total = sum(one.count for one in summary.operations.values())
    found = {}
    for op, other in _NAME_OPS.items():
        count = min(MAX_FILES, name_count(summary, op))
        if count >= _MIN_NAMES * total > 0:
            lanes = lanes_for(summary, count)
            found[other] = {"operations": [other], "files": -(-count // lanes), "lanes": lanes}
            if other == "readdir":
                count = min(_MAX_DIRECTORIES, count)
                found[other] |= {"files": count, "depth": 1, "width": count, "lanes": 1}
            if other in LOOKUPS:
                found[other]["cache"] = "drop"
    if found:
        used = sum(bool(one.operations) for one in summary.files.values())
        notes.add(
            "names", f"{', '.join(found)}: each name once; the program used {about_count(used)} names, some again"
        )
    return found


def _percentages(counts: dict[str, int]) -> dict[str, int]:
    """Return whole percentages that sum to 100, each of at least 1."""
    total = sum(counts.values())
    found = {name: max(1, round(100 * count / total)) for name, count in counts.items()}
    largest = max(found, key=lambda name: found[name])
    found[largest] += 100 - sum(found.values())
    return found


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
