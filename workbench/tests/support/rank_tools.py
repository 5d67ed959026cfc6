"""Made-up engines of one job, for the tests of what becomes of several: their events, with a clock of their own."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from builders import hdr
from plan_tools import backend

from assay.analyse.ranks import Rank
from assay.analyse.samples import sort_events
from assay.contract.messages import HelloEvent, IntervalEvent, LatencySummary, PhaseEndEvent, PhaseStartEvent

MS = 1_000_000
RECORD = 4096
EPOCH_NS = 1_795_288_503 * 10**9
LATENCY = 50_000


@dataclass(frozen=True)
class Made:
    """An engine whose lanes work without a pause, each in its own time.

    Attributes:
        lanes: (start, end, operations) of each, in nanoseconds after the start of the phase on this host.
        start: Of the phase, on the controller's clock.
        offset: Its clock less the controller's.
        latencies: Of its operations; all the same if left out.
        interval: Length of its intervals.
    """

    lanes: tuple[tuple[int, int, int], ...]
    start: int = 10**12
    offset: int = 0
    latencies: tuple[int, ...] = ()
    interval: int = 50 * MS
    status: str = "done"
    boot_id: str = ""
    cpus: int = 4

    @property
    def ops(self) -> int:
        return sum(ops for _, _, ops in self.lanes)

    @property
    def length(self) -> int:
        return max(end for _, end, _ in self.lanes)

    def done_by(self, moment: int) -> int:
        """Operations completed by then."""
        return sum(_share(moment, *lane) for lane in self.lanes)

    def at(self, moment: int) -> int:
        """A moment of the phase on the clock of this host."""
        return self.start + self.offset + moment


def _share(moment: int, start: int, end: int, ops: int) -> int:
    return ops if moment >= end else math.floor(ops * max(0, moment - start) / (end - start))


def counts(ops: int) -> dict[str, int]:
    return {"ops": ops, "bytes": ops * RECORD}


def reads(ops: int) -> dict[str, Any]:
    return {"operation": "read", "errors": 0, **counts(ops)}


def window(start: int, end: int, ops: int) -> dict[str, int]:
    return {"start_ns": start, "end_ns": end, **counts(ops)}


def latency(values: Sequence[int]) -> LatencySummary | None:
    if not values:
        return None
    ordered = sorted(values)

    def at(percent: float) -> int:
        return ordered[max(1, math.ceil(percent / 100 * len(ordered))) - 1]

    return LatencySummary(
        count=len(values),
        histogram=hdr(list(values)),
        min_ns=ordered[0],
        mean_ns=sum(values) / len(values),
        max_ns=ordered[-1],
        p50_ns=at(50),
        p90_ns=at(90),
        p99_ns=at(99),
        p999_ns=at(99.9),
        p9999_ns=at(99.99),
    )


def hello(made: Made, ranks: int = 1) -> HelloEvent:
    job = {
        "spec_version": 2,
        "id": "made",
        "target": {"kind": "null"},
        "lanes": len(made.lanes),
        "file_size_bytes": 1 << 20,
        "record_size_bytes": RECORD,
        "ranks": ranks,
        "phases": [{"operation": "read"}],
    }
    return HelloEvent.model_validate(
        {
            "event": "hello",
            "spec_version": 2,
            "engine_version": "0",
            "engine_sha256": "0" * 64,
            "job_sha256": "0" * 64,
            "job": job,
            "pid": 1,
            "wall_ns": EPOCH_NS,
            "mono_ns": made.at(-5 * MS),
            "clock": "CLOCK_MONOTONIC",
            "cpus": made.cpus,
            "memory_bytes": 1 << 30,
            "kernel": "6",
            "boot_id": made.boot_id,
            "backend": backend("null").model_dump(mode="json"),
        }
    )


def events(made: Made, ranks: int = 1, end: bool = True) -> Iterator[object]:
    """What the engine says; without `end` it falls silent in the phase."""
    yield hello(made, ranks)
    yield PhaseStartEvent.model_validate(
        {
            "event": "phase_start",
            "phase": 0,
            "operation": "read",
            "measured": True,
            "at_ns": made.at(0),
            "method": "sync",
            "method_reason": "",
            "planned_ops": made.ops,
            "planned_bytes": made.ops * RECORD,
        }
    )
    before = 0
    for index in range(-(-made.length // made.interval)):
        begin, stop = index * made.interval, min((index + 1) * made.interval, made.length)
        now = made.done_by(stop)
        yield IntervalEvent.model_validate(
            {
                "event": "interval",
                "phase": 0,
                "index": index,
                "start_ns": begin,
                "end_ns": stop,
                "operations": [reads(now - before)],
            }
        )
        before = now
        if not end:
            return
    yield phase_end(made)


def phase_end(made: Made) -> PhaseEndEvent:
    first = min(end for _, end, _ in made.lanes)
    begun = max(start for start, _, _ in made.lanes)
    values = made.latencies or (LATENCY,) * made.ops
    fields: dict[str, Any] = {
        "event": "phase_end",
        "phase": 0,
        "operation": "read",
        "measured": True,
        "status": made.status,
        "operations": [reads(made.ops) | {"latency": latency(values)}],
        "last_finisher": window(0, made.length, made.ops),
        "first_finisher": window(0, first, made.done_by(first)),
        "steady": window(begun, first, made.done_by(first) - made.done_by(begun)) if begun < first else None,
        "start_skew_ns": begun - min(start for start, _, _ in made.lanes),
        "errors": [],
        "target_per_s": None,
        "unstarted_ops": 0,
        "verified_bytes": made.ops * RECORD,
        "cache_done": "",
        "lanes": [
            {
                "lane": number,
                "start_ns": start,
                "end_ns": end,
                "sync_ns": 0,
                "operations": [reads(ops)],
            }
            for number, (start, end, ops) in enumerate(made.lanes)
        ],
        "resources": {
            "user_ns": 3 * MS,
            "system_ns": 5 * MS,
            "read_bytes": made.ops * RECORD,
            "write_bytes": 0,
            "host": {"busy_ns": 100, "idle_ns": 200, "stolen_ns": 3},
        },
    }
    return PhaseEndEvent.model_validate(fields)


def rank(made: Made, name: str = "h1", ranks: int = 1, uncertainty: int | None = 1000, end: bool = True) -> Rank:
    return Rank(name, made.offset, uncertainty, sort_events(events(made, ranks, end)))


def together(every: Sequence[Made]) -> list[Rank]:
    """Hosts `h1`, `h2`, ... with these engines."""
    return [rank(made, f"h{number}", len(every), 1000 * number) for number, made in enumerate(every, start=1)]
