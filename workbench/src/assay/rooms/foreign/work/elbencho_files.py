"""Converts what elbencho does with files and devices to targets and workloads."""

from collections.abc import Sequence
from typing import Any

from assay.model.base import AssayError
from assay.model.units import about_size, format_size
from assay.plan.command_lines.elbencho_options import ElbenchoWords
from assay.rooms.foreign.work.elbencho_common import (
    lanes_of,
    limits_of,
    number,
    paths_of,
    rate_of,
    reorder_of,
    shown_paths,
    size,
    threads_of,
)
from assay.rooms.foreign.work.line import directory_path
from assay.rooms.foreign.work.notes import Notes

_PLACE = "assay-elbencho"
_DIRECTORY_OPTIONS = ("mkdirs", "deldirs", "dirs", "files", "dirsharing")
_MAX_WIDTH = 10_000
_MAX_SMALL = 16 << 20
"""Most bytes of a file that is only looked at or removed."""
Parts = tuple[dict[str, Any], dict[str, dict[str, Any]]]


def file_parts(words: ElbenchoWords, hosts: int, notes: Notes) -> Parts:
    """Return targets and workloads of a command line about files or devices.

    Args:
        words: The command line.
        hosts: How many hosts it names; 0 for this one.
        notes: Receives a line for each difference.

    Raises:
        AssayError: There is no counterpart, or nothing to do.
    """
    paths = paths_of(words)
    if all(path.startswith("/dev/") for path in paths):
        return _device(words, paths, max(1, hosts), notes)
    is_tree = any(words.has(name) for name in _DIRECTORY_OPTIONS) or all(path.endswith("/") for path in paths)
    workloads = _tree_workloads(words, notes) if is_tree else _file_workloads(words, len(paths), max(1, hosts), notes)
    if not workloads:
        raise AssayError("elbencho: these options leave nothing to do", "add -w or -r")
    return {"place": _target(words, paths, is_tree, notes)}, workloads


def _target(words: ElbenchoWords, paths: Sequence[str], is_tree: bool, notes: Notes) -> dict[str, Any]:
    folders = [path if is_tree else path.rpartition("/")[0] or ("/" if path.startswith("/") else "") for path in paths]
    places = list(dict.fromkeys(directory_path(folder, _PLACE, "elbencho") for folder in folders))
    notes.add(shown_paths(words), f"files go to {' and '.join(places)}, which Assay makes and removes")
    if not is_tree and not words.has("size"):
        raise AssayError("elbencho: how large the files are is not in the command line", "add -s SIZE")
    return {"kind": "file", "path": places[0], **({"shares": places[1:]} if places[1:] else {})}


def _device(words: ElbenchoWords, paths: Sequence[str], hosts: int, notes: Notes) -> Parts:
    if len(paths) > 1:
        message = f"elbencho: {len(paths)} devices at once are not one target"
        raise AssayError(message, "convert a command line for each of them")
    if not words.has("size"):
        raise AssayError("elbencho: how much of the device is used is not in the command line", "add -s SIZE")
    bytes_used = size(words, "size", 0)
    notes.add(paths[0], "all that is on it is lost, also with -r alone, since what is read is written first")
    workloads = _data(words, {"layout": "shared", **_shared(words, bytes_used, threads_of(words) * hosts)}, notes)
    if not workloads:
        raise AssayError("elbencho: these options leave nothing to do", "add -w or -r")
    return {"device": {"kind": "device", "path": paths[0]}}, workloads


def _tree_workloads(words: ElbenchoWords, notes: Notes) -> dict[str, dict[str, Any]]:
    """Return the workloads for trees of files: `-n` directories of each thread, `-N` files in each."""
    dirs, files, each = number(words, "dirs", 1), number(words, "files", 1), size(words, "size", 0)
    if dirs > _MAX_WIDTH or files < 1:
        raise AssayError(f"elbencho -n {dirs} -N {files}: 1 file and {_MAX_WIDTH} directories of each thread at most",
                         "write fewer directories, and more files in each")  # fmt: skip
    for name in ("strided", "backward"):
        if words.has(name):
            raise AssayError(f"elbencho --{name}: files of a tree are read and written in sequence or at random",
                             "leave it out, or give a file as path")  # fmt: skip
    is_shared = dirs == 0 or words.has("dirsharing")
    shape: dict[str, Any] = {"layout": "shared" if is_shared else "separate", "files": max(dirs, 1) * files}
    if dirs:
        shape |= {"depth": 1, "width": dirs}
    found: dict[str, dict[str, Any]] = {}
    if (words.has("mkdirs") or words.has("deldirs")) and dirs:
        operations = [name for name, option in (("mkdir", "mkdirs"), ("rmdir", "deldirs")) if words.has(option)]
        found["directories"] = {"operations": operations, "files": dirs, "layout": shape["layout"], **lanes_of(words)}
        found["directories"].pop("queue_depth", None)
        notes.add("-d, -D", "directories are made and removed in a workload of their own, without files in them")
    depth, own = number(words, "iodepth", 1), shape
    if shape["files"] == 1 and depth > 1:
        own = {"layout": "separate"}
        notes.add(words.written["iodepth"], "each lane keeps its one file open; elbencho opens it for each pass")
    if each:
        found |= _data(words, {**own, "file_size": format_size(each)}, notes)
    return found | _names(words, shape, each, notes)


