"""Metadata operations: rules for their parameters, and the phases of a case.

The engine's side is `validate_tree` and `validate_order` of `engine/crates/spec/src/validate.rs`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from assay.model.study.names import ALL_NAMES, LOOKUPS
from assay.model.study.shape import directories
from assay.model.units import format_size
from assay.plan.broken_rule import BrokenRule

MAX_CONTENTS_BYTES = 1 << 30
MAX_LEAVES = 1_000_000

CACHE_REASONS = {
    "direct": "metadata operations have no O_DIRECT",
    "evict": "names and attributes cannot be evicted one by one",
}
"""Cache policy that metadata operations do not have -> reason."""


class PhasePlan(NamedTuple):
    """One phase of a job: its operation, and whether it is measured."""

    operation: str
    measured: bool = True


def tree_phases(operations: tuple[str, ...], partial: bool) -> tuple[PhasePlan, ...]:
    """Return the phases for operations: an unmeasured one comes before those that may lack files or directories.

    Args:
        operations: Metadata operations, in an order without `order_fault`.
        partial: A `create` may end early and leave files out.
    """
    phases: list[PhasePlan] = []
    files = directories = False
    for operation in operations:
        if operation == "create":
            files = not partial
        elif operation == "mkdir":
            directories = True
        elif operation == "rmdir":
            phases += [] if directories else [PhasePlan("mkdir", measured=False)]
            directories = False
        else:
            phases += [] if files else [PhasePlan("prepare", measured=False)]
            files = operation != "unlink"
        phases.append(PhasePlan(operation))
    return tuple(phases)


def order_fault(operations: tuple[str, ...]) -> tuple[str, str] | None:
    """Return why the operations cannot follow each other, with a hint; None if they can."""
    files = directories = False
    for operation in operations:
        if operation == "create" and files:
            return "create: the files exist already", "put create first, or unlink before it"
        if operation == "mkdir" and directories:
            return "mkdir: the directories exist already", "put rmdir between two mkdir"
        if operation in ("mkdir", "rmdir"):
            directories = operation == "mkdir"
        else:
            files = operation != "unlink"
    return None


def tree_rules(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    """Yield the rules for metadata operations that a combination of parameters breaks."""
    yield from tree_shape(values)
    yield from _contents(values)
    yield from _other_parameters(values)
    yield from _duration(values, operations)


def all_lanes(values: Mapping[str, Any]) -> int:
    """Return the number of lanes of all hosts together.

    Args:
        values: Parameter -> value.
    """
    lanes: int = values["lanes"] * values["tasks_per_host"] * values["hosts"]
    return lanes


def tree_shape(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    """Yield a broken rule for trees with too many directories, for metadata operations and sets of files."""
    files, depth, width = values["files"], values["depth"], values["width"]
    if files is not None and values["total_files"]:
        files += values["total_files"] > files * all_lanes(values)
    leaves = directories(width, depth, values["inner"])
    trees = 1 if values["layout"] == "shared" else all_lanes(values)
    if files is not None and (leaves > files or leaves * trees > MAX_LEAVES):
        total = f"{files:,} files of each lane" if files != 1 else "one file of each lane"
        message = f"width {width} to the power of depth {depth} makes {leaves:,} directories for {total}"
        hint = f"at most one for each file, and {MAX_LEAVES:,} in all: more files, or a smaller width or depth"
        if trees > 1:
            message, hint = f"{message} in each of {trees:,} trees", f"{hint}, or fewer lanes or layout: shared"
        yield BrokenRule("width", "leaves", message, hint)


def _contents(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    if values["file_size"] > MAX_CONTENTS_BYTES:
        message = (
            f"the contents of a small file are written in one operation: {format_size(values['file_size'])} is too much"
        )
        yield BrokenRule("file_size", "contents", message, f"at most {format_size(MAX_CONTENTS_BYTES)}")


def _other_parameters(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    reason = CACHE_REASONS.get(values["cache"])
    if reason:
        yield BrokenRule(
            "cache", f"names {values['cache']}", f"{reason}, so cache: {values['cache']} is not possible", _CACHE_HINT
        )
    if values["method"] in ("mmap", "threads"):
        message = f"metadata operations have no {values['method']}"
        yield BrokenRule("method", f"names {values['method']}", message, "use method: auto, io_uring or sync")
    if values["preallocate"]:
        message = "nothing is preallocated for metadata operations"
        yield BrokenRule("preallocate", "names preallocate", message, "set preallocate: false")


_CACHE_HINT = "use cache: keep, or drop to start each phase without cached names"


def _duration(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    """Yield a broken rule for a runtime or time_limit that no operation uses. One that some use is accepted."""
    shown = ", ".join(dict.fromkeys(operations))
    if values["runtime"] is not None and not LOOKUPS.intersection(operations):
        message = f"runtime has no effect on {shown}: each name can be changed only once"
        yield BrokenRule("runtime", "names runtime", message, "remove it, or add stat, open or readdir")
    if values["time_limit"] is not None and ALL_NAMES.issuperset(operations):
        message = f"time_limit has no effect on {shown}: they are done to every name"
        yield BrokenRule(
            "time_limit", "names time_limit", message, "remove it, and choose the time by the number of files"
        )
