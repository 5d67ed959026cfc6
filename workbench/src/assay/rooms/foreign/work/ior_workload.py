"""Converts a test of IOR to a workload."""

from collections.abc import Mapping
from typing import Any

from assay.model.study.parameters import DEFINITIONS
from assay.model.units import about_size, format_size
from assay.plan.command_lines.ior_tests import IorTest
from assay.plan.command_lines.options import INTERFACE_PREFIX
from assay.rooms.foreign.work.ior_options import MPI_OPTION_NOTES, OPTION_NOTES
from assay.rooms.foreign.work.launcher import Tasks, lanes_of
from assay.rooms.foreign.work.notes import Notes

_OF_ANOTHER_RUN = ("stonewallingwearoutiterations", "stonewallingstatusfile")
"""Options that tell a read how much another run has written."""


def workload_of(test: IorTest, tasks: Tasks, hints: Mapping[str, str], notes: Notes) -> dict[str, Any]:
    """Return the fields of the workload that is equivalent to a test.

    Args:
        test: The test.
        tasks: The tasks that do it.
        hints: MPI-IO hints from the environment.
        notes: Receives a line for each difference.
    """
    _add_notes(test, notes)
    found: dict[str, Any] = {"operations": _operations(test, tasks, notes)}
    found["layout"] = "separate" if test.has("fileperproc") else "shared"
    found |= _shape(test, tasks, notes)
    found["record_size"] = format_size(test.sizes["transfersize"])
    found |= lanes_of(tasks, notes, test.uses_mpi)
    found |= _order(test, notes)
    found |= _time(test, notes)
    found["cache"] = _cache(test, notes)
    found["sync"] = _sync(test, notes)
    if test.has("preallocate"):
        found["preallocate"] = True
    if test.has("checkread") or test.has("checkwrite"):
        found["verify"] = True
    if test.api == "MMAP":
        found["method"] = "mmap"
    if test.api == "AIO":
        notes.add("-a AIO", "one operation of a lane is in flight: for more write method: io_uring and queue_depth")
    if test.uses_mpi:
        found |= {name: int(value) if value.isdigit() else value for name, value in hints.items() if is_axis(name)}
    return found | _mpi(test, notes)


def is_axis(hint: str) -> bool:
    """Return whether an MPI-IO hint is a field of workloads; other hints belong to the target."""
    item = DEFINITIONS.get(hint)
    return item is not None and item.job == f"target.hints.{hint}"


def _add_notes(test: IorTest, notes: Notes) -> None:
    for name, text in test.texts_of.items():
        if name in _OF_ANOTHER_RUN and not test.writes:
            notes.add(text, "what another run has written is not read: all data is written first, outside the timing")
        elif name in OPTION_NOTES:
            notes.add(text, OPTION_NOTES[name])
        elif name.startswith(INTERFACE_PREFIX):
            is_own_interface = name.removeprefix(INTERFACE_PREFIX).upper().startswith(f"{test.api}.")
            why = (
                "no counterpart"
                if is_own_interface
                else f"an option of another interface, which -a {test.api} does not use"
            )
            notes.add(text, why)


def _shape(test: IorTest, tasks: Tasks, notes: Notes) -> dict[str, Any]:
    """Return the fields for the sizes of files, and how lanes share them."""
    segments, block, transfer = (test.sizes[name] for name in ("segmentcount", "blocksize", "transfersize"))
    if not test.has_full_random_order:
        return {"segments": segments, "block_size": format_size(block)}
    # With blocks a random order would go segment by segment; with one record per block it would not be random at all.
    shared = not test.has("fileperproc")
    order_note = (
        "" if block == transfer else f", and goes through each in order: random are only its blocks of {block} bytes"
    )
    if test.counts["randomoffset"] > 1:
        notes.add(
            "-z -z",
            "each record of the whole file comes exactly once, in random order; IOR draws a block for each segment, so "
            f"that some may come again and others never{order_note}",
        )
    else:
        notes.add(
            "-z",
            "a block has one transfer: all of the file in random order, each once, as IOR before 4.0; from then on -z "
            "shuffles the transfers of each block, which here does nothing",
        )
    if shared and tasks.total > 1:
        notes.add("file_size", f"that of {tasks.total} tasks: change it with the lanes")
    return {"file_size": format_size(segments * block * (tasks.total if shared else 1))}


