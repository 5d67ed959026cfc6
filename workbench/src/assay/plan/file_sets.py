"""Number and sizes of files, and rules for operations on the data of sets of files.

The engine's side is `engine/crates/spec/src/validate/files.rs`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.model.study.contents import MIX_EXAMPLES, parse_mix, parse_sizes
from assay.model.study.names import MIXABLE, SET_OPERATIONS
from assay.plan.broken_rule import BrokenRule
from assay.plan.tree import all_lanes, tree_shape

MAX_FILES = 10**9
"""Most files of one lane."""
MAX_WIDTH = 10_000


def scaled_file_counts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `files` and `total_files` of a case, and the width of its tree, after scaling.

    `total_files` is divided among the lanes; the first ones may get one file more. `files` is the least per lane.

    Args:
        values: Parameter -> value, with `files` or `total_files`.
    """
    scale, lanes = values["scale"], all_lanes(values)
    found: dict[str, Any] = {}
    if values["total_files"] is not None:
        found["total_files"] = max(1, round(values["total_files"] * scale))
        found["files"] = found["total_files"] // lanes
    else:
        found["files"] = max(1, round(values["files"] * scale))
    if scale != 1 and values["depth"] > 0:
        found["width"] = max(1, round(values["width"] * scale ** (1 / values["depth"])))
    return found


def size_of_each_file(values: Mapping[str, Any]) -> int:
    """Return the bytes of each file for a workload with `total_size`.

    A shared file gets all of it. A file per lane gets an equal part in whole records; the remainder, less than a record
    per lane, is dropped.

    Args:
        values: Parameter -> value.
    """
    total: int = values["total_size"]
    if values["layout"] == "shared":
        return total
    record: int = values["record_size"] or 1
    return total // all_lanes(values) // record * record


def set_rules(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    """Yield the rules for sets of files that a combination of parameters breaks."""
    other = [operation for operation in dict.fromkeys(operations) if operation not in SET_OPERATIONS]
    if other:
        verb = "work" if len(other) > 1 else "works"
        message = f"{', '.join(other)} {verb} on one file, not on a set of files"
        yield BrokenRule(
            "operations", "set operations", message, f"use {', '.join(SET_OPERATIONS)}, or leave files out"
        )
    yield from count_rules(values)
    yield from tree_shape(values)
    yield from _sizes(values)
    yield from _other_parameters(values)


def mix_rules(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    """Yield broken rules for mixes: `file_mix` needs a set of files, and each mix shares of its own operations."""
    if "file_mix" in operations and values["files"] is None:
        message = "file_mix works on a set of files, but the number of files is not set"
        yield BrokenRule("operations", "mix of no set", message, "add a line such as `files: 1000`")
    for operation in (operation for operation in MIXABLE if operation in operations):
        parts = MIXABLE[operation]
        shares = parse_mix(values["mix"]) if values["mix"] else {}
        if not shares or not shares.keys() <= set(parts):
            message = f"{operation} consists of {', '.join(parts)}, but mix is {values['mix'] or 'not set'}"
            yield BrokenRule("mix", "mix of others", message, f"write mix: {MIX_EXAMPLES[operation]}")


def count_rules(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    """Yield broken rules for the number of files, for metadata operations and sets of files."""
    files = values["files"] or 0
    if files > MAX_FILES:
        message = f"a lane would have {files:,} files"
        yield BrokenRule("files", "many files", message, f"at most {MAX_FILES:,}: fewer files, or more lanes")
    total = values["total_files"] or files * all_lanes(values)
    if values["width"] > MAX_WIDTH:
        message = f"scale {values['scale']:g} makes the width {values['width']:,}"
        yield BrokenRule("scale", "scaled width", message, f"at most {MAX_WIDTH:,}: a smaller scale, or more depth")
    if total < (lanes := all_lanes(values)):
        few = f"{total:,} files are" if total != 1 else "one file is"
        message = f"{few} fewer than the {lanes:,} lanes, so some lanes would have nothing to do"
        yield BrokenRule("total_files", "idle lanes", message, "more files, fewer lanes, or a larger scale")


def _sizes(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    if values["file_size"] < 1:
        yield BrokenRule("file_size", "no file", "files of 0B have no record to write or read", "make it at least 1B")
    sizes = parse_sizes(values["file_sizes"] or max(1, values["file_size"]))
    if values["cache"] == "direct" and sizes.bounds is not None:
        message = "O_DIRECT needs sizes that are multiples of a block, and between two bounds there are others"
        yield BrokenRule(
            "file_sizes", "set direct", message, "list sizes with weights, or set cache: drop, limit or keep"
        )


def _other_parameters(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    if values["queue_depth"] > 1:
        message = f"in a set of files a lane has one operation in flight, not {values['queue_depth']}"
        yield BrokenRule("queue_depth", "set depth", message, "leave queue_depth out, and use more lanes")
    if values["method"] not in ("auto", "sync"):
        message = f"a set of files is read and written by plain calls, not by {values['method']}"
        yield BrokenRule("method", "set method", message, "use method: auto or sync")
    if values["preallocate"]:
        message = "nothing is preallocated for a set of files"
        yield BrokenRule("preallocate", "set preallocate", message, "set preallocate: false")
    if values["cache"] == "evict":
        message = "the files of a set cannot be taken out of the cache one by one, so cache: evict is not possible"
        hint = "use cache: direct, drop or limit"
        yield BrokenRule("cache", "set evict", message, hint)
