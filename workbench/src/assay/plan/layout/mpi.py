"""Rules for MPI ranks that share a file: file views and shared file pointers.

The engine's side is `engine/crates/spec/src/target/mpiio.rs`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.model.study.names import SHUFFLES
from assay.plan.broken_rule import BrokenRule

SEQUENTIAL_OPERATIONS = ("write", "rewrite", "read", "reread")
"""Operations that go through a file once, from beginning to end."""


def mpi_rules(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    """Yield the rules of views and pointers that a combination of parameters breaks.

    Args:
        values: Parameter -> value; only targets behind MPI-IO have views and shared pointers.
        operations: Operations on data.
    """
    if values["view"] != "none":
        yield from _view(values, operations)
    if values["pointer"] == "shared":
        yield from _pointer(values, operations)


def _view(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    if values["layout"] != "shared":
        yield BrokenRule("view", "view of one", "a view is of a file that all ranks share", "add layout: shared")
    if values["block_size"] is None:
        message = "in a view a rank sees its own blocks, but their size is not set"
        yield BrokenRule("view", "view of nothing", message, "add for example block_size: 64KiB")
    if values["pointer"] == "shared":
        message = "ranks that share a pointer must all see the same"
        yield BrokenRule("view", "view and pointer", message, "write view: none, or pointer: individual")
    for operation in operations:
        if operation in SHUFFLES:
            message = f"in a view a rank sees only its own part, but {operation} accesses the parts of others"
            yield BrokenRule("view", "random view", message, "write view: none for it, or go in sequence")


def _pointer(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    if values["layout"] != "shared":
        message = "ranks share a pointer only of a file that they share"
        yield BrokenRule("pointer", "pointer of one", message, "add layout: shared")
    ordered = values["collective"] and values["block_size"] == values["record_size"]
    if values["verify"] and not ordered:
        message = "which rank has which record depends on which rank comes first, so data cannot be verified"
        hint = "write verify: false, or collective: true with block_size as large as record_size"
        yield BrokenRule("verify", "pointer and verify", message, hint)
    if values["collective"] and values["queue_depth"] > 1:
        message = "MPI has no nonblocking collective operations with a shared pointer"
        yield BrokenRule("queue_depth", "ordered depth", message, "write queue_depth: 1")
    if values["runtime"] is not None:
        message = "a shared pointer goes once over the file"
        yield BrokenRule("runtime", "pointer and runtime", message, "write time_limit instead")
    if values["reorder"] != "none":
        message = "with a shared pointer no rank has a part of its own to reorder"
        yield BrokenRule("reorder", "pointer and reorder", message, "leave reorder out")
    others = [operation for operation in operations if operation not in SEQUENTIAL_OPERATIONS]
    if others:
        message = f"a shared pointer goes once from the beginning to the end of the file, not as {others[0]} does"
        yield BrokenRule("pointer", "pointer back", message, f"use {', '.join(SEQUENTIAL_OPERATIONS)}")