def _operations(test: IorTest, tasks: Tasks, notes: Notes) -> list[str]:
    writes, reads, shuffled = test.writes, test.reads, test.has("randomoffset")
    if test.has("checkwrite") and not (test.has("readfile") or test.has("checkread")):
        notes.add("-W", "what was written is read in a phase of its own, which checks every byte")
    if shuffled and not test.has_full_random_order:
        notes.add("-z", "each transfer comes exactly once; which one when is not what IOR's random numbers make it")
        notes.add(
            "-z",
            "order is random in each block, as from IOR 4.0 on; before, it was over the whole file: for that write "
            "file_size in place of segments and block_size",
        )
    if writes and shuffled:
        notes.add("-w -z", "random_write goes over a file that was prepared, outside the timing; IOR writes a new one")
    if writes and test.has("useexistingtestfile"):
        notes.add("-E", "write empties the file first; rewrite goes over an existing one")
    if reads and not writes:
        size, field = about_size(test.bytes(tasks.total)), "file_size" if test.has_full_random_order else "segments"
        notes.add(
            "-r without -w",
            f"what is read is written first, outside the timing: all {size}, however much another run has written; "
            f"lower {field} for less",
        )
    found = ["random_write" if shuffled else "write"] if writes else []
    return [*found, "random_read" if shuffled else "read"] if reads else found


def _order(test: IorTest, notes: Notes) -> dict[str, Any]:
    by = test.number("taskpernodeoffset")
    if test.has("reordertasks") and by == 0:
        notes.add("-C -Q 0", "on by no node: each lane reads what it has written, with IOR too")
        return {}
    if test.has("reordertasks"):
        return {"reorder": "node", **({"reorder_by": by} if by and by > 1 else {})}
    if test.has("reordertasksrandom"):
        if test.counts["reordertasksrandom"] == 1:
            notes.add(
                "-Z",
                "each part is read by one lane, as with IOR's -Z -Z; by -Z alone IOR reads some twice, others never",
            )
        if by:
            notes.add(test.texts_of["taskpernodeoffset"], "with -Z a part is that of any other lane, whatever its node")
        return {"reorder": "random"}
    if by is not None:
        notes.add(test.texts_of["taskpernodeoffset"], "it has no effect without -C or -Z")
    return {}


def _time(test: IorTest, notes: Notes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    deadline, least = test.number("deadlineforstonewalling"), test.number("mintimeduration")
    if least:
        seconds = min(least, deadline or least)
        notes.add(test.texts_of["mintimeduration"], "runtime: goes over the data until then, and ends there")
        if deadline:
            other = "" if deadline >= least else ", the earlier of the two, when IOR's transfers stop too"
            notes.add(
                test.texts_of["deadlineforstonewalling"], f"a runtime takes no time_limit: ends at {seconds}s{other}"
            )
        if test.has("stonewallingwearout"):
            notes.add(test.texts_of["stonewallingwearout"], "left out: a phase with a runtime ends then")
        return {"runtime": f"{seconds}s"}
    if not deadline:
        return {}
    limit = test.texts_of["deadlineforstonewalling"]
    found["time_limit"] = f"{deadline}s"
    if not test.has("stonewallingwearout"):
        return found
    if test.writes and not test.has("randomoffset"):
        found["wear_out"] = True
        if test.reads:
            notes.add(limit, "reads go over all that was written, however long")
    else:
        what = "random operations" if test.has("randomoffset") else "reads"
        why = f"left out: {what} end at the limit, where each lane is; IOR's tasks continue until all are equal"
        notes.add(test.texts_of["stonewallingwearout"], why)
    return found


def _cache(test: IorTest, notes: Notes) -> str:
    no_direct_reason = {"MPIIO": "MPI-IO has no O_DIRECT", "MMAP": "a mapping has no O_DIRECT"}.get(test.api)
    if test.has("useo_direct") and no_direct_reason is None:
        return "direct"
    if test.has("useo_direct"):
        notes.add(test.texts_of["useo_direct"], f"left out: {no_direct_reason}")
    notes.add(
        "cache: keep",
        "as IOR, which leaves the page cache alone: results may come from memory, and are judged accordingly",
    )
    return "keep"


def _sync(test: IorTest, notes: Notes) -> str:
    if test.has("fsyncperwrite"):
        if test.api not in ("MPIIO", "MMAP"):
            notes.add("-Y", "o_dsync: every write is stable when it ends, without a call of its own")
            return "o_dsync"
        if test.api == "MPIIO":
            notes.add("-Y", "left out: IOR flushes no single writes of MPI-IO either")
        else:
            notes.add("-Y", "sync: fsync, once at the end of a phase; IOR flushes the mapping after every write")
            return "fsync"
    if not test.has("fsync"):
        notes.add("sync: none", "as IOR without -e: the data may still be in memory when the clock stops")
    return "fsync" if test.has("fsync") else "none"


def _mpi(test: IorTest, notes: Notes) -> dict[str, Any]:
    """Return the fields for options that only MPI-IO has, if this installation has the kind mpiio."""
    found: dict[str, Any] = {}
    for name, why in MPI_OPTION_NOTES.items():
        if name in test.counts or name in test.texts:
            has_view = name == "usefileview" and not (test.has("fileperproc") or test.has("randomoffset"))
            if test.uses_mpi and (name == "collective" or has_view):
                found |= {"collective": True} if name == "collective" else {"view": "subarray"}
            else:
                notes.add(test.texts_of[name], why if test.uses_mpi else "for MPI-IO only")
    return found
