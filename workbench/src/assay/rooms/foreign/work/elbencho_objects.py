"""Converts what elbencho does with objects to targets and workloads."""

import shlex
from typing import Any

from assay.model.base import AssayError
from assay.model.units import format_size
from assay.plan.command_lines.elbencho_options import ElbenchoWords
from assay.rooms.foreign.work.elbencho_common import (
    lanes_of,
    limits_of,
    number,
    paths_of,
    rate_of,
    shown_paths,
    size,
    threads_of,
)
from assay.rooms.foreign.work.notes import Notes

_MIN_PART = 5 << 20
"""S3 takes no smaller parts but the last."""
_CHECKSUMS = {"CRC32": "crc32", "CRC32C": "crc32c", "CRC64NVME": "crc64nvme", "SHA256": "sha256"}
_OPERATIONS = (("put", "write"), ("head", "stat"), ("get", "read"), ("list", "s3listobj"), ("list", "s3listobjpar"),
               ("multi_delete", "s3multidel"), ("delete", "delfiles"))  # fmt: skip
"""Operation and the option for it, in elbencho's order (Coordinator.cpp)."""
_WHOLE = ("delete", "multi_delete")
"""Operations that no limit of time ends."""
Parts = tuple[dict[str, Any], dict[str, dict[str, Any]]]


def object_parts(words: ElbenchoWords, hosts: int, notes: Notes) -> Parts:
    """Return targets and workloads of a command line about objects.

    Args:
        words: The command line.
        hosts: How many hosts it names, which share out objects with names of their own; 0 for this one.
        notes: Receives a line for each difference.

    Raises:
        AssayError: There is no counterpart, or nothing to do.
    """
    if number(words, "rwmixpct", 0) or number(words, "rwmixthr", 0):
        raise AssayError(
            "elbencho --rwmixpct: parts of objects are not read and written at once", "write object_mix with a mix"
        )
    operations = list(dict.fromkeys(name for name, option in _OPERATIONS if words.has(option)))
    if not operations:
        raise AssayError("elbencho: these options leave nothing to do", "add -w or -r")
    for option in ("mkdirs", "deldirs"):
        if words.has(option):
            notes.add(
                "-d" if option == "mkdirs" else "-D", "a bucket that is not there is made, and removed afterwards"
            )
    for option in ("direct", "sync", "dropcache", "mmap", "preallocfile", "dirsharing", "blockvarpct"):
        if words.has(option):
            notes.add(words.written[option], "left out: objects have none")
    return {"bucket": _target(words, notes)}, _workloads(words, operations, max(1, hosts), notes)


def _target(words: ElbenchoWords, notes: Notes) -> dict[str, Any]:
    buckets = list(dict.fromkeys(path.removeprefix("s3://").strip("/").partition("/")[0] for path in paths_of(words)))
    if len(buckets) > 1:
        message = f"elbencho: {len(buckets)} buckets at once are not one target"
        raise AssayError(message, "convert a command line for each of them")
    given = [one for one in words.values["s3endpoints"].split(",") if one]
    endpoints = [one if "://" in one else f"http://{one}" for one in given]
    if not endpoints:
        raise AssayError("elbencho --s3endpoints: there is none", "write --s3endpoints http://HOST:PORT")
    found: dict[str, Any] = {"kind": "s3", "bucket": buckets[0], "endpoints": [one.rstrip("/") for one in endpoints]}
    if words.has("s3region"):
        found["region"] = words.values["s3region"]
    if words.has("s3virtaddr"):
        found["addressing"] = "virtual_host"
    if words.values.get("s3objprefix"):
        found["prefix"] = words.values["s3objprefix"].replace("%", "").strip("/") or "assay"
        notes.add(
            f"--s3objprefix {shlex.quote(words.values['s3objprefix'])}",
            f"keys are below {found['prefix']}/, and the run's name",
        )
    name = words.values.get("s3chksumalgo") or words.values.get("s3checksumalgo") or ""
    if name.upper() in _CHECKSUMS:
        found["checksum"] = _CHECKSUMS[name.upper()]
    elif name:
        notes.add(f"--s3chksumalgo {name}", "left out: crc32, crc32c and sha256 are there")
    notes.add(
        shown_paths(words), "objects go below keys of the run's own; a bucket without Assay's mark needs --destroy"
    )
    return found


def _workloads(words: ElbenchoWords, operations: list[str], hosts: int, notes: Notes) -> dict[str, dict[str, Any]]:
    each, block = size(words, "size", 0), size(words, "block", 1 << 20)
    objects = max(1, number(words, "dirs", 1)) * max(1, number(words, "files", 1))
    named = {path for path in paths_of(words) if "/" in path.removeprefix("s3://").strip("/")}
    if named:
        lanes = threads_of(words) * hosts
        objects = max(1, round(len(named) / lanes))
        their = f"{len(named)} object{'s' if len(named) > 1 else ''}"
        why = f"each of {lanes} lanes has {objects} of its own, of the whole size; elbencho's share out {their}"
        notes.add(shown_paths(words), why)
    common: dict[str, Any] = {"objects": objects, "object_size": format_size(each), **lanes_of(words)}
    if each > block >= _MIN_PART:
        common["part_size"] = format_size(block)
    elif each > block:
        notes.add(f"-b {format_size(block)}", "objects are put whole: S3 takes no parts below 5 MiB")
    if number(words, "verify", 0):
        common["verify"] = True
    ranged = "get" in operations and (words.has("rand") or words.has("s3randobj"))
    if "get" in operations and not ranged and each > block:
        notes.add("-r", "objects are fetched whole; elbencho asks for each block of them")
    limits = limits_of(words, notes)
    found: dict[str, dict[str, Any]] = {}
    timed = [name for name in operations if name not in _WHOLE]
    whole = [name for name in operations if name in _WHOLE]
    rates = {"put": rate_of(words, "limitwrite", each, notes), "get": rate_of(words, "limitread", each, notes)}
    split = ranged or any(rates.values())
    for name in timed if split else ():
        found[name] = {"operations": [name], **common, **limits, **rates.get(name, {})}
    if timed and not split:
        found["objects"] = {"operations": timed, **common, **limits}
    if ranged:
        found["get"]["range"] = format_size(block)
        notes.add("-r", "a range at a random offset of each object; elbencho reads as many as the object has blocks")
    if whole and limits:
        found["deletes"] = {"operations": whole, **common}
        notes.add("-F", "objects are removed in a workload of their own, which puts them first, outside the timing")
    elif whole and split:
        found["deletes"] = {"operations": whole, **common}
    elif whole:
        found.setdefault("objects", {"operations": [], **common})["operations"] += whole
    if words.has("rotatehosts"):
        notes.add(words.written["rotatehosts"], "left out: each lane fetches the objects that it has put")
    for workload in found.values():
        if "put" not in workload["operations"]:
            workload.pop("part_size", None)
        if not set(workload["operations"]) & {"get"}:
            workload.pop("verify", None)
    return found
