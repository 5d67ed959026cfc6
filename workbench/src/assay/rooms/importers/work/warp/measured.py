"""The requests of one kind in an output of warp, and the result that becomes of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from assay.model.result.sample import ErrorTally, KindCounts
from assay.model.study.axis import AxisValue
from assay.model.study.names import WORK
from assay.rooms.importers.work.results import Figure, ImportedResult, Measurement

NAME = "warp"
HINT = "give the file as warp wrote it"
MIX = "object_mix"
_OPERATIONS = {"GET": "get", "PUT": "put", "POST": "put", "STAT": "head", "DELETE": "delete", "LIST": "list"}
"""Type of request (pkg/bench) -> operation. POST puts an object by a form (`warp put --post`)."""
_BY_REQUEST = ("list", "multi_delete")
"""Operations with many objects in a request."""


@dataclass
class Requests:
    """Requests of one kind.

    Attributes:
        name: Their type in the output, such as `GET`; empty for all types of a mix.
        line: Line of the file on which they begin, from 1.
        figures: As printed.
        bytes_rate: Bytes per second; None if unknown, like all numbers here.
        object_rate: Objects per second.
        ops: How many requests had an answer.
        objects: How many objects these were about.
        bytes: Bytes of objects that were moved.
        elapsed_ns: From the first beginning to the last end.
        started_at: Seconds since 1970.
        ended_at: Likewise.
        errors: How many requests failed.
        first_error: What was said of the first of them.
        streams: Requests in flight, of all clients.
        clients: How many warp clients.
        object_size: Bytes of each object, if all have one size.
        latency: Name, as in `Sample.latency` -> nanoseconds.
        histogram: As in `Sample`.
        first_byte: As `latency`, of the first byte.
        left_out: Why there is no result; empty if there is one.
    """

    name: str
    line: int
    figures: list[Figure] = field(default_factory=list)
    bytes_rate: float | None = None
    object_rate: float | None = None
    ops: int | None = None
    objects: int | None = None
    bytes: int | None = None
    elapsed_ns: int | None = None
    started_at: float | None = None
    ended_at: float | None = None
    errors: int = 0
    first_error: str = ""
    streams: int | None = None
    clients: int | None = None
    object_size: int | None = None
    latency: dict[str, float] = field(default_factory=dict)
    histogram: str | None = None
    first_byte: dict[str, float] = field(default_factory=dict)
    left_out: str = ""

    @property
    def seconds(self) -> float:
        """How long they took; 0 if unknown."""
        return (self.elapsed_ns or 0) / 1e9

    @property
    def operation(self) -> str:
        """Operation that they are; empty without counterpart."""
        found = _OPERATIONS.get(self.name, "") if self.name else MIX
        if found == "delete" and self.ops and self.objects and self.objects > self.ops:
            return "multi_delete"
        return found


def overlaps(kinds: Sequence[Requests]) -> bool:
    """Whether requests of several kinds were made at the same time, and not one kind after the other."""
    spans = [(one.started_at, one.ended_at) for one in kinds if one.started_at is not None and one.ended_at is not None]
    found = [
        min(end, other_end) - max(start, other) > min(end - start, other_end - other) / 2
        for number, (start, end) in enumerate(spans)
        for other, other_end in spans[:number]
    ]
    return any(found)


def results_of(
    kinds: Sequence[Requests], whole: Requests | None, options: dict[str, str], target: str
) -> Iterator[ImportedResult]:
    """Yield the results of one benchmark: each kind of requests, and all of them together if they were mixed.

    Args:
        kinds: Requests of each kind.
        whole: All of them together, in a mix; else None.
        options: What was asked for, as printed.
        target: What was under test; empty if it is not printed.
    """
    workload = "objects" if whole is None else "mixed"
    for one in kinds:
        yield _result(one, workload, options, target, ())
    if whole is not None:
        yield _result(replace(whole, name=""), workload, options, target, _kinds(kinds))


def _result(
    one: Requests, workload: str, options: dict[str, str], target: str, kinds: tuple[KindCounts, ...]
) -> ImportedResult:
    operation = one.operation
    left_out = _why_left_out(one, operation)
    return ImportedResult(
        name=one.name or "all",
        line=one.line,
        target=target or NAME,
        workload=workload,
        operation=None if left_out else operation,
        parameters={} if left_out else _parameters(one, operation),
        options=options,
        figures=tuple(one.figures),
        latency_of="request" if one.latency and not left_out else "",
        measured=None if left_out else _measurement(one, operation, kinds),
        left_out=left_out,
    )


def _why_left_out(one: Requests, operation: str) -> str:
    if one.left_out:
        return one.left_out
    if not operation:
        return f"Assay has no counterpart to warp's {one.name}"
    if operation in _BY_REQUEST and (not one.ops or not one.seconds):
        return "it does not say how many requests there were, only how many objects"
    return "" if _rates(one, operation)[1] else "its rate is 0"


def _rates(one: Requests, operation: str) -> tuple[float, float]:
    """Return bytes and operations per second.

    Where the counts are known, they are those of all requests, from the first beginning to the last end.
    """
    if one.ops is not None and one.seconds:
        return (one.bytes or 0) / one.seconds, one.ops / one.seconds
    return one.bytes_rate or 0.0, 0.0 if operation in _BY_REQUEST else one.object_rate or 0.0


def _parameters(one: Requests, operation: str) -> dict[str, AxisValue]:
    found: dict[str, AxisValue] = {}
    if one.streams and one.clients and one.streams % one.clients == 0:
        found |= {"hosts": one.clients, "lanes": one.streams // one.clients}
    elif one.streams:
        found["streams"] = one.streams
    if one.object_size and operation in ("get", "put"):
        found["object_size"] = one.object_size
    return found


def _measurement(one: Requests, operation: str, kinds: tuple[KindCounts, ...]) -> Measurement:
    work, (throughput, iops) = WORK[operation], _rates(one, operation)
    moved = one.bytes or 0
    read = sum(kind.bytes for kind in kinds if kind.kind == "get") if kinds else moved if work.reads else 0
    error = ErrorTally(kind="fault", name=None, count=one.errors, example=one.first_error or "warp reports errors")
    if one.first_byte and one.ops is not None and not kinds:
        kinds = (_kind(one),)
    return Measurement(
        status="done",
        has_counts=one.ops is not None and one.bytes is not None,
        ops=one.ops or 0,
        bytes=moved,
        read_bytes=read,
        write_bytes=moved - read if work.writes else 0,
        throughput=throughput if work.reads or work.writes else 0.0,
        iops=iops,
        started_at=one.started_at,
        elapsed_ns=one.elapsed_ns,
        latency=one.latency,
        histogram=one.histogram,
        kinds=kinds,
        errors=(error,) if one.errors else (),
    )


def _kinds(kinds: Sequence[Requests]) -> tuple[KindCounts, ...]:
    """Return the kinds of a mix, if their counts are known; else nothing."""
    if any(one.ops is None or one.operation not in ("get", "put", "head", "delete") for one in kinds):
        return ()
    return tuple(_kind(one) for one in kinds)


def _kind(one: Requests) -> KindCounts:
    return KindCounts(
        kind=one.operation,
        ops=one.ops or 0,
        bytes=one.bytes or 0,
        errors=one.errors,
        latency=one.latency,
        histogram=one.histogram,
        first_byte=one.first_byte,
    )
