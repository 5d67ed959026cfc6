"""What a test of diskspd was and measured, whichever form says it, and the result that it becomes.

Options are those of diskspd's CmdLineParser.cpp; block sizes and caches are described in its wiki, Command line and
parameters.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.model.escape import escape_line
from assay.model.result.sample import KindCounts
from assay.model.secret import redact_word
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.disks.printed import finer, measurement, per_second
from assay.rooms.importers.work.figure_units import whole_number
from assay.rooms.importers.work.results import NO_ORDER, Figure, ImportedResult, ImportOptions, Measurement

NAME = "diskspd"
HINT = "give the file as diskspd printed it"
_NS = 10**9
_POWERS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"([0-9]{1,15})([KMGTB]?)", re.IGNORECASE | re.ASCII)
_OPTION = re.compile(r"[-/](rs|si|[A-Za-z])([^\s\"]*)", re.ASCII)


@dataclass
class DiskspdTarget:
    """A file or device of a test; what is not known is None.

    Attributes:
        path: Its path.
        block: Bytes of each operation.
        order: `random`, `sequential`, or `mixed` for a share of each.
        write_percent: Share of writes.
        depth: Operations in flight of each thread.
        threads: Threads that work on it.
        is_direct: The software cache was off.
        sync: What made writes stable, as the parameter `sync` has it; write-through counts as `o_dsync`.
        is_limited: It had a limit of its rate, or paused.
    """

    path: str = ""
    block: int | None = None
    order: str | None = None
    write_percent: int | None = None
    depth: int | None = None
    threads: int | None = None
    is_direct: bool = False
    sync: str | None = None
    is_limited: bool = False


@dataclass
class DiskspdSection:
    """What all threads did together, in one direction or both: operations, bytes, and latencies in ns by name."""

    ops: int = 0
    moved: int = 0
    latency: dict[str, float] = field(default_factory=dict)


@dataclass
class Timespan:
    """A test.

    Attributes:
        name: As in the output.
        line: Line on which its results begin, from 1.
        targets: What it worked on; empty if the output does not say.
        seconds: How long it was to take, without warming up; None if it is not said.
        total_threads: Threads that share all targets (-F); 0 if each target has its own.
        threads: All threads.
        elapsed_ns: How long it took.
        sections: `total`, `read` and `write`.
        rate: Rate of all as printed, with its unit; None in a form without rates.
        iops: Operations per second as printed; empty likewise.
        figures: As printed.
        sizes: Sizes of files in bytes.
        options: What was asked for, as printed.
    """

    name: str
    line: int
    targets: list[DiskspdTarget] = field(default_factory=list)
    seconds: int | None = None
    total_threads: int = 0
    threads: int = 0
    elapsed_ns: int | None = None
    sections: dict[str, DiskspdSection] = field(default_factory=dict)
    rate: Figure | None = None
    iops: str = ""
    figures: list[Figure] = field(default_factory=list)
    sizes: set[int] = field(default_factory=set)
    options: dict[str, str] = field(default_factory=dict)


def size_of(text: str, block: int | None = None) -> int | None:
    """Return a size as diskspd takes it, `64K`, in bytes; None if it is none. `2b` are two blocks."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    if match[2].upper() == "B":
        return int(match[1]) * block if block and match[2] == "b" else None
    return int(match[1]) * _POWERS[match[2].upper()]


def by_command(command: str) -> tuple[list[DiskspdTarget], int | None]:
    """Return the targets of a command line, and how long it asks to measure; none without a command line."""
    words = [word.strip('"') for word in command.split()][1:]
    found = {match[1]: match[2] for word in words if (match := _OPTION.fullmatch(word))}
    paths = [word for word in words if not _OPTION.fullmatch(word)]
    if not words or "X" in found:
        return [], None
    block = size_of(found.get("b", "64K"))
    caches = found.get("S", "none" if "h" not in found else "h")
    order = "mixed" if "rs" in found else "random" if "r" in found else "sequential"
    one = DiskspdTarget(
        block=block,
        order=order,
        write_percent=_number(found.get("w", "0")),
        depth=_number(found.get("o", "2")),
        threads=_number(found.get("t", "1")),
        is_direct=caches in ("", "u", "h", "uw", "wu"),
        sync=None if "m" in caches else "o_dsync" if caches in ("h", "uw", "wu", "w") else "none",
        is_limited=any(name in found for name in "gij"),
    )
    seconds = _number(found.get("d", "10"))
    return [DiskspdTarget(**{**vars(one), "path": path}) for path in paths if not path.startswith("#")], seconds


