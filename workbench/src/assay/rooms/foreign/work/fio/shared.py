"""Sizes and layout of jobs of fio that run together."""

from collections.abc import Sequence
from typing import Any

from assay.model.units import about_size, format_size, parse_size
from assay.rooms.foreign.work.fio.amount import FioAmount
from assay.rooms.foreign.work.fio.values import percent_of
from assay.rooms.foreign.work.fio.work import FioWork
from assay.rooms.foreign.work.notes import Notes


def sizes_of(works: Sequence[FioWork], amount: FioAmount, lanes: int, notes: Notes) -> dict[str, Any]:
    """Return the fields for sizes, files and layout.

    Args:
        works: What the jobs do, which is the same.
        amount: How much each of their processes does.
        lanes: Number of their processes.
        notes: Receives a line for each difference.

    Raises:
        AssayError: Their parts of a file have no counterpart.
    """
    first = works[0]
    names = {(work.place.folders, name) for work in works for name in work.place.names}
    all_share = lanes > 1 and first.place.is_shared and len(names) <= first.place.files
    if not all_share and first.place.is_shared and any(work.lanes > 1 for work in works):
        raise works[-1].job.error("filename", "several files that several jobs work on each", "write one file")
    _note_offset(first, lanes, notes)
    if all_share:
        return {"layout": "shared", "file_size": format_size(_shared(first, amount, lanes, notes))}
    layout = {"layout": "shared" if first.place.is_device else "separate"}
    if amount.files > 1 or amount.sizes:
        order = first.job.text("file_service_type", "roundrobin").partition(":")[0]
        if order != "sequential":
            notes.add(f"nrfiles={amount.files}", "one file after the other, each opened and closed; fio has all open, "
                      "and takes a block of each in turn")  # fmt: skip
        if order in ("random", "zipf", "pareto", "normal", "gauss"):
            layout["file_order"] = "random"
        size = {"file_sizes": amount.sizes} if amount.sizes else {"file_size": format_size(amount.file_size)}
        return {**layout, "files": amount.files, **size}
    return {**layout, "file_size": format_size(amount.file_size)}


def _note_offset(first: FioWork, lanes: int, notes: Notes) -> None:
    job = first.job
    if job.has("offset") and job.text("offset").strip() not in ("0", "0%"):
        if first.place.is_device:
            hint = "leave offset out, or make a partition or a loop device of the part"
            raise job.error("offset", "a device is worked on from its beginning", hint)
        notes.add(
            job.values["offset"].written, "files are worked on from their beginning, as far as fio's part is long"
        )
    if job.has("offset_increment") and (lanes == 1 or not first.place.is_shared):
        notes.add(job.values["offset_increment"].written, "files are worked on from their beginning")


def _shared(first: FioWork, amount: FioAmount, lanes: int, notes: Notes) -> int:
    """Return the bytes of a file that all lanes share."""
    job = first.job
    size, record = amount.file_size, parse_size(first.fields["record_size"])
    if amount.files > 1:
        raise job.error("filename", "several files that several jobs share", "write one file, or a directory")
    if job.has("offset_increment"):
        same_share = percent_of(job.text("offset_increment"))
        is_whole = same_share is not None and same_share == percent_of(job.text("size"))
        if is_whole or job.size("offset_increment") == size:
            return size * lanes
        if "runtime" not in first.fields:
            raise job.error("offset_increment", "parts of jobs overlap or have holes", "write the same as size")
        notes.add(job.values["offset_increment"].written, f"each of {lanes} lanes has an equal part of the "
                  "file for itself; fio's jobs begin so far apart, and may overlap")  # fmt: skip
        return size
    if not first.fields.keys() & {"runtime", "time_limit"}:
        why = f"{lanes} jobs each go over the whole of one file, {about_size(size * lanes)} in all; lanes share it out"
        raise job.error("numjobs", why, "write time_based with a runtime, or offset_increment and size of a part")
    if size // lanes < record:
        raise job.error("bs", f"larger than the part of each of {lanes} lanes", "write a larger size")
    is_random, is_timed = "random" in first.fields["operations"][0], "runtime" in first.fields
    parts = ["each lane has a part of it for itself, where each of fio's jobs works on all of it"]
    if not is_random:
        parts.append("fio's go through the same places side by side, and may find them in a cache")
    elif is_timed:
        parts.append("records come as often as with fio")
    if not is_timed:
        ends = f"they end after {about_size(size)}, fio's after {about_size(size * lanes)}, or when the time is over"
        parts.append(f"{ends}; add time_based, and both go on")
    notes.add(f"{lanes} jobs on one file", "; ".join(parts))
    return size
