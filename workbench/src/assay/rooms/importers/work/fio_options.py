"""Options of fio jobs, as its JSON prints them, as parameters of a workload.

fio prints only the options that were set, without those that were set without a value (parse.c, `add_to_dump_list`;
stat.c, `json_add_job_opts`). So an option that must have a value has its default if it is not printed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.figure_units import whole_number
from assay.rooms.importers.work.results import NO_ORDER, Order

READ_AND_WRITE = ("read", "write")


class Pattern(NamedTuple):
    """What `rw` asks for.

    Attributes:
        operation: Its name here; None if there is no counterpart.
        directions: The parts of the output that it fills.
    """

    operation: str | None
    directions: tuple[str, ...]


PATTERNS = {
    "read": Pattern("read", ("read",)),
    "write": Pattern("write", ("write",)),
    "randread": Pattern("random_read", ("read",)),
    "randwrite": Pattern("random_write", ("write",)),
    "rw": Pattern("sequential_mix", READ_AND_WRITE),
    "readwrite": Pattern("sequential_mix", READ_AND_WRITE),
    "randrw": Pattern("random_mix", READ_AND_WRITE),
    "trim": Pattern(None, ("trim",)),
    "randtrim": Pattern(None, ("trim",)),
    "trimwrite": Pattern(None, ("trim", "write")),
    "randtrimwrite": Pattern(None, ("trim", "write")),
}
"""Value of `rw` -> what it asks for (fio, HOWTO, "readwrite")."""
BY_DIRECTIONS: dict[tuple[tuple[str, ...], Order], str] = {
    (("read",), "sequential"): "read",
    (("read",), "random"): "random_read",
    (("write",), "sequential"): "write",
    (("write",), "random"): "random_write",
    (READ_AND_WRITE, "sequential"): "sequential_mix",
    (READ_AND_WRITE, "random"): "random_mix",
}
"""Directions with operations, and the order that the user states -> operation."""
FILES = "filename"
"""Option with the names of files."""
DEFAULTS = {"rw": "read", "bs": "4k", "iodepth": "1", "numjobs": "1", "rwmixread": "50", "direct": "0"}
"""Option -> its default (fio, options.c)."""
WITHOUT_READS_AND_WRITES = frozenset(
    ("cpuio", "filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete")
)
"""Engines that count other things as operations (fio, HOWTO, "ioengine")."""
WITHOUT_STORAGE = {
    "null": "it discards all data, to measure fio itself",
    "ftruncate": "its writes set the size of files",
    "falloc": "its writes reserve space",
}
"""Engines whose operations move no data to or from storage (fio, engines/null.c, ftruncate.c, falloc.c) -> why."""


def why_no_storage(engine: str) -> str:
    """Return why the jobs of an engine measure no reads and writes of storage; empty if they do."""
    if engine in WITHOUT_READS_AND_WRITES:
        return f"ioengine={engine} reads and writes no data"
    return f"ioengine={engine}: {WITHOUT_STORAGE[engine]}" if engine in WITHOUT_STORAGE else ""


_FLUSHES = ("fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync_file_range", "sync")
_RATES = ("rate", "rate_iops", "rate_min", "rate_iops_min", "rate_cycle", "thinktime")
_SHAPES = ("nrfiles", "filesize", "io_size", "offset", "offset_increment", "size_percent", "file_append", "zonemode")
"""Options with which `size` is not the size of one file."""
_UNSET: dict[str, tuple[tuple[str, ...], AxisValue]] = {
    "rate": (_RATES, None),
    "cpus": (("cpus_allowed", "cpumask"), None),
    "runtime": (("runtime",), None),
    "verify": (("verify",), False),
}
"""Parameter -> options that would set it, and its value if none of them is set."""
_SIZE = re.compile(r"([0-9]{1,19})([kmgtp]?)(i?)(b?)")
_TIME = re.compile(r"([0-9]{1,15})([a-z]*)")
_POWERS = " kmgtp"
_NS = {"": 10**9, "s": 10**9, "us": 10**3, "usec": 10**3, "ms": 10**6, "msec": 10**6, "m": 60 * 10**9}
_NS |= {"h": 3600 * 10**9, "d": 86400 * 10**9}
"""Unit of a time -> nanoseconds; without a unit `runtime` is in seconds (fio, HOWTO, "Parameter types": time)."""


def size_of(text: str, kb_base: str = "1024") -> int | None:
    """Return a size in bytes as fio reads it; None for a percentage, a range, a list, and what fio would refuse.

    With `kb_base` 1024, the default, `k` is 1024 and `kib` is 1000; with 1000 it is the other way round.
    Source: fio, parse.c, `__get_mult_bytes`.
    """
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or kb_base not in ("1024", "1000") or (match[3] and not match[2]):
        return None
    is_opposite = bool(match[3] and match[4])
    base = 1024 if (kb_base == "1024") != is_opposite else 1000
    size = int(match[1]) * base ** _POWERS.index(match[2] or " ")
    return size if size < 2**63 else None


def time_of(text: str) -> int | None:
    """Return the value of `runtime` in nanoseconds; None if it is no single time."""
    match = _TIME.fullmatch(text.strip().lower())
    time = int(match[1]) * _NS[match[2]] if match and match[2] in _NS else None
    return time if time is not None and time < 2**63 else None


def stated_operation(used: Sequence[str], order: Order | None) -> tuple[str | None, str]:
    """Return the operation of a job of which fio does not print `rw`, or None and why there is none.

    Args:
        used: Directions with operations.
        order: Order of offsets that the user states.
    """
    if order is None:
        return None, NO_ORDER
    operation = BY_DIRECTIONS.get((tuple(name for name in used if name != "mixed"), order))
    return operation, "" if operation else f"it has operations of {' and '.join(used) or 'no kind'}"


def pattern_operation(written: str, used: Sequence[str], may_check: bool) -> tuple[str | None, str]:
    """Return the operation that `rw` asks for, or None and why there is none.

    Args:
        written: Value of `rw`.
        used: Directions with operations.
        may_check: What was written may have been read again (verify).
    """
    pattern = PATTERNS.get(written)
    if pattern is None:
        return None, f"rw={written} has no counterpart"
    if pattern.operation is None:
        return None, f"rw={written} trims, which Assay does not measure"
    checks = ("read",) if may_check else ()
    if other := [name for name in used if name not in (*pattern.directions, *checks, "mixed")]:
        return None, f"it is the sum of several jobs (group_reporting): rw={written}, but also operations of {other[0]}"
    return pattern.operation, ""


def together(shared: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a job: its own stand before the global ones, but each file name adds a file.

    Source: fio, options.c, `str_filename_cb`.
    """
    names = ":".join(options[FILES] for options in (shared, own) if FILES in options)
    return {**shared, **own, **({FILES: names} if names else {})}


