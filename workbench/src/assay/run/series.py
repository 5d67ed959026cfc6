"""Turns the engine's interval events into rows of the run's time series."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import itemgetter
from typing import Any

from assay.analyse import histograms
from assay.contract._generated import IntervalEvent
from assay.contract.counts import progress_counts
from assay.contract.messages import PhaseStartEvent
from assay.contract.parts import split_parts
from assay.contract.reader import GREATEST_NUMBER, lines_of, read_events
from assay.model.base import AssayError, warning
from assay.model.result.percentile import reliable_latencies
from assay.model.study.names import DATA, OP_KINDS, Group, Moves
from assay.run.read_events import why_unreadable
from assay.store import RunStore

_COLUMNS: dict[tuple[Group, Moves], str] = {
    ("data", "in"): "read",
    ("data", "out"): "write",
    ("data", ""): "write",
    ("names", ""): "meta",
    ("names", "out"): "meta",
    ("objects", ""): "object",
    ("objects", "in"): "object",
    ("objects", "out"): "object",
}
"""What a kind of operation works on, and the direction of its bytes -> first word of the columns that count it."""


_COUNTED = (*(f"{name}_{what}" for name in ("read", "write", "meta") for what in ("ops", "bytes")), "errors")
_COUNTED += ("object_ops", "object_bytes")


def run_rows(store: RunStore, report: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield the intervals of all repeats of a run, as `interval_rows` makes them.

    Args:
        store: The run.
        report: Prints a line for each repeat whose events cannot be read; its intervals are left out.
    """
    hosts = bool(store.info().hosts)
    for case, repeat in sorted(store.order()):
        try:
            text = store.events(case, repeat)
            texts = [part.events for part in split_parts(text)] if hosts else [text]
            rows = list(interval_rows(case, repeat, (line for one in texts for line in lines_of(one))))
        except Exception as error:  # any error: the input is not ours, and the other repeats are not affected
            report(warning(f"{case}, repeat {repeat}: its intervals are left out: {why_unreadable(error)}"))
            continue
        yield from rows


def interval_rows(case_id: str, repeat: int, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the intervals of one repeat, with columns as in `assay.store.series.COLUMNS`.

    An interval can arrive in parts, because a delayed lane reports late. The parts become one row, with the percentiles
    of the merged histogram.

    Args:
        case_id: Case of the repeat.
        repeat: Its number.
        lines: The engine's output.

    Raises:
        AssayError: A histogram cannot be read, or a sum is too large to be stored.
    """
    operations: dict[int, str] = {}
    intervals: dict[tuple[int, int], _Interval] = {}
    for event in read_events(lines):
        if isinstance(event, PhaseStartEvent):
            operations[event.phase] = event.operation.value
        elif isinstance(event, IntervalEvent):
            key = event.phase, event.index
            if key not in intervals:
                intervals[key] = _Interval(event.start_ns, event.end_ns)
            intervals[key].add(event, operations.get(event.phase, "") in DATA)
    for (phase, index), interval in sorted(intervals.items(), key=itemgetter(0)):
        row = {
            "case": case_id,
            "repeat": repeat,
            "phase": phase,
            "operation": operations.get(phase, ""),
            "index": index,
            "start_ns": interval.start_ns,
            "end_ns": interval.end_ns,
            **_counts(interval.counts),
            **_percentiles(interval.latencies),
        }
        if any(isinstance(value, int) and value > GREATEST_NUMBER for value in row.values()):
            raise AssayError(f"interval {index} of phase {phase} adds up to more than can be kept")
        yield row


@dataclass(slots=True)
class _Interval:
    """An interval, as known so far, without its events, which take twenty times the memory."""

    start_ns: int
    end_ns: int
    counts: dict[str, int] = field(default_factory=dict)
    latencies: list[str] = field(default_factory=list)

    def add(self, event: IntervalEvent, data: bool) -> None:
        """Add a part; in a phase on `data`, only reads and writes count for the latencies."""
        self.start_ns, self.end_ns = min(self.start_ns, event.start_ns), max(self.end_ns, event.end_ns)
        for done in event.operations:
            if OP_KINDS[done.operation.value][0] == "programs":
                # Their tasks are kept one by one.
                continue
            name = _COLUMNS[OP_KINDS[done.operation.value]]
            for column, count in ((f"{name}_ops", done.ops), (f"{name}_bytes", done.bytes), ("errors", done.errors)):
                self.counts[column] = self.counts.get(column, 0) + count
        self.latencies += [done.latency for done in progress_counts(event.operations, data) if done.latency]


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts.get(name, 0) for name in _COUNTED}


def _percentiles(texts: Sequence[str]) -> dict[str, int | None]:
    if not texts:
        return {"p50_ns": None, "p99_ns": None}
    # Decoded one at a time, since a short text can decode to half a megabyte.
    merged = reduce(lambda one, other: histograms.merge([one, other]), map(histograms.decode, texts))
    percentiles = reliable_latencies(histograms.summary(merged), merged.total)
    return {f"{name}_ns": int(percentiles[name]) if name in percentiles else None for name in ("p50", "p99")}
