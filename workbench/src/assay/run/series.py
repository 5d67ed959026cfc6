"""From the engine's interval events to rows of the run's time series."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from assay.analyse import histograms
from assay.contract._generated import IntervalEvent
from assay.contract.counts import progress
from assay.contract.messages import OpInterval, PhaseStartEvent
from assay.contract.parts import split_parts
from assay.contract.reader import GREATEST, lines_of, read_events
from assay.model.base import AssayError
from assay.model.result.percentile import said
from assay.model.study.names import DATA, OP_KINDS, Group, Moves
from assay.run.heard import why_unreadable
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
"""What a kind of operation works on, and which way its bytes go -> first word of the columns that it counts in."""


def run_rows(store: RunStore, tell: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """The intervals of all repeats of a run, as `interval_rows` makes them.

    Args:
        store: The run.
        tell: Told, in one line, of each repeat whose events cannot be read; its intervals are left out.
    """
    hosts = bool(store.info().hosts)
    for case, repeat in sorted(store.order()):
        try:
            text = store.events(case, repeat)
            texts = [part.events for part in split_parts(text)] if hosts else [text]
            rows = list(interval_rows(case, repeat, (line for one in texts for line in lines_of(one))))
        except Exception as error:  # whatever it is: the input is not ours, and the other repeats are whole
            tell(f"warning: {case}, repeat {repeat}: its intervals are left out: {why_unreadable(error)}")
            continue
        yield from rows


def interval_rows(case_id: str, repeat: int, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The intervals of one repeat, as `assay.store.series.COLUMNS` names their columns.

    An interval can come in parts, because a lane that was held up reports late; the parts become one row, with the
    percentiles of the merged histogram.

    Args:
        case_id: Case of the repeat.
        repeat: Its number.
        lines: The engine's output.

    Raises:
        AssayError: A histogram cannot be read, or a sum is too large to be kept.
    """
    operations: dict[int, str] = {}
    parts: dict[tuple[int, int], list[IntervalEvent]] = {}
    for event in read_events(lines):
        if isinstance(event, PhaseStartEvent):
            operations[event.phase] = event.operation.value
        elif isinstance(event, IntervalEvent):
            parts.setdefault((event.phase, event.index), []).append(event)
    for (phase, index), events in sorted(parts.items()):
        operation = operations.get(phase, "")
        row = {
            "case": case_id,
            "repeat": repeat,
            "phase": phase,
            "operation": operation,
            "index": index,
            "start_ns": min(event.start_ns for event in events),
            "end_ns": max(event.end_ns for event in events),
            **_counts([done for event in events for done in event.operations]),
            **_percentiles(progress((done for event in events for done in event.operations), operation in DATA)),
        }
        if any(isinstance(value, int) and value > GREATEST for value in row.values()):
            raise AssayError(f"interval {index} of phase {phase} adds up to more than can be kept")
        yield row


def _counts(parts: Sequence[OpInterval]) -> dict[str, int]:
    found = dict.fromkeys(("read_ops", "read_bytes", "write_ops", "write_bytes", "meta_ops", "meta_bytes"), 0)
    found |= {"errors": sum(done.errors for done in parts), "object_ops": 0, "object_bytes": 0}
    for done in parts:
        name = _COLUMNS[OP_KINDS[done.operation.value]]
        found[f"{name}_ops"] += done.ops
        found[f"{name}_bytes"] += done.bytes
    return found


def _percentiles(parts: Iterable[OpInterval]) -> dict[str, int | None]:
    texts = [done.latency for done in parts if done.latency]
    if not texts:
        return {"p50_ns": None, "p99_ns": None}
    merged = histograms.merge([histograms.decode(text) for text in texts])
    found = said(histograms.summary(merged), merged.total)
    return {f"{name}_ns": int(found[name]) if name in found else None for name in ("p50", "p99")}