def files_of(options: Mapping[str, str]) -> list[str]:
    """Return the files of a job by `filename`, in which a colon separates names (HOWTO, "filename")."""
    return [name.replace("\\:", ":") for name in re.split(r"(?<!\\):", options.get(FILES, "")) if name]


def parameters_of(options: Mapping[str, str], operation: str, lanes_are_known: bool) -> dict[str, AxisValue]:
    """Return the parameters that follow from the options of a job; all others are not known.

    Args:
        options: Those of the job, and the global ones.
        operation: What the job did.
        lanes_are_known: The result is that of the job alone, with all its processes.
    """
    found: dict[str, AxisValue] = {"files": None, "hosts": 1}
    base = options.get("kb_base", "1024")
    found["record_size"] = _record_size(options, operation, base)
    found["queue_depth"] = _whole(options, "iodepth")
    lanes = _whole(options, "numjobs")
    if lanes_are_known:
        found["lanes"] = lanes
        found["layout"] = "shared" if FILES in options and lanes != 1 else "separate"
    if "size" in options and not any(name in options for name in _SHAPES) and len(files_of(options)) < 2:
        found["file_size"] = size_of(options["size"], base)
    if options.get("direct") == "1" or options.get("buffered") == "0":
        found["cache"] = "direct"
    if "mix" in operation:
        found["read_percent"] = _read_percent(options)
    if "write" in operation or "mix" in operation:
        found["sync"] = _sync(options)
    if "runtime" in options:
        found["runtime"] = time_of(options["runtime"])
    if lanes_are_known and lanes and "mix" not in operation:
        found["rate"] = _rate(options, lanes)
    known = {name: value for name, value in found.items() if value is not None or name == "files"}
    return known | {name: unset for name, (words, unset) in _UNSET.items() if not _any(options, words)}


def _rate(options: Mapping[str, str], lanes: int) -> float | None:
    """Return the operations per second that all processes may do; None if `rate_iops` does not say it alone.

    fio limits each process (HOWTO, `rate_iops`: "Cap the bandwidth to this number of IOPS").
    """
    if _any(options, tuple(name for name in _RATES if name != "rate_iops")):
        return None
    each = whole_number(options.get("rate_iops", ""), 10**8)
    return float(each * lanes) if each else None


def _any(options: Mapping[str, str], names: tuple[str, ...]) -> bool:
    return any(options.get(name, "0") not in ("0", "none") for name in names)


def _whole(options: Mapping[str, str], name: str) -> int | None:
    return whole_number(options.get(name, DEFAULTS[name]), 10**6) or None


def _record_size(options: Mapping[str, str], operation: str, base: str) -> int | None:
    """Return the size of a record: `bs` is one size, or one each for reads, writes and trims, the last for the rest."""
    if _any(options, ("bsrange", "bssplit", "bs_unaligned", "bs_is_seq_rand")):
        return None
    sizes = [size_of(part, base) for part in options.get("bs", DEFAULTS["bs"]).split(",")]
    reads, writes = sizes[0], sizes[min(1, len(sizes) - 1)]
    if "mix" in operation:
        return reads if reads == writes else None
    return reads if "read" in operation else writes


def _read_percent(options: Mapping[str, str]) -> int | None:
    if "rwmixwrite" in options:
        writes = whole_number(options["rwmixwrite"], 100)
        return None if writes is None else 100 - writes
    return whole_number(options.get("rwmixread", DEFAULTS["rwmixread"]), 100)


def _sync(options: Mapping[str, str]) -> str | None:
    """Return how writes are made stable; None if fio does it in a way that has no counterpart."""
    if not _any(options, _FLUSHES):
        return "none"
    if _any(options, _FLUSHES[:-1]):
        return None
    return {"1": "o_sync", "sync": "o_sync", "dsync": "o_dsync"}.get(options["sync"])
