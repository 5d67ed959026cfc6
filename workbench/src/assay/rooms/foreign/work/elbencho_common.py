"""What the workloads from a command line of elbencho have in common."""

import re
import shlex
from typing import Any

from assay.model.base import AssayError
from assay.plan.command_lines.elbencho_options import ElbenchoWords, elbencho_number, elbencho_size
from assay.rooms.foreign.work.notes import Notes

MAX_LANES = 1024
_MAX_SHOWN = 4
"""Paths that are all named in a line."""


def expanded(word: str) -> list[str]:
    """Return the words that elbencho makes of lists and ranges in brackets (TranslatorTk.cpp).

    Raises:
        AssayError: A range cannot be read.
    """
    match = re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", word)
    if match is None:
        return [word]
    before, inner, after = match.groups()
    found: list[str] = []
    for part in inner.split(","):
        first, dash, last = part.partition("-")
        if not dash:
            found += [f"{before}{part}{rest}" for rest in expanded(after)]
            continue
        if not (first.isdigit() and last.isdigit()) or not 0 <= int(last) - int(first) < 4096:
            raise AssayError(f"elbencho: {word!r} has no range that can be read", "write such as node[1-8]")
        numbers = (str(number).zfill(len(first)) for number in range(int(first), int(last) + 1))
        found += [f"{before}{number}{rest}" for number in numbers for rest in expanded(after)]
    return found


def paths_of(words: ElbenchoWords) -> list[str]:
    """Return the benchmark paths, lists and ranges in brackets written out."""
    if words.has("nopathexp"):
        return list(words.paths)
    return [path for word in words.paths for path in expanded(word)]


def shown_paths(words: ElbenchoWords) -> str:
    """Return the benchmark paths as they are written; of many only the first and the last."""
    paths = [shlex.quote(path) for path in words.paths]
    return " ".join(paths) if len(paths) <= _MAX_SHOWN else f"{len(paths)} paths from {paths[0]} to {paths[-1]}"


def number(words: ElbenchoWords, name: str, default: int) -> int:
    """Return the value of an option that is a whole number."""
    return elbencho_number(words.values[name], f"--{name}") if words.has(name) else default


def size(words: ElbenchoWords, name: str, default: int) -> int:
    """Return the value of an option that is a size in bytes."""
    return elbencho_size(words.values[name], f"--{name}") if words.has(name) else default


def threads_of(words: ElbenchoWords) -> int:
    """Return the number of threads of each host.

    Raises:
        AssayError: One engine has not so many lanes.
    """
    threads = number(words, "threads", 1)
    if not 1 <= threads <= MAX_LANES:
        raise AssayError(
            f"elbencho -t {threads}: one host has 1 to {MAX_LANES} lanes", "write fewer, and more --iodepth"
        )
    return threads


def lanes_of(words: ElbenchoWords) -> dict[str, Any]:
    """Return the fields for who does the work, and how much of it at once."""
    found: dict[str, Any] = {"lanes": threads_of(words)}
    depth = number(words, "iodepth", 1)
    if depth > 1:
        found["queue_depth"] = depth
    if words.has("cores") and words.values["cores"] != "all":
        found["cpus"] = words.values["cores"]
    if words.has("zones"):
        found["numa_node"] = number(words, "zones", 0)
    return found


def limits_of(words: ElbenchoWords, notes: Notes) -> dict[str, Any]:
    """Return the fields for how long phases take.

    Raises:
        AssayError: A phase would never end.
    """
    seconds = number(words, "timelimit", 0)
    if words.has("infloop"):
        if not seconds:
            raise AssayError("elbencho --infloop never ends", "add --timelimit SECONDS")
        return {"runtime": f"{seconds}s"}
    if not seconds:
        return {}
    notes.add(f"--timelimit {seconds}", "the phases after one that it ends are done, too, on what is there")
    return {"time_limit": f"{seconds}s"}


def rate_of(words: ElbenchoWords, name: str, record: int, notes: Notes) -> dict[str, Any]:
    """Return the rate of an operation, if its threads are limited."""
    limit = size(words, name, 0)
    if not limit or not record:
        return {}
    rate = limit * threads_of(words) * number(words, "numhosts", 1) / record
    notes.add(words.written[name], "as a rate of all lanes, at which operations start when they are due (open loop)")
    return {"rate": f"{max(0.001, round(rate, 3)):g}/s"}


def reorder_of(words: ElbenchoWords, notes: Notes) -> dict[str, Any]:
    """Return whose data lanes read."""
    by = number(words, "rotatehosts", 0)
    if not by:
        return {}
    notes.add(words.written["rotatehosts"], "lanes read what was written so many hosts further")
    return {"reorder": "node", **({"reorder_by": by} if by > 1 else {})}