def _number(text: str) -> int | None:
    return whole_number(text, 10**7)


def result_of(test: Timespan, stated: ImportOptions) -> ImportedResult:
    """Return the result of a test."""
    operation, left_out = _operation(test, stated)
    paths = list(dict.fromkeys(one.path for one in test.targets if one.path))
    target = paths[0] if len(paths) == 1 else f"{len(paths)} targets" if paths else NAME
    return ImportedResult(
        name=test.name,
        line=test.line,
        target=redact_word(escape_line(target, 80)),
        workload=operation or test.name,
        operation=operation or None,
        parameters=_parameters(test, operation) if operation else {},
        options=test.options,
        figures=tuple(test.figures),
        latency_of="latency" if operation and test.sections["total"].latency else "",
        measured=_measured(test, operation) if operation else None,
        left_out=left_out,
    )


def _operation(test: Timespan, stated: ImportOptions) -> tuple[str, str]:
    """Return the operation of a test, or why it has none."""
    total = test.sections.get("total", DiskspdSection())
    if not total.ops or not test.elapsed_ns:
        return "", "nothing was measured"
    orders = {one.order for one in test.targets}
    order = orders.pop() if len(orders) == 1 else None
    if not test.targets:
        order = stated.order
    if order == "mixed":
        return "", "a share of its operations is random, the rest sequential, which Assay does not measure"
    if order is None:
        several = "its targets have different orders of offsets"
        return "", several if test.targets else NO_ORDER
    reads, writes = test.sections["read"].ops, test.sections["write"].ops
    shares = {one.write_percent for one in test.targets}
    if reads and writes and len(shares) > 1:
        return "", "its targets have different shares of reads"
    if reads and writes:
        return ("random_mix" if order == "random" else "sequential_mix"), ""
    name = "read" if reads else "write"
    return (f"random_{name}" if order == "random" else name), ""


def _same(values: Sequence[AxisValue]) -> AxisValue:
    return values[0] if values and len(set(values)) == 1 else None


def _parameters(test: Timespan, operation: str) -> dict[str, AxisValue]:
    targets = test.targets
    depth = _same([one.depth for one in targets])
    if isinstance(depth, int) and test.total_threads:
        depth *= len(targets)
    share = _same([one.write_percent for one in targets])
    found: dict[str, AxisValue] = {
        "record_size": _same([one.block for one in targets]),
        "queue_depth": depth,
        "lanes": test.threads or None,
        "file_size": next(iter(test.sizes)) if len(test.sizes) == 1 else None,
        "layout": _layout(test),
        "runtime": test.seconds * _NS if test.seconds else None,
        "cache": "direct" if targets and all(one.is_direct for one in targets) else None,
        "read_percent": 100 - share if "mix" in operation and isinstance(share, int) else None,
        "sync": None if "read" in operation else _same([one.sync for one in targets]),
    }
    known = {name: value for name, value in found.items() if value is not None}
    unlimited: dict[str, AxisValue] = {"rate": None}
    return {**known, "hosts": 1, **(unlimited if targets and not any(one.is_limited for one in targets) else {})}


def _layout(test: Timespan) -> str | None:
    if not test.targets:
        return None
    if len(test.targets) == 1 and test.threads > 1:
        return "shared"
    one_each = len(test.targets) == test.threads and not test.total_threads
    return "separate" if one_each and all(one.threads == 1 for one in test.targets) else None


def _measured(test: Timespan, operation: str) -> Measurement:
    total = test.sections["total"]
    kinds: tuple[KindCounts, ...] = ()
    if "mix" in operation:
        kinds = tuple(
            KindCounts(kind=name, ops=one.ops, bytes=one.moved, latency=one.latency)
            for name in ("read", "write")
            if (one := test.sections[name]).ops
        )
    iops = float(test.iops) if test.iops else per_second(total.ops, test.elapsed_ns)
    rate = per_second(total.moved, test.elapsed_ns)
    if test.rate is not None:
        rate = finer(test.rate.text, test.rate.unit, iops * total.moved / total.ops)
    return measurement(
        operation,
        throughput=rate,
        iops=iops,
        ops=total.ops,
        moved=total.moved,
        elapsed_ns=test.elapsed_ns,
        latency=total.latency,
        kinds=kinds,
    )
