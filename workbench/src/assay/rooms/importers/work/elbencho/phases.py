"""A phase of elbencho, and the result that becomes of it.

elbencho prints each figure twice: when the first thread had done its share, and when the last one had (Statistics.cpp,
generatePhaseResults). The rate is that of the last one; both are kept as figures. Printed rates are whole numbers,
rounded down.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.result.sample import KindCounts
from assay.model.study.names import WORK, is_counted
from assay.rooms.importers.work.elbencho.setup import ElbenchoSetup
from assay.rooms.importers.work.figure_units import whole_number
from assay.rooms.importers.work.results import NO_ORDER, Figure, ImportedResult, Measurement, OutputError

HINT = "give the file as elbencho wrote it"
MAX_AMOUNT = 2**63
MIXED = re.compile(r"RWMIX[0-9]{0,3}|MIX-T[0-9]{1,7}")
_INLINE = re.compile(r"(?:\+[sr])+")
_NAMES = {
    "MKDIRS": "mkdir",
    "RMDIRS": "rmdir",
    "RMFILES": "unlink",
    "STAT": "stat",
    "HEADOBJ": "head",
    "RMOBJECTS": "delete",
}
_LEFT_OUT = {
    "SYNC": "flushing the page cache is no operation of its own in Assay",
    "DROPCACHE": "dropping caches is not measured",
    "STATDIRS": "stat looks at files, and not at directories, in Assay",
    "MKBUCKETS": "making buckets is not measured",
    "RMBUCKETS": "removing buckets is not measured",
    "LISTOBJ": "elbencho counts the objects in lists, not the requests",
    "LISTOBJ_P": "elbencho counts the objects in lists, not the requests",
    "MULTIDEL": "elbencho counts the objects that were removed, not the requests",
}
PHASES = (*_NAMES, *_LEFT_OUT, "WRITE", "READ", "NET", "PUTOBJACL", "GETOBJACL", "PUTBACL", "GETBACL", "MPUCOMPL",
          "GETOBJMD", "PUTOBJMD", "DELOBJMD", "GETBUCKETMD", "PUTBUCKETMD", "DELBUCKETMD")  # fmt: skip
"""Names of phases (Common.h) but those of mixes, which `MIXED` matches."""


@dataclass
class DirectionTotals:
    """What was counted of one direction, when the last thread was done.

    Attributes:
        rate: Bytes per second; None if not printed, like all numbers here.
        rate_step: By how much the rate may be too small, since it is rounded down.
        bytes: Bytes moved.
        bytes_step: By how much these may be too few.
        iops: Blocks per second.
        entries_rate: Files, directories or objects per second.
        entries: How many of these.
        io_latency: Times of blocks: name, as in `Sample.latency` -> nanoseconds.
        entry_latency: Times of entries, in which opening and closing counts.
    """

    rate: Decimal | None = None
    rate_step: int = 1
    bytes: Decimal | None = None
    bytes_step: int = 1
    iops: Decimal | None = None
    entries_rate: Decimal | None = None
    entries: Decimal | None = None
    io_latency: dict[str, float] = field(default_factory=dict)
    entry_latency: dict[str, float] = field(default_factory=dict)


@dataclass
class PhaseOutput:
    """A phase as it is printed.

    Attributes:
        name: Its name, such as `WRITE`.
        line: Line of the file on which it begins, from 1.
        figures: As printed.
        milliseconds: Until the last thread was done; None if not printed.
        main: What was written, or done in phases that do one thing.
        reads: What was read beside it, in a mix.
        setup: What was asked for.
        started_at: Seconds since 1970; None if it is not known.
        entry_word: What entries are called, such as `Files`; empty if it is not printed.
    """

    name: str
    line: int
    setup: ElbenchoSetup
    figures: list[Figure] = field(default_factory=list)
    milliseconds: Decimal | None = None
    main: DirectionTotals = field(default_factory=DirectionTotals)
    reads: DirectionTotals = field(default_factory=DirectionTotals)
    started_at: float | None = None
    entry_word: str = ""

    @property
    def kind(self) -> str:
        """Its name without what was done inline: `WRITE` of `WRITE+s`."""
        return _INLINE.sub("", self.name)

    @property
    def is_mix(self) -> bool:
        """Whether it reads and writes."""
        return MIXED.fullmatch(self.kind) is not None


def is_phase(name: str) -> bool:
    """Whether elbencho has a phase of that name."""
    kind = _INLINE.sub("", name)
    return kind in PHASES or MIXED.fullmatch(kind) is not None


def checked(text: str, name: str, line: int) -> Decimal:
    """Return a printed number of 0 or more.

    Raises:
        OutputError: It is none.
    """
    if not re.fullmatch(r"[0-9]{1,19}(?:\.[0-9]{1,6})?", text) or Decimal(text) > MAX_AMOUNT:
        raise OutputError(line, f"{name} cannot be {text[:40]!r}", HINT)
    return Decimal(text)


def results_of(phases: Sequence[PhaseOutput], target: str) -> Iterator[ImportedResult]:
    """Yield a result for each phase."""
    for phase in phases:
        operation, left_out = _operation(phase)
        measured = None if left_out else _measurement(phase, operation)
        yield ImportedResult(
            name=phase.name,
            line=phase.line,
            target=target or "elbencho",
            workload=_workload(operation),
            operation=None if left_out else operation,
            parameters={} if left_out else phase.setup.parameters_of(operation),
            options=phase.setup.options,
            figures=tuple(phase.figures),
            latency_of=_latency(phase, operation)[0] if measured else "",
            measured=measured,
            left_out=left_out,
        )


def _workload(operation: str) -> str:
    if operation in ("mkdir", "rmdir"):
        return "directories"
    return "objects" if operation in WORK and WORK[operation].group == "objects" else "files"


def _operation(phase: PhaseOutput) -> tuple[str, str]:
    """Return the operation, and why the phase is left out; one of them is empty."""
    kind, setup = phase.kind, phase.setup
    if kind in _LEFT_OUT or (kind not in (*_NAMES, "WRITE", "READ", "NET") and not phase.is_mix):
        return "", _LEFT_OUT.get(kind, "requests about access rights, versions and tags are not measured")
    if setup.per_thread:
        return "", "its figures are those of one thread (--perthread)"
    if _INLINE.search(phase.name):
        return "", "files are looked at or read while they are open (--statinline, --readinline)"
    if kind in _NAMES:
        return (_NAMES[kind], "") if phase.main.entries_rate else ("", "its rate is 0")
    side = phase.main
    if not (side.rate or side.entries_rate or side.iops or phase.reads.rate):
        return "", "its rate is 0, or not printed"
    if kind == "NET":
        return "transfer", ""
    return _data_operation(phase)


def _data_operation(phase: PhaseOutput) -> tuple[str, str]:
    setup, kind = phase.setup, phase.kind
    is_objects = setup.is_objects or phase.entry_word == "Objects"
    if phase.is_mix:
        if is_objects:
            return "", "objects that are written and read at once: their shares are not known"
    elif is_objects:
        return ("put" if kind == "WRITE" else "get"), ""
    elif phase.main.rate is None and phase.main.bytes is None:
        return ("create" if kind == "WRITE" else "open"), ""
    if setup.is_random is None:
        return "", NO_ORDER
    if phase.is_mix:
        return ("random_mix" if setup.is_random else "sequential_mix"), ""
    word = "write" if kind == "WRITE" else "read"
    return (f"random_{word}" if setup.is_random else word), ""


def _best_rate(side: DirectionTotals, setup: ElbenchoSetup, milliseconds: Decimal | None) -> Decimal:
    """Return bytes per second from whichever printed number says it most precisely."""
    found: list[tuple[Decimal, Decimal]] = []
    if side.rate:
        found.append((side.rate, side.rate_step / side.rate))
    size, block = setup.file_size, setup.block_size
    if side.iops and block and size and size % block == 0:
        found.append((side.iops * block, 1 / side.iops))
    if side.bytes and milliseconds:
        rate = side.bytes * 1000 / milliseconds
        found.append((rate, side.bytes_step / side.bytes + 1 / milliseconds))
    return min(found, key=lambda one: one[1])[0] if found else Decimal(0)


def _counts(side: DirectionTotals, setup: ElbenchoSetup, is_entries: bool) -> tuple[int, int] | None:
    """Return operations and bytes, if both are known exactly; else None."""
    size, block = setup.file_size, setup.block_size
    if is_entries and side.entries is not None and side.bytes is None:
        return int(side.entries), 0
    moved = side.bytes
    if moved is not None and side.bytes_step > 1:
        whole = side.entries * size if side.entries is not None and size else None
        moved = whole if whole is not None and whole // side.bytes_step * side.bytes_step == moved else None
    if moved is None:
        return None
    if is_entries:
        return (int(side.entries), int(moved)) if side.entries is not None else None
    if not block or not size or size % block or moved % block:
        return None
    return int(moved // block), int(moved)


def _iops(side: DirectionTotals, phase: PhaseOutput, operation: str, rate: Decimal) -> Decimal | None:
    if is_counted(operation) or operation in ("put", "get", "create"):
        return side.entries_rate or (None if operation in ("put", "get") and not phase.setup.is_random else side.iops)
    if side.iops:
        return side.iops
    block = phase.setup.block_size
    # elbencho prints no IOPS where each file is one block, so that they are the files per second.
    return side.entries_rate or (rate / block if block else None)


def _latency(phase: PhaseOutput, operation: str) -> tuple[str, dict[str, float]]:
    """Return what the latencies of a result are of, and these; both are empty without any, or if two would mix."""
    side = phase.main
    if phase.is_mix:
        return "", {}
    by_entry = (
        is_counted(operation) or operation in ("put", "create") or (operation == "get" and not phase.setup.is_random)
    )
    if by_entry and side.entry_latency:
        return "entry latency", side.entry_latency
    return ("", {}) if by_entry or not side.io_latency else ("IO latency", side.io_latency)


def _measurement(phase: PhaseOutput, operation: str) -> Measurement:
    setup, work = phase.setup, WORK[operation]
    sides = (phase.main, phase.reads) if phase.is_mix else (phase.main,)
    rates = [_best_rate(side, setup, phase.milliseconds) for side in sides]
    iops = [_iops(side, phase, operation, rate) for side, rate in zip(sides, rates, strict=True)]
    is_entries = work.group in ("names", "objects") and not (operation == "get" and setup.is_random)
    counts = [_counts(side, setup, is_entries) for side in sides]
    known = [one for one in counts if one is not None]
    is_whole = len(known) == len(sides)
    ops, moved = (sum(one[0] for one in known), sum(one[1] for one in known)) if is_whole else (0, 0)
    read = known[1][1] if phase.is_mix and is_whole else moved if work.reads else 0
    known_iops = [one for one in iops if one is not None]
    return Measurement(
        status="time_limit" if _stopped(phase) else "done",
        has_counts=is_whole,
        ops=ops,
        bytes=moved,
        read_bytes=read,
        write_bytes=moved - read if work.writes else 0,
        throughput=float(sum(rates)),
        iops=float(sum(known_iops)) if known_iops else None,
        started_at=phase.started_at,
        elapsed_ns=int(phase.milliseconds * 10**6) or None if phase.milliseconds is not None else None,
        latency=_latency(phase, operation)[1],
        kinds=_kinds(phase, known) if phase.is_mix and is_whole else (),
    )


def _kinds(phase: PhaseOutput, counts: Sequence[tuple[int, int]]) -> tuple[KindCounts, ...]:
    """Return reads and writes of a mix."""
    sides = (("write", phase.main, counts[0]), ("read", phase.reads, counts[1]))
    return tuple(
        KindCounts(kind=kind, ops=ops, bytes=moved, latency=side.io_latency) for kind, side, (ops, moved) in sides
    )


def _stopped(phase: PhaseOutput) -> bool:
    """Whether the limit of time has ended a phase: it lasted that long."""
    limit = whole_number(phase.setup.seconds_limit)
    return limit is not None and phase.milliseconds is not None and phase.milliseconds >= limit * 1000


def take_total(values: Mapping[str, Decimal], side: DirectionTotals, step: int) -> None:
    """Take the numbers of one direction.

    Args:
        values: `rate` and `bytes` in units of `step`, `iops`, `entries_rate`, `entries`, as far as they are printed.
        side: Where they go.
        step: Bytes of the unit in which rates and bytes are whole numbers.
    """
    side.rate, side.rate_step = (values["rate"] * step, step) if "rate" in values else (None, step)
    side.bytes, side.bytes_step = (values["bytes"] * step, step) if "bytes" in values else (None, step)
    side.iops, side.entries_rate = values.get("iops"), values.get("entries_rate")
    side.entries = values.get("entries")
