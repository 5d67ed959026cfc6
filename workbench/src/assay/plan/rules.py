"""Rules for combinations of parameters, independent of the target, including the engine's own rules.

The engine's side is `engine/crates/spec/src/validate.rs`; a property test keeps the two consistent.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.model.study.contents import parse_sizes
from assay.model.study.names import STDIO, WEAR_OUT, group_of
from assay.model.study.parameters import DEFAULTS, DEFINITIONS
from assay.model.units import format_size
from assay.plan.broken_rule import BrokenRule
from assay.plan.file_sets import count_rules, mix_rules, set_rules
from assay.plan.layout.blocks import block_rules, order_rules
from assay.plan.layout.mpi import mpi_rules
from assay.plan.objects import object_rules, piece_bytes
from assay.plan.tree import all_lanes, tree_rules

MAX_BUFFER_BYTES = 64 << 30
SLOT_BYTES = 4096
"""Page size: the buffer of an operation is rounded up to whole pages."""
MAX_LANES = 1024
ENGINE_BYTES = 64 << 20
"""Most memory that the engine needs in addition to its buffers."""
MAX_DATA_BYTES = 2**63 - 1
LANE_BYTES, OPERATION_BYTES, COMMON_BYTES = 1 << 20, 1 << 10, 16 << 20
"""Memory that the engine reckons for each lane, each operation in flight, and once per process."""
PREPARE_BYTES = 4 << 20
"""Buffers of a lane that prepares the data of a phase."""


def buffer_bytes(values: Mapping[str, Any]) -> int:
    """Return the bytes of I/O buffers of all lanes: whole pages for each operation in flight."""
    slot = -(-_buffer(values) // SLOT_BYTES) * SLOT_BYTES
    total: int = values["lanes"] * values["tasks_per_host"] * values["queue_depth"] * slot
    return total


def _buffer(values: Mapping[str, Any]) -> int:
    if values["object_size"] is not None:
        return piece_bytes(parse_sizes(values["object_size"]), values["part_size"])
    found: int = values["record_size"] or values["file_size"] or 1
    return found


def broken_rules(values: Mapping[str, Any], operations: tuple[str, ...]) -> list[BrokenRule]:
    """Return all rules that a combination of parameters breaks."""
    common = (
        *mix_rules(values, operations),
        *_wear_out(values, operations),
        *_streams(values),
        *_buffers(values),
        *_times(values),
        *_memory(values),
        *_remount(values, operations),
        *_needs(values),
        *_data(values),
    )
    match group_of(operations[0]):
        case "names":
            return [*tree_rules(values, operations), *count_rules(values), *common]
        case "programs":
            return [*_streams(values), *_memory(values), *_remount(values, operations)]
        case "objects":
            return [*object_rules(values, operations), *common]
    if values["files"] is not None:
        return [*set_rules(values, operations), *common]
    orders = (*order_rules(values, operations), *mpi_rules(values, operations))
    return [*_sizes(values), *orders, *common, *_mapping(values), *_stdio(values, operations)]


def _streams(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    streams, hosts, tasks = values["streams"], values["hosts"], values["tasks_per_host"]
    if streams is not None and streams % (hosts * tasks):
        engines = f"{hosts} hosts" if tasks == 1 else f"{tasks} engines on each of {hosts} hosts"
        message = f"{streams} streams cannot be shared out evenly among {engines}"
        where = "streams % hosts == 0" if tasks == 1 else "streams % (hosts * tasks_per_host) == 0"
        yield BrokenRule("streams", "streams", message, f"add `where: {where}`, or zip: [[hosts, streams]]")
    if tasks > 1 and values["lanes"] * tasks > MAX_LANES:
        message = f"{tasks} engines with {values['lanes']} lanes each are more than {MAX_LANES} on a host"
        yield BrokenRule("tasks_per_host", "many tasks", message, "use more hosts, or fewer lanes")
    elif values["lanes"] > MAX_LANES:
        message = f"{streams} streams are {values['lanes']} lanes on each of {hosts} hosts, more than {MAX_LANES}"
        yield BrokenRule("streams", "many streams", message, "use more hosts, or fewer streams")


def _sizes(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    record, file, lanes = values["record_size"], values["file_size"], all_lanes(values)
    if values["total_size"] is not None and record * lanes > values["total_size"]:
        message = f"total_size {format_size(values['total_size'])} has no record of {format_size(record)} for each"
        hint = "make total_size larger, or records smaller, or lanes fewer"
        yield BrokenRule("total_size", "idle lanes", f"{message} of {lanes} lanes", hint)
    elif file == 0 and values["segments"] is not None:
        yield from block_rules(values)
    elif file == 0:
        message = "a file of 0B has no record to write or read"
        yield BrokenRule("file_size", "no file", message, "make it at least as large as record_size")
    elif record > file:
        message = f"record_size {format_size(record)} is larger than file_size {format_size(file)}"
        hint = "add `where: record_size <= file_size`, or make records smaller or files larger"
        yield BrokenRule("record_size", "record over file", message, hint)
    elif values["layout"] == "shared" and record > file // lanes:
        message = (
            f"record_size {format_size(record)} is larger than a lane's part of the file, {format_size(file)} / {lanes}"
        )
        hint = "add `where: record_size <= file_size // (lanes * hosts)`, or make files larger or lanes fewer"
        yield BrokenRule("record_size", "record over share", message, hint)
    else:
        yield from block_rules(values)


def _buffers(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    if buffer_bytes(values) > MAX_BUFFER_BYTES:
        size = next((name for name in ("object_size", "record_size") if values[name] is not None), "file_size")
        message = f"lanes x queue_depth x {size} (in whole pages) is {format_size(buffer_bytes(values))} of buffers"
        yield BrokenRule(
            "queue_depth", "buffers", message, f"at most {format_size(MAX_BUFFER_BYTES)}: lower one of the three"
        )
    elif _engine_bytes(values) > MAX_BUFFER_BYTES:
        message = f"{values['lanes']} lanes need {format_size(_engine_bytes(values))} of memory together"
        hint = f"at most {format_size(MAX_BUFFER_BYTES)}: lower lanes, queue_depth or record_size"
        yield BrokenRule("lanes", "memory", message, hint)
    method, depth = values["method"], values["queue_depth"]
    if method in ("sync", "mmap") and depth > 1:
        message = f"method {method} has one operation in flight per lane, not queue_depth {depth}"
        yield BrokenRule("queue_depth", "sync depth", message, "use method: io_uring or threads, or more lanes")


def _engine_bytes(values: Mapping[str, Any]) -> int:
    """Return the most memory that the engine reckons, without what a target needs."""
    stream = values["record_size"] or 0
    each: int = LANE_BYTES + values["queue_depth"] * OPERATION_BYTES + PREPARE_BYTES + stream
    lanes: int = values["lanes"] * values["tasks_per_host"]
    return buffer_bytes(values) + lanes * each + COMMON_BYTES


def _data(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    lanes = all_lanes(values)
    is_one_file = values["layout"] == "shared" and values["files"] is None
    files = values["total_files"] or lanes * (values["files"] or 1)
    total = values["file_size"] * (1 if is_one_file else files)
    if values["object_size"] is not None and values["objects"] is not None:
        total = parse_sizes(values["object_size"]).largest * lanes * values["objects"]
        if total > MAX_DATA_BYTES:
            message = f"all objects together may have {total} bytes, more than 2^63 - 1"
            yield BrokenRule("object_size", "objects", message, "make objects smaller or fewer")
    elif total > MAX_DATA_BYTES:
        message = f"all files together have {total} bytes, more than 2^63 - 1"
        yield BrokenRule("file_size", "data", message, "make files smaller or fewer")


def _times(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    if values["runtime"] is not None and values["time_limit"] is not None:
        message = "a phase has either a runtime or a time_limit"
        yield BrokenRule(
            "time_limit", "two times", message, "set runtime (by time) or time_limit (by amount), not both"
        )


def _wear_out(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    if not values["wear_out"]:
        return
    if values["time_limit"] is None:
        message = "wear_out applies at the time limit, but time_limit is not set"
        yield BrokenRule("wear_out", "wear out time", message, "add for example time_limit: 300s")
    if values["rate"] is not None:
        message = "wear_out is for lanes without a set rate, but rate is set"
        yield BrokenRule("wear_out", "wear out rate", message, "remove rate, or wear_out")
    writing = [name for name in operations if name in WEAR_OUT]
    if not writing or (values["files"] is not None and writing != ["create"] * len(writing)):
        message = "wear_out is for write and fwrite of one file for each lane or for all, and for create"
        yield BrokenRule("wear_out", "wear out what", message, "remove wear_out, or add one of these operations")


_NEEDS = [(name, *need) for name, item in DEFINITIONS.items() for need in item.needs]
"""(parameter, other parameter, values): the parameter needs the other one to have one of the values."""


def _needs(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    for field, other, needed in _NEEDS:
        if values[field] != DEFAULTS[field] and values[other] not in needed:
            setting = f"{other}: {' or '.join(needed)}"
            yield BrokenRule(field, f"{field} {other}", f"{field} needs {setting}", f"set {setting}")
    if values["iopoll"] and values["cache"] != "direct":
        message = "iopoll needs cache: direct: only O_DIRECT can be polled for"
        yield BrokenRule("iopoll", "iopoll direct", message, "set cache: direct, or iopoll: false")


def _mapping(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    if values["method"] != "mmap":
        return
    if values["cache"] == "direct":
        message = "method mmap goes through the page cache, which cache: direct bypasses"
        yield BrokenRule("method", "mmap direct", message, "use cache: drop, evict, limit or keep")
    if values["sync"] in ("o_sync", "o_dsync"):
        message = f"method mmap has no {values['sync']}"
        yield BrokenRule("sync", "mmap sync", message, "use sync: fsync or fdatasync")


def _memory(values: Mapping[str, Any]) -> Iterator[BrokenRule]:
    limit = values["memory_limit"]
    if values["cache"] == "limit":
        least = ENGINE_BYTES + buffer_bytes(values)
        if limit is None:
            hint = f"add for example memory_limit: {format_size(max(128 << 20, _whole_mib(least)))}"
            yield BrokenRule("cache", "no limit", "cache: limit needs a memory_limit", hint)
        elif limit < least:
            message = f"memory_limit {format_size(limit)} is too small for the engine and its buffers"
            yield BrokenRule(
                "memory_limit", "small limit", message, f"set it to at least {format_size(_whole_mib(least))}"
            )
    elif limit is not None:
        message = f"memory_limit has no effect with cache: {values['cache']}"
        yield BrokenRule("memory_limit", "idle limit", message, "remove it, or set cache: limit")


def _remount(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    """Yield broken rules for `cache: remount`: a new engine finds only complete files under their original names."""
    if values["cache"] != "remount":
        return
    if values["wear_out"]:
        message = "cache: remount starts new engines, which do not know how far a wear_out operation got"
        yield BrokenRule("wear_out", "remount wear_out", message, "remove wear_out, or use cache: drop")
    name = next((operation for operation in operations if operation in ("rename", "mkdir", "rmdir")), None)
    if name is not None:
        message = f"cache: remount starts new engines, which do not know which names {name} has left"
        yield BrokenRule(
            "cache", "remount names", message, f"give {name} a workload of its own, with cache: drop or keep"
        )


def _whole_mib(size: int) -> int:
    return -(-size >> 20) << 20


def _stdio(values: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[BrokenRule]:
    name = next((operation for operation in operations if operation in STDIO), None)
    if name is None:
        return
    if values["cache"] == "direct":
        message = f"{name} goes through C stdio, which has no O_DIRECT"
        yield BrokenRule(
            "cache", "stdio direct", message, "give stdio operations a workload with cache: drop, evict or keep"
        )
    if values["sync"] in ("o_sync", "o_dsync"):
        message = f"{name} goes through C stdio, which has no {values['sync']}"
        yield BrokenRule("sync", "stdio sync", message, "use sync: fsync or fdatasync")
    if values["method"] in ("io_uring", "threads", "mmap"):
        message = f"{name} goes through C stdio, not through {values['method']}"
        yield BrokenRule("method", "stdio method", message, "use method: auto or sync")
    if values["queue_depth"] > 1:
        message = f"{name} goes through C stdio, which has one operation in flight, not {values['queue_depth']}"
        yield BrokenRule("queue_depth", "stdio depth", message, "set queue_depth: 1 for stdio operations")