def _names(words: ElbenchoWords, shape: dict[str, Any], each: int, notes: Notes) -> dict[str, dict[str, Any]]:
    """Return the workload for operations on names; files of 0 bytes are made and opened there, too."""
    operations = ["create"] if words.has("write") and not each else []
    operations += [name for name, option in (("stat", "stat"), ("open", "read"), ("unlink", "delfiles"))
                   if words.has(option) and not (name == "open" and each)]  # fmt: skip
    if not operations:
        return {}
    fields: dict[str, Any] = {"operations": operations, **shape, **lanes_of(words), "sync": "none"}
    fields.pop("queue_depth", None)
    if 0 < each <= _MAX_SMALL:
        fields["file_size"] = format_size(each)
    if each:
        size_words = "" if each <= _MAX_SMALL else "; they are empty, since each would be written in one operation"
        why = f"they are done in a workload of their own, which makes the files outside the timing{size_words}"
        notes.add("--stat, -F", why)
    return {"names": fields}


def _file_workloads(words: ElbenchoWords, count: int, hosts: int, notes: Notes) -> dict[str, dict[str, Any]]:
    """Return the workloads for one or several files, of which each thread has its part of the bytes."""
    each, lanes = size(words, "size", 0), threads_of(words) * hosts
    for name, option in (("delfiles", "-F"), ("stat", "--stat")):
        if words.has(name):
            notes.add(
                option, f"left out for {count} file{'s' if count > 1 else ''}: name a directory, and -N, to measure it"
            )
    if count == 1 and lanes == 1:
        return _data(words, {"layout": "separate", **_shared(words, each, 1)}, notes)
    if count == 1:
        return _data(words, {"layout": "shared", **_shared(words, each, lanes)}, notes)
    if words.has("strided"):
        raise AssayError("elbencho --strided: of several files no lane has blocks in turn", "give one file as path")
    if count % lanes == 0:
        more = {"files": count // lanes} if count > lanes else {}
        layout = "shared" if more else "separate"
        return _data(words, {"layout": layout, **more, "file_size": format_size(each)}, notes)
    record = min(size(words, "block", 1 << 20), each) or 1
    part = max(record, each * count // lanes // record * record)
    less = each * count - part * lanes
    sum_of = "the same bytes" if not less else f"{about_size(abs(less))} {'less' if less > 0 else 'more'} in all"
    notes.add(f"-t {threads_of(words)}", f"{lanes} lanes have a file of {format_size(part)} each; elbencho's share out "
              f"{count} files of {format_size(each)}: {sum_of}")  # fmt: skip
    return _data(words, {"layout": "separate", "file_size": format_size(part)}, notes)


def _shared(words: ElbenchoWords, each: int, lanes: int) -> dict[str, Any]:
    """Return the fields for the size of one file or device."""
    if not words.has("strided"):
        return {"file_size": format_size(each)}
    record = size(words, "block", 1 << 20)
    segments = each // (record * lanes) if record else 0
    if not segments:
        raise AssayError("elbencho --strided: the file is smaller than a block of each thread", "raise -s, or lower -b")
    return {"segments": segments, "block_size": format_size(record)}


def _data(words: ElbenchoWords, shape: dict[str, Any], notes: Notes) -> dict[str, dict[str, Any]]:
    """Return the workloads that write and read data, none without."""
    operations = _operations(words, notes)
    if not operations:
        return {}
    record = size(words, "block", 1 << 20)
    if words.has("size"):
        record = min(record, size(words, "size", 0))
    if not record:
        raise AssayError("elbencho -s 0: there are no bytes to write or read", "add -s SIZE")
    depth = number(words, "iodepth", 1)
    if "files" in shape and depth > 1:
        raise AssayError(f"elbencho --iodepth {depth}: in a set of files a lane has one operation in flight",
                         "leave it out, and raise -t; or give as many files as threads")  # fmt: skip
    common = {
        **shape,
        "record_size": format_size(record),
        **lanes_of(words),
        **_how(words, notes),
        **_content(words, notes),
    }
    common |= _mix(words, notes)
    if any(name.endswith("read") for name in operations):
        common |= reorder_of(words, notes)
    common |= limits_of(words, notes)
    rates = {
        name: rate_of(words, f"limit{'read' if name.endswith('read') else 'write'}", record, notes)
        for name in operations
    }
    if not any(rates.values()):
        return {"data": {"operations": operations, **common}}
    return {name: {"operations": [name], **common, **rates[name]} for name in operations}


def _operations(words: ElbenchoWords, notes: Notes) -> list[str]:
    is_random, found = words.has("rand"), []
    if words.has("randamount"):
        notes.add(words.written["randamount"], "left out: each record of the file comes once; lower file_size for less")
    if words.has("backward") and words.has("write"):
        raise AssayError(
            "elbencho --backward -w: nothing is written backwards", "leave -w out: what is read is written first"
        )
    if words.has("write") and _is_mix(words):
        found.append("random_mix" if is_random else "sequential_mix")
    elif words.has("write"):
        found.append("random_write" if is_random else "write")
    if words.has("read"):
        found.append("random_read" if is_random else "backward_read" if words.has("backward") else "read")
    if is_random and words.has("write"):
        notes.add("-w --rand", "goes over files that were written before, outside the timing")
    if is_random and words.has("read"):
        notes.add(
            "-r --rand",
            "each record comes once; elbencho draws anew for each, so that some come again and others never",
        )
    if words.has("read") and not words.has("write"):
        notes.add("-r without -w", "what is read is written first, outside the timing, whatever is there already")
    return found


def _is_mix(words: ElbenchoWords) -> bool:
    return bool(number(words, "rwmixpct", 0) or number(words, "rwmixthr", 0))


def _mix(words: ElbenchoWords, notes: Notes) -> dict[str, Any]:
    if not words.has("write") or not _is_mix(words):
        return {}
    percent, readers = number(words, "rwmixpct", 0), number(words, "rwmixthr", 0)
    if readers:
        share = number(words, "rwmixthrpct", round(100 * readers / threads_of(words)))
        notes.add(
            words.written["rwmixthr"], f"every lane reads and writes, {share} % reads; elbencho has threads for each"
        )
        percent = share
    return {"read_percent": min(percent, 100)}


def _how(words: ElbenchoWords, notes: Notes) -> dict[str, Any]:
    """Return the fields for how data gets to the storage."""
    found: dict[str, Any] = {}
    is_mapped = words.has("mmap")
    if words.has("direct") and not is_mapped:
        found["cache"] = "direct"
    elif words.has("dropcache"):
        found["cache"] = "drop"
    else:
        found["cache"] = "keep"
        notes.add("cache: keep", "as elbencho, which leaves the page cache alone: results may come from memory, and "
                  "are judged accordingly")  # fmt: skip
    if words.has("direct") and is_mapped:
        notes.add("--direct", "left out: a mapping has no O_DIRECT")
    if is_mapped:
        found["method"] = "mmap"
        if number(words, "iodepth", 1) > 1:
            raise AssayError(
                "elbencho --mmap --iodepth: a mapping has one operation in flight", "leave one of them out"
            )
    found["sync"] = "fsync" if words.has("sync") else "none"
    if words.has("sync"):
        notes.add("--sync", "fsync: the flush counts as time of the phase; elbencho's is a phase of its own")
    elif words.has("write"):
        notes.add("sync: none", "as elbencho without --sync: the data may still be in memory when the clock stops")
    if words.has("preallocfile"):
        found["preallocate"] = True
    return found


def _content(words: ElbenchoWords, notes: Notes) -> dict[str, Any]:
    """Return the fields for what data is written, and whether it is checked."""
    found: dict[str, Any] = {}
    if number(words, "verify", 0):
        found["verify"] = True
        notes.add(words.written["verify"], "every byte that is read is checked, against the study's seed")
    percent = number(words, "blockvarpct", 100)
    if words.has("write") and percent < 100:
        found["duplicate"] = 100 - percent
        notes.add(
            words.written["blockvarpct"],
            f"{100 - percent} % of the blocks are copies; elbencho keeps so much of each block",
        )
    return found
