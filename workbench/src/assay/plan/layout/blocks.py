"""How a file is divided into segments and blocks.

The engine's side is `engine/crates/spec/src/layout.rs`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.model.study.names import SHUFFLES
from assay.model.study.parameters import Parameters
from assay.model.units import format_size
from assay.plan.broken_rule import BrokenRule
from assay.plan.tree import all_lanes


def segment_bytes(values: Mapping[str, Any]) -> int:
    """Return the bytes of one segment of a file: one block for each lane that works on it; 0 without blocks.

    Args:
        values: Parameter -> value.
    """
    blocks = all_lanes(values) if values["layout"] == "shared" else 1
    return int((values["block_size"] or 0) * blocks)


def block_bytes(parameters: Parameters) -> int | None:
    """Return the contiguous bytes of a lane, for its job; None if its whole part is contiguous.

    In a file view a record may consist of several blocks, which the MPI library combines: then the whole part counts as
    one block.
    """
    block, record = parameters.block_size, parameters.record_size
    if block is not None and record and parameters.view != "none" and block < record:
        return parameters.file_size // parameters.all_lanes
    return block


def order_rules(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    """Yield a broken rule for random order with one record per segment: it goes segment by segment, so in sequence."""
    block, shuffled = values["block_size"], [name for name in operations if name in SHUFFLES]
    if (
        shuffled
        and block is not None
        and block == values["record_size"]
        and values["file_size"] > segment_bytes(values)
    ):
        message = (
            f"{shuffled[0]} shuffles the records of each segment, and a lane has one of {format_size(block)} in each"
        )
        hint = "leave block_size and segments out and set file_size, for a random order of the whole file"
        yield BrokenRule("block_size", "one record a block", f"{message}: the order would be sequential", hint)


def block_rules(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    """Yield the rules of blocks that a combination of parameters breaks, for operations on one file."""
    block, record, file = values["block_size"], values["record_size"], values["file_size"]
    if block is None:
        if values["segments"] is not None:
            message = "segments consist of blocks, but block_size is not set"
            yield BrokenRule("segments", "no block", message, "add for example block_size: 1MiB")
        return
    segment = segment_bytes(values)
    if values["view"] != "none" and block < record:
        yield from _parted_records(block, record, (file, all_lanes(values)))
    elif block % record:
        message = f"block_size {format_size(block)} is not a multiple of record_size {format_size(record)}"
        yield BrokenRule("block_size", "whole records", message, "make blocks a multiple of records")
    elif values["segments"] is None and (file < segment or file % segment):
        message = f"file_size {format_size(file)} is not a multiple of {format_size(segment)}, which one segment has"
        yield BrokenRule("block_size", "whole segments", message, "set segments instead of file_size")


def _parted_records(block: int, record: int, whole: tuple[int, int]) -> Iterator[BrokenRule]:
    """Yield broken rules for views: a record consists of whole blocks, and each rank has whole records."""
    file, lanes = whole
    if record % block:
        message = f"record_size {format_size(record)} is not a multiple of block_size {format_size(block)}"
        yield BrokenRule(
            "block_size", "whole blocks", message, "make records of whole blocks, or blocks of whole records"
        )
    elif file % (record * lanes):
        message = (
            f"file_size {format_size(file)} is not a multiple of a record of each rank, {format_size(record * lanes)}"
        )
        yield BrokenRule(
            "block_size", "whole records of ranks", message, "make the file larger or smaller by some records"
        )
